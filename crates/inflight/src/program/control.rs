//! Control flow: loops and branches, decided on the stream when it reaches them. The predicate never travels to the
//! caller or the dispatcher.

use super::device_loop::{LoopCommands, LoopPlan};
use super::sequence::{Buffers, RunContext, Sequence};
use crate::runtime::commands::CommandSink;
use crate::runtime::panic_message;
use inflight_backend::observe::{self, CommandKind};
use inflight_backend::{Buffer, Command, DeviceLoop, Expansion, Fault, FaultKind, Label};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// A `while` loop. Inputs: the carried values, then the loop-invariant values.
pub(super) struct While {
    /// Computes whether the first iteration runs.
    pub condition: Sequence,
    /// Computes the next carried values, and whether another iteration follows.
    pub iteration: Sequence,
    /// Number of carried values.
    pub carried: usize,
    /// Set if the stream can iterate the loop by itself.
    pub device_loop: Option<LoopPlan>,
    pub label: Label,
}

/// A `case` or `if`. The first input is the branch index.
pub(super) struct Case {
    /// The last branch is also used for out-of-range indices.
    pub branches: Vec<Sequence>,
    pub label: Label,
}

/// A loop that is running.
struct RunningLoop {
    while_loop: Arc<While>,
    context: Arc<RunContext>,
    /// Inputs of the next iteration.
    inputs: Buffers,
    /// Buffers for the final values. Weak: if no handle is left, the loop stops.
    results: Arc<[Weak<Buffer>]>,
    iterations: u64,
    /// Start of the first iteration, if there are observers.
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
    /// Command that reads the condition and then continues or ends the loop.
    fn expand_on_condition(self, source: Arc<Buffer>) -> Command {
        let callback = Box::new(move |bytes: Result<&[u8], Fault>, expansion: &mut Expansion| {
            let (results, while_loop) = (self.results.clone(), self.while_loop.clone());
            let results = results.iter().filter_map(Weak::upgrade);
            catch_fault(results, &while_loop.label, || self.step(bytes, expansion));
        });
        Command::Expand { source, callback }
    }

    /// Emits the next iteration, or ends the loop.
    fn step(
        mut self,
        continues: Result<&[u8], Fault>,
        expansion: &mut Expansion,
    ) -> Result<(), Fault> {
        let continues = continues.inspect_err(|_| self.report(expansion))?;
        if self.iterations == 0 && observe::is_listening() {
            self.began = Some(Instant::now());
        }
        let is_needed = self.while_loop.iteration.has_effects
            || self.results.iter().any(|result| result.strong_count() > 0);
        if continues.first().is_none_or(|&flag| flag == 0) || !is_needed {
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
        // Failed inputs go through the general path, where each command checks its own operands.
        let inputs_are_valid = self.inputs.iter().all(|input| input.fault().is_none());
        if let Some(loop_plan) = while_loop.device_loop.as_ref().filter(|_| inputs_are_valid) {
            self.run_on_stream(loop_plan, &mut expansion.commands);
            return Ok(());
        }
        // Only the commands keep this iteration's other inputs alive.
        let invariant: Buffers = self.inputs[carried..].iter().cloned().collect();
        let inputs = std::mem::take(&mut self.inputs);
        let mut next =
            while_loop.iteration.emit(&self.context, inputs, &[], false, &mut expansion.commands);
        let source = next.pop().expect("an iteration ends with its condition");
        next.extend(invariant);
        self.inputs = next;
        self.iterations += 1;
        expansion.commands.push(self.expand_on_condition(source));
        Ok(())
    }

    /// Hands the whole loop to the stream (device loop).
    fn run_on_stream(mut self, loop_plan: &LoopPlan, commands: &mut Vec<Command>) {
        let (while_loop, results) = (self.while_loop.clone(), self.results.clone());
        let inputs = std::mem::take(&mut self.inputs);
        let LoopCommands { initial_copies, bodies, values, counters } =
            loop_plan.commands(&while_loop.iteration, &inputs, while_loop.carried);
        commands.extend(initial_copies);
        let condition =
            |values: &Buffers| values.last().expect("an iteration has a condition").clone();
        let continue_flags = [condition(&values[0]), condition(&values[1])];
        let is_wanted = {
            let results = results.clone();
            Box::new(move || results.iter().any(|result| result.strong_count() > 0))
        };
        let callback =
            Box::new(move |iterations: Result<u64, Fault>, expansion: &mut Expansion| {
                let live_results = results.iter().filter_map(Weak::upgrade);
                catch_fault(live_results, &while_loop.label, || {
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

    /// Reports the loop to the observers.
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
            catch_fault(results.iter().cloned(), &case.label, || {
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

/// Runs a control-flow decision. On failure or panic, the step's results get the fault.
fn catch_fault(
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
