//! Programs of either kind.

use crate::bytecode::{self, BytecodeError};
use crate::module::Module;
use crate::syntax::{self, SyntaxError};

/// Why a program cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    /// It is text, and something in it is wrong.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It is bytecode, and something in it is wrong.
    #[error(transparent)]
    Bytecode(#[from] BytecodeError),
    /// It is neither text nor bytecode.
    #[error(
        "byte {offset}: neither StableHLO text nor MLIR bytecode (which begins with 4d 4c ef 52)"
    )]
    Neither {
        /// The first byte that is no text.
        offset: usize,
    },
}

/// Reads a module from text or from bytecode, whichever it is.
pub fn read(bytes: &[u8]) -> Result<Module, ReadError> {
    if bytes.starts_with(bytecode::MAGIC) {
        return Ok(bytecode::decode(bytes)?);
    }
    match std::str::from_utf8(bytes) {
        Ok(source) => Ok(syntax::parse(source)?),
        Err(error) => Err(ReadError::Neither { offset: error.valid_up_to() }),
    }
}
