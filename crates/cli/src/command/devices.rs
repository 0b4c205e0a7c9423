//! `inflight devices`: lists the devices and their properties.

use crate::outcome::bytes;
use crate::outcome::{Failure, Outcome, device};
use inflight::{Device, Parallelism};
use serde_json::{Value, json};

/// Arguments of `inflight devices`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Prints a JSON array with one object for each device
    #[arg(long)]
    json: bool,
}

/// Lists the devices as text or JSON.
pub fn devices(arguments: &Arguments) -> Outcome {
    listing(arguments.json)
}

fn listing(json: bool) -> Result<String, Failure> {
    let mut found = vec![Found::Device(device("cpu")?)];
    match Device::cuda_count() {
        Ok(0) => found.push(Found::Missing("cuda".to_owned(), "a driver, but no GPU".to_owned())),
        Ok(count) => found.extend((0..count).map(|ordinal| match Device::cuda(ordinal) {
            Ok(device) => Found::Device(device),
            Err(error) => Found::Missing(format!("cuda:{ordinal}"), error.to_string()),
        })),
        Err(error) => found.push(Found::Missing("cuda".to_owned(), error.to_string())),
    }
    Ok(match json {
        true => format!("{:#}", Value::from_iter(found.iter().map(to_json))),
        false => found.iter().map(to_text).collect::<Vec<_>>().join("\n\n"),
    })
}

/// A device, or why there is none.
enum Found {
    Device(Device),
    /// No device of this name, and the reason.
    Missing(String, String),
}

fn to_json(found: &Found) -> Value {
    let device = match found {
        Found::Device(device) => device,
        Found::Missing(name, reason) => return json!({ "device": name, "missing": reason }),
    };
    let info = device.info();
    let libraries = device.libraries().into_iter().map(|(name, found)| {
        let found = match found {
            Ok(version) => json!({ "version": version }),
            Err(missing) => json!({ "missing": missing }),
        };
        (name.to_owned(), found)
    });
    let mut json = json!({
        "device": device.name(),
        "name": info.name,
        "target": info.target,
        "vector_bits": 8 * info.vector_bytes,
        "parallelism": info.parallelism.count(),
        "memory_bytes": info.memory_bytes,
        "libraries": Value::from_iter(libraries),
    });
    if let Some(capability) = compute_capability(&info.target) {
        json["compute_capability"] = capability.into();
    }
    json
}

fn to_text(found: &Found) -> String {
    let device = match found {
        Found::Device(device) => device,
        Found::Missing(name, reason) => return format!("{name}: not available; {reason}"),
    };
    let info = device.info();
    let memory = bytes(info.memory_bytes);
    let mut lines = vec![
        format!("{}: {}", device.name(), info.name),
        format!("  {:19} {}", "target", info.target),
        format!("  {:19} {} bits", "vector width", 8 * info.vector_bytes),
        match info.parallelism {
            Parallelism::Multiprocessors(count) => format!("  {:19} {count}", "SMs"),
            other => format!("  {:19} {}", "threads", other.count()),
        },
        format!("  {:19} {memory}", "memory"),
    ];
    if let Some(capability) = compute_capability(&info.target) {
        lines.insert(1, format!("  {:19} {capability}", "compute capability"));
    }
    lines.extend(device.libraries().into_iter().map(|(name, found)| match found {
        Ok(version) => format!("  {name:19} {version}"),
        Err(missing) => format!("  {name:19} not found; {missing}"),
    }));
    lines.join("\n")
}

/// The compute capability of a GPU target: `9.0` for `sm_90a, NVRTC 13.0`.
fn compute_capability(target: &str) -> Option<String> {
    let digits: String =
        target.strip_prefix("sm_")?.chars().take_while(char::is_ascii_digit).collect();
    let (major, minor) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    Some(format!("{major}.{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compute_capabilities_are_read_from_targets() {
        assert_eq!(compute_capability("sm_90a, NVRTC 13.0").unwrap(), "9.0");
        assert_eq!(compute_capability("sm_120, NVRTC 13.0").unwrap(), "12.0");
        assert_eq!(compute_capability("x86_64-avx512"), None);
    }

    #[test]
    fn text_and_json_describe_the_same_devices() {
        let json: Value = serde_json::from_str(&listing(true).unwrap()).unwrap();
        let cpu = &json[0];
        assert_eq!(cpu["device"], "cpu");
        assert!(cpu["parallelism"].as_u64().unwrap() > 0);
        let listed = listing(false).unwrap();
        for key in ["device", "name", "target", "vector_bits", "parallelism"] {
            let text = cpu[key].as_str().map_or_else(|| cpu[key].to_string(), str::to_owned);
            assert!(listed.contains(&text), "{key}, {text}, is not in {listed}");
        }
    }
}
