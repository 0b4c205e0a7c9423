//! Scatters that are elementwise.
//!
//! Where one update at most comes to each line along the scattered axis, no two of them meet. Then each element of
//! the result is what was there or, at the place that the line's index says, that combined with the line's update. In
//! this form a scatter is fused with what it is put into and with whoever reads it; as a scatter it is written first.

use crate::graph::{Combine, Graph, Node, NodeId, Op};
use crate::{DType, Shape};

/// For each node, whether it is a scatter that [`rewrite`](super::rewrite) makes elementwise.
///
/// That takes a pass over the whole result. It is made anyway where what is put into is in no memory yet: where it is
/// one value everywhere, or is computed for this scatter alone. What is in memory is better updated in place, and what
/// is computed is better written if somebody repeats its elements.
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
            && node.shape.elements() > 0
            && !matches!(combine, Some(Combine::Function(_)))
            && is_unmaterialized
    };
    graph.nodes.iter().enumerate().map(is_elementwise).collect()
}

/// Beyond this many bytes, a result that nobody reads is filled faster than its places are compared with an index, if
/// its elements are smaller than that.
const MAX_COMPARED_BYTES: usize = 1 << 20;

/// Whether to compare each place with an index takes no longer than to fill the result.
fn is_compare_cheap(graph: &Graph, id: NodeId, index: DType, axis: usize) -> bool {
    let node = graph.node(id);
    let is_read = || graph.nodes.iter().any(|reader| reader.inputs.contains(&id));
    node.dtype.size() >= position_dtype(index, &node.shape, axis).size()
        || node.shape.elements() * node.dtype.size() <= MAX_COMPARED_BYTES
        || is_read()
}

/// For each node, whether somebody reads its elements several times: they would be computed as often.
fn revisited(graph: &Graph) -> Vec<bool> {
    let mut revisited = vec![false; graph.nodes.len()];
    for (id, node) in graph.nodes.iter().enumerate().rev() {
        let is_fusible = node.op.is_view() || node.op.is_elementwise();
        for &input in &node.inputs {
            let grows =
                node.op.is_view() && node.shape.elements() > graph.node(input).shape.elements();
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

/// The dtype in which places along an axis are counted to be compared with indices: it holds all places, and every
/// index of that dtype, so none that is out of range is taken for another.
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
