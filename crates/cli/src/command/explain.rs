//! `inflight explain`: prints the kernels of a program.

use super::program;
use crate::outcome::{Failure, Outcome, counted, device};
use inflight::{Error, Program, Shape};
use std::path::PathBuf;

/// Arguments of `inflight explain`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program (text or bytecode)
    file: PathBuf,
    /// Shape of the next argument, such as 32x64, or `scalar`. Required for each argument, in order, if the program
    /// has dynamic extents
    #[arg(long, value_name = "SHAPE", value_parser = shape)]
    shape: Vec<Shape>,
    /// Prints the tile IR of each kernel
    #[arg(long, conflicts_with_all = ["json", "html"])]
    ir: bool,
    /// Writes a self-contained HTML page instead
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Prints JSON, with primitives and tile IR
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

/// Prints the kernels as text or JSON, or writes the page.
pub fn explain(arguments: &Arguments) -> Outcome {
    let program = program::load(&arguments.file)?;
    let explanation = match arguments.shape.is_empty() {
        true => program.explain().map_err(|error| unexplained(&program, error))?,
        false => program.explain_for(&arguments.shape).map_err(|error| match error {
            // Too many shapes, too few, or shapes for a program without dynamic extents.
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
        (None, false) if arguments.ir => Ok(explanation.with_ir().to_string()),
        (None, false) => Ok(explanation.to_string()),
    }
}

/// The failure of a program without shapes. If only dynamic extents are the cause, names the argument to give.
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
