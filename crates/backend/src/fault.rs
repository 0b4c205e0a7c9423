//! Failures on a device, and which recorded ops they belong to.

use inflight_ir::plan::Work;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// A command that did not run, and the ops it should have computed. Cheap to clone: it travels with every
/// buffer that depends on it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}")]
pub struct Fault {
    /// What went wrong.
    pub kind: FaultKind,
    /// What was being computed, when that is known.
    pub label: Option<Label>,
}

impl Fault {
    /// Whether the device does not answer any more.
    pub fn is_lost(&self) -> bool {
        matches!(self.kind, FaultKind::DeviceLost(_))
    }

    /// Whether there was not enough memory.
    pub fn is_short(&self) -> bool {
        matches!(self.kind, FaultKind::OutOfMemory { .. })
    }
}

/// What went wrong on a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// Memory ran out, also after everything unused was given back.
    #[error(
        "out of memory: {requested} more bytes do not fit, {in_use} bytes of the limit of {limit} are in use; \
         free tensors, split the work, or raise the limit with Device::set_memory_limit"
    )]
    OutOfMemory {
        /// Bytes asked for.
        requested: usize,
        /// Bytes in use at that moment.
        in_use: usize,
        /// The most that may be in use.
        limit: usize,
    },
    /// A kernel or a host function panicked.
    #[error("panicked on the device: {0}")]
    Panicked(String),
    /// The backend cannot do this.
    #[error("not supported by this device: {0}")]
    Unsupported(String),
    /// There is no such device, or what it needs is not there, or a setting is wrong.
    #[error("{0}")]
    Missing(String),
    /// A function of the host says that it failed.
    #[error("{0}")]
    Failed(String),
    /// The value was given up: an execution may use its memory.
    #[error("{0}")]
    Donated(String),
    /// The device does not answer any more.
    #[error("the device is lost: {0}")]
    DeviceLost(String),
}

/// The recorded ops that one command computes, and the bytes it moves. Cheap to clone and to make.
#[derive(Clone, Debug)]
pub struct Label {
    /// Every op of the segment the command belongs to.
    pub segment: Arc<[LabelOp]>,
    /// Which of them the command computes.
    pub work: Arc<Work>,
}

impl Label {
    /// The ops that the command computes, in the order they were recorded.
    pub fn ops(&self) -> impl Iterator<Item = LabelOp> + '_ {
        self.work.nodes.iter().filter_map(|&node| self.segment.get(node as usize).cloned())
    }
}

/// One op and where it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelOp {
    /// The op's name.
    pub name: &'static str,
    /// Where it was written.
    pub location: SourceLocation,
}

/// Where an op was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceLocation {
    /// In the caller's code.
    Caller(&'static Location<'static>),
    /// In a program.
    Program {
        /// The program's name.
        name: Arc<str>,
        /// Counted from 1; 0 for a program that has no lines.
        line: u32,
        /// Counted from 1; of a program that has no lines, the operation's number.
        column: u32,
    },
}

impl SourceLocation {
    /// The caller's file and line, if that is where it was written.
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
