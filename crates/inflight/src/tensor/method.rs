//! Method names in errors, explanations, traces and profiles.
//!
//! Most methods record several primitives, and a primitive's own error names the primitive: an `index_select` that
//! was given a float index would report `gather`. A method that wraps its recording in [`method`] reports such an
//! error under its own name, with the operands its caller gave:
//!
//! ```text
//! method("index_select").of(&[self, index], record_at(Op::Gather { axis }, &[self, &aligned], location))
//! ```
//!
//! The mechanism looks at the result only: recording that succeeds pays for one comparison, and nested methods
//! need no coordination, since the outermost one renames last.
//!
//! While a guard of [`method`] or [`naming`] is alive, every op that the thread records also stores the name of the
//! outermost guard. Explanations, traces, profiles and device faults then show `softmax at a.rs:3:4` once instead of the
//! five ops that a softmax records. Recording pays for one load of a thread-local.

use super::Tensor;
use super::record::{STRICT, failed_tensor, mistakes_made};
use crate::Error;
use crate::error::OpError;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// How many methods this thread is recording, one inside the other. Counted in strict mode only.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// The outermost method that this thread is recording.
    static CURRENT: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The outermost method that this thread is recording. Recorded ops store it.
pub(super) fn current_method() -> Option<&'static str> {
    CURRENT.get()
}

/// Names the ops that are recorded while it is alive after a method. It leaves errors alone, for methods whose errors
/// are named already.
#[must_use = "it names ops as long as it is alive"]
pub(super) struct Naming {
    is_outermost: bool,
}

/// Begins naming recorded ops after a method, unless an outer method does.
pub(super) fn naming(name: &'static str) -> Naming {
    let is_outermost = CURRENT.get().is_none();
    if is_outermost {
        CURRENT.set(Some(name));
    }
    Naming { is_outermost }
}

impl Drop for Naming {
    fn drop(&mut self) {
        if self.is_outermost {
            CURRENT.set(None);
        }
    }
}

/// A method that is being recorded. Create it before the method records anything.
#[must_use = "finish it with `of`"]
pub(super) struct Method {
    name: &'static str,
    /// The number of errors that this thread had made before.
    mistakes: u64,
    _naming: Naming,
}

/// Begins a method of this name.
pub(super) fn method(name: &'static str) -> Method {
    if *STRICT {
        DEPTH.set(DEPTH.get() + 1);
    }
    Method { name, mistakes: mistakes_made(), _naming: naming(name) }
}

/// Whether the outermost method of this thread will report an error that is made now.
pub(super) fn is_inside_method() -> bool {
    DEPTH.get() > 0
}

impl Method {
    /// The method's result. An error made since the method began gets the method's name and operands.
    pub fn of(self, operands: &[&Tensor], result: Tensor) -> Tensor {
        match result.node().error() {
            None => result,
            Some(_) => self.named(operands, &result).unwrap_or(result),
        }
    }

    /// As [`of`](Method::of), for a method with several results.
    pub fn of_each<const N: usize>(
        self,
        operands: &[&Tensor],
        results: [Tensor; N],
    ) -> [Tensor; N] {
        results.map(|result| self.named(operands, &result).unwrap_or(result))
    }

    fn named(&self, operands: &[&Tensor], result: &Tensor) -> Option<Tensor> {
        let made_here = mistakes_made() != self.mistakes;
        let Some(Error::Op(error)) = result.node().error().filter(|_| made_here) else {
            return None;
        };
        // The error of an operand keeps its own name: it is the first cause.
        if operands.iter().any(|operand| operand.node().error().is_some()) {
            return None;
        }
        let described =
            operands.iter().map(|operand| (operand.shape().clone(), operand.dtype())).collect();
        let (location, cause) = (error.location, error.cause.clone());
        let error = OpError { op: self.name, operands: described, location, cause };
        let error = Error::Op(Arc::new(error));
        assert!(!*STRICT || DEPTH.get() > 1, "{error}");
        let (shape, dtype) = (result.shape().clone(), result.dtype());
        Some(failed_tensor(error, shape, dtype, result.device(), location))
    }
}

impl Drop for Method {
    fn drop(&mut self) {
        if *STRICT {
            DEPTH.set(DEPTH.get() - 1);
        }
    }
}
