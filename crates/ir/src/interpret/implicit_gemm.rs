//! Convolution, directly from its definition: the reference of implicit GEMM.

use super::Array;
use super::index::{for_each_index, linear_index};
use crate::graph::ImplicitGemm;
use crate::{Scalar, Shape};

/// The sum of products of each window with each convolution kernel.
pub fn convolve(x: &Array, kernels: &Array, shape: &Shape, gemm: &ImplicitGemm) -> Array {
    let extents = gemm.extents(&x.shape, &kernels.shape).expect("checked when it was inferred");
    let space = gemm.windows.len();
    let [group_axis, example_axis, output_axis, positions] = gemm.axes();
    let (x_strides, kernel_strides) = (x.shape.strides(), kernels.shape.strides());
    let window: Shape = gemm.windows.iter().map(|window| window.size).collect();
    let mut values = Vec::with_capacity(shape.element_count());
    for_each_index(shape, |index| {
        let (group, output) = (index[group_axis], index[output_axis]);
        let (outer, inner) = (group / extents.feature_groups, group % extents.feature_groups);
        let example = outer * extents.examples + index[example_axis];
        let start = example * x_strides[0] + inner * x_strides[space + 1];
        let kernel = group * kernel_strides[0] + output * kernel_strides[1];
        let mut sum = 0.0;
        for_each_index(&window, |target| {
            let along = |axis: usize| {
                let window = gemm.windows[axis];
                index[positions + axis] * window.stride + target[axis] * window.dilation
            };
            let at: usize = (0..space).map(|axis| along(axis) * x_strides[axis + 1]).sum();
            let from = start + at;
            let kernel = kernel + linear_index(target, &kernel_strides[2..]);
            for feature in 0..extents.features {
                sum += x.get(from + feature).to_f64() * kernels.get(kernel + feature).to_f64();
            }
        });
        values.push(Scalar::from(sum).cast(x.dtype));
    });
    Array::from_scalars(values, shape, x.dtype)
}
