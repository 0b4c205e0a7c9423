//! The `inflight` command.

mod timeline;

use clap::{Parser, Subcommand};
use inflight::{CpuOptions, Device, Result};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// An asynchronous tensor runtime.
#[derive(Parser)]
#[command(name = "inflight", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the devices that tensors can be on.
    Devices {
        /// Prints a JSON array, one object for each device.
        #[arg(long)]
        json: bool,
    },
    /// Draws a trace, as INFLIGHT_TRACE and inflight::trace write it, as a picture.
    Timeline {
        /// The trace.
        trace: PathBuf,
        /// The picture, an SVG.
        #[arg(short, long, default_value = "timeline.svg")]
        output: PathBuf,
        /// Pixels from left to right.
        #[arg(long, default_value_t = 1400)]
        width: u32,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match arguments.command {
        Command::Devices { json } => devices(json),
        Command::Timeline { trace, output, width } => timeline::timeline(&trace, &output, width),
    };
    match outcome {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("inflight: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What there is, as text or as JSON.
fn devices(json: bool) -> Result<String> {
    let devices = [Device::open_cpu(CpuOptions::from_env()?)?];
    Ok(match json {
        true => format!("{:#}", Value::from_iter(devices.iter().map(described))),
        false => devices.iter().map(listed).collect::<Vec<_>>().join("\n\n"),
    })
}

fn described(device: &Device) -> Value {
    let capabilities = device.capabilities();
    json!({
        "device": device.name(),
        "name": capabilities.name,
        "target": capabilities.target,
        "vector_bits": 8 * capabilities.vector_bytes,
        "parallelism": capabilities.parallelism,
        "memory_bytes": capabilities.memory_bytes,
    })
}

fn listed(device: &Device) -> String {
    let capabilities = device.capabilities();
    let memory = capabilities.memory_bytes as f64 / f64::powi(2.0, 30);
    [
        format!("{}: {}", device.name(), capabilities.name),
        format!("  target   {}", capabilities.target),
        format!("  vectors  {} bits", 8 * capabilities.vector_bytes),
        format!("  threads  {}", capabilities.parallelism),
        format!("  memory   {memory:.1} GiB"),
    ]
    .join("\n")
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

    #[test]
    fn devices_are_described_twice_alike() {
        let described: Value = serde_json::from_str(&devices(true).unwrap()).unwrap();
        let cpu = &described[0];
        assert_eq!(cpu["device"], "cpu");
        assert!(cpu["parallelism"].as_u64().unwrap() > 0);
        let listed = devices(false).unwrap();
        for key in ["device", "name", "target", "vector_bits", "parallelism"] {
            let text = cpu[key].as_str().map_or_else(|| cpu[key].to_string(), str::to_owned);
            assert!(listed.contains(&text), "{key}, {text}, is not in {listed}");
        }
    }
}
