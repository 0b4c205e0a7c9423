//! Loops of small turns, which a stream runs itself.

use super::sequence::{Action, Buffers, Compute, Sequence, Source};
use crate::runtime::commands::Bound;
use crate::runtime::stats::Counters;
use inflight_backend::{Buffer, Command};
use std::sync::Arc;

/// The most bytes that a turn writes, all of what it carries on and all it keeps in between. Beyond, what a turn
/// costs apart from its kernels is little, and it pays that values take over the memory of those before.
const MOST_BYTES: usize = 64 << 10;

/// How a turn's results come about, for each of the carried values and for the condition.
pub(super) struct Small {
    outputs: Vec<Origin>,
}

/// Where a result of a turn comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// The step writes it, as this output of its plan.
    Written(usize),
    /// It is an input of the turn, as it is.
    Input(usize),
    /// It is the same as an earlier result of the turn.
    Same(usize),
}

/// The commands of a loop's two turns, and where they put things.
pub(super) struct Turns {
    /// To be run before: the values that the loop begins with, copied to where the second turn leaves its own.
    pub before: Vec<Command>,
    pub turns: [Vec<Command>; 2],
    /// The carried values after each of the two, then the condition.
    pub values: [Buffers; 2],
    /// What one turn launches, reads and writes.
    pub counters: Counters,
}

impl Small {
    /// Whether a loop's turn is one small graph, and how its results come about.
    pub fn of(turn: &Sequence, inputs: usize) -> Option<Small> {
        let [step] = &turn.steps[..] else { return None };
        let Action::Compute(compute) = &step.action else { return None };
        let plan = &compute.ready.plan;
        let own = plan.buffers.iter().filter(|buffer| buffer.input.is_none());
        let temporary: usize = own.map(|buffer| buffer.elements * buffer.dtype.size()).sum();
        let carried: usize = turn.outputs.iter().map(|&slot| turn.bytes[slot]).sum();
        if carried + temporary > MOST_BYTES || compute.ready.fault().is_some() {
            return None;
        }
        let mut outputs: Vec<Origin> = Vec::with_capacity(turn.outputs.len());
        for (position, &slot) in turn.outputs.iter().enumerate() {
            let earlier = turn.outputs[..position].iter().position(|&known| known == slot);
            outputs.push(match earlier {
                Some(earlier) => Origin::Same(earlier),
                None if slot < inputs => Origin::Input(slot),
                None => {
                    let result = step.results.iter().position(|&result| result == slot)?;
                    let origin = origin(compute, result)?;
                    match origin {
                        Origin::Input(input) => Origin::Input(step.inputs[input]),
                        // Results of a step that are one value are outputs of the turn that are one.
                        Origin::Written(output) => {
                            let same = |known: &Origin| match known {
                                Origin::Written(known) => *known == output,
                                _ => false,
                            };
                            outputs.iter().position(same).map_or(origin, Origin::Same)
                        }
                        Origin::Same(_) => return None,
                    }
                }
            });
        }
        Some(Small { outputs })
    }

    /// The commands for a loop that begins with these values. `inputs` are the carried values, then those that
    /// stay the same.
    pub fn turns(&self, turn: &Sequence, inputs: &[Arc<Buffer>], carried: usize) -> Turns {
        let declare = || -> Buffers {
            turn.outputs.iter().map(|&slot| Buffer::declare(turn.bytes[slot])).collect()
        };
        let values = [declare(), declare()];
        let copies = inputs[..carried].iter().zip(&values[1]);
        let before = copies.map(|(source, target)| Command::Upload {
            source: source.clone(),
            target: target.clone(),
        });
        let before = before.collect();
        let counters = Counters::default();
        let fixed = &inputs[carried..];
        let turns = [
            self.commands(turn, &values[1][..carried], fixed, &values[0], &counters),
            self.commands(turn, &values[0][..carried], fixed, &values[1], &Counters::default()),
        ];
        Turns { before, turns, values, counters }
    }

    /// The commands of a turn.
    fn commands(
        &self,
        turn: &Sequence,
        carried: &[Arc<Buffer>],
        fixed: &[Arc<Buffer>],
        results: &[Arc<Buffer>],
        counters: &Counters,
    ) -> Vec<Command> {
        let inputs: Buffers = carried.iter().chain(fixed).cloned().collect();
        let mut commands = Vec::new();
        let step = &turn.steps[0];
        let Action::Compute(compute) = &step.action else { unreachable!("a small turn computes") };
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
        for (origin, result) in self.outputs.iter().zip(results) {
            if let Origin::Written(output) = *origin {
                outputs[output] = result.clone();
            }
        }
        let bound =
            Bound { ready: &compute.ready, scalars: &compute.scalars, labels: &compute.labels };
        bound.emit(&step_inputs, &outputs, counters, &mut commands);
        for (origin, result) in self.outputs.iter().zip(results) {
            let source = match *origin {
                Origin::Written(_) => continue,
                Origin::Input(slot) => &inputs[slot],
                Origin::Same(earlier) => &results[earlier],
            };
            commands.push(Command::Upload { source: source.clone(), target: result.clone() });
        }
        commands
    }
}

/// Where a result of a step comes from, by the step's inputs.
fn origin(compute: &Compute, result: usize) -> Option<Origin> {
    match compute.results[result] {
        Source::Input(input) => Some(Origin::Input(input)),
        Source::Result(earlier) => origin(compute, earlier),
        Source::Output => {
            let output = compute.outputs.iter().position(|&known| known == result)?;
            let plan = &compute.ready.plan;
            let buffer = plan.outputs[output];
            // Of outputs that are one value, the first is what is written.
            let output = plan.outputs.iter().position(|&known| known == buffer)?;
            let input = plan.buffers[buffer as usize].input;
            Some(input.map_or(Origin::Written(output), Origin::Input))
        }
    }
}
