//! Limits of a device: memory bandwidth and peak arithmetic, as the roofline model has them.
//!
//! A GPU's are computed from its attributes. A CPU's are measured once per process and number of threads, on a device of
//! their own, so that the counters of the profiled device stay as they are.

use super::collector::Row;
use super::{Bound, rate};
use crate::runtime::{CpuOptions, Device};
use crate::{DType, Result, Tensor};
use inflight_backend::PeakRates;
use parking_lot::Mutex;
use std::time::{Duration, Instant};

/// The limits of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLimits {
    /// The device's short name.
    pub device: &'static str,
    /// Memory bandwidth in bytes per second, if known.
    pub bytes_per_second: Option<f64>,
    /// Operations per second of `f32` arithmetic outside of GEMMs, if known. A CPU's is that of a GEMM.
    pub flops: Option<f64>,
    /// Operations per second of GEMMs, by dtype.
    pub gemm_flops: Vec<(DType, f64)>,
    /// Where these come from.
    pub source: LimitSource,
}

/// Where the limits of a device come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitSource {
    /// Measured in this process: a copy of an array larger than most caches, and a GEMM.
    Measured,
    /// Computed from the device's attributes.
    Attributes,
    /// Not known.
    Unknown,
}

/// The limits of a device.
pub(super) fn of(device: &Device) -> DeviceLimits {
    let (peak, source) = match device.peak_rates() {
        Some(peak) => (peak, LimitSource::Attributes),
        None if device.name() == "cpu" => match measured(device.info().parallelism.count()) {
            Some(peak) => (peak, LimitSource::Measured),
            None => (PeakRates::default(), LimitSource::Unknown),
        },
        None => (PeakRates::default(), LimitSource::Unknown),
    };
    let PeakRates { bytes_per_second, flops, gemm_flops } = peak;
    DeviceLimits { device: device.name(), bytes_per_second, flops, gemm_flops, source }
}

impl DeviceLimits {
    /// The limit that a row comes closest to: the shortest possible time of its bytes or operations over its time.
    pub(super) fn bound(&self, row: &Row) -> Option<Bound> {
        let part = |count: u64, limit: Option<f64>| {
            let part = rate(count, row.total) / limit?;
            (part > 0.0).then_some(part)
        };
        let flops = match row.gemm {
            Some(dtype) => {
                let known = self.gemm_flops.iter().find(|(known, _)| *known == dtype);
                known.map(|(_, flops)| *flops)
            }
            None => self.flops,
        };
        let memory = part(row.bytes_read + row.bytes_written, self.bytes_per_second);
        match (memory, part(row.flops, flops)) {
            (Some(memory), Some(compute)) if compute > memory => Some(Bound::Compute(compute)),
            (Some(memory), _) => Some(Bound::Memory(memory)),
            (None, compute) => compute.map(Bound::Compute),
        }
    }
}

/// Peak rates of a CPU device with this many threads, measured once.
fn measured(threads: usize) -> Option<PeakRates> {
    static MEASURED: Mutex<Vec<(usize, Option<PeakRates>)>> = Mutex::new(Vec::new());
    let mut measured = MEASURED.lock();
    if let Some((_, known)) = measured.iter().find(|(known, _)| *known == threads) {
        return known.clone();
    }
    // A thread of its own: neither the caller's profiles nor its sync guard see what it submits. A failure, such as a lack
    // of memory, leaves the limits unknown.
    let measuring = std::thread::spawn(move || measure(threads).ok());
    let peak = measuring.join().ok().flatten();
    measured.push((threads, peak.clone()));
    peak
}

/// Elements of the arrays that are streamed: 32 MiB each, larger than the L2 caches and most L3 caches.
const STREAMED: usize = 8 << 20;
/// Extent of the GEMM that is timed: a quarter of a GFLOP.
const GEMM: usize = 512;
/// Repetitions, of which the fastest counts.
const REPETITIONS: usize = 3;

fn measure(threads: usize) -> Result<PeakRates> {
    let options =
        CpuOptions { threads: Some(threads), ..CpuOptions::from_env().unwrap_or_default() };
    let device = Device::open_cpu(options)?;
    let x = Tensor::zeros::<f32>([STREAMED], &device);
    let a = Tensor::ones::<f32>([GEMM, GEMM], &device);
    x.wait()?;
    a.wait()?;
    // The first run compiles, and touches the memory that later runs reuse.
    let copy = fastest(|| (&x + 1.0).wait())?;
    let gemm = fastest(|| a.matmul(&a).wait())?;
    let flops = rate(2 * (GEMM * GEMM * GEMM) as u64, gemm);
    Ok(PeakRates {
        bytes_per_second: Some(rate(2 * 4 * STREAMED as u64, copy)),
        flops: Some(flops),
        gemm_flops: vec![(DType::F32, flops), (DType::F64, flops / 2.0)],
    })
}

fn fastest(run: impl Fn() -> Result<()>) -> Result<Duration> {
    run()?;
    let mut fastest = Duration::MAX;
    for _ in 0..REPETITIONS {
        let began = Instant::now();
        run()?;
        fastest = fastest.min(began.elapsed());
    }
    Ok(fastest)
}
