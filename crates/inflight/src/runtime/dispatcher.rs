//! The dispatcher: takes submitted segments in order, plans them, and puts their commands on streams.
//!
//! A thread does this, so that whoever records pays for recording only. A caller that is about to wait
//! does it itself, if the thread is not at it: that saves the way there and back.

use super::cache::{Cache, ReadyPlan};
use super::device::DeviceStream;
use super::stats::Counters;
use super::value::{Value, Written};
use inflight_backend::{
    Backend, Buffer, Command, Contract, ContractOperand, Event, Fault, FaultKind, Label, LabelOp,
    Launch, Stream, Timeline, WorkQueue,
};
use inflight_ir::graph::Graph;
use inflight_ir::plan::{BufferId, MatrixOperand, ScalarSource, Step};
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
        let stream = segment.stream.clone();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let ready = self.cache.plan(&mut segment.graph, &*self.backend, &self.counters);
            self.enqueue(&segment, &ready);
        }));
        if let Err(panic) = outcome {
            let kind = FaultKind::Panicked(panic_message(&*panic));
            for value in &segment.outputs {
                if value.written.get().is_none() {
                    value.buffer.fail(Fault { kind: kind.clone(), label: None });
                }
            }
        }
        let last = stream.signal();
        for value in &segment.outputs {
            let _ = value.written.set(Written::on(&stream, last.clone()));
        }
        let _ = segment.submission.finished.set(Written::on(&stream, last));
        stream.stream.flush();
        segment.submission.dispatched.signal();
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
        let mut uses_left = count_uses(&plan.steps, plan.buffers.len());
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
            let mut finished = Vec::new();
            match step {
                Step::Launch(step) => {
                    let targets = step.kernel.params.iter().zip(&step.buffers);
                    finished.extend(targets.filter(|(p, _)| p.writes).map(|(_, &b)| b));
                    let operands = step.buffers.iter().map(|&id| bind(id)).collect();
                    let compiled = match ready.kernels[position].clone() {
                        Some(Ok(compiled)) => compiled,
                        Some(Err(fault)) => {
                            fail_writes(step, &operands, &Fault { label: Some(label), ..fault });
                            continue;
                        }
                        None => unreachable!("a launch has a kernel"),
                    };
                    let scalars = step.scalars.iter().map(|source| match source {
                        ScalarSource::Graph(position) => segment.graph.scalars[*position],
                        ScalarSource::Fixed(value) => *value,
                    });
                    stream.stream.enqueue(Command::Launch(Launch {
                        compiled,
                        kernel: step.kernel.clone(),
                        shape: step.shape.clone(),
                        buffers: operands,
                        scalars: scalars.collect(),
                        label,
                    }));
                }
                Step::Contract(step) => {
                    finished.push(step.c.buffer);
                    stream.stream.enqueue(Command::Contract(Contract {
                        dtype: step.dtype,
                        batch: step.batch.clone(),
                        m: step.m,
                        n: step.n,
                        k: step.k,
                        a: operand(&step.a, &mut bind),
                        b: operand(&step.b, &mut bind),
                        c: operand(&step.c, &mut bind),
                        label,
                    }));
                }
            }
            // A value that is done is announced at once: its reader need not wait for the rest.
            let rewritten =
                |id: &BufferId| plan.steps[position + 1..].iter().any(|step| writes(step, *id));
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
        // On another device, its dispatcher may not have come to it yet.
        input.dispatched.wait();
        let written = input.written.get().expect("a dispatched value has its event");
        let event = &written.event;
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
        segment.stream.stream.enqueue(Command::Wait(event));
    }
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

fn fail_writes(
    step: &inflight_ir::plan::LaunchStep,
    operands: &smallvec::SmallVec<[Arc<Buffer>; 6]>,
    fault: &Fault,
) {
    for (param, buffer) in step.kernel.params.iter().zip(operands) {
        if param.writes {
            buffer.fail(fault.clone());
        }
    }
}

fn writes(step: &Step, buffer: BufferId) -> bool {
    match step {
        Step::Launch(step) => {
            step.kernel.params.iter().zip(&step.buffers).any(|(p, &b)| p.writes && b == buffer)
        }
        Step::Contract(step) => step.c.buffer == buffer,
    }
}

fn count_uses(steps: &[Step], buffers: usize) -> Vec<usize> {
    let mut uses = vec![0; buffers];
    for step in steps {
        match step {
            Step::Launch(step) => step.buffers.iter().for_each(|&id| uses[id as usize] += 1),
            Step::Contract(step) => {
                [step.a.buffer, step.b.buffer, step.c.buffer]
                    .iter()
                    .for_each(|&id| uses[id as usize] += 1);
            }
        }
    }
    uses
}

impl DeviceStream {
    /// Puts the next point of the timeline on the stream.
    fn signal(&self) -> Event {
        let value = self.last.load(Ordering::Relaxed) + 1;
        let event = self.timeline.event(value);
        self.stream.enqueue(Command::Signal(event.clone()));
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
