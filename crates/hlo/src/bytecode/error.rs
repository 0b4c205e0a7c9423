//! Bytecode errors: the offset, the section, and what was expected and found there.

use std::fmt;

/// Malformed or unsupported bytecode.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BytecodeError {
    /// The offset from the beginning of the file in bytes.
    pub offset: usize,
    /// The section that the offset is in.
    pub section: &'static str,
    /// What the reader expected here.
    pub expected: String,
    /// What it found.
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
