//! Ops that say where elements go, and compute none.

use super::Array;
use super::function::Evaluation;
use super::index::{each_index, position, repeated_strides};
use super::scalars::{integer, scalar_combine};
use crate::graph::{Combine, PadAxis, SliceAxis, WindowAxis};
use crate::{Axes, Shape};

/// The array whose element at each index is the one of `x` at the position `from` gives.
fn collect(x: &Array, shape: &Shape, mut from: impl FnMut(&[usize]) -> usize) -> Array {
    let size = x.dtype.size();
    let mut bytes = Vec::with_capacity(shape.elements() * size);
    each_index(shape, |index| {
        let at = from(index) * size;
        bytes.extend_from_slice(&x.bytes[at..at + size]);
    });
    Array { shape: shape.clone(), dtype: x.dtype, bytes }
}

/// The same elements under another shape.
pub fn reshape(x: &Array, shape: &Shape) -> Array {
    Array { shape: shape.clone(), dtype: x.dtype, bytes: x.bytes.clone() }
}

/// Axis `i` of the result is axis `axes[i]` of `x`.
pub fn permute(x: &Array, shape: &Shape, axes: &[usize]) -> Array {
    let strides = x.shape.strides();
    let strides: Axes = axes.iter().map(|&axis| strides[axis]).collect();
    collect(x, shape, |index| position(index, &strides))
}

/// `x` repeated to a shape it broadcasts to.
pub fn broadcast(x: &Array, shape: &Shape) -> Array {
    let strides = repeated_strides(&x.shape, shape);
    collect(x, shape, |index| position(index, &strides))
}

/// The index into a sliced array of an index into its slice.
fn unslice(index: &[usize], slices: &[SliceAxis]) -> Axes {
    let taken = |(&i, slice): (&usize, &SliceAxis)| {
        (slice.start as isize + i as isize * slice.step) as usize
    };
    index.iter().zip(slices).map(taken).collect()
}

/// The elements that the slices select.
pub fn slice(x: &Array, shape: &Shape, slices: &[SliceAxis]) -> Array {
    let strides = x.shape.strides();
    collect(x, shape, |index| position(&unslice(index, slices), &strides))
}

/// Every window of `x`.
pub fn windows(x: &Array, shape: &Shape, windows: &[WindowAxis]) -> Array {
    let strides = x.shape.strides();
    collect(x, shape, |index| {
        let (positions, places) = index.split_at(windows.len());
        let axes = windows.iter().zip(positions.iter().zip(places));
        let taken: Axes =
            axes.map(|(window, (p, w))| p * window.stride + w * window.dilation).collect();
        position(&taken, &strides)
    })
}

/// `x` with the elements that the slices select replaced by those of `update`.
pub fn assign(x: &Array, update: &Array, slices: &[SliceAxis]) -> Array {
    let mut result = x.clone();
    let strides = x.shape.strides();
    let mut next = 0;
    each_index(&update.shape, |index| {
        result.set(position(&unslice(index, slices), &strides), update.get(next));
        next += 1;
    });
    result
}

/// `x` surrounded and interleaved with `fill`.
pub fn pad(x: &Array, fill: &Array, shape: &Shape, pads: &[PadAxis]) -> Array {
    let mut result = Array::full(shape, fill.get(0));
    let strides = shape.strides();
    let mut next = 0;
    each_index(&x.shape, |index| {
        // Where this element goes, unless it is cut off.
        let place: Option<Axes> = (0..shape.rank())
            .map(|axis| {
                let distance = pads[axis].interior as i128 + 1;
                let at = pads[axis].low as i128 + index[axis] as i128 * distance;
                (0..shape[axis] as i128).contains(&at).then_some(at as usize)
            })
            .collect();
        if let Some(place) = place {
            result.set(position(&place, &strides), x.get(next));
        }
        next += 1;
    });
    result
}

/// The operands joined along an axis.
pub fn concat(operands: &[&Array], shape: &Shape, axis: usize) -> Array {
    let dtype = operands[0].dtype;
    // Everything below the axis is one run of bytes in each operand.
    let inner: usize = shape[axis + 1..].iter().product::<usize>() * dtype.size();
    let outer: usize = shape[..axis].iter().product();
    let mut bytes = Vec::with_capacity(shape.elements() * dtype.size());
    for row in 0..outer {
        for operand in operands {
            let run = operand.shape[axis] * inner;
            bytes.extend_from_slice(&operand.bytes[row * run..(row + 1) * run]);
        }
    }
    Array { shape: shape.clone(), dtype, bytes }
}

/// `x` at each index with the coordinate along `axis` looked up, clamped into range.
pub fn gather(x: &Array, lookup: &Array, axis: usize) -> Array {
    let strides = x.shape.strides();
    let mut next = 0;
    collect(x, &lookup.shape, |index| {
        let mut index = Axes::from_slice(index);
        let last = x.shape[axis] as i128 - 1;
        index[axis] = integer(lookup.get(next)).clamp(0, last) as usize;
        next += 1;
        position(&index, &strides)
    })
}

/// `x` with each update put, or combined, where its index says; out of range it is dropped.
pub fn scatter(
    x: &Array,
    lookup: &Array,
    update: &Array,
    axis: usize,
    combine: Option<&Combine>,
) -> Array {
    let mut function = match combine {
        Some(Combine::Function(function)) => Some(Evaluation::new(function)),
        _ => None,
    };
    let mut result = x.clone();
    let strides = x.shape.strides();
    let mut next = 0;
    each_index(&lookup.shape, |index| {
        let along = integer(lookup.get(next));
        let value = update.get(next);
        next += 1;
        if !(0..x.shape[axis] as i128).contains(&along) {
            return;
        }
        let mut index = Axes::from_slice(index);
        index[axis] = along as usize;
        let at = position(&index, &strides);
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
