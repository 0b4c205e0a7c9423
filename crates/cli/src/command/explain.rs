//! `inflight explain`: the kernels that a program becomes.

use crate::outcome::{Failure, Outcome};
use inflight::Program;
use std::path::PathBuf;

/// Which program, and how to show it.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program, text or bytecode.
    file: PathBuf,
    /// Writes a page to look at.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Prints JSON, for tools.
    #[arg(long)]
    json: bool,
}

/// The kernels, as text or as JSON; or where the page is.
pub fn explain(arguments: &Arguments) -> Outcome {
    let explanation = Program::load(&arguments.file)?.explain()?;
    match (&arguments.html, arguments.json) {
        (Some(path), _) => {
            std::fs::write(path, explanation.to_html()).map_err(|error| {
                Failure::misuse(format!("{}: cannot be written: {error}", path.display()))
            })?;
            Ok(format!("{}: {} kernels", path.display(), explanation.kernels.len()))
        }
        (None, true) => Ok(explanation.to_json()),
        (None, false) => Ok(explanation.to_string()),
    }
}
