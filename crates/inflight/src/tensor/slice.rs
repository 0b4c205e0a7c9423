//! Which elements of an axis a slice takes.

use crate::Shape;
use inflight_ir::graph::SliceAxis;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A span of one axis, and the step at which its elements are taken.
///
/// Made from any range of `usize`, `isize` or `i32`. A negative bound counts from the end of the axis:
/// `-1` is the last index.
///
/// The range always names the span from low to high, as everywhere in Rust. The step says how the span is
/// walked through: a negative one from its last element to its first.
///
/// ```
/// use inflight::{Device, Slice, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::from_vec(vec![0i32, 1, 2, 3, 4, 5], [6], &Device::cpu())?;
/// assert_eq!(x.slice(1..4).to_vec::<i32>()?, [1, 2, 3]);
/// assert_eq!(x.slice(-2..).to_vec::<i32>()?, [4, 5]);
/// assert_eq!(x.slice(Slice::from(1..4).step(-1)).to_vec::<i32>()?, [3, 2, 1]);
/// assert_eq!(x.slice(Slice::all().step(2)).to_vec::<i32>()?, [0, 2, 4]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slice {
    /// The first index of the span.
    start: isize,
    /// The index after its last; `None` is the axis's end.
    end: Option<isize>,
    step: isize,
}

impl Slice {
    /// The whole axis.
    pub const fn all() -> Slice {
        Slice { start: 0, end: None, step: 1 }
    }

    /// The same span, every `step`th element of it; from its end backwards if `step` is negative.
    #[must_use]
    pub const fn step(self, step: isize) -> Slice {
        Slice { step, ..self }
    }

    /// What the slice takes of an axis of this extent, or what is wrong with it.
    pub(super) fn resolve(self, extent: usize) -> Result<SliceAxis, String> {
        let (start, end) = self.bounds(extent);
        let inside = |bound: i128| (0..=extent as i128).contains(&bound);
        if self.step == 0 {
            return Err(format!("{self} has a step of 0"));
        }
        if !inside(start) || !inside(end) {
            return Err(format!("{self} is out of range of its extent, {extent}"));
        }
        if start > end {
            return Err(format!("{self} ends before it starts in an extent of {extent}"));
        }
        let span = (end - start) as usize;
        let start = start as usize;
        Ok(match span.div_ceil(self.step.unsigned_abs()) {
            // One way to say each of these, whatever the range was: equal programs give equal plans.
            0 => SliceAxis { start: 0, step: 1, len: 0 },
            1 if self.step > 0 => SliceAxis { start, step: 1, len: 1 },
            1 => SliceAxis { start: start + span - 1, step: 1, len: 1 },
            len if self.step > 0 => SliceAxis { start, step: self.step, len },
            len => SliceAxis { start: start + span - 1, step: self.step, len },
        })
    }

    /// The extent that a slice which cannot be resolved most plausibly would have had.
    fn plausible_extent(self, extent: usize) -> usize {
        let (start, end) = self.bounds(extent);
        let start = start.clamp(0, extent as i128);
        let span = (end.clamp(start, extent as i128) - start) as usize;
        span.div_ceil(self.step.unsigned_abs().max(1))
    }

    fn bounds(self, extent: usize) -> (i128, i128) {
        let from_end = |bound: isize| match bound < 0 {
            true => extent as i128 + bound as i128,
            false => bound as i128,
        };
        (from_end(self.start), self.end.map_or(extent as i128, from_end))
    }
}

impl Default for Slice {
    fn default() -> Slice {
        Slice::all()
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start != 0 {
            write!(f, "{}", self.start)?;
        }
        write!(f, "..")?;
        if let Some(end) = self.end {
            write!(f, "{end}")?;
        }
        if self.step != 1 {
            write!(f, " by {}", self.step)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<RangeFull> for Slice {
    fn from(_: RangeFull) -> Slice {
        Slice::all()
    }
}

/// The index after an inclusive bound. After the last one, -1, is the end.
fn after(bound: isize) -> Option<isize> {
    (bound != -1).then(|| bound.saturating_add(1))
}

macro_rules! one_slice {
    ($($range:ty),*) => {$(
        impl Slices for $range {
            fn slices(&self) -> SmallVec<[Slice; 4]> {
                SmallVec::from_slice(&[Slice::from(self.clone())])
            }
        }
    )*};
}
macro_rules! slice_from_ranges_of {
    ($($integer:ty),*) => {$(
        impl From<Range<$integer>> for Slice {
            fn from(range: Range<$integer>) -> Slice {
                Slice { start: bound(range.start), end: Some(bound(range.end)), step: 1 }
            }
        }
        impl From<RangeInclusive<$integer>> for Slice {
            fn from(range: RangeInclusive<$integer>) -> Slice {
                Slice { start: bound(*range.start()), end: after(bound(*range.end())), step: 1 }
            }
        }
        impl From<RangeFrom<$integer>> for Slice {
            fn from(range: RangeFrom<$integer>) -> Slice {
                Slice { start: bound(range.start), end: None, step: 1 }
            }
        }
        impl From<RangeTo<$integer>> for Slice {
            fn from(range: RangeTo<$integer>) -> Slice {
                Slice { start: 0, end: Some(bound(range.end)), step: 1 }
            }
        }
        impl From<RangeToInclusive<$integer>> for Slice {
            fn from(range: RangeToInclusive<$integer>) -> Slice {
                Slice { start: 0, end: after(bound(range.end)), step: 1 }
            }
        }
        one_slice!(Range<$integer>, RangeInclusive<$integer>, RangeFrom<$integer>);
        one_slice!(RangeTo<$integer>, RangeToInclusive<$integer>);
    )*};
}

/// A bound too large to be one is out of range of every axis all the same.
fn bound(value: impl TryInto<isize>) -> isize {
    value.try_into().unwrap_or(isize::MAX)
}

/// The slices of some axes, outermost first; axes that are not named are taken whole.
///
/// One range, a tuple of ranges and [`Slice`]s, or an array, slice or vector of them.
pub trait Slices {
    /// A slice for each axis that is named.
    fn slices(&self) -> SmallVec<[Slice; 4]>;
}

slice_from_ranges_of!(usize, isize, i32);
one_slice!(Slice, RangeFull);

impl<S: Into<Slice> + Clone, const N: usize> Slices for [S; N] {
    fn slices(&self) -> SmallVec<[Slice; 4]> {
        self.as_slice().slices()
    }
}

impl<S: Into<Slice> + Clone> Slices for [S] {
    fn slices(&self) -> SmallVec<[Slice; 4]> {
        self.iter().cloned().map(Into::into).collect()
    }
}

impl<S: Into<Slice> + Clone> Slices for Vec<S> {
    fn slices(&self) -> SmallVec<[Slice; 4]> {
        self.as_slice().slices()
    }
}

impl<S: Slices + ?Sized> Slices for &S {
    fn slices(&self) -> SmallVec<[Slice; 4]> {
        (**self).slices()
    }
}

macro_rules! slices_of_tuple {
    ($($name:ident $position:tt),*) => {
        impl<$($name: Into<Slice> + Clone),*> Slices for ($($name,)*) {
            fn slices(&self) -> SmallVec<[Slice; 4]> {
                [$(self.$position.clone().into()),*].into_iter().collect()
            }
        }
    };
}

slices_of_tuple!(A 0);
slices_of_tuple!(A 0, B 1);
slices_of_tuple!(A 0, B 1, C 2);
slices_of_tuple!(A 0, B 1, C 2, D 3);
slices_of_tuple!(A 0, B 1, C 2, D 3, E 4);
slices_of_tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
slices_of_tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
slices_of_tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);

/// What slices take of a tensor.
pub(super) struct Resolved {
    /// One entry for each axis.
    pub axes: SmallVec<[SliceAxis; 4]>,
    /// The shape of what is taken.
    pub shape: Shape,
}

impl Resolved {
    pub fn is_whole(&self, shape: &Shape) -> bool {
        self.axes.iter().zip(shape.iter()).all(|(&axis, &extent)| axis == SliceAxis::full(extent))
    }
}

/// What slices take of a tensor, or what is wrong with them and the shape they would plausibly give.
pub(super) fn resolve(shape: &Shape, slices: &impl Slices) -> Result<Resolved, (String, Shape)> {
    let slices = slices.slices();
    let slice = |axis: usize| slices.get(axis).copied().unwrap_or_default();
    let axes: Result<SmallVec<[SliceAxis; 4]>, String> = match slices.len() > shape.rank() {
        true => Err(format!("{} slices for a tensor of {} axes", slices.len(), shape.rank())),
        false => (0..shape.rank())
            .map(|axis| {
                slice(axis).resolve(shape[axis]).map_err(|cause| format!("axis {axis}: {cause}"))
            })
            .collect(),
    };
    match axes {
        Ok(axes) => {
            let shape = axes.iter().map(|axis| axis.len).collect();
            Ok(Resolved { axes, shape })
        }
        Err(cause) => {
            let extents = shape.iter().enumerate();
            let plausible =
                extents.map(|(axis, &extent)| slice(axis).plausible_extent(extent)).collect();
            Err((cause, plausible))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(slice: impl Into<Slice>, extent: usize) -> Vec<usize> {
        let axis = slice.into().resolve(extent).unwrap();
        assert!(axis.fits(extent));
        (0..axis.len as isize).map(|i| (axis.start as isize + i * axis.step) as usize).collect()
    }

    #[test]
    fn ranges_count_from_either_end() {
        assert_eq!(taken(.., 3), [0, 1, 2]);
        assert_eq!(taken(1..3usize, 5), [1, 2]);
        assert_eq!(taken(1..=3, 5), [1, 2, 3]);
        assert_eq!(taken(-2.., 5), [3, 4]);
        assert_eq!(taken(..-2, 5), [0, 1, 2]);
        assert_eq!(taken(..=-2, 5), [0, 1, 2, 3]);
        assert_eq!(taken(..=-1, 5), [0, 1, 2, 3, 4]);
        assert_eq!(taken(-4..=-1isize, 5), [1, 2, 3, 4]);
        assert_eq!(taken(5.., 5), [0usize; 0]);
        assert_eq!(taken(.., 0), [0usize; 0]);
    }

    #[test]
    fn steps_walk_through_the_span() {
        assert_eq!(taken(Slice::all().step(2), 5), [0, 2, 4]);
        assert_eq!(taken(Slice::all().step(-2), 6), [5, 3, 1]);
        assert_eq!(taken(Slice::from(1..5).step(-1), 6), [4, 3, 2, 1]);
        assert_eq!(taken(Slice::from(1..5).step(-7), 6), [4]);
        assert_eq!(taken(Slice::from(1..5).step(7), 6), [1]);
        assert_eq!(taken(Slice::all().step(isize::MIN), 6), [5]);
    }

    #[test]
    fn what_does_not_fit_is_said() {
        for (slice, cause) in [
            (Slice::from(0..7), "0..7"),
            (Slice::from(-6..), "-6.."),
            (Slice::from(..usize::MAX), "out of range"),
            (Slice::from(std::ops::Range { start: 3, end: 2 }), "ends before"),
            (Slice::all().step(0), "step of 0"),
        ] {
            let message = slice.resolve(5).unwrap_err();
            assert!(message.contains(cause.trim_start_matches("0..7")), "{message}");
        }
    }

    #[test]
    fn mistakes_keep_a_plausible_shape() {
        let shape = Shape::from([4, 6]);
        let Err((cause, plausible)) = resolve(&shape, &(1.., 2..9)) else { panic!("it fits") };
        assert!(
            cause.contains("axis 1") && cause.contains("2..9") && cause.contains('6'),
            "{cause}"
        );
        assert_eq!(plausible, Shape::from([3, 4]));
        assert!(resolve(&shape, &(.., .., ..)).is_err());
    }
}
