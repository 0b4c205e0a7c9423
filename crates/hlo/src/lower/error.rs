//! What keeps a program from being lowered.

use crate::module::Location;
use std::fmt;

/// Everything that keeps a program from being lowered, in the order it was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LowerError {
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One thing that cannot be lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The operation, such as `stablehlo.send`, or the function.
    pub operation: String,
    /// Where it was written.
    pub location: Location,
    /// What is wrong with it, and what to do.
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

/// Why one operation was not lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// This is wrong with it.
    Wrong(String),
    /// An operand comes from an operation that was not lowered, which has been reported.
    Spread,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Wrong(message)
    }
}

impl From<&str> for Failure {
    fn from(message: &str) -> Failure {
        Failure::Wrong(message.to_string())
    }
}

impl From<inflight_ir::graph::InferError> for Failure {
    fn from(error: inflight_ir::graph::InferError) -> Failure {
        Failure::Wrong(error.to_string())
    }
}

impl From<inflight_ir::compose::ComposeError> for Failure {
    fn from(error: inflight_ir::compose::ComposeError) -> Failure {
        Failure::Wrong(error.to_string())
    }
}
