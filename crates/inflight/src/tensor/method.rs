//! Method names in errors.
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

use super::Tensor;
use super::record::{STRICT, failed_tensor, mistakes_made};
use crate::Error;
use crate::error::OpError;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// How many methods this thread is recording, one inside the other. Counted in strict mode only.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A method that is being recorded. Create it before the method records anything.
#[must_use = "finish it with `of`"]
pub(super) struct Method {
    name: &'static str,
    /// The number of errors that this thread had made before.
    mistakes: u64,
}

/// Begins a method of this name.
pub(super) fn method(name: &'static str) -> Method {
    if *STRICT {
        DEPTH.set(DEPTH.get() + 1);
    }
    Method { name, mistakes: mistakes_made() }
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
