//! Counters: what was done, not how long it took.

use super::WaitReason;
use std::sync::atomic::{AtomicU64, Ordering};

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

    /// What was counted after `earlier` was read.
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

    pub fn read(&self) -> Stats {
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
            waits: std::array::from_fn(|reason| read(&self.waits[reason])),
        }
    }
}
