//! `inflight run`: executes a program.
//!
//! - this file: arguments, execution and measurement;
//! - `inputs`: argument values;
//! - `files`: folders of numbered tensor files;
//! - `compare`: comparison with expected results;
//! - `values`: results as JSON.

mod compare;
mod files;
mod inputs;
mod values;

use super::program;
use super::training::{self, Learned, TrainingArguments};
use crate::outcome::{Failure, Outcome, bytes, counted, device};
use crate::progress::Progress;
use compare::{Agreement, compare};
use files::{check_output, save};
use inflight::{Device, Executable, Profile, Stats, Tensor};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Arguments of `inflight run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The program: StableHLO text, or bytecode as jax.export writes it
    file: PathBuf,
    /// Value of the next argument, a .npy file. One for each argument, in order
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// Values of all arguments: in_00.npy, in_01.npy, … in this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "input")]
    inputs: Option<PathBuf>,
    /// Fills arguments without a file with random values of this seed. With --train, seeds the initial weights and the
    /// order of rows
    #[arg(long, value_name = "SEED", allow_negative_numbers = true)]
    random: Option<u64>,
    /// Writes the results to out_00.npy, out_01.npy, … in this folder
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Compares the results with out_00.npy, out_01.npy, … in this folder
    #[arg(long, value_name = "FOLDER")]
    expect: Option<PathBuf>,
    /// Tolerance of --expect, relative to the largest expected magnitude of each result
    #[arg(
        long,
        default_value_t = 1e-4,
        requires = "expect",
        allow_negative_numbers = true,
        value_parser = tolerance
    )]
    tolerance: f64,
    /// Device: cpu, cuda, cuda:1, …
    #[arg(long, default_value = "cpu")]
    device: String,
    /// Number of executions
    #[arg(long, default_value_t = 1, value_name = "N", allow_negative_numbers = true)]
    repeat: usize,
    /// Keeps executions in flight and waits once, at the end (default)
    #[arg(long, conflicts_with = "sync")]
    r#async: bool,
    /// Waits for each execution before submitting the next
    #[arg(long)]
    sync: bool,
    /// Prints a profile: time, bytes, FLOPs and the share of the device's limit of each kernel
    #[arg(long, conflicts_with = "train")]
    profile: bool,
    /// Writes a Chrome trace for Perfetto, chrome://tracing or `inflight timeline`
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Prints JSON. Values of results with more than 10,000 elements are null: use --output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    training: TrainingArguments,
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number >= 0.0 => Ok(number),
        _ => Err("expected a finite number of at least 0".to_owned()),
    }
}

/// Results and measurements.
struct Report {
    results: Vec<Tensor>,
    compiling: Duration,
    executing: Duration,
    stats: Stats,
    agreement: Option<Agreement>,
    profile: Option<Profile>,
}

/// Runs the program and prints its results.
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

/// Trains with the program as a training step. Writes the arguments of the step that would follow.
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
    let execute = || execute(arguments, &executable, &values);
    let (executed, profile) = match arguments.profile {
        true => {
            let (executed, profile) = inflight::profile(execute)?;
            (executed?, Some(profile))
        }
        false => (execute()?, None),
    };
    let (results, executing) = executed;
    let stats = device.stats().since(&before);
    Ok(Report { results, compiling, executing, stats, agreement: None, profile })
}

/// Executes the program as often as asked for. Returns the last results and the time of all executions.
fn execute(
    arguments: &Arguments,
    executable: &Executable,
    values: &[Tensor],
) -> Result<(Vec<Tensor>, Duration), Failure> {
    let began = Instant::now();
    let mut progress = Progress::new(arguments.repeat);
    let mut results = Vec::new();
    for done in 0..arguments.repeat {
        // Clones, because an execution may consume a donated argument that the next one needs.
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
    Ok((results, began.elapsed()))
}

/// Whether a result is too large to print and is not written to a file.
fn is_unprinted(arguments: &Arguments, result: &Tensor) -> bool {
    arguments.output.is_none() && result.element_count() > values::MOST_ELEMENTS
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
        bytes(report.stats.bytes_read / arguments.repeat as u64),
        bytes(report.stats.bytes_written / arguments.repeat as u64),
    );
    if let Some(profile) = &report.profile {
        let _ = write!(text, "\n\n{profile}");
    }
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
    if let Some(profile) = &report.profile {
        json["profile"] = serde_json::from_str(&profile.to_json()).unwrap_or_default();
    }
    if let Some(agreement) = &report.agreement {
        json["compared"] = agreement.to_json();
    }
    Ok(json)
}
