//! Functions composed of sorts: top-k.

use super::{ComposeError, GraphBuilder};
use crate::graph::{Graph, NodeId, Op, SortKey, SortOrder, SortResult};
use smallvec::smallvec;

/// Appends a gather of `x` along `axis` at the positions that a sort returned.
pub fn gather_sorted(
    graph: &mut Graph,
    x: NodeId,
    positions: NodeId,
    axis: usize,
) -> Result<NodeId, ComposeError> {
    Ok(graph.push(Op::Gather { axis }, &[x, positions])?)
}

/// Appends the `k` largest elements along an axis, in descending order, and their positions (`i64`). The sort is
/// stable, and NaN ranks above any other value.
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
    // An axis out of range is an inference error below.
    if let Some(&extent) = shape.get(axis).filter(|&&extent| k > extent) {
        return Err(ComposeError::TopK { k, extent });
    }
    let order = SortOrder::Keys(smallvec![SortKey { descending: true, ..SortKey::default() }]);
    let sort = Op::Sort { axis, order, result: SortResult::FirstPositions(k) };
    let positions = build.0.push(sort, &[x])?;
    let values = gather_sorted(build.0, x, positions, axis)?;
    Ok((values, positions))
}
