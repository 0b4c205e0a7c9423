//! Common program fragments that fusion treats specially: softmax, layer norm, dense layers, stencils.

use super::builder::Builder;
use super::gemm;
use super::shapes;
use super::values::Profile;
use inflight_ir::elementwise::{BinaryOp, CombineOp, UnaryOp};
use inflight_ir::graph::{Combine, DTypeSet, DotAxes, NodeId, Op, SliceAxis};
use inflight_ir::{Axes, DType, Shape};
use smallvec::SmallVec;

type Pattern = fn(&mut Builder) -> Option<NodeId>;

const PATTERNS: [(usize, Pattern); 15] = [
    (10, softmax),
    (10, layer_norm),
    (8, add_transpose),
    (8, add_to_own_sum),
    (6, chain),
    (10, dense_layer),
    (8, slices_of_concat),
    (8, overlapping_slices),
    (1, large_reduction),
    (2, long_chain),
    (6, reduce_twice),
    (6, position_mask),
    (14, gemm::with_computed_operands),
    (4, gemm::attention),
    (14, partial_updates),
];

/// Appends one pattern.
pub fn pattern(builder: &mut Builder) {
    let pattern = builder.random.weighted(&PATTERNS);
    pattern(builder);
}

fn axis_of(builder: &mut Builder, x: NodeId) -> usize {
    let rank = builder.rank(x);
    match builder.random.chance(70) {
        true => rank - 1,
        false => builder.random.below(rank),
    }
}

fn softmax(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::FLOATS, 1);
    let axis = axis_of(builder, x);
    softmax_of(builder, x, axis)
}

/// The softmax of a value along an axis.
pub fn softmax_of(builder: &mut Builder, x: NodeId, axis: usize) -> Option<NodeId> {
    let largest = builder.reduce_keep(CombineOp::Max, x, &[axis])?;
    let shifted = builder.binary(BinaryOp::Sub, x, largest)?;
    let powers = builder.unary(UnaryOp::Exp, shifted)?;
    let total = builder.reduce_keep(CombineOp::Sum, powers, &[axis])?;
    builder.binary(BinaryOp::Div, powers, total)
}

fn mean(builder: &mut Builder, x: NodeId, axis: usize) -> Option<NodeId> {
    let count = builder.shape(x)[axis] as f64;
    let total = builder.reduce_keep(CombineOp::Sum, x, &[axis])?;
    let count = builder.scalar(count, builder.dtype(x));
    builder.binary(BinaryOp::Div, total, count)
}

fn layer_norm(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::FLOATS, 1);
    let (axis, dtype) = (axis_of(builder, x), builder.dtype(x));
    let average = mean(builder, x, axis)?;
    let centred = builder.binary(BinaryOp::Sub, x, average)?;
    let squares = builder.binary(BinaryOp::Mul, centred, centred)?;
    let variance = mean(builder, squares, axis)?;
    let epsilon = builder.scalar(1e-3, dtype);
    let variance = builder.binary(BinaryOp::Add, variance, epsilon)?;
    let scale = builder.unary(UnaryOp::Rsqrt, variance)?;
    let normal = builder.binary(BinaryOp::Mul, centred, scale)?;
    let row: Shape = builder.shape(x)[axis..].iter().copied().collect();
    let (weight, bias) = (builder.input(&row, dtype), builder.input(&row, dtype));
    let scaled = builder.binary(BinaryOp::Mul, normal, weight)?;
    builder.binary(BinaryOp::Add, scaled, bias)
}

fn add_transpose(builder: &mut Builder) -> Option<NodeId> {
    let n = shapes::extent(&mut builder.random, 40);
    let dtype = builder.dtype_of(DTypeSet::NUMBERS);
    let x = match n * n <= builder.limit {
        true => builder.exactly(&Shape::from([n, n]), dtype),
        false => return None,
    };
    let transposed = builder.push(Op::Permute(Axes::from_slice(&[1, 0])), &[x])?;
    builder.binary(BinaryOp::Add, x, transposed)
}

fn add_to_own_sum(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand(DTypeSet::NUMBERS);
    let axes: Axes = (0..builder.rank(x)).collect();
    let total = builder.push(Op::Reduce { op: CombineOp::Sum, axes }, &[x])?;
    builder.binary(BinaryOp::Add, total, x)
}

/// A chain of elementwise ops on one value.
fn chain(builder: &mut Builder) -> Option<NodeId> {
    use UnaryOp::*;
    let mut x = builder.operand(DTypeSet::FLOATS);
    for _ in 0..builder.random.below(12) {
        let op = builder.random.pick(&[Tanh, Sigmoid, Abs, Neg, Sin, Cos, Erf, Atan, Asinh, Cbrt]);
        x = builder.unary(op, x)?;
        if builder.random.chance(30) {
            let constant = builder.scalar(1.25, builder.dtype(x));
            x = builder.binary(BinaryOp::Add, x, constant)?;
        }
    }
    Some(x)
}

fn dense_layer(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::FLOATS, 2);
    let (shape, dtype) = (builder.shape(x), builder.dtype(x));
    let (k, n) = (shape[shape.rank() - 1], shapes::extent(&mut builder.random, 40));
    if shape.element_count() * n > 60_000 {
        return None;
    }
    let flipped = builder.random.chance(40);
    let weight = Shape::from(if flipped { [n, k] } else { [k, n] });
    let weight = builder.input_like(&weight, dtype, Profile::Moderate);
    let axes = DotAxes {
        a_contract: Axes::from_slice(&[shape.rank() - 1]),
        b_contract: Axes::from_slice(&[flipped as usize]),
        ..DotAxes::default()
    };
    let product = builder.push(Op::Dot(axes), &[x, weight])?;
    let bias = builder.input(&Shape::from([n]), dtype);
    let sum = builder.binary(BinaryOp::Add, product, bias)?;
    match builder.random.below(3) {
        0 => {
            let zero = builder.scalar(0.0, dtype);
            builder.binary(BinaryOp::Max, sum, zero)
        }
        1 => {
            let gate = builder.unary(UnaryOp::Sigmoid, sum)?;
            builder.binary(BinaryOp::Mul, sum, gate)
        }
        _ => builder.unary(UnaryOp::Tanh, sum),
    }
}

/// A value that is updated repeatedly, in parts, from parts of itself and from itself, while views of its earlier
/// states are still read. Without handles to earlier states, it is updated in place.
fn partial_updates(builder: &mut Builder) -> Option<NodeId> {
    let mut x = match builder.random.chance(40) {
        true => builder.fresh(DTypeSet::NUMBERS),
        false => builder.operand_of_rank(DTypeSet::NUMBERS, 1),
    };
    let mut earlier = x;
    for _ in 0..1 + builder.random.below(4) {
        let shape = builder.shape(x);
        if shape.rank() == 0 || shape.element_count() == 0 {
            return Some(x);
        }
        if builder.random.chance(50) {
            earlier = x;
        }
        let axis = builder.random.below(shape.rank());
        let extent = shape[axis];
        let len = match builder.random.chance(60) {
            true => 1 + builder.random.below(extent.div_ceil(8)),
            false => 1 + builder.random.below(extent),
        };
        let random_start = |builder: &mut Builder| builder.random.below(extent - len + 1);
        let (from, to) = (random_start(builder), random_start(builder));
        let source = if builder.random.chance(50) { x } else { earlier };
        let part = match builder.random.chance(30) {
            true => SliceAxis { start: from + len - 1, step: -1, len },
            false => SliceAxis { start: from, step: 1, len },
        };
        let part = builder.slice(source, axis, part)?;
        x = match builder.random.below(6) {
            0 => builder.binary(BinaryOp::Add, x, x)?,
            1 => builder.binary(BinaryOp::Sub, x, earlier)?,
            2 => {
                let combine =
                    builder.random.pick(&[None, Some(CombineOp::Sum), Some(CombineOp::Max)]);
                let combine =
                    combine.filter(|op| *op == CombineOp::Sum || !builder.dtype(x).is_complex());
                let index = builder.index(&shape.with(axis, len), extent);
                let combine = combine.map(Combine::With);
                builder.push(Op::Scatter { axis, combine }, &[x, index, part])?
            }
            _ => {
                let mut slices: SmallVec<[SliceAxis; 4]> =
                    shape.iter().map(|&extent| SliceAxis::full(extent)).collect();
                slices[axis] = SliceAxis { start: to, step: 1, len };
                builder.push(Op::Assign(slices), &[x, part])?
            }
        };
    }
    match builder.random.chance(50) {
        true => builder.binary(BinaryOp::Add, x, earlier),
        false => Some(x),
    }
}

fn slices_of_concat(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::NUMBERS, 1);
    let shape = builder.shape(x);
    let axis = builder.random.below(shape.rank());
    let other = builder.exactly(&shape, builder.dtype(x));
    let count = 2 + builder.random.below(4);
    let operands: Vec<NodeId> = (0..count).map(|at| if at % 2 == 0 { x } else { other }).collect();
    let joined = builder.push(Op::Concat { axis }, &operands)?;
    let extent = builder.shape(joined)[axis];
    let len = extent / 2;
    let start = builder.random.below(extent - len + 1);
    let first = builder.slice(joined, axis, SliceAxis { start, step: 1, len })?;
    let second = builder.slice(joined, axis, SliceAxis { start: 0, step: 1, len })?;
    builder.binary(BinaryOp::Sub, first, second)
}

/// Overlapping views of one value (a stencil).
fn overlapping_slices(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::NUMBERS, 1);
    let axis = builder.random.below(builder.rank(x));
    let extent = builder.shape(x)[axis];
    if extent < 3 {
        return None;
    }
    let part = |builder: &mut Builder, start| {
        builder.slice(x, axis, SliceAxis { start, step: 1, len: extent - 2 })
    };
    let (left, centre, right) = (part(builder, 0)?, part(builder, 1)?, part(builder, 2)?);
    let sum = builder.binary(BinaryOp::Add, left, right)?;
    builder.binary(BinaryOp::Sub, sum, centre)
}

/// A row that is longer than one kernel reduces in a single pass.
fn large_reduction(builder: &mut Builder) -> Option<NodeId> {
    let dtype = builder.dtype_of(DTypeSet::REALS);
    let length = builder.random.pick(&[65_536, 65_537, 70_001, 98_304, 100_000]);
    let limit = std::mem::replace(&mut builder.limit, 200_000);
    let shape = match builder.random.below(3) {
        0 => Shape::from([length]),
        1 => Shape::from([2, length]),
        _ => Shape::from([length, 2]),
    };
    let profile = builder.random.pick(&[Profile::Whole, Profile::Moderate, Profile::Positive]);
    let x = builder.input_like(&shape, dtype, profile);
    let op = builder.random.pick(&[CombineOp::Sum, CombineOp::Max, CombineOp::Min]);
    let long = (0..shape.rank()).max_by_key(|&axis| shape[axis]).expect("an axis");
    let axes: Axes = match builder.random.chance(50) {
        true => (0..shape.rank()).collect(),
        false => Axes::from_slice(&[long]),
    };
    let scaled = match dtype == DType::F32 && builder.random.chance(50) {
        true => builder.unary(UnaryOp::Abs, x)?,
        false => x,
    };
    let result = builder.push(Op::Reduce { op, axes }, &[scaled]);
    builder.limit = limit;
    result
}

/// More elementwise ops than fit into one kernel.
fn long_chain(builder: &mut Builder) -> Option<NodeId> {
    let mut x = builder.operand(DTypeSet::REALS);
    let dtype = builder.dtype(x);
    let (one, two) = (builder.scalar(1.0, dtype), builder.scalar(0.5, dtype));
    for at in 0..130 + builder.random.below(40) {
        x = match at % 3 {
            0 => builder.binary(BinaryOp::Add, x, one)?,
            1 => builder.binary(BinaryOp::Mul, x, two)?,
            _ => builder.unary(UnaryOp::Neg, x)?,
        };
    }
    Some(x)
}

/// A reduction of a reduction, with another use of the value in between.
fn reduce_twice(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::REALS, 2);
    let op = builder.random.pick(&[CombineOp::Sum, CombineOp::Max, CombineOp::Min]);
    let last = builder.rank(x) - 1;
    let rows = builder.push(Op::Reduce { op, axes: Axes::from_slice(&[last]) }, &[x])?;
    let total = builder.push(Op::Reduce { op, axes: Axes::from_slice(&[last - 1]) }, &[rows])?;
    let wide = builder.reshape(total, &builder.shape(rows).reduced(&[last - 1], true))?;
    builder.binary(BinaryOp::Sub, rows, wide)
}

/// Positions along an axis, compared with a value: a triangular mask or a length mask.
fn position_mask(builder: &mut Builder) -> Option<NodeId> {
    let x = builder.operand_of_rank(DTypeSet::NUMBERS, 2);
    let shape = builder.shape(x);
    let iota = |axis| Op::Iota { axis, shape: shape.clone(), dtype: DType::I32 };
    let (row, column) = (builder.push(iota(0), &[])?, builder.push(iota(1), &[])?);
    let mask = builder.push(Op::Compare(inflight_ir::CompareOp::Le), &[column, row])?;
    let fill = builder.constant(builder.dtype(x));
    builder.push(Op::Select, &[mask, x, fill])
}
