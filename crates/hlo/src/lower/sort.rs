//! `sort` with any comparator, and the largest elements.

use super::attributes::Fields;
use super::body::{Body, body};
use super::builder::{Builder, Lowered};
use super::control::regions;
use super::lowering::{Bound, Lowering};
use crate::module::Operation;
use inflight_ir::graph::{FloatOrder, NodeId, Op, SliceAxis, SortKey, SortOrder, SortResult};
use inflight_ir::{CompareOp, DType};
use smallvec::smallvec;

/// `sort`. It is always stable.
pub(super) fn sort<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let inputs = lowering.operands(operation)?;
    let Some(&first) = inputs.first() else { return Err("there is no operand".into()) };
    let [region] = regions::<1>(operation)?;
    let builder = lowering.builder();
    let shape = builder.shape(first).clone();
    let axis = match Fields::of(operation).integer("dimension")?.unwrap_or(-1) {
        axis if axis < 0 => axis + shape.rank() as i64,
        axis => axis,
    };
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < shape.rank()).or_else(|| {
        // A scalar has nothing to sort.
        (shape.rank() == 0).then_some(0)
    });
    let Some(axis) = axis else { return Err("`dimension` is not an axis".into()) };
    if shape.rank() == 0 || shape.contains(&0) {
        return Ok(inputs.into_iter().map(|node| lowering.bound(node)).collect());
    }
    let dtypes: Vec<DType> = inputs
        .iter()
        .flat_map(|&input| [lowering.builder().dtype(input), lowering.builder().dtype(input)])
        .collect();
    let function = body(lowering, region, &dtypes)?;
    let read = function.read_operands();
    let builder = lowering.builder();
    let (keys, order) = match simple_order(&function) {
        Some((key, order)) => (vec![inputs[key]], order),
        None => {
            let keys = read.iter().map(|&key| inputs[key]).collect();
            (keys, SortOrder::Comparator(function.with_operands(&read)?))
        }
    };
    if let (&[only], &[key]) = (&*inputs, &*keys)
        && only == key
        && matches!(order, SortOrder::Keys(_))
    {
        let op = Op::Sort { axis, order, result: SortResult::Values };
        let sorted = builder.push(op, &[only])?;
        return Ok(vec![lowering.bound(sorted)]);
    }
    let op = Op::Sort { axis, order, result: SortResult::Positions };
    let positions = builder.push(op, &keys)?;
    let mut results = Vec::new();
    for input in inputs {
        results.push(permuted(builder, input, positions, axis)?);
    }
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}

/// The elements of `x` along an axis in the order of positions.
fn permuted(builder: &mut Builder, x: NodeId, positions: NodeId, axis: usize) -> Lowered<NodeId> {
    // Positions themselves need no lookup.
    if let Op::Iota { axis: counted, .. } = builder.entries[x as usize].op
        && counted == axis
    {
        let dtype = builder.dtype(x);
        return builder.cast(positions, dtype);
    }
    builder.push(Op::Gather { axis }, &[x, positions])
}

/// The order by one operand that the comparator stands for, if it is a plain comparison.
fn simple_order(function: &Body) -> Option<(usize, SortOrder)> {
    let [result] = function.results[..] else { return None };
    let entry = &function.builder.entries[result as usize];
    let (key, descending) = match (&entry.op, entry.inputs.as_slice()) {
        (Op::Compare(op @ (CompareOp::Lt | CompareOp::Gt)), &[a, b]) => {
            let (a, b) = (function.argument(a)?, function.argument(b)?);
            if a / 2 != b / 2 || a == b {
                return None;
            }
            (a / 2, (*op == CompareOp::Gt) == (a < b))
        }
        _ => return None,
    };
    // With NaN, a comparison of floats is no order; the comparator decides then what comes of it.
    let dtype = function.builder.dtype(function.arguments[2 * key]);
    if dtype.is_float() {
        return None;
    }
    let floats = FloatOrder::Numeric;
    Some((key, SortOrder::Keys(smallvec![SortKey { descending, floats }])))
}

/// `chlo.top_k`
pub(super) fn top_k<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let count = Fields::of(operation).integer("k")?.ok_or("the attribute `k` is missing")?;
    largest(lowering, operation, count)
}

/// The largest elements along the last axis, in order, and their positions. NaN counts as the largest.
pub(super) fn largest(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
    count: i64,
) -> Lowered<Vec<Bound>> {
    let x = lowering.operand(operation, 0)?;
    let dtype = lowering.declared_dtype(operation, 1)?;
    let builder = lowering.builder();
    let shape = builder.shape(x).clone();
    let Some(axis) = shape.rank().checked_sub(1) else { return Err("a scalar has no axis".into()) };
    let len = usize::try_from(count).ok().filter(|&count| count <= shape[axis]);
    let Some(len) = len else {
        return Err(format!("there are no {count} largest of {}", shape[axis]).into());
    };
    let order = SortOrder::Keys(smallvec![SortKey { descending: true, floats: FloatOrder::Total }]);
    let op = Op::Sort { axis, order, result: SortResult::Positions };
    let positions = builder.push(op, &[x])?;
    let positions = builder.slice_axis(positions, axis, SliceAxis { start: 0, step: 1, len })?;
    let values = builder.push(Op::Gather { axis }, &[x, positions])?;
    let positions = builder.cast(positions, dtype)?;
    Ok(vec![lowering.bound(values), lowering.bound(positions)])
}
