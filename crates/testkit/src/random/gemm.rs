//! GEMMs with prologues and epilogues: computed operands and fused consumers.

use super::builder::Builder;
use super::patterns;
use super::shapes;
use super::values::Profile;
use inflight_ir::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_ir::graph::{DTypeSet, DotAxes, NodeId, Op, WindowAxis};
use inflight_ir::{Axes, DType, Shape};
use smallvec::SmallVec;

/// Limit on the multiplications of a GEMM, since the reference computes them one at a time.
const MAX_MULTIPLICATIONS: usize = 60_000;

/// `[batch…, m, k] · [batch…, k, n]`; either operand may be given with its last two axes transposed.
fn multiply(builder: &mut Builder, a: NodeId, b: NodeId, transposed: [bool; 2]) -> Option<NodeId> {
    let rank = builder.rank(a);
    let batch: Axes = (0..rank - 2).collect();
    let axes = DotAxes {
        a_batch: batch.clone(),
        b_batch: batch,
        a_contract: Axes::from_slice(&[rank - 1 - transposed[0] as usize]),
        b_contract: Axes::from_slice(&[rank - 2 + transposed[1] as usize]),
    };
    builder.push(Op::Dot(axes), &[a, b])
}

/// A computed matrix of these extents: from an input of another dtype, shape or axis order, by a scale, a
/// normalization of rows or columns, a gather, or sliding windows.
fn computed(builder: &mut Builder, extents: &[usize], dtype: DType) -> Option<NodeId> {
    let shape = Shape::from(extents.to_vec());
    let rank = shape.rank();
    let (rows, columns) = (shape[rank - 2], shape[rank - 1]);
    let plain = |builder: &mut Builder| builder.input_like(&shape, dtype, Profile::Moderate);
    match builder.random.below(8) {
        0 => {
            let others = [DType::F32, DType::BF16, DType::F16, DType::I8, DType::F64];
            let other = builder.random.pick(&others);
            let x = builder.input_like(&shape, other, Profile::Moderate);
            builder.push(Op::Cast(dtype), &[x])
        }
        1 => {
            let x = plain(builder);
            let scale = builder.scalar(0.125, dtype);
            builder.binary(BinaryOp::Mul, x, scale)
        }
        2 => {
            // Normalize by the maximum of each row or column.
            let x = plain(builder);
            let axis = rank - 1 - builder.random.below(2);
            let largest = builder.reduce_keep(CombineOp::Max, x, &[axis])?;
            builder.binary(BinaryOp::Sub, x, largest)
        }
        3 => {
            // Gather rows of a table, with one table per batch.
            let table = builder.random.below(20) + 1;
            let mut whole = shape.to_vec();
            whole[rank - 2] = table;
            let whole = builder.input_like(&Shape::from(whole), dtype, Profile::Moderate);
            let index = builder.index(&Shape::from([rows, 1]), table);
            let index = builder.push(Op::Broadcast(shape.clone()), &[index])?;
            builder.push(Op::Gather { axis: rank - 2 }, &[whole, index])
        }
        4 => {
            let x = plain(builder);
            let mut order: Axes = (0..rank).collect();
            order.swap(rank - 1, rank - 2);
            let transposed: Shape = order.iter().map(|&axis| shape[axis]).collect();
            let other = builder.input_like(&transposed, dtype, Profile::Moderate);
            let other = builder.push(Op::Permute(order), &[other])?;
            builder.binary(BinaryOp::Add, x, other)
        }
        5 if rank == 2 && rows > 1 => {
            // Rows split into blocks in another order, which no strides can express.
            let pieces = (2..=columns).find(|&pieces| columns.is_multiple_of(pieces))?;
            let parts = Shape::from([pieces, rows, columns / pieces]);
            let x = builder.input_like(&parts, dtype, Profile::Moderate);
            let x = builder.push(Op::Permute(Axes::from_slice(&[1, 0, 2])), &[x])?;
            builder.reshape(x, &shape)
        }
        6 if rank == 2 => {
            // Sliding windows of columns, concatenated (im2col).
            let size =
                (1..=columns).rev().find(|&size| columns.is_multiple_of(size) && size < 5)?;
            let window = WindowAxis {
                size,
                stride: 1 + builder.random.below(2),
                dilation: 1 + builder.random.below(2),
            };
            let length = (rows - 1) * window.stride + (size - 1) * window.dilation + 1;
            let x = Shape::from([length, columns / size]);
            let x = builder.input_like(&x, dtype, Profile::Moderate);
            let x = match builder.random.chance(50) {
                true => builder.unary(UnaryOp::Tanh, x)?,
                false => x,
            };
            let axes: SmallVec<[WindowAxis; 4]> =
                SmallVec::from_slice(&[window, WindowAxis::new(1)]);
            let windows = builder.push(Op::Windows(axes), &[x])?;
            builder.reshape(windows, &shape)
        }
        _ => Some(plain(builder)),
    }
}

/// A GEMM of computed operands with a consumer.
pub fn with_computed_operands(builder: &mut Builder) -> Option<NodeId> {
    let dtype = builder.dtype_of(DTypeSet::FLOATS);
    let extent = |builder: &mut Builder| shapes::extent(&mut builder.random, 40).max(1);
    let (m, n, k) = (extent(builder), extent(builder), extent(builder));
    let batch = match builder.random.chance(25) {
        true => vec![1 + builder.random.below(4)],
        false => vec![],
    };
    if batch.iter().product::<usize>() * m * n * k > MAX_MULTIPLICATIONS {
        return None;
    }
    let transposed = [builder.random.chance(30), builder.random.chance(30)];
    let matrix = |rows: usize, columns: usize, transposed: bool| -> Vec<usize> {
        let (rows, columns) = if transposed { (columns, rows) } else { (rows, columns) };
        batch.iter().copied().chain([rows, columns]).collect()
    };
    let limit = std::mem::replace(&mut builder.limit, MAX_MULTIPLICATIONS);
    let mut build = || {
        let a = computed(builder, &matrix(m, k, transposed[0]), dtype)?;
        let b = computed(builder, &matrix(k, n, transposed[1]), dtype)?;
        let product = multiply(builder, a, b, transposed)?;
        match builder.random.below(4) {
            0 => builder.unary(UnaryOp::Tanh, product),
            1 => {
                let bias = builder.input(&Shape::from([n]), dtype);
                builder.binary(BinaryOp::Add, product, bias)
            }
            2 => patterns::softmax_of(builder, product, batch.len() + 1),
            _ => Some(product),
        }
    };
    let result = build();
    builder.limit = limit;
    result
}

/// `softmax(q · kᵀ · scale + mask) · v`, with enough rows that the scores are not materialized.
pub fn attention(builder: &mut Builder) -> Option<NodeId> {
    let dtype = builder.random.pick(&[DType::F32, DType::F32, DType::F64, DType::BF16]);
    let (heads, rows) = builder.random.pick(&[(1, 530), (4, 130), (6, 100), (3, 171)]);
    let (keys, depth, width) =
        (1 + builder.random.below(9), 1 + builder.random.below(4), 1 + builder.random.below(4));
    let limit = std::mem::replace(&mut builder.limit, MAX_MULTIPLICATIONS);
    let mut build = || {
        let query = computed(builder, &[heads, rows, depth], dtype)?;
        let key = computed(builder, &[heads, keys, depth], dtype)?;
        let value = computed(builder, &[heads, keys, width], dtype)?;
        let mut scores = multiply(builder, query, key, [false, true])?;
        if builder.random.chance(60) {
            let scale = builder.scalar(0.5, dtype);
            scores = builder.binary(BinaryOp::Mul, scores, scale)?;
        }
        let shape = builder.shape(scores);
        match builder.random.below(4) {
            0 => {
                let mask = builder.input_like(&Shape::from([rows, keys]), dtype, Profile::Moderate);
                scores = builder.binary(BinaryOp::Add, scores, mask)?;
            }
            1 => {
                // Causal mask: later positions are masked out.
                let iota = |axis| Op::Iota { axis, shape: shape.clone(), dtype: DType::I32 };
                let row = builder.push(iota(1), &[])?;
                let column = builder.push(iota(2), &[])?;
                let earlier = builder.push(Op::Compare(CompareOp::Le), &[column, row])?;
                let low = builder.scalar(-100.0, dtype);
                scores = builder.push(Op::Select, &[earlier, scores, low])?;
            }
            _ => {}
        }
        let weights = patterns::softmax_of(builder, scores, 2)?;
        let result = multiply(builder, weights, value, [false, false])?;
        match builder.random.chance(30) {
            true => builder.unary(UnaryOp::Tanh, result),
            false => Some(result),
        }
    };
    let result = build();
    builder.limit = limit;
    result
}
