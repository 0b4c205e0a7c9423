//! Format detection: reads a module from StableHLO text or from MLIR bytecode.

use crate::bytecode::{self, BytecodeError};
use crate::module::Module;
use crate::syntax::{self, SyntaxError};

/// The error of reading a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    /// The text does not parse.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The bytecode is malformed or too new.
    #[error(transparent)]
    Bytecode(#[from] BytecodeError),
    /// The input is neither UTF-8 text nor MLIR bytecode.
    #[error(
        "byte {offset}: expected StableHLO text or MLIR bytecode (which begins with 4d 4c ef 52), \
         found a byte that is not UTF-8; pass a .mlir or .mlirbc file"
    )]
    UnknownFormat {
        /// The offset of the first byte that is not UTF-8.
        offset: usize,
    },
}

/// Reads a module from text or bytecode, detected by the bytecode's magic number.
pub fn read(bytes: &[u8]) -> Result<Module, ReadError> {
    if bytes.starts_with(bytecode::MAGIC) {
        return Ok(bytecode::decode(bytes)?);
    }
    match std::str::from_utf8(bytes) {
        Ok(source) => Ok(syntax::parse(source)?),
        Err(error) => Err(ReadError::UnknownFormat { offset: error.valid_up_to() }),
    }
}
