//! Views: the same elements in another arrangement. They are index maps, and cost nothing by themselves.
//!
//! An axis that is negative counts from the end: `-1` is the last.

use super::Tensor;
use super::axis::{axes as axes_of, axis};
use super::record::{mistake, record_at};
use super::slice::{self, Slices};
use crate::Shape;
use inflight_ir::Axes;
use inflight_ir::graph::{Op, SliceAxis};
use smallvec::SmallVec;
use std::panic::Location;

/// A shape one extent of which may be left to be inferred, as `-1`.
///
/// Anything that is a [`Shape`], and lists of signed integers.
pub trait Extents {
    /// The extents, outermost first.
    fn extents(&self) -> SmallVec<[isize; 4]>;
}

impl Tensor {
    /// The same elements, in row-major order, under another shape. One extent may be `-1`: it is what the
    /// number of elements leaves.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Tensor};
    /// let x = Tensor::zeros::<f32>([4, 6], &Device::cpu());
    /// assert_eq!(x.reshape([2, -1]).shape(), &Shape::from([2, 12]));
    /// ```
    #[track_caller]
    pub fn reshape(&self, shape: impl Extents) -> Tensor {
        let location = Location::caller();
        match resolve_extents(&shape.extents(), self.elements()) {
            Ok(shape) => self.reshaped(shape, location),
            Err((message, plausible)) => {
                mistake("reshape", message, &[self], plausible, self.dtype(), location)
            }
        }
    }

    /// The elements in row-major order, along one axis.
    #[track_caller]
    pub fn flatten(&self) -> Tensor {
        self.reshaped(Shape::from(self.elements()), Location::caller())
    }

    /// The last two axes exchanged.
    #[track_caller]
    pub fn transpose(&self) -> Tensor {
        let location = Location::caller();
        let rank = self.rank();
        if rank < 2 {
            let message = format!("needs at least two axes, there are {rank}");
            return self.mistake_like("transpose", message, location);
        }
        let mut axes: Axes = (0..rank).collect();
        axes.swap(rank - 2, rank - 1);
        record_at(Op::Permute(axes), &[self], location)
    }

    /// Two axes exchanged.
    #[track_caller]
    pub fn swap_dims(&self, first: isize, second: isize) -> Tensor {
        let location = Location::caller();
        match (axis(first, self.rank()), axis(second, self.rank())) {
            (Ok(first), Ok(second)) => {
                let mut axes: Axes = (0..self.rank()).collect();
                axes.swap(first, second);
                record_at(Op::Permute(axes), &[self], location)
            }
            (Err(message), _) | (_, Err(message)) => {
                self.mistake_like("swap_dims", message, location)
            }
        }
    }

    /// The axes in another order: axis `i` of the result is axis `axes[i]` of this tensor.
    #[track_caller]
    pub fn permute(&self, axes: impl AsRef<[isize]>) -> Tensor {
        let location = Location::caller();
        match axes_of(axes.as_ref(), self.rank()) {
            Ok(axes) => record_at(Op::Permute(axes), &[self], location),
            Err(message) => self.mistake_like("permute", message, location),
        }
    }

    /// With a new axis of extent 1, which is `axis` of the result.
    #[track_caller]
    pub fn unsqueeze(&self, axis: isize) -> Tensor {
        self.unsqueezed("unsqueeze", axis, Location::caller())
    }

    /// Without an axis, whose extent must be 1.
    #[track_caller]
    pub fn squeeze(&self, dropped: isize) -> Tensor {
        let location = Location::caller();
        let dropped = match axis(dropped, self.rank()) {
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

    /// Without the axes whose extent is 1.
    #[track_caller]
    pub fn squeeze_all(&self) -> Tensor {
        let shape = self.shape().iter().copied().filter(|&extent| extent != 1).collect();
        self.reshaped(shape, Location::caller())
    }

    /// Repeated to a shape it broadcasts to: aligned at the last axis, an extent of 1 becomes any other,
    /// and new axes come in front.
    #[track_caller]
    pub fn expand(&self, shape: impl Into<Shape>) -> Tensor {
        self.expanded(shape.into(), Location::caller())
    }

    /// A part of the tensor: one range, or a tuple of ranges and [`Slice`](crate::Slice)s, for the first
    /// axes; the other axes are taken whole. A range that goes beyond its axis is a mistake.
    ///
    /// ```
    /// # use inflight::{Device, Shape, Slice, Tensor};
    /// let x = Tensor::zeros::<f32>([4, 6, 8], &Device::cpu());
    /// assert_eq!(x.slice(1..3).shape(), &Shape::from([2, 6, 8]));
    /// assert_eq!(x.slice((.., -2.., Slice::all().step(-1))).shape(), &Shape::from([4, 2, 8]));
    /// ```
    #[track_caller]
    pub fn slice(&self, slices: impl Slices) -> Tensor {
        let location = Location::caller();
        match slice::resolve(self.shape(), &slices) {
            Ok(resolved) if resolved.is_whole(self.shape()) => self.clone(),
            Ok(resolved) => record_at(Op::Slice(resolved.axes), &[self], location),
            Err((message, plausible)) => {
                mistake("slice", message, &[self], plausible, self.dtype(), location)
            }
        }
    }

    /// This tensor with the elements that [`slice`](Tensor::slice) takes replaced by those of `update`,
    /// which is broadcast to them.
    #[track_caller]
    pub fn slice_assign(&self, slices: impl Slices, update: &Tensor) -> Tensor {
        let location = Location::caller();
        match slice::resolve(self.shape(), &slices) {
            Ok(resolved) => {
                let update = match update.shape().broadcasts_to(&resolved.shape) {
                    true => update.expanded(resolved.shape, location),
                    // Left as it is: the op's own check says what does not fit.
                    false => update.clone(),
                };
                record_at(Op::Assign(resolved.axes), &[self, &update], location)
            }
            Err((message, _)) => {
                let (shape, dtype) = (self.shape().clone(), self.dtype());
                mistake("slice_assign", message, &[self, update], shape, dtype, location)
            }
        }
    }

    /// The elements along some axes in reverse.
    #[track_caller]
    pub fn flip(&self, axes: impl AsRef<[isize]>) -> Tensor {
        let location = Location::caller();
        let mut slices: SmallVec<[SliceAxis; 4]> =
            self.shape().iter().map(|&extent| SliceAxis::full(extent)).collect();
        let flipped = match axes_of(axes.as_ref(), self.rank()) {
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

    /// The part of the tensor at one index of an axis, which the result does not have. A negative index
    /// counts from the end.
    #[track_caller]
    pub fn index_axis(&self, along: isize, index: isize) -> Tensor {
        let location = Location::caller();
        let along = match axis(along, self.rank()) {
            Ok(along) => along,
            Err(message) => return self.mistake_like("index_axis", message, location),
        };
        let extent = self.shape()[along];
        let shape = self.shape().reduced(&[along], false);
        let position = index as i128 + if index < 0 { extent as i128 } else { 0 };
        if !(0..extent as i128).contains(&position) {
            let message = format!("index {index} is out of range of axis {along}, of {extent}");
            return mistake("index_axis", message, &[self], shape, self.dtype(), location);
        }
        let one = SliceAxis { start: position as usize, step: 1, len: 1 };
        self.sliced(along, one, location).reshaped(shape, location)
    }

    /// `len` elements along an axis, from `start` on.
    #[track_caller]
    pub fn narrow(&self, along: isize, start: usize, len: usize) -> Tensor {
        let location = Location::caller();
        let along = match axis(along, self.rank()) {
            Ok(along) => along,
            Err(message) => return self.mistake_like("narrow", message, location),
        };
        let extent = self.shape()[along];
        if start.checked_add(len).is_none_or(|end| end > extent) {
            let message =
                format!("{len} from {start} on are out of range of axis {along}, of {extent}");
            let shape = self.shape().with(along, len.min(extent));
            return mistake("narrow", message, &[self], shape, self.dtype(), location);
        }
        let start = if len == 0 { 0 } else { start };
        self.sliced(along, SliceAxis { start, step: 1, len }, location)
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

    /// Under a shape of as many elements.
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
        match axis(added, self.rank() + 1) {
            Ok(added) => {
                let mut extents: Axes = self.shape().iter().copied().collect();
                extents.insert(added, 1);
                self.reshaped(extents.into_iter().collect(), location)
            }
            Err(message) => {
                let shape = [1].into_iter().chain(self.shape().iter().copied()).collect();
                mistake(name, message, &[self], shape, self.dtype(), location)
            }
        }
    }
}

/// The shape that extents name for so many elements, or what is wrong with them and a plausible shape.
fn resolve_extents(extents: &[isize], elements: usize) -> Result<Shape, (String, Shape)> {
    let inferred = extents.iter().filter(|&&extent| extent == -1).count();
    let known = extents.iter().filter(|&&extent| extent != -1);
    let product =
        known.clone().try_fold(1usize, |n, &extent| n.checked_mul(extent.max(0) as usize));
    let with = |missing: usize| -> Shape {
        let extent = |&extent: &isize| if extent == -1 { missing } else { extent.max(0) as usize };
        extents.iter().map(extent).collect()
    };
    let plausible = || {
        let shape = with(product.and_then(|product| elements.checked_div(product)).unwrap_or(0));
        if shape.checked_elements().is_some() { shape } else { Shape::from(elements) }
    };
    if let Some(extent) = known.clone().find(|&&extent| extent < 0) {
        return Err((format!("{extents:?} has an extent of {extent}"), plausible()));
    }
    match (inferred, product) {
        (0, _) => Ok(with(0)),
        (1, Some(product)) if product > 0 && elements.is_multiple_of(product) => {
            Ok(with(elements / product))
        }
        (1, Some(0)) => {
            let message = format!("in {extents:?}, any extent would do for the -1: name it");
            Err((message, plausible()))
        }
        (1, _) => Err((format!("{elements} elements do not fill {extents:?}"), plausible())),
        _ => Err((format!("{extents:?} has more than one -1"), plausible())),
    }
}

fn known(extent: usize) -> isize {
    // Larger than any tensor can be, so the op refuses it.
    isize::try_from(extent).unwrap_or(isize::MAX)
}

macro_rules! extents_of_lists {
    ($integer:ty, $convert:expr) => {
        impl<const N: usize> Extents for [$integer; N] {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                self.as_slice().extents()
            }
        }
        impl Extents for [$integer] {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                self.iter().copied().map($convert).collect()
            }
        }
        impl Extents for Vec<$integer> {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                self.as_slice().extents()
            }
        }
        impl Extents for $integer {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                [*self].extents()
            }
        }
    };
}

extents_of_lists!(usize, known);
extents_of_lists!(isize, |extent| extent);
extents_of_lists!(i32, |extent| extent as isize);

impl Extents for Shape {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        (**self).extents()
    }
}

impl Extents for () {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        SmallVec::new()
    }
}

impl<E: Extents + ?Sized> Extents for &E {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        (**self).extents()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_extent_is_inferred() {
        let resolve = |extents: &[isize], elements| resolve_extents(extents, elements);
        assert_eq!(resolve(&[2, -1], 6).unwrap(), Shape::from([2, 3]));
        assert_eq!(resolve(&[-1], 0).unwrap(), Shape::from([0]));
        assert_eq!(resolve(&[], 1).unwrap(), Shape::scalar());
        // That the count fits is the op's to check.
        assert_eq!(resolve(&[4, 4], 6).unwrap(), Shape::from([4, 4]));
        for (extents, elements, cause) in [
            (&[-1, -1][..], 6, "more than one"),
            (&[-2, 3][..], 6, "-2"),
            (&[4, -1][..], 6, "do not fill"),
            (&[0, -1][..], 0, "any extent"),
            (&[isize::MAX, isize::MAX, -1][..], 6, "do not fill"),
        ] {
            let (message, plausible) = resolve(extents, elements).unwrap_err();
            assert!(message.contains(cause), "{message}");
            assert!(plausible.checked_elements().is_some());
        }
    }
}
