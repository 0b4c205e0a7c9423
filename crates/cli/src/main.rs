//! The `inflight` command.

mod bench;
mod command;
mod outcome;
mod progress;

use clap::{Parser, Subcommand};
use command::{check, devices, explain, format, run, timeline};
use std::process::ExitCode;

/// Runs, explains, profiles and benchmarks programs of the inflight tensor runtime.
#[derive(Parser)]
#[command(name = "inflight", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Executes a StableHLO program (text or bytecode) and prints its results, or trains with it
    Run(run::Arguments),
    /// Runs self-checking StableHLO programs and reports which fail
    Check(check::Arguments),
    /// Prints the kernels of a program: fused ops, bytes, operations, and why each kernel ends where it does
    Explain(explain::Arguments),
    /// Prints a program as canonical StableHLO text
    Fmt(format::Arguments),
    /// Benchmarks workloads here and, with --peers, the same workloads in other libraries
    Bench(bench::Arguments),
    /// Lists the devices, with compute capability, SMs or threads, and memory
    Devices(devices::Arguments),
    /// Draws a trace file (of INFLIGHT_TRACE, inflight::trace or --trace) as an SVG timeline
    Timeline(timeline::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::check(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Fmt(arguments) => format::format(&arguments),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Devices(arguments) => devices::devices(&arguments),
        Command::Timeline(arguments) => timeline::timeline(&arguments),
    };
    outcome::end(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
        assert!(Arguments::try_parse_from(["inflight", "devices", "--json"]).is_ok());
        assert!(Arguments::try_parse_from(["inflight"]).is_err());
    }
}
