//! How a command ends.

use inflight::{CpuOptions, Device, Error};
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
}

impl Failure {
    /// The command was asked for something that does not exist.
    pub fn misuse(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 2 }
    }

    /// What the command did failed.
    pub fn failed(message: impl Into<String>) -> Failure {
        Failure { message: message.into(), code: 1 }
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

/// Prints what a command found. Whoever reads it may have gone away.
pub fn print(text: &str) -> ExitCode {
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("inflight: standard output: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// The device of that name.
pub fn device(name: &str) -> Result<Device, Failure> {
    match name {
        "cpu" => Ok(Device::open_cpu(CpuOptions::from_env().map_err(Error::from)?)?),
        "cuda" => Ok(Device::open_cuda(0)?),
        gpu if let Some(Ok(ordinal)) = gpu.strip_prefix("cuda:").map(str::parse) => {
            Ok(Device::open_cuda(ordinal)?)
        }
        other => Err(Failure::misuse(format!(
            "there is no device {other:?}; `inflight devices` lists those there are"
        ))),
    }
}
