//! Which written values share a kernel, and in which order kernels run.
//!
//! Groups are formed from the last value to the first: a value's kernel takes in the written values it
//! needs at the very points where it needs them, as long as nothing outside must run in between.

use super::Reason;
use super::gemm::{RawGemm, lower_gemm, resolve_alias};
use super::index::{self, Coordinate, IndexMap};
use super::lower::{DomainAxis, Lowering, LoweringBlocker, RawKernel};
use super::materialize::{Materialization, MaterializedSet, always_materialized, is_alias};
use crate::Shape;
use crate::graph::{Combine, Graph, NodeId, Op};
use crate::kernel::{Kind, Value};
use smallvec::SmallVec;

/// Written values that are computed together.
pub struct FusionGroup {
    /// The values.
    pub members: Vec<NodeId>,
    /// What computes them, in order.
    pub steps: Vec<RawStep>,
}

/// A step before its buffers are known.
pub enum RawStep {
    /// A kernel.
    Launch(RawKernel),
    /// A contraction.
    Gemm(RawGemm),
    /// A routine: this value, and the values whose memory it reads.
    Routine(NodeId, SmallVec<[NodeId; 3]>),
}

/// What is known of groups while they are formed.
pub struct FusionState {
    users: Vec<SmallVec<[NodeId; 4]>>,
    materialized: MaterializedSet,
    group_of: Vec<Option<u32>>,
    members_of: Vec<Vec<NodeId>>,
    /// Values that no kernel but their own computes: some kernel tried and could not, or they were written
    /// to end a kernel.
    unfusible: Vec<bool>,
}

impl FusionState {
    /// Whether the group of `members` may compute `node` too: it has no group yet, and no other kernel
    /// that needs it comes before any of the members.
    pub fn can_fuse(&self, node: NodeId, members: &[NodeId]) -> bool {
        if self.group_of[node as usize].is_some() || self.unfusible[node as usize] {
            return false;
        }
        // Walks from the value to all that depends on it. A path that has left the group, by passing
        // through another written value, must not come back.
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
                // Whoever waits for one value of a kernel waits for all of them.
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

/// Puts every written value in a group. May find that more values must be written.
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
                    assert_ne!(other, node, "a kernel cannot stand in its own way");
                    assert!(
                        !fusion_state.unfusible[other as usize],
                        "an blocker must not come back"
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

/// An assignment of a part this many times smaller than the whole may be written into the whole's memory.
const IN_PLACE_UPDATE_RATIO: usize = 8;

/// Whether a part is assigned to a value in memory that nothing else here reads, and the result is asked for: a copy
/// and the part are then two launches, and the copy is none if nobody holds the value any more when it would run.
fn is_in_place_update(graph: &Graph, node: NodeId) -> bool {
    let data = graph.node(node);
    let Op::Assign(_) = data.op else { return false };
    let (x, update) = (data.inputs[0], data.inputs[1]);
    let elements = |node: NodeId| graph.node(node).shape.elements();
    let uses = graph.nodes.iter().flat_map(|user| &user.inputs).filter(|&&input| input == x);
    graph.node(x).op == Op::Input
        && elements(update).saturating_mul(IN_PLACE_UPDATE_RATIO) <= elements(x)
        && graph.outputs.contains(&node)
        && !graph.outputs.contains(&x)
        && uses.count() == 1
}

/// One value's group, or the value that is in its way.
fn form_group(
    graph: &Graph,
    materialized: &MaterializedSet,
    fusion_state: &FusionState,
    node: NodeId,
) -> Result<FusionGroup, (NodeId, Reason)> {
    let data = graph.node(node);
    // Only a group of one kernel takes in other values: two might take in the same.
    let in_place = is_in_place_update(graph, node);
    let is_single_kernel =
        (!always_materialized(data) && !in_place) || matches!(data.op, Op::Scan { .. });
    let builder =
        GroupBuilder { graph, materialized, fusion_state, node, fuses_operands: is_single_kernel };
    // A part without elements has no kernel: over an empty domain one would still store what does not
    // vary over it.
    let is_empty = |node: NodeId| graph.node(node).shape.elements() == 0;
    let mut steps = Vec::new();
    let mut members = vec![node];
    match &data.op {
        // Nothing to compute, and no element that a kernel might store to.
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
                Some(Combine::Function(_)) => unreachable!("a routine"),
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
            // The elements that survive cutting, each at its place.
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
    /// The value whose group is formed.
    node: NodeId,
    /// Whether kernels may take in other written values.
    fuses_operands: bool,
}

impl GroupBuilder<'_> {
    /// A kernel over the index space of `shape`, `reduced` axes in order, split as the body needs. The
    /// body gets the map of that index space. Returns the written values it computes too.
    fn kernel(
        &self,
        shape: &Shape,
        reduced: &[usize],
        body: impl Fn(&mut Lowering, &IndexMap) -> Result<(), LoweringBlocker>,
    ) -> Result<(RawKernel, Vec<NodeId>), (NodeId, Reason)> {
        // Each axis of the shape as the extents of the domain's axes it is split into.
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

    /// A kernel that writes `source` into the group's buffer, at the places `target` gives.
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

/// The groups in an order in which each finds what it reads.
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
    // Depth first from each group, in the order in which their values were recorded.
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
