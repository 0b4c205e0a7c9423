//! Scatter with duplicate indices and an arbitrary body: a loop whose rounds each update a position at most once.

use super::ScatterOperands;
use crate::lower::builder::{Builder, Lowered};
use crate::lower::context::Lowering;
use crate::lower::control_flow::build_while;
use crate::lower::gather::in_range;
use crate::module::Region;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{FloatOrder, NodeId, Op, SliceAxis, SortKey, SortOrder, SortResult};
use inflight_ir::{Axes, CompareOp, DType};
use smallvec::smallvec;

/// Scatters the updates into the inputs. The number of rounds is the maximum number of updates of one position; each
/// round writes the next update of every position, in row-major order.
pub(super) fn write<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    target: &ScatterOperands,
) -> Lowered<Vec<NodeId>> {
    if lowering.elementwise {
        return Err("`scatter` inside the body of another operation is not supported".into());
    }
    let builder = lowering.builder();
    let extent = builder.shape(target.inputs[0])[target.axis];
    let update_round = round_of_each(builder, target.index, target.axis, extent)?;
    let axes: Axes = (0..builder.shape(update_round).rank()).collect();
    let last = builder.push(Op::Reduce { op: CombineOp::Max, axes }, &[update_round])?;
    let first = builder.scalar(0i64);
    let outside: Vec<NodeId> = [update_round, last, target.index]
        .into_iter()
        .chain(target.updates.iter().copied())
        .collect();
    let outside: Vec<_> = outside.into_iter().map(|node| lowering.bound(node)).collect();
    let initial = target.inputs.iter().copied().chain([first]).collect();
    let condition = |lowering: &mut Lowering<'a>, carried: &[NodeId]| {
        let last = lowering.node(&outside[1])?;
        let round = carried[carried.len() - 1];
        lowering.builder().compare(CompareOp::Le, round, last)
    };
    let body = |lowering: &mut Lowering<'a>, carried: &[NodeId]| {
        let inside: Vec<NodeId> =
            outside.iter().map(|bound| lowering.node(bound)).collect::<Lowered<_>>()?;
        let [update_round, _, index, updates @ ..] = &*inside else {
            unreachable!("the round, the last round, the index and the updates")
        };
        let (inputs, round) = carried.split_at(carried.len() - 1);
        let builder = lowering.builder();
        let is_this_round = builder.compare(CompareOp::Eq, *update_round, round[0])?;
        let dtype = builder.dtype(*index);
        let out_of_range = builder.integer(-1, dtype);
        let index = builder.select(is_this_round, *index, out_of_range)?;
        let mut next = target.write_unique(lowering, region, inputs, index, updates)?;
        let builder = lowering.builder();
        let one = builder.scalar(1i64);
        next.push(builder.add(round[0], one)?);
        Ok(next)
    };
    let mut written = build_while(lowering, initial, condition, body)?;
    written.truncate(target.inputs.len());
    Ok(written)
}

/// The round of each index: the number of equal indices before it along the axis; -1 if it is out of range.
fn round_of_each(
    builder: &mut Builder,
    index: NodeId,
    axis: usize,
    extent: usize,
) -> Lowered<NodeId> {
    let shape = builder.shape(index).clone();
    let key = SortKey { descending: false, floats: FloatOrder::Numeric };
    let order = SortOrder::Keys(smallvec![key]);
    let op = Op::Sort { axis, order, result: SortResult::Positions };
    let positions = builder.push(op, &[index])?;
    let sorted = builder.push(Op::Gather { axis }, &[index, positions])?;
    let len = shape[axis];
    let update_round = match len {
        0 | 1 => builder.full(0i64.into(), &shape)?,
        _ => {
            // Mark the start of each run of equal indices with its position; a max-scan spreads it over the run.
            let later = SliceAxis { start: 1, step: 1, len: len - 1 };
            let earlier = SliceAxis { start: 0, step: 1, len: len - 1 };
            let (later, earlier) = (
                builder.slice_axis(sorted, axis, later)?,
                builder.slice_axis(sorted, axis, earlier)?,
            );
            let begins = builder.compare(CompareOp::Ne, later, earlier)?;
            let position = builder.iota(axis, &shape.with(axis, len - 1), DType::I64)?;
            let one = builder.scalar(1i64);
            let position = builder.add(position, one)?;
            let zero = builder.scalar(0i64);
            let begin = builder.select(begins, position, zero)?;
            let first = builder.full(0i64.into(), &shape.with(axis, 1))?;
            let begin = builder.concat(&[first, begin], axis)?;
            let begin = builder.push(Op::Scan { op: CombineOp::Max, axis }, &[begin])?;
            let position = builder.iota(axis, &shape, DType::I64)?;
            let update_round = builder.sub(position, begin)?;
            builder.push(
                Op::Scatter { axis, combine: None },
                &[update_round, positions, update_round],
            )?
        }
    };
    let is_inside = in_range(builder, index, extent)?;
    let no_round = builder.scalar(-1i64);
    builder.select(is_inside, update_round, no_round)
}
