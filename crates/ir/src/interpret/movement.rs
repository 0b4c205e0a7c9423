//! Data movement ops: views, gather and scatter. They copy elements and compute none.

use super::Array;
use super::function::ScalarFunctionEvaluator;
use super::index::{broadcast_strides, for_each_index, linear_index};
use super::scalars::{integer_value, scalar_combine};
use crate::graph::{Combine, PadAxis, SliceAxis, WindowAxis};
use crate::{Axes, Shape};

/// Gathers elements: the element at each index of the result is that of `x` at the linear index given by `from`.
fn collect(x: &Array, shape: &Shape, mut from: impl FnMut(&[usize]) -> usize) -> Array {
    let size = x.dtype.size();
    let mut bytes = Vec::with_capacity(shape.element_count() * size);
    for_each_index(shape, |index| {
        let at = from(index) * size;
        bytes.extend_from_slice(&x.bytes[at..at + size]);
    });
    Array { shape: shape.clone(), dtype: x.dtype, bytes }
}

/// The same elements with another shape.
pub fn reshape(x: &Array, shape: &Shape) -> Array {
    Array { shape: shape.clone(), dtype: x.dtype, bytes: x.bytes.clone() }
}

/// Axis `i` of the result is axis `axes[i]` of `x`.
pub fn permute(x: &Array, shape: &Shape, axes: &[usize]) -> Array {
    let strides = x.shape.strides();
    let strides: Axes = axes.iter().map(|&axis| strides[axis]).collect();
    collect(x, shape, |index| linear_index(index, &strides))
}

/// Broadcasts `x` to a shape.
pub fn broadcast(x: &Array, shape: &Shape) -> Array {
    let strides = broadcast_strides(&x.shape, shape);
    collect(x, shape, |index| linear_index(index, &strides))
}

/// Maps an index of a slice to an index of the sliced array.
fn unslice(index: &[usize], slices: &[SliceAxis]) -> Axes {
    let selected = |(&i, slice): (&usize, &SliceAxis)| {
        (slice.start as isize + i as isize * slice.step) as usize
    };
    index.iter().zip(slices).map(selected).collect()
}

/// The elements that the slices select.
pub fn slice(x: &Array, shape: &Shape, slices: &[SliceAxis]) -> Array {
    let strides = x.shape.strides();
    collect(x, shape, |index| linear_index(&unslice(index, slices), &strides))
}

/// The sliding windows of `x` (im2col).
pub fn windows(x: &Array, shape: &Shape, windows: &[WindowAxis]) -> Array {
    let strides = x.shape.strides();
    collect(x, shape, |index| {
        let (positions, offsets) = index.split_at(windows.len());
        let axes = windows.iter().zip(positions.iter().zip(offsets));
        let selected: Axes = axes
            .map(|(window, (position, offset))| position * window.stride + offset * window.dilation)
            .collect();
        linear_index(&selected, &strides)
    })
}

/// `x`, with the elements selected by the slices replaced by those of `update`.
pub fn assign(x: &Array, update: &Array, slices: &[SliceAxis]) -> Array {
    let mut result = x.clone();
    let strides = x.shape.strides();
    let mut next = 0;
    for_each_index(&update.shape, |index| {
        result.set(linear_index(&unslice(index, slices), &strides), update.get(next));
        next += 1;
    });
    result
}

/// Pads `x` with `fill` at the edges and between elements.
pub fn pad(x: &Array, fill: &Array, shape: &Shape, pads: &[PadAxis]) -> Array {
    let mut result = Array::full(shape, fill.get(0));
    let strides = shape.strides();
    let mut next = 0;
    for_each_index(&x.shape, |index| {
        // The index of this element in the result, unless it is cropped by negative padding.
        let target: Option<Axes> = (0..shape.rank())
            .map(|axis| {
                let distance = pads[axis].interior as i128 + 1;
                let at = pads[axis].low as i128 + index[axis] as i128 * distance;
                (0..shape[axis] as i128).contains(&at).then_some(at as usize)
            })
            .collect();
        if let Some(target) = target {
            result.set(linear_index(&target, &strides), x.get(next));
        }
        next += 1;
    });
    result
}

/// Concatenates the operands along an axis.
pub fn concat(operands: &[&Array], shape: &Shape, axis: usize) -> Array {
    let dtype = operands[0].dtype;
    // The axes below form one contiguous run of bytes in each operand.
    let inner: usize = shape[axis + 1..].iter().product::<usize>() * dtype.size();
    let outer: usize = shape[..axis].iter().product();
    let mut bytes = Vec::with_capacity(shape.element_count() * dtype.size());
    for row in 0..outer {
        for operand in operands {
            let run = operand.shape[axis] * inner;
            bytes.extend_from_slice(&operand.bytes[row * run..(row + 1) * run]);
        }
    }
    Array { shape: shape.clone(), dtype, bytes }
}

/// Gathers elements of `x` along `axis`; indices are clamped into range.
pub fn gather(x: &Array, lookup: &Array, axis: usize) -> Array {
    let strides = x.shape.strides();
    let mut next = 0;
    collect(x, &lookup.shape, |index| {
        let mut index = Axes::from_slice(index);
        let last = x.shape[axis] as i128 - 1;
        index[axis] = integer_value(lookup.get(next)).clamp(0, last) as usize;
        next += 1;
        linear_index(&index, &strides)
    })
}

/// Scatters the updates into `x`, replacing or combining; out-of-range indices are dropped.
pub fn scatter(
    x: &Array,
    lookup: &Array,
    update: &Array,
    axis: usize,
    combine: Option<&Combine>,
) -> Array {
    let mut function = match combine {
        Some(Combine::Function(function)) => Some(ScalarFunctionEvaluator::new(function)),
        _ => None,
    };
    let mut result = x.clone();
    let strides = x.shape.strides();
    let mut next = 0;
    for_each_index(&lookup.shape, |index| {
        let along = integer_value(lookup.get(next));
        let value = update.get(next);
        next += 1;
        if !(0..x.shape[axis] as i128).contains(&along) {
            return;
        }
        let mut index = Axes::from_slice(index);
        index[axis] = along as usize;
        let at = linear_index(&index, &strides);
        let value = match combine {
            Some(Combine::With(op)) => scalar_combine(*op, result.get(at), value),
            Some(Combine::Function(_)) => {
                let function = function.as_mut().expect("there is a function");
                function.call(&[result.get(at), value])
            }
            None => value,
        };
        result.set(at, value);
    });
    result
}
