//! `inflight fmt`: a program in canonical text.

use crate::outcome::Outcome;
use inflight::Program;
use std::path::PathBuf;

/// Which program.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program, text or bytecode.
    file: PathBuf,
}

/// The program's canonical text.
pub fn format(arguments: &Arguments) -> Outcome {
    Ok(Program::load(&arguments.file)?.to_text()?)
}
