//! MLIR bytecode reader for StableHLO portable artifacts, as `jax.export` writes them.
//!
//! A file has sections: strings, dialects and operation names, attributes and types, properties, and the IR, which
//! refers to the others by index. Its dialect is VHLO, the versioned and append-only copy of StableHLO;
//! [`convert`] legalizes VHLO to StableHLO.

mod builtin;
mod convert;
mod error;
mod operations;
mod properties;
mod reader;
mod sections;
mod tables;
mod vhlo;

pub use error::BytecodeError;
pub(crate) use sections::MAGIC;

use crate::module::Module;

type Result<T> = std::result::Result<T, BytecodeError>;

/// Reads a module from bytecode.
pub fn decode(bytes: &[u8]) -> Result<Module> {
    let mut module = operations::module(sections::read_file(bytes)?, bytes.len())?;
    crate::canonical::canonicalize(&mut module);
    Ok(module)
}
