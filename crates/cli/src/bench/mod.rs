//! `inflight bench`: times workloads here and in other libraries, alternating between them.
//!
//! - this file: arguments and control flow;
//! - `work`: the description of a workload; `works`: all workloads;
//! - `bandwidth`: a memory bandwidth baseline for each workload;
//! - `peer`: another library in its own process;
//! - `session`: the measurement with a given number of threads;
//! - `compare`: comparison of results;
//! - `report`: tables and JSON.

mod bandwidth;
mod compare;
mod peer;
mod report;
mod session;
mod work;
mod works;

use crate::outcome::{Failure, Outcome, cpu_options};
use report::Report;
use session::Session;
use std::path::PathBuf;
use std::thread;
use work::Work;

/// Arguments of `inflight bench`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Also runs the workloads in NumPy, JAX, PyTorch and torch.compile, as far as Python has them
    #[arg(long)]
    peers: bool,
    /// Python interpreter of the peers (default: INFLIGHT_PEERS_PYTHON, bench/peers/.venv/bin/python, or python3)
    #[arg(long)]
    python: Option<PathBuf>,
    /// Thread counts, comma-separated. Threads are pinned to as many processors
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<usize>,
    /// Runs only workloads whose name and size contain this text
    #[arg(long)]
    only: Option<String>,
    /// Number of rounds; each round times every library once
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Prints JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// Prints Markdown tables
    #[arg(long)]
    markdown: bool,
}

/// Measures and reports. Differing results of a peer are an error.
pub fn bench(arguments: &Arguments) -> Outcome {
    let works = matching_works(arguments.only.as_deref())?;
    let options = cpu_options()?;
    let mut report = Report::new();
    for &threads in &arguments.threads {
        let processors = processors(threads)?;
        // Workers and peers inherit the processor affinity of the thread that starts them.
        let measured = thread::scope(|scope| {
            let run = || Session::open(arguments, &processors, options)?.measure(&works);
            scope.spawn(run).join().map_err(|_| Failure::failed("a bench panicked"))
        })??;
        report.add(measured);
    }
    let text = match (arguments.json, arguments.markdown) {
        (true, _) => report.json(),
        (_, markdown) => report.text(markdown),
    };
    match report.differences() {
        differences if differences.is_empty() => Ok(text),
        differences => {
            let message = format!("results differ: {}", differences.join("; "));
            Err(Failure::failed(message).with_found(text))
        }
    }
}

/// Workloads whose name and size contain the pattern.
fn matching_works(pattern: Option<&str>) -> Result<Vec<Work>, Failure> {
    let mut works = works::all();
    let Some(pattern) = pattern else { return Ok(works) };
    let names: Vec<String> = works.iter().map(Work::title).collect();
    let pattern = pattern.to_lowercase();
    works.retain(|work| work.title().to_lowercase().contains(&pattern));
    match works.is_empty() {
        false => Ok(works),
        true => Err(Failure::misuse(format!(
            "no workload matches {pattern:?}; the workloads are {}",
            names.join(", ")
        ))),
    }
}

/// The first `threads` processors that this process may use.
fn processors(threads: usize) -> Result<Vec<usize>, Failure> {
    let allowed = session::allowed_processors();
    match threads {
        0 => Err(Failure::misuse("--threads counts from 1 on")),
        _ if threads > allowed.len() => Err(Failure::misuse(format!(
            "--threads {threads} asks for more processors than there are, {}; --threads 1 works",
            allowed.len()
        ))),
        _ => Ok(allowed[..threads].to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::Value;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        bench: Arguments,
    }

    #[test]
    fn a_work_is_measured_as_json() {
        let arguments = ["bench", "--only", "a call", "--threads", "1", "--rounds", "1", "--json"];
        let text = bench(&Command::parse_from(arguments).bench).unwrap();
        let json: Value = serde_json::from_str(&text).unwrap();
        let row = &json["sessions"][0]["rows"][0];
        assert_eq!((&row["work"], &row["launches"]), (&"a call, read".into(), &1.into()));
        assert!(row["ours"]["median_s"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["peers"], serde_json::json!({}));
    }

    #[test]
    fn a_python_without_peers_is_named_and_the_rest_is_measured() {
        let arguments = ["bench", "--only", "a call", "--threads", "1", "--rounds", "1"];
        let peers = ["--peers", "--python", "/no/such/python"];
        let text = bench(&Command::parse_from(arguments.iter().chain(&peers)).bench).unwrap();
        assert!(text.contains("without JAX: /no/such/python does not start"), "{text}");
        assert!(text.contains("a call, read"), "{text}");
    }

    #[test]
    fn works_are_chosen_by_a_part_of_their_title() {
        let works = matching_works(Some("softmax")).unwrap();
        assert!(works.len() >= 2, "there are several sizes");
        assert!(works.iter().all(|work| work.title().contains("softmax")));
        let message = matching_works(Some("sofmax")).err().unwrap().message;
        assert!(
            message.contains("\"sofmax\"") && message.contains("softmax 4096×1024"),
            "{message}"
        );
    }

    #[test]
    fn processors_are_not_shared_by_threads() {
        assert_eq!(processors(1).unwrap().len(), 1);
        assert!(processors(0).is_err());
        let message = processors(100_000).unwrap_err().message;
        assert!(message.contains("100000"), "{message}");
    }
}
