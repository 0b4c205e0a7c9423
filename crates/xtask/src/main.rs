//! Project tasks: `cargo xtask`.

mod bundle;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Project tasks
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Bundles stripped tests, benches, the command and the peers' scripts in a folder, to run on a GPU machine without
    /// a Rust toolchain
    Bundle {
        /// The folder; its contents are replaced
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
