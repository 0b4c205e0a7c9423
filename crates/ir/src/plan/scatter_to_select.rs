//! Scatter-to-select rewrite: which scatters become elementwise ops.
//!
//! If each line along the scattered axis gets at most one update, no two updates meet. Then element `i` of a line is
//! `select(i == index, combine(x, update), x)`. In this form the scatter fuses with its operand and its consumers; as
//! a scatter, its result is always materialized.

use crate::graph::{Combine, Graph, Node, NodeId, Op};
use crate::{DType, Shape};

/// For each node, whether it is a scatter to rewrite as a select.
///
/// A select iterates over the whole result, so it only pays off if the operand is not in memory: if it is uniform
/// (such as zeros), or computed for this scatter alone. An operand in memory is better updated in place, and a
/// computed operand is better materialized if consumers read its elements several times.
pub fn find_select_scatters(graph: &Graph) -> Vec<bool> {
    let count = graph.nodes.len();
    if !graph.nodes.iter().any(|node| matches!(node.op, Op::Scatter { .. })) {
        return vec![false; count];
    }
    let mut uses = vec![0; count];
    let operands = graph.nodes.iter().flat_map(|node| &node.inputs);
    operands.chain(&graph.outputs).for_each(|&node| uses[node as usize] += 1);
    let revisited = revisited(graph);
    let is_elementwise = |(id, node): (usize, &Node)| {
        let Op::Scatter { axis, combine } = &node.op else { return false };
        let (x, index) = (node.inputs[0], graph.node(node.inputs[1]));
        let is_computed = graph.node(x).op.is_elementwise() && uses[x as usize] == 1;
        let is_unmaterialized = match is_uniform(graph, x) {
            true => is_compare_cheap(graph, id as NodeId, index.dtype, *axis),
            false => is_computed && !revisited[id],
        };
        index.shape[*axis] == 1
            && node.shape.element_count() > 0
            && !matches!(combine, Some(Combine::Function(_)))
            && is_unmaterialized
    };
    graph.nodes.iter().enumerate().map(is_elementwise).collect()
}

/// Beyond this many bytes, filling an output in memory is faster than comparing each position with an index, if the
/// elements are smaller than the positions.
const MAX_COMPARED_BYTES: usize = 1 << 20;

/// Whether comparing each position with an index costs no more than filling the result.
fn is_compare_cheap(graph: &Graph, id: NodeId, index: DType, axis: usize) -> bool {
    let node = graph.node(id);
    let is_read = || graph.nodes.iter().any(|reader| reader.inputs.contains(&id));
    node.dtype.size() >= position_dtype(index, &node.shape, axis).size()
        || node.shape.element_count() * node.dtype.size() <= MAX_COMPARED_BYTES
        || is_read()
}

/// For each node, whether a consumer reads its elements several times, and would recompute them as often.
fn revisited(graph: &Graph) -> Vec<bool> {
    let mut revisited = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        let is_fusible = node.op.is_view() || node.op.is_elementwise();
        for &input in &node.inputs {
            let grows = node.op.is_view()
                && node.shape.element_count() > graph.node(input).shape.element_count();
            if grows || (is_fusible && revisited[id]) {
                revisited[input as usize] = true;
            }
        }
    }
    revisited
}

/// Whether every element of a node is the same scalar.
fn is_uniform(graph: &Graph, mut node: NodeId) -> bool {
    while graph.node(node).op.is_view() {
        node = graph.node(node).inputs[0];
    }
    graph.node(node).op == Op::Scalar
}

/// The dtype of the positions that are compared with indices. It holds all positions along the axis, and every index
/// of its dtype, so that an out-of-range index never wraps to a valid position.
pub fn position_dtype(index: DType, shape: &Shape, axis: usize) -> DType {
    let last = shape[axis].saturating_sub(1) as u64;
    match index {
        DType::I64 | DType::U64 => index,
        DType::U32 if last <= u32::MAX as u64 => index,
        DType::U32 => DType::I64,
        _ if last <= i32::MAX as u64 => DType::I32,
        _ => DType::I64,
    }
}
