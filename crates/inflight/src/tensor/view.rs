//! Views: reshape, transpose, permute, expand, slice. They are index maps, and cost nothing by themselves.
//!
//! A negative axis counts from the end: `-1` is the last.

use super::Tensor;
use super::axis::{Axes, Axis, Integer, axis as axis_of};
use super::extents::{self, Extents};
use super::method::method;
use super::operand::{Operand, operand_ref, operand_tensor};
use super::record::{mistake, record_at};
use super::slice::{self, Slices, position};
use crate::Shape;
use inflight_ir::Axes as AxisList;
use inflight_ir::graph::{Op, SliceAxis};
use smallvec::SmallVec;
use std::panic::Location;

impl Tensor {
    /// The same elements, in row-major order, with another shape. One extent may be `-1`: it is inferred from the
    /// number of elements.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>((4, 6), &Device::cpu());
    /// let n = 2usize;
    /// assert_eq!(x.reshape([2, -1]).shape(), &Shape::from([2, 12]));
    /// assert_eq!(x.reshape((n, -1, 3)).shape(), &Shape::from([2, 4, 3]));
    /// ```
    #[doc(alias("view", "resize", "into_shape"))]
    #[track_caller]
    pub fn reshape(&self, shape: impl Extents) -> Tensor {
        let location = Location::caller();
        match extents::reshaped(&shape.extents(), self.shape()) {
            Ok(shape) => self.reshaped(shape, location),
            Err((message, plausible)) => {
                mistake("reshape", message, &[self], plausible, self.dtype(), location)
            }
        }
    }

    /// All elements in row-major order, along one axis.
    #[doc(alias("ravel"))]
    #[track_caller]
    pub fn flatten(&self) -> Tensor {
        self.reshaped(Shape::from(self.element_count()), Location::caller())
    }

    /// Merges this axis and all after it into one.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let images = Tensor::zeros::<f32>((8, 3, 4, 4), &Device::cpu());
    /// assert_eq!(images.flatten_from(1).shape(), &Shape::from([8, 48]));
    /// ```
    #[doc(alias("start_dim", "flatten"))]
    #[track_caller]
    pub fn flatten_from(&self, axis: impl Axis) -> Tensor {
        let location = Location::caller();
        match axis_of(axis.number(), self.rank()) {
            Ok(first) => self.merged(first, self.rank(), location),
            Err(message) => self.mistake_like("flatten_from", message, location),
        }
    }

    /// Merges adjacent axes into one, such as `1..3`, `..2` or `[-2, -1]`.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>((2, 3, 4, 5), &Device::cpu());
    /// assert_eq!(x.flatten_axes(1..3).shape(), &Shape::from([2, 12, 5]));
    /// ```
    #[doc(alias("end_dim", "merge", "collapse"))]
    #[track_caller]
    pub fn flatten_axes(&self, axes: impl Axes) -> Tensor {
        let location = Location::caller();
        let axes = match axes.named().resolve(self.rank()) {
            Ok(axes) => axes,
            Err(message) => return self.mistake_like("flatten_axes", message, location),
        };
        let Some(&first) = axes.first() else {
            let message = "expected at least one axis to flatten, found none".to_owned();
            return self.mistake_like("flatten_axes", message, location);
        };
        if !axes.iter().copied().eq(first..first + axes.len()) {
            let message =
                format!("expected adjacent axes in ascending order, found {axes:?}; permute first");
            return self.mistake_like("flatten_axes", message, location);
        }
        self.merged(first, first + axes.len(), location)
    }

    /// Exchanges the last two axes: the transpose of each matrix.
    #[doc(alias("t", "T", "mT", "matrix_transpose"))]
    #[track_caller]
    pub fn transpose(&self) -> Tensor {
        let location = Location::caller();
        let rank = self.rank();
        if rank < 2 {
            let message = format!("needs at least two axes, there are {rank}");
            return self.mistake_like("transpose", message, location);
        }
        let mut axes: AxisList = (0..rank).collect();
        axes.swap(rank - 2, rank - 1);
        record_at(Op::Permute(axes), &[self], location)
    }

    /// Exchanges two axes.
    #[doc(alias("swapaxes", "swapdims", "transpose"))]
    #[track_caller]
    pub fn swap_dims(&self, first: impl Axis, second: impl Axis) -> Tensor {
        let location = Location::caller();
        let rank = self.rank();
        match (axis_of(first.number(), rank), axis_of(second.number(), rank)) {
            (Ok(first), Ok(second)) => {
                let mut axes: AxisList = (0..rank).collect();
                axes.swap(first, second);
                record_at(Op::Permute(axes), &[self], location)
            }
            (Err(message), _) | (_, Err(message)) => {
                self.mistake_like("swap_dims", message, location)
            }
        }
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this tensor.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let image = Tensor::zeros::<f32>((32, 48, 3), &Device::cpu());
    /// assert_eq!(image.permute([2, 0, 1]).shape(), &Shape::from([3, 32, 48]));
    /// ```
    #[doc(alias("transpose", "moveaxis", "movedim", "rollaxis", "permute_dims", "permuted_axes"))]
    #[track_caller]
    pub fn permute(&self, axes: impl Axes) -> Tensor {
        let location = Location::caller();
        match axes.named().resolve(self.rank()) {
            Ok(axes) => record_at(Op::Permute(axes), &[self], location),
            Err(message) => self.mistake_like("permute", message, location),
        }
    }

    /// Inserts an axis of extent 1, which is `axis` of the result.
    #[doc(alias("expand_dims", "newaxis", "insert_axis", "unsqueeze_dim"))]
    #[track_caller]
    pub fn unsqueeze(&self, axis: impl Axis) -> Tensor {
        self.unsqueezed("unsqueeze", axis.number(), Location::caller())
    }

    /// Removes an axis, whose extent must be 1.
    #[doc(alias("remove_axis", "squeeze_dim"))]
    #[track_caller]
    pub fn squeeze(&self, axis: impl Axis) -> Tensor {
        let location = Location::caller();
        let dropped = match axis_of(axis.number(), self.rank()) {
            Ok(dropped) => dropped,
            Err(message) => return self.mistake_like("squeeze", message, location),
        };
        let extent = self.shape()[dropped];
        let shape = self.shape().reduced(&[dropped], false);
        if extent != 1 {
            let message = format!("axis {dropped} has an extent of {extent}, not 1");
            return mistake("squeeze", message, &[self], shape, self.dtype(), location);
        }
        self.reshaped(shape, location)
    }

    /// Removes all axes whose extent is 1.
    #[doc(alias("squeeze"))]
    #[track_caller]
    pub fn squeeze_all(&self) -> Tensor {
        let shape = self.shape().iter().copied().filter(|&extent| extent != 1).collect();
        self.reshaped(shape, Location::caller())
    }

    /// Repeats the tensor to a shape it broadcasts to: aligned at the last axis, an extent of 1 becomes any other,
    /// and new axes come in front. `-1` keeps the extent.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>((4, 1), &Device::cpu());
    /// assert_eq!(x.expand((-1, 3)).shape(), &Shape::from([4, 3]));
    /// ```
    #[doc(alias("broadcast_to", "broadcast", "expand_as", "broadcast_in_dim"))]
    #[track_caller]
    pub fn expand(&self, shape: impl Extents) -> Tensor {
        let location = Location::caller();
        match extents::expanded(&shape.extents(), self.shape()) {
            Ok(shape) => method("expand").of(&[self], self.expanded(shape, location)),
            Err((message, plausible)) => {
                mistake("expand", message, &[self], plausible, self.dtype(), location)
            }
        }
    }

    /// A part of the tensor: an index for each of the first axes; the other axes are taken whole.
    ///
    /// The rule is NumPy's for basic indexing: an integer selects one index and drops its axis; a range or a
    /// [`Slice`](crate::Slice) keeps its axis. Negative integers and bounds count from the end. An index or a bound
    /// beyond its axis is an error, unlike NumPy's bounds, which are clamped.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Slice, Tensor};
    /// let x = Tensor::zeros::<f32>((4, 6, 8), &Device::cpu());
    /// assert_eq!(x.slice(1..3).shape(), &Shape::from([2, 6, 8]));
    /// assert_eq!(x.slice((0, .., 1..-1)).shape(), &Shape::from([6, 6]));
    /// assert_eq!(x.slice(-1).shape(), &Shape::from([6, 8]));
    /// assert_eq!(x.slice([0..2, 1..3]).shape(), &Shape::from([2, 2, 8]));
    /// assert_eq!(x.slice((.., -2.., Slice::all().step(-1))).shape(), &Shape::from([4, 2, 8]));
    /// ```
    #[doc(alias("index", "getitem", "__getitem__", "s!", "strided_slice", "i"))]
    #[track_caller]
    pub fn slice(&self, slices: impl Slices) -> Tensor {
        let location = Location::caller();
        match slice::resolve(self.shape(), &slices) {
            Ok(region) if region.is_whole(self.shape()) => self.reshaped(region.shape, location),
            Ok(region) => record_at(Op::Slice(region.axes), &[self], location)
                .reshaped(region.shape, location),
            Err((message, plausible)) => {
                mistake("slice", message, &[self], plausible, self.dtype(), location)
            }
        }
    }

    /// This tensor with the elements that [`slice`](Tensor::slice) takes replaced by those of `update`: a
    /// tensor that broadcasts to the shape of that slice, or a number.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// let x = Tensor::zeros::<i32>((2, 3), &device);
    /// let row = Tensor::from_vec(vec![1, 2, 3], 3, &device)?;
    /// assert_eq!(x.slice_assign(1, &row).to_vec::<i32>()?, [0, 0, 0, 1, 2, 3]);
    /// assert_eq!(x.slice_assign((.., 0), 7).to_vec::<i32>()?, [7, 0, 0, 7, 0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("setitem", "__setitem__", "dynamic_update_slice", "slice_scatter", "at", "set"))]
    #[track_caller]
    pub fn slice_assign(&self, slices: impl Slices, update: impl Operand) -> Tensor {
        let location = Location::caller();
        let update =
            &match operand_tensor(operand_ref(&update), self.dtype(), self.device(), location) {
                Ok(update) => update,
                Err(message) => return self.mistake_like("slice_assign", message, location),
            };
        let failed = |message: String| {
            let (shape, dtype) = (self.shape().clone(), self.dtype());
            mistake("slice_assign", message, &[self, update], shape, dtype, location)
        };
        let region = match slice::resolve(self.shape(), &slices) {
            Ok(region) => region,
            Err((message, _)) => return failed(message),
        };
        if !update.shape().broadcasts_to(&region.shape) {
            return failed(format!(
                "the update of shape {} does not broadcast to the region of shape {}; aligned at the last axis, \
                 extents must be equal or 1",
                update.shape(),
                region.shape
            ));
        }
        let method = method("slice_assign");
        let placed = update.expanded(region.shape, location).reshaped(region.kept, location);
        let assigned = record_at(Op::Assign(region.axes), &[self, &placed], location);
        method.of(&[self, update], assigned)
    }

    /// Reverses the elements along some axes.
    #[doc(alias("reverse", "rev", "fliplr", "flipud"))]
    #[track_caller]
    pub fn flip(&self, axes: impl Axes) -> Tensor {
        let location = Location::caller();
        let mut slices: SmallVec<[SliceAxis; 4]> =
            self.shape().iter().map(|&extent| SliceAxis::full(extent)).collect();
        let flipped = match axes.named().resolve(self.rank()) {
            Ok(flipped) => flipped,
            Err(message) => return self.mistake_like("flip", message, location),
        };
        for axis in flipped {
            let extent = self.shape()[axis];
            if extent > 1 {
                slices[axis] = SliceAxis { start: extent - 1, step: -1, len: extent };
            }
        }
        record_at(Op::Slice(slices), &[self], location)
    }

    /// The tensor at one index of the first axis, which the result does not have. A negative index counts from the
    /// end.
    ///
    /// An index out of range is an error that the result carries, as every other: this never panics.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4], (2, 2), &Device::cpu())?;
    /// assert_eq!(x.get(-1).to_vec::<i32>()?, [3, 4]);
    /// assert_eq!(x.get(0).get(1).item::<i32>()?, 2);
    /// assert!(x.get(2).check().is_err());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("select", "row", "index"))]
    #[track_caller]
    pub fn get(&self, index: impl Integer) -> Tensor {
        self.at_index("get", 0, index.to_isize(), Location::caller())
    }

    /// The tensor at one index of an axis, which the result does not have. A negative index counts from the end.
    #[doc(alias("select", "select_dim", "index_in_dim", "subview"))]
    #[track_caller]
    pub fn index_axis(&self, axis: impl Axis, index: impl Integer) -> Tensor {
        self.at_index("index_axis", axis.number(), index.to_isize(), Location::caller())
    }

    /// `len` elements along an axis, starting at `start`.
    #[doc(alias("slice_in_dim", "dynamic_slice", "slice_axis"))]
    #[track_caller]
    pub fn narrow(&self, axis: impl Axis, start: usize, len: usize) -> Tensor {
        let location = Location::caller();
        let along = match axis_of(axis.number(), self.rank()) {
            Ok(along) => along,
            Err(message) => return self.mistake_like("narrow", message, location),
        };
        let extent = self.shape()[along];
        if start.checked_add(len).is_none_or(|end| end > extent) {
            let message = format!(
                "{len} elements from {start} are out of range of axis {along}, of extent {extent}"
            );
            let shape = self.shape().with(along, len.min(extent));
            return mistake("narrow", message, &[self], shape, self.dtype(), location);
        }
        let start = if len == 0 { 0 } else { start };
        self.sliced(along, SliceAxis { start, step: 1, len }, location)
    }

    /// The tensor at one index of an axis, for the method `name`.
    pub(super) fn at_index(
        &self,
        name: &'static str,
        axis: isize,
        index: isize,
        location: &'static Location<'static>,
    ) -> Tensor {
        let along = match axis_of(axis, self.rank()) {
            Ok(along) => along,
            Err(message) => return self.mistake_like(name, message, location),
        };
        let extent = self.shape()[along];
        let shape = self.shape().reduced(&[along], false);
        let Some(start) = position(index, extent) else {
            let message = format!("index {index} is out of range of axis {along}, of {extent}");
            return mistake(name, message, &[self], shape, self.dtype(), location);
        };
        let one = SliceAxis { start, step: 1, len: 1 };
        self.sliced(along, one, location).reshaped(shape, location)
    }

    /// An error with this tensor's own shape and dtype.
    pub(super) fn mistake_like(
        &self,
        name: &'static str,
        message: String,
        location: &'static Location<'static>,
    ) -> Tensor {
        mistake(name, message, &[self], self.shape().clone(), self.dtype(), location)
    }

    /// With a shape of as many elements.
    pub(super) fn reshaped(&self, shape: Shape, location: &'static Location<'static>) -> Tensor {
        match *self.shape() == shape {
            true => self.clone(),
            false => record_at(Op::Reshape(shape), &[self], location),
        }
    }

    pub(super) fn expanded(&self, shape: Shape, location: &'static Location<'static>) -> Tensor {
        match *self.shape() == shape {
            true => self.clone(),
            false => record_at(Op::Broadcast(shape), &[self], location),
        }
    }

    /// One axis sliced, the others whole.
    pub(super) fn sliced(
        &self,
        axis: usize,
        slice: SliceAxis,
        location: &'static Location<'static>,
    ) -> Tensor {
        let mut axes: SmallVec<[SliceAxis; 4]> =
            self.shape().iter().map(|&extent| SliceAxis::full(extent)).collect();
        if axes[axis] == slice {
            return self.clone();
        }
        axes[axis] = slice;
        record_at(Op::Slice(axes), &[self], location)
    }

    pub(super) fn unsqueezed(
        &self,
        name: &'static str,
        added: isize,
        location: &'static Location<'static>,
    ) -> Tensor {
        match axis_of(added, self.rank() + 1) {
            Ok(added) => {
                let mut extents: AxisList = self.shape().iter().copied().collect();
                extents.insert(added, 1);
                self.reshaped(extents.into_iter().collect(), location)
            }
            Err(message) => {
                let shape = [1].into_iter().chain(self.shape().iter().copied()).collect();
                mistake(name, message, &[self], shape, self.dtype(), location)
            }
        }
    }

    /// The axes `first..end`, of which there is at least one, merged.
    fn merged(&self, first: usize, end: usize, location: &'static Location<'static>) -> Tensor {
        let (before, rest) = self.shape().split_at(first);
        let (merged, after) = rest.split_at(end - first);
        let extent = merged.iter().product();
        let shape = before.iter().copied().chain([extent]).chain(after.iter().copied()).collect();
        self.reshaped(shape, location)
    }
}
