//! Which written values share a kernel, and in which order kernels run.
//!
//! Groups are formed from the last value to the first: a value's kernel takes in the written values it
//! needs at the very points where it needs them, as long as nothing outside must run in between.

use super::gemm::{RawGemm, contract, without_aliases};
use super::gemm_fusion::GemmFusion;
use super::index::{self, Coordinate, Map};
use super::layout;
use super::lower::{DomainAxis, Lowering, Obstacle, RawKernel};
use super::materialize::{Choice, Written, always_written, is_alias};
use super::routine::routine_step;
use super::{BufferId, Plan, PlanBuffer, PlanTarget, Reason, Step};
use crate::graph::{Combine, Graph, NodeId, Op};
use crate::kernel::{Kind, Value};
use crate::{DType, Shape};
use smallvec::SmallVec;

/// Written values that are computed together.
pub struct Group {
    /// The values.
    pub members: Vec<NodeId>,
    /// What computes them, in order.
    pub commands: Vec<RawCommand>,
}

/// A step before its buffers are known.
pub enum RawCommand {
    /// A kernel.
    Launch(RawKernel),
    /// A contraction.
    Gemm(RawGemm),
    /// A routine: this value, and the values whose memory it reads.
    Routine(NodeId, SmallVec<[NodeId; 3]>),
}

/// What is known of groups while they are formed.
pub struct Grouping {
    users: Vec<SmallVec<[NodeId; 4]>>,
    written: Written,
    group_of: Vec<Option<u32>>,
    members_of: Vec<Vec<NodeId>>,
    /// Values that no kernel but their own computes: some kernel tried and could not, or they were written
    /// to end a kernel.
    apart: Vec<bool>,
}

impl Grouping {
    /// Whether the group of `members` may compute `node` too: it has no group yet, and no other kernel
    /// that needs it comes before any of the members.
    pub fn may_absorb(&self, node: NodeId, members: &[NodeId]) -> bool {
        if self.group_of[node as usize].is_some() || self.apart[node as usize] {
            return false;
        }
        // Walks from the value to all that depends on it. A path that has left the group, by passing
        // through another written value, must not come back.
        let count = self.users.len();
        let mut is_member = vec![false; count];
        members.iter().for_each(|&member| is_member[member as usize] = true);
        let mut seen = vec![false; 2 * count];
        let mut seen_groups = vec![false; self.members_of.len()];
        let mut stack: Vec<(NodeId, bool)> = vec![(node, false)];
        while let Some((at, outside)) = stack.pop() {
            for &user in &self.users[at as usize] {
                let inside = is_member[user as usize];
                if inside && outside {
                    return false;
                }
                let leaves = self.written[user as usize] && !inside;
                let state = (user, outside || leaves);
                if std::mem::replace(&mut seen[user as usize + count * state.1 as usize], true) {
                    continue;
                }
                stack.push(state);
                // Whoever waits for one value of a kernel waits for all of them.
                if let Some(group) = self.group_of[user as usize]
                    && !std::mem::replace(&mut seen_groups[group as usize], true)
                {
                    let others = &self.members_of[group as usize];
                    stack.extend(others.iter().map(|&member| (member, true)));
                }
            }
        }
        true
    }
}

/// Puts every written value in a group. May find that more values must be written.
pub fn form_groups(graph: &Graph, choice: &mut Choice) -> Vec<Group> {
    let mut users = vec![SmallVec::new(); graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        for &input in &node.inputs {
            users[input as usize].push(id as NodeId);
        }
    }
    let mut grouping = Grouping {
        users,
        written: choice.written.clone(),
        group_of: vec![None; graph.nodes.len()],
        members_of: Vec::new(),
        apart: vec![false; graph.nodes.len()],
    };
    for &cut in &choice.cuts {
        grouping.apart[cut as usize] = true;
    }
    let mut groups = Vec::new();
    for node in (0..graph.nodes.len() as NodeId).rev() {
        let op = &graph.node(node).op;
        if !choice.written[node as usize]
            || *op == Op::Input
            || grouping.group_of[node as usize].is_some()
        {
            continue;
        }
        if is_alias(graph, node) {
            let reason = choice.reasons[node as usize].unwrap_or(Reason::Requested);
            choice.write(graph.node(node).inputs[0], reason);
            continue;
        }
        let group = loop {
            grouping.written.clone_from(&choice.written);
            match form(graph, &choice.written, &grouping, node) {
                Ok(group) => break group,
                Err((other, _)) if choice.written[other as usize] => {
                    assert_ne!(other, node, "a kernel cannot stand in its own way");
                    assert!(!grouping.apart[other as usize], "an obstacle must not come back");
                    grouping.apart[other as usize] = true;
                }
                Err((other, reason)) => choice.write(other, reason),
            }
        };
        for &member in &group.members {
            grouping.group_of[member as usize] = Some(groups.len() as u32);
        }
        grouping.members_of.push(group.members.clone());
        groups.push(group);
    }
    groups
}

/// An assignment of a part this many times smaller than the whole may be written into the whole's memory.
const SMALL_PART: usize = 8;

/// Whether a part is assigned to a value in memory that nothing else here reads, and the result is asked for: a copy
/// and the part are then two launches, and the copy is none if nobody holds the value any more when it would run.
fn updates_in_place(graph: &Graph, node: NodeId) -> bool {
    let data = graph.node(node);
    let Op::Assign(_) = data.op else { return false };
    let (x, update) = (data.inputs[0], data.inputs[1]);
    let elements = |node: NodeId| graph.node(node).shape.elements();
    let uses = graph.nodes.iter().flat_map(|user| &user.inputs).filter(|&&input| input == x);
    graph.node(x).op == Op::Input
        && elements(update).saturating_mul(SMALL_PART) <= elements(x)
        && graph.outputs.contains(&node)
        && !graph.outputs.contains(&x)
        && uses.count() == 1
}

/// One value's group, or the value that is in its way.
fn form(
    graph: &Graph,
    written: &Written,
    grouping: &Grouping,
    node: NodeId,
) -> Result<Group, (NodeId, Reason)> {
    let data = graph.node(node);
    // Only a group of one kernel takes in other values: two might take in the same.
    let in_place = updates_in_place(graph, node);
    let one_kernel = (!always_written(data) && !in_place) || matches!(data.op, Op::Scan { .. });
    let former = Former { graph, written, grouping, node, absorbs: one_kernel };
    // A part without elements has no kernel: over an empty domain one would still store what does not
    // vary over it.
    let is_empty = |node: NodeId| graph.node(node).shape.elements() == 0;
    let mut commands = Vec::new();
    let mut members = vec![node];
    match &data.op {
        // Nothing to compute, and no element that a kernel might store to.
        _ if is_empty(node) => {}
        Op::Dot(_) => commands.push(RawCommand::Gemm(
            contract(graph, written, node).map_err(|node| (node, Reason::ContractionOperand))?,
        )),
        Op::Scan { op, axis } => {
            let (op, x) = (*op, data.inputs[0]);
            let kernel = former.kernel(&data.shape, &[*axis], |lowering, map| {
                lowering.kernel.nodes.push(node);
                lowering.kernel.ordered = true;
                let value = lowering.value(x, map, None)?;
                let scanned = match data.shape[*axis] {
                    1 => value,
                    _ => lowering.push(Kind::Scan(op, value), data.dtype),
                };
                lowering.store(node, map, scanned, None, None)
            })?;
            commands.push(RawCommand::Launch(kernel.0));
            members = kernel.1;
        }
        op if op.is_routine() => {
            let reads = data.inputs.iter().map(|&input| without_aliases(graph, input));
            commands.push(RawCommand::Routine(node, reads.collect()));
        }
        Op::Scatter { axis, combine } => {
            let axis = *axis;
            let combine = match combine {
                Some(Combine::With(op)) => Some(*op),
                Some(Combine::Function(_)) => unreachable!("a routine"),
                None => None,
            };
            commands.push(RawCommand::Launch(former.copy(data.inputs[0], |map| map.clone())?));
            let (indices, update) = (data.inputs[1], data.inputs[2]);
            if is_empty(update) {
                return Ok(Group { members, commands });
            }
            let shape = &graph.node(update).shape;
            let kernel = former.kernel(shape, &[axis], |lowering, map| {
                lowering.kernel.nodes.push(node);
                lowering.kernel.ordered = true;
                let index = lowering.value(indices, map, None)?;
                let (index, within) = lowering.checked_index(index, data.shape[axis]);
                let value = lowering.value(update, map, None)?;
                let mut target = map.clone();
                target[axis] = Coordinate::indirect(index);
                lowering.store(node, &target, value, Some(within), combine)
            })?;
            commands.push(RawCommand::Launch(kernel.0));
        }
        Op::Concat { axis } if always_written(data) => {
            let mut start = 0;
            for &input in &data.inputs {
                let offset = start;
                start += graph.node(input).shape[*axis] as isize;
                if is_empty(input) {
                    continue;
                }
                let kernel = former.copy(input, |map| {
                    let mut target = map.clone();
                    target[*axis] = target[*axis].stepped(offset, 1);
                    target
                })?;
                commands.push(RawCommand::Launch(kernel));
            }
        }
        Op::Pad(axes) if always_written(data) => {
            let fill = data.inputs[1];
            let kernel = former.kernel(&data.shape, &[], |lowering, map| {
                let value = lowering.value(fill, &Map::new(), None)?;
                lowering.store(node, map, value, None, None)
            })?;
            commands.push(RawCommand::Launch(kernel.0));
            // The elements that survive cutting, each at its place.
            let x = data.inputs[0];
            if is_empty(x) {
                return Ok(Group { members, commands });
            }
            let shape = graph.node(x).shape.clone();
            let kernel = former.kernel(&shape, &[], |lowering, map| {
                lowering.kernel.nodes.push(node);
                let value = lowering.value(x, map, None)?;
                let target: Map = map
                    .iter()
                    .zip(axes)
                    .map(|(c, axis)| c.stepped(axis.low, axis.interior as isize + 1))
                    .collect();
                let inside = lowering.inside(node, &target, &data.shape)?;
                lowering.store(node, &target, value, inside, None)
            })?;
            commands.push(RawCommand::Launch(kernel.0));
        }
        Op::Assign(axes) if always_written(data) || in_place => {
            commands.push(RawCommand::Launch(former.copy(data.inputs[0], |map| map.clone())?));
            if !is_empty(data.inputs[1]) {
                let kernel = former.copy(data.inputs[1], |map| index::slice(map, axes))?;
                commands.push(RawCommand::Launch(kernel));
            }
        }
        _ => {
            let (kernel, all) =
                former.kernel(&data.shape, &[], |lowering, map| lowering.write(map))?;
            commands.push(RawCommand::Launch(kernel));
            members = all;
        }
    }
    Ok(Group { members, commands })
}

struct Former<'a> {
    graph: &'a Graph,
    written: &'a Written,
    grouping: &'a Grouping,
    /// The value whose group is formed.
    node: NodeId,
    /// Whether kernels may take in other written values.
    absorbs: bool,
}

impl Former<'_> {
    /// A kernel over the index space of `shape`, `reduced` axes in order, split as the body needs. The
    /// body gets the map of that index space. Returns the written values it computes too.
    fn kernel(
        &self,
        shape: &Shape,
        reduced: &[usize],
        body: impl Fn(&mut Lowering, &Map) -> Result<(), Obstacle>,
    ) -> Result<(RawKernel, Vec<NodeId>), (NodeId, Reason)> {
        // Each axis of the shape as the extents of the domain's axes it is split into.
        let mut factors: Vec<SmallVec<[usize; 4]>> =
            shape.iter().map(|&extent| SmallVec::from_slice(&[extent])).collect();
        let mut row_factors: SmallVec<[usize; 4]> = SmallVec::new();
        loop {
            let mut axes = Vec::new();
            let mut map = Map::new();
            for (axis, factors) in factors.iter().enumerate() {
                let mut coordinate = Coordinate::default();
                let mut stride: usize = factors.iter().product();
                for &extent in factors {
                    stride /= extent.max(1);
                    coordinate.add_axis(axes.len(), stride as isize);
                    axes.push(DomainAxis { extent, reduced: reduced.contains(&axis) });
                }
                map.push(coordinate);
            }
            let own = axes.len();
            let mut lowering = Lowering::new(
                self.graph,
                self.written,
                self.absorbs.then_some(self.grouping),
                self.node,
                axes,
                row_factors.clone(),
            );
            match body(&mut lowering, &map) {
                Ok(()) => return Ok((lowering.kernel, lowering.members)),
                Err(Obstacle::Write(node, reason)) => return Err((node, reason)),
                Err(Obstacle::Split { axis, inner }) if axis >= own => {
                    let rows = &lowering.kernel.axes[own..];
                    row_factors = rows.iter().map(|axis| axis.extent).collect();
                    split(&mut row_factors, axis - own, inner);
                }
                Err(Obstacle::Split { axis, inner }) => {
                    let mut first = 0;
                    for factors in &mut factors {
                        if axis < first + factors.len() {
                            split(factors, axis - first, inner);
                            break;
                        }
                        first += factors.len();
                    }
                }
            }
        }
    }

    /// A kernel that writes `source` into the group's buffer, at the places `target` gives.
    fn copy(
        &self,
        source: NodeId,
        target: impl Fn(&Map) -> Map,
    ) -> Result<RawKernel, (NodeId, Reason)> {
        let node = self.node;
        let shape = self.graph.node(source).shape.clone();
        let kernel = self.kernel(&shape, &[], |lowering, map| {
            lowering.kernel.nodes.push(node);
            let value: Value = lowering.value(source, map, None)?;
            lowering.store(node, &target(map), value, None, None)
        })?;
        Ok(kernel.0)
    }
}

fn split(factors: &mut SmallVec<[usize; 4]>, position: usize, inner: usize) {
    factors[position] /= inner;
    factors.insert(position + 1, inner);
}

/// Orders the groups, gives values their buffers, and lays kernels out.
pub fn assemble(
    graph: &Graph,
    choice: &Choice,
    groups: Vec<Group>,
    plan_target: PlanTarget,
) -> Plan {
    let mut plan = Plan::default();
    let mut buffers: Vec<Option<BufferId>> = vec![None; graph.nodes.len()];
    let mut inputs = 0;
    for (id, node) in graph.nodes.iter().enumerate() {
        if !choice.written[id] {
            continue;
        }
        if is_alias(graph, id as NodeId) {
            buffers[id] = buffers[node.inputs[0] as usize];
            continue;
        }
        let input = (node.op == Op::Input).then(|| {
            inputs += 1;
            inputs - 1
        });
        buffers[id] = Some(plan.buffers.len() as BufferId);
        let (dtype, elements): (DType, usize) = (node.dtype, node.shape.elements());
        let reason = choice.reasons[id].filter(|_| input.is_none());
        plan.buffers.push(PlanBuffer { input, dtype, elements, reason });
    }
    let buffer = |node: NodeId| buffers[node as usize].expect("a written value has a buffer");
    plan.outputs = graph.outputs.iter().map(|&output| buffer(output)).collect();
    let mut surroundings = GemmFusion::new(graph, &groups, &plan.outputs, buffer, plan_target);
    for group in order(graph, &groups) {
        if surroundings.is_joined(group) {
            continue;
        }
        if let Some(step) = surroundings.step(group, buffer) {
            plan.steps.push(step);
            continue;
        }
        for command in &groups[group].commands {
            plan.steps.push(match command {
                RawCommand::Launch(kernel) => Step::Launch(layout::lay_out(kernel, buffer)),
                RawCommand::Gemm(_) => unreachable!("a product has surroundings"),
                RawCommand::Routine(node, _) => Step::Routine(routine_step(graph, *node, buffer)),
            });
        }
    }
    plan
}

/// The groups in an order in which each finds what it reads.
fn order(graph: &Graph, groups: &[Group]) -> Vec<usize> {
    let mut group_of: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for (id, group) in groups.iter().enumerate() {
        for &member in &group.members {
            group_of[member as usize] = Some(id);
        }
    }
    let resolve = |mut node: NodeId| {
        while group_of[node as usize].is_none() && is_alias(graph, node) {
            node = graph.node(node).inputs[0];
        }
        group_of[node as usize]
    };
    let needs: Vec<Vec<usize>> = groups
        .iter()
        .enumerate()
        .map(|(id, group)| {
            let reads = group.commands.iter().flat_map(RawCommand::operands);
            reads.filter_map(resolve).filter(|&other| other != id).collect()
        })
        .collect();
    // Depth first from each group, in the order in which their values were recorded.
    let mut by_age: Vec<usize> = (0..groups.len()).collect();
    by_age.sort_by_key(|&group| groups[group].members.iter().min());
    let mut done = vec![false; groups.len()];
    let mut order = Vec::with_capacity(groups.len());
    for start in by_age {
        let mut stack = vec![(start, 0)];
        while let Some((group, next)) = stack.pop() {
            if done[group] {
                continue;
            }
            match needs[group].get(next) {
                Some(&need) => {
                    stack.push((group, next + 1));
                    assert!(stack.len() <= 2 * groups.len() + 2, "groups must not need each other");
                    stack.push((need, 0));
                }
                None => {
                    done[group] = true;
                    order.push(group);
                }
            }
        }
    }
    order
}

impl RawCommand {
    /// The values in memory that it reads or writes.
    pub fn operands(&self) -> Vec<NodeId> {
        match self {
            RawCommand::Launch(kernel) => kernel.params.iter().map(|(node, _)| *node).collect(),
            RawCommand::Gemm(contract) => contract.operands().to_vec(),
            RawCommand::Routine(node, inputs) => inputs.iter().copied().chain([*node]).collect(),
        }
    }
}
