//! Faults: failures on a device, with the recorded ops they belong to.

use inflight_ir::plan::Work;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// Failure of a command, with the ops it should have computed. Cheap to clone, since it propagates to every buffer
/// that depends on the command.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// What failed.
    pub kind: FaultKind,
    /// What was being computed, if known.
    pub label: Option<Label>,
}

impl Fault {
    /// Whether the device no longer responds.
    pub fn is_lost(&self) -> bool {
        matches!(self.kind, FaultKind::DeviceLost(_))
    }

    /// Whether memory ran out.
    pub fn is_out_of_memory(&self) -> bool {
        matches!(self.kind, FaultKind::OutOfMemory { .. })
    }
}

/// Kinds of failures on a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Memory ran out, even after all cached blocks were released.
    #[error(
        "out of memory: {requested} more bytes do not fit, {in_use} bytes of the limit of {limit} are in use; \
         free tensors, split the work, or raise the limit with Device::set_memory_limit"
    )]
    OutOfMemory {
        /// Bytes requested.
        requested: usize,
        /// Bytes in use at the time of the request.
        in_use: usize,
        /// The memory limit.
        limit: usize,
    },
    /// A kernel or a host function panicked.
    #[error("a kernel or host function panicked: {0}")]
    Panicked(String),
    /// The backend does not support the operation.
    #[error("not supported by this device: {0}")]
    Unsupported(String),
    /// A device, library or setting is missing or invalid.
    #[error("{0}")]
    Missing(String),
    /// A host function returned an error.
    #[error("{0}")]
    Failed(String),
    /// The value was donated to an execution, which may reuse its memory.
    #[error("{0}")]
    Donated(String),
    /// The device no longer responds.
    #[error("the device is lost and no longer responds: {0}")]
    DeviceLost(String),
}

/// Metadata of a command: the recorded ops it computes and the bytes it moves. Cheap to create and clone.
#[derive(Clone, Debug)]
pub struct Label {
    /// All ops of the segment that the command belongs to.
    pub segment: Arc<[LabelOp]>,
    /// Which of these ops the command computes.
    pub work: Arc<Work>,
}

impl Label {
    /// The ops that the command computes, in recording order.
    pub fn ops(&self) -> impl Iterator<Item = LabelOp> + '_ {
        self.work.nodes.iter().filter_map(|&node| self.segment.get(node as usize).cloned())
    }

    /// The calls that recorded these ops, in recording order. Each call is listed once, with its ops.
    pub fn calls(&self) -> Vec<LabelCall> {
        LabelCall::group(self.ops())
    }
}

/// A recorded op and its source location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelOp {
    /// The op's name.
    pub name: &'static str,
    /// The method that the caller called, if it records several ops: `softmax` for the `exp` of a softmax.
    pub method: Option<&'static str>,
    /// Source location of the call that recorded the op.
    pub location: SourceLocation,
}

impl LabelOp {
    /// The name in the caller's code: the method, or the op itself.
    pub fn called_name(&self) -> &'static str {
        self.method.unwrap_or(self.name)
    }
}

/// A call in the caller's code, with the ops that it recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelCall {
    /// The method or op that was called.
    pub name: &'static str,
    /// Source location of the call.
    pub location: SourceLocation,
    /// The names of the ops, in recording order.
    pub ops: Vec<&'static str>,
}

impl LabelCall {
    /// Groups ops by call. Ops of one name at one location count as one call.
    pub fn group(ops: impl Iterator<Item = LabelOp>) -> Vec<LabelCall> {
        let mut calls: Vec<LabelCall> = Vec::new();
        for op in ops {
            let name = op.called_name();
            let is_same = |call: &&mut LabelCall| call.name == name && call.location == op.location;
            // Ops of a call are mostly adjacent.
            match calls.iter_mut().rev().find(is_same) {
                Some(call) => call.ops.push(op.name),
                None => calls.push(LabelCall { name, location: op.location, ops: vec![op.name] }),
            }
        }
        calls
    }
}

impl fmt::Display for LabelCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.name, self.location)
    }
}

/// Source location of a recorded op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceLocation {
    /// A line of the caller's Rust code.
    Caller(&'static Location<'static>),
    /// A line of a StableHLO program.
    Program {
        /// The program's name.
        name: Arc<str>,
        /// From 1; 0 for a program without lines (bytecode).
        line: u32,
        /// From 1; for a program without lines, the operation's position.
        column: u32,
    },
}

impl SourceLocation {
    /// The caller's file and line, if the op was recorded by Rust code.
    pub fn caller(&self) -> Option<&'static Location<'static>> {
        match self {
            SourceLocation::Caller(location) => Some(location),
            SourceLocation::Program { .. } => None,
        }
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceLocation::Caller(location) => write!(f, "{location}"),
            SourceLocation::Program { name, line: 0, column } => {
                write!(f, "{name}, operation {column}")
            }
            SourceLocation::Program { name, line, column } => write!(f, "{name}:{line}:{column}"),
        }
    }
}

impl From<FaultKind> for Fault {
    fn from(kind: FaultKind) -> Fault {
        Fault { kind, label: None }
    }
}
