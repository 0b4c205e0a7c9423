//! Argument values of a program: from files, or random.

use super::Arguments;
use super::files::{numbered, superfluous};
use crate::outcome::{Failure, counted};
use inflight::program::ArgumentType;
use inflight::{DType, Device, Executable, Tensor, io};
use std::path::{Path, PathBuf};

/// Returns the value of each argument.
pub fn values(
    arguments: &Arguments,
    executable: &Executable,
    device: &Device,
) -> Result<Vec<Tensor>, Failure> {
    let types = executable.arguments();
    let files = files(arguments, executable)?;
    let value = |(number, ty): (usize, &ArgumentType)| match (
        files.get(number).and_then(Option::as_ref),
        arguments.random,
    ) {
        (Some(path), _) => read(path, number, ty, device),
        (None, Some(seed)) => random(number, ty, seed, device),
        (None, None) => {
            let missing = match &arguments.inputs {
                Some(folder) => {
                    format!("{} does not exist", numbered(folder, "in", number).display())
                }
                None => "give its value with --input FILE.npy, those of all with --inputs FOLDER"
                    .to_owned(),
            };
            Err(Failure::misuse(format!(
                "argument {number} ({}) of {} is {ty}: {missing}, or fill it with random values by --random SEED",
                ty.name,
                executable.name()
            )))
        }
    };
    types.iter().enumerate().map(value).collect()
}

/// Returns the file of each argument that has one.
fn files(arguments: &Arguments, executable: &Executable) -> Result<Vec<Option<PathBuf>>, Failure> {
    let taken = executable.arguments().len();
    let takes = || format!("{} takes {}", executable.name(), counted(taken, "argument"));
    let Some(folder) = &arguments.inputs else {
        let given = arguments.input.len();
        if given > taken {
            let verb = if given == 1 { "is" } else { "are" };
            return Err(Failure::misuse(format!("{}, {given} {verb} given with --input", takes())));
        }
        return Ok(arguments.input.iter().cloned().map(Some).collect());
    };
    if let Some(path) = superfluous(folder, "in", taken)? {
        return Err(Failure::misuse(format!(
            "{}, and {} is none of them",
            takes(),
            path.display()
        )));
    }
    let file = |number| Some(numbered(folder, "in", number)).filter(|path| path.exists());
    Ok((0..taken).map(file).collect())
}

/// Reads the value of an argument from a file.
fn read(path: &Path, number: usize, ty: &ArgumentType, device: &Device) -> Result<Tensor, Failure> {
    let tensor = io::load_npy(path, device)?;
    let fits = |(extent, found): (&Option<usize>, &usize)| extent.is_none_or(|e| e == *found);
    if tensor.dtype() == ty.dtype
        && tensor.rank() == ty.extents.len()
        && ty.extents.iter().zip(tensor.shape().iter()).all(fits)
    {
        return Ok(tensor);
    }
    Err(Failure::misuse(format!(
        "argument {number} ({}) is {ty}, {} holds {}{}",
        ty.name,
        path.display(),
        tensor.dtype(),
        tensor.shape()
    )))
}

/// Normally distributed floats, or integers from 0 to 9.
fn random(number: usize, ty: &ArgumentType, seed: u64, device: &Device) -> Result<Tensor, Failure> {
    let extents: Option<Vec<usize>> = ty.extents.iter().copied().collect();
    let Some(extents) = extents else {
        return Err(Failure::misuse(format!(
            "argument {number} is {ty}, and it has dynamic extents, which cannot be random: give it with --input"
        )));
    };
    let seed = seed.wrapping_add(number as u64);
    let tensor = match ty.dtype {
        DType::Bool => Tensor::randint::<i32>(0, 2, extents, seed, device),
        dtype if dtype.is_integer() => Tensor::randint::<i32>(0, 10, extents, seed, device),
        _ => Tensor::randn::<f32>(0.0, 1.0, extents, seed, device),
    };
    Ok(tensor.cast(ty.dtype))
}
