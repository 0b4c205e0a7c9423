//! The error type of the crate, and its messages.

use crate::runtime::WaitReason;
use inflight_backend::{Fault, FaultKind, LabelOp, SourceLocation};
use inflight_ir::graph::InferError;
use inflight_ir::{DType, Shape};
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// An error: the cause, the source location of the call, and advice. Cheap to clone, because it travels with values.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An op or a method got operands or arguments that it does not accept.
    #[error("{0}")]
    Op(Arc<OpError>),
    /// A device failed to compute a value.
    #[error("{}", describe_fault(.0))]
    Device(Arc<Fault>),
    /// Host data does not have as many elements as the shape.
    #[error(
        "expected {} for shape {shape}, found {len}; pass one element per index, or another shape; at {location}",
        .shape.checked_element_count().map_or("an addressable number of elements".to_owned(), |n| format!("{n} elements"))
    )]
    Length {
        /// The number of elements passed.
        len: usize,
        /// The requested shape.
        shape: Shape,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// A value was read as another dtype than its own.
    #[error(
        "expected a tensor of {expected}, found {found}; read it as {found}, or cast it first with .cast(DType::…); at {location}"
    )]
    ReadType {
        /// The dtype of the read.
        expected: DType,
        /// The dtype of the tensor.
        found: DType,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// `item` was called on a tensor that does not have exactly one element.
    #[error(
        "item() expected exactly one element, found {} of shape {shape}; select one, or read all with .to_vec(); at {location}",
        .shape.element_count()
    )]
    NotOneElement {
        /// The tensor's shape.
        shape: Shape,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// A [`SyncGuard`](crate::SyncGuard) denied a wait.
    #[error(
        "waiting ({reason}) is denied here by a SyncGuard; use an asynchronous read, or SyncGuard::allow(); at {location}"
    )]
    WaitDenied {
        /// The reason for the wait.
        reason: WaitReason,
        /// The caller.
        location: &'static Location<'static>,
    },
    /// A task or host function that the runtime ran panicked.
    #[error("panicked: {message}; in the work started at {location}")]
    Panicked {
        /// The panic message.
        message: Arc<str>,
        /// The caller that started the work.
        location: &'static Location<'static>,
    },
    /// The producer of a promise was dropped before it completed the promise.
    #[error(
        "the {work} started at {location} was abandoned: its thread or task ended before the value was ready; keep it \
         running until then"
    )]
    Abandoned {
        /// The kind of work, such as a read, an execution or a device op.
        work: &'static str,
        /// The caller that started it.
        location: &'static Location<'static>,
    },
    /// A tensor was used after it was donated to an execution.
    #[error(
        "the tensor was donated at {location} as {argument}, and cannot be used again; clone it before the execution, or \
         use the execution's result"
    )]
    Donated {
        /// The argument that it was donated as.
        argument: Arc<str>,
        /// The caller of the execution.
        location: &'static Location<'static>,
    },
    /// A program cannot be parsed, or cannot be compiled for a device. The message lists all of its errors.
    #[error("{0}")]
    Program(Arc<str>),
    /// An executable got arguments that it does not accept.
    #[error("{program}: {message}; at {location}")]
    Argument {
        /// The program's name.
        program: Arc<str>,
        /// The argument, the expected value and the value found.
        message: String,
        /// The caller of the execution.
        location: &'static Location<'static>,
    },
    /// A file could not be read or written.
    #[error("{path}: {message}")]
    File {
        /// The file.
        path: String,
        /// The cause.
        message: String,
    },
    /// A setting or an argument has an invalid value.
    #[error("{0}")]
    Invalid(String),
}

/// A recorded error of an op: its name, operands, caller and cause.
#[derive(Clone, Debug)]
pub struct OpError {
    /// The name of the op or method.
    pub op: &'static str,
    /// The shapes and dtypes of its operands.
    pub operands: Vec<(Shape, DType)>,
    /// The source location of the caller.
    pub location: &'static Location<'static>,
    /// The cause.
    pub cause: OpCause,
}

/// The cause of an [`OpError`].
#[derive(Clone, Debug)]
pub enum OpCause {
    /// Shape and dtype inference failed.
    Infer(InferError),
    /// Another cause, as a message.
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

/// The maximum number of source locations in the message of a device fault.
const MAX_LOCATIONS: usize = 6;

/// The maximum number of ops named for each source location.
const MAX_OPS_PER_LOCATION: usize = 4;

/// Formats a device fault: its kind, and the ops that were being computed.
fn describe_fault(fault: &Fault) -> String {
    let mut text = fault.kind.to_string();
    let ops = fault.label.iter().flat_map(|label| label.ops());
    let locations = ops_by_location(ops);
    if !locations.is_empty() {
        text.push_str("; while computing ");
        text.push_str(&locations);
    }
    text
}

/// Groups methods by source location, in order of first occurrence: `add, mul at a.rs:1:2, softmax at a.rs:3:4`.
fn ops_by_location(ops: impl Iterator<Item = LabelOp>) -> String {
    let mut groups: Vec<(SourceLocation, Vec<&'static str>)> = Vec::new();
    for op in ops {
        match groups.iter_mut().find(|(location, _)| *location == op.location) {
            Some((_, names)) if names.contains(&op.called_name()) => {}
            Some((_, names)) => names.push(op.called_name()),
            None => {
                let name = op.called_name();
                groups.push((op.location, vec![name]));
            }
        }
    }
    let format_group = |(location, names): &(SourceLocation, Vec<&'static str>)| match names.len()
        > MAX_OPS_PER_LOCATION
    {
        true => format!("{}, … at {location}", names[..MAX_OPS_PER_LOCATION].join(", ")),
        false => format!("{} at {location}", names.join(", ")),
    };
    let mut texts: Vec<String> = groups.iter().take(MAX_LOCATIONS).map(format_group).collect();
    if groups.len() > MAX_LOCATIONS {
        texts.push(format!("and {} more locations", groups.len() - MAX_LOCATIONS));
    }
    texts.join(", ")
}

impl Error {
    /// The source location of the call that caused the error, if known.
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

    /// The name of the op or method that failed, if the error is that of an op.
    pub fn op(&self) -> Option<&'static str> {
        match self {
            Error::Op(error) => Some(error.op),
            Error::Device(fault) => fault.label.as_ref()?.ops().next().map(|op| op.called_name()),
            _ => None,
        }
    }

    /// Whether the device ran out of memory.
    #[doc(alias("OutOfMemoryError", "oom"))]
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self, Error::Device(fault) if matches!(fault.kind, FaultKind::OutOfMemory { .. }))
    }
}

impl fmt::Debug for Error {
    /// Same as `Display`, so that `fn main() -> inflight::Result<()>` and `unwrap` print the op, the shapes and the caller.
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
    fn fault_ops_are_grouped_by_location_and_truncated() {
        let op = |name: &'static str, line: u32| LabelOp {
            name,
            method: None,
            location: SourceLocation::Program { name: "a.mlir".into(), line, column: 1 },
        };
        let few = [op("add", 1), op("mul", 1), op("add", 1), op("exp", 2)];
        assert_eq!(ops_by_location(few.into_iter()), "add, mul at a.mlir:1:1, exp at a.mlir:2:1");
        let part = |name: &'static str| LabelOp { method: Some("softmax"), ..op(name, 1) };
        let softmax = [part("max"), part("sub"), op("log", 1)];
        assert_eq!(ops_by_location(softmax.into_iter()), "softmax, log at a.mlir:1:1");
        let names = ["add", "mul", "exp", "log", "sin"];
        let many = (1..=40).flat_map(|line| names.map(|name| op(name, line)));
        let text = ops_by_location(many);
        assert!(text.starts_with("add, mul, exp, log, … at a.mlir:1:1, "), "{text}");
        assert!(text.ends_with("at a.mlir:6:1, and 34 more locations"), "{text}");
    }
}
