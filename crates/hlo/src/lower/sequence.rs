//! Partitioning of a sequence's nodes into graphs and steps, with dead code elimination (DCE).
//!
//! A graph is emitted before a step that needs values not yet computed, and contains only the nodes that this step
//! depends on; the last graph computes the outputs. This keeps values close to their uses, the number of graphs
//! minimal, and dead nodes out of all graphs.

use super::builder::{Builder, PendingStep, Source};
use crate::program::{Action, Origin, Sequence, Slot, Step, ValueType};
use inflight_ir::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Builds the sequence that computes `outputs`. Its inputs are its arguments, then its constants or, inside another
/// sequence, its captures, which have the types `others`. `position` maps a source to its index in that second part,
/// or to `None` if it is not used.
pub(super) fn build_sequence(
    builder: Builder,
    outputs: &[NodeId],
    arguments: &[ValueType],
    others: &[ValueType],
    position: impl Fn(Source) -> Option<usize>,
) -> Sequence {
    let mut writer = Writer {
        slots: FxHashMap::default(),
        sequence: Sequence {
            values: arguments.iter().chain(others).cloned().collect(),
            inputs: arguments.len() + others.len(),
            steps: Vec::new(),
            outputs: Vec::new(),
        },
        builder: &builder,
    };
    for (id, entry) in builder.entries.iter().enumerate() {
        let slot = match entry.source {
            Some(Source::Argument(index)) => index,
            Some(source @ (Source::Constant(_) | Source::Capture(_))) => match position(source) {
                Some(position) => arguments.len() + position,
                None => continue,
            },
            Some(Source::Result { .. }) | None => continue,
        };
        writer.slots.insert(id as NodeId, slot);
    }
    let (used, _) = find_live(&builder, outputs);
    let steps: Vec<&PendingStep> =
        builder.steps.iter().zip(used).filter(|(_, used)| *used).map(|(step, _)| step).collect();
    let demands: Vec<&[NodeId]> =
        steps.iter().map(|step| &*step.inputs).chain(std::iter::once(outputs)).collect();
    let groups = partition_nodes(&builder, &demands);
    for (i, group) in groups.iter().enumerate() {
        writer.compute(group);
        if let Some(step) = steps.get(i) {
            writer.step(step);
        }
    }
    writer.sequence.outputs = outputs.iter().map(|output| writer.slots[output]).collect();
    writer.sequence
}

/// The captures that live nodes read.
pub(super) fn live_captures(builder: &Builder, outputs: &[NodeId]) -> Vec<usize> {
    let (_, is_live) = find_live(builder, outputs);
    let mut captures: Vec<usize> = builder
        .entries
        .iter()
        .zip(is_live)
        .filter(|(_, is_live)| *is_live)
        .filter_map(|(entry, _)| match entry.source {
            Some(Source::Capture(capture)) => Some(capture),
            _ => None,
        })
        .collect();
    captures.sort_unstable();
    captures
}

/// Liveness analysis: the steps with side effects or live results, and the live nodes.
fn find_live(builder: &Builder, outputs: &[NodeId]) -> (Vec<bool>, Vec<bool>) {
    let mut used: Vec<bool> = builder.steps.iter().map(|step| step.has_effect).collect();
    let mut is_live = vec![false; builder.entries.len()];
    let mut worklist: Vec<NodeId> = outputs.to_vec();
    for step in builder.steps.iter().filter(|step| step.has_effect) {
        worklist.extend(&step.inputs);
    }
    while let Some(id) = worklist.pop() {
        if std::mem::replace(&mut is_live[id as usize], true) {
            continue;
        }
        let entry = &builder.entries[id as usize];
        worklist.extend(&entry.inputs);
        if let Some(Source::Result { step, .. }) = entry.source
            && !std::mem::replace(&mut used[step], true)
        {
            worklist.extend(&builder.steps[step].inputs);
        }
    }
    (used, is_live)
}

/// The nodes of one graph to be emitted.
#[derive(Default)]
struct Group {
    /// The nodes that the graph computes or reads, in order.
    nodes: Vec<NodeId>,
    /// The computed nodes that are read outside of the graph.
    outputs: Vec<NodeId>,
}

/// One graph for each demand, the inputs of a step or the outputs: the nodes it needs that no earlier graph computes.
fn partition_nodes(builder: &Builder, demands: &[&[NodeId]]) -> Vec<Group> {
    let mut group_of: Vec<Option<usize>> = vec![None; builder.entries.len()];
    let mut is_output = vec![false; builder.entries.len()];
    let mut groups: Vec<Group> = Vec::new();
    for (number, demand) in demands.iter().enumerate() {
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let is_available = |group_of: &[Option<usize>], id: NodeId| {
            builder.entries[id as usize].source.is_some() || group_of[id as usize].is_some()
        };
        let mut worklist: Vec<NodeId> = Vec::new();
        for &id in *demand {
            // A value that an earlier graph computes for internal use becomes an output of that graph.
            if is_available(&group_of, id) {
                is_output[id as usize] = true;
            } else {
                worklist.push(id);
            }
        }
        let wanted = worklist.clone();
        while let Some(id) = worklist.pop() {
            if !seen.insert(id) {
                continue;
            }
            nodes.push(id);
            if is_available(&group_of, id) {
                is_output[id as usize] = true;
            } else {
                worklist.extend(&builder.entries[id as usize].inputs);
            }
        }
        for &id in &nodes {
            if !is_available(&group_of, id) && !is_rematerialized(builder, id) {
                group_of[id as usize] = Some(number);
            }
        }
        for id in wanted {
            group_of[id as usize] = Some(number);
            is_output[id as usize] = true;
        }
        nodes.sort_unstable();
        groups.push(Group { nodes, outputs: Vec::new() });
    }
    for (id, group_of) in group_of.iter().enumerate() {
        if let Some(number) = group_of
            && is_output[id]
        {
            groups[*number].outputs.push(id as NodeId);
        }
    }
    groups
}

/// Whether a node is recomputed in each graph that uses it, rather than stored to memory.
fn is_rematerialized(builder: &Builder, id: NodeId) -> bool {
    matches!(
        builder.entries[id as usize].op,
        Op::Scalar | Op::Iota { .. } | Op::Broadcast(_) | Op::Reshape(_)
    )
}

struct Writer<'a> {
    /// The slots of the values that are already available.
    slots: FxHashMap<NodeId, Slot>,
    sequence: Sequence,
    builder: &'a Builder,
}

impl Writer<'_> {
    fn slot(&mut self, id: NodeId) -> Slot {
        let entry = &self.builder.entries[id as usize];
        let slot = self.sequence.values.len();
        self.sequence.values.push(ValueType { shape: entry.shape.clone(), dtype: entry.dtype });
        self.slots.insert(id, slot);
        slot
    }

    fn step(&mut self, step: &PendingStep) {
        let inputs = step.inputs.iter().map(|input| self.slots[input]).collect();
        let results = step.results.iter().map(|&result| self.slot(result)).collect();
        let (action, location) = (step.action.clone(), step.location);
        self.sequence.steps.push(Step { action, inputs, results, location });
    }

    fn compute(&mut self, group: &Group) {
        if group.outputs.is_empty() {
            return;
        }
        let mut graph = Graph::default();
        let mut origins: Vec<Origin> = Vec::new();
        let mut inputs: Vec<Slot> = Vec::new();
        let mut nodes: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        let mut location = None;
        for &id in &group.nodes {
            let entry = &self.builder.entries[id as usize];
            let origin = &self.builder.origins[id as usize];
            let node = if let Some(&slot) = self.slots.get(&id) {
                inputs.push(slot);
                graph.input(entry.shape.clone(), entry.dtype)
            } else if let Some(value) = entry.scalar {
                graph.scalar(value)
            } else {
                let operands: Vec<NodeId> = entry.inputs.iter().map(|id| nodes[id]).collect();
                location.get_or_insert(origin.location);
                graph.append(entry.op.clone(), &operands, entry.shape.clone(), entry.dtype)
            };
            nodes.insert(id, node);
            origins.push(origin.clone());
        }
        graph.outputs = group.outputs.iter().map(|output| nodes[output]).collect();
        let results = group.outputs.iter().map(|&output| self.slot(output)).collect();
        self.sequence.steps.push(Step {
            action: Action::Compute { graph: Arc::new(graph), origins: origins.into() },
            inputs,
            results,
            location: location.unwrap_or_default(),
        });
    }
}
