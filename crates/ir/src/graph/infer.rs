//! Shape and dtype inference, with errors that describe invalid operands.

mod accepts;
mod error;

pub use accepts::{
    DTypeSet, binary_accepts, binary_dtype, combine_accepts, compare_accepts, unary_accepts,
    unary_dtype,
};
pub use error::{DotRole, InferError};

use super::{
    Combine, DotAxes, Op, PadAxis, ScalarFunction, SliceAxis, SortOrder, SortResult, WindowAxis,
};
use crate::{Axes, DType, Shape};

/// The shape and dtype of an operand.
type Operand<'a> = (&'a Shape, DType);

/// Infers the shape and dtype of an op's result.
pub fn infer(op: &Op, operands: &[Operand<'_>]) -> Result<(Shape, DType), InferError> {
    let (shape, dtype) = match op {
        Op::Input | Op::Scalar => return Err(InferError::NotInferred),
        Op::Iota { axis, shape, dtype } => {
            let [] = exactly(operands)?;
            check_axis(*axis, shape)?;
            accept(DTypeSet::NUMBERS, *dtype)?;
            (shape.clone(), *dtype)
        }

        Op::Unary(op) => {
            let [(shape, dtype)] = exactly(operands)?;
            accept(unary_accepts(*op), dtype)?;
            (shape.clone(), unary_dtype(*op, dtype))
        }
        Op::Binary(op) => {
            let [(a, dtype), (b, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            accept(binary_accepts(*op), dtype)?;
            (broadcast(a, b)?, binary_dtype(*op, dtype))
        }
        Op::Compare(op) => {
            let [(a, dtype), (b, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            accept(compare_accepts(*op), dtype)?;
            (broadcast(a, b)?, DType::Bool)
        }
        Op::Select => {
            let [(condition, found), (a, dtype), (b, other)] = exactly(operands)?;
            if found != DType::Bool {
                return Err(InferError::ConditionNotBool { found });
            }
            same_dtype(dtype, other)?;
            (broadcast(condition, &broadcast(a, b)?)?, dtype)
        }
        Op::Cast(to) => {
            let [(shape, _)] = exactly(operands)?;
            (shape.clone(), *to)
        }
        Op::Bitcast(to) => {
            let [(shape, from)] = exactly(operands)?;
            if from.size() != to.size() {
                return Err(InferError::BitcastSize { from, to: *to });
            }
            if *to == DType::Bool && from != DType::Bool {
                return Err(InferError::BitcastToBool { from });
            }
            (shape.clone(), *to)
        }

        Op::Reshape(to) => {
            let [(from, dtype)] = exactly(operands)?;
            check_size(to)?;
            if from.element_count() != to.element_count() {
                return Err(InferError::ReshapeElements { from: from.clone(), to: to.clone() });
            }
            (to.clone(), dtype)
        }
        Op::Permute(axes) => {
            let [(shape, dtype)] = exactly(operands)?;
            if axes.len() != shape.rank() || (0..shape.rank()).any(|axis| !axes.contains(&axis)) {
                let (axes, shape) = (axes.clone(), shape.clone());
                return Err(InferError::NotAPermutation { axes, shape });
            }
            (axes.iter().map(|&axis| shape[axis]).collect(), dtype)
        }
        Op::Broadcast(to) => {
            let [(from, dtype)] = exactly(operands)?;
            if !from.broadcasts_to(to) {
                return Err(InferError::DoesNotBroadcastTo { from: from.clone(), to: to.clone() });
            }
            (to.clone(), dtype)
        }
        Op::Slice(slices) => {
            let [(shape, dtype)] = exactly(operands)?;
            (sliced(shape, slices)?, dtype)
        }
        Op::Pad(pads) => {
            let [(shape, dtype), (fill, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            if fill.rank() != 0 {
                return Err(InferError::FillNotScalar { found: fill.clone() });
            }
            (padded(shape, pads)?, dtype)
        }
        Op::Windows(windows) => {
            let [(shape, dtype)] = exactly(operands)?;
            (windowed(shape, windows)?, dtype)
        }
        Op::Sort { axis, order, result } => sorted(*axis, order, *result, operands)?,
        Op::Concat { axis } => concatenated(*axis, operands)?,
        Op::Assign(slices) => {
            let [(shape, dtype), (update, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            check_update(&sliced(shape, slices)?, update)?;
            (shape.clone(), dtype)
        }
        Op::Gather { axis } => {
            let [(shape, dtype), (index, index_dtype)] = exactly(operands)?;
            check_index(*axis, shape, index, index_dtype)?;
            if shape[*axis] == 0 && !index.contains(&0) {
                return Err(InferError::EmptyAxis { axis: *axis, shape: shape.clone() });
            }
            (index.clone(), dtype)
        }
        Op::Scatter { axis, combine } => {
            let [(shape, dtype), (index, index_dtype), (update, other)] = exactly(operands)?;
            check_index(*axis, shape, index, index_dtype)?;
            same_dtype(dtype, other)?;
            match combine {
                None => {}
                Some(Combine::With(op)) => accept(combine_accepts(*op), dtype)?,
                Some(Combine::Function(function)) => {
                    check_function(function, &[dtype, dtype], dtype)?;
                }
            }
            check_update(index, update)?;
            (shape.clone(), dtype)
        }

        Op::Reduce { op, axes } => {
            let [(shape, dtype)] = exactly(operands)?;
            accept(combine_accepts(*op), dtype)?;
            axes.iter().try_for_each(|&axis| check_axis(axis, shape))?;
            if !axes.is_sorted_by(|a, b| a < b) {
                return Err(InferError::AxesNotSorted { axes: axes.clone() });
            }
            (shape.reduced(axes, false), dtype)
        }
        Op::ArgReduce { op: _, axis } => {
            let [(shape, dtype)] = exactly(operands)?;
            accept(DTypeSet::ORDERED, dtype)?;
            check_axis(*axis, shape)?;
            if shape[*axis] == 0 {
                return Err(InferError::EmptyAxis { axis: *axis, shape: shape.clone() });
            }
            (shape.reduced(&[*axis], false), DType::I64)
        }
        Op::Scan { op, axis } => {
            let [(shape, dtype)] = exactly(operands)?;
            accept(combine_accepts(*op), dtype)?;
            check_axis(*axis, shape)?;
            (shape.clone(), dtype)
        }
        Op::Dot(axes) => {
            let [(a, dtype), (b, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            accept(DTypeSet::NUMBERS, dtype)?;
            (contracted(axes, a, b)?, dtype)
        }
        Op::ImplicitGemm(gemm) => {
            let [(x, dtype), (kernels, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            accept(DTypeSet::FLOATS, dtype)?;
            let Some(extents) = gemm.extents(x, kernels) else {
                let (x, kernels) = (x.clone(), kernels.clone());
                return Err(InferError::ImplicitGemmShapes { x, kernels });
            };
            (gemm.shape(&extents), dtype)
        }
        Op::Cholesky { .. } => {
            let [(shape, dtype)] = exactly(operands)?;
            accept(DTypeSet::CONTINUOUS, dtype)?;
            check_square(shape)?;
            (shape.clone(), dtype)
        }
        Op::TriangularSolve { left_side, .. } => {
            let [(a, dtype), (b, other)] = exactly(operands)?;
            same_dtype(dtype, other)?;
            accept(DTypeSet::CONTINUOUS, dtype)?;
            check_square(a)?;
            let rank = a.rank();
            let fits = b.rank() == rank
                && b[..rank - 2] == a[..rank - 2]
                && b[if *left_side { rank - 2 } else { rank - 1 }] == a[rank - 1];
            if !fits {
                let (a, b) = (a.clone(), b.clone());
                return Err(InferError::SolveShapes { a, b, left_side: *left_side });
            }
            (b.clone(), dtype)
        }
    };
    check_size(&shape)?;
    Ok((shape, dtype))
}

/// The most plausible shape and dtype of the result of an op that failed, so that code that inspects shapes can
/// continue. Equal to the result of [`infer`] if that succeeds; never panics.
pub fn plausible(op: &Op, operands: &[Operand<'_>]) -> (Shape, DType) {
    if let Ok(result) = infer(op, operands) {
        return result;
    }
    let nothing = Shape::scalar();
    let (first, first_dtype) = operands.first().copied().unwrap_or((&nothing, DType::F32));
    let second = operands.get(1).map(|&(shape, _)| shape);
    let dtype = match op {
        Op::Iota { dtype, .. } | Op::Cast(dtype) | Op::Bitcast(dtype) => *dtype,
        Op::Unary(op) => unary_dtype(*op, first_dtype),
        Op::Binary(op) => binary_dtype(*op, first_dtype),
        Op::Compare(_) => DType::Bool,
        Op::Select => operands.get(1).map_or(first_dtype, |&(_, dtype)| dtype),
        Op::Sort { result: SortResult::Values, .. } => first_dtype,
        Op::ArgReduce { .. } | Op::Sort { .. } => DType::I64,
        _ => first_dtype,
    };
    let shape = match op {
        Op::Iota { shape, .. } | Op::Reshape(shape) | Op::Broadcast(shape) => shape.clone(),
        Op::Unary(_) | Op::Binary(_) | Op::Compare(_) | Op::Select => {
            operands.iter().fold(first.clone(), |shape, (other, _)| largest(&shape, other))
        }
        Op::Permute(axes) if axes.iter().all(|&axis| axis < first.rank()) => {
            axes.iter().map(|&axis| first[axis]).collect()
        }
        Op::Slice(slices) => slices.iter().map(|slice| slice.len).collect(),
        Op::Pad(pads) => {
            let pad = |axis: usize| pads.get(axis).copied().unwrap_or_default();
            (0..first.rank()).map(|axis| pad(axis).extent(first[axis]).unwrap_or(0)).collect()
        }
        Op::Concat { axis } if *axis < first.rank() => {
            let extents = operands.iter().filter_map(|(shape, _)| shape.get(*axis));
            first.with(*axis, extents.fold(0, |sum, &extent| sum.saturating_add(extent)))
        }
        Op::Sort { axis, result, .. } if *axis < first.rank() => {
            first.with(*axis, result.output_extent(first[*axis]))
        }
        Op::Gather { .. } | Op::TriangularSolve { .. } => second.unwrap_or(first).clone(),
        Op::Windows(windows) => {
            let axes = first.iter().zip(windows);
            let positions = axes.map(|(&extent, window)| window.positions(extent));
            positions.chain(windows.iter().map(|window| window.size)).collect()
        }
        Op::Reduce { axes, .. } => first.reduced(axes, false),
        Op::ArgReduce { axis, .. } => first.reduced(&[*axis], false),
        Op::Dot(axes) => {
            let second = second.unwrap_or(&nothing);
            let batch = axes.a_batch.iter().filter_map(|&axis| first.get(axis).copied());
            let a_free = axes.a_free(first.rank()).into_iter().map(|axis| first[axis]);
            let b_free = axes.b_free(second.rank()).into_iter().map(|axis| second[axis]);
            batch.chain(a_free).chain(b_free).collect()
        }
        _ => first.clone(),
    };
    match shape.checked_element_count() {
        Some(_) => (shape, dtype),
        None => (first.clone(), dtype),
    }
}

/// The larger extent of each axis, aligned at the last axis.
fn largest(a: &Shape, b: &Shape) -> Shape {
    let rank = a.rank().max(b.rank());
    let extent =
        |shape: &Shape, axis: usize| (axis + shape.rank()).checked_sub(rank).map(|i| shape[i]);
    (0..rank)
        .map(|axis| match (extent(a, axis), extent(b, axis)) {
            // An axis of extent 1 broadcasts, also to extent 0.
            (Some(1), Some(other)) | (Some(other), Some(1)) => other,
            (a, b) => a.max(b).unwrap_or(1),
        })
        .collect()
}

fn exactly<'a, const N: usize>(operands: &[Operand<'a>]) -> Result<[Operand<'a>; N], InferError> {
    let count = InferError::OperandCount { expected: N, found: operands.len() };
    operands.try_into().map_err(|_| count)
}

fn same_dtype(first: DType, other: DType) -> Result<(), InferError> {
    if first == other { Ok(()) } else { Err(InferError::DTypesDiffer { first, other }) }
}

fn accept(accepted: DTypeSet, found: DType) -> Result<(), InferError> {
    if accepted.contains(found) {
        Ok(())
    } else {
        Err(InferError::DTypeNotAccepted { accepted, found })
    }
}

fn check_axis(axis: usize, shape: &Shape) -> Result<(), InferError> {
    if axis < shape.rank() {
        Ok(())
    } else {
        Err(InferError::AxisOutOfRange { axis, shape: shape.clone() })
    }
}

fn check_size(shape: &Shape) -> Result<(), InferError> {
    match shape.checked_element_count() {
        Some(_) => Ok(()),
        None => Err(InferError::TooLarge { shape: shape.clone() }),
    }
}

fn check_entries(found: usize, shape: &Shape) -> Result<(), InferError> {
    if found == shape.rank() {
        Ok(())
    } else {
        Err(InferError::EntryCount { found, shape: shape.clone() })
    }
}

fn check_update(expected: &Shape, found: &Shape) -> Result<(), InferError> {
    if expected == found {
        Ok(())
    } else {
        Err(InferError::UpdateShape { expected: expected.clone(), found: found.clone() })
    }
}

fn check_index(
    axis: usize,
    operand: &Shape,
    index: &Shape,
    dtype: DType,
) -> Result<(), InferError> {
    check_axis(axis, operand)?;
    if !dtype.is_integer() {
        return Err(InferError::IndexNotInteger { found: dtype });
    }
    if index.rank() != operand.rank() || operand.with(axis, index[axis]) != *index {
        let (operand, index) = (operand.clone(), index.clone());
        return Err(InferError::IndexShape { axis, operand, index });
    }
    Ok(())
}

fn broadcast(first: &Shape, other: &Shape) -> Result<Shape, InferError> {
    first
        .broadcast(other)
        .ok_or_else(|| InferError::NotBroadcastable { first: first.clone(), other: other.clone() })
}

fn sliced(shape: &Shape, slices: &[SliceAxis]) -> Result<Shape, InferError> {
    check_entries(slices.len(), shape)?;
    for (axis, (&slice, &extent)) in slices.iter().zip(shape.iter()).enumerate() {
        if slice.step == 0 || !slice.fits(extent) {
            return Err(InferError::SliceOutOfRange { axis, extent, slice });
        }
    }
    Ok(slices.iter().map(|slice| slice.len).collect())
}

fn padded(shape: &Shape, pads: &[PadAxis]) -> Result<Shape, InferError> {
    check_entries(pads.len(), shape)?;
    let axes = pads.iter().zip(shape.iter()).enumerate();
    axes.map(|(axis, (&pad, &extent))| {
        pad.extent(extent).ok_or(InferError::PadOutOfRange { axis, extent, pad })
    })
    .collect::<Result<Axes, _>>()
    .map(Shape::from_iter)
}

fn windowed(shape: &Shape, windows: &[WindowAxis]) -> Result<Shape, InferError> {
    check_entries(windows.len(), shape)?;
    for (axis, &window) in windows.iter().enumerate() {
        if window.size == 0 || window.stride == 0 || window.dilation == 0 {
            return Err(InferError::WindowOutOfRange { axis, window });
        }
    }
    let axes = shape.iter().zip(windows);
    let positions = axes.map(|(&extent, window)| window.positions(extent));
    Ok(positions.chain(windows.iter().map(|window| window.size)).collect())
}

fn sorted(
    axis: usize,
    order: &SortOrder,
    result: SortResult,
    operands: &[Operand<'_>],
) -> Result<(Shape, DType), InferError> {
    let &(first, dtype) = operands.first().ok_or(InferError::NoOperand)?;
    check_axis(axis, first)?;
    if let Some((other, _)) = operands.iter().find(|(shape, _)| *shape != first) {
        return Err(InferError::KeyShapes { first: first.clone(), other: (*other).clone() });
    }
    match order {
        SortOrder::Keys(keys) if keys.len() != operands.len() => {
            return Err(InferError::KeyOrders { keys: operands.len(), found: keys.len() });
        }
        SortOrder::Keys(_) => {
            operands.iter().try_for_each(|&(_, dtype)| accept(DTypeSet::ORDERED, dtype))?;
        }
        SortOrder::Comparator(function) => {
            let parameters: Vec<DType> =
                operands.iter().flat_map(|&(_, dtype)| [dtype, dtype]).collect();
            check_function(function, &parameters, DType::Bool)?;
        }
    }
    match result {
        SortResult::Values if operands.len() != 1 => {
            Err(InferError::SortedValues { keys: operands.len() })
        }
        SortResult::Values => Ok((first.clone(), dtype)),
        SortResult::Positions => Ok((first.clone(), DType::I64)),
        SortResult::FirstPositions(count) if count > first[axis] => {
            Err(InferError::TopKTooLarge { count, extent: first[axis] })
        }
        SortResult::FirstPositions(count) => Ok((first.with(axis, count), DType::I64)),
    }
}

fn check_function(
    function: &ScalarFunction,
    parameters: &[DType],
    result: DType,
) -> Result<(), InferError> {
    if function.parameters().eq(parameters.iter().copied()) && function.dtype() == result {
        return Ok(());
    }
    Err(InferError::FunctionType {
        expected: parameters.to_vec(),
        result,
        found: function.parameters().collect(),
        found_result: function.dtype(),
    })
}

fn check_square(shape: &Shape) -> Result<(), InferError> {
    match shape.extents() {
        [.., rows, columns] if rows == columns => Ok(()),
        _ => Err(InferError::NotSquare { found: shape.clone() }),
    }
}

fn concatenated(axis: usize, operands: &[Operand<'_>]) -> Result<(Shape, DType), InferError> {
    let &(first, dtype) = operands.first().ok_or(InferError::NoOperand)?;
    check_axis(axis, first)?;
    let mut extent = 0usize;
    for &(other, other_dtype) in operands {
        same_dtype(dtype, other_dtype)?;
        if other.rank() != first.rank() || other.with(axis, first[axis]) != *first {
            let (first, other) = (first.clone(), other.clone());
            return Err(InferError::ConcatShapes { axis, first, other });
        }
        // A saturated extent fails the size check.
        extent = extent.saturating_add(other[axis]);
    }
    Ok((first.with(axis, extent), dtype))
}

fn contracted(axes: &DotAxes, a: &Shape, b: &Shape) -> Result<Shape, InferError> {
    let sides = [(&axes.a_batch, &axes.a_contract, a), (&axes.b_batch, &axes.b_contract, b)];
    for (batch, contract, shape) in sides {
        let mut seen = Axes::new();
        for &axis in batch.iter().chain(contract) {
            check_axis(axis, shape)?;
            if seen.contains(&axis) {
                let (batch, contract) = (batch.clone(), contract.clone());
                return Err(InferError::DotAxisRepeated { axis, batch, contract });
            }
            seen.push(axis);
        }
    }
    let pairs = [
        (DotRole::Batch, &axes.a_batch, &axes.b_batch),
        (DotRole::Contract, &axes.a_contract, &axes.b_contract),
    ];
    for (role, a_axes, b_axes) in pairs {
        if a_axes.len() != b_axes.len() {
            let (a, b) = (a_axes.clone(), b_axes.clone());
            return Err(InferError::DotAxisCount { role, a, b });
        }
        for (&a_axis, &b_axis) in a_axes.iter().zip(b_axes) {
            if a[a_axis] != b[b_axis] {
                let (a, b) = (a.clone(), b.clone());
                return Err(InferError::DotExtents { role, a_axis, b_axis, a, b });
            }
        }
    }
    let batch = axes.a_batch.iter().map(|&axis| a[axis]);
    let a_free = axes.a_free(a.rank()).into_iter().map(|axis| a[axis]);
    let b_free = axes.b_free(b.rank()).into_iter().map(|axis| b[axis]);
    Ok(batch.chain(a_free).chain(b_free).collect())
}

#[cfg(test)]
mod tests;
