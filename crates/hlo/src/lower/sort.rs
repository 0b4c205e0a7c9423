//! Lowering of `sort` with key recognition, `top_k` and `ApproxTopK`.

use super::attributes::AttributeView;
use super::builder::{Builder, Entry, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::elementwise::total_order;
use super::scalar_body::{ScalarBody, lower_body};
use crate::module::{Attribute, Operation, Region};
use inflight_ir::graph::{FloatOrder, NodeId, Op, SliceAxis, SortKey, SortOrder, SortResult};
use inflight_ir::{BinaryOp, CompareOp, DType};
use smallvec::smallvec;

/// `sort`. The lowering is always stable.
pub(super) fn sort<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let inputs = lowering.operands(operation)?;
    let Some(&first) = inputs.first() else { return Err("expected at least one operand".into()) };
    let [region] = regions::<1>(operation)?;
    let builder = lowering.builder();
    let shape = builder.shape(first).clone();
    let axis = match AttributeView::of(operation).integer("dimension")?.unwrap_or(-1) {
        axis if axis < 0 => axis + shape.rank() as i64,
        axis => axis,
    };
    let axis = usize::try_from(axis).ok().filter(|&axis| axis < shape.rank()).or_else(|| {
        // A scalar is already sorted.
        (shape.rank() == 0).then_some(0)
    });
    let Some(axis) = axis else { return Err("`dimension` is out of range".into()) };
    if shape.rank() == 0 {
        return Ok(inputs.into_iter().map(|node| lowering.bound(node)).collect());
    }
    let sorted = sort_by_comparator(lowering, region, inputs, axis)?;
    Ok(sorted.into_iter().map(|node| lowering.bound(node)).collect())
}

/// Sorts operands along an axis by a comparator.
fn sort_by_comparator<'a>(
    lowering: &mut Lowering<'a>,
    comparator: &'a Region,
    inputs: Vec<NodeId>,
    axis: usize,
) -> Lowered<Vec<NodeId>> {
    let shape = lowering.builder().shape(inputs[0]).clone();
    if shape.contains(&0) {
        return Ok(inputs);
    }
    let dtypes: Vec<DType> = inputs
        .iter()
        .flat_map(|&input| [lowering.builder().dtype(input), lowering.builder().dtype(input)])
        .collect();
    let mut function = lower_body(lowering, comparator, &dtypes)?;
    let builder = lowering.builder();
    let (keys, order) = match sort_keys(&mut function)? {
        Some(keys) => {
            let operands: Vec<NodeId> = keys.iter().map(|&(operand, _)| inputs[operand]).collect();
            (operands, SortOrder::Keys(keys.into_iter().map(|(_, key)| key).collect()))
        }
        None => {
            // A captured value becomes a broadcast operand.
            let mut operands = inputs.clone();
            for (inner, outer) in function.captured_values() {
                operands.push(builder.broadcast(outer, &shape)?);
                function.add_operand(inner);
            }
            let read = function.read_operands();
            let keys = read.iter().map(|&key| operands[key]).collect();
            (keys, SortOrder::Comparator(function.with_operands(&read)?))
        }
    };
    if let (&[only], &[key]) = (&*inputs, &*keys)
        && only == key
        && matches!(order, SortOrder::Keys(_))
    {
        let op = Op::Sort { axis, order, result: SortResult::Values };
        return Ok(vec![builder.push(op, &[only])?]);
    }
    let op = Op::Sort { axis, order, result: SortResult::Positions };
    let positions = builder.push(op, &keys)?;
    inputs.into_iter().map(|input| gather_positions(builder, input, positions, axis)).collect()
}

/// Permutes `x` along an axis by sorted positions.
fn gather_positions(
    builder: &mut Builder,
    x: NodeId,
    positions: NodeId,
    axis: usize,
) -> Lowered<NodeId> {
    // An iota along the axis permutes to the positions themselves.
    if let Op::Iota { axis: counted, .. } = builder.entries[x as usize].op
        && counted == axis
    {
        let dtype = builder.dtype(x);
        return builder.cast(positions, dtype);
    }
    builder.push(Op::Gather { axis }, &[x, positions])
}

/// A sort key: the operand's index, and the order of its elements.
type Key = (usize, SortKey);

/// Recognizes a lexicographic comparator and returns its keys. CSE makes equal expressions the same node, so building
/// the candidate expressions in the body and comparing node ids is a structural match.
fn sort_keys(function: &mut ScalarBody) -> Lowered<Option<Vec<Key>>> {
    let [mut node] = function.results[..] else { return Ok(None) };
    let candidates = candidates(function)?;
    let mut keys: Vec<Key> = Vec::new();
    loop {
        let last = candidates.iter().find(|candidate| candidate.is_before == node);
        if let Some(last) = last {
            keys.push(last.key);
            return Ok(Some(keys));
        }
        // Less by this key, or equal by this key and less by the following ones.
        let entries = &function.builder.entries;
        let Some([a, b]) = operands_of(entries, node, BinaryOp::Or) else { return Ok(None) };
        let step = [(a, b), (b, a)].into_iter().find_map(|(first, second)| {
            let [c, d] = operands_of(entries, second, BinaryOp::And)?;
            candidates.iter().filter(|candidate| candidate.is_before == first).find_map(
                |candidate| match candidate.is_equal {
                    equal if equal == c => Some((candidate.key, d)),
                    equal if equal == d => Some((candidate.key, c)),
                    _ => None,
                },
            )
        });
        let Some((key, rest)) = step else { return Ok(None) };
        keys.push(key);
        node = rest;
    }
}

/// The operands of a node that applies this op.
fn operands_of(entries: &[Entry], node: NodeId, op: BinaryOp) -> Option<[NodeId; 2]> {
    let entry = &entries[node as usize];
    (entry.op == Op::Binary(op)).then(|| [entry.inputs[0], entry.inputs[1]])
}

/// The expressions of a comparator that orders by one key.
struct Candidate {
    key: Key,
    is_before: NodeId,
    is_equal: NodeId,
}

fn candidates(function: &mut ScalarBody) -> Lowered<Vec<Candidate>> {
    let builder = &mut function.builder;
    let mut candidates = Vec::new();
    for (operand, pair) in function.arguments.chunks_exact(2).enumerate() {
        let dtype = builder.dtype(pair[0]);
        let mut forms: Vec<(FloatOrder, [NodeId; 2])> = Vec::new();
        if dtype.is_float() {
            let mut total = [pair[0]; 2];
            let mut numeric = [pair[0]; 2];
            for i in 0..2 {
                total[i] = total_order(builder, pair[i])?;
                let canonical = canonical_float(builder, pair[i])?;
                numeric[i] = total_order(builder, canonical)?;
            }
            forms.push((FloatOrder::Total, total));
            forms.push((FloatOrder::Numeric, numeric));
        } else if !dtype.is_complex() {
            forms.push((FloatOrder::Numeric, [pair[0], pair[1]]));
        }
        for (floats, [a, b]) in forms {
            let is_equal = builder.compare(CompareOp::Eq, a, b)?;
            for (op, descending) in [(CompareOp::Lt, false), (CompareOp::Gt, true)] {
                let is_before = builder.compare(op, a, b)?;
                let key = (operand, SortKey { descending, floats });
                candidates.push(Candidate { key, is_before, is_equal });
            }
        }
    }
    Ok(candidates)
}

/// Canonicalizes zeros and NaNs, as JAX's comparators do.
fn canonical_float(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(x);
    let (zero, nan) = (builder.float(0.0, dtype), builder.float(f64::NAN, dtype));
    let is_zero = builder.compare(CompareOp::Eq, x, zero)?;
    let with_zero = builder.select(is_zero, zero, x)?;
    let is_nan = builder.compare(CompareOp::Ne, x, x)?;
    builder.select(is_nan, nan, with_zero)
}

/// `chlo.top_k`
pub(super) fn top_k<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let count = AttributeView::of(operation).integer("k")?.ok_or("the attribute `k` is missing")?;
    largest(lowering, operation, count)
}

/// `custom_call @ApproxTopK`, to which JAX lowers `approx_max_k` and `approx_min_k`: the first elements along an axis
/// in the order of a comparator. The result is exact, although the operation permits approximation.
pub(super) fn approximate_top_k<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let fields = AttributeView::of(operation);
    let axis = fields.structured("mhlo.backend_config")?.axis("reduction_dim")?;
    let comparator = match fields.get("called_computations") {
        Some(Attribute::Array(called)) => match &called[..] {
            [Attribute::Symbol(name)] => lowering.function(name)?,
            _ => return Err("expected `called_computations` to name one function".into()),
        },
        _ => return Err("the attribute `called_computations` is missing".into()),
    };
    // The operands, then their initial values.
    let mut inputs = lowering.operands(operation)?;
    let count = operation.results.len();
    if count == 0 || inputs.len() != 2 * count {
        let expected = 2 * count;
        return Err(format!(
            "expected {expected} operands for {count} results, found {}",
            inputs.len()
        )
        .into());
    }
    inputs.truncate(count);
    let shape = lowering.builder().shape(inputs[0]).clone();
    let wanted = lowering.declared_shape(operation, 0)?;
    let len =
        wanted.get(axis).copied().filter(|&len| shape.get(axis).is_some_and(|&all| len <= all));
    let Some(len) = len else {
        return Err(format!(
            "expected a result shape that is a prefix of {shape} along axis {axis}, found {wanted}"
        )
        .into());
    };
    let sorted = sort_by_comparator(lowering, &comparator.body, inputs, axis)?;
    let first = SliceAxis { start: 0, step: 1, len };
    let mut results = Vec::new();
    for node in sorted {
        let node = lowering.builder().slice_axis(node, axis, first)?;
        results.push(lowering.bound(node));
    }
    Ok(results)
}

/// The largest elements along the last axis in descending order, and their positions. NaN is the largest.
pub(super) fn largest(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
    count: i64,
) -> Lowered<Vec<Bound>> {
    let x = lowering.operand(operation, 0)?;
    let dtype = lowering.declared_dtype(operation, 1)?;
    let builder = lowering.builder();
    let shape = builder.shape(x).clone();
    let Some(axis) = shape.rank().checked_sub(1) else {
        return Err("expected an operand of rank at least 1, found a scalar".into());
    };
    let len = usize::try_from(count).ok().filter(|&count| count <= shape[axis]);
    let Some(len) = len else {
        return Err(format!("expected `k` of at most {}, found {count}", shape[axis]).into());
    };
    let order = SortOrder::Keys(smallvec![SortKey { descending: true, floats: FloatOrder::Total }]);
    let op = Op::Sort { axis, order, result: SortResult::FirstPositions(len) };
    let positions = builder.push(op, &[x])?;
    let values = builder.push(Op::Gather { axis }, &[x, positions])?;
    let positions = builder.cast(positions, dtype)?;
    Ok(vec![lowering.bound(values), lowering.bound(positions)])
}
