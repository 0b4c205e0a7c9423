//! What each thread has recorded and not submitted.
//!
//! A thread has a stream of its own on each device, so one thread's wait does not stall another's work. While
//! it executes an op, it records into the op's [`scope`] instead.

use super::Device;
use super::device::{DeviceStream, WeakDevice};
use super::dispatcher::Held;
use super::scope;
use super::segment;
pub(crate) use super::segment::Choice;
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

/// After this many recorded ops what is recorded is submitted, and every live value is written: nothing
/// grows in a loop that never reads.
const MOST_OPS: usize = 512;

/// So is it when recorded ops keep more bytes alive than this that nobody else does.
const MOST_PINNED: usize = 256 << 20;

/// Smaller values are not counted among those: what is recorded has no more than `MOST_OPS` of them.
const SMALL: usize = 64 << 10;

/// With so many segments of one stream in flight, recording waits for the oldest.
const MOST_IN_FLIGHT: usize = 16;

/// One thread's, or one op's, recording for one device.
pub(super) struct Recorder {
    device: WeakDevice,
    target: Target,
    /// What was recorded since the last submission, and live values that stayed recorded then.
    nodes: Vec<Weak<Node>>,
    /// Large values in memory that what is recorded reads, and their bytes together.
    pinned: Vec<Weak<Node>>,
    pinned_bytes: usize,
}

/// Where what is recorded goes to.
enum Target {
    /// The default stream of a thread.
    Thread(ThreadId),
    /// The stream of an op.
    Stream(Arc<DeviceStream>),
}

thread_local! {
    static RECORDERS: RefCell<Vec<Recorder>> = const { RefCell::new(Vec::new()) };
    /// Whether each op is submitted by itself.
    static UNFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` on this thread's recorder for a device. `None` while the thread is ending.
fn with<R>(device: &Device, f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    if scope::is_entered() {
        return scope::with_recorder(device, f);
    }
    RECORDERS
        .try_with(|recorders| {
            let mut recorders = recorders.borrow_mut();
            let known = recorders.iter().position(|recorder| recorder.device.is(device));
            let position = known.unwrap_or_else(|| {
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

    /// An op's.
    pub fn on_stream(device: &Device, stream: Arc<DeviceStream>) -> Recorder {
        Recorder::new(device, Target::Stream(stream))
    }

    fn stream(&self, device: &Device) -> Arc<DeviceStream> {
        match &self.target {
            Target::Thread(thread) => device.thread_stream(*thread),
            Target::Stream(stream) => stream.clone(),
        }
    }

    /// Notes a recorded value.
    pub fn push(&mut self, node: &Arc<Node>) {
        self.nodes.push(Arc::downgrade(node));
    }

    /// Notes a large value in memory that a recorded op reads.
    fn pin(&mut self, value: &Arc<Node>) {
        let pointer = Arc::as_ptr(value);
        if !self.pinned.iter().any(|known| known.as_ptr() == pointer) {
            self.pinned.push(Arc::downgrade(value));
            self.pinned_bytes += value.bytes();
        }
    }

    /// Notes the large values in memory that a recorded value is computed from.
    fn pin_operands(&mut self, node: &Arc<Node>) {
        let mut stack: SmallVec<[Arc<Node>; 8]> = SmallVec::from_iter([node.clone()]);
        // What stays recorded is small: it would be stored otherwise. But there may be many ways through it.
        let mut seen: SmallVec<[*const Node; 64]> = SmallVec::new();
        while let Some(node) = stack.pop() {
            if seen.contains(&Arc::as_ptr(&node)) {
                continue;
            }
            seen.push(Arc::as_ptr(&node));
            match node.value() {
                None => stack.extend(node.inputs().iter().cloned()),
                Some(_) if node.bytes() > SMALL => self.pin(&node),
                Some(_) => {}
            }
        }
    }

    /// Whether what is recorded keeps too many bytes alive that nobody else does.
    fn is_heavy(&mut self) -> bool {
        if self.pinned_bytes <= MOST_PINNED {
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
        orphaned > MOST_PINNED
    }
}

impl Drop for Recorder {
    /// The thread ends. What it leaves recorded is submitted, so that a chain that goes from thread to
    /// thread does not grow. What an op leaves recorded, because it failed or was dropped, is not.
    fn drop(&mut self) {
        let Target::Thread(thread) = self.target else { return };
        let Some(device) = self.device.upgrade() else { return };
        let live: Vec<Arc<Node>> =
            self.nodes.iter().filter_map(Weak::upgrade).filter(|node| node.is_live()).collect();
        let stream = device.thread_stream(thread);
        segment::submit(&device, &stream, &[], &live, Choice::EveryLive, false);
        device.end_thread(thread);
    }
}

/// Runs `work`. Each op that this thread records meanwhile is submitted by itself, so that it runs in a kernel of
/// its own and its result is written: nothing is fused. The values are the same; it is for finding out what
/// fusion does, and is slow.
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
            UNFUSED.set(self.0);
        }
    }
    let _restore = Restore(UNFUSED.replace(true));
    work()
}

/// Notes a new node. Submits when there is enough.
pub(crate) fn note(node: &Arc<Node>) {
    let device = node.device();
    Counters::add(&device.counters().recorded, 1);
    let full = with(device, |recorder| {
        recorder.push(node);
        for input in node.inputs().iter() {
            if input.value().is_some() && input.bytes() > SMALL {
                recorder.pin(input);
            }
        }
        recorder.nodes.len() >= MOST_OPS || recorder.is_heavy()
    });
    if UNFUSED.get() {
        let wanted = std::slice::from_ref(node);
        submit(device, wanted, Choice::WorthStoring, false, node.location());
        return;
    }
    if full == Some(true) {
        submit(device, &[], Choice::EveryLive, false, node.location());
    }
}

/// Submits what this thread recorded on a device, without waiting for it.
pub(crate) fn flush(device: &Device, location: &'static Location<'static>) {
    submit(device, &[], Choice::WorthStoring, false, location);
}

/// Submits what this thread recorded on every device, and dispatches it if nobody else does. Does not wait,
/// unless too much is in flight.
pub(crate) fn flush_all(location: &'static Location<'static>) {
    let devices = RECORDERS.try_with(|recorders| {
        let recorders = recorders.borrow();
        let recorded = recorders.iter().filter(|recorder| !recorder.nodes.is_empty());
        recorded.filter_map(|recorder| recorder.device.upgrade()).collect::<SmallVec<[Device; 2]>>()
    });
    for device in devices.unwrap_or_default() {
        submit(&device, &[], Choice::WorthStoring, true, location);
    }
}

/// Sees to it that a node is scheduled.
pub(crate) fn schedule(node: &Arc<Node>) {
    if node.value().is_none() {
        let wanted = std::slice::from_ref(node);
        submit(node.device(), wanted, Choice::WorthStoring, false, node.location());
    }
}

/// Sees to it that a node is scheduled, and dispatches it: the caller is about to wait for it, and runs its
/// stream, which is returned if it is this thread's.
pub(crate) fn schedule_and_hold(node: &Arc<Node>) -> Option<Held> {
    if node.value().is_some() {
        return None;
    }
    let wanted = std::slice::from_ref(node);
    let device = node.device();
    let (stream, held) = submit_recorded(device, wanted, Choice::WorthStoring, true);
    if !scope::is_entered()
        && let Some(oldest) = stream.excess(MOST_IN_FLIGHT)
    {
        drop(held);
        wait::hold_back(device, &oldest, node.location());
        return None;
    }
    held
}

/// Submits `wanted` and what this thread recorded. Waits for nothing, unless too much is in flight.
///
/// An op is held back only if it records without end. Otherwise that is done before it starts, so that the
/// thread of an executor need not wait.
pub(crate) fn submit(
    device: &Device,
    wanted: &[Arc<Node>],
    choice: Choice,
    assisted: bool,
    location: &'static Location<'static>,
) {
    let (stream, _) = submit_recorded(device, wanted, choice, assisted);
    if choice != Choice::EveryLive && scope::is_entered() {
        return;
    }
    hold_back(device, &stream, location);
}

/// The stream that what this thread records on a device goes to.
pub(crate) fn stream_of(device: &Device) -> Arc<DeviceStream> {
    with(device, |recorder| recorder.stream(device))
        .unwrap_or_else(|| device.new_stream(Priority::default()))
}

/// Waits if too much of a stream is in flight. Work that an op submits is not held back.
pub(crate) fn hold_back_outside_ops(
    device: &Device,
    stream: &DeviceStream,
    location: &'static Location<'static>,
) {
    if !scope::is_entered() {
        hold_back(device, stream, location);
    }
}

fn hold_back(device: &Device, stream: &DeviceStream, location: &'static Location<'static>) {
    if let Some(oldest) = stream.excess(MOST_IN_FLIGHT) {
        wait::hold_back(device, &oldest, location);
    }
}

/// Submits `wanted` and what this thread recorded, and returns the stream; if the caller assists, with what
/// holds it back from others. Never waits.
pub(super) fn submit_recorded(
    device: &Device,
    wanted: &[Arc<Node>],
    choice: Choice,
    assisted: bool,
) -> (Arc<DeviceStream>, Option<Held>) {
    let Some((stream, recorded)) = with(device, |recorder| {
        recorder.pinned.clear();
        recorder.pinned_bytes = 0;
        (recorder.stream(device), std::mem::take(&mut recorder.nodes))
    }) else {
        // The thread is ending, and with it what it recorded: only what is wanted is left to do.
        let stream = device.new_stream(Priority::default());
        segment::submit(device, &stream, wanted, &[], choice, false);
        return (stream, None);
    };
    let mut live: Vec<Arc<Node>> = Vec::new();
    live.extend(recorded.iter().filter_map(Weak::upgrade).filter(|node| node.is_live()));
    let span = trace::begin(|| Span::Submit { device: device.name() });
    segment::submit(device, &stream, wanted, &live, choice, assisted);
    drop(span);
    // Nobody was woken for it: whatever the caller goes on to do, it is dispatched.
    let held = assisted.then(|| device.dispatcher().assist_holding(&stream));
    scope::note_submitted(&live);
    // What stayed recorded is looked at again next time.
    live.retain(|node| node.value().is_none());
    with(device, |recorder| {
        live.iter().for_each(|node| recorder.pin_operands(node));
        recorder.nodes.extend(live.iter().map(Arc::downgrade));
    });
    (stream, held)
}
