//! `inflight devices`: what tensors can be on.

use crate::outcome::Outcome;
use inflight::{CpuOptions, Device, Error, Result};
use serde_json::{Value, json};

/// How to print it.
#[derive(clap::Args)]
pub struct Arguments {
    /// Prints a JSON array, one object for each device.
    #[arg(long)]
    json: bool,
}

/// What there is, as text or as JSON.
pub fn devices(arguments: &Arguments) -> Outcome {
    Ok(listing(arguments.json)?)
}

fn listing(json: bool) -> Result<String> {
    let devices = [Device::open_cpu(CpuOptions::from_env().map_err(Error::from)?)?];
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

    #[test]
    fn devices_are_described_twice_alike() {
        let described: Value = serde_json::from_str(&listing(true).unwrap()).unwrap();
        let cpu = &described[0];
        assert_eq!(cpu["device"], "cpu");
        assert!(cpu["parallelism"].as_u64().unwrap() > 0);
        let listed = listing(false).unwrap();
        for key in ["device", "name", "target", "vector_bits", "parallelism"] {
            let text = cpu[key].as_str().map_or_else(|| cpu[key].to_string(), str::to_owned);
            assert!(listed.contains(&text), "{key}, {text}, is not in {listed}");
        }
    }
}
