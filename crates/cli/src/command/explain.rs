//! `inflight explain`: the kernels that a program becomes.

use crate::outcome::{Failure, Outcome};
use inflight::{Program, Shape};
use std::path::PathBuf;

/// Which program, and how to show it.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program, text or bytecode.
    file: PathBuf,
    /// The shape of the next argument, such as 32x64, or `scalar`. Give one for each argument, in order, if
    /// the program leaves extents open.
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    shape: Vec<Shape>,
    /// Writes a page to look at.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Prints JSON, for tools.
    #[arg(long)]
    json: bool,
}

fn shape(text: &str) -> Result<Shape, String> {
    if text == "scalar" {
        return Ok(Shape::scalar());
    }
    let extents: Result<Vec<usize>, _> = text.split('x').map(str::parse).collect();
    let extents = extents.map_err(|_| "expected extents such as 32x64, or scalar".to_owned())?;
    Ok(Shape::new(&extents))
}

/// The kernels, as text or as JSON; or where the page is.
pub fn explain(arguments: &Arguments) -> Outcome {
    let program = Program::load(&arguments.file)?;
    let explanation = match arguments.shape.is_empty() {
        true => program.explain()?,
        false => program.explain_for(&arguments.shape)?,
    };
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
