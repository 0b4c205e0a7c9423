//! `inflight run`: a program, executed.

use super::training::{self, Learned, TrainingArguments};
use crate::outcome::{Failure, Outcome, device};
use crate::progress::Progress;
use inflight::program::ArgumentType;
use inflight::{DType, Device, Executable, Program, Stats, Tensor, io};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to run, on what, and what to do with the results.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, or bytecode as jax.export writes it.
    file: PathBuf,
    /// The value of the next argument, a .npy file. Give one for each argument, in order.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Makes up the arguments that no --input is given for, from this seed; in training the first weights and
    /// the order of rows.
    #[arg(long, value_name = "SEED")]
    random: Option<u64>,
    /// Writes the results to this folder, as out_00.npy, out_01.npy, …
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Compares the results with out_00.npy, out_01.npy, … in this folder.
    #[arg(long, value_name = "FOLDER")]
    expect: Option<PathBuf>,
    /// How far results may be from what is expected, as a part of the largest magnitude expected.
    #[arg(long, default_value_t = 1e-4)]
    tolerance: f64,
    /// Where it runs.
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Executes it so often.
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    repeat: usize,
    /// Keeps executions in flight: waits once, in the end. This is the default.
    #[arg(long, conflicts_with = "sync")]
    r#async: bool,
    /// Waits for each execution before the next.
    #[arg(long)]
    sync: bool,
    /// Writes what ran when, for chrome://tracing, Perfetto or `inflight timeline`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Prints JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    training: TrainingArguments,
}

/// What was done and measured.
struct Report {
    results: Vec<Tensor>,
    compiling: Duration,
    executing: Duration,
    stats: Stats,
}

/// Runs the program; the text is its results.
pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.repeat == 0 {
        return Err(Failure::misuse("--repeat 0: nothing would run; give 1 or more"));
    }
    let device = device(&arguments.device)?;
    if let Some(data) = &arguments.training.train {
        return train(arguments, data, &device);
    }
    let report = match &arguments.trace {
        Some(path) => inflight::trace(path, || measure(arguments, &device))??,
        None => measure(arguments, &device)?,
    };
    if let Some(folder) = &arguments.output {
        save(&report.results, folder)?;
    }
    if let Some(folder) = &arguments.expect {
        compare(&report.results, folder, arguments.tolerance, &device)?;
    }
    match arguments.json {
        true => Ok(format!("{:#}", to_json(arguments, &report))),
        false => Ok(to_text(arguments, &report)),
    }
}

/// Trains with the program, a step; what is written are the arguments that the next step would have.
fn train(arguments: &Arguments, data: &Path, device: &Device) -> Outcome {
    if !arguments.input.is_empty() {
        return Err(Failure::misuse(
            "--train makes up the first arguments itself: leave --input out",
        ));
    }
    let seed = arguments.random.unwrap_or(1);
    let keep = |state: &[Tensor]| match &arguments.output {
        Some(folder) => save(state, folder),
        None => Ok(()),
    };
    let train = || training::train(&arguments.file, data, &arguments.training, seed, device, keep);
    let learned: Learned = match &arguments.trace {
        Some(path) => inflight::trace(path, train)??,
        None => train()?,
    };
    match arguments.json {
        true => Ok(format!("{:#}", learned.to_json())),
        false => Ok(learned.to_text()),
    }
}

/// Writes tensors to a folder, which is made if there is none.
fn save(tensors: &[Tensor], folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::misuse(format!("the folder {}: {error}", folder.display())))?;
    for (number, tensor) in tensors.iter().enumerate() {
        io::save_npy(file(folder, number), tensor)?;
    }
    Ok(())
}

fn measure(arguments: &Arguments, device: &Device) -> Result<Report, Failure> {
    let program = Program::load(&arguments.file)?;
    let began = Instant::now();
    let executable = device.compile(&program)?;
    let compiling = began.elapsed();
    let values = values(arguments, &executable, device)?;
    device.sync()?;
    let before = device.stats();
    let began = Instant::now();
    let mut progress = Progress::new(arguments.repeat);
    let mut results = Vec::new();
    for done in 0..arguments.repeat {
        // Clones: an argument that is donated is needed for the next execution all the same.
        let clones: Vec<Tensor> = values.to_vec();
        let references: Vec<&Tensor> = clones.iter().collect();
        let is_last = done + 1 == arguments.repeat;
        results = match arguments.sync || is_last {
            true => executable.call(&references)?,
            false => executable.execute(&references)?,
        };
        progress.show(done + 1, || {
            let rate = (done + 1) as f64 / began.elapsed().as_secs_f64();
            format!("{rate:.0} executions a second")
        });
    }
    let executing = began.elapsed();
    drop(progress);
    Ok(Report { results, compiling, executing, stats: device.stats().since(&before) })
}

/// The value of an argument, from a file.
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

/// The arguments' values: those given, and those made up.
fn values(
    arguments: &Arguments,
    executable: &Executable,
    device: &Device,
) -> Result<Vec<Tensor>, Failure> {
    let types = executable.arguments();
    if arguments.input.len() > types.len() {
        return Err(Failure::misuse(format!(
            "{} takes {} arguments, {} are given with --input",
            executable.name(),
            types.len(),
            arguments.input.len()
        )));
    }
    let mut values = Vec::with_capacity(types.len());
    for (number, ty) in types.iter().enumerate() {
        values.push(match (arguments.input.get(number), arguments.random) {
            (Some(path), _) => read(path, number, ty, device)?,
            (None, Some(seed)) => random(number, ty, seed, device)?,
            (None, None) => {
                return Err(Failure::misuse(format!(
                    "argument {number} ({}) of {} is {ty}: give its value with --input FILE.npy, or have it \
                     made up with --random SEED",
                    ty.name,
                    executable.name()
                )));
            }
        });
    }
    Ok(values)
}

/// Numbers of a normal distribution, or whole numbers from 0 to 9.
fn random(number: usize, ty: &ArgumentType, seed: u64, device: &Device) -> Result<Tensor, Failure> {
    let extents: Option<Vec<usize>> = ty.extents.iter().copied().collect();
    let Some(extents) = extents else {
        return Err(Failure::misuse(format!(
            "argument {number} is {ty}, and its open extents cannot be made up: give it with --input"
        )));
    };
    let seed = seed.wrapping_add(number as u64);
    let tensor = match ty.dtype {
        DType::Bool => Tensor::rand_int::<i32>(0, 2, extents, seed, device),
        dtype if dtype.is_integer() => Tensor::rand_int::<i32>(0, 10, extents, seed, device),
        _ => Tensor::randn::<f32>(extents, 0.0, 1.0, seed, device),
    };
    Ok(tensor.cast(ty.dtype))
}

fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("out_{number:02}.npy"))
}

/// Whether all results are as far from what is expected as they may be.
fn compare(
    results: &[Tensor],
    folder: &Path,
    tolerance: f64,
    device: &Device,
) -> Result<(), Failure> {
    for (number, result) in results.iter().enumerate() {
        let path = file(folder, number);
        let expected = io::load_npy(&path, device)?;
        if (expected.shape(), expected.dtype()) != (result.shape(), result.dtype()) {
            return Err(Failure::failed(format!(
                "result {number} is {}{}, {} holds {}{}",
                result.dtype(),
                result.shape(),
                path.display(),
                expected.dtype(),
                expected.shape()
            )));
        }
        let numbers = |tensor: &Tensor| tensor.cast(DType::F64).to_vec::<f64>();
        let (found, expected) = (numbers(result)?, numbers(&expected)?);
        let scale = expected.iter().fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
        let differs = |(a, b): (&f64, &f64)| {
            !(a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * scale)
        };
        if let Some(at) = found.iter().zip(&expected).position(differs) {
            return Err(Failure::failed(format!(
                "element {at} of result {number} is {}, expected {}, in {}",
                found[at],
                expected[at],
                path.display()
            )));
        }
    }
    Ok(())
}

fn to_text(arguments: &Arguments, report: &Report) -> String {
    let mut text = String::new();
    for (number, result) in report.results.iter().enumerate() {
        let (dtype, shape) = (result.dtype(), result.shape());
        let _ = writeln!(text, "result {number}: {dtype}{shape}\n{result}");
    }
    let each = report.executing.as_secs_f64() / arguments.repeat as f64;
    let per = |count: u64| count as f64 / arguments.repeat as f64;
    let _ = write!(
        text,
        "compiled in {:.3} ms; {} of {:.3} ms, each {} launches, {} bytes read, {} bytes written",
        1e3 * report.compiling.as_secs_f64(),
        match arguments.repeat {
            1 => "1 execution".to_owned(),
            count => format!("{count} executions"),
        },
        1e3 * each,
        per(report.stats.launches),
        per(report.stats.bytes_read),
        per(report.stats.bytes_written),
    );
    text
}

fn to_json(arguments: &Arguments, report: &Report) -> Value {
    let results = report.results.iter().map(|result| {
        json!({
            "dtype": result.dtype().name(),
            "shape": result.shape().to_vec(),
            "values": result.to_string(),
        })
    });
    json!({
        "results": results.collect::<Vec<_>>(),
        "executions": arguments.repeat,
        "compile_seconds": report.compiling.as_secs_f64(),
        "seconds": report.executing.as_secs_f64(),
        "launches": report.stats.launches,
        "bytes_read": report.stats.bytes_read,
        "bytes_written": report.stats.bytes_written,
    })
}
