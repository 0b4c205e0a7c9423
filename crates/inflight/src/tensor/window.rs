//! Windows of a tensor, and pools: windows reduced.

use super::Tensor;
use super::axis::axis as axis_of;
use super::composed::composed;
use super::record::{constant, mistake, record_at};
use crate::{Scalar, Shape};
use inflight_ir::compose::{ReduceWindow, reduce_window};
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{Op, WindowAxis};
use smallvec::SmallVec;
use std::panic::Location;

/// How a pool over the last `N` axes moves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PoolOptions<const N: usize> {
    /// How many elements a window takes along each axis.
    pub size: [usize; N],
    /// The distance between the window's positions; the size unless said otherwise.
    pub stride: [usize; N],
    /// Elements before the first and after the last; none unless said otherwise.
    pub padding: [usize; N],
    /// The distance between the elements that a window takes; 1 unless said otherwise.
    pub dilation: [usize; N],
}

impl<const N: usize> PoolOptions<N> {
    /// Windows of this size along every axis, side by side.
    pub fn new(size: usize) -> PoolOptions<N> {
        PoolOptions { size: [size; N], stride: [size; N], padding: [0; N], dilation: [1; N] }
    }

    /// With this stride along every axis.
    pub fn stride(self, stride: usize) -> PoolOptions<N> {
        PoolOptions { stride: [stride; N], ..self }
    }

    /// With this padding on both sides of every axis.
    pub fn padding(self, padding: usize) -> PoolOptions<N> {
        PoolOptions { padding: [padding; N], ..self }
    }

    /// With this dilation along every axis.
    pub fn dilation(self, dilation: usize) -> PoolOptions<N> {
        PoolOptions { dilation: [dilation; N], ..self }
    }
}

impl Tensor {
    /// The largest element of each window of the last axis. Padding is never the largest.
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
    #[track_caller]
    pub fn max_pool2d(&self, options: PoolOptions<2>) -> Tensor {
        pooled("max_pool2d", self, CombineOp::Max, options, Location::caller())
    }

    /// The mean of each window of the last axis. Padding counts as zeros.
    #[track_caller]
    pub fn avg_pool1d(&self, options: PoolOptions<1>) -> Tensor {
        averaged("avg_pool1d", self, options, Location::caller())
    }

    /// The mean of each window of the last two axes. Padding counts as zeros.
    #[track_caller]
    pub fn avg_pool2d(&self, options: PoolOptions<2>) -> Tensor {
        averaged("avg_pool2d", self, options, Location::caller())
    }

    /// Every window of the tensor, as a view: one size and one stride for each axis. The result's axes are
    /// the positions along each axis, then the places within a window along each axis.
    #[track_caller]
    pub fn windows(&self, sizes: &[usize], strides: &[usize]) -> Tensor {
        let location = Location::caller();
        if sizes.len() != strides.len() {
            let message = format!(
                "expected as many sizes as strides, found {} and {}; give one per axis",
                sizes.len(),
                strides.len()
            );
            let (shape, dtype) = (self.shape().clone(), self.dtype());
            return mistake("windows", message, &[self], shape, dtype, location);
        }
        let axes = sizes.iter().zip(strides);
        let axes = axes.map(|(&size, &stride)| WindowAxis { size, stride, dilation: 1 }).collect();
        record_at(Op::Windows(axes), &[self], location)
    }

    /// Every window of `size` elements along one axis, `step` apart, as a view: the axis holds the positions,
    /// and a new last axis the elements of each window.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, Shape, Tensor};
    ///
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4, 5], [5], &Device::cpu())?;
    /// let y = x.unfold(0, 3, 1);
    /// assert_eq!(*y.shape(), Shape::from([3, 3]));
    /// assert_eq!(y.sum([1]).to_vec::<i32>()?, [6, 9, 12]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn unfold(&self, axis: isize, size: usize, step: usize) -> Tensor {
        let location = Location::caller();
        let axis = match axis_of(axis, self.rank()) {
            Ok(axis) => axis,
            Err(message) => {
                let (shape, dtype) = (self.shape().clone(), self.dtype());
                return mistake("unfold", message, &[self], shape, dtype, location);
            }
        };
        let mut axes: SmallVec<[WindowAxis; 4]> =
            SmallVec::from_elem(WindowAxis::new(1), self.rank());
        axes[axis] = WindowAxis { size, stride: step, dilation: 1 };
        let windows = record_at(Op::Windows(axes), &[self], location);
        let shape: Shape = windows.shape()[..self.rank()].iter().copied().chain([size]).collect();
        record_at(Op::Reshape(shape), &[&windows], location)
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
    let sum = pooled(name, x, CombineOp::Sum, options, location);
    let places: f64 = options.size.iter().map(|&size| size as f64).product();
    let places = constant(Scalar::from(places).cast(x.dtype()), x.device(), location);
    record_at(Op::Binary(inflight_ir::BinaryOp::Div), &[&sum, &places], location)
}
