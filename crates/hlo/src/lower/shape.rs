//! Lowering of constants, iota, and data movement: reshape, broadcast, transpose, slice, pad, bitcast.

use super::attributes::{AttributeView, dense_elements};
use super::builder::Lowered;
use super::context::Lowering;
use super::error::Failure;
use crate::module::{Attribute, Operation, Type};
use inflight_ir::graph::{NodeId, Op, PadAxis, SliceAxis};
use inflight_ir::interpret::Array;
use inflight_ir::{Axes, BinaryOp, DType, Scalar, Shape};

/// `constant`
pub(super) fn constant(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    match AttributeView::of(operation).get("value") {
        Some(Attribute::Dense(dense)) => {
            let ty = super::context::value_type(&Type::Tensor(dense.ty.clone()))?
                .ok_or("expected a constant of static shape")?;
            let (size, count) = (ty.dtype.size(), dense_elements(dense).unwrap_or(0));
            if dense.is_splat && dense.bytes.len() >= size {
                let value = Scalar::from_bytes(ty.dtype, &dense.bytes);
                return lowering.builder().full(value, &ty.shape);
            }
            if dense.bytes.len() != count * size {
                return Err(format!(
                    "expected {count} elements of {size} bytes, found {} bytes",
                    dense.bytes.len()
                )
                .into());
            }
            let bytes = dense.bytes.to_vec();
            lowering.constant(Array { shape: ty.shape, dtype: ty.dtype, bytes })
        }
        // `arith.constant` of a scalar.
        Some(Attribute::Integer(value, _)) => {
            let dtype = lowering.declared_dtype(operation, 0)?;
            Ok(lowering.builder().integer(*value as i64, dtype))
        }
        Some(Attribute::Float(value, _)) => {
            let dtype = lowering.declared_dtype(operation, 0)?;
            Ok(lowering.builder().float(*value, dtype))
        }
        Some(_) => Err("expected `value` to be a constant; write it as dense<…>".into()),
        None => Err("the attribute `value` is missing".into()),
    }
}

/// `chlo.constant_like`
pub(super) fn constant_like(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let builder = lowering.builder();
    let (dtype, shape) = (builder.dtype(x), builder.shape(x).clone());
    let value = match AttributeView::of(operation).get("value") {
        Some(Attribute::Integer(value, _)) => Scalar::from(*value as i64).cast(dtype),
        Some(Attribute::Float(value, _)) => Scalar::from(*value).cast(dtype),
        _ => return Err("expected `value` to be an integer or a float".into()),
    };
    builder.full(value, &shape)
}

/// A shape operand, which must be constant.
pub(super) fn shape_operand(lowering: &mut Lowering<'_>, operand: NodeId) -> Lowered<Shape> {
    let extents = require_constant_integers(lowering, operand, "its shape")?;
    extents
        .iter()
        .map(|&extent| {
            usize::try_from(extent)
                .map_err(|_| format!("expected extents of at least 0, found {extent}").into())
        })
        .collect::<Lowered<Axes>>()
        .map(|extents| Shape::new(&extents))
}

/// The elements of an operand that shapes depend on, and which must therefore be constant.
pub(super) fn require_constant_integers(
    lowering: &mut Lowering<'_>,
    operand: NodeId,
    what: &str,
) -> Lowered<Vec<i64>> {
    lowering.builder().constant_integers(operand).ok_or_else(|| {
        Failure::Invalid(format!(
            "{what} depends on values that are known only at run time; compute it from constants \
             and the shapes of arguments"
        ))
    })
}

/// `iota` and `dynamic_iota`
pub(super) fn iota(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let axis = AttributeView::of(operation).axis("iota_dimension")?;
    let dtype = lowering.declared_dtype(operation, 0)?;
    let shape = match operation.operands.is_empty() {
        true => lowering.declared_shape(operation, 0)?,
        false => {
            let [shape] = lowering.expect_operands(operation)?;
            shape_operand(lowering, shape)?
        }
    };
    lowering.builder().iota(axis, &shape, dtype)
}

/// `reshape` and `dynamic_reshape`
pub(super) fn reshape(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    if lowering.elementwise {
        return Ok(x);
    }
    let shape = match operation.operands.len() {
        // A cast to a type with dynamic dimensions.
        1 if operation.name == "tensor.cast" => return Ok(x),
        1 => lowering.declared_shape(operation, 0)?,
        _ => {
            let shape = lowering.operand(operation, 1)?;
            shape_operand(lowering, shape)?
        }
    };
    lowering.builder().reshape(x, &shape)
}

/// `broadcast_in_dim` and `dynamic_broadcast_in_dim`
pub(super) fn broadcast_in_dim(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    if lowering.elementwise {
        return Ok(x);
    }
    let shape = match operation.operands.len() {
        1 => lowering.declared_shape(operation, 0)?,
        _ => {
            let shape = lowering.operand(operation, 1)?;
            shape_operand(lowering, shape)?
        }
    };
    let axes = AttributeView::of(operation).axes("broadcast_dimensions")?;
    broadcast_axes(lowering, x, &axes, &shape)
}

/// Broadcasts `x` to `shape`. `axes` maps its axes to axes of the result.
pub(super) fn broadcast_axes(
    lowering: &mut Lowering<'_>,
    x: NodeId,
    axes: &[usize],
    shape: &Shape,
) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let from = builder.shape(x).clone();
    if axes.len() != from.rank() || axes.iter().any(|&axis| axis >= shape.rank()) {
        return Err(format!(
            "broadcast dimensions {axes:?} do not map a tensor of shape {from} to {shape}"
        )
        .into());
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&i| axes[i]);
    let x = builder.permute(x, &order)?;
    let mut extents = Axes::from_elem(1, shape.rank());
    for (&axis, &extent) in axes.iter().zip(from.iter()) {
        extents[axis] = extent;
    }
    let x = builder.reshape(x, &Shape::new(&extents))?;
    builder.broadcast(x, shape)
}

/// `broadcast`: prepends new axes.
pub(super) fn broadcast(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let mut extents = AttributeView::of(operation).axes("broadcast_sizes")?;
    let builder = lowering.builder();
    extents.extend(builder.shape(x).iter());
    builder.broadcast(x, &Shape::new(&extents))
}

/// `transpose`
pub(super) fn transpose(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    if lowering.elementwise {
        return Ok(x);
    }
    let axes = AttributeView::of(operation).axes("permutation")?;
    lowering.builder().permute(x, &axes)
}

/// `slice`, and `real_dynamic_slice`, whose bounds are operands.
pub(super) fn slice(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    let shape = lowering.builder().shape(x).clone();
    let rank = shape.rank();
    let (starts, limits, strides) = match operation.operands.len() {
        1 => {
            let fields = AttributeView::of(operation);
            let starts = fields.per_axis("start_indices", rank, 0)?;
            let limits = fields.per_axis("limit_indices", rank, 0)?;
            (starts, limits, fields.per_axis("strides", rank, 1)?)
        }
        _ => {
            let [_, starts, limits, strides] = lowering.expect_operands(operation)?;
            let starts = require_constant_integers(lowering, starts, "its start")?;
            let limits = require_constant_integers(lowering, limits, "its limit")?;
            (starts, limits, require_constant_integers(lowering, strides, "its stride")?)
        }
    };
    if [&starts, &limits, &strides].iter().any(|list| list.len() != rank) {
        return Err(
            format!("expected a start, a limit and a stride for each of {rank} axes").into()
        );
    }
    let mut slices = Vec::new();
    for axis in 0..rank {
        let (start, limit, stride) = (starts[axis], limits[axis], strides[axis]);
        if start < 0 || limit < start || limit > shape[axis] as i64 || stride < 1 {
            return Err(format!(
                "slice {start}:{limit}:{stride} is out of bounds for axis {axis} of extent {}",
                shape[axis]
            )
            .into());
        }
        let len = (limit - start + stride - 1) / stride;
        slices.push(SliceAxis { start: start as usize, step: stride as isize, len: len as usize });
    }
    lowering.builder().slice(x, &slices)
}

/// `pad`, and `dynamic_pad`, whose padding amounts are operands.
pub(super) fn pad(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let x = lowering.operand(operation, 0)?;
    let fill = lowering.operand(operation, 1)?;
    let rank = lowering.builder().shape(x).rank();
    let (low, high, interior) = match operation.operands.len() {
        2 => {
            let fields = AttributeView::of(operation);
            let low = fields.per_axis("edge_padding_low", rank, 0)?;
            let high = fields.per_axis("edge_padding_high", rank, 0)?;
            (low, high, fields.per_axis("interior_padding", rank, 0)?)
        }
        _ => {
            let [_, _, low, high, interior] = lowering.expect_operands(operation)?;
            let low = require_constant_integers(lowering, low, "its padding")?;
            let high = require_constant_integers(lowering, high, "its padding")?;
            (low, high, require_constant_integers(lowering, interior, "its padding")?)
        }
    };
    if [&low, &high, &interior].iter().any(|list| list.len() != rank) {
        return Err(
            format!("expected low, high and interior padding for each of {rank} axes").into()
        );
    }
    let pads: Vec<PadAxis> = (0..rank)
        .map(|axis| {
            let interior = usize::try_from(interior[axis])
                .map_err(|_| Failure::from("expected interior padding of at least 0"))?;
            Ok(PadAxis { low: low[axis] as isize, high: high[axis] as isize, interior })
        })
        .collect::<Lowered<_>>()?;
    padded(lowering, x, fill, &pads)
}

/// `x` padded with `fill`.
pub(super) fn padded(
    lowering: &mut Lowering<'_>,
    x: NodeId,
    fill: NodeId,
    pads: &[PadAxis],
) -> Lowered<NodeId> {
    let is_none = |pad: &PadAxis| pad.low == 0 && pad.high == 0 && pad.interior == 0;
    if pads.iter().all(is_none) {
        return Ok(x);
    }
    lowering.builder().push(Op::Pad(pads.iter().copied().collect()), &[x, fill])
}

/// `concatenate`
pub(super) fn concatenate(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let operands = lowering.operands(operation)?;
    let axis = AttributeView::of(operation).axis("dimension")?;
    lowering.builder().concat(&operands, axis)
}

/// `reverse`
pub(super) fn reverse(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let axes = AttributeView::of(operation).axes("dimensions")?;
    reversed(lowering, x, &axes)
}

/// Reverses `x` along the given axes.
pub(super) fn reversed(lowering: &mut Lowering<'_>, x: NodeId, axes: &[usize]) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let shape = builder.shape(x).clone();
    if let Some(axis) = axes.iter().find(|&&axis| axis >= shape.rank()) {
        return Err(format!("axis {axis} is out of range for {shape}").into());
    }
    let slices: Vec<SliceAxis> = shape
        .iter()
        .enumerate()
        .map(|(axis, &extent)| match axes.contains(&axis) && extent > 1 {
            true => SliceAxis { start: extent - 1, step: -1, len: extent },
            false => SliceAxis::full(extent),
        })
        .collect();
    builder.slice(x, &slices)
}

/// `get_dimension_size`
pub(super) fn get_dimension_size(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let axis = AttributeView::of(operation).axis("dimension")?;
    let builder = lowering.builder();
    match builder.shape(x).get(axis).copied() {
        Some(extent) => Ok(builder.scalar(extent as i32)),
        None => Err(format!("axis {axis} is out of range for {}", builder.shape(x)).into()),
    }
}

/// `set_dimension_size`: slices off the rest.
pub(super) fn set_dimension_size(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let [x, size] = lowering.expect_operands(operation)?;
    let axis = AttributeView::of(operation).axis("dimension")?;
    let size = require_constant_integers(lowering, size, "the size")?[0];
    let builder = lowering.builder();
    match builder.shape(x).get(axis).copied() {
        Some(extent) if (0..=extent as i64).contains(&size) => {
            let slice = SliceAxis { start: 0, step: 1, len: size as usize };
            builder.slice_axis(x, axis, slice)
        }
        Some(extent) => Err(format!("expected a size of 0 to {extent}, found {size}").into()),
        None => Err(format!("axis {axis} is out of range for {}", builder.shape(x)).into()),
    }
}

/// `bitcast_convert`: narrowing adds a last axis, widening removes it.
pub(super) fn bitcast_convert(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<NodeId> {
    let [x] = lowering.expect_operands(operation)?;
    let to = lowering.declared_dtype(operation, 0)?;
    let builder = lowering.builder();
    let from = builder.dtype(x);
    let is_bytes = |dtype: DType| dtype == DType::Bool;
    if from.size() == to.size() {
        return builder.bitcast(x, to);
    }
    if is_bytes(from) || is_bytes(to) {
        return Err(format!("cannot convert the bits of {from} to {to}").into());
    }
    if lowering.elementwise {
        return Err("expected elements of equal size inside the body of an operation".into());
    }
    if from.size() > to.size() { split_bits(lowering, x, to) } else { join_bits(lowering, x, to) }
}

/// The unsigned integer dtype of `size` bytes.
pub(super) fn unsigned(size: usize) -> DType {
    match size {
        1 => DType::U8,
        2 => DType::U16,
        4 => DType::U32,
        _ => DType::U64,
    }
}

/// The bits of each element as unsigned words of at most 8 bytes, along a new last axis.
fn words(lowering: &mut Lowering<'_>, x: NodeId) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let dtype = builder.dtype(x);
    if dtype != DType::C128 {
        let bits = builder.bitcast(x, unsigned(dtype.size()))?;
        let mut extents = builder.shape(x).extents().to_vec();
        extents.push(1);
        return builder.reshape(bits, &Shape::new(&extents));
    }
    let parts = [inflight_ir::UnaryOp::Real, inflight_ir::UnaryOp::Imag];
    let mut words = Vec::new();
    for part in parts {
        let part = builder.unary(part, x)?;
        let bits = builder.bitcast(part, DType::U64)?;
        let mut extents = builder.shape(x).extents().to_vec();
        extents.push(1);
        words.push(builder.reshape(bits, &Shape::new(&extents))?);
    }
    let axis = builder.shape(x).rank();
    builder.concat(&words, axis)
}

/// Splits the bits of each element into several smaller elements, lowest bits first.
fn split_bits(lowering: &mut Lowering<'_>, x: NodeId, to: DType) -> Lowered<NodeId> {
    let words = words(lowering, x)?;
    let builder = lowering.builder();
    let (word, size) = (builder.dtype(words), to.size());
    let mut shape = builder.shape(words).extents().to_vec();
    let count = word.size() / size;
    shape.push(count);
    let mut source = shape.clone();
    *source.last_mut().expect("the rank is positive") = 1;
    let words = builder.reshape(words, &Shape::new(&source))?;
    let counts = builder.iota(0, &Shape::new(&[count]), word)?;
    let width = builder.integer(8 * size as i64, word);
    let shifts = builder.mul(counts, width)?;
    let pieces = builder.binary(BinaryOp::ShiftRightLogical, words, shifts)?;
    let pieces = builder.cast(pieces, unsigned(size))?;
    // Merge the axis of words and the axis of pieces.
    let (rank, last) = (shape.len() - 2, shape[shape.len() - 2] * count);
    shape.truncate(rank);
    shape.push(last);
    let pieces = builder.reshape(pieces, &Shape::new(&shape))?;
    builder.bitcast(pieces, to)
}

/// Joins the bits of the elements along the last axis to one larger element.
fn join_bits(lowering: &mut Lowering<'_>, x: NodeId, to: DType) -> Lowered<NodeId> {
    let builder = lowering.builder();
    let from = builder.dtype(x);
    let shape = builder.shape(x).clone();
    let count = to.size() / from.size();
    if shape.last() != Some(&count) {
        return Err(format!("expected a last axis of extent {count}, found shape {shape}").into());
    }
    let outer = Shape::new(&shape[..shape.rank() - 1]);
    let word = if to == DType::C128 { DType::U64 } else { unsigned(to.size()) };
    let bits = builder.bitcast(x, unsigned(from.size()))?;
    let bits = builder.cast(bits, word)?;
    let last = shape.rank() - 1;
    let mut join = |start: usize, count: usize| -> Lowered<NodeId> {
        let mut joined = None;
        for i in 0..count {
            let slice = SliceAxis { start: start + i, step: 1, len: 1 };
            let piece = builder.slice_axis(bits, last, slice)?;
            let piece = builder.reshape(piece, &outer)?;
            let shift = builder.integer((8 * from.size() * i) as i64, word);
            let piece = builder.binary(BinaryOp::ShiftLeft, piece, shift)?;
            joined = Some(match joined {
                Some(joined) => builder.binary(BinaryOp::Or, joined, piece)?,
                None => piece,
            });
        }
        joined.ok_or_else(|| Failure::from("expected at least one element to join"))
    };
    if to == DType::C128 {
        let (real, imaginary) = (join(0, count / 2)?, join(count / 2, count / 2)?);
        let (real, imaginary) =
            (builder.bitcast(real, DType::F64)?, builder.bitcast(imaginary, DType::F64)?);
        return builder.binary(BinaryOp::Complex, real, imaginary);
    }
    let joined = join(0, count)?;
    builder.bitcast(joined, to)
}
