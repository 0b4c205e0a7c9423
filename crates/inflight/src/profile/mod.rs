//! Profiles: the time, bytes and operations of each kernel and library call that a closure runs, against the device's
//! limits.
//!
//! ```
//! use inflight::{Device, Tensor};
//!
//! # fn main() -> inflight::Result<()> {
//! let device = Device::cpu();
//! let x = Tensor::ones::<f32>([256, 256], &device);
//! let (sum, profile) = inflight::profile(|| {
//!     let y = x.matmul(&x).softmax(1);
//!     y.sum_all().item::<f32>()
//! })?;
//! assert!((sum? - 256.0).abs() < 1e-3);
//! assert!(profile.kernels.iter().any(|kernel| kernel.flops >= 2 * 256 * 256 * 256));
//! println!("{profile}");
//! # Ok(())
//! # }
//! ```
//!
//! # What a profile holds
//!
//! A profile holds the commands of the streams to which the calling thread submits while the closure runs. The thread's
//! own streams are waited for before the closure starts, so that earlier work is not in the profile. It follows that:
//!
//! - profiles of two threads do not mix, unless both submit to one explicit [`Stream`](crate::Stream): then each holds
//!   what runs on that stream in its time;
//! - nested profiles each hold their own commands, and the outer one those of the inner one as well;
//! - work that other threads submit is not in the profile: pending work, ops spawned on an executor;
//! - uploads and reads run on streams of the device and are not in the profile. Waits for reads are.
//!
//! A cheap value that no read needs stays recorded and does not run. Read results inside the closure, or call
//! [`wait`](crate::Tensor::wait) on them.
//!
//! Times come from [`inflight_backend::observe`], as those of traces. On the CPU, a command's time is the time that the
//! stream spends on it. On CUDA, each command is enclosed in two driver events while a profile is active, so that launch
//! gaps are visible in the elapsed time but not in a kernel's own.

mod collector;
mod limits;
mod report;

use crate::explain::ExplainedOp;
use crate::runtime::{Device, WaitReason, recorder};
use crate::{Result, Stats};
use collector::Collector;
use std::panic::Location;
use std::time::Duration;

pub(crate) use collector::{record_stream, record_wait};
pub use limits::{DeviceLimits, LimitSource};

/// What a closure ran, as [`profile`] measured it. Plain data; `{}` prints a table with advice.
#[derive(Clone, Debug)]
pub struct Profile {
    /// One row for each distinct kernel or library call, by total time, longest first.
    pub kernels: Vec<ProfiledKernel>,
    /// The host waits of the calling thread, one row for each reason and source line, by count.
    pub waits: Vec<ProfiledWait>,
    /// The limits of the devices that ran something.
    pub limits: Vec<DeviceLimits>,
    /// The time of the closure and of the wait for its work.
    pub elapsed: Duration,
    /// Kernels that these devices compiled meanwhile, for any thread. Compilation is part of the elapsed time.
    pub compiles: u64,
}

/// Launches of one kernel, or calls of one library function, that compute the same calls of the caller's code.
#[derive(Clone, Debug)]
pub struct ProfiledKernel {
    /// The device's short name.
    pub device: &'static str,
    /// The kind of command.
    pub kind: ProfiledKind,
    /// The calls in the caller's code that it computes.
    pub ops: Vec<ExplainedOp>,
    /// The number of launches.
    pub launches: u64,
    /// The time of all launches together.
    pub total: Duration,
    /// Bytes read by all launches, each distinct element of each operand once per launch.
    pub bytes_read: u64,
    /// Bytes written by all launches.
    pub bytes_written: u64,
    /// Arithmetic operations of all launches, counted as in [`ExplainedKernel`](crate::ExplainedKernel).
    pub flops: u64,
    /// Its part of the time of all rows, from 0 to 1.
    pub share: f64,
    /// The limit that it comes closest to. `None` if the device's limits are not known, or if it moves and computes
    /// nothing that is counted.
    pub limit: Option<Bound>,
}

/// Kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProfiledKind {
    /// A generated kernel, or a library routine such as a sort.
    Kernel,
    /// A GEMM or an implicit-GEMM convolution, with what is fused into it.
    Gemm,
    /// A host function.
    Host,
    /// A loop that the stream runs by itself. Its iterations are not listed.
    Loop,
}

/// The limit that a kernel comes closest to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// Memory bandwidth, and the part of it that the kernel reaches. More than 1 if its data comes from a cache.
    Memory(f64),
    /// Peak arithmetic, and the part of it that the kernel reaches.
    Compute(f64),
}

/// Host waits of one reason at one source line.
#[derive(Clone, Debug)]
pub struct ProfiledWait {
    /// Why the thread waited.
    pub reason: WaitReason,
    /// The call that waited.
    pub location: &'static Location<'static>,
    /// How often it waited.
    pub count: u64,
    /// The time of all waits together.
    pub total: Duration,
}

impl ProfiledKernel {
    /// The mean time of a launch.
    pub fn mean(&self) -> Duration {
        self.total.checked_div(self.launches as u32).unwrap_or_default()
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.bytes_read + self.bytes_written
    }

    /// Bytes read and written per second.
    pub fn bytes_per_second(&self) -> f64 {
        rate(self.bytes(), self.total)
    }

    /// Operations per second.
    pub fn flops_per_second(&self) -> f64 {
        rate(self.flops, self.total)
    }
}

fn rate(count: u64, time: Duration) -> f64 {
    match time.is_zero() {
        true => 0.0,
        false => count as f64 / time.as_secs_f64(),
    }
}

impl Bound {
    /// The part of the limit that is reached.
    pub fn fraction(self) -> f64 {
        match self {
            Bound::Memory(fraction) | Bound::Compute(fraction) => fraction,
        }
    }
}

/// Runs `work`, waits for what this thread submitted meanwhile, and returns its result with a profile.
///
/// Run the closure once before, or look at [`compiles`](Profile::compiles): the first run of a program plans and compiles
/// its kernels. The limits of a CPU are measured once per process and number of threads, after the closure.
///
/// # Errors
/// If a [`SyncGuard`](crate::SyncGuard) denies the wait. Errors of `work` are part of its result.
#[track_caller]
pub fn profile<R>(work: impl FnOnce() -> R) -> Result<(R, Profile)> {
    let location = Location::caller();
    // Work that was submitted before runs on the same streams.
    let thread = std::thread::current().id();
    recorder::flush_all(location);
    for device in Device::open_devices() {
        if let Some(own) = device.existing_thread_stream(thread) {
            device.wait_for_streams(|stream| std::sync::Arc::ptr_eq(stream, &own), location)?;
        }
    }
    let before: Vec<(Device, Stats)> = Device::open_devices().into_iter().map(with_stats).collect();
    let collecting = Collector::start();
    let result = work();
    recorder::flush_all(location);
    let collector = collecting.stop_recording();
    let devices = Device::open_devices();
    for device in &devices {
        device.wait_for_streams(|stream| collector.observes(stream), location)?;
    }
    let elapsed = collector.elapsed();
    drop(collecting);
    let (kernels, waits) = collector.finish();
    let used = |device: &&Device| kernels.iter().any(|row| row.device_id == device.id());
    let mut compiles = 0;
    let mut all_limits = Vec::new();
    for device in devices.iter().filter(used) {
        let earlier = before.iter().find(|(known, _)| known == device).map(|(_, stats)| *stats);
        compiles += device.stats().since(&earlier.unwrap_or_default()).compiles;
        all_limits.push((device.id(), limits::of(device)));
    }
    let total: f64 = kernels.iter().map(|row| row.total.as_secs_f64()).sum();
    let mut rows: Vec<ProfiledKernel> = kernels
        .into_iter()
        .map(|row| {
            let limits = all_limits.iter().find(|(id, _)| *id == row.device_id);
            let limit = limits.and_then(|(_, limits)| limits.bound(&row));
            row.into_kernel(total, limit)
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.total));
    let limits = all_limits.into_iter().map(|(_, limits)| limits).collect();
    Ok((result, Profile { kernels: rows, waits, limits, elapsed, compiles }))
}

fn with_stats(device: Device) -> (Device, Stats) {
    let stats = device.stats();
    (device, stats)
}
