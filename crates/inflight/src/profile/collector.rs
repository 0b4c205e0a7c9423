//! The observer of a profile: sums up the commands of the streams that one thread submits to.

use super::{Bound, ProfiledKernel, ProfiledKind, ProfiledWait};
use crate::DType;
use crate::explain::ExplainedOp;
use crate::runtime::WaitReason;
use crate::runtime::device::DeviceStream;
use inflight_backend::Label;
use inflight_backend::observe::{self, CommandKind, Observer, RanCommand};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

thread_local! {
    /// The profiles of this thread that are recording, outermost first.
    static ACTIVE: RefCell<Vec<Arc<Collector>>> = const { RefCell::new(Vec::new()) };
}

/// Tells the profiles of this thread about a stream that it submits to. One relaxed load while nothing is observed.
pub(crate) fn record_stream(stream: &Arc<DeviceStream>) {
    if !observe::is_listening() {
        return;
    }
    // The thread may be ending.
    let _ = ACTIVE.try_with(|active| {
        active.borrow().iter().for_each(|collector| collector.add_stream(stream));
    });
}

/// Tells the profiles of this thread about a host wait.
pub(crate) fn record_wait(
    reason: WaitReason,
    location: &'static Location<'static>,
    duration: Duration,
) {
    let _ = ACTIVE.try_with(|active| {
        active.borrow().iter().for_each(|collector| {
            collector.add_wait(reason, location, duration);
        });
    });
}

/// One profile while it is taken.
pub(super) struct Collector {
    began: Instant,
    /// The streams that are observed, by the id of their reports. Kept alive, so that they can be waited for.
    streams: Mutex<FxHashMap<u64, Arc<DeviceStream>>>,
    rows: Mutex<Rows>,
    waits: Mutex<Vec<ProfiledWait>>,
}

#[derive(Default)]
struct Rows {
    rows: FxHashMap<RowKey, Row>,
    /// When the last command of each stream began.
    last_began: FxHashMap<u64, Instant>,
}

/// Commands of equal keys share a row.
#[derive(PartialEq, Eq, Hash)]
struct RowKey {
    device_id: u64,
    kind: ProfiledKind,
    ops: String,
}

/// The commands of a row, summed up.
pub(super) struct Row {
    pub device: &'static str,
    pub device_id: u64,
    pub kind: ProfiledKind,
    /// The dtype of a GEMM.
    pub gemm: Option<DType>,
    pub ops: Vec<ExplainedOp>,
    pub launches: u64,
    pub total: Duration,
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub flops: u64,
}

impl Row {
    /// The row of a profile whose rows take `total` seconds together.
    pub fn into_kernel(self, total: f64, limit: Option<Bound>) -> ProfiledKernel {
        let share = if total > 0.0 { self.total.as_secs_f64() / total } else { 0.0 };
        ProfiledKernel {
            device: self.device,
            kind: self.kind,
            ops: self.ops,
            launches: self.launches,
            total: self.total,
            bytes_read: self.bytes_read,
            bytes_written: self.bytes_written,
            flops: self.flops,
            share,
            limit,
        }
    }
}

/// Collects until it is dropped, also if the profiled closure panics.
pub(super) struct Collecting(Arc<Collector>);

impl Collecting {
    /// This thread submits nothing more that belongs to the profile; what it submitted may still be running.
    pub fn stop_recording(&self) -> Arc<Collector> {
        let _ = ACTIVE.try_with(|active| {
            active.borrow_mut().retain(|collector| !Arc::ptr_eq(collector, &self.0));
        });
        self.0.clone()
    }
}

impl Drop for Collecting {
    fn drop(&mut self) {
        let observer: Arc<dyn Observer> = self.stop_recording();
        observe::remove(&observer);
    }
}

impl Collector {
    pub fn start() -> Collecting {
        let collector = Arc::new(Collector {
            began: Instant::now(),
            streams: Mutex::default(),
            rows: Mutex::default(),
            waits: Mutex::default(),
        });
        ACTIVE.with(|active| active.borrow_mut().push(collector.clone()));
        observe::add(collector.clone());
        Collecting(collector)
    }

    fn add_stream(&self, stream: &Arc<DeviceStream>) {
        if let Some(id) = stream.stream.id() {
            self.streams.lock().entry(id).or_insert_with(|| stream.clone());
        }
    }

    fn add_wait(
        &self,
        reason: WaitReason,
        location: &'static Location<'static>,
        duration: Duration,
    ) {
        let mut waits = self.waits.lock();
        let is_same = |wait: &&mut ProfiledWait| wait.reason == reason && wait.location == location;
        match waits.iter_mut().find(is_same) {
            Some(wait) => {
                wait.count += 1;
                wait.total += duration;
            }
            None => waits.push(ProfiledWait { reason, location, count: 1, total: duration }),
        }
    }

    /// Whether the commands of a stream are in the profile.
    pub fn observes(&self, stream: &Arc<DeviceStream>) -> bool {
        stream.stream.id().is_some_and(|id| self.streams.lock().contains_key(&id))
    }

    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// The rows, and the waits by count.
    pub fn finish(&self) -> (Vec<Row>, Vec<ProfiledWait>) {
        let rows = std::mem::take(&mut *self.rows.lock()).rows;
        let mut waits = std::mem::take(&mut *self.waits.lock());
        waits.sort_by_key(|wait| std::cmp::Reverse(wait.count));
        (rows.into_values().collect(), waits)
    }
}

impl Observer for Collector {
    fn command_ran(&self, ran: &RanCommand<'_>) {
        let device_id = match self.streams.lock().get(&ran.stream) {
            Some(stream) if ran.began >= self.began => stream.device_id,
            _ => return,
        };
        let (label, kind): (&Label, ProfiledKind) = match ran.kind {
            CommandKind::Compute(label) if label.work.gemm.is_some() => (label, ProfiledKind::Gemm),
            CommandKind::Compute(label) => (label, ProfiledKind::Kernel),
            CommandKind::Host(label) => (label, ProfiledKind::Host),
            CommandKind::Loop { label, .. } => (label, ProfiledKind::Loop),
            CommandKind::Read { .. } => return,
        };
        let calls = label.calls();
        let ops: String = calls.iter().map(|call| format!("{call}\n")).collect();
        let Rows { rows, last_began } = &mut *self.rows.lock();
        // The host runs this loop: its commands were reported one by one.
        let is_reported = last_began.get(&ran.stream).is_some_and(|&last| last > ran.began);
        if kind == ProfiledKind::Loop && is_reported {
            return;
        }
        last_began.insert(ran.stream, ran.began);
        let row = rows.entry(RowKey { device_id, kind, ops }).or_insert_with(|| Row {
            device: ran.device,
            device_id,
            kind,
            gemm: label.work.gemm,
            ops: calls.into_iter().map(ExplainedOp::from).collect(),
            launches: 0,
            total: Duration::ZERO,
            bytes_read: 0,
            bytes_written: 0,
            flops: 0,
        });
        row.launches += 1;
        row.total += ran.ended.saturating_duration_since(ran.began);
        row.bytes_read += label.work.bytes_read;
        row.bytes_written += label.work.bytes_written;
        row.flops += label.work.flops;
    }
}
