//! Fusion: partitions the materialized values into fusion groups, each computed by one kernel or a few steps.
//!
//! Groups form from the last value to the first. A group's kernel fuses a materialized producer if it reads each
//! element of it exactly once, at the point that computes the element, and no step outside of the group must run in
//! between. Values that are not materialized are always fused into the kernels that read them
//! ([`lower`](super::lower)).

use super::Reason;
use super::gemm::{RawGemm, lower_gemm, resolve_alias};
use super::index::{self, Coordinate, IndexMap};
use super::lower::{DomainAxis, Lowering, LoweringBlocker, RawKernel};
use super::materialize::{Materialization, MaterializedSet, always_materialized, is_alias};
use crate::Shape;
use crate::graph::{Combine, Graph, NodeId, Op};
use crate::kernel::{Kind, Value};
use smallvec::SmallVec;

/// Materialized values that are computed together.
pub struct FusionGroup {
    /// The values.
    pub members: Vec<NodeId>,
    /// The steps that compute them, in order.
    pub steps: Vec<RawStep>,
}

/// A step before layout and buffer assignment.
pub enum RawStep {
    /// A kernel launch.
    Launch(RawKernel),
    /// A GEMM.
    Gemm(RawGemm),
    /// A routine: its result, and the values that it reads from memory.
    Routine(NodeId, SmallVec<[NodeId; 3]>),
}

/// The state of fusion: the groups formed so far.
pub struct FusionState {
    users: Vec<SmallVec<[NodeId; 4]>>,
    materialized: MaterializedSet,
    group_of: Vec<Option<u32>>,
    members_of: Vec<Vec<NodeId>>,
    /// Values that only their own group computes: a fusion into another kernel failed, or they were materialized to
    /// end a chain.
    unfusible: Vec<bool>,
}

impl FusionState {
    /// Whether the group of `members` can fuse the producer `node`: it has no group yet, and no path from it to a
    /// member passes through another group, which would make a cycle.
    pub fn can_fuse(&self, node: NodeId, members: &[NodeId]) -> bool {
        if self.group_of[node as usize].is_some() || self.unfusible[node as usize] {
            return false;
        }
        // Search the consumers of the value, transitively. A path that leaves the group, through a materialized value
        // that is not a member, must not come back to it.
        let count = self.users.len();
        let mut is_member = vec![false; count];
        members.iter().for_each(|&member| is_member[member as usize] = true);
        let mut visited = vec![false; 2 * count];
        let mut visited_groups = vec![false; self.members_of.len()];
        let mut stack: Vec<(NodeId, bool)> = vec![(node, false)];
        while let Some((at, outside)) = stack.pop() {
            for &user in &self.users[at as usize] {
                let inside = is_member[user as usize];
                if inside && outside {
                    return false;
                }
                let leaves = self.materialized[user as usize] && !inside;
                let state = (user, outside || leaves);
                if std::mem::replace(&mut visited[user as usize + count * state.1 as usize], true) {
                    continue;
                }
                stack.push(state);
                // A consumer of one value of a group depends on all of its values.
                if let Some(group) = self.group_of[user as usize]
                    && !std::mem::replace(&mut visited_groups[group as usize], true)
                {
                    let others = &self.members_of[group as usize];
                    stack.extend(others.iter().map(|&member| (member, true)));
                }
            }
        }
        true
    }
}

/// Puts every materialized value in a group. Lowering may find that further values must be materialized.
pub fn form_fusion_groups(
    graph: &Graph,
    materialization: &mut Materialization,
) -> Vec<FusionGroup> {
    let mut users = vec![SmallVec::new(); graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        for &input in &node.inputs {
            users[input as usize].push(id as NodeId);
        }
    }
    let mut fusion_state = FusionState {
        users,
        materialized: materialization.materialized.clone(),
        group_of: vec![None; graph.nodes.len()],
        members_of: Vec::new(),
        unfusible: vec![false; graph.nodes.len()],
    };
    for &chain_break in &materialization.chain_breaks {
        fusion_state.unfusible[chain_break as usize] = true;
    }
    let mut groups = Vec::new();
    for node in (0..graph.nodes.len() as NodeId).rev() {
        let op = &graph.node(node).op;
        if !materialization.materialized[node as usize]
            || *op == Op::Input
            || fusion_state.group_of[node as usize].is_some()
        {
            continue;
        }
        if is_alias(graph, node) {
            let reason = materialization.reasons[node as usize].unwrap_or(Reason::Requested);
            materialization.add(graph.node(node).inputs[0], reason);
            continue;
        }
        let group = loop {
            fusion_state.materialized.clone_from(&materialization.materialized);
            match form_group(graph, &materialization.materialized, &fusion_state, node) {
                Ok(group) => break group,
                Err((other, _)) if materialization.materialized[other as usize] => {
                    assert_ne!(other, node, "a group cannot be blocked by its own root");
                    assert!(
                        !fusion_state.unfusible[other as usize],
                        "a value becomes unfusible only once"
                    );
                    fusion_state.unfusible[other as usize] = true;
                }
                Err((other, reason)) => materialization.add(other, reason),
            }
        };
        for &member in &group.members {
            fusion_state.group_of[member as usize] = Some(groups.len() as u32);
        }
        fusion_state.members_of.push(group.members.clone());
        groups.push(group);
    }
    groups
}

/// An assignment of a slice can update its operand in place if the slice is this many times smaller than the operand.
const IN_PLACE_UPDATE_RATIO: usize = 8;

/// Whether to lower an assignment as an in-place update: a copy of the operand and a store of the slice. It must be
/// an output, and its operand an input that no other node reads. In-place reuse elides the copy when no other handle
/// holds the operand at execution.
fn is_in_place_update(graph: &Graph, node: NodeId) -> bool {
    let data = graph.node(node);
    let Op::Assign(_) = data.op else { return false };
    let (x, update) = (data.inputs[0], data.inputs[1]);
    let elements = |node: NodeId| graph.node(node).shape.element_count();
    let uses = graph.nodes.iter().flat_map(|user| &user.inputs).filter(|&&input| input == x);
    graph.node(x).op == Op::Input
        && elements(update).saturating_mul(IN_PLACE_UPDATE_RATIO) <= elements(x)
        && graph.outputs.contains(&node)
        && !graph.outputs.contains(&x)
        && uses.count() == 1
}

/// Forms the group of one value, or returns the value that must be materialized first, with the reason.
fn form_group(
    graph: &Graph,
    materialized: &MaterializedSet,
    fusion_state: &FusionState,
    node: NodeId,
) -> Result<FusionGroup, (NodeId, Reason)> {
    let data = graph.node(node);
    // Only groups of a single kernel fuse materialized producers: two kernels might both fuse the same one.
    let in_place = is_in_place_update(graph, node);
    let is_single_kernel =
        (!always_materialized(data) && !in_place) || matches!(data.op, Op::Scan { .. });
    let builder =
        GroupBuilder { graph, materialized, fusion_state, node, fuses_operands: is_single_kernel };
    // A part without elements needs no kernel: over an empty domain, a kernel would still run stores that do not vary
    // along the empty axis.
    let is_empty = |node: NodeId| graph.node(node).shape.element_count() == 0;
    let mut steps = Vec::new();
    let mut members = vec![node];
    match &data.op {
        // Nothing to compute, and no element to store.
        _ if is_empty(node) => {}
        Op::Dot(_) => steps.push(RawStep::Gemm(
            lower_gemm(graph, materialized, node).map_err(|node| (node, Reason::GemmOperand))?,
        )),
        Op::Scan { op, axis } => {
            let (op, x) = (*op, data.inputs[0]);
            let kernel = builder.kernel(&data.shape, &[*axis], |lowering, map| {
                lowering.kernel.nodes.push(node);
                lowering.kernel.ordered = true;
                let value = lowering.value(x, map, None)?;
                let scanned = match data.shape[*axis] {
                    1 => value,
                    _ => lowering.push(Kind::Scan(op, value), data.dtype),
                };
                lowering.store(node, map, scanned, None, None)
            })?;
            steps.push(RawStep::Launch(kernel.0));
            members = kernel.1;
        }
        op if op.is_routine() => {
            let reads = data.inputs.iter().map(|&input| resolve_alias(graph, input));
            steps.push(RawStep::Routine(node, reads.collect()));
        }
        Op::Scatter { axis, combine } => {
            let axis = *axis;
            let combine = match combine {
                Some(Combine::With(op)) => Some(*op),
                Some(Combine::Function(_)) => unreachable!("a scatter by a function is a routine"),
                None => None,
            };
            steps.push(RawStep::Launch(builder.copy(data.inputs[0], |map| map.clone())?));
            let (indices, update) = (data.inputs[1], data.inputs[2]);
            if is_empty(update) {
                return Ok(FusionGroup { members, steps });
            }
            let shape = &graph.node(update).shape;
            let kernel = builder.kernel(shape, &[axis], |lowering, map| {
                lowering.kernel.nodes.push(node);
                lowering.kernel.ordered = true;
                let index = lowering.value(indices, map, None)?;
                let (index, within) = lowering.index_and_bounds_mask(index, data.shape[axis]);
                let value = lowering.value(update, map, None)?;
                let mut target = map.clone();
                target[axis] = Coordinate::indirect(index);
                lowering.store(node, &target, value, Some(within), combine)
            })?;
            steps.push(RawStep::Launch(kernel.0));
        }
        Op::Concat { axis } if always_materialized(data) => {
            let mut start = 0;
            for &input in &data.inputs {
                let offset = start;
                start += graph.node(input).shape[*axis] as isize;
                if is_empty(input) {
                    continue;
                }
                let kernel = builder.copy(input, |map| {
                    let mut target = map.clone();
                    target[*axis] = target[*axis].stepped(offset, 1);
                    target
                })?;
                steps.push(RawStep::Launch(kernel));
            }
        }
        Op::Pad(axes) if always_materialized(data) => {
            let fill = data.inputs[1];
            let kernel = builder.kernel(&data.shape, &[], |lowering, map| {
                let value = lowering.value(fill, &IndexMap::new(), None)?;
                lowering.store(node, map, value, None, None)
            })?;
            steps.push(RawStep::Launch(kernel.0));
            // Store the elements that negative padding does not crop, each to its padded position.
            let x = data.inputs[0];
            if is_empty(x) {
                return Ok(FusionGroup { members, steps });
            }
            let shape = graph.node(x).shape.clone();
            let kernel = builder.kernel(&shape, &[], |lowering, map| {
                lowering.kernel.nodes.push(node);
                let value = lowering.value(x, map, None)?;
                let target: IndexMap = map
                    .iter()
                    .zip(axes)
                    .map(|(c, axis)| c.stepped(axis.low, axis.interior as isize + 1))
                    .collect();
                let inside = lowering.bounds_mask(node, &target, &data.shape)?;
                lowering.store(node, &target, value, inside, None)
            })?;
            steps.push(RawStep::Launch(kernel.0));
        }
        Op::Assign(axes) if always_materialized(data) || in_place => {
            steps.push(RawStep::Launch(builder.copy(data.inputs[0], |map| map.clone())?));
            if !is_empty(data.inputs[1]) {
                let kernel = builder.copy(data.inputs[1], |map| index::slice(map, axes))?;
                steps.push(RawStep::Launch(kernel));
            }
        }
        _ => {
            let (kernel, all) =
                builder.kernel(&data.shape, &[], |lowering, map| lowering.store_root(map))?;
            steps.push(RawStep::Launch(kernel));
            members = all;
        }
    }
    Ok(FusionGroup { members, steps })
}

struct GroupBuilder<'a> {
    graph: &'a Graph,
    materialized: &'a MaterializedSet,
    fusion_state: &'a FusionState,
    /// The value whose group is built.
    node: NodeId,
    /// Whether its kernels may fuse other materialized values.
    fuses_operands: bool,
}

impl GroupBuilder<'_> {
    /// Lowers a kernel over the index space of `shape`, with the axes in `reduced` reduced in order. Restarts with a
    /// split axis when the body asks for one. The body gets the index map of that space. Returns the kernel, and the
    /// materialized values it computes.
    fn kernel(
        &self,
        shape: &Shape,
        reduced: &[usize],
        body: impl Fn(&mut Lowering, &IndexMap) -> Result<(), LoweringBlocker>,
    ) -> Result<(RawKernel, Vec<NodeId>), (NodeId, Reason)> {
        // The factors that each axis of the shape is split into, which are the extents of the domain's axes.
        let mut factors: Vec<SmallVec<[usize; 4]>> =
            shape.iter().map(|&extent| SmallVec::from_slice(&[extent])).collect();
        let mut row_factors: SmallVec<[usize; 4]> = SmallVec::new();
        loop {
            let mut axes = Vec::new();
            let mut map = IndexMap::new();
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
                self.materialized,
                self.fuses_operands.then_some(self.fusion_state),
                self.node,
                axes,
                row_factors.clone(),
            );
            match body(&mut lowering, &map) {
                Ok(()) => return Ok((lowering.kernel, lowering.members)),
                Err(LoweringBlocker::Materialize(node, reason)) => return Err((node, reason)),
                Err(LoweringBlocker::SplitAxis { axis, inner }) if axis >= own => {
                    let rows = &lowering.kernel.axes[own..];
                    row_factors = rows.iter().map(|axis| axis.extent).collect();
                    split(&mut row_factors, axis - own, inner);
                }
                Err(LoweringBlocker::SplitAxis { axis, inner }) => {
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

    /// A kernel that stores `source` into the group's buffer, through the index map that `target` returns.
    fn copy(
        &self,
        source: NodeId,
        target: impl Fn(&IndexMap) -> IndexMap,
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

/// The groups in topological order: each after the groups that it reads from.
pub fn topological_order(graph: &Graph, groups: &[FusionGroup]) -> Vec<usize> {
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
    let dependencies: Vec<Vec<usize>> = groups
        .iter()
        .enumerate()
        .map(|(id, group)| {
            let reads = group.steps.iter().flat_map(RawStep::operands);
            reads.filter_map(resolve).filter(|&other| other != id).collect()
        })
        .collect();
    // Depth-first search from each group, in the order in which their values were recorded.
    let mut in_recorded_order: Vec<usize> = (0..groups.len()).collect();
    in_recorded_order.sort_by_key(|&group| groups[group].members.iter().min());
    let mut done = vec![false; groups.len()];
    let mut topological_order = Vec::with_capacity(groups.len());
    for start in in_recorded_order {
        let mut stack = vec![(start, 0)];
        while let Some((group, next)) = stack.pop() {
            if done[group] {
                continue;
            }
            match dependencies[group].get(next) {
                Some(&dependency) => {
                    stack.push((group, next + 1));
                    assert!(
                        stack.len() <= 2 * groups.len() + 2,
                        "groups must not dependency each other"
                    );
                    stack.push((dependency, 0));
                }
                None => {
                    done[group] = true;
                    topological_order.push(group);
                }
            }
        }
    }
    topological_order
}

impl RawStep {
    /// The values in memory that it reads or writes.
    pub fn operands(&self) -> Vec<NodeId> {
        match self {
            RawStep::Launch(kernel) => kernel.params.iter().map(|(node, _)| *node).collect(),
            RawStep::Gemm(gemm) => gemm.operands().to_vec(),
            RawStep::Routine(node, inputs) => inputs.iter().copied().chain([*node]).collect(),
        }
    }
}
