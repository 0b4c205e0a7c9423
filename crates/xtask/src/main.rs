//! What the project does with itself.

mod bundle;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// What the project does with itself.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Gathers stripped tests, benches and the command, with the peers' scripts, in a folder that runs on a
    /// machine with a GPU and no Rust toolchain.
    Bundle {
        /// The folder. What it holds is replaced.
        folder: PathBuf,
    },
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Bundle { folder } => bundle::bundle(&folder),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("cargo xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
