//! What is made of sorts.

use super::{ComposeError, GraphBuilder};
use crate::graph::{Graph, NodeId, Op, SortKey, SortOrder, SortResult};
use smallvec::smallvec;

/// Appends the elements of `x` along `axis` at these positions, the result of a sort.
pub fn gather_sorted(
    graph: &mut Graph,
    x: NodeId,
    positions: NodeId,
    axis: usize,
) -> Result<NodeId, ComposeError> {
    Ok(graph.push(Op::Gather { axis }, &[x, positions])?)
}

/// Appends the `k` largest elements along an axis, largest first, and their positions (`i64`). Of equals, the
/// first come first; NaN is larger than every number.
pub fn top_k(
    graph: &mut Graph,
    x: NodeId,
    k: usize,
    axis: usize,
) -> Result<(NodeId, NodeId), ComposeError> {
    let build = GraphBuilder(graph);
    let shape = build.shape(x);
    if shape.rank() == 0 {
        return Err(ComposeError::NoAxis);
    }
    // An axis that it has not is refused below.
    if let Some(&extent) = shape.get(axis).filter(|&&extent| k > extent) {
        return Err(ComposeError::TopK { k, extent });
    }
    let order = SortOrder::Keys(smallvec![SortKey { descending: true, ..SortKey::default() }]);
    let sort = Op::Sort { axis, order, result: SortResult::FirstPositions(k) };
    let positions = build.0.push(sort, &[x])?;
    let values = gather_sorted(build.0, x, positions, axis)?;
    Ok((values, positions))
}
