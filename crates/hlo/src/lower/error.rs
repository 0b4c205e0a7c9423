//! Lowering errors.

use crate::module::Location;
use std::fmt;

/// All problems that lowering found, in source order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerError {
    /// The problems; at least one.
    pub problems: Vec<Problem>,
}

/// An operation or a function that cannot be lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The name of the operation, such as `stablehlo.send`, or of the function.
    pub operation: String,
    /// The source location.
    pub location: Location,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl std::error::Error for LowerError {}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            let separator = if i == 0 { "" } else { "\n" };
            write!(f, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { operation, location, message } = self;
        match location.line {
            0 => write!(f, "operation {}: {operation}: {message}", location.column),
            line => write!(f, "line {line}, column {}: {operation}: {message}", location.column),
        }
    }
}

/// The reason why one operation was not lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// The operation itself is invalid or not supported; the message says why.
    Invalid(String),
    /// An operand comes from an operation that was not lowered, and that was reported.
    Propagated,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Invalid(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::Invalid(message.to_string())
    }
}

impl From<inflight_ir::graph::InferError> for Failure {
    fn from(error: inflight_ir::graph::InferError) -> Failure {
        Failure::Invalid(error.to_string())
    }
}

impl From<inflight_ir::compose::ComposeError> for Failure {
    fn from(error: inflight_ir::compose::ComposeError) -> Failure {
        Failure::Invalid(error.to_string())
    }
}
