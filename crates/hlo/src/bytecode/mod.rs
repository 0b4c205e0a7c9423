//! MLIR bytecode that holds a portable artifact: what `jax.export` writes.
//!
//! A file has sections: strings, names of operations, a table of attributes and types, properties, and the
//! operations, which refer to all of those by number. Its dialect is VHLO, a copy of StableHLO whose operations
//! have versions and which never changes what it has; [`convert`] takes it back to StableHLO.

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
    let mut module = operations::module(sections::open(bytes)?, bytes.len())?;
    crate::canonical::tidy(&mut module);
    Ok(module)
}
