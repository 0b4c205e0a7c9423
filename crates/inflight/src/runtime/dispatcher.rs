//! The dispatcher: takes submitted segments in order, plans them, and puts their commands on streams.
//!
//! A thread does this, so that whoever records pays for recording only. A caller that is about to wait
//! does it itself, if the thread is not at it: that saves the way there and back.

use super::cache::{Cache, ReadyPlan};
use super::device::DeviceStream;
use super::stats::Counters;
use super::trace::{self, Span};
use super::value::{Value, Written};
use inflight_backend::{
    Backend, Buffer, Command, Compiled, Contract, ContractOperand, Epilogue, Event, Fault,
    FaultKind, Label, LabelOp, Launch, RoutineCall, Stream, Timeline, WorkQueue,
};
use inflight_ir::graph::{Graph, NodeId};
use inflight_ir::plan::{BufferId, LaunchStep, MatrixOperand, ScalarSource, Step, Work};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once, OnceLock};

/// A part of the recorded graph on its way to a device.
pub(crate) struct Segment {
    /// What is computed. Its outputs are `outputs`, its inputs are `inputs`.
    pub graph: Graph,
    pub inputs: Vec<Arc<Value>>,
    pub outputs: Vec<Arc<Value>>,
    /// The op and the caller's line of each node.
    pub labels: Arc<[LabelOp]>,
    pub stream: Arc<DeviceStream>,
    pub submission: Arc<Submission>,
}

/// One segment's progress.
pub(crate) struct Submission {
    /// Reached iff the segment's commands are on their stream.
    pub dispatched: Event,
    /// Reached iff all of them are done. Set before `dispatched` is reached.
    pub finished: OnceLock<Written>,
}

impl Submission {
    pub fn is_finished(&self) -> bool {
        self.finished.get().is_some_and(|finished| finished.event.is_reached())
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
        self.shared.queue.help(|segment| self.shared.dispatch(segment));
    }

    /// Reached iff everything submitted so far is on its streams.
    pub fn last(&self) -> Event {
        self.shared.timeline.event(self.shared.queue.pushed())
    }

    fn start(&self) {
        self.shared.thread.call_once(|| {
            let shared = self.shared.clone();
            std::thread::Builder::new()
                .name("inflight-dispatcher".to_owned())
                .spawn(move || shared.queue.serve(|segment| shared.dispatch(segment)))
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
    /// events, and a failure is the fault of all of them.
    fn dispatch(&self, mut segment: Segment) {
        let _span = trace::begin(|| Span::Dispatch { ops: segment.labels.len() });
        let stream = segment.stream.clone();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let ready = self.cache.plan(&mut segment.graph, &*self.backend, &self.counters);
            let _span = trace::begin(|| Span::Enqueue);
            self.enqueue(&segment, &ready);
        }));
        if let Err(panic) = outcome {
            let kind = FaultKind::Panicked(panic_message(&*panic));
            let nodes = (0..segment.labels.len() as NodeId).collect();
            let work = Arc::new(Work { nodes, ..Work::default() });
            let label = Some(Label { segment: segment.labels.clone(), work });
            for value in &segment.outputs {
                if value.written.get().is_none() {
                    value.buffer.fail(Fault { kind: kind.clone(), label: label.clone() });
                }
            }
        }
        let last = stream.signal();
        for value in &segment.outputs {
            let _ = value.written.set(Written::on(&stream, last.clone()));
        }
        let _ = segment.submission.finished.set(Written::on(&stream, last));
        stream.stream.flush();
        // Whoever learns that the segment is dispatched may count on it holding no values any more.
        let dispatched = segment.submission.dispatched.clone();
        drop(segment);
        dispatched.signal();
    }

    fn enqueue(&self, segment: &Segment, ready: &ReadyPlan) {
        let stream = &segment.stream;
        wait_for_inputs(segment);
        let plan = &ready.plan;
        // The value that each buffer of the plan is, or new memory for what only the plan needs.
        let mut buffers: Vec<Option<Arc<Buffer>>> = plan
            .buffers
            .iter()
            .map(|buffer| buffer.input.map(|input| segment.inputs[input].buffer.clone()))
            .collect();
        let mut output_of: Vec<Option<usize>> = vec![None; plan.buffers.len()];
        for (output, &buffer) in plan.outputs.iter().enumerate() {
            buffers[buffer as usize] = Some(segment.outputs[output].buffer.clone());
            output_of[buffer as usize] = Some(output);
        }
        let mut uses_left = vec![0; plan.buffers.len()];
        for id in plan.steps.iter().flat_map(Step::operands) {
            uses_left[id as usize] += 1;
        }
        for (position, step) in plan.steps.iter().enumerate() {
            let mut bind = |id: BufferId| {
                let index = id as usize;
                let described = plan.buffers[index];
                let bytes = described.elements * described.dtype.size();
                let buffer = buffers[index].get_or_insert_with(|| Buffer::declare(bytes)).clone();
                // Nothing but the commands that use it should keep a temporary alive.
                uses_left[index] -= 1;
                if uses_left[index] == 0 {
                    buffers[index] = None;
                }
                buffer
            };
            let label =
                Label { segment: segment.labels.clone(), work: ready.work[position].clone() };
            Counters::add(&self.counters.launches, 1);
            Counters::add(&self.counters.bytes_read, label.work.bytes_read);
            Counters::add(&self.counters.bytes_written, label.work.bytes_written);
            let launch = step.launch().map(|step| {
                let buffers = step.buffers.iter().map(|&id| bind(id)).collect();
                let kernel = ready.kernels[position].clone().expect("a launch has a kernel");
                launch(segment, step, kernel, buffers, label.clone())
            });
            match (step, launch.transpose()) {
                // Its results have the fault: the step is not enqueued.
                (_, Err(Unlaunched)) => {}
                (Step::Launch(_), Ok(launch)) => {
                    let launch = launch.expect("a launch step has a launch");
                    stream.enqueue(Command::Launch(launch));
                }
                (Step::Contract(step), Ok(launch)) => {
                    let product = step.epilogue.as_ref().map(|epilogue| epilogue.product);
                    let epilogue = launch.zip(product);
                    stream.enqueue(Command::Contract(Contract {
                        dtype: step.dtype,
                        batch: step.batch.clone(),
                        m: step.m,
                        n: step.n,
                        k: step.k,
                        a: operand(&step.a, &mut bind),
                        b: operand(&step.b, &mut bind),
                        c: operand(&step.c, &mut bind),
                        epilogue: epilogue
                            .map(|(launch, product)| Box::new(Epilogue { launch, product })),
                        label,
                    }));
                }
                (Step::Routine(step), Ok(_)) => {
                    stream.enqueue(Command::Routine(RoutineCall {
                        routine: step.routine.clone(),
                        operands: step.operands.iter().map(|&id| bind(id)).collect(),
                        result: bind(step.result),
                        label,
                    }));
                }
            }
            let mut finished = step.results();
            // A value that is done is announced at once: its reader need not wait for the rest.
            let rewritten = |id: &BufferId| {
                plan.steps[position + 1..].iter().any(|step| step.results().contains(id))
            };
            finished.retain(|id| output_of[*id as usize].is_some() && !rewritten(id));
            if !finished.is_empty() && position + 1 < plan.steps.len() {
                let event = stream.signal();
                for id in finished {
                    let output = output_of[id as usize].expect("only outputs are left");
                    let written = Written::on(stream, event.clone());
                    let _ = segment.outputs[output].written.set(written);
                }
            }
        }
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

fn operand(
    operand: &MatrixOperand,
    bind: &mut impl FnMut(BufferId) -> Arc<Buffer>,
) -> ContractOperand {
    ContractOperand {
        buffer: bind(operand.buffer),
        offset: operand.offset,
        batch_strides: operand.batch_strides.clone(),
        row_stride: operand.row_stride,
        column_stride: operand.column_stride,
    }
}

/// A launch that has no kernel. Its results carry the fault.
struct Unlaunched;

fn launch(
    segment: &Segment,
    step: &LaunchStep,
    kernel: Result<Compiled, Fault>,
    buffers: SmallVec<[Arc<Buffer>; 6]>,
    label: Label,
) -> Result<Launch, Unlaunched> {
    let compiled = kernel.map_err(|fault| {
        let fault = Fault { label: Some(label.clone()), ..fault };
        let results = step.kernel.params.iter().zip(&buffers).filter(|(param, _)| param.writes);
        results.for_each(|(_, buffer)| buffer.fail(fault.clone()));
        Unlaunched
    })?;
    let scalars = step.scalars.iter().map(|source| match source {
        ScalarSource::Graph(position) => segment.graph.scalars[*position],
        ScalarSource::Fixed(value) => *value,
    });
    Ok(Launch {
        compiled,
        kernel: step.kernel.clone(),
        shape: step.shape.clone(),
        scalars: scalars.collect(),
        buffers,
        label,
    })
}

impl DeviceStream {
    /// Puts a command of a plan on the stream.
    fn enqueue(&self, command: Command) {
        // SAFETY: the planner derives extents, maps and the sizes of buffers from the same shapes, and has
        // indices clamped or masked. What a command reads is written by commands before it on this stream,
        // or by other streams whose events it was made to wait for; a buffer is written by one segment, before
        // any reader learns of it.
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
