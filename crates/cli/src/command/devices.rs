//! `inflight devices`: what tensors can be on.

use crate::outcome::{Failure, Outcome, device};
use inflight::Device;
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
    listing(arguments.json)
}

fn listing(json: bool) -> Result<String, Failure> {
    let mut found = vec![Found::Device(device("cpu")?)];
    match Device::cuda_count() {
        Ok(0) => found.push(Found::Nothing("cuda".to_owned(), "a driver, but no GPU".to_owned())),
        Ok(count) => found.extend((0..count).map(|ordinal| match Device::cuda(ordinal) {
            Ok(device) => Found::Device(device),
            Err(error) => Found::Nothing(format!("cuda:{ordinal}"), error.to_string()),
        })),
        Err(error) => found.push(Found::Nothing("cuda".to_owned(), error.to_string())),
    }
    Ok(match json {
        true => format!("{:#}", Value::from_iter(found.iter().map(described))),
        false => found.iter().map(listed).collect::<Vec<_>>().join("\n\n"),
    })
}

/// What a look for a device found.
enum Found {
    Device(Device),
    /// Nothing of this name, and what was looked for.
    Nothing(String, String),
}

fn described(found: &Found) -> Value {
    let device = match found {
        Found::Device(device) => device,
        Found::Nothing(name, reason) => return json!({ "device": name, "missing": reason }),
    };
    let info = device.info();
    let libraries = device.libraries().into_iter().map(|(name, found)| {
        let found = match found {
            Ok(version) => json!({ "version": version }),
            Err(missing) => json!({ "missing": missing }),
        };
        (name.to_owned(), found)
    });
    json!({
        "device": device.name(),
        "name": info.name,
        "target": info.target,
        "vector_bits": 8 * info.vector_bytes,
        "parallelism": info.parallelism.count(),
        "memory_bytes": info.memory_bytes,
        "libraries": Value::from_iter(libraries),
    })
}

fn listed(found: &Found) -> String {
    let device = match found {
        Found::Device(device) => device,
        Found::Nothing(name, reason) => return format!("{name}: none; {reason}"),
    };
    let info = device.info();
    let memory = info.memory_bytes as f64 / f64::powi(2.0, 30);
    let mut lines = vec![
        format!("{}: {}", device.name(), info.name),
        format!("  target   {}", info.target),
        format!("  vectors  {} bits", 8 * info.vector_bytes),
        format!("  units    {}", info.parallelism),
        format!("  memory   {memory:.1} GiB"),
    ];
    lines.extend(device.libraries().into_iter().map(|(name, found)| match found {
        Ok(version) => format!("  {name:8} {version}"),
        Err(missing) => format!("  {name:8} none; {missing}"),
    }));
    lines.join("\n")
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
