//! Command emission for a program execution: from a compiled program and its buffers to stream commands.

use super::compile::CompiledProgram;
use super::control::{Case, While};
use crate::runtime::Promise;
use crate::runtime::commands::{BoundPlan, CommandSink};
use crate::runtime::compilation_cache::CompiledPlan;
use crate::runtime::stats::Counters;
use inflight_backend::{Buffer, Command, HostCall, HostFunction, Label, LabelOp};
use inflight_hlo::program::Slot;
use inflight_ir::Scalar;
use smallvec::SmallVec;
use std::sync::Arc;

/// Buffers of a step or a sequence.
pub(super) type Buffers = SmallVec<[Arc<Buffer>; 8]>;

/// Steps in order, compiled. Values are numbered slots; inputs come first.
pub(super) struct Sequence {
    /// Size of every value in bytes.
    pub bytes: Vec<usize>,
    pub steps: Vec<Step>,
    /// Slots of the results.
    pub outputs: Vec<Slot>,
    /// True iff a step, or one nested in it, is a call with side effects.
    pub has_effects: bool,
}

/// One step of a sequence.
pub(super) struct Step {
    pub action: Action,
    pub inputs: SmallVec<[Slot; 8]>,
    pub results: SmallVec<[Slot; 8]>,
}

/// Operation of a step.
pub(super) enum Action {
    Compute(Box<Compute>),
    While(Arc<While>),
    Case(Arc<Case>),
    Call(Call),
}

/// A graph with its compiled plan.
pub(super) struct Compute {
    pub ready: Arc<CompiledPlan>,
    pub scalars: Vec<Scalar>,
    pub labels: Arc<[LabelOp]>,
    /// Source of each of the step's results.
    pub results: SmallVec<[StepResult; 8]>,
    /// For each output of the plan, the position among the step's results.
    pub outputs: SmallVec<[usize; 8]>,
}

/// Source of a graph step's result.
#[derive(Clone, Copy)]
pub(super) enum StepResult {
    /// The plan's next output.
    PlanOutput,
    /// An input of the step, passed through.
    Input(usize),
    /// A duplicate of an earlier result.
    Duplicate(usize),
}

/// A host function call (custom call).
pub(super) struct Call {
    pub function: HostFunction,
    pub label: Label,
    /// True iff it has side effects, so it must run even if its results are unused.
    pub has_effects: bool,
}

/// State shared by all parts of one execution.
pub(super) struct RunContext {
    pub counters: Arc<Counters>,
    /// Zero-sized buffer that takes the fault of the first failed call with side effects.
    pub witness: Option<Arc<Buffer>>,
}

/// One execution of a program, to be enqueued on a stream.
pub(crate) struct ProgramRun {
    pub(super) program: Arc<CompiledProgram>,
    pub(super) counters: Arc<Counters>,
    /// Completed when the execution is done, with the first failed call with side effects.
    pub(super) done: Option<Promise<()>>,
}

impl ProgramRun {
    /// Emits all commands. `inputs` are the arguments, then the constants.
    pub fn emit(
        &mut self,
        inputs: &[Arc<Buffer>],
        outputs: &[Arc<Buffer>],
        sink: &mut dyn CommandSink,
    ) {
        let body = &self.program.body;
        let witness = body.has_effects.then(|| Buffer::declare(0));
        let context =
            Arc::new(RunContext { counters: self.counters.clone(), witness: witness.clone() });
        let values: Buffers = inputs.iter().cloned().collect();
        // A side effect may fail all results, so signal them only at the end.
        let announce = !body.has_effects;
        body.emit(&context, values, outputs, announce, sink);
        if witness.is_some() || self.done.is_some() {
            let outputs: Vec<Arc<Buffer>> = outputs.to_vec();
            let done = self.done.take();
            let callback = Box::new(move |bytes: Result<&[u8], _>, _: &mut _| {
                let failed = bytes.err();
                if let Some(fault) = &failed {
                    outputs.iter().for_each(|output| output.fail(Clone::clone(fault)));
                }
                drop(outputs);
                if let Some(done) = done {
                    done.complete(failed.map_or(Ok(()), |fault| Err(fault.into())));
                }
            });
            let source = witness.unwrap_or_else(|| Buffer::declare(0));
            sink.push_command(Command::Expand { source, callback });
        }
    }
}

impl Sequence {
    /// Emits all steps and returns the outputs. The first outputs go to `result_buffers`, the others to new buffers
    /// or pass inputs through. With `announce`, reports outputs as soon as they are written.
    pub fn emit(
        &self,
        context: &Arc<RunContext>,
        inputs: Buffers,
        result_buffers: &[Arc<Buffer>],
        announce: bool,
        sink: &mut dyn CommandSink,
    ) -> Buffers {
        let mut values: SmallVec<[Option<Arc<Buffer>>; 16]> =
            inputs.into_iter().map(Some).collect();
        values.resize(self.bytes.len(), None);
        // A step writes an output directly to its result buffer. Duplicate outputs alias it, before anything runs.
        for (&slot, buffer) in self.outputs.iter().zip(result_buffers) {
            match &values[slot] {
                Some(value) => buffer.adopt(value),
                None => values[slot] = Some(buffer.clone()),
            }
        }
        for (position, step) in self.steps.iter().enumerate() {
            self.emit_step(step, context, &mut values, announce, sink);
            if announce && position + 1 < self.steps.len() {
                self.announce(step.results.iter().copied(), sink);
            }
        }
        let value = |slot: Slot| values[slot].clone().expect("a step before has defined it");
        self.outputs.iter().map(|&slot| value(slot)).collect()
    }

    /// Reports those of the slots that are outputs.
    fn announce(&self, slots: impl Iterator<Item = Slot>, sink: &mut dyn CommandSink) {
        let mut written = SmallVec::<[usize; 8]>::new();
        for slot in slots {
            let outputs = self.outputs.iter().enumerate();
            written.extend(outputs.filter(|&(_, &output)| output == slot).map(|(at, _)| at));
        }
        if !written.is_empty() {
            sink.outputs_written(&written);
        }
    }

    fn emit_step(
        &self,
        step: &Step,
        context: &Arc<RunContext>,
        values: &mut [Option<Arc<Buffer>>],
        announce: bool,
        sink: &mut dyn CommandSink,
    ) {
        let inputs: Buffers = step
            .inputs
            .iter()
            .map(|&slot| values[slot].clone().expect("a step before has defined it"))
            .collect();
        if let Action::Compute(compute) = &step.action {
            let results = compute.bind_results(self, step, &inputs, values);
            let bound = BoundPlan {
                ready: &compute.ready,
                scalars: &compute.scalars,
                labels: &compute.labels,
            };
            let mut announced = StepSink { sequence: self, step, compute, announce, sink };
            bound.emit(&inputs, &results, &context.counters, &mut announced);
            return;
        }
        let results: Buffers = step
            .results
            .iter()
            .map(|&slot| {
                values[slot].get_or_insert_with(|| Buffer::declare(self.bytes[slot])).clone()
            })
            .collect();
        match &step.action {
            Action::Compute(_) => unreachable!("handled above"),
            Action::While(while_loop) => while_loop.emit(context, inputs, &results, sink),
            Action::Case(case) => case.emit(context, inputs, &results, sink),
            Action::Call(call) => sink.push_command(Command::Host(HostCall {
                function: call.function.clone(),
                inputs: inputs.into_iter().collect(),
                outputs: results.into_iter().collect(),
                witnesses: context.witness.iter().filter(|_| call.has_effects).cloned().collect(),
                label: call.label.clone(),
            })),
        }
    }
}

/// Adapter that maps a step's plan outputs to the sequence's outputs.
struct StepSink<'a> {
    sequence: &'a Sequence,
    step: &'a Step,
    compute: &'a Compute,
    announce: bool,
    sink: &'a mut dyn CommandSink,
}

impl CommandSink for StepSink<'_> {
    fn push_command(&mut self, command: Command) {
        self.sink.push_command(command);
    }

    fn outputs_written(&mut self, outputs: &[usize]) {
        if self.announce {
            let slot = |&output: &usize| self.step.results[self.compute.outputs[output]];
            self.sequence.announce(outputs.iter().map(slot), self.sink);
        }
    }
}

impl Compute {
    /// Returns the buffers of the plan's outputs, and binds all of the step's result slots.
    fn bind_results(
        &self,
        sequence: &Sequence,
        step: &Step,
        inputs: &[Arc<Buffer>],
        values: &mut [Option<Arc<Buffer>>],
    ) -> Buffers {
        let mut outputs = Buffers::new();
        for (source, &slot) in self.results.iter().zip(&step.results) {
            let shared = match *source {
                StepResult::PlanOutput => {
                    let bytes = sequence.bytes[slot];
                    let buffer = values[slot].get_or_insert_with(|| Buffer::declare(bytes));
                    outputs.push(buffer.clone());
                    continue;
                }
                StepResult::Input(input) => inputs[input].clone(),
                StepResult::Duplicate(earlier) => values[step.results[earlier]]
                    .clone()
                    .expect("earlier results have their buffers"),
            };
            match &values[slot] {
                Some(buffer) => buffer.adopt(&shared),
                None => values[slot] = Some(shared),
            }
        }
        outputs
    }
}
