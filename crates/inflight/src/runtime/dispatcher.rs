//! The dispatcher thread and its work queue: takes submitted segments in order, plans and compiles them, and
//! enqueues their commands on streams.
//!
//! A dedicated thread dispatches, so that recording stays cheap. A caller that is about to wait dispatches the
//! queue itself if the thread is idle, which saves two thread switches.

use super::commands::{BoundPlan, CommandSink};
use super::compilation_cache::{CompilationCache, CompiledPlan, SerializedKernel};
use super::device::DeviceStream;
use super::stats::Counters;
use super::trace::{self, Span};
use super::value::{CompletionPoint, Value};
use crate::profile;
#[cfg(feature = "hlo")]
use crate::program::ProgramRun;
use inflight_backend::{
    Backend, Buffer, Command, Event, Fault, FaultKind, Label, LabelOp, Stream, Timeline, WorkQueue,
};
use inflight_ir::graph::{Graph, NodeId};
use inflight_ir::plan::Work;
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once, OnceLock};
use std::time::Duration;

/// Time that the dispatcher thread polls its queue before it sleeps, on devices other than the host.
const SPIN_BUDGET: Duration = Duration::from_micros(50);

/// A part of the recorded graph, or a program execution, on its way to a device.
pub(crate) struct Segment {
    /// The computation, from `inputs` to `outputs`.
    pub body: SegmentBody,
    pub inputs: Vec<Arc<Value>>,
    /// Donated inputs.
    pub donated: Vec<DonatedInput>,
    pub outputs: Vec<Arc<Value>>,
    /// Op name and source location of each node.
    pub labels: Arc<[LabelOp]>,
    pub stream: Arc<DeviceStream>,
    pub submission: Arc<Submission>,
}

/// The computation of a segment.
pub(crate) enum SegmentBody {
    /// A part of the recorded graph.
    Recorded(Graph),
    /// A program execution.
    #[cfg(feature = "hlo")]
    Program(ProgramRun),
}

/// A donated input (buffer donation): no tensor can read it after this segment.
pub(crate) struct DonatedInput {
    /// Position among the inputs.
    pub input: usize,
    /// Fault that later readers of the value get.
    pub fault: Fault,
}

/// Progress of one segment.
pub(crate) struct Submission {
    /// Reached iff the segment's commands are on their stream.
    pub dispatched: Event,
    /// Its event is reached iff all commands are done. Set before `dispatched` is reached.
    pub finished: OnceLock<CompletionPoint>,
    /// The segment's share of the back-pressure limit.
    pub weight: usize,
}

impl Submission {
    /// Back-pressure weight of most segments.
    pub const DEFAULT_WEIGHT: usize = 16;

    /// Weight of segments that finish quickly and hold little memory.
    pub const LIGHT_WEIGHT: usize = 1;

    /// The progress of a segment that is about to be queued.
    pub fn new(dispatched: Event, weight: usize) -> Arc<Submission> {
        Arc::new(Submission { dispatched, finished: OnceLock::new(), weight })
    }

    pub fn is_finished(&self) -> bool {
        self.finished.get().is_some_and(|finished| finished.event.is_reached())
    }
}

/// A stream with enqueued commands that its worker was not notified of. The drop flushes the stream.
#[must_use]
pub(crate) struct UnflushedStream {
    pub stream: Arc<DeviceStream>,
}

impl Drop for UnflushedStream {
    fn drop(&mut self) {
        self.stream.stream.flush();
    }
}

/// A device's dispatcher.
pub(crate) struct Dispatcher {
    shared: Arc<Shared>,
}

struct Shared {
    queue: WorkQueue<Segment>,
    /// Starts the thread on first use.
    thread: Once,
    /// Reaches a segment's sequence number when the segment is dispatched.
    timeline: Arc<Timeline>,
    backend: Arc<dyn Backend>,
    cache: Arc<CompilationCache>,
    counters: Arc<Counters>,
    /// A stream whose flush is deferred because more commands are about to follow.
    unflushed: Mutex<Option<Arc<DeviceStream>>>,
}

impl Dispatcher {
    pub fn new(
        backend: Arc<dyn Backend>,
        cache: Arc<CompilationCache>,
        counters: Arc<Counters>,
    ) -> Dispatcher {
        Dispatcher {
            shared: Arc::new(Shared {
                queue: WorkQueue::new(),
                thread: Once::new(),
                timeline: Timeline::new(),
                backend,
                cache,
                counters,
                unflushed: Mutex::new(None),
            }),
        }
    }

    /// Queues a segment. `prepare` creates it from the event of its dispatch, while the queue is locked.
    ///
    /// With `assisted`, the caller calls [`assist`](Dispatcher::assist) next, so the thread is not woken.
    pub fn submit(&self, assisted: bool, prepare: impl FnOnce(Event) -> Segment) {
        let timeline = &self.shared.timeline;
        self.shared.queue.push(|number| {
            let segment = prepare(timeline.event(number));
            profile::record_stream(&segment.stream);
            segment
        });
        Counters::add(&self.shared.counters.segments, 1);
        if !assisted {
            self.start();
            self.shared.queue.notify();
        }
    }

    /// Dispatches the queued segments on this thread, unless another thread is dispatching.
    pub fn assist(&self) {
        self.shared.queue.help(|segment| self.shared.dispatch(segment, None));
    }

    /// As [`assist`](Dispatcher::assist), for a caller that runs `stream` itself: the stream's worker is not
    /// notified until the returned guard is dropped.
    pub fn assist_unflushed(&self, stream: &Arc<DeviceStream>) -> UnflushedStream {
        let caller_stream = UnflushedStream { stream: stream.clone() };
        self.shared.queue.help(|segment| self.shared.dispatch(segment, Some(stream)));
        caller_stream
    }

    /// Plans a graph and compiles its kernels on this thread.
    pub fn compile_graph(&self, graph: &Graph) -> Arc<CompiledPlan> {
        self.shared.cache.plan(&mut graph.clone(), &*self.shared.backend, &self.shared.counters)
    }

    /// Adds serialized kernels to the kernel cache.
    pub fn preload_kernels(&self, kernels: impl Iterator<Item = SerializedKernel>) {
        self.shared.cache.preload_kernels(kernels);
    }

    /// Serializes the kernels of a plan.
    pub fn serialized_kernels(&self, ready: &CompiledPlan) -> Vec<SerializedKernel> {
        self.shared.cache.serialized_kernels(ready, &*self.shared.backend)
    }

    /// The device's counters.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.shared.counters
    }

    /// Event that is reached when all segments submitted so far are dispatched.
    pub fn all_dispatched(&self) -> Event {
        self.shared.timeline.event(self.shared.queue.pushed())
    }

    fn start(&self) {
        self.shared.thread.call_once(|| {
            let shared = self.shared.clone();
            // Do not spin on a host device: its kernels need the cores.
            let is_host = shared.backend.capabilities().host_visible;
            let spin_budget = if is_host { Duration::ZERO } else { SPIN_BUDGET };
            let dispatch = move || {
                let queue = &shared.queue;
                queue.serve_spinning(spin_budget, |segment| shared.dispatch(segment, None));
            };
            std::thread::Builder::new()
                .name("inflight-dispatcher".to_owned())
                .spawn(dispatch)
                .expect("the dispatcher's thread starts");
        });
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        // The thread exits after the queued segments; the drop does not wait for it. If there is no thread,
        // assisting callers have dispatched their own segments.
        self.shared.queue.close();
    }
}

impl Shared {
    /// Dispatches one segment, from graph to commands on its stream. Always signals the segment's values; on
    /// failure, they all get the fault. The caller flushes `caller_stream` itself.
    fn dispatch(&self, mut segment: Segment, caller_stream: Option<&Arc<DeviceStream>>) {
        let _span = trace::begin(|| Span::Dispatch { ops: segment.labels.len() });
        let stream = segment.stream.clone();
        // Planning another thread's segment may take long: flush the caller's stream first.
        if let Some(caller_stream) =
            caller_stream.filter(|caller_stream| !Arc::ptr_eq(caller_stream, &stream))
        {
            caller_stream.stream.flush();
        }
        self.flush_unless(Some(&stream));
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.enqueue(&mut segment);
        }));
        if let Err(panic) = outcome {
            let kind = FaultKind::Panicked(panic_message(&*panic));
            let nodes = (0..segment.labels.len() as NodeId).collect();
            let work = Arc::new(Work { nodes, ..Work::default() });
            let label = Some(Label { segment: segment.labels.clone(), work });
            for value in &segment.outputs {
                if value.written.get().is_none() {
                    value.buffer().fail(Fault { kind: kind.clone(), label: label.clone() });
                }
            }
        }
        let last = stream.signal();
        for value in &segment.outputs {
            let _ = value.written.set(CompletionPoint::on(&stream, last.clone()));
        }
        let _ = segment.submission.finished.set(CompletionPoint::on(&stream, last));
        // The caller runs its unflushed stream next, unless more segments are queued.
        let caller_runs_it = caller_stream
            .is_some_and(|caller_stream| Arc::ptr_eq(caller_stream, &stream))
            && self.queue.is_empty();
        // On a device with its own memory each flush has a cost, so batch flushes. On a host device, a delayed
        // flush delays the work.
        let has_own_memory = !self.backend.capabilities().host_visible;
        let more_follows = has_own_memory && !self.queue.is_empty();
        if !caller_runs_it && !more_follows {
            stream.stream.flush();
        }
        *self.unflushed.lock() = (!caller_runs_it && more_follows).then_some(stream);
        // Drop the segment's references to values before signaling its dispatch, so that waiters see exact
        // reference counts.
        let dispatched = segment.submission.dispatched.clone();
        drop(segment);
        dispatched.signal();
    }

    /// Flushes the deferred stream, unless it is this one.
    fn flush_unless(&self, stream: Option<&Arc<DeviceStream>>) {
        let mut unflushed = self.unflushed.lock();
        let is_same = |other: &Arc<DeviceStream>| stream.is_some_and(|s| Arc::ptr_eq(s, other));
        if let Some(other) = unflushed.take_if(|other| !is_same(other)) {
            other.stream.flush();
        }
    }

    fn enqueue(&self, segment: &mut Segment) {
        enqueue_input_waits(segment);
        let stream = segment.stream.clone();
        let inputs = segment.take_inputs();
        let outputs: Vec<Arc<Buffer>> =
            segment.outputs.iter().map(|value| value.buffer()).collect();
        let mut sink = StreamSink { stream: &stream, outputs: &segment.outputs };
        match &mut segment.body {
            SegmentBody::Recorded(graph) => {
                // Planning and compiling take long: give the device its deferred commands first.
                let before_planning = || self.flush_unless(None);
                let ready = self.cache.plan_with_callback(
                    graph,
                    &*self.backend,
                    &self.counters,
                    before_planning,
                );
                let _span = trace::begin(|| Span::Enqueue);
                let bound =
                    BoundPlan { ready: &ready, scalars: &graph.scalars, labels: &segment.labels };
                bound.emit(&inputs, &outputs, &self.counters, &mut sink);
            }
            #[cfg(feature = "hlo")]
            SegmentBody::Program(run) => {
                let _span = trace::begin(|| Span::Enqueue);
                run.emit(&inputs, &outputs, &mut sink);
            }
        }
    }
}

/// Enqueues a segment's commands on its stream, and sets its values' completion points.
struct StreamSink<'a> {
    stream: &'a DeviceStream,
    outputs: &'a [Arc<Value>],
}

impl CommandSink for StreamSink<'_> {
    fn push_command(&mut self, command: Command) {
        self.stream.enqueue(command);
    }

    fn outputs_written(&mut self, outputs: &[usize]) {
        let event = self.stream.signal();
        for &output in outputs {
            let written = CompletionPoint::on(self.stream, event.clone());
            let _ = self.outputs[output].written.set(written);
        }
    }
}

impl Segment {
    /// Takes the input buffers. A donated buffer is moved out of its value if there is no other reference, so that
    /// its memory is free once the last command that reads it has run.
    fn take_inputs(&mut self) -> Vec<Arc<Buffer>> {
        let mut buffers: Vec<Arc<Buffer>> =
            self.inputs.iter().map(|value| value.buffer()).collect();
        for donated in std::mem::take(&mut self.donated) {
            let value = &self.inputs[donated.input];
            // One reference from the tensor's node, one from this segment.
            if Arc::strong_count(value) == 2 {
                buffers[donated.input] = value.donate(donated.fault);
            }
        }
        self.inputs.clear();
        buffers
    }
}

/// Makes the stream wait for inputs that other streams write.
fn enqueue_input_waits(segment: &Segment) {
    let own = segment.stream.timeline.event(0);
    let mut waited: Vec<Event> = Vec::new();
    for input in &segment.inputs {
        let event = &written_event(input);
        if event.is_reached() || event.same_timeline(&own) {
            continue;
        }
        match waited.iter_mut().find(|waited| waited.same_timeline(event)) {
            Some(waited) if waited.value() < event.value() => *waited = event.clone(),
            Some(_) => {}
            None => waited.push(event.clone()),
        }
    }
    for event in waited {
        segment.stream.enqueue(Command::Wait(event));
    }
}

/// Event at which a value is written. For another device's value that is not dispatched yet, returns a bridge event
/// that is signaled later.
fn written_event(value: &Arc<Value>) -> Event {
    if let Some(written) = value.written.get() {
        return written.event.clone();
    }
    let bridge = Timeline::new().event(1);
    let (reached, written) = (bridge.clone(), value.clone());
    value.dispatched.on_reached(Box::new(move || {
        let written = written.written.get().expect("a dispatched value has its completion point");
        written.event.on_reached(Box::new(move || reached.signal()));
    }));
    bridge
}

impl DeviceStream {
    /// Enqueues a command of a plan.
    fn enqueue(&self, command: Command) {
        // SAFETY: the planner derives extents, index maps and buffer sizes from the same shapes, and indices are
        // clamped or masked, so accesses are in bounds. A command reads buffers that earlier commands on this
        // stream write, or commands on other streams that this stream waits for. One segment writes each buffer,
        // before any reader learns of it. Expansions of a program emit commands of plans too, on buffers of their
        // own and on the program's inputs and outputs.
        unsafe { self.stream.enqueue(command) };
    }

    /// Enqueues a signal of the next timeline value.
    fn signal(&self) -> Event {
        let value = self.last_signal.load(Ordering::Relaxed) + 1;
        let event = self.timeline.event(value);
        self.enqueue(Command::Signal(event.clone()));
        self.last_signal.store(value, Ordering::Release);
        event
    }
}

impl CompletionPoint {
    fn on(stream: &DeviceStream, event: Event) -> CompletionPoint {
        let stream: Arc<dyn Stream> = stream.stream.clone();
        CompletionPoint { event, stream: Some(stream) }
    }
}

/// The message of a panic payload.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "a panic without a message".to_owned(),
    }
}
