//! Random ops on random operands. A function returns `None` if its choice is not valid.

use super::builder::Builder;
use super::shapes;
use inflight_ir::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_ir::graph::{
    self, Combine, DTypeSet, DotAxes, FloatOrder, Graph, NodeId, Op, PadAxis, ScalarFunction,
    SliceAxis, SortKey, SortOrder, SortResult, WindowAxis, binary_accepts, combine_accepts,
    compare_accepts, unary_accepts,
};
use inflight_ir::{Axes, DType, Shape};
use smallvec::SmallVec;

type Step = fn(&mut Builder) -> Option<NodeId>;

const STEPS: [(usize, Step); 24] = [
    (14, unary),
    (20, binary),
    (5, compare),
    (5, select),
    (6, cast),
    (2, bitcast),
    (7, reshape),
    (6, permute),
    (4, broadcast),
    (8, slice),
    (4, windows),
    (3, sort),
    (4, pad),
    (4, concat),
    (3, assign),
    (3, gather),
    (3, scatter),
    (9, reduce),
    (2, arg_reduce),
    (3, scan),
    (4, dot),
    (2, iota),
    (2, scalar_arithmetic),
    (2, sum_of_many_inputs),
];

/// Appends one random op.
pub fn step(builder: &mut Builder) {
    let step = builder.random.weighted(&STEPS);
    step(builder);
}

/// A value mostly within the domain of the function.
fn within_domain(builder: &mut Builder, op: UnaryOp, x: NodeId) -> Option<NodeId> {
    if builder.random.chance(20) {
        return Some(x);
    }
    match op {
        UnaryOp::Log | UnaryOp::Log2 | UnaryOp::Sqrt | UnaryOp::Rsqrt | UnaryOp::Log1p => {
            builder.unary(UnaryOp::Abs, x)
        }
        UnaryOp::Acosh => builder.unary(UnaryOp::Cosh, x),
        UnaryOp::Asin | UnaryOp::Acos => builder.unary(UnaryOp::Sin, x),
        UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Expm1
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Tan
        | UnaryOp::Atanh => builder.unary(UnaryOp::Tanh, x),
        _ => Some(x),
    }
}

fn unary(builder: &mut Builder) -> Option<NodeId> {
    let op = builder.random.pick(&UnaryOp::ALL);
    let x = builder.operand(unary_accepts(op));
    let x = match builder.dtype(x).is_float() {
        true => within_domain(builder, op, x)?,
        false => x,
    };
    builder.unary(op, x)
}

fn binary(builder: &mut Builder) -> Option<NodeId> {
    use BinaryOp::*;
    let op = match builder.random.chance(60) {
        true => builder.random.pick(&[Add, Sub, Mul, Add, Mul, Max, Min, Div]),
        false => builder.random.pick(&BinaryOp::ALL),
    };
    let a = builder.operand(binary_accepts(op));
    let b = if op == Pow && builder.random.chance(70) {
        let dtype = builder.dtype(a);
        let power = builder.random.pick(&[2.0, 3.0, 0.0, 1.0, -1.0, 0.5]);
        builder.scalar(power, dtype)
    } else {
        builder.partner(a)
    };
    match builder.random.chance(50) || op == Pow {
        true => builder.binary(op, a, b),
        false => builder.binary(op, b, a),
    }
}

fn compare(builder: &mut Builder) -> Option<NodeId> {
    let op = builder.random.pick(&CompareOp::ALL);
    let a = builder.operand(compare_accepts(op));
    let b = builder.partner(a);
    builder.push(Op::Compare(op), &[a, b])
}

fn select(builder: &mut Builder) -> Option<NodeId> {
    let condition = builder.operand(DTypeSet::BOOL);
    let shape = builder.shape(condition);
    let dtype = builder.dtype_of(DTypeSet::ALL);
    let side = |builder: &mut Builder| {
        let found = builder.operand_if(|builder, node| {
            let joined = builder.shape(node).broadcast(&shape);
            builder.dtype(node) == dtype
                && joined.is_some_and(|joined| joined.element_count() <= builder.limit)
        });
        found.unwrap_or_else(|| {
            let shape = shapes::broadcastable(&mut builder.random, &shape);
            builder.input(&shape, dtype)
        })
    };
    let (a, b) = (side(builder), side(builder));
    builder.push(Op::Select, &[condition, a, b])
}

fn cast(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand(DTypeSet::ALL);
    let to = builder.dtype_of(DTypeSet::ALL);
    builder.push(Op::Cast(to), &[x])
}

fn bitcast(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand(DTypeSet::ALL);
    let size = builder.dtype(x).size();
    let all: Vec<DType> = DType::ALL.into_iter().filter(|dtype| dtype.size() == size).collect();
    let to = builder.random.pick(&all);
    builder.push(Op::Bitcast(to), &[x])
}

fn reshape(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand(DTypeSet::ALL);
    let shape = builder.shape(x);
    let shape = shapes::reshaped(&mut builder.random, &shape);
    builder.reshape(x, &shape)
}

fn permute(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 2);
    let mut axes: Axes = (0..builder.shape(x).rank()).collect();
    builder.random.shuffle(&mut axes);
    builder.push(Op::Permute(axes), &[x])
}

fn broadcast(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand(DTypeSet::ALL);
    let mut extents = builder.shape(x).to_vec();
    for extent in &mut extents {
        if *extent == 1 {
            *extent = shapes::extent(&mut builder.random, 20);
        }
    }
    if extents.len() < 5 && builder.random.chance(60) {
        extents.insert(0, shapes::extent(&mut builder.random, 20));
    }
    builder.push(Op::Broadcast(Shape::from(extents)), &[x])
}

fn random_slices(builder: &mut Builder, shape: &Shape) -> SmallVec<[SliceAxis; 4]> {
    shape.iter().map(|&extent| shapes::slice(&mut builder.random, extent)).collect()
}

fn slice(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 1);
    let slices = random_slices(builder, &builder.shape(x));
    builder.push(Op::Slice(slices), &[x])
}

fn windows(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_if(|builder, node| (1..=3).contains(&builder.rank(node)))?;
    let shape = builder.shape(x);
    let random = &mut builder.random;
    let axes = shape.iter().map(|&extent| match random.chance(40) {
        true => WindowAxis::new(1),
        false => WindowAxis {
            // Sometimes one that does not fit.
            size: 1 + random.below(extent.clamp(1, 4)) + random.chance(5) as usize,
            stride: 1 + random.below(3),
            dilation: 1 + random.below(2),
        },
    });
    let axes = axes.collect();
    builder.push(Op::Windows(axes), &[x])
}

fn sort(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ORDERED, 1);
    let (shape, dtype) = (builder.shape(x), builder.dtype(x));
    let axis = builder.random.below(shape.rank());
    let mut keys: SmallVec<[NodeId; 2]> = SmallVec::from_slice(&[x]);
    let mut result = builder.random.pick(&[SortResult::Values, SortResult::Positions]);
    if builder.random.chance(30) {
        let other = builder.dtype_of(DTypeSet::ORDERED);
        keys.push(builder.exactly(&shape, other));
        result = SortResult::Positions;
    }
    if result == SortResult::Positions && builder.random.chance(40) {
        let most = if builder.random.chance(80) { shape[axis].min(10) } else { shape[axis] };
        result = SortResult::FirstPositions(builder.random.below(most + 1));
    }
    let random = &mut builder.random;
    // The reference uses insertion sort for comparator functions, which is quadratic.
    let by_function = keys.len() == 1 && shape[axis] <= 200 && random.chance(20);
    let order = match by_function {
        true => SortOrder::Comparator(comparison(random.pick(&CompareOp::ALL), dtype)?),
        false => SortOrder::Keys(
            keys.iter()
                .map(|_| SortKey {
                    descending: random.chance(50),
                    floats: random.pick(&[FloatOrder::Numeric, FloatOrder::Total]),
                })
                .collect(),
        ),
    };
    builder.push(Op::Sort { axis, order, result }, &keys)
}

/// The function that compares two scalars. Only a strict comparison of values without NaN is an order.
fn comparison(op: CompareOp, dtype: DType) -> Option<ScalarFunction> {
    if dtype.is_float() || !matches!(op, CompareOp::Lt | CompareOp::Gt) {
        return None;
    }
    let mut graph = Graph::default();
    let inputs = [graph.input((), dtype), graph.input((), dtype)];
    let output = graph.push(Op::Compare(op), &inputs).ok()?;
    graph.outputs = vec![output];
    ScalarFunction::new(graph).ok()
}

/// A combiner of the old value and the update for which the order of updates matters.
fn doubled_plus_update(dtype: DType) -> Option<ScalarFunction> {
    let mut graph = Graph::default();
    let (old, update) = (graph.input((), dtype), graph.input((), dtype));
    let doubled = graph.push(Op::Binary(BinaryOp::Add), &[old, old]).ok()?;
    let output = graph.push(Op::Binary(BinaryOp::Add), &[doubled, update]).ok()?;
    graph.outputs = vec![output];
    ScalarFunction::new(graph).ok()
}

fn pad(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 1);
    let interior = builder.random.chance(30);
    let rank = builder.rank(x);
    let random = &mut builder.random;
    let pads = (0..rank)
        .map(|_| match random.chance(30) {
            true => PadAxis::default(),
            false => PadAxis {
                low: random.between(-2, 3),
                high: random.between(-2, 3),
                interior: if interior { random.below(3) } else { 0 },
            },
        })
        .collect();
    let fill = builder.constant(builder.dtype(x));
    builder.push(Op::Pad(pads), &[x, fill])
}

fn concat(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 1);
    let (shape, dtype) = (builder.shape(x), builder.dtype(x));
    let axis = builder.random.below(shape.rank());
    let count = 2 + builder.random.below(6);
    let mut operands: SmallVec<[NodeId; 7]> = SmallVec::from_slice(&[x]);
    while operands.len() < count {
        let operand = match builder.random.below(4) {
            0 => {
                let slice = shapes::slice(&mut builder.random, shape[axis]);
                builder.slice(x, axis, slice)
            }
            1 => builder.operand_if(|builder, node| {
                let other = builder.shape(node);
                builder.dtype(node) == dtype
                    && other.rank() == shape.rank()
                    && other.with(axis, shape[axis]) == shape
            }),
            _ => {
                let extent = shapes::extent(&mut builder.random, 20);
                Some(builder.input(&shape.with(axis, extent), dtype))
            }
        };
        operands.push(operand.unwrap_or(x));
    }
    builder.random.shuffle(&mut operands);
    builder.push(Op::Concat { axis }, &operands)
}

fn assign(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 1);
    let shape = builder.shape(x);
    let slices = random_slices(builder, &shape);
    let update: Shape = slices.iter().map(|slice| slice.len).collect();
    let update = builder.exactly(&update, builder.dtype(x));
    builder.push(Op::Assign(slices), &[x, update])
}

fn gather(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::ALL, 1);
    let shape = builder.shape(x);
    let axis = builder.random.below(shape.rank());
    let extent = shapes::extent(&mut builder.random, 40);
    let index = builder.index(&shape.with(axis, extent), shape[axis]);
    builder.push(Op::Gather { axis }, &[x, index])
}

fn scatter(builder: &mut Builder) -> Option<NodeId> {
    let combine = match builder.random.chance(40) {
        true => None,
        false => Some(builder.random.pick(&CombineOp::ALL)),
    };
    let mut x = builder.operand_of_rank(combine.map_or(DTypeSet::ALL, combine_accepts), 1);
    let (shape, dtype) = (builder.shape(x), builder.dtype(x));
    let axis = builder.random.below(shape.rank());
    // A single update per line cannot collide: scattered into a constant, as in the gradient of a gather.
    let extent = match builder.random.chance(30) {
        true => 1,
        false => shapes::extent(&mut builder.random, 40),
    };
    if builder.random.chance(30) {
        let one = builder.constant(dtype);
        x = builder.push(Op::Broadcast(shape.clone()), &[one])?;
    }
    let updates = shape.with(axis, extent);
    if updates.element_count() > builder.limit {
        return None;
    }
    let index = builder.index(&updates, shape[axis]);
    let update = builder.exactly(&updates, dtype);
    let function = match dtype.is_integer() && builder.random.chance(20) {
        true => doubled_plus_update(dtype).map(Combine::Function),
        false => None,
    };
    let combine = function.or(combine.map(Combine::With));
    builder.push(Op::Scatter { axis, combine }, &[x, index, update])
}

fn reduce(builder: &mut Builder) -> Option<NodeId> {
    let op = match builder.random.chance(50) {
        true => builder.random.pick(&[CombineOp::Sum, CombineOp::Max]),
        false => builder.random.pick(&CombineOp::ALL),
    };
    let x = builder.operand(combine_accepts(op));
    let rank = builder.rank(x);
    let percent = builder.random.pick(&[0, 35, 35, 60, 100]);
    let axes: Axes = (0..rank).filter(|_| builder.random.chance(percent)).collect();
    match builder.random.chance(40) {
        true => builder.reduce_keep(op, x, &axes),
        false => builder.push(Op::Reduce { op, axes }, &[x]),
    }
}

fn arg_reduce(builder: &mut Builder) -> Option<NodeId> {
    let op = builder.random.pick(&[ArgOp::Min, ArgOp::Max]);
    let x = builder.operand_of_rank(DTypeSet::ORDERED, 1);
    let axis = builder.random.below(builder.rank(x));
    builder.push(Op::ArgReduce { op, axis }, &[x])
}

fn scan(builder: &mut Builder) -> Option<NodeId> {
    let op = builder.random.pick(&[CombineOp::Sum, CombineOp::Max, CombineOp::Product]);
    let op = if builder.random.chance(40) { builder.random.pick(&CombineOp::ALL) } else { op };
    let x = builder.operand_of_rank(combine_accepts(op), 1);
    let axis = builder.random.below(builder.rank(x));
    builder.push(Op::Scan { op, axis }, &[x])
}

/// Limit on the number of multiplications of a dot.
const MAX_MULTIPLICATIONS: usize = 60_000;

fn dot(builder: &mut Builder) -> Option<NodeId> {
    let a = builder.operand(DTypeSet::NUMBERS);
    let shape = builder.shape(a);
    let mut axes = DotAxes::default();
    // For each axis of `b`: its extent, and the axis of `a` it is paired with.
    let mut b_axes: Vec<(usize, Option<(usize, bool)>)> = Vec::new();
    for axis in 0..shape.rank() {
        match builder.random.below(5) {
            0 => b_axes.push((shape[axis], Some((axis, true)))),
            1 | 2 => b_axes.push((shape[axis], Some((axis, false)))),
            _ => {}
        }
    }
    for _ in 0..builder.random.below(3) {
        b_axes.push((shapes::extent(&mut builder.random, 70), None));
    }
    builder.random.shuffle(&mut b_axes);
    for (b_axis, &(_, paired)) in b_axes.iter().enumerate() {
        let Some((a_axis, batch)) = paired else { continue };
        let (a, b) = match batch {
            true => (&mut axes.a_batch, &mut axes.b_batch),
            false => (&mut axes.a_contract, &mut axes.b_contract),
        };
        a.push(a_axis);
        b.push(b_axis);
    }
    let b: Shape = b_axes.iter().map(|(extent, _)| *extent).collect();
    let free: usize = b_axes.iter().filter(|axis| axis.1.is_none()).map(|axis| axis.0).product();
    if b.element_count() > builder.limit || shape.element_count() * free > MAX_MULTIPLICATIONS {
        return None;
    }
    let operand = (&b, builder.dtype(a));
    let (result, _) = graph::infer(&Op::Dot(axes.clone()), &[(&shape, operand.1), operand]).ok()?;
    if result.element_count() > builder.limit {
        return None;
    }
    let b = builder.exactly(&b, operand.1);
    builder.push(Op::Dot(axes), &[a, b])
}

fn iota(builder: &mut Builder) -> Option<NodeId> {
    let shape = shapes::random(&mut builder.random, builder.limit);
    if shape.rank() == 0 {
        return None;
    }
    let axis = builder.random.below(shape.rank());
    let dtype = builder.dtype_of(DTypeSet::NUMBERS);
    builder.push(Op::Iota { axis, shape, dtype }, &[])
}

/// Arithmetic on constants only, broadcast to a shape.
fn scalar_arithmetic(builder: &mut Builder) -> Option<NodeId> {
    let dtype = builder.dtype_of(DTypeSet::NUMBERS);
    let (a, b) = (builder.constant(dtype), builder.constant(dtype));
    let sum = builder.binary(BinaryOp::Add, a, b)?;
    let shape = shapes::random(&mut builder.random, builder.limit);
    builder.push(Op::Broadcast(shape), &[sum])
}

/// A value with many operands.
fn sum_of_many_inputs(builder: &mut Builder) -> Option<NodeId> {
    let mut x = builder.operand(DTypeSet::NUMBERS);
    let (shape, dtype) = (builder.shape(x), builder.dtype(x));
    for _ in 0..builder.random.below(14) {
        let shape = shapes::broadcastable(&mut builder.random, &shape);
        let next = builder.input(&shape, dtype);
        let op = builder.random.pick(&[BinaryOp::Add, BinaryOp::Sub]);
        x = builder.binary(op, x, next)?;
    }
    Some(x)
}
