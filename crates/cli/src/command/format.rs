//! `inflight fmt`: prints a program as canonical StableHLO text.

use super::program;
use crate::outcome::Outcome;
use std::path::PathBuf;

/// Arguments of `inflight fmt`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program (text or bytecode)
    file: PathBuf,
}

/// Prints the program's canonical text.
pub fn format(arguments: &Arguments) -> Outcome {
    Ok(program::load(&arguments.file)?.to_text()?)
}
