//! Indexing with tensors: gather, scatter, `index_select`, `take_along_axis`, one-hot.
//!
//! An index out of range is not an error, since the host does not read the indices: reading clamps it to the nearest
//! element, writing drops the update.

use super::Tensor;
use super::axis::{Axis, axis as axis_of};
use super::method::method;
use super::record::{mistake, record_at, record_source};
use crate::{DType, Shape};
use inflight_ir::elementwise::{CombineOp, CompareOp};
use inflight_ir::graph::{Combine, Op, SliceAxis};
use smallvec::SmallVec;
use std::panic::Location;

impl Tensor {
    /// Gathers elements along an axis, by PyTorch's rule: element `i` of the result is this tensor's at `i`, with the
    /// coordinate along `axis` replaced by `index[i]`.
    ///
    /// The result has the shape of `index`, whose elements are integers, and which has as many axes as this tensor
    /// and, other than along `axis`, no larger extents. Indices are clamped into range, negative ones too. See
    /// [`take_along_axis`](Tensor::take_along_axis) for an index that broadcasts.
    #[doc(alias("take_along_dim"))]
    #[track_caller]
    pub fn gather(&self, axis: impl Axis, index: &Tensor) -> Tensor {
        let location = Location::caller();
        match axis_of(axis.number(), self.rank()) {
            Ok(axis) => {
                let method = method("gather");
                let source = match self.part_indexed(axis, index) {
                    Some(part) => &record_at(Op::Slice(part), &[self], location),
                    None => self,
                };
                let gathered = record_at(Op::Gather { axis }, &[source, index], location);
                method.of(&[self, index], gathered)
            }
            Err(message) => {
                let shape = index.shape().clone();
                mistake("gather", message, &[self, index], shape, self.dtype(), location)
            }
        }
    }

    /// Gathers elements along an axis, by NumPy's rule: as [`gather`](Tensor::gather), but this tensor and `index`
    /// broadcast with each other on the other axes.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// let x = Tensor::from_vec(vec![3, 1, 2, 9, 8, 7], (2, 3), &device)?;
    /// let sorted = x.take_along_axis(1, &x.argsort(1, false));
    /// assert_eq!(sorted.to_vec::<i32>()?, [1, 2, 3, 7, 8, 9]);
    /// let last = Tensor::from_vec(vec![2], (1, 1), &device)?;
    /// assert_eq!(x.take_along_axis(1, &last).to_vec::<i32>()?, [2, 7]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("take_along_dim", "gather"))]
    #[track_caller]
    pub fn take_along_axis(&self, axis: impl Axis, index: &Tensor) -> Tensor {
        let location = Location::caller();
        let failed = |message| {
            let shape = index.shape().clone();
            mistake("take_along_axis", message, &[self, index], shape, self.dtype(), location)
        };
        let axis = match axis_of(axis.number(), self.rank()) {
            Ok(axis) => axis,
            Err(message) => return failed(message),
        };
        let (own, other) = (self.shape(), index.shape());
        let others =
            (own.rank() == other.rank()).then(|| own.with(axis, 1).broadcast(&other.with(axis, 1)));
        let Some(others) = others.flatten() else {
            return failed(format!(
                "expected an index that broadcasts to {own} but for axis {axis}, found {other}; other extents must be \
                 equal or 1"
            ));
        };
        let method = method("take_along_axis");
        let source = self.expanded(others.with(axis, own[axis]), location);
        let aligned = index.expanded(others.with(axis, other[axis]), location);
        let gathered = record_at(Op::Gather { axis }, &[&source, &aligned], location);
        method.of(&[self, index], gathered)
    }

    /// The subtensors at the indices of an axis that `index` lists: whole rows, for axis 0 of a matrix. `index` has one
    /// axis; indices are clamped into range, negative ones too.
    #[doc(alias("take", "embedding", "lookup", "select"))]
    #[track_caller]
    pub fn index_select(&self, axis: impl Axis, index: &Tensor) -> Tensor {
        let location = Location::caller();
        let failed = |message, shape| {
            mistake("index_select", message, &[self, index], shape, self.dtype(), location)
        };
        let along = match axis_of(axis.number(), self.rank()) {
            Ok(along) => along,
            Err(message) => return failed(message, self.shape().clone()),
        };
        let shape = self.shape().with(along, index.element_count());
        if index.rank() != 1 {
            let message = format!("the index has {} axes, not 1", index.rank());
            return failed(message, shape);
        }
        let method = method("index_select");
        let aligned = self.aligned_index(along, index, shape, location);
        let selected = record_at(Op::Gather { axis: along }, &[self, &aligned], location);
        method.of(&[self, index], selected)
    }

    /// The elements at these indices of the flattened tensor. The result has the shape of `index`. Indices are clamped
    /// into range, negative ones too.
    #[doc(alias("put", "flat"))]
    #[track_caller]
    pub fn take(&self, index: &Tensor) -> Tensor {
        let location = Location::caller();
        let method = method("take");
        let flat = self.reshaped(Shape::from(self.element_count()), location);
        let indices = index.reshaped(Shape::from(index.element_count()), location);
        let taken = record_at(Op::Gather { axis: 0 }, &[&flat, &indices], location)
            .reshaped(index.shape().clone(), location);
        method.of(&[self, index], taken)
    }

    /// Adds subtensors to those at the indices of an axis that `index` lists: whole rows, for axis 0 of a matrix.
    ///
    /// `index` has one axis. `updates` has this tensor's shape, but the extent of `index` along `axis`, or broadcasts
    /// to that. Updates of the same index add up. Updates whose index is out of range, negative ones too, are dropped.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// let x = Tensor::zeros::<i32>((3, 2), &device);
    /// let index = Tensor::from_vec(vec![2, 0, 2], 3, &device)?;
    /// let updates = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], (3, 2), &device)?;
    /// assert_eq!(x.index_add(0, &index, &updates).to_vec::<i32>()?, [3, 4, 0, 0, 6, 8]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("segment_sum", "scatter_add", "add.at", "at"))]
    #[track_caller]
    pub fn index_add(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        let location = Location::caller();
        let operands = [self, index, updates];
        let failed = |message| {
            let (shape, dtype) = (self.shape().clone(), self.dtype());
            mistake("index_add", message, &operands, shape, dtype, location)
        };
        let along = match axis_of(axis.number(), self.rank()) {
            Ok(along) => along,
            Err(message) => return failed(message),
        };
        if index.rank() != 1 {
            return failed(format!("the index has {} axes, not 1", index.rank()));
        }
        let shape = self.shape().with(along, index.element_count());
        if !updates.shape().broadcasts_to(&shape) {
            return failed(format!(
                "the updates of shape {} do not broadcast to {shape}, the shape of what the index selects",
                updates.shape()
            ));
        }
        let method = method("index_add");
        let aligned = self.aligned_index(along, index, shape.clone(), location);
        let updates = updates.expanded(shape, location);
        let op = Op::Scatter { axis: along, combine: Some(Combine::With(CombineOp::Sum)) };
        method.of(&operands, record_at(op, &[self, &aligned, &updates], location))
    }

    /// Scatters elements along an axis: this tensor with `updates[i]` put at `i`, with the coordinate along `axis`
    /// replaced by `index[i]`.
    ///
    /// `index` has integers, as many axes as this tensor, and, other than along `axis`, no larger extents; `updates` has
    /// its shape. Updates whose index is out of range, negative ones too, are dropped. Of several updates of one
    /// element, the last in row-major order stays.
    #[doc(alias("put_along_axis", "scatter_", "index_put", "index_copy"))]
    #[track_caller]
    pub fn scatter(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        self.scattered("scatter", axis.number(), index, updates, None, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but updates are added to the elements. Updates whose index is out of range are
    /// dropped.
    #[doc(alias("scatter_reduce", "add.at", "segment_sum"))]
    #[track_caller]
    pub fn scatter_add(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Sum);
        self.scattered("scatter_add", axis.number(), index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but the elements are multiplied by the updates. Updates whose index is out of
    /// range are dropped.
    #[doc(alias("scatter_reduce", "multiply.at"))]
    #[track_caller]
    pub fn scatter_mul(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Product);
        self.scattered("scatter_mul", axis.number(), index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but the smallest of the updates and the element stays. Updates whose index is
    /// out of range are dropped.
    #[doc(alias("scatter_reduce", "minimum.at", "segment_min"))]
    #[track_caller]
    pub fn scatter_min(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Min);
        self.scattered("scatter_min", axis.number(), index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but the largest of the updates and the element stays. Updates whose index is
    /// out of range are dropped.
    #[doc(alias("scatter_reduce", "maximum.at", "segment_max"))]
    #[track_caller]
    pub fn scatter_max(&self, axis: impl Axis, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Max);
        self.scattered("scatter_max", axis.number(), index, updates, combine, Location::caller())
    }

    /// One-hot encoding of integers: a new last axis of extent `classes` has one at the index that the element is, and
    /// zero elsewhere. An element out of range, such as a negative one, gives zeros only.
    ///
    /// ```
    /// # use inflight::{DType, Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let labels = Tensor::from_vec(vec![2u8, 0], [2], &Device::cpu())?;
    /// assert_eq!(labels.one_hot(3, DType::F32).to_vec::<f32>()?, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("OneHot", "to_categorical"))]
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Tensor {
        let location = Location::caller();
        let shape: Shape = self.shape().iter().copied().chain([classes]).collect();
        if !self.dtype().is_integer() {
            let message = format!("needs integers, not {}", self.dtype());
            return mistake("one_hot", message, &[self], shape, dtype, location);
        }
        if shape.checked_element_count().is_none() {
            let message = format!("{classes} classes make a tensor that is too large");
            return mistake("one_hot", message, &[self], self.shape().clone(), dtype, location);
        }
        let method = method("one_hot");
        // In i64: a narrow dtype could not count all classes.
        let wide = record_at(Op::Cast(DType::I64), &[self], location);
        let column = wide.unsqueezed("one_hot", -1, location);
        let count = Op::Iota { axis: 0, shape: Shape::from(classes), dtype: DType::I64 };
        let row = record_source(count, Shape::from(classes), DType::I64, self.device(), location);
        let hot = record_at(Op::Compare(CompareOp::Eq), &[&column, &row], location);
        method.of(&[self], record_at(Op::Cast(dtype), &[&hot], location))
    }

    fn scattered(
        &self,
        name: &'static str,
        along: isize,
        index: &Tensor,
        updates: &Tensor,
        combine: Option<CombineOp>,
        location: &'static Location<'static>,
    ) -> Tensor {
        let operands = [self, index, updates];
        let axis = match axis_of(along, self.rank()) {
            Ok(axis) => axis,
            Err(message) => {
                let (shape, dtype) = (self.shape().clone(), self.dtype());
                return mistake(name, message, &operands, shape, dtype, location);
            }
        };
        let method = method(name);
        let op = Op::Scatter { axis, combine: combine.map(Combine::With) };
        let scattered = match self.part_indexed(axis, index) {
            None => record_at(op, &operands, location),
            Some(part) => {
                let target = record_at(Op::Slice(part.clone()), &[self], location);
                let scattered = record_at(op, &[&target, index, updates], location);
                record_at(Op::Assign(part), &[self, &scattered], location)
            }
        };
        method.of(&operands, scattered)
    }

    /// An index with one axis, aligned with one axis of the tensor and repeated to a shape.
    fn aligned_index(
        &self,
        along: usize,
        index: &Tensor,
        shape: Shape,
        location: &'static Location<'static>,
    ) -> Tensor {
        let aligned: Shape = (0..self.rank())
            .map(|axis| if axis == along { index.element_count() } else { 1 })
            .collect();
        index.reshaped(aligned, location).expanded(shape, location)
    }

    /// The part of the tensor that a smaller index addresses. `None` if that is the whole tensor, or if the index
    /// does not fit, which the op's own check reports.
    fn part_indexed(&self, along: usize, index: &Tensor) -> Option<SmallVec<[SliceAxis; 4]>> {
        let (own, other) = (self.shape(), index.shape());
        let fits = own.rank() == other.rank()
            && (0..own.rank()).all(|axis| axis == along || other[axis] <= own[axis]);
        if !fits || own.with(along, other[along]) == *other {
            return None;
        }
        let len = |axis: usize| if axis == along { own[axis] } else { other[axis] };
        Some((0..own.rank()).map(|axis| SliceAxis::full(len(axis))).collect())
    }
}
