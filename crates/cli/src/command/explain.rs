//! `inflight explain`: the kernels that a program becomes.

use super::program;
use crate::outcome::{Failure, Outcome, counted, device};
use inflight::{Error, Program, Shape};
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
    let program = program::load(&arguments.file)?;
    let explanation = match arguments.shape.is_empty() {
        true => program.explain().map_err(|error| unexplained(&program, error))?,
        false => program.explain_for(&arguments.shape).map_err(|error| match error {
            // Too many shapes, too few, or any where none is open.
            Error::Invalid(message) => Failure::misuse(message),
            other => other.into(),
        })?,
    };
    match (&arguments.html, arguments.json) {
        (Some(path), _) => {
            std::fs::write(path, explanation.to_html()).map_err(|error| {
                Failure::misuse(format!("{}: cannot be written: {error}", path.display()))
            })?;
            let kernels = counted(explanation.kernels.len(), "kernel");
            Ok(format!("{}: {kernels}", path.display()))
        }
        (None, true) => Ok(explanation.to_json()),
        (None, false) => Ok(explanation.to_string()),
    }
}

/// Why a program cannot be explained without shapes. If all that is wrong is that extents are open, it compiles.
fn unexplained(program: &Program, error: Error) -> Failure {
    let compiled = device("cpu").and_then(|device| Ok(device.compile(program)?));
    let Ok(executable) = compiled else { return error.into() };
    let types = executable.arguments();
    let open = types.iter().position(|ty| ty.extents.contains(&None));
    let Some(number) = open else { return error.into() };
    Failure::misuse(format!(
        "argument {number} ({}) of {} is {}: give the shapes of all arguments, {}, such as --shape 32x64",
        types[number].name,
        program.name(),
        types[number],
        match types.len() {
            1 => "with one --shape".to_owned(),
            count => format!("with {count} --shape in order"),
        }
    ))
}
