//! `inflight fmt`: a program in canonical text.

use super::program;
use crate::outcome::Outcome;
use std::path::PathBuf;

/// Which program.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program, text or bytecode.
    file: PathBuf,
}

/// The program's canonical text.
pub fn format(arguments: &Arguments) -> Outcome {
    Ok(program::load(&arguments.file)?.to_text()?)
}
