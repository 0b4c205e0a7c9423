//! `inflight check`: programs that check themselves.

use crate::outcome::{Failure, Outcome, device};
use crate::progress::Progress;
use inflight::{Device, Program};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What to check, and where.
#[derive(clap::Args)]
pub struct Arguments {
    /// Programs, and folders of programs (.mlir, .mlirbc).
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// How many programs run at a time. As many as there are processors, if not given.
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Where they run.
    #[arg(long, default_value = "cpu")]
    device: String,
}

/// What became of a program.
enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

/// Runs all programs; prints those that failed or were skipped.
pub fn check(arguments: &Arguments) -> Outcome {
    let mut files = Vec::new();
    for path in &arguments.paths {
        collect(path, &mut files)?;
    }
    files.sort();
    files.dedup();
    if files.is_empty() {
        return Err(Failure::misuse("there are no .mlir or .mlirbc files in these folders"));
    }
    let device = device(&arguments.device)?;
    let processors = thread::available_parallelism().map_or(1, |count| count.get());
    let jobs = arguments.jobs.unwrap_or(processors).clamp(1, files.len());
    let verdicts = judge_all(&files, jobs, &device);
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for (file, verdict) in files.iter().zip(verdicts) {
        match verdict {
            Verdict::Passed => passed += 1,
            Verdict::Failed(message) => {
                failed += 1;
                println!("FAILED  {}: {message}", file.display());
            }
            Verdict::Skipped(reason) => {
                skipped += 1;
                println!("skipped {}: {reason}", file.display());
            }
        }
    }
    let summary = format!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 {
        return Ok(summary);
    }
    println!("{summary}");
    Err(Failure::failed(format!("{failed} of {} programs failed", files.len())))
}

/// The programs at a path.
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

/// The verdict on each file, in their order.
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
                    verdicts.lock().expect("nobody panics here")[number] = Some(verdict);
                    let name = || file.file_name().unwrap_or_default().display().to_string();
                    progress.lock().expect("nobody panics here").show(number, name);
                }
            });
        }
    });
    let verdicts = verdicts.into_inner().expect("nobody panics here").into_iter();
    verdicts.map(|verdict| verdict.expect("every file was judged")).collect()
}

fn judge(file: &Path, device: &Device) -> Verdict {
    let run = || {
        let program = Program::load(file)?;
        if let Some(feature) = program.excluded_feature() {
            return Ok(Verdict::Skipped(feature));
        }
        let executable = device.compile(&program)?;
        let execution = executable.start(&[])?;
        // A result that fails is a failure too, whether or not a check looks at it.
        let mut outcome = execution.done.get();
        for result in &execution.results {
            outcome = outcome.and(result.wait());
        }
        outcome.map(|()| Verdict::Passed)
    };
    run().unwrap_or_else(|error| Verdict::Failed(error.to_string()))
}
