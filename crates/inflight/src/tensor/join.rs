//! Joining tensors (`cat`, `stack`), splitting them (`split`, `chunk`), and padding.

use super::Tensor;
use super::axis::{Axis, axis as axis_of};
use super::extents::Padding;
use super::method::method;
use super::operand::convert_scalar;
use super::record::{constant, mistake, record_at};
use crate::runtime::Device;
use crate::{DType, Scalar, Shape};
use inflight_ir::graph::{self, Op, PadAxis, SliceAxis};
use std::panic::Location;

impl AsRef<Tensor> for Tensor {
    /// The tensor itself: a list of tensors may hold tensors, references to them, or `Arc`s.
    fn as_ref(&self) -> &Tensor {
        self
    }
}

impl Tensor {
    /// Concatenates tensors along an axis. They have one dtype, and agree on every other axis.
    ///
    /// The list is an array, slice, vector or iterator of tensors or references to tensors.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let device = Device::cpu();
    /// let (a, b) = (Tensor::zeros::<f32>((2, 3), &device), Tensor::ones::<f32>((1, 3), &device));
    /// assert_eq!(Tensor::cat([&a, &b], 0).shape(), &Shape::from([3, 3]));
    /// ```
    #[doc(alias("concatenate", "concat", "hstack", "vstack", "append"))]
    #[track_caller]
    pub fn cat<T: AsRef<Tensor>>(tensors: impl IntoIterator<Item = T>, axis: impl Axis) -> Tensor {
        let location = Location::caller();
        let tensors: Vec<T> = tensors.into_iter().collect();
        let tensors: Vec<&Tensor> = tensors.iter().map(AsRef::as_ref).collect();
        let Some(first) = tensors.first() else { return of_none("cat", location) };
        match axis_of(axis.number(), first.rank()) {
            Ok(axis) => {
                method("cat").of(&tensors, record_at(Op::Concat { axis }, &tensors, location))
            }
            Err(message) => {
                mistake("cat", message, &tensors, first.shape().clone(), first.dtype(), location)
            }
        }
    }

    /// Joins tensors of one shape and dtype along a new axis, which is `axis` of the result.
    ///
    /// The list is an array, slice, vector or iterator of tensors or references to tensors.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let rows: Vec<Tensor> = (0..4).map(|_| Tensor::zeros::<f32>(3, &Device::cpu())).collect();
    /// assert_eq!(Tensor::stack(&rows, 0).shape(), &Shape::from([4, 3]));
    /// ```
    #[doc(alias("column_stack", "dstack", "pack"))]
    #[track_caller]
    pub fn stack<T: AsRef<Tensor>>(
        tensors: impl IntoIterator<Item = T>,
        axis: impl Axis,
    ) -> Tensor {
        let location = Location::caller();
        let tensors: Vec<T> = tensors.into_iter().collect();
        let tensors: Vec<&Tensor> = tensors.iter().map(AsRef::as_ref).collect();
        stacked(&tensors, axis.number(), location)
    }

    /// Splits the tensor along an axis into parts of these extents, which must add up to the axis's extent.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// let x = Tensor::zeros::<f32>((5, 3), &Device::cpu());
    /// let [head, tail] = x.split(0, [2, 3]).try_into().unwrap();
    /// assert_eq!((head.shape()[0], tail.shape()[0]), (2, 3));
    /// ```
    #[doc(alias("split_with_sizes", "array_split", "tensor_split", "hsplit", "vsplit"))]
    #[must_use]
    #[track_caller]
    pub fn split(&self, axis: impl Axis, extents: impl AsRef<[usize]>) -> Vec<Tensor> {
        self.parted("split", axis.number(), extents.as_ref(), Location::caller())
    }

    /// Splits the tensor along an axis into `parts` parts. Their extents differ by at most one, and the larger ones
    /// come first.
    #[doc(alias("array_split", "tensor_split"))]
    #[must_use]
    #[track_caller]
    pub fn chunk(&self, axis: impl Axis, parts: usize) -> Vec<Tensor> {
        let location = Location::caller();
        let along = axis.number();
        if parts == 0 {
            return vec![self.mistake_like("chunk", "into no parts".to_owned(), location)];
        }
        let extent = axis_of(along, self.rank()).map_or(0, |along| self.shape()[along]);
        // Parts may be empty, but a mistaken count must not exhaust memory.
        if parts > extent.max(1 << 16) {
            let message = format!("into {parts} parts, of an axis of {extent} elements");
            return vec![self.mistake_like("chunk", message, location)];
        }
        let extents: Vec<usize> =
            (0..parts).map(|part| extent / parts + usize::from(part < extent % parts)).collect();
        self.parted("chunk", along, &extents, location)
    }

    /// Pads the tensor with `fill`, a value of its dtype: for each axis, so many elements before the first and after
    /// the last. Negative amounts crop.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>((2, 3), &Device::cpu());
    /// assert_eq!(x.pad([(1, 1), (0, 2)], 0.0).shape(), &Shape::from([4, 5]));
    /// assert_eq!(x.pad([(0, 0), (-1, 0)], 0.0).shape(), &Shape::from([2, 2]));
    /// ```
    #[doc(alias("constant_pad_nd", "zero_pad", "crop"))]
    #[track_caller]
    pub fn pad(&self, amounts: impl Padding, fill: impl Into<Scalar>) -> Tensor {
        let location = Location::caller();
        let axes = amounts.amounts().into_iter();
        let op = Op::Pad(axes.map(|(low, high)| PadAxis { low, high, interior: 0 }).collect());
        let fill = match convert_scalar(fill.into(), self.dtype()) {
            Ok(fill) => constant(fill, self.device(), location),
            Err(message) => {
                let zero = (&Shape::scalar(), self.dtype());
                let (shape, dtype) = graph::plausible(&op, &[(self.shape(), self.dtype()), zero]);
                return mistake("pad", message, &[self], shape, dtype, location);
            }
        };
        method("pad").of(&[self], record_at(op, &[self, &fill], location))
    }

    fn parted(
        &self,
        name: &'static str,
        along: isize,
        extents: &[usize],
        location: &'static Location<'static>,
    ) -> Vec<Tensor> {
        let along = match axis_of(along, self.rank()) {
            Ok(along) => along,
            Err(message) => {
                let part = self.mistake_like(name, message, location);
                return vec![part; extents.len().max(1)];
            }
        };
        let extent = self.shape()[along];
        let sum = extents.iter().try_fold(0usize, |sum, &part| sum.checked_add(part));
        if sum != Some(extent) {
            let message = format!("{extents:?} do not add up to axis {along}, of {extent}");
            let failed = |&part: &usize| {
                let shape = self.shape().with(along, part.min(extent));
                mistake(name, message.clone(), &[self], shape, self.dtype(), location)
            };
            return match extents {
                [] => vec![failed(&extent)],
                _ => extents.iter().map(failed).collect(),
            };
        }
        let mut next = 0;
        let mut parts = Vec::with_capacity(extents.len());
        for &len in extents {
            let start = if len == 0 { 0 } else { next };
            parts.push(self.sliced(along, SliceAxis { start, step: 1, len }, location));
            next += len;
        }
        parts
    }
}

fn stacked(tensors: &[&Tensor], along: isize, location: &'static Location<'static>) -> Tensor {
    let Some(first) = tensors.first() else { return of_none("stack", location) };
    let failed = |message: String| {
        let shape = [tensors.len()].into_iter().chain(first.shape().iter().copied()).collect();
        mistake("stack", message, tensors, shape, first.dtype(), location)
    };
    let axis = match axis_of(along, first.rank() + 1) {
        Ok(axis) => axis,
        Err(message) => return failed(message),
    };
    if let Some(other) = tensors.iter().find(|tensor| tensor.shape() != first.shape()) {
        return failed(format!(
            "expected tensors of one shape, found {} and {}; slice, pad or broadcast one of them",
            first.shape(),
            other.shape()
        ));
    }
    let method = method("stack");
    let row = |tensor: &&Tensor| tensor.unsqueezed("stack", along, location);
    let rows: Vec<Tensor> = tensors.iter().map(row).collect();
    let rows: Vec<&Tensor> = rows.iter().collect();
    method.of(tensors, record_at(Op::Concat { axis }, &rows, location))
}

/// The error of joining no tensors.
fn of_none(name: &'static str, location: &'static Location<'static>) -> Tensor {
    // An empty list names no device, so the result is where every program can read it.
    let nothing = constant(Scalar::zero(DType::F32), &Device::cpu(), location);
    let message = "needs at least one tensor".to_owned();
    mistake(name, message, &[&nothing], Shape::from(0), DType::F32, location)
}
