//! A profile as text with advice, and as JSON.

use super::{Bound, DeviceLimits, LimitSource, Profile, ProfiledKernel, ProfiledKind};
use crate::WaitReason;
use crate::units::{bytes, duration};
use serde_json::{Value, json};
use std::fmt;

/// Rows with at least this part of the time get a sentence of advice.
const HEAVY: f64 = 0.1;
/// From this part of a limit on, a kernel is limited by it.
const NEAR_LIMIT: f64 = 0.6;
/// Below this part of every limit, something else limits a kernel.
const FAR_FROM_LIMIT: f64 = 0.3;
/// Launches shorter than this are dominated by their overhead, in seconds.
const SHORT_LAUNCH: f64 = 10e-6;
/// That many of them are worth a remark.
const MANY_LAUNCHES: u64 = 100;
/// That many waits at one line look like a loop.
const REPEATED_WAITS: u64 = 8;
/// The calls that a row names.
const NAMED_CALLS: usize = 4;

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let launches: u64 = self.kernels.iter().map(|kernel| kernel.launches).sum();
        let busy: f64 = self.kernels.iter().map(|kernel| kernel.total.as_secs_f64()).sum();
        write!(
            f,
            "{} elapsed; {} in {} of {}",
            duration(self.elapsed.as_secs_f64()),
            duration(busy),
            counted(launches, "launch", "launches"),
            counted(self.kernels.len() as u64, "kernel", "kernels"),
        )?;
        if self.compiles > 0 {
            let compiled = counted(self.compiles, "kernel", "kernels");
            write!(f, "; compiled {compiled}: profile a second run to leave that out")?;
        }
        writeln!(f)?;
        for limits in &self.limits {
            writeln!(f, "{limits}")?;
        }
        if self.kernels.is_empty() {
            writeln!(
                f,
                "nothing ran: read the results inside the closure, or call wait() on them"
            )?;
        } else {
            writeln!(
                f,
                "\n{:>10} {:>6} {:>8} {:>10} {:>10} {:>8} {:>8} {:>12}  calls",
                "time", "share", "launches", "mean", "bytes", "GB/s", "GFLOP/s", "of limit"
            )?;
        }
        for kernel in &self.kernels {
            write_row(f, kernel)?;
        }
        let reads =
            |reason| matches!(reason, WaitReason::Read | WaitReason::Get | WaitReason::Sync);
        for wait in &self.waits {
            if wait.count >= REPEATED_WAITS && reads(wait.reason) {
                writeln!(
                    f,
                    "\n{} waits ({}) at {}, {} in total: wait once after the loop, or read with the _async methods",
                    wait.count,
                    wait.reason,
                    wait.location,
                    duration(wait.total.as_secs_f64()),
                )?;
            }
        }
        Ok(())
    }
}

/// A count with its noun.
fn counted(count: u64, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

fn write_row(f: &mut fmt::Formatter<'_>, kernel: &ProfiledKernel) -> fmt::Result {
    let limit = match kernel.limit {
        None => "not known".to_owned(),
        Some(Bound::Memory(part)) => format!("{:.0}% memory", 100.0 * part),
        Some(Bound::Compute(part)) => format!("{:.0}% compute", 100.0 * part),
    };
    let names: Vec<&str> = kernel.ops.iter().map(|op| op.name).collect();
    let mut title = names[..names.len().min(NAMED_CALLS)].join(", ");
    if names.len() > NAMED_CALLS {
        title.push_str(&format!(" and {} more", names.len() - NAMED_CALLS));
    }
    writeln!(
        f,
        "{:>10} {:>5.1}% {:>8} {:>10} {:>10} {:>8.1} {:>8.1} {:>12}  {title}",
        duration(kernel.total.as_secs_f64()),
        100.0 * kernel.share,
        kernel.launches,
        duration(kernel.mean().as_secs_f64()),
        bytes(kernel.bytes()),
        kernel.bytes_per_second() / 1e9,
        kernel.flops_per_second() / 1e9,
        limit,
    )?;
    for op in kernel.ops.iter().take(NAMED_CALLS) {
        writeln!(f, "{:12}{op}", "")?;
    }
    match advice(kernel) {
        Some(advice) => writeln!(f, "{:12}→ {advice}", ""),
        None => Ok(()),
    }
}

/// One sentence for a row that takes much of the time, if the numbers support one.
fn advice(kernel: &ProfiledKernel) -> Option<String> {
    if kernel.share < HEAVY {
        return None;
    }
    let is_gemm = kernel.kind == ProfiledKind::Gemm;
    if kernel.kind == ProfiledKind::Host {
        return Some("a host function: the stream waits for it".to_owned());
    }
    if kernel.launches >= MANY_LAUNCHES && kernel.mean().as_secs_f64() < SHORT_LAUNCH {
        return Some(format!(
            "{} launches of {} each: batch the work into fewer, larger tensors",
            kernel.launches,
            duration(kernel.mean().as_secs_f64()),
        ));
    }
    if kernel.mean().as_secs_f64() < SHORT_LAUNCH {
        let mean = duration(kernel.mean().as_secs_f64());
        return Some(format!("launches of {mean} are too short to come near a limit"));
    }
    let percent = |part: f64| format!("{:.0} %", 100.0 * part);
    match kernel.limit? {
        Bound::Memory(part) if part > 1.05 => Some(format!(
            "moves {} faster than memory could: its data is in cache",
            bytes(kernel.bytes())
        )),
        Bound::Memory(part) if part >= NEAR_LIMIT => Some(format!(
            "reads {} and writes {} at {} of memory bandwidth: fuse it with its neighbours or use a smaller dtype",
            bytes(kernel.bytes_read),
            bytes(kernel.bytes_written),
            percent(part),
        )),
        Bound::Compute(part) if part >= NEAR_LIMIT && is_gemm => Some(format!(
            "a GEMM at {} of peak arithmetic: only a smaller dtype or less work makes it faster",
            percent(part)
        )),
        Bound::Compute(part) if part >= NEAR_LIMIT => Some(format!(
            "computes at {} of peak arithmetic: fewer or cheaper operations make it faster",
            percent(part)
        )),
        limit if limit.fraction() < FAR_FROM_LIMIT && is_gemm => Some(format!(
            "a GEMM at {} of its limit: its matrices are small or narrow, so batch several into one",
            percent(limit.fraction())
        )),
        limit if limit.fraction() < FAR_FROM_LIMIT => Some(format!(
            "reaches {} of its closest limit: transcendental functions (one operation each here), strided or gathered \
             reads, or too few elements for all threads limit it",
            percent(limit.fraction())
        )),
        _ => None,
    }
}

impl fmt::Display for DeviceLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let giga = |rate: Option<f64>, unit| match rate {
            Some(rate) => format!("{:.1} {unit}", rate / 1e9),
            None => format!("{unit} not known"),
        };
        write!(
            f,
            "limits of {}: {}, {}",
            self.device,
            giga(self.bytes_per_second, "GB/s"),
            giga(self.flops, "GFLOP/s"),
        )?;
        for (dtype, flops) in &self.gemm_flops {
            write!(f, ", {dtype} GEMM {:.1} GFLOP/s", flops / 1e9)?;
        }
        f.write_str(match self.source {
            LimitSource::Measured => " (measured)",
            LimitSource::Attributes => " (computed from the device's attributes)",
            LimitSource::Unknown => "",
        })
    }
}

impl Profile {
    /// The profile as JSON: an object with the fields of [`Profile`]. Times are in seconds, rates in units per second.
    pub fn to_json(&self) -> String {
        let kernel = |kernel: &ProfiledKernel| {
            let (limit, fraction) = match kernel.limit {
                None => (Value::Null, Value::Null),
                Some(Bound::Memory(part)) => ("memory".into(), part.into()),
                Some(Bound::Compute(part)) => ("compute".into(), part.into()),
            };
            let op = |op: &crate::ExplainedOp| json!({ "name": op.name, "location": op.location, "primitives": op.primitives });
            json!({
                "device": kernel.device,
                "kind": format!("{:?}", kernel.kind).to_lowercase(),
                "ops": kernel.ops.iter().map(op).collect::<Vec<_>>(),
                "launches": kernel.launches,
                "seconds": kernel.total.as_secs_f64(),
                "bytes_read": kernel.bytes_read,
                "bytes_written": kernel.bytes_written,
                "flops": kernel.flops,
                "share": kernel.share,
                "limit": limit,
                "limit_fraction": fraction,
                "advice": advice(kernel),
            })
        };
        let wait = |wait: &super::ProfiledWait| {
            json!({
                "reason": wait.reason.to_string(),
                "location": wait.location.to_string(),
                "count": wait.count,
                "seconds": wait.total.as_secs_f64(),
            })
        };
        let limits = |limits: &DeviceLimits| {
            let gemm = limits
                .gemm_flops
                .iter()
                .map(|(dtype, flops)| (dtype.name().to_owned(), Value::from(*flops)));
            json!({
                "device": limits.device,
                "bytes_per_second": limits.bytes_per_second,
                "flops_per_second": limits.flops,
                "gemm_flops_per_second": gemm.collect::<serde_json::Map<_, _>>(),
                "source": format!("{:?}", limits.source).to_lowercase(),
            })
        };
        let json = json!({
            "seconds": self.elapsed.as_secs_f64(),
            "compiles": self.compiles,
            "kernels": self.kernels.iter().map(kernel).collect::<Vec<_>>(),
            "waits": self.waits.iter().map(wait).collect::<Vec<_>>(),
            "limits": self.limits.iter().map(limits).collect::<Vec<_>>(),
        });
        json.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn kernel(limit: Option<Bound>) -> ProfiledKernel {
        ProfiledKernel {
            device: "cpu",
            kind: ProfiledKind::Kernel,
            ops: Vec::new(),
            launches: 2,
            total: Duration::from_millis(10),
            bytes_read: 3 << 20,
            bytes_written: 1 << 20,
            flops: 7,
            share: 0.5,
            limit,
        }
    }

    #[test]
    fn advice_follows_the_limit_that_the_data_shows() {
        let sentence = |limit| advice(&kernel(Some(limit))).unwrap_or_default();
        let memory = sentence(Bound::Memory(0.92));
        assert!(
            memory.starts_with("reads 3.0 MiB and writes 1.0 MiB at 92 % of memory"),
            "{memory}"
        );
        assert!(sentence(Bound::Memory(1.7)).contains("in cache"));
        assert!(sentence(Bound::Compute(0.8)).contains("peak arithmetic"));
        assert!(sentence(Bound::Memory(0.1)).contains("10 % of its closest limit"));
        // Between the thresholds, without known limits, and for light rows, there is nothing to say.
        assert_eq!(advice(&kernel(Some(Bound::Memory(0.45)))), None);
        assert_eq!(advice(&kernel(None)), None);
        let light = ProfiledKernel { share: 0.01, ..kernel(Some(Bound::Memory(0.92))) };
        assert_eq!(advice(&light), None);
        let short = ProfiledKernel { launches: 5_000, ..kernel(Some(Bound::Memory(0.92))) };
        assert!(advice(&short).unwrap().contains("5000 launches of 2.0 µs each"));
    }
}
