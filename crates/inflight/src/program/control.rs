//! Loops and branches: decided on the stream, when it comes to them.

use super::device_loop::{LoopCommands, LoopPlan};
use super::sequence::{Buffers, RunContext, Sequence};
use crate::runtime::commands::CommandSink;
use crate::runtime::panic_message;
use inflight_backend::observe::{self, CommandKind};
use inflight_backend::{Buffer, Command, DeviceLoop, Expansion, Fault, FaultKind, Label};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// A loop. Its inputs are the carried values, then those that stay the same.
pub(super) struct While {
    /// Gives whether there is a first iteration.
    pub condition: Sequence,
    /// Gives the next carried values, and whether there is another iteration.
    pub iteration: Sequence,
    /// How many of the inputs are carried.
    pub carried: usize,
    /// How its turns come about, if the stream can run them itself.
    pub device_loop: Option<LoopPlan>,
    pub label: Label,
}

/// A branch. Its first input says which.
pub(super) struct Case {
    /// The last is also the one for numbers that are out of range.
    pub branches: Vec<Sequence>,
    pub label: Label,
}

/// A loop that runs.
struct RunningLoop {
    while_loop: Arc<While>,
    context: Arc<RunContext>,
    /// What the next iteration takes.
    inputs: Buffers,
    /// Where the last values go. Whoever wants them holds them.
    results: Arc<[Weak<Buffer>]>,
    iterations: u64,
    /// When the first iteration began, if somebody wants to know.
    began: Option<Instant>,
}

impl While {
    pub fn emit(
        self: &Arc<While>,
        context: &Arc<RunContext>,
        inputs: Buffers,
        results: &[Arc<Buffer>],
        sink: &mut dyn CommandSink,
    ) {
        let source = self.condition.emit(context, inputs.clone(), &[], false, sink);
        let running = RunningLoop {
            while_loop: self.clone(),
            context: context.clone(),
            inputs,
            results: results.iter().map(Arc::downgrade).collect(),
            iterations: 0,
            began: None,
        };
        sink.push_command(running.expand_on_condition(source[0].clone()));
    }
}

impl RunningLoop {
    /// The command that goes on once it is known whether there is another iteration.
    fn expand_on_condition(self, source: Arc<Buffer>) -> Command {
        let callback = Box::new(move |bytes: Result<&[u8], Fault>, expansion: &mut Expansion| {
            let (results, while_loop) = (self.results.clone(), self.while_loop.clone());
            let results = results.iter().filter_map(Weak::upgrade);
            guarded(results, &while_loop.label, || self.step(bytes, expansion));
        });
        Command::Expand { source, callback }
    }

    /// Emits another iteration, or ends the loop.
    fn step(
        mut self,
        continues: Result<&[u8], Fault>,
        expansion: &mut Expansion,
    ) -> Result<(), Fault> {
        let continues = continues.inspect_err(|_| self.report(expansion))?;
        if self.iterations == 0 && observe::is_listening() {
            self.began = Some(Instant::now());
        }
        let is_wanted = self.while_loop.iteration.has_effects
            || self.results.iter().any(|result| result.strong_count() > 0);
        if continues.first().is_none_or(|&flag| flag == 0) || !is_wanted {
            for (result, value) in self.results.iter().zip(&self.inputs) {
                if let Some(result) = result.upgrade() {
                    result.adopt(value);
                }
            }
            self.report(expansion);
            return Ok(());
        }
        let while_loop = self.while_loop.clone();
        let carried = while_loop.carried;
        // A value that failed fails only what depends on it, which a iteration decides command by command.
        let inputs_are_valid = self.inputs.iter().all(|input| input.fault().is_none());
        if let Some(loop_plan) = while_loop.device_loop.as_ref().filter(|_| inputs_are_valid) {
            self.run_on_stream(loop_plan, &mut expansion.commands);
            return Ok(());
        }
        // What this iteration takes and the next does not is held by its commands alone.
        let invariant: Buffers = self.inputs[carried..].iter().cloned().collect();
        let inputs = std::mem::take(&mut self.inputs);
        let mut next =
            while_loop.iteration.emit(&self.context, inputs, &[], false, &mut expansion.commands);
        let source = next.pop().expect("a iteration ends with its condition");
        next.extend(invariant);
        self.inputs = next;
        self.iterations += 1;
        expansion.commands.push(self.expand_on_condition(source));
        Ok(())
    }

    /// Leaves all turns to the stream.
    fn run_on_stream(mut self, loop_plan: &LoopPlan, commands: &mut Vec<Command>) {
        let (while_loop, results) = (self.while_loop.clone(), self.results.clone());
        let inputs = std::mem::take(&mut self.inputs);
        let LoopCommands { initial_copies, bodies, values, counters } =
            loop_plan.commands(&while_loop.iteration, &inputs, while_loop.carried);
        commands.extend(initial_copies);
        let condition =
            |values: &Buffers| values.last().expect("a iteration has a condition").clone();
        let continue_flags = [condition(&values[0]), condition(&values[1])];
        let is_wanted = {
            let results = results.clone();
            Box::new(move || results.iter().any(|result| result.strong_count() > 0))
        };
        let callback =
            Box::new(move |iterations: Result<u64, Fault>, expansion: &mut Expansion| {
                let live_results = results.iter().filter_map(Weak::upgrade);
                guarded(live_results, &while_loop.label, || {
                    self.iterations = *iterations.as_ref().unwrap_or(&0);
                    self.report(expansion);
                    let iterations = iterations?;
                    self.context.counters.add_times(&counters, iterations);
                    let last = &values[((iterations + 1) % 2) as usize];
                    for (result, value) in self.results.iter().zip(last) {
                        if let Some(result) = result.upgrade() {
                            result.adopt(value);
                        }
                    }
                    Ok(())
                });
            });
        commands.push(Command::Loop(Box::new(DeviceLoop {
            bodies,
            continue_flags,
            iterations: 0,
            is_wanted,
            callback,
        })));
    }

    /// Reports the loop to those who listen.
    fn report(&self, expansion: &Expansion) {
        if let Some(began) = self.began {
            let kind = CommandKind::Loop {
                label: self.while_loop.label.clone(),
                iterations: self.iterations,
            };
            observe::report(expansion.stream, expansion.device, &kind, began);
        }
    }
}

impl Case {
    pub fn emit(
        self: &Arc<Case>,
        context: &Arc<RunContext>,
        mut inputs: Buffers,
        results: &[Arc<Buffer>],
        sink: &mut dyn CommandSink,
    ) {
        let source = inputs.remove(0);
        let (case, context) = (self.clone(), context.clone());
        let results: Buffers = results.iter().cloned().collect();
        let callback = Box::new(move |bytes: Result<&[u8], Fault>, expansion: &mut Expansion| {
            guarded(results.iter().cloned(), &case.label, || {
                let index = bytes?.first_chunk().map_or(-1, |bytes| i32::from_le_bytes(*bytes));
                let last = case.branches.len() - 1;
                let index = usize::try_from(index).map_or(last, |index| index.min(last));
                let commands = &mut expansion.commands;
                case.branches[index].emit(&context, inputs, &results, false, commands);
                Ok(())
            });
        });
        sink.push_command(Command::Expand { source, callback });
    }
}

/// Runs a decision. If it fails, or panics, the step's results have the fault.
fn guarded(
    results: impl Iterator<Item = Arc<Buffer>>,
    label: &Label,
    decide: impl FnOnce() -> Result<(), Fault>,
) {
    let outcome = catch_unwind(AssertUnwindSafe(decide)).unwrap_or_else(|panic| {
        Err(Fault { kind: FaultKind::Panicked(panic_message(&*panic)), label: Some(label.clone()) })
    });
    if let Err(fault) = outcome {
        results.for_each(|result| result.fail(fault.clone()));
    }
}
