//! Products of windows and kernels, one element after another.

use super::Array;
use super::index::{each_index, position};
use crate::graph::ImplicitGemm;
use crate::{Scalar, Shape};

/// The sums of the products of each window's elements with each kernel's.
pub fn product(x: &Array, kernels: &Array, shape: &Shape, product: &ImplicitGemm) -> Array {
    let extents = product.extents(&x.shape, &kernels.shape).expect("checked when it was inferred");
    let space = product.windows.len();
    let [group_axis, example_axis, output_axis, positions] = product.axes();
    let (x_strides, kernel_strides) = (x.shape.strides(), kernels.shape.strides());
    let window: Shape = product.windows.iter().map(|window| window.size).collect();
    let mut values = Vec::with_capacity(shape.elements());
    each_index(shape, |index| {
        let (group, output) = (index[group_axis], index[output_axis]);
        let (outer, inner) = (group / extents.feature_groups, group % extents.feature_groups);
        let example = outer * extents.examples + index[example_axis];
        let start = example * x_strides[0] + inner * x_strides[space + 1];
        let kernel = group * kernel_strides[0] + output * kernel_strides[1];
        let mut sum = 0.0;
        each_index(&window, |place| {
            let along = |axis: usize| {
                let window = product.windows[axis];
                index[positions + axis] * window.stride + place[axis] * window.dilation
            };
            let at: usize = (0..space).map(|axis| along(axis) * x_strides[axis + 1]).sum();
            let from = start + at;
            let kernel = kernel + position(place, &kernel_strides[2..]);
            for feature in 0..extents.features {
                sum += x.get(from + feature).to_f64() * kernels.get(kernel + feature).to_f64();
            }
        });
        values.push(Scalar::from(sum).cast(x.dtype));
    });
    Array::from_scalars(values, shape, x.dtype)
}
