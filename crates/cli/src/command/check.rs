//! `inflight check`: runs self-checking programs.

use super::program;
use crate::outcome::{Failure, Outcome, counted, device};
use crate::progress::Progress;
use inflight::Device;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Arguments of `inflight check`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, and folders of programs (.mlir, .mlirbc)
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// Number of programs that run concurrently (default: number of processors)
    #[arg(short, long, value_name = "N", allow_negative_numbers = true)]
    jobs: Option<NonZeroUsize>,
    /// Device: cpu, cuda, cuda:1, …
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// Verdict on a program.
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs all programs. Prints those that failed or were skipped.
pub fn check(arguments: &Arguments) -> Outcome {
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, &mut files)?;
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        let folders: Vec<_> =
            arguments.paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::misuse(format!(
            "there are no .mlir or .mlirbc files in {}",
            folders.join(", ")
        )));
    }
    let device = device(&arguments.device)?;
    let processors = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let jobs = arguments.jobs.unwrap_or_else(processors).get().min(files.len());
    let verdicts = judge_all(&files, jobs, &device);
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    let mut text = String::new();
    for (file, verdict) in files.iter().zip(verdicts) {
        let name = file.display().to_string();
        let _ = match verdict {
            Verdict::Passed => {
                passed += 1;
                Ok(())
            }
            Verdict::Failed(message) => {
                failed += 1;
                writeln!(text, "FAILED  {}", named_once(&name, &message))
            }
            Verdict::Skipped(reason) => {
                skipped += 1;
                writeln!(text, "skipped {name}: {reason}")
            }
        };
    }
    let _ = write!(text, "{passed} passed, {failed} failed, {skipped} skipped");
    match failed {
        0 => Ok(text),
        _ => {
            let message = format!("{failed} of {} failed", counted(files.len(), "program"));
            Err(Failure::failed(message).with_found(text))
        }
    }
}

/// Prefixes a message with the file name unless it has it, and shortens `name:line` to `line` elsewhere.
fn named_once(name: &str, message: &str) -> String {
    match message.strip_prefix(name) {
        Some(rest) if rest.starts_with([':', ',', ' ']) => message.to_owned(),
        _ => format!("{name}: {}", message.replace(&format!("at {name}:"), "at line ")),
    }
}

/// Collects the programs at a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::misuse(format!(
            "{}: {error}; give a program or a folder of programs",
            path.display()
        ))
    };
    if !std::fs::metadata(path).map_err(failed)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?.path();
        let is_program =
            entry.extension().is_some_and(|extension| extension == "mlir" || extension == "mlirbc");
        if entry.is_dir() || is_program {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// Runs the files concurrently. Returns verdicts in file order.
fn judge_all(files: &[PathBuf], jobs: usize, device: &Device) -> Vec<Verdict> {
    let next = AtomicUsize::new(0);
    let verdicts: Mutex<Vec<Option<Verdict>>> = Mutex::new(files.iter().map(|_| None).collect());
    let progress = Mutex::new(Progress::new(files.len()));
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(number) else { return };
                    let verdict = catch_unwind(AssertUnwindSafe(|| judge(file, device)))
                        .unwrap_or_else(|_| Verdict::Failed("panicked".to_owned()));
                    verdicts.lock().expect("no thread panics while it holds the lock")[number] =
                        Some(verdict);
                    let name = || file.file_name().unwrap_or_default().display().to_string();
                    progress
                        .lock()
                        .expect("no thread panics while it holds the lock")
                        .show(number, name);
                }
            });
        }
    });
    let verdicts =
        verdicts.into_inner().expect("no thread panics while it holds the lock").into_iter();
    verdicts.map(|verdict| verdict.expect("every file was judged")).collect()
}

fn judge(file: &Path, device: &Device) -> Verdict {
    let run = || {
        let program = program::load(file)?;
        if let Some(feature) = program.excluded_feature() {
            return Ok(Verdict::Skipped(feature));
        }
        let executable = device.compile(&program)?;
        let taken = executable.arguments().len();
        if taken > 0 {
            let arguments = counted(taken, "argument");
            return Ok(Verdict::Failed(format!(
                "takes {arguments}; use `inflight run` to pass them"
            )));
        }
        let execution = executable.submit(&[])?;
        // A failed result is a failure even if no check reads it.
        let mut outcome = execution.done.get();
        for result in &execution.results {
            outcome = outcome.and(result.wait());
        }
        Ok(outcome.map(|()| Verdict::Passed)?)
    };
    run().unwrap_or_else(|failure: Failure| Verdict::Failed(failure.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_once() {
        for (message, said) in [
            ("a.mlir:1:2: add: no", "a.mlir:1:2: add: no"),
            ("a.mlir is empty", "a.mlir is empty"),
            ("a.mlirs differ", "a.mlir: a.mlirs differ"),
            (
                "wrong; while computing eq at a.mlir:5:3",
                "a.mlir: wrong; while computing eq at line 5:3",
            ),
        ] {
            assert_eq!(named_once("a.mlir", message), said);
        }
    }
}
