//! Device loops: small `while` loops whose iterations the stream runs by itself, without host involvement. Two
//! copies of the iteration alternate between two sets of buffers (ping-pong).

use super::sequence::{Action, Buffers, Compute, Sequence, StepResult};
use crate::runtime::commands::BoundPlan;
use crate::runtime::stats::Counters;
use inflight_backend::{Buffer, Command};
use std::sync::Arc;

/// Size limit of an iteration's carried values and temporaries. Above it, the overhead outside of the kernels is
/// small, and in-place reuse of buffers between iterations saves more.
const MAX_ITERATION_BYTES: usize = 64 << 10;

/// Source of each result of an iteration: the carried values, then the condition.
pub(super) struct LoopPlan {
    outputs: Vec<IterationResult>,
}

/// Source of an iteration's result.
#[derive(Clone, Copy)]
enum IterationResult {
    /// An output of the plan.
    PlanOutput(usize),
    /// An input of the iteration, passed through.
    Input(usize),
    /// A duplicate of an earlier result.
    Duplicate(usize),
}

/// Commands of a loop's two alternating iterations, and their buffers.
pub(super) struct LoopCommands {
    /// Run before the loop: copy the initial values to the buffers that the second body writes.
    pub initial_copies: Vec<Command>,
    pub bodies: [Vec<Command>; 2],
    /// For each body, the carried values after it, then the condition.
    pub values: [Buffers; 2],
    /// Launches and bytes of one iteration.
    pub counters: Counters,
}

impl LoopPlan {
    /// Returns a plan if an iteration is a single small graph.
    pub fn for_iteration(iteration: &Sequence, inputs: usize) -> Option<LoopPlan> {
        let [step] = &iteration.steps[..] else { return None };
        let Action::Compute(compute) = &step.action else { return None };
        let plan = &compute.ready.plan;
        let temporaries = plan.buffers.iter().filter(|buffer| buffer.input.is_none());
        let temporary_bytes: usize =
            temporaries.map(|buffer| buffer.elements * buffer.dtype.size()).sum();
        let carried: usize = iteration.outputs.iter().map(|&slot| iteration.bytes[slot]).sum();
        if carried + temporary_bytes > MAX_ITERATION_BYTES || compute.ready.fault().is_some() {
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
                        // Results that share a plan output are duplicates.
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

    /// Emits the commands of a loop. `inputs` are the initial carried values, then the loop-invariant values.
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

    /// Emits the commands of one iteration.
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
            unreachable!("a device loop's iteration is one graph")
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

/// Source of a step's result, in terms of the step's inputs.
fn iteration_result(compute: &Compute, result: usize) -> Option<IterationResult> {
    match compute.results[result] {
        StepResult::Input(input) => Some(IterationResult::Input(input)),
        StepResult::Duplicate(earlier) => iteration_result(compute, earlier),
        StepResult::PlanOutput => {
            let output = compute.outputs.iter().position(|&known| known == result)?;
            let plan = &compute.ready.plan;
            let buffer = plan.outputs[output];
            // If several outputs share a buffer, the first one is written.
            let output = plan.outputs.iter().position(|&known| known == buffer)?;
            let input = plan.buffers[buffer as usize].input;
            Some(input.map_or(IterationResult::PlanOutput(output), IterationResult::Input))
        }
    }
}
