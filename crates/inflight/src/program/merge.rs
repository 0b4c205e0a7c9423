//! Step merging: builds one loop iteration from body and condition, and merges adjacent graphs so that they are
//! planned, and fused, together.

use inflight_hlo::program::{Action, Origin, Sequence, Slot, Step};
use inflight_ir::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;
use std::sync::Arc;

/// One loop iteration: the body, then the condition of the next iteration. Takes the body's inputs; returns the
/// next carried values and the condition's result.
pub(super) fn loop_iteration(body: &Sequence, condition: &Sequence, carried: usize) -> Sequence {
    let mut values = body.values.clone();
    // Inputs of the condition: the body's results and the loop-invariant values.
    let mut slots: Vec<Slot> = body.outputs[..carried].to_vec();
    slots.extend(carried..condition.inputs);
    for ty in &condition.values[condition.inputs..] {
        slots.push(values.len());
        values.push(ty.clone());
    }
    let mut steps = body.steps.clone();
    steps.extend(condition.steps.iter().map(|step| Step {
        inputs: step.inputs.iter().map(|&slot| slots[slot]).collect(),
        results: step.results.iter().map(|&slot| slots[slot]).collect(),
        ..step.clone()
    }));
    let mut outputs = body.outputs.clone();
    outputs.extend(condition.outputs.iter().map(|&slot| slots[slot]));
    merge_adjacent_graphs(Sequence { values, inputs: body.inputs, steps, outputs })
}

/// Merges adjacent graph steps into one.
fn merge_adjacent_graphs(mut sequence: Sequence) -> Sequence {
    let mut steps: Vec<Step> = Vec::with_capacity(sequence.steps.len());
    for (position, step) in sequence.steps.iter().enumerate() {
        let later = &sequence.steps[position + 1..];
        let merged = steps.last().and_then(|last| {
            let is_used = |slot: Slot| {
                sequence.outputs.contains(&slot)
                    || later.iter().any(|step| step.inputs.contains(&slot))
            };
            merge_steps(last, step, is_used)
        });
        match merged {
            Some(merged) => *steps.last_mut().expect("there is a last step") = merged,
            None => steps.push(step.clone()),
        }
    }
    sequence.steps = steps;
    sequence
}

/// Merges two graph steps. Drops results that nothing else uses.
fn merge_steps(first: &Step, second: &Step, is_used: impl Fn(Slot) -> bool) -> Option<Step> {
    let (
        Action::Compute { graph: a, origins: a_origins },
        Action::Compute { graph: b, origins: b_origins },
    ) = (&first.action, &second.action)
    else {
        return None;
    };
    let mut graph = Graph::clone(a);
    let mut origins: Vec<Origin> = a_origins.to_vec();
    let mut inputs = first.inputs.clone();
    let a_inputs: Vec<NodeId> = a.inputs().collect();
    let mut b_inputs = second.inputs.iter();
    let mut nodes: Vec<NodeId> = Vec::with_capacity(b.nodes.len());
    for (node, origin) in b.nodes.iter().zip(b_origins.iter()) {
        if node.op == Op::Input {
            let slot = *b_inputs.next()?;
            let computed = first.results.iter().position(|&result| result == slot);
            let shared_input = inputs[..a_inputs.len()].iter().position(|&input| input == slot);
            nodes.push(match (computed, shared_input) {
                (Some(output), _) => a.outputs[output],
                (None, Some(input)) => a_inputs[input],
                (None, None) => {
                    inputs.push(slot);
                    origins.push(origin.clone());
                    graph.input(node.shape.clone(), node.dtype)
                }
            });
        } else {
            let operands: SmallVec<[NodeId; 3]> =
                node.inputs.iter().map(|&input| nodes[input as usize]).collect();
            origins.push(origin.clone());
            nodes.push(graph.append(node.op.clone(), &operands, node.shape.clone(), node.dtype));
        }
    }
    graph.scalars.extend_from_slice(&b.scalars);
    graph.outputs.clear();
    let mut results = Vec::new();
    let outputs = b.outputs.iter().map(|&output| nodes[output as usize]);
    let first_results = first.results.iter().zip(a.outputs.iter().copied());
    for (&slot, node) in first_results.chain(second.results.iter().zip(outputs)) {
        if is_used(slot) {
            results.push(slot);
            graph.outputs.push(node);
        }
    }
    let action = Action::Compute { graph: Arc::new(graph), origins: origins.into() };
    Some(Step { action, inputs, results, location: first.location })
}
