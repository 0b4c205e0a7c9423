//! Counters: what was done, not how long it took.

use super::{Device, WaitReason};
use inflight_backend::MemoryStats;
use std::sync::atomic::{AtomicU64, Ordering};

/// The counters of all open devices together.
pub fn stats() -> Stats {
    Device::all_open().iter().fold(Stats::default(), |sum, device| sum.and(&device.stats()))
}

/// Runs `work` and counts what all devices, and all threads, did meanwhile. The peak of memory is that of the
/// time of `work` too.
///
/// What `work` started and did not wait for is counted as far as it came.
///
/// ```
/// use inflight::{Device, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::from_vec(vec![1.0f32; 1000], [1000], &Device::cpu())?;
/// let (sum, stats) = inflight::counted(|| ((&x + 1.0).exp() * 2.0).sum_all().item::<f32>());
/// assert!(sum? > 1000.0);
/// println!("{} launches, {} bytes read", stats.launches, stats.bytes_read);
/// # Ok(())
/// # }
/// ```
pub fn counted<R>(work: impl FnOnce() -> R) -> (R, Stats) {
    let before: Vec<(Device, Stats)> =
        Device::all_open().into_iter().map(|device| (device.clone(), device.stats())).collect();
    before.iter().for_each(|(device, _)| device.pool().reset_peak());
    let result = work();
    let counted = Device::all_open().iter().fold(Stats::default(), |sum, device| {
        let earlier = before.iter().find(|(known, _)| known == device);
        let now = device.stats();
        sum.and(&earlier.map_or(now, |(_, earlier)| now.since(earlier)))
    });
    (result, counted)
}

/// A device's counters since it was opened, or between two readings ([`Stats::since`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Ops recorded.
    pub recorded: u64,
    /// Segments submitted.
    pub segments: u64,
    /// Kernels and contractions launched.
    pub launches: u64,
    /// Bytes launched kernels read, each operand once.
    pub bytes_read: u64,
    /// Bytes launched kernels write.
    pub bytes_written: u64,
    /// Segments whose plan was found.
    pub plan_hits: u64,
    /// Segments that were planned.
    pub plans: u64,
    /// Kernels compiled.
    pub compiles: u64,
    /// Kernels that an earlier process had compiled, loaded from disk.
    pub loads: u64,
    /// Pending work that was skipped: nobody wanted it any more when its turn came.
    pub skipped: u64,
    /// Requests for memory served.
    pub allocations: u64,
    /// Those of them served with memory that was used before.
    pub reuses: u64,
    /// Bytes that were not read and written after all: a copy took its source's memory over. They are counted in
    /// `bytes_read` and `bytes_written`, as the copy is in `launches`.
    pub bytes_taken_over: u64,
    /// The most bytes of memory that were in use at once since the counting began.
    pub peak_memory: u64,
    /// Waits of the host, by [`WaitReason`].
    pub waits: [u64; WaitReason::COUNT],
}

impl Stats {
    /// The waits for one reason.
    pub fn waits_for(&self, reason: WaitReason) -> u64 {
        self.waits[reason as usize]
    }

    /// All waits.
    pub fn all_waits(&self) -> u64 {
        self.waits.iter().sum()
    }

    /// The sum of both, and of both peaks.
    fn and(&self, other: &Stats) -> Stats {
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
            bytes_taken_over: self.bytes_taken_over + other.bytes_taken_over,
            peak_memory: self.peak_memory + other.peak_memory,
            waits,
        }
    }

    /// What was counted after `earlier` was read. The peak is that of the later reading.
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
            bytes_taken_over: self.bytes_taken_over.saturating_sub(earlier.bytes_taken_over),
            peak_memory: self.peak_memory,
            waits,
        }
    }
}

/// The counters themselves. Each is only ever added to.
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

    /// Adds what was launched, read and written, so many times.
    pub fn add_times(&self, once: &Counters, times: u64) {
        let add = |sum: &AtomicU64, once: &AtomicU64| {
            Counters::add(sum, once.load(Ordering::Relaxed) * times);
        };
        add(&self.launches, &once.launches);
        add(&self.bytes_read, &once.bytes_read);
        add(&self.bytes_written, &once.bytes_written);
    }

    /// All of them, with those of the device's memory.
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
            bytes_taken_over: memory.reused_in_place,
            peak_memory: memory.peak as u64,
            waits: std::array::from_fn(|reason| read(&self.waits[reason])),
        }
    }
}
