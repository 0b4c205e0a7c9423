//! Elements found, and put, through an index.
//!
//! An index that is out of range is not an error, since nobody looks at it: reading clamps it to the
//! nearest element there is, writing drops the update.

use super::Tensor;
use super::axis::axis;
use super::record::{mistake, record_at, record_source};
use crate::{DType, Shape};
use inflight_ir::elementwise::{CombineOp, CompareOp};
use inflight_ir::graph::{Combine, Op, SliceAxis};
use smallvec::SmallVec;
use std::panic::Location;

impl Tensor {
    /// Element `i` of the result is this tensor's at `i`, with the coordinate along `along` replaced by
    /// `index[i]`, clamped into the range there is: no index is an error. The result has the shape of `index`,
    /// which has integers, as many axes as this tensor, and, other than along `along`, no larger extents.
    #[track_caller]
    pub fn gather(&self, along: isize, index: &Tensor) -> Tensor {
        let location = Location::caller();
        match axis(along, self.rank()) {
            Ok(axis) => {
                let source = match self.part_indexed(axis, index) {
                    Some(part) => &record_at(Op::Slice(part), &[self], location),
                    None => self,
                };
                record_at(Op::Gather { axis }, &[source, index], location)
            }
            Err(message) => {
                let shape = index.shape().clone();
                mistake("gather", message, &[self, index], shape, self.dtype(), location)
            }
        }
    }

    /// The parts of the tensor at the indices of an axis that `index` lists: whole rows, for axis 0 of a
    /// matrix. `index` has one axis; indices out of range, negative ones too, are clamped into it.
    #[track_caller]
    pub fn index_select(&self, along: isize, index: &Tensor) -> Tensor {
        let location = Location::caller();
        let failed = |message, shape| {
            mistake("index_select", message, &[self, index], shape, self.dtype(), location)
        };
        let along = match axis(along, self.rank()) {
            Ok(along) => along,
            Err(message) => return failed(message, self.shape().clone()),
        };
        let shape = self.shape().with(along, index.elements());
        if index.rank() != 1 {
            let message = format!("the index has {} axes, not 1", index.rank());
            return failed(message, shape);
        }
        let aligned: Shape =
            (0..self.rank()).map(|axis| if axis == along { index.elements() } else { 1 }).collect();
        let index = index.reshaped(aligned, location).expanded(shape, location);
        record_at(Op::Gather { axis: along }, &[self, &index], location)
    }

    /// The elements at these positions of the tensor flattened. The result has the shape of `index`.
    /// Indices out of range, negative ones too, are clamped into it.
    #[track_caller]
    pub fn take(&self, index: &Tensor) -> Tensor {
        let location = Location::caller();
        let flat = self.reshaped(Shape::from(self.elements()), location);
        let positions = index.reshaped(Shape::from(index.elements()), location);
        record_at(Op::Gather { axis: 0 }, &[&flat, &positions], location)
            .reshaped(index.shape().clone(), location)
    }

    /// This tensor with `updates[i]` put at `i`, with the coordinate along `along` replaced by `index[i]`.
    /// `index` has integers, as many axes as this tensor, and, other than along `along`, no larger extents;
    /// `updates` has its shape. Updates whose index is out of range, negative ones too, are dropped.
    ///
    /// Of several updates to one place, the last in row-major order stays.
    #[track_caller]
    pub fn scatter(&self, along: isize, index: &Tensor, updates: &Tensor) -> Tensor {
        self.scattered("scatter", along, index, updates, None, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but updates are added to what is there. Those whose index is out of
    /// range are dropped.
    #[track_caller]
    pub fn scatter_add(&self, along: isize, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Sum);
        self.scattered("scatter_add", along, index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but what is there is multiplied by the updates. Those whose index is
    /// out of range are dropped.
    #[track_caller]
    pub fn scatter_mul(&self, along: isize, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Product);
        self.scattered("scatter_mul", along, index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but the smallest of the updates and what is there stays. Updates whose
    /// index is out of range are dropped.
    #[track_caller]
    pub fn scatter_min(&self, along: isize, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Min);
        self.scattered("scatter_min", along, index, updates, combine, Location::caller())
    }

    /// As [`scatter`](Tensor::scatter), but the largest of the updates and what is there stays. Updates whose
    /// index is out of range are dropped.
    #[track_caller]
    pub fn scatter_max(&self, along: isize, index: &Tensor, updates: &Tensor) -> Tensor {
        let combine = Some(CombineOp::Max);
        self.scattered("scatter_max", along, index, updates, combine, Location::caller())
    }

    /// With a new last axis of extent `classes`: one at the index that each element is, zero elsewhere, and
    /// all zero where that is out of range, as negative ones are. The elements are integers.
    ///
    /// ```
    /// # use inflight::{DType, Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let labels = Tensor::from_vec(vec![2u8, 0], [2], &Device::cpu())?;
    /// assert_eq!(labels.one_hot(3, DType::F32).to_vec::<f32>()?, [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn one_hot(&self, classes: usize, dtype: DType) -> Tensor {
        let location = Location::caller();
        let shape: Shape = self.shape().iter().copied().chain([classes]).collect();
        if !self.dtype().is_integer() {
            let message = format!("needs integers, not {}", self.dtype());
            return mistake("one_hot", message, &[self], shape, dtype, location);
        }
        if shape.checked_elements().is_none() {
            let message = format!("{classes} classes make a tensor that is too large");
            return mistake("one_hot", message, &[self], self.shape().clone(), dtype, location);
        }
        // In i64: a narrow dtype could not count all classes.
        let wide = record_at(Op::Cast(DType::I64), &[self], location);
        let column = wide.unsqueezed("one_hot", -1, location);
        let count = Op::Iota { axis: 0, shape: Shape::from(classes), dtype: DType::I64 };
        let row = record_source(count, Shape::from(classes), DType::I64, self.device(), location);
        let hot = record_at(Op::Compare(CompareOp::Eq), &[&column, &row], location);
        record_at(Op::Cast(dtype), &[&hot], location)
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
        let axis = match axis(along, self.rank()) {
            Ok(axis) => axis,
            Err(message) => {
                let (shape, dtype) = (self.shape().clone(), self.dtype());
                return mistake(name, message, &[self, index, updates], shape, dtype, location);
            }
        };
        let op = Op::Scatter { axis, combine: combine.map(Combine::With) };
        match self.part_indexed(axis, index) {
            None => record_at(op, &[self, index, updates], location),
            Some(part) => {
                let target = record_at(Op::Slice(part.clone()), &[self], location);
                let written = record_at(op, &[&target, index, updates], location);
                record_at(Op::Assign(part), &[self, &written], location)
            }
        }
    }

    /// The part of the tensor that a smaller index speaks of. `None` if that is all of it, or if the index
    /// does not fit, which the op's own check says.
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
