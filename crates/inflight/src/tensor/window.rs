//! Sliding windows, and pooling (`max_pool2d`, `avg_pool2d`): windows reduced.

use super::Tensor;
use super::axis::{Axis, axis as axis_of};
use super::composed::composed;
use super::extents::{PerAxis, zero_in};
use super::method::method;
use super::record::{constant, mistake, record_at};
use crate::{Scalar, Shape};
use inflight_ir::compose::{ReduceWindow, reduce_window};
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{Op, WindowAxis};
use smallvec::SmallVec;
use std::panic::Location;

/// The windows of a pool over the last `N` axes.
///
/// ```
/// use inflight::PoolOptions;
///
/// let options = PoolOptions::new([2, 3]).padding(1);
/// assert_eq!((options.size, options.stride, options.padding), ([2, 3], [2, 3], [1, 1]));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolOptions<const N: usize> {
    /// The number of elements of a window along each axis.
    pub size: [usize; N],
    /// The distance between two windows. The default is the size.
    pub stride: [usize; N],
    /// Elements added before the first and after the last. The default is 0.
    pub padding: [usize; N],
    /// The distance between the elements of a window. The default is 1.
    pub dilation: [usize; N],
}

impl<const N: usize> PoolOptions<N> {
    /// Adjacent windows of this size: one for every axis (`2`), or one per axis (`[2, 3]`).
    pub fn new(size: impl PerAxis<N>) -> PoolOptions<N> {
        let size = size.per_axis();
        PoolOptions { size, stride: size, padding: [0; N], dilation: [1; N] }
    }

    /// With this stride: one for every axis, or one per axis.
    #[must_use]
    pub fn stride(self, stride: impl PerAxis<N>) -> PoolOptions<N> {
        PoolOptions { stride: stride.per_axis(), ..self }
    }

    /// With this padding on both sides: one for every axis, or one per axis.
    #[must_use]
    pub fn padding(self, padding: impl PerAxis<N>) -> PoolOptions<N> {
        PoolOptions { padding: padding.per_axis(), ..self }
    }

    /// With this dilation: one for every axis, or one per axis.
    #[must_use]
    pub fn dilation(self, dilation: impl PerAxis<N>) -> PoolOptions<N> {
        PoolOptions { dilation: dilation.per_axis(), ..self }
    }
}

impl Tensor {
    /// The largest element of each window of the last axis. Padding is never the largest.
    #[doc(alias("MaxPool1d", "max_pool", "reduce_window"))]
    #[track_caller]
    pub fn max_pool1d(&self, options: PoolOptions<1>) -> Tensor {
        pooled("max_pool1d", self, CombineOp::Max, options, Location::caller())
    }

    /// The largest element of each window of the last two axes. Padding is never the largest.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, PoolOptions, Tensor};
    ///
    /// let device = Device::cpu();
    /// let x = Tensor::from_vec((0..16).collect::<Vec<i32>>(), [1, 1, 4, 4], &device)?;
    /// let y = x.max_pool2d(PoolOptions::new(2));
    /// assert_eq!(y.to_vec::<i32>()?, [5, 7, 13, 15]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("MaxPool2d", "max_pool", "reduce_window"))]
    #[track_caller]
    pub fn max_pool2d(&self, options: PoolOptions<2>) -> Tensor {
        pooled("max_pool2d", self, CombineOp::Max, options, Location::caller())
    }

    /// The mean of each window of the last axis. Padding counts as zeros.
    #[doc(alias("AvgPool1d", "avg_pool", "mean_pool"))]
    #[track_caller]
    pub fn avg_pool1d(&self, options: PoolOptions<1>) -> Tensor {
        averaged("avg_pool1d", self, options, Location::caller())
    }

    /// The mean of each window of the last two axes. Padding counts as zeros.
    #[doc(alias("AvgPool2d", "avg_pool", "mean_pool"))]
    #[track_caller]
    pub fn avg_pool2d(&self, options: PoolOptions<2>) -> Tensor {
        averaged("avg_pool2d", self, options, Location::caller())
    }

    /// All sliding windows of the tensor, as a view: one size and one stride for each axis. The result's axes are the
    /// window positions along each axis, then the elements of a window along each axis.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>((5, 6), &Device::cpu());
    /// assert_eq!(x.windows([3, 3], [1, 1]).shape(), &Shape::from([3, 4, 3, 3]));
    /// ```
    #[doc(alias("sliding_window_view", "as_strided", "im2col"))]
    #[track_caller]
    pub fn windows(&self, sizes: impl AsRef<[usize]>, strides: impl AsRef<[usize]>) -> Tensor {
        let location = Location::caller();
        let (sizes, strides) = (sizes.as_ref(), strides.as_ref());
        if sizes.len() != strides.len() {
            let message = format!(
                "expected as many sizes as strides, found {} and {}; give one per axis",
                sizes.len(),
                strides.len()
            );
            return self.mistake_like("windows", message, location);
        }
        let axes = sizes.iter().zip(strides);
        let axes = axes.map(|(&size, &stride)| WindowAxis { size, stride, dilation: 1 }).collect();
        record_at(Op::Windows(axes), &[self], location)
    }

    /// All sliding windows of `size` elements along one axis, `step` apart, as a view: the axis holds the window
    /// positions, and a new last axis the elements of each window.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, Shape, Tensor};
    ///
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4, 5], [5], &Device::cpu())?;
    /// let y = x.unfold(0, 3, 1);
    /// assert_eq!(*y.shape(), Shape::from([3, 3]));
    /// assert_eq!(y.sum(1).to_vec::<i32>()?, [6, 9, 12]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("sliding_window_view", "frame"))]
    #[track_caller]
    pub fn unfold(&self, axis: impl Axis, size: usize, step: usize) -> Tensor {
        let location = Location::caller();
        let axis = match axis_of(axis.number(), self.rank()) {
            Ok(axis) => axis,
            Err(message) => return self.mistake_like("unfold", message, location),
        };
        let method = method("unfold");
        let mut axes: SmallVec<[WindowAxis; 4]> =
            SmallVec::from_elem(WindowAxis::new(1), self.rank());
        axes[axis] = WindowAxis { size, stride: step, dilation: 1 };
        let windows = record_at(Op::Windows(axes), &[self], location);
        let shape: Shape = windows.shape()[..self.rank()].iter().copied().chain([size]).collect();
        method.of(&[self], record_at(Op::Reshape(shape), &[&windows], location))
    }
}

fn pooled<const N: usize>(
    name: &'static str,
    x: &Tensor,
    op: CombineOp,
    options: PoolOptions<N>,
    location: &'static Location<'static>,
) -> Tensor {
    let (shape, dtype) = (x.shape(), x.dtype());
    let Some(first) = shape.rank().checked_sub(N) else {
        let message = format!("expected at least {N} axes, found {}; add axes", shape.rank());
        return mistake(name, message, &[x], shape.clone(), dtype, location);
    };
    let zero = zero_in("size", &options.size)
        .or_else(|| zero_in("stride", &options.stride))
        .or_else(|| zero_in("dilation", &options.dilation));
    if let Some(message) = zero {
        return mistake(name, message, &[x], shape.clone(), dtype, location);
    }
    let mut windows = vec![ReduceWindow::new(1, 1); shape.rank()];
    for axis in 0..N {
        windows[first + axis] = ReduceWindow {
            dilation: options.dilation[axis],
            low: isize::try_from(options.padding[axis]).unwrap_or(isize::MAX),
            high: isize::try_from(options.padding[axis]).unwrap_or(isize::MAX),
            ..ReduceWindow::new(options.size[axis], options.stride[axis])
        };
    }
    let plausible = || {
        let window = |axis: usize| {
            let window = &windows[axis];
            let padded = shape[axis].saturating_add_signed(window.low.saturating_add(window.high));
            let (size, stride, dilation) = (window.size, window.stride, window.dilation);
            WindowAxis { size, stride, dilation }.positions(padded)
        };
        ((0..shape.rank()).map(window).collect(), dtype)
    };
    let [result] = composed(name, &[x], plausible, location, |graph, nodes| {
        let init = graph.scalar(Scalar::identity(op, dtype));
        Ok([reduce_window(graph, nodes[0], init, op, &windows)?])
    });
    result
}

fn averaged<const N: usize>(
    name: &'static str,
    x: &Tensor,
    options: PoolOptions<N>,
    location: &'static Location<'static>,
) -> Tensor {
    if !x.dtype().is_float() && !x.dtype().is_complex() {
        let message =
            format!("expected floats or complex numbers, found {}; cast first", x.dtype());
        return mistake(name, message, &[x], x.shape().clone(), x.dtype(), location);
    }
    let method = method(name);
    let sum = pooled(name, x, CombineOp::Sum, options, location);
    let elements: f64 = options.size.iter().map(|&size| size as f64).product();
    let elements = constant(Scalar::from(elements).cast(x.dtype()), x.device(), location);
    let mean = record_at(Op::Binary(inflight_ir::BinaryOp::Div), &[&sum, &elements], location);
    method.of(&[x], mean)
}
