//! Runtime counters: kernel launches, bytes, compilations, cache hits, allocations and host waits. They count
//! events, not time.

use super::{Device, WaitReason};
use inflight_backend::MemoryStats;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the sum of the counters of all open devices.
pub fn stats() -> Stats {
    Device::open_devices().iter().fold(Stats::default(), |sum, device| sum.plus(&device.stats()))
}

/// Runs `work` and returns its result with the counters of all devices and threads during the call.
/// [`Stats::peak_memory`] is the peak during the call.
///
/// Work that is still running when `work` returns is counted as far as it has come.
///
/// ```
/// use inflight::{Device, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::from_vec(vec![1.0f32; 1000], [1000], &Device::cpu())?;
/// let (sum, stats) = inflight::collect_stats(|| ((&x + 1.0).exp() * 2.0).sum_all().item::<f32>());
/// assert!(sum? > 1000.0);
/// println!("{} launches, {} bytes read", stats.launches, stats.bytes_read);
/// # Ok(())
/// # }
/// ```
pub fn collect_stats<R>(work: impl FnOnce() -> R) -> (R, Stats) {
    let before: Vec<(Device, Stats)> =
        Device::open_devices().into_iter().map(|device| (device.clone(), device.stats())).collect();
    before.iter().for_each(|(device, _)| device.pool().reset_peak());
    let result = work();
    let collected = Device::open_devices().iter().fold(Stats::default(), |sum, device| {
        let earlier = before.iter().find(|(known, _)| known == device);
        let now = device.stats();
        sum.plus(&earlier.map_or(now, |(_, earlier)| now.since(earlier)))
    });
    (result, collected)
}

/// Counters of a device since it was opened, or the difference of two readings ([`Stats::since`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Recorded ops.
    pub recorded: u64,
    /// Submitted segments.
    pub segments: u64,
    /// Launched kernels, launch batches and GEMMs.
    pub launches: u64,
    /// Bytes read by launched kernels, each operand counted once.
    pub bytes_read: u64,
    /// Bytes written by launched kernels.
    pub bytes_written: u64,
    /// Segments whose plan came from the plan cache.
    pub plan_hits: u64,
    /// Segments that were planned (plan cache misses).
    pub plans: u64,
    /// Compiled kernels.
    pub compiles: u64,
    /// Kernels loaded from disk instead of compiled.
    pub loads: u64,
    /// Pending tasks that were cancelled before they started because all their handles were dropped.
    pub skipped: u64,
    /// Memory allocations.
    pub allocations: u64,
    /// Allocations served from cached blocks.
    pub reuses: u64,
    /// Bytes of copies that were elided because the result reused its source's memory in place. `bytes_read`,
    /// `bytes_written` and `launches` count such copies too.
    pub bytes_reused_in_place: u64,
    /// Peak memory in use, in bytes.
    pub peak_memory: u64,
    /// Host waits, indexed by [`WaitReason`].
    pub waits: [u64; WaitReason::COUNT],
}

impl Stats {
    /// Number of host waits for one reason.
    pub fn waits_for(&self, reason: WaitReason) -> u64 {
        self.waits[reason as usize]
    }

    /// Total number of host waits.
    pub fn all_waits(&self) -> u64 {
        self.waits.iter().sum()
    }

    /// Adds all counters, the peaks included.
    fn plus(&self, other: &Stats) -> Stats {
        let mut waits = self.waits;
        for (wait, more) in waits.iter_mut().zip(other.waits) {
            *wait += more;
        }
        Stats {
            recorded: self.recorded + other.recorded,
            segments: self.segments + other.segments,
            launches: self.launches + other.launches,
            bytes_read: self.bytes_read + other.bytes_read,
            bytes_written: self.bytes_written + other.bytes_written,
            plan_hits: self.plan_hits + other.plan_hits,
            plans: self.plans + other.plans,
            compiles: self.compiles + other.compiles,
            loads: self.loads + other.loads,
            skipped: self.skipped + other.skipped,
            allocations: self.allocations + other.allocations,
            reuses: self.reuses + other.reuses,
            bytes_reused_in_place: self.bytes_reused_in_place + other.bytes_reused_in_place,
            peak_memory: self.peak_memory + other.peak_memory,
            waits,
        }
    }

    /// Difference to an earlier reading. `peak_memory` is that of the later reading.
    pub fn since(&self, earlier: &Stats) -> Stats {
        let mut waits = self.waits;
        for (wait, before) in waits.iter_mut().zip(earlier.waits) {
            *wait = wait.saturating_sub(before);
        }
        Stats {
            recorded: self.recorded.saturating_sub(earlier.recorded),
            segments: self.segments.saturating_sub(earlier.segments),
            launches: self.launches.saturating_sub(earlier.launches),
            bytes_read: self.bytes_read.saturating_sub(earlier.bytes_read),
            bytes_written: self.bytes_written.saturating_sub(earlier.bytes_written),
            plan_hits: self.plan_hits.saturating_sub(earlier.plan_hits),
            plans: self.plans.saturating_sub(earlier.plans),
            compiles: self.compiles.saturating_sub(earlier.compiles),
            loads: self.loads.saturating_sub(earlier.loads),
            skipped: self.skipped.saturating_sub(earlier.skipped),
            allocations: self.allocations.saturating_sub(earlier.allocations),
            reuses: self.reuses.saturating_sub(earlier.reuses),
            bytes_reused_in_place: self
                .bytes_reused_in_place
                .saturating_sub(earlier.bytes_reused_in_place),
            peak_memory: self.peak_memory,
            waits,
        }
    }
}

/// The live counters. They only ever increase.
#[derive(Default)]
pub(crate) struct Counters {
    pub recorded: AtomicU64,
    pub segments: AtomicU64,
    pub launches: AtomicU64,
    pub bytes_read: AtomicU64,
    pub bytes_written: AtomicU64,
    pub plan_hits: AtomicU64,
    pub plans: AtomicU64,
    pub compiles: AtomicU64,
    pub loads: AtomicU64,
    pub skipped: AtomicU64,
    pub waits: [AtomicU64; WaitReason::COUNT],
}

impl Counters {
    pub fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    /// Adds the launches and bytes of `once`, multiplied by `times`.
    pub fn add_times(&self, once: &Counters, times: u64) {
        let add = |sum: &AtomicU64, once: &AtomicU64| {
            Counters::add(sum, once.load(Ordering::Relaxed) * times);
        };
        add(&self.launches, &once.launches);
        add(&self.bytes_read, &once.bytes_read);
        add(&self.bytes_written, &once.bytes_written);
    }

    /// Reads all counters, with those of the memory pool.
    pub fn read(&self, memory: MemoryStats) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            recorded: read(&self.recorded),
            segments: read(&self.segments),
            launches: read(&self.launches),
            bytes_read: read(&self.bytes_read),
            bytes_written: read(&self.bytes_written),
            plan_hits: read(&self.plan_hits),
            plans: read(&self.plans),
            compiles: read(&self.compiles),
            loads: read(&self.loads),
            skipped: read(&self.skipped),
            allocations: memory.allocations,
            reuses: memory.reuses,
            bytes_reused_in_place: memory.reused_in_place,
            peak_memory: memory.peak as u64,
            waits: std::array::from_fn(|reason| read(&self.waits[reason])),
        }
    }
}
