//! `inflight run`: a program, executed.
//!
//! - this file: what is asked for, executed and measured;
//! - `inputs`: the values of arguments;
//! - `files`: tensors in numbered files of a folder;
//! - `compare`: results against those expected;
//! - `values`: results as JSON.

mod compare;
mod files;
mod inputs;
mod values;

use super::program;
use super::training::{self, Learned, TrainingArguments};
use crate::outcome::{Failure, Outcome, counted, device};
use crate::progress::Progress;
use compare::{Agreement, compare};
use files::{check_output, save};
use inflight::{Device, Stats, Tensor};
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
    /// The values of all arguments: in_00.npy, in_01.npy, … of this folder, in order.
    #[arg(long, value_name = "FOLDER", conflicts_with = "input")]
    inputs: Option<PathBuf>,
    /// Makes up the arguments that no file is given for, from this seed; in training the first weights and
    /// the order of rows.
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    random: Option<u64>,
    /// Writes the results to this folder, as out_00.npy, out_01.npy, …
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Compares the results with out_00.npy, out_01.npy, … in this folder.
    #[arg(long, value_name = "FOLDER")]
    expect: Option<PathBuf>,
    /// How far results may be from what is expected, as a part of the largest magnitude expected.
    #[arg(
        long,
        default_value_t = 1e-4,
        requires = "expect",
        allow_negative_numbers = true,
        value_parser = tolerance
    )]
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
    /// Prints JSON. Values of a result of more than 10,000 elements are null: --output writes them.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    training: TrainingArguments,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err("expected a finite number from 0 on".to_owned()),
    }
}

/// What was done and measured.
struct Report {
    results: Vec<Tensor>,
    compiling: Duration,
    executing: Duration,
    stats: Stats,
    agreement: Option<Agreement>,
}

/// Runs the program; the text is its results.
pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.repeat == 0 {
        return Err(Failure::misuse("--repeat 0: nothing would run; give 1 or more"));
    }
    if let Some(folder) = &arguments.output {
        check_output(folder)?;
    }
    let device = device(&arguments.device)?;
    if let Some(data) = &arguments.training.train {
        return train(arguments, data, &device);
    }
    let mut report = match &arguments.trace {
        Some(path) => inflight::trace(path, || measure(arguments, &device))??,
        None => measure(arguments, &device)?,
    };
    if let Some(folder) = &arguments.output {
        save(&report.results, folder)?;
    }
    if let Some(folder) = &arguments.expect {
        report.agreement = Some(compare(&report.results, folder, arguments.tolerance, &device)?);
    }
    match arguments.json {
        true => Ok(format!("{:#}", to_json(arguments, &report)?)),
        false => Ok(to_text(arguments, &report)),
    }
}

/// Trains with the program, a step; what is written are the arguments that the next step would have.
fn train(arguments: &Arguments, data: &Path, device: &Device) -> Outcome {
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

fn measure(arguments: &Arguments, device: &Device) -> Result<Report, Failure> {
    let program = program::load(&arguments.file)?;
    let began = Instant::now();
    let executable = device.compile(&program)?;
    let compiling = began.elapsed();
    let values = inputs::values(arguments, &executable, device)?;
    device.wait()?;
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
            true => executable.execute_and_wait(&references)?,
            false => executable.execute(&references)?,
        };
        progress.show(done + 1, || {
            let rate = (done + 1) as f64 / began.elapsed().as_secs_f64();
            format!("{rate:.0} executions a second")
        });
    }
    let executing = began.elapsed();
    drop(progress);
    let stats = device.stats().since(&before);
    Ok(Report { results, compiling, executing, stats, agreement: None })
}

/// Whether a result is too large to be printed, and is not written to a file either.
fn is_unprinted(arguments: &Arguments, result: &Tensor) -> bool {
    arguments.output.is_none() && result.elements() > values::MOST_ELEMENTS
}

fn to_text(arguments: &Arguments, report: &Report) -> String {
    let mut text = String::new();
    for (number, result) in report.results.iter().enumerate() {
        let (dtype, shape) = (result.dtype(), result.shape());
        let hint = match is_unprinted(arguments, result) {
            true => "; --output FOLDER writes all elements",
            false => "",
        };
        let _ = writeln!(text, "result {number}: {dtype}{shape}{hint}\n{result}");
    }
    if let Some(agreement) = &report.agreement {
        let _ = writeln!(text, "{}", agreement.to_text());
    }
    let each = report.executing.as_secs_f64() / arguments.repeat as f64;
    let per = |count: u64, what| counted(count as f64 / arguments.repeat as f64, what);
    let _ = write!(
        text,
        "compiled in {:.3} ms; {} of {:.3} ms, each {}, {} read, {} written",
        1e3 * report.compiling.as_secs_f64(),
        counted(arguments.repeat, "execution"),
        1e3 * each,
        per(report.stats.launches, "launch"),
        per(report.stats.bytes_read, "byte"),
        per(report.stats.bytes_written, "byte"),
    );
    text
}

fn to_json(arguments: &Arguments, report: &Report) -> Result<Value, Failure> {
    let result = |result: &Tensor| {
        let mut json = json!({
            "dtype": result.dtype().name(),
            "shape": result.shape().to_vec(),
            "values": values::to_json(result)?,
        });
        if is_unprinted(arguments, result) {
            json["note"] = "too many elements to print: --output FOLDER writes them".into();
        }
        Ok(json)
    };
    let results: Result<Vec<Value>, Failure> = report.results.iter().map(result).collect();
    let mut json = json!({
        "results": results?,
        "executions": arguments.repeat,
        "compile_seconds": report.compiling.as_secs_f64(),
        "seconds": report.executing.as_secs_f64(),
        "launches": report.stats.launches,
        "bytes_read": report.stats.bytes_read,
        "bytes_written": report.stats.bytes_written,
    });
    if let Some(agreement) = &report.agreement {
        json["compared"] = agreement.to_json();
    }
    Ok(json)
}
