//! The one error type.

use crate::runtime::WaitReason;
use inflight_backend::{Fault, FaultKind, LabelOp, SourceLocation};
use inflight_ir::graph::InferError;
use inflight_ir::{DType, Shape};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, where it was recorded, and what would help. Cheap to clone: it travels with values.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An op was given operands it cannot take.
    #[error("{0}")]
    Op(Arc<OpError>),
    /// A device could not compute a value.
    #[error("{}", describe_fault(.0))]
    Device(Arc<Fault>),
    /// Host data does not fill a shape.
    #[error(
        "{len} elements do not fill the shape {shape}, which has {}; at {location}",
        .shape.checked_elements().map_or("too many".to_owned(), |n| n.to_string())
    )]
    Length {
        /// Elements given.
        len: usize,
        /// The shape asked for.
        shape: Shape,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// A value was read as another dtype than it has.
    #[error(
        "the tensor holds {found}, not {expected}: cast it first, with .cast(DType::…), or read it as {found}; at {location}"
    )]
    ReadType {
        /// The dtype asked for.
        expected: DType,
        /// The dtype there is.
        found: DType,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// One element was asked for, and there is another number of them.
    #[error("item() needs exactly one element, the tensor of shape {shape} has {}; at {location}", .shape.elements())]
    NotOneElement {
        /// The tensor's shape.
        shape: Shape,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// The host would have waited where a [`SyncGuard`](crate::SyncGuard) forbids it.
    #[error("waiting ({reason}) is denied here by a SyncGuard; at {location}")]
    WaitDenied {
        /// Why the host would have waited.
        reason: WaitReason,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// Work that was handed to the runtime panicked.
    #[error("panicked: {message}; in the work started at {location}")]
    Panicked {
        /// What the panic said.
        message: Arc<str>,
        /// Who started the work.
        location: &'static Location<'static>,
    },
    /// The side of a promise that should have given its value was dropped without giving one.
    #[error(
        "the {work} started at {location} was abandoned: it was dropped before it had a value, because the thread or task \
         that ran it ended"
    )]
    Abandoned {
        /// The kind of work: a read, an execution, a device op, …
        work: &'static str,
        /// The caller that started it.
        location: &'static Location<'static>,
    },
    /// A tensor was used after it was given up to an execution.
    #[error(
        "the tensor was donated at {location} as {argument}, and cannot be used again; clone it before, or \
         use the execution's result"
    )]
    Donated {
        /// The argument it was given up as.
        argument: Arc<str>,
        /// Who executed.
        location: &'static Location<'static>,
    },
    /// A program cannot be read, or not be compiled for a device. The message names all that is wrong with it.
    #[error("{0}")]
    Program(Arc<str>),
    /// An executable was given arguments that it does not take.
    #[error("{program}: {message}; at {location}")]
    Argument {
        /// The program's name.
        program: Arc<str>,
        /// The argument, what was expected and what was found.
        message: String,
        /// Who executed.
        location: &'static Location<'static>,
    },
    /// A file could not be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A setting or an argument is not one that exists.
    #[error("{0}")]
    Invalid(String),
}

/// An op, its operands, where it was recorded, and what is wrong with them.
#[derive(Clone, Debug)]
pub struct OpError {
    /// The op's name.
    pub op: &'static str,
    /// The shapes and dtypes of its operands.
    pub operands: Vec<(Shape, DType)>,
    /// The caller's file and line.
    pub location: &'static Location<'static>,
    /// What is wrong.
    pub cause: OpCause,
}

/// What is wrong with an op's operands.
#[derive(Clone, Debug)]
pub enum OpCause {
    /// Shapes or dtypes.
    Infer(InferError),
    /// Something else, said in words.
    Message(String),
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.op)?;
        for (position, (shape, dtype)) in self.operands.iter().enumerate() {
            if position > 0 {
                write!(f, ", ")?;
            }
            write!(f, "{dtype}{shape}")?;
        }
        write!(f, ") at {}: ", self.location)?;
        match &self.cause {
            OpCause::Infer(cause) => write!(f, "{cause}"),
            OpCause::Message(message) => write!(f, "{message}"),
        }
    }
}

/// An error names so many places of what was being computed, and so many ops of each.
const MOST_PLACES: usize = 6;
const MOST_OPS: usize = 4;

fn describe_fault(fault: &Fault) -> String {
    let mut text = fault.kind.to_string();
    let ops = fault.label.iter().flat_map(|label| label.ops());
    let places = places_of(ops);
    if !places.is_empty() {
        text.push_str("; while computing ");
        text.push_str(&places);
    }
    text
}

/// The methods called at each source location, in order: `add, mul at a.rs:1:2, softmax at a.rs:3:4`.
fn places_of(ops: impl Iterator<Item = LabelOp>) -> String {
    let mut places: Vec<(SourceLocation, Vec<&'static str>)> = Vec::new();
    for op in ops {
        match places.iter_mut().find(|(place, _)| *place == op.location) {
            Some((_, names)) if names.contains(&op.called_name()) => {}
            Some((_, names)) => names.push(op.called_name()),
            None => {
                let name = op.called_name();
                places.push((op.location, vec![name]));
            }
        }
    }
    let of_place =
        |(place, names): &(SourceLocation, Vec<&'static str>)| match names.len() > MOST_OPS {
            true => format!("{}, … at {place}", names[..MOST_OPS].join(", ")),
            false => format!("{} at {place}", names.join(", ")),
        };
    let mut texts: Vec<String> = places.iter().take(MOST_PLACES).map(of_place).collect();
    if places.len() > MOST_PLACES {
        texts.push(format!("and {} more places", places.len() - MOST_PLACES));
    }
    texts.join(", ")
}

impl Error {
    /// The file and line of the code that caused this, when it is known.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        match self {
            Error::Op(error) => Some(error.location),
            Error::Length { location, .. }
            | Error::ReadType { location, .. }
            | Error::NotOneElement { location, .. }
            | Error::WaitDenied { location, .. }
            | Error::Panicked { location, .. }
            | Error::Abandoned { location, .. }
            | Error::Donated { location, .. }
            | Error::Argument { location, .. } => Some(location),
            Error::Device(fault) => fault.label.as_ref()?.ops().next()?.location.caller(),
            Error::File { .. } | Error::Invalid(_) | Error::Program(_) => None,
        }
    }

    /// The name of the op that failed, when one did.
    pub fn op(&self) -> Option<&'static str> {
        match self {
            Error::Op(error) => Some(error.op),
            Error::Device(fault) => fault.label.as_ref()?.ops().next().map(|op| op.called_name()),
            _ => None,
        }
    }

    /// Whether memory ran out.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Device(fault) if matches!(fault.kind, FaultKind::OutOfMemory { .. }))
    }
}

impl fmt::Debug for Error {
    /// As `Display`, so that `fn main() -> inflight::Result<()>` and `unwrap` print the op, the shapes and the line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        Error::Device(Arc::new(fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_computed_is_named_by_place_and_shortened() {
        let op = |name: &'static str, line: u32| LabelOp {
            name,
            method: None,
            location: SourceLocation::Program { name: "a.mlir".into(), line, column: 1 },
        };
        let few = [op("add", 1), op("mul", 1), op("add", 1), op("exp", 2)];
        assert_eq!(places_of(few.into_iter()), "add, mul at a.mlir:1:1, exp at a.mlir:2:1");
        let part = |name: &'static str| LabelOp { method: Some("softmax"), ..op(name, 1) };
        let softmax = [part("max"), part("sub"), op("log", 1)];
        assert_eq!(places_of(softmax.into_iter()), "softmax, log at a.mlir:1:1");
        let names = ["add", "mul", "exp", "log", "sin"];
        let many = (1..=40).flat_map(|line| names.map(|name| op(name, line)));
        let text = places_of(many);
        assert!(text.starts_with("add, mul, exp, log, … at a.mlir:1:1, "), "{text}");
        assert!(text.ends_with("at a.mlir:6:1, and 34 more places"), "{text}");
    }
}
