//! Lowering of `reduce`: library reductions, argmin and argmax, or a tree_reduce reduction with an arbitrary body.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::scalar_body::{ScalarBody, lower_body};
use crate::module::{Operation, Region};
use inflight_ir::elementwise::{ArgOp, CombineOp};
use inflight_ir::graph::{NodeId, Op, SliceAxis};
use inflight_ir::{Axes, BinaryOp, CompareOp, DType, Scalar, Shape};

/// `reduce`
pub(super) fn reduce<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let (inputs, initial) = inputs_and_initial(lowering, operation)?;
    let [region] = regions::<1>(operation)?;
    let mut axes = AttributeView::of(operation).axes("dimensions")?;
    axes.sort_unstable();
    axes.dedup();
    let builder = lowering.builder();
    let shape = builder.shape(inputs[0]).clone();
    if axes.iter().any(|&axis| axis >= shape.rank()) {
        return Err(format!("expected `dimensions` to be axes of {shape}, found {axes:?}").into());
    }
    let dtypes: Vec<DType> =
        initial.iter().chain(&initial).map(|&value| builder.dtype(value)).collect();
    let mut function = lower_body(lowering, region, &dtypes)?;
    let builder = lowering.builder();
    let results = if let (Some(op), [x], [initial]) = (function.combine(), &*inputs, &*initial) {
        let x = builder.cast(*x, dtypes[0])?;
        let reduced = match axes.is_empty() {
            true => x,
            false => builder.push(Op::Reduce { op, axes: Axes::from_slice(&axes) }, &[x])?,
        };
        vec![with_initial(builder, op, reduced, *initial)?]
    } else if let Some(results) = arg_reduce(builder, &mut function, &inputs, &initial, &axes)? {
        results
    } else {
        tree_reduce(lowering, region, &inputs, &initial, &axes)?
    };
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}

/// The inputs, all of one shape, and their initial values.
pub(super) fn inputs_and_initial(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<(Vec<NodeId>, Vec<NodeId>)> {
    let mut inputs = lowering.operands(operation)?;
    if inputs.is_empty() || inputs.len() % 2 != 0 {
        return Err(format!(
            "expected inputs and as many initial values, found {} operands",
            inputs.len()
        )
        .into());
    }
    let initial = inputs.split_off(inputs.len() / 2);
    let builder = lowering.builder();
    let shape = builder.shape(inputs[0]);
    if inputs.iter().any(|&input| builder.shape(input) != shape) {
        return Err("expected inputs of one shape".into());
    }
    if initial.iter().any(|&value| builder.shape(value).rank() != 0) {
        return Err("expected initial values of rank 0".into());
    }
    Ok((inputs, initial))
}

/// Whether a value is the constant identity of a combine op.
pub(super) fn is_identity(builder: &mut Builder, op: CombineOp, value: NodeId) -> bool {
    let dtype = builder.dtype(value);
    let Some(value) = builder.constant_scalar(value) else { return false };
    // Either zero is the identity of a sum.
    value == Scalar::identity(op, dtype)
        || op == CombineOp::Sum && dtype.is_float() && value.to_f64() == 0.0
}

/// Combines a reduction with its initial value, unless that is the identity.
fn with_initial(
    builder: &mut Builder,
    op: CombineOp,
    reduced: NodeId,
    initial: NodeId,
) -> Lowered<NodeId> {
    if is_identity(builder, op, initial) {
        return Ok(reduced);
    }
    builder.binary(op.binary(), initial, reduced)
}

/// Recognizes argmax and argmin as JAX lowers them: a reduction of (value, position) pairs that prefers NaN, then the
/// better value, then the lower position.
fn arg_reduce(
    builder: &mut Builder,
    function: &mut ScalarBody,
    inputs: &[NodeId],
    initial: &[NodeId],
    axes: &[usize],
) -> Lowered<Option<Vec<NodeId>>> {
    let (&[x, position], &[first, zero], &[axis]) = (inputs, initial, axes) else {
        return Ok(None);
    };
    let Some(op) = arg_op(function)? else { return Ok(None) };
    let extent = builder.shape(x)[axis];
    let counts_along = |builder: &Builder| {
        let mut node = position;
        // Broadcasts prepend axes, so axes are compared from the end.
        let from_end = builder.shape(position).rank() - axis;
        loop {
            let entry = &builder.entries[node as usize];
            match entry.op {
                Op::Broadcast(_) => node = entry.inputs[0],
                Op::Iota { axis, .. } => return entry.shape.rank() - axis == from_end,
                _ => return false,
            }
        }
    };
    let worst = match op {
        ArgOp::Max => Scalar::lowest(builder.dtype(x)),
        ArgOp::Min => Scalar::highest(builder.dtype(x)),
    };
    let is_plain = counts_along(builder)
        && extent > 0
        && builder.constant_scalar(first) == Some(worst)
        && builder.constant_scalar(zero).is_some_and(|zero| zero.to_i64() == 0);
    if !is_plain {
        return Ok(None);
    }
    let combine = if op == ArgOp::Max { CombineOp::Max } else { CombineOp::Min };
    let reduced =
        builder.push(Op::Reduce { op: combine, axes: Axes::from_slice(&[axis]) }, &[x])?;
    let found = builder.push(Op::ArgReduce { op, axis }, &[x])?;
    let dtype = builder.dtype(position);
    Ok(Some(vec![reduced, builder.cast(found, dtype)?]))
}

/// Matches the body of argmax and argmin. CSE makes equal expressions the same node, so comparing node ids is a
/// structural match.
fn arg_op(function: &mut ScalarBody) -> Lowered<Option<ArgOp>> {
    let &[x, i, y, j] = &*function.arguments else { return Ok(None) };
    if function.results.len() != 2 {
        return Ok(None);
    }
    let builder = &mut function.builder;
    let positions = builder.dtype(i);
    if builder.dtype(x) != builder.dtype(y)
        || builder.dtype(x).is_complex()
        || positions != builder.dtype(j)
        || !positions.is_integer()
    {
        return Ok(None);
    }
    for (op, better) in [(ArgOp::Max, CompareOp::Gt), (ArgOp::Min, CompareOp::Lt)] {
        let wins = builder.compare(better, x, y)?;
        let is_nan = builder.compare(CompareOp::Ne, x, x)?;
        let wins_or_nan = builder.binary(BinaryOp::Or, wins, is_nan)?;
        let is_tie = builder.compare(CompareOp::Eq, x, y)?;
        let is_before = builder.compare(CompareOp::Lt, i, j)?;
        let wins_tie = builder.binary(BinaryOp::And, is_tie, is_before)?;
        let mut picks = vec![wins_or_nan];
        if !builder.dtype(x).is_float() {
            picks.push(wins);
        }
        for pick in picks {
            let pick_position = builder.binary(BinaryOp::Or, pick, wins_tie)?;
            let value = builder.select(pick, x, y)?;
            let position = builder.select(pick_position, i, j)?;
            if function.results == [value, position] {
                return Ok(Some(op));
            }
        }
    }
    Ok(None)
}

/// Tree reduction with an arbitrary body. Only neighbours are combined, so the order of elements is preserved.
fn tree_reduce<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    inputs: &[NodeId],
    initial: &[NodeId],
    axes: &[usize],
) -> Lowered<Vec<NodeId>> {
    let builder = lowering.builder();
    let shape = builder.shape(inputs[0]).clone();
    let kept: Vec<usize> = (0..shape.rank()).filter(|axis| !axes.contains(axis)).collect();
    let order: Vec<usize> = kept.iter().chain(axes).copied().collect();
    let count: usize = axes.iter().map(|&axis| shape[axis]).product();
    let outer: Shape = kept.iter().map(|&axis| shape[axis]).collect();
    let line: Shape = outer.iter().copied().chain([count]).collect();
    let mut values = Vec::new();
    for (&input, &initial) in inputs.iter().zip(initial) {
        let dtype = builder.dtype(initial);
        let input = builder.cast(input, dtype)?;
        let input = builder.permute(input, &order)?;
        values.push(builder.reshape(input, &line)?);
    }
    let initial: Vec<NodeId> =
        initial.iter().map(|&value| builder.broadcast(value, &outer)).collect::<Lowered<_>>()?;
    if line.contains(&0) {
        return Ok(initial);
    }
    let last = line.rank() - 1;
    let folded = fold_axis(lowering, region, values, last)?;
    let builder = lowering.builder();
    let mut arguments = initial;
    for value in folded {
        arguments.push(builder.reshape(value, &outer)?);
    }
    lowering.apply_elementwise(region, &arguments, &outer)
}

/// Tree-reduces values along an axis to one element.
pub(super) fn fold_axis<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    mut values: Vec<NodeId>,
    axis: usize,
) -> Lowered<Vec<NodeId>> {
    // The odd elements left over, which follow `values` in order.
    let mut rest: Option<Vec<NodeId>> = None;
    loop {
        let count = lowering.builder().shape(values[0])[axis];
        if count % 2 == 1 {
            let slice = SliceAxis { start: count - 1, step: 1, len: 1 };
            let last = slices(lowering.builder(), &values, axis, slice)?;
            rest = Some(match rest {
                Some(rest) => combine(lowering, region, &last, &rest)?,
                None => last,
            });
        }
        if count <= 1 {
            return rest.ok_or_else(|| "expected at least one element to reduce".into());
        }
        let half = count / 2;
        let even = SliceAxis { start: 0, step: 2, len: half };
        let odd = SliceAxis { start: 1, step: 2, len: half };
        let left = slices(lowering.builder(), &values, axis, even)?;
        let right = slices(lowering.builder(), &values, axis, odd)?;
        values = combine(lowering, region, &left, &right)?;
        if half == 1 {
            return match rest {
                Some(rest) => combine(lowering, region, &values, &rest),
                None => Ok(values),
            };
        }
    }
}

fn slices(
    builder: &mut Builder,
    values: &[NodeId],
    axis: usize,
    slice: SliceAxis,
) -> Lowered<Vec<NodeId>> {
    values.iter().map(|&value| builder.slice_axis(value, axis, slice)).collect()
}

/// Applies the body to two values of each input.
pub(super) fn combine<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    left: &[NodeId],
    right: &[NodeId],
) -> Lowered<Vec<NodeId>> {
    let shape = lowering.builder().shape(left[0]).clone();
    let arguments: Vec<NodeId> = left.iter().chain(right).copied().collect();
    lowering.apply_elementwise(region, &arguments, &shape)
}
