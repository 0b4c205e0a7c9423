//! What is wrong with bytecode, and where.

use std::fmt;

/// A place in the bytes where something else was expected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BytecodeError {
    /// Counted in bytes from 0, from the beginning of the file.
    pub offset: usize,
    /// The part of the file it is in.
    pub section: &'static str,
    /// What would have been right here.
    pub expected: String,
    /// What is here.
    pub found: String,
}

impl fmt::Display for BytecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "byte {} ({}): expected {}, found {}",
            self.offset, self.section, self.expected, self.found
        )
    }
}

impl std::error::Error for BytecodeError {}
