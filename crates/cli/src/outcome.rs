//! How a command ends.

use inflight::{CpuOptions, Device, Error};
use std::fmt::{self, Display};
use std::io::Write;
use std::process::ExitCode;

/// What a command prints in the end, or why it failed.
pub type Outcome = Result<String, Failure>;

/// Why a command failed, and the exit code that says so.
#[derive(Debug)]
pub struct Failure {
    /// What went wrong, and what to do.
    pub message: String,
    /// 2 if the command was asked for something that does not exist, 1 if what it did failed.
    pub code: u8,
    /// What it found all the same, which is printed as if it had not failed.
    pub found: String,
}

impl Failure {
    /// The command was asked for something that does not exist.
    pub fn misuse(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2, found: String::new() }
    }

    /// What the command did failed.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1, found: String::new() }
    }

    /// This is printed before the message.
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

/// Prints how a command ended; the process exits with what is returned.
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

/// Prints what a command found. Whoever reads it may have gone away.
fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            note(format_args!("inflight: standard output: {error}"));
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Writes a line to standard error. If that cannot be, there is nowhere to say so.
pub fn note(line: fmt::Arguments<'_>) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// So many of something, such as `1 kernel`, `2 kernels` and `3 launches`.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, singular: &str) -> String {
    match singular {
        _ if count == N::from(1) => format!("{count} {singular}"),
        _ if singular.ends_with("ch") => format!("{count} {singular}es"),
        _ => format!("{count} {singular}s"),
    }
}

/// The options of the CPU in the environment.
pub fn cpu_options() -> Result<CpuOptions, Failure> {
    CpuOptions::from_env().map_err(|fault| Failure::misuse(Error::from(fault).to_string()))
}

/// The device of that name.
pub fn device(name: &str) -> Result<Device, Failure> {
    let opened = match name {
        "cpu" => Device::open_cpu(cpu_options()?),
        "cuda" => Device::open_cuda(0),
        gpu if let Some(Ok(ordinal)) = gpu.strip_prefix("cuda:").map(str::parse) => {
            Device::open_cuda(ordinal)
        }
        other => {
            return Err(Failure::misuse(format!(
                "there is no device {other:?}; `inflight devices` lists those there are"
            )));
        }
    };
    opened.map_err(|error| Failure::misuse(format!("{name}: {error}")))
}
