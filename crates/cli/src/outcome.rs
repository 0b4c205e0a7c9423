//! Outcomes of commands: text for standard output, or an error and an exit code.

use inflight::{CpuOptions, Device, Error};
use std::fmt::{self, Display};
use std::io::Write;
use std::process::ExitCode;

/// The text that a command prints, or its failure.
pub type Outcome = Result<String, Failure>;

/// A failure, with its exit code.
#[derive(Debug)]
pub struct Failure {
    /// The error and what to do.
    pub message: String,
    /// 2 for a wrong argument or a missing file, 1 for work that failed.
    pub code: u8,
    /// Partial output, printed as on success.
    pub found: String,
}

impl Failure {
    /// A wrong argument or a missing file.
    pub fn misuse(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2, found: String::new() }
    }

    /// Work that failed.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1, found: String::new() }
    }

    /// Adds output that is printed before the message.
    pub fn with_found(self, found: String) -> Failure {
        Failure { found, ..self }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match &error {
            Error::File { .. } | Error::Argument { .. } => Failure::misuse(error.to_string()),
            _ => Failure::failed(error.to_string()),
        }
    }
}

/// Prints an outcome. Returns the exit code of the process.
pub fn end(outcome: Outcome) -> ExitCode {
    match outcome {
        Ok(text) => print(&text),
        Err(Failure { message, code, found }) => {
            if !found.is_empty() {
                print(&found);
            }
            note(format_args!("inflight: {message}"));
            ExitCode::from(code)
        }
    }
}

/// Prints to standard output. A closed pipe is not an error.
fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note(format_args!("inflight: standard output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Writes a line to standard error. Ignores errors.
pub fn note(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// A count with its noun: `1 kernel`, `2 kernels`, `3 launches`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, singular: &str) -> String {
    match singular {
        _ if count == N::from(1) => format!("{count} {singular}"),
        _ if singular.ends_with("ch") => format!("{count} {singular}es"),
        _ => format!("{count} {singular}s"),
    }
}

/// CPU options from the environment.
pub fn cpu_options() -> Result<CpuOptions, Failure> {
    CpuOptions::from_env().map_err(|fault| Failure::misuse(Error::from(fault).to_string()))
}

/// Opens the device of a name: `cpu`, `cuda`, `cuda:1`.
pub fn device(name: &str) -> Result<Device, Failure> {
    let opened = match name {
        "cpu" => Device::open_cpu(cpu_options()?),
        "cuda" => Device::open_cuda(0),
        gpu if let Some(Ok(ordinal)) = gpu.strip_prefix("cuda:").map(str::parse) => {
            Device::open_cuda(ordinal)
        }
        other => {
            return Err(Failure::misuse(format!(
                "there is no device {other:?}; `inflight devices` lists the devices"
            )));
        }
    };
    opened.map_err(|error| Failure::misuse(format!("{name}: {error}")))
}

/// Bytes in binary units, with one decimal from KiB on.
pub fn bytes(count: u64) -> String {
    match count {
        0..1024 => counted(count, "byte"),
        1024..1_048_576 => format!("{:.1} KiB", count as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", count as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", count as f64 / 1_073_741_824.0),
    }
}
