//! The dispatcher: takes submitted segments in order, plans them, and puts their commands on streams.
//!
//! A thread does this, so that whoever records pays for recording only. A caller that is about to wait
//! does it itself, if the thread is not at it: that saves the way there and back.

use super::cache::{Cache, Kept, ReadyPlan};
use super::commands::{Bound, Emit};
use super::device::DeviceStream;
use super::stats::Counters;
use super::trace::{self, Span};
use super::value::{Value, Written};
#[cfg(feature = "hlo")]
use crate::program::Run;
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

/// So long the thread of a device that is not the host looks for a segment before it sleeps.
const PATIENCE: Duration = Duration::from_micros(50);

/// A part of the recorded graph, or an execution of a program, on its way to a device.
pub(crate) struct Segment {
    /// What is computed. Its outputs are `outputs`, its inputs are `inputs`.
    pub content: Content,
    pub inputs: Vec<Arc<Value>>,
    /// The inputs that are given up.
    pub donated: Vec<Donated>,
    pub outputs: Vec<Arc<Value>>,
    /// The op and the caller's line of each node.
    pub labels: Arc<[LabelOp]>,
    pub stream: Arc<DeviceStream>,
    pub submission: Arc<Submission>,
}

/// What a segment computes.
pub(crate) enum Content {
    /// A part of the recorded graph.
    Recorded(Graph),
    /// A program.
    #[cfg(feature = "hlo")]
    Program(Run),
}

/// An input that its tensor gives up, and that nobody else can ask for.
pub(crate) struct Donated {
    /// Its position.
    pub input: usize,
    /// What whoever asks for it all the same gets.
    pub fault: Fault,
}

/// One segment's progress.
pub(crate) struct Submission {
    /// Reached iff the segment's commands are on their stream.
    pub dispatched: Event,
    /// Reached iff all of them are done. Set before `dispatched` is reached.
    pub finished: OnceLock<Written>,
    /// What it weighs among all that is in flight.
    pub weight: usize,
}

impl Submission {
    /// What most segments weigh.
    pub const WEIGHT: usize = 16;

    /// What those weigh that a device is done with in a moment, and that keep hardly any memory.
    pub const LIGHT: usize = 1;

    /// A segment that is about to be queued.
    pub fn new(dispatched: Event, weight: usize) -> Arc<Submission> {
        Arc::new(Submission { dispatched, finished: OnceLock::new(), weight })
    }

    pub fn is_finished(&self) -> bool {
        self.finished.get().is_some_and(|finished| finished.event.is_reached())
    }
}

/// A stream that has commands which nobody was told of. When this is dropped, they are.
#[must_use]
pub(crate) struct Held {
    pub stream: Arc<DeviceStream>,
}

impl Drop for Held {
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
    /// Starts the thread when it is first needed.
    thread: Once,
    /// Reaches a segment's number when the segment is on its stream.
    timeline: Arc<Timeline>,
    backend: Arc<dyn Backend>,
    cache: Arc<Cache>,
    counters: Arc<Counters>,
    /// The stream whose last commands may still have to be flushed, because more of them are about to come.
    unflushed: Mutex<Option<Arc<DeviceStream>>>,
}

impl Dispatcher {
    pub fn new(
        backend: Arc<dyn Backend>,
        cache: Arc<Cache>,
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

    /// Queues a segment. `prepare` makes it, given the event of its dispatch, while the queue's order is
    /// held still.
    ///
    /// With `assisted`, the caller goes on to [`assist`](Dispatcher::assist), so the thread is not woken.
    pub fn submit(&self, assisted: bool, prepare: impl FnOnce(Event) -> Segment) {
        let timeline = &self.shared.timeline;
        self.shared.queue.push(|number| prepare(timeline.event(number)));
        Counters::add(&self.shared.counters.segments, 1);
        if !assisted {
            self.start();
            self.shared.queue.notify();
        }
    }

    /// Dispatches what is queued on this thread, unless another one is at it.
    pub fn assist(&self) {
        self.shared.queue.help(|segment| self.shared.dispatch(segment, None));
    }

    /// The same, for a caller that goes on to run this stream itself: nobody else is woken for it until what is
    /// returned is dropped.
    pub fn assist_holding(&self, stream: &Arc<DeviceStream>) -> Held {
        let held = Held { stream: stream.clone() };
        self.shared.queue.help(|segment| self.shared.dispatch(segment, Some(stream)));
        held
    }

    /// The plan of a graph with its kernels compiled, all of it on this thread.
    pub fn prepare(&self, graph: &Graph) -> Arc<ReadyPlan> {
        self.shared.cache.plan(&mut graph.clone(), &*self.shared.backend, &self.shared.counters)
    }

    /// Makes compiled kernels known that somebody has kept.
    pub fn bring(&self, kernels: impl Iterator<Item = Kept>) {
        self.shared.cache.bring(kernels);
    }

    /// The kernels of a plan as they are kept.
    pub fn kept(&self, ready: &ReadyPlan) -> Vec<Kept> {
        self.shared.cache.kept(ready, &*self.shared.backend)
    }

    /// The device's counters.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.shared.counters
    }

    /// Reached iff everything submitted so far is on its streams.
    pub fn last(&self) -> Event {
        self.shared.timeline.event(self.shared.queue.pushed())
    }

    fn start(&self) {
        self.shared.thread.call_once(|| {
            let shared = self.shared.clone();
            // Where the device is the host, it may need the processor.
            let is_host = shared.backend.capabilities().host_visible;
            let patience = if is_host { Duration::ZERO } else { PATIENCE };
            let dispatch = move || {
                let queue = &shared.queue;
                queue.serve_spinning(patience, |segment| shared.dispatch(segment, None));
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
        // The thread ends when it has dispatched what is queued. Nobody waits for it. What is queued
        // without a thread was pushed by a caller who helps, and has.
        self.shared.queue.close();
    }
}

impl Shared {
    /// One segment, from its graph to commands on its stream. Whatever happens, its values get their
    /// events, and a failure is the fault of all of them. The caller sees to the stream that it has `held`.
    fn dispatch(&self, mut segment: Segment, held: Option<&Arc<DeviceStream>>) {
        let _span = trace::begin(|| Span::Dispatch { ops: segment.labels.len() });
        let stream = segment.stream.clone();
        // To plan what others record may take long, and the caller's own waits for that no longer.
        if let Some(held) = held.filter(|held| !Arc::ptr_eq(held, &stream)) {
            held.stream.flush();
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
            let _ = value.written.set(Written::on(&stream, last.clone()));
        }
        let _ = segment.submission.finished.set(Written::on(&stream, last));
        // Whoever holds its stream back runs it next, unless there is more to dispatch before.
        let is_held = held.is_some_and(|held| Arc::ptr_eq(held, &stream)) && self.queue.is_empty();
        // On a device that takes commands from the host, each flush costs; on one that is the host, each delay
        // does.
        let has_own_memory = !self.backend.capabilities().host_visible;
        let more_follows = has_own_memory && !self.queue.is_empty();
        if !is_held && !more_follows {
            stream.stream.flush();
        }
        *self.unflushed.lock() = (!is_held && more_follows).then_some(stream);
        // Whoever learns that the segment is dispatched may count on it holding no values any more.
        let dispatched = segment.submission.dispatched.clone();
        drop(segment);
        dispatched.signal();
    }

    /// Flushes the stream that is not yet, unless it is this one.
    fn flush_unless(&self, stream: Option<&Arc<DeviceStream>>) {
        let mut unflushed = self.unflushed.lock();
        let is_same = |other: &Arc<DeviceStream>| stream.is_some_and(|s| Arc::ptr_eq(s, other));
        if let Some(other) = unflushed.take_if(|other| !is_same(other)) {
            other.stream.flush();
        }
    }

    fn enqueue(&self, segment: &mut Segment) {
        wait_for_inputs(segment);
        let stream = segment.stream.clone();
        let inputs = segment.take_inputs();
        let outputs: Vec<Arc<Buffer>> =
            segment.outputs.iter().map(|value| value.buffer()).collect();
        let mut emit = Enqueued { stream: &stream, outputs: &segment.outputs };
        match &mut segment.content {
            Content::Recorded(graph) => {
                // Planning and compiling take a while, and the device should have something to do meanwhile.
                let about_to_plan = || self.flush_unless(None);
                let ready =
                    self.cache.plan_after(graph, &*self.backend, &self.counters, about_to_plan);
                let _span = trace::begin(|| Span::Enqueue);
                let bound =
                    Bound { ready: &ready, scalars: &graph.scalars, labels: &segment.labels };
                bound.emit(&inputs, &outputs, &self.counters, &mut emit);
            }
            #[cfg(feature = "hlo")]
            Content::Program(run) => {
                let _span = trace::begin(|| Span::Enqueue);
                run.emit(&inputs, &outputs, &mut emit);
            }
        }
    }
}

/// Puts what a segment asks for on its stream.
struct Enqueued<'a> {
    stream: &'a DeviceStream,
    outputs: &'a [Arc<Value>],
}

impl Emit for Enqueued<'_> {
    fn command(&mut self, command: Command) {
        self.stream.enqueue(command);
    }

    fn written(&mut self, outputs: &[usize]) {
        let event = self.stream.signal();
        for &output in outputs {
            let written = Written::on(self.stream, event.clone());
            let _ = self.outputs[output].written.set(written);
        }
    }
}

impl Segment {
    /// The buffers of the inputs. Those that are given up are taken from their values, if nobody else has
    /// them: then their memory is free as soon as the last command that reads them has run.
    fn take_inputs(&mut self) -> Vec<Arc<Buffer>> {
        let mut buffers: Vec<Arc<Buffer>> =
            self.inputs.iter().map(|value| value.buffer()).collect();
        for donated in std::mem::take(&mut self.donated) {
            let value = &self.inputs[donated.input];
            // The tensor's node, and this segment.
            if Arc::strong_count(value) == 2 {
                buffers[donated.input] = value.give_up(donated.fault);
            }
        }
        self.inputs.clear();
        buffers
    }
}

/// Makes the stream wait for inputs that other streams write.
fn wait_for_inputs(segment: &Segment) {
    let own = segment.stream.timeline.event(0);
    let mut waited: Vec<Event> = Vec::new();
    for input in &segment.inputs {
        let event = &written_or_bridge(input);
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

/// The point at which a value is in memory. If it is another device's, and the dispatcher there has not come
/// to it yet, a point that is reached then.
fn written_or_bridge(value: &Arc<Value>) -> Event {
    if let Some(written) = value.written.get() {
        return written.event.clone();
    }
    let bridge = Timeline::new().event(1);
    let (reached, written) = (bridge.clone(), value.clone());
    value.dispatched.on_reached(Box::new(move || {
        let written = written.written.get().expect("a dispatched value has its event");
        written.event.on_reached(Box::new(move || reached.signal()));
    }));
    bridge
}

impl DeviceStream {
    /// Puts a command of a plan on the stream.
    fn enqueue(&self, command: Command) {
        // SAFETY: the planner derives extents, maps and the sizes of buffers from the same shapes, and has
        // indices clamped or masked. What a command reads is written by commands before it on this stream,
        // or by other streams whose events it was made to wait for; a buffer is written by one segment, before
        // any reader learns of it. The expansions of a program give commands of plans as well, on buffers of
        // their own and on those that the program was given or is to write.
        unsafe { self.stream.enqueue(command) };
    }

    /// Puts the next point of the timeline on the stream.
    fn signal(&self) -> Event {
        let value = self.last.load(Ordering::Relaxed) + 1;
        let event = self.timeline.event(value);
        self.enqueue(Command::Signal(event.clone()));
        self.last.store(value, Ordering::Release);
        event
    }
}

impl Written {
    fn on(stream: &DeviceStream, event: Event) -> Written {
        let stream: Arc<dyn Stream> = stream.stream.clone();
        Written { event, stream: Some(stream) }
    }
}

/// What a panic said.
pub(crate) fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(message), _) => (*message).to_owned(),
        (_, Some(message)) => message.clone(),
        _ => "a panic without a message".to_owned(),
    }
}
