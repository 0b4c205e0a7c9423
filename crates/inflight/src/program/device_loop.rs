//! Loops of small turns, which a stream runs itself.

use super::sequence::{Action, Buffers, Compute, Sequence, StepResult};
use crate::runtime::commands::BoundPlan;
use crate::runtime::stats::Counters;
use inflight_backend::{Buffer, Command};
use std::sync::Arc;

/// The most bytes that a iteration writes, all of what it carries on and all it keeps in between. Beyond, what a iteration
/// costs apart from its kernels is little, and it pays that values take over the memory of those initial_copies.
const MAX_ITERATION_BYTES: usize = 64 << 10;

/// How a iteration's results come about, for each of the carried values and for the condition.
pub(super) struct LoopPlan {
    outputs: Vec<IterationResult>,
}

/// Where a result of a iteration comes from.
#[derive(Clone, Copy)]
enum IterationResult {
    /// The step writes it, as this output of its plan.
    PlanOutput(usize),
    /// It is an input of the iteration, as it is.
    Input(usize),
    /// It is the same as an earlier result of the iteration.
    Duplicate(usize),
}

/// The commands of a loop's two turns, and where they put things.
pub(super) struct LoopCommands {
    /// To be run initial_copies: the values that the loop begins with, copied to where the second iteration leaves its own.
    pub initial_copies: Vec<Command>,
    pub bodies: [Vec<Command>; 2],
    /// The carried values after each of the two, then the condition.
    pub values: [Buffers; 2],
    /// What one iteration launches, reads and writes.
    pub counters: Counters,
}

impl LoopPlan {
    /// Whether a loop's iteration is one small graph, and how its results come about.
    pub fn of(iteration: &Sequence, inputs: usize) -> Option<LoopPlan> {
        let [step] = &iteration.steps[..] else { return None };
        let Action::Compute(compute) = &step.action else { return None };
        let plan = &compute.ready.plan;
        let own = plan.buffers.iter().filter(|buffer| buffer.input.is_none());
        let temporary: usize = own.map(|buffer| buffer.elements * buffer.dtype.size()).sum();
        let carried: usize = iteration.outputs.iter().map(|&slot| iteration.bytes[slot]).sum();
        if carried + temporary > MAX_ITERATION_BYTES || compute.ready.fault().is_some() {
            return None;
        }
        let mut outputs: Vec<IterationResult> = Vec::with_capacity(iteration.outputs.len());
        for (position, &slot) in iteration.outputs.iter().enumerate() {
            let earlier = iteration.outputs[..position].iter().position(|&known| known == slot);
            outputs.push(match earlier {
                Some(earlier) => IterationResult::Duplicate(earlier),
                None if slot < inputs => IterationResult::Input(slot),
                None => {
                    let result = step.results.iter().position(|&result| result == slot)?;
                    let iteration_result = iteration_result(compute, result)?;
                    match iteration_result {
                        IterationResult::Input(input) => IterationResult::Input(step.inputs[input]),
                        // Results of a step that are one value are outputs of the iteration that are one.
                        IterationResult::PlanOutput(output) => {
                            let same = |known: &IterationResult| match known {
                                IterationResult::PlanOutput(known) => *known == output,
                                _ => false,
                            };
                            outputs
                                .iter()
                                .position(same)
                                .map_or(iteration_result, IterationResult::Duplicate)
                        }
                        IterationResult::Duplicate(_) => return None,
                    }
                }
            });
        }
        Some(LoopPlan { outputs })
    }

    /// The commands for a loop that begins with these values. `inputs` are the carried values, then those that
    /// stay the same.
    pub fn commands(
        &self,
        iteration: &Sequence,
        inputs: &[Arc<Buffer>],
        carried: usize,
    ) -> LoopCommands {
        let declare = || -> Buffers {
            iteration.outputs.iter().map(|&slot| Buffer::declare(iteration.bytes[slot])).collect()
        };
        let values = [declare(), declare()];
        let copies = inputs[..carried].iter().zip(&values[1]);
        let initial_copies = copies.map(|(source, target)| Command::Upload {
            source: source.clone(),
            target: target.clone(),
        });
        let initial_copies = initial_copies.collect();
        let counters = Counters::default();
        let invariant = &inputs[carried..];
        let bodies = [
            self.iteration_commands(
                iteration,
                &values[1][..carried],
                invariant,
                &values[0],
                &counters,
            ),
            self.iteration_commands(
                iteration,
                &values[0][..carried],
                invariant,
                &values[1],
                &Counters::default(),
            ),
        ];
        LoopCommands { initial_copies, bodies, values, counters }
    }

    /// The commands of a iteration.
    fn iteration_commands(
        &self,
        iteration: &Sequence,
        carried: &[Arc<Buffer>],
        invariant: &[Arc<Buffer>],
        results: &[Arc<Buffer>],
        counters: &Counters,
    ) -> Vec<Command> {
        let inputs: Buffers = carried.iter().chain(invariant).cloned().collect();
        let mut commands = Vec::new();
        let step = &iteration.steps[0];
        let Action::Compute(compute) = &step.action else {
            unreachable!("a small iteration computes")
        };
        let step_inputs: Buffers = step.inputs.iter().map(|&slot| inputs[slot].clone()).collect();
        let plan = &compute.ready.plan;
        let mut outputs: Buffers = plan
            .outputs
            .iter()
            .map(|&buffer| {
                let described = plan.buffers[buffer as usize];
                Buffer::declare(described.elements * described.dtype.size())
            })
            .collect();
        for (iteration_result, result) in self.outputs.iter().zip(results) {
            if let IterationResult::PlanOutput(output) = *iteration_result {
                outputs[output] = result.clone();
            }
        }
        let bound =
            BoundPlan { ready: &compute.ready, scalars: &compute.scalars, labels: &compute.labels };
        bound.emit(&step_inputs, &outputs, counters, &mut commands);
        for (iteration_result, result) in self.outputs.iter().zip(results) {
            let source = match *iteration_result {
                IterationResult::PlanOutput(_) => continue,
                IterationResult::Input(slot) => &inputs[slot],
                IterationResult::Duplicate(earlier) => &results[earlier],
            };
            commands.push(Command::Upload { source: source.clone(), target: result.clone() });
        }
        commands
    }
}

/// Where a result of a step comes from, by the step's inputs.
fn iteration_result(compute: &Compute, result: usize) -> Option<IterationResult> {
    match compute.results[result] {
        StepResult::Input(input) => Some(IterationResult::Input(input)),
        StepResult::Duplicate(earlier) => iteration_result(compute, earlier),
        StepResult::PlanOutput => {
            let output = compute.outputs.iter().position(|&known| known == result)?;
            let plan = &compute.ready.plan;
            let buffer = plan.outputs[output];
            // Of outputs that are one value, the first is what is written.
            let output = plan.outputs.iter().position(|&known| known == buffer)?;
            let input = plan.buffers[buffer as usize].input;
            Some(input.map_or(IterationResult::PlanOutput(output), IterationResult::Input))
        }
    }
}
