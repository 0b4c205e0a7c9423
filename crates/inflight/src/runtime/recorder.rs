//! Per-thread recording, and back-pressure.
//!
//! A recorder holds the ops that a thread has recorded on a device and not submitted. Each thread has its own
//! stream on each device, so a wait on one thread does not stall another thread's work. While a thread executes a
//! device op, it records into the op's [`scope`] instead.

use super::Device;
use super::device::{DeviceStream, WeakDevice};
use super::dispatcher::UnflushedStream;
use super::scope;
use super::segment;
pub(crate) use super::segment::Materialize;
use super::stats::Counters;
use super::trace::{self, Span};
use super::wait;
use crate::tensor::Node;
use inflight_backend::Priority;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::{Arc, Weak};
use std::thread::{self, ThreadId};

/// Recorded ops that trigger a submission, which then materializes every live value. Bounds the graph of a loop
/// that never reads a value.
const MAX_RECORDED_OPS: usize = 512;

/// Bytes kept alive only by recorded ops that trigger a submission as well.
const MAX_PINNED_BYTES: usize = 256 << 20;

/// Values up to this size are not counted as pinned; `MAX_RECORDED_OPS` bounds their total.
const SMALL_VALUE_BYTES: usize = 64 << 10;

/// Back-pressure limit: with more segments of one stream in flight, recording waits for the oldest.
const MAX_SEGMENTS_IN_FLIGHT: usize = 16;

/// Ops that one thread, or one device op, has recorded for one device.
pub(super) struct Recorder {
    device: WeakDevice,
    target: Target,
    /// Nodes recorded since the last submission, and live ones that it left unsubmitted.
    nodes: Vec<Weak<Node>>,
    /// Large values in memory that recorded ops read, and their total size.
    pinned: Vec<Weak<Node>>,
    pinned_bytes: usize,
}

/// Stream that a recorder submits to.
enum Target {
    /// The thread's default stream.
    Thread(ThreadId),
    /// The stream of a device op.
    Stream(Arc<DeviceStream>),
}

thread_local! {
    static RECORDERS: RefCell<Vec<Recorder>> = const { RefCell::new(Vec::new()) };
    /// Whether every op is submitted on its own (`no_fuse`).
    static NO_FUSE: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` on this thread's recorder for a device. `None` while the thread shuts down.
fn with_recorder<R>(device: &Device, f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    if scope::is_entered() {
        return scope::with_recorder(device, f);
    }
    RECORDERS
        .try_with(|recorders| {
            let mut recorders = recorders.borrow_mut();
            let existing = recorders.iter().position(|recorder| recorder.device.is(device));
            let position = existing.unwrap_or_else(|| {
                recorders.retain(|recorder| recorder.device.upgrade().is_some());
                let target = Target::Thread(thread::current().id());
                recorders.push(Recorder::new(device, target));
                recorders.len() - 1
            });
            f(&mut recorders[position])
        })
        .ok()
}

impl Recorder {
    fn new(device: &Device, target: Target) -> Recorder {
        let device = device.downgrade();
        Recorder { device, target, nodes: Vec::new(), pinned: Vec::new(), pinned_bytes: 0 }
    }

    /// The recorder of a device op.
    pub fn on_stream(device: &Device, stream: Arc<DeviceStream>) -> Recorder {
        Recorder::new(device, Target::Stream(stream))
    }

    fn stream(&self, device: &Device) -> Arc<DeviceStream> {
        match &self.target {
            Target::Thread(thread) => device.thread_stream(*thread),
            Target::Stream(stream) => stream.clone(),
        }
    }

    /// Adds a recorded node.
    pub fn push(&mut self, node: &Arc<Node>) {
        self.nodes.push(Arc::downgrade(node));
    }

    /// Tracks a large value that a recorded op reads.
    fn pin(&mut self, value: &Arc<Node>) {
        let pointer = Arc::as_ptr(value);
        if !self.pinned.iter().any(|known| known.as_ptr() == pointer) {
            self.pinned.push(Arc::downgrade(value));
            self.pinned_bytes += value.bytes();
        }
    }

    /// Tracks the large values that an unsubmitted node depends on.
    fn pin_operands(&mut self, node: &Arc<Node>) {
        let mut stack: SmallVec<[Arc<Node>; 8]> = SmallVec::from_iter([node.clone()]);
        // Unsubmitted graphs are small, but may contain many paths to one node.
        let mut seen: SmallVec<[*const Node; 64]> = SmallVec::new();
        while let Some(node) = stack.pop() {
            if seen.contains(&Arc::as_ptr(&node)) {
                continue;
            }
            seen.push(Arc::as_ptr(&node));
            match node.value() {
                None => stack.extend(node.inputs().iter().cloned()),
                Some(_) if node.bytes() > SMALL_VALUE_BYTES => self.pin(&node),
                Some(_) => {}
            }
        }
    }

    /// Whether recorded ops alone keep more than `MAX_PINNED_BYTES` alive.
    fn pins_too_much_memory(&mut self) -> bool {
        if self.pinned_bytes <= MAX_PINNED_BYTES {
            return false;
        }
        let mut orphaned = 0;
        self.pinned_bytes = 0;
        self.pinned.retain(|value| match value.upgrade() {
            None => false,
            Some(value) => {
                self.pinned_bytes += value.bytes();
                orphaned += if value.is_live() { 0 } else { value.bytes() };
                true
            }
        });
        orphaned > MAX_PINNED_BYTES
    }
}

impl Drop for Recorder {
    /// Submits the remaining ops when the thread exits, so that a chain handed from thread to thread does not grow
    /// without bound. The remaining ops of a device op, which failed or was dropped, are discarded.
    fn drop(&mut self) {
        let Target::Thread(thread) = self.target else { return };
        let Some(device) = self.device.upgrade() else { return };
        let live: Vec<Arc<Node>> =
            self.nodes.iter().filter_map(Weak::upgrade).filter(|node| node.is_live()).collect();
        let stream = device.thread_stream(thread);
        segment::submit(&device, &stream, &[], &live, Materialize::AllLive, false);
        device.remove_thread_stream(thread);
    }
}

/// Runs `work` without fusion: every op that this thread records during the call is submitted on its own, so it
/// runs in its own kernel and its result is materialized. The values are the same. For debugging and measuring
/// fusion; slow.
///
/// ```
/// use inflight::{Device, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::ones::<f32>([8, 8], &Device::cpu());
/// let (fused, unfused) = (x.softmax(1), inflight::no_fuse(|| x.softmax(1)));
/// assert_eq!(fused.to_vec::<f32>()?, unfused.to_vec::<f32>()?);
/// # Ok(())
/// # }
/// ```
pub fn no_fuse<R>(work: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            NO_FUSE.set(self.0);
        }
    }
    let _restore = Restore(NO_FUSE.replace(true));
    work()
}

/// Records a new node. Submits the recorded ops when there are too many or when they pin too much memory.
pub(crate) fn record(node: &Arc<Node>) {
    let device = node.device();
    Counters::add(&device.counters().recorded, 1);
    let full = with_recorder(device, |recorder| {
        recorder.push(node);
        for input in node.inputs().iter() {
            if input.value().is_some() && input.bytes() > SMALL_VALUE_BYTES {
                recorder.pin(input);
            }
        }
        recorder.nodes.len() >= MAX_RECORDED_OPS || recorder.pins_too_much_memory()
    });
    if NO_FUSE.get() {
        let requested = std::slice::from_ref(node);
        submit(device, requested, Materialize::WorthStoring, false, node.location());
        return;
    }
    if full == Some(true) {
        submit(device, &[], Materialize::AllLive, false, node.location());
    }
}

/// Submits the ops that this thread recorded on a device. Does not wait for their results.
pub(crate) fn flush(device: &Device, location: &'static Location<'static>) {
    submit(device, &[], Materialize::WorthStoring, false, location);
}

/// Submits the ops that this thread recorded on all devices, and dispatches them unless the dispatcher thread
/// already does. Waits only for back-pressure.
pub(crate) fn flush_all(location: &'static Location<'static>) {
    let devices = RECORDERS.try_with(|recorders| {
        let recorders = recorders.borrow();
        let recorded = recorders.iter().filter(|recorder| !recorder.nodes.is_empty());
        recorded.filter_map(|recorder| recorder.device.upgrade()).collect::<SmallVec<[Device; 2]>>()
    });
    for device in devices.unwrap_or_default() {
        submit(&device, &[], Materialize::WorthStoring, true, location);
    }
}

/// Submits a node unless it already has a value.
pub(crate) fn schedule(node: &Arc<Node>) {
    if node.value().is_none() {
        let requested = std::slice::from_ref(node);
        submit(node.device(), requested, Materialize::WorthStoring, false, node.location());
    }
}

/// Submits and dispatches a node that the caller is about to wait for. Returns the thread's stream unflushed, for
/// the caller to run itself.
pub(crate) fn schedule_and_assist(node: &Arc<Node>) -> Option<UnflushedStream> {
    if node.value().is_some() {
        return None;
    }
    let requested = std::slice::from_ref(node);
    let device = node.device();
    let (stream, unflushed) = submit_recorded(device, requested, Materialize::WorthStoring, true);
    if !scope::is_entered()
        && let Some(oldest) = stream.backpressure_point(MAX_SEGMENTS_IN_FLIGHT)
    {
        drop(unflushed);
        wait::wait_for_backpressure(device, &oldest, node.location());
        return None;
    }
    unflushed
}

/// Submits `requested` and the ops that this thread recorded. Waits only for back-pressure.
///
/// Inside a device op, back-pressure applies only when the recorder is full (`AllLive`). Otherwise the op has
/// waited asynchronously before it started, so that it does not block an executor's thread.
pub(crate) fn submit(
    device: &Device,
    requested: &[Arc<Node>],
    materialize: Materialize,
    assisted: bool,
    location: &'static Location<'static>,
) {
    let (stream, _) = submit_recorded(device, requested, materialize, assisted);
    if materialize != Materialize::AllLive && scope::is_entered() {
        return;
    }
    apply_backpressure(device, &stream, location);
}

/// The stream that this thread's ops on a device are submitted to.
pub(crate) fn stream_of(device: &Device) -> Arc<DeviceStream> {
    with_recorder(device, |recorder| recorder.stream(device))
        .unwrap_or_else(|| device.new_stream(Priority::default()))
}

/// Back-pressure: waits if too many segments of the stream are in flight, except inside a device op.
pub(crate) fn apply_backpressure_outside_ops(
    device: &Device,
    stream: &DeviceStream,
    location: &'static Location<'static>,
) {
    if !scope::is_entered() {
        apply_backpressure(device, stream, location);
    }
}

fn apply_backpressure(
    device: &Device,
    stream: &DeviceStream,
    location: &'static Location<'static>,
) {
    if let Some(oldest) = stream.backpressure_point(MAX_SEGMENTS_IN_FLIGHT) {
        wait::wait_for_backpressure(device, &oldest, location);
    }
}

/// Submits `requested` and the ops that this thread recorded, and returns the stream. A caller that assists also
/// dispatches, and gets the stream unflushed. Never waits.
pub(super) fn submit_recorded(
    device: &Device,
    requested: &[Arc<Node>],
    materialize: Materialize,
    assisted: bool,
) -> (Arc<DeviceStream>, Option<UnflushedStream>) {
    let Some((stream, recorded)) = with_recorder(device, |recorder| {
        recorder.pinned.clear();
        recorder.pinned_bytes = 0;
        (recorder.stream(device), std::mem::take(&mut recorder.nodes))
    }) else {
        // The thread is shutting down and its recorder is gone: submit only the requested nodes.
        let stream = device.new_stream(Priority::default());
        segment::submit(device, &stream, requested, &[], materialize, false);
        return (stream, None);
    };
    let mut live: Vec<Arc<Node>> = Vec::new();
    live.extend(recorded.iter().filter_map(Weak::upgrade).filter(|node| node.is_live()));
    let span = trace::begin(|| Span::Submit { device: device.name() });
    segment::submit(device, &stream, requested, &live, materialize, assisted);
    drop(span);
    // The dispatcher thread was not woken for this segment, so the caller must dispatch it.
    let unflushed = assisted.then(|| device.dispatcher().assist_unflushed(&stream));
    scope::track_submitted(&live);
    // Keep nodes that were not submitted for the next submission.
    live.retain(|node| node.value().is_none());
    with_recorder(device, |recorder| {
        live.iter().for_each(|node| recorder.pin_operands(node));
        recorder.nodes.extend(live.iter().map(Arc::downgrade));
    });
    (stream, unflushed)
}
