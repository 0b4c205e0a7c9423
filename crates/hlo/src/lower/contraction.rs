//! Lowering of `dot_general` and `dot`.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::Lowering;
use crate::module::Operation;
use inflight_ir::graph::{DotAxes, NodeId, Op, SliceAxis};
use inflight_ir::{Axes, DType, Shape};

/// `dot_general`
pub(super) fn dot_general(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [a, b] = lowering.expect_operands(operation)?;
    let numbers = AttributeView::of(operation).structured("dot_dimension_numbers")?;
    let axes = |name: &str| -> Lowered<Axes> { Ok(Axes::from_vec(numbers.axes(name)?)) };
    let axes = DotAxes {
        a_batch: axes("lhs_batching_dimensions")?,
        b_batch: axes("rhs_batching_dimensions")?,
        a_contract: axes("lhs_contracting_dimensions")?,
        b_contract: axes("rhs_contracting_dimensions")?,
    };
    let result = lowering.declared_dtype(operation, 0)?;
    contract(lowering, a, b, axes, result)
}

/// `dot` of vectors and matrices.
pub(super) fn dot(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [a, b] = lowering.expect_operands(operation)?;
    let result = lowering.declared_dtype(operation, 0)?;
    let builder = lowering.builder();
    let last = builder
        .shape(a)
        .rank()
        .checked_sub(1)
        .ok_or("expected operands of rank 1 or 2, found a scalar")?;
    let axes = DotAxes {
        a_contract: Axes::from_slice(&[last]),
        b_contract: Axes::from_slice(&[0]),
        ..DotAxes::default()
    };
    contract(lowering, a, b, axes, result)
}

/// A dot computed in the widest of the operand and result dtypes.
pub(super) fn contract(
    lowering: &mut Lowering<'_>,
    a: NodeId,
    b: NodeId,
    axes: DotAxes,
    result: DType,
) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let computed = [builder.dtype(a), builder.dtype(b)].into_iter().fold(result, wider);
    let computed = if computed == DType::Bool { DType::I32 } else { computed };
    let (a, b) = (builder.cast(a, computed)?, builder.cast(b, computed)?);
    let product = push_dot(builder, a, b, axes)?;
    builder.cast(product, result)
}

/// A dot of two tensors of one dtype: as a dot op, or expanded if it is short.
pub(super) fn push_dot(
    builder: &mut Builder,
    a: NodeId,
    b: NodeId,
    axes: DotAxes,
) -> Lowered<NodeId> {
    match should_expand(builder, a, b, &axes) {
        true => expand_dot(builder, a, b, &axes),
        false => builder.push(Op::Dot(axes), &[a, b]),
    }
}

/// Dots that contract at most this many elements are expanded to multiplies and adds, which fuse with their neighbours;
/// a GEMM call would be mostly overhead.
const MAX_EXPANDED_CONTRACTION: usize = 4;

fn should_expand(builder: &Builder, a: NodeId, b: NodeId, axes: &DotAxes) -> bool {
    let (a, b) = (builder.shape(a), builder.shape(b));
    let extents: Vec<usize> =
        axes.a_contract.iter().filter_map(|&axis| a.get(axis).copied()).collect();
    let others: Vec<usize> =
        axes.b_contract.iter().filter_map(|&axis| b.get(axis).copied()).collect();
    let in_range = |axes: &[usize], shape: &Shape| axes.iter().all(|&axis| axis < shape.rank());
    extents == others
        && axes.a_batch.len() == axes.b_batch.len()
        && in_range(&axes.a_batch, a)
        && in_range(&axes.b_batch, b)
        && in_range(&axes.a_contract, a)
        && in_range(&axes.b_contract, b)
        && (1..=MAX_EXPANDED_CONTRACTION).contains(&extents.iter().product::<usize>())
}

/// Expands a dot to a sum of products of slices, in order. 16-bit floats are accumulated in `f32` and rounded once, as
/// in a GEMM.
fn expand_dot(builder: &mut Builder, a: NodeId, b: NodeId, axes: &DotAxes) -> Lowered<NodeId> {
    let dtype = builder.dtype(a);
    if dtype.is_half() {
        let (a, b) = (builder.cast(a, DType::F32)?, builder.cast(b, DType::F32)?);
        let sum = expand_dot(builder, a, b, axes)?;
        return builder.cast(sum, dtype);
    }
    let (a_shape, b_shape) = (builder.shape(a).clone(), builder.shape(b).clone());
    let (a_free, b_free) = (axes.a_free(a_shape.rank()), axes.b_free(b_shape.rank()));
    let count: usize = axes.a_contract.iter().map(|&axis| a_shape[axis]).product();
    // Move the contracting axes last and merge them; insert axes of extent 1 for the other operand's free axes.
    let arranged = |builder: &mut Builder, x: NodeId, order: Vec<usize>, extents: Vec<usize>| {
        let x = builder.permute(x, &order)?;
        builder.reshape(x, &Shape::new(&extents))
    };
    let batch = axes.a_batch.iter().map(|&axis| a_shape[axis]);
    let a_extents = batch
        .clone()
        .chain(a_free.iter().map(|&axis| a_shape[axis]))
        .chain(b_free.iter().map(|_| 1))
        .chain([count])
        .collect();
    let b_extents = batch
        .chain(a_free.iter().map(|_| 1))
        .chain(b_free.iter().map(|&axis| b_shape[axis]))
        .chain([count])
        .collect();
    let order = |batch: &Axes, free: &Axes, contract: &Axes| {
        batch.iter().chain(free).chain(contract).copied().collect::<Vec<usize>>()
    };
    let a = arranged(builder, a, order(&axes.a_batch, &a_free, &axes.a_contract), a_extents)?;
    let b = arranged(builder, b, order(&axes.b_batch, &b_free, &axes.b_contract), b_extents)?;
    let last = builder.shape(a).rank() - 1;
    let mut sum = None;
    for i in 0..count {
        let slice = SliceAxis { start: i, step: 1, len: 1 };
        let (left, right) =
            (builder.slice_axis(a, last, slice)?, builder.slice_axis(b, last, slice)?);
        let product = builder.mul(left, right)?;
        sum = Some(match sum {
            Some(sum) => builder.add(sum, product)?,
            None => product,
        });
    }
    let sum = sum.ok_or("expected at least one contracted element")?;
    let extents = builder.shape(sum).extents();
    let shape = Shape::new(&extents[..extents.len() - 1]);
    builder.reshape(sum, &shape)
}

/// The wider of two dtypes; `f32` for `f16` and `bf16`, neither of which contains the other.
pub(super) fn wider(a: DType, b: DType) -> DType {
    if a == b {
        return a;
    }
    let rank = |dtype: DType| (dtype.is_complex(), dtype.is_float(), dtype.size());
    if a.is_half() && b.is_half() {
        return DType::F32;
    }
    if rank(a) >= rank(b) { a } else { b }
}
