//! Reductions, scans and dot.

use super::Array;
use super::accumulate::Accumulator;
use super::index::{for_each_index, linear_index};
use super::scalars::scalar_compare;
use crate::elementwise::{ArgOp, CombineOp, CompareOp};
use crate::graph::DotAxes;
use crate::{Axes, Scalar, Shape};

/// Strides of the reduced shape, for an index of the full shape: 0 along `axes`.
fn reduced_strides(shape: &Shape, axes: &[usize]) -> Axes {
    let kept = shape.reduced(axes, true).strides();
    (0..shape.rank()).map(|axis| if axes.contains(&axis) { 0 } else { kept[axis] }).collect()
}

/// Reduces along `axes`.
pub fn reduce(x: &Array, shape: &Shape, op: CombineOp, axes: &[usize]) -> Array {
    let mut totals = vec![Accumulator::new(op, x.dtype); shape.element_count()];
    let strides = reduced_strides(&x.shape, axes);
    let mut values = x.scalars();
    for_each_index(&x.shape, |index| {
        totals[linear_index(index, &strides)].push(values.next().expect("one for each index"));
    });
    Array::from_scalars(totals.iter().map(Accumulator::result), shape, x.dtype)
}

/// The index along `axis` of the first minimum or maximum, or of the first NaN.
pub fn arg_reduce(x: &Array, shape: &Shape, op: ArgOp, axis: usize) -> Array {
    let comparison = match op {
        ArgOp::Min => CompareOp::Lt,
        ArgOp::Max => CompareOp::Gt,
    };
    let is_nan = |value: Scalar| value.dtype().is_float() && value.to_f64().is_nan();
    let mut best: Vec<Option<(usize, Scalar)>> = vec![None; shape.element_count()];
    let strides = reduced_strides(&x.shape, &[axis]);
    let mut values = x.scalars();
    for_each_index(&x.shape, |index| {
        let value = values.next().expect("one for each index");
        let best = &mut best[linear_index(index, &strides)];
        let wins = match *best {
            None => true,
            Some((_, best)) if is_nan(best) => false,
            Some((_, best)) => is_nan(value) || scalar_compare(comparison, value, best),
        };
        if wins {
            *best = Some((index[axis], value));
        }
    });
    let positions = best.iter().map(|best| best.expect("the axis is not empty").0 as i64);
    Array::from_vec(positions.collect(), shape)
}

/// Inclusive scan along `axis`.
pub fn scan(x: &Array, op: CombineOp, axis: usize) -> Array {
    let lines = x.shape.reduced(&[axis], true);
    let mut totals = vec![Accumulator::new(op, x.dtype); lines.element_count()];
    let strides = reduced_strides(&x.shape, &[axis]);
    let mut result = x.clone();
    let mut next = 0;
    for_each_index(&x.shape, |index| {
        let total = &mut totals[linear_index(index, &strides)];
        total.push(x.get(next));
        result.set(next, total.result());
        next += 1;
    });
    result
}

/// The linear index of each index over some axes of a shape, in row-major order.
fn positions(shape: &Shape, axes: &[usize]) -> Vec<usize> {
    let strides = shape.strides();
    let strides: Axes = axes.iter().map(|&axis| strides[axis]).collect();
    let extents: Shape = axes.iter().map(|&axis| shape[axis]).collect();
    let mut positions = Vec::with_capacity(extents.element_count());
    for_each_index(&extents, |index| positions.push(linear_index(index, &strides)));
    positions
}

/// Dot (general contraction) of two arrays. Result axes: batch, then the free axes of `a`, then those of `b`.
pub fn dot(a: &Array, b: &Array, shape: &Shape, axes: &DotAxes) -> Array {
    let a_batch = positions(&a.shape, &axes.a_batch);
    let b_batch = positions(&b.shape, &axes.b_batch);
    let a_free = positions(&a.shape, &axes.a_free(a.shape.rank()));
    let b_free = positions(&b.shape, &axes.b_free(b.shape.rank()));
    let a_contract = positions(&a.shape, &axes.a_contract);
    let b_contract = positions(&b.shape, &axes.b_contract);
    let (a_values, b_values): (Vec<_>, Vec<_>) = (a.scalars().collect(), b.scalars().collect());
    let mut results = Vec::with_capacity(shape.element_count());
    for (a_batch, b_batch) in a_batch.iter().zip(&b_batch) {
        for a_free in &a_free {
            for b_free in &b_free {
                let mut total = Accumulator::new(CombineOp::Sum, a.dtype);
                for (a_contract, b_contract) in a_contract.iter().zip(&b_contract) {
                    let a_value = a_values[a_batch + a_free + a_contract];
                    let b_value = b_values[b_batch + b_free + b_contract];
                    total.push_product(a_value, b_value);
                }
                results.push(total.result());
            }
        }
    }
    Array::from_scalars(results, shape, a.dtype)
}
