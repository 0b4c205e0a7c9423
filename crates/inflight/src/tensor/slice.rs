//! Slices: which elements of each axis an index expression takes.

use super::axis::{Integer, sealed};
use crate::Shape;
use crate::lists::for_tuples;
use inflight_ir::graph::SliceAxis;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// A span of one axis, and the step at which its elements are taken.
///
/// Made from any range of `usize`, `isize`, `i32` or `i64`. A negative bound counts from the end of the axis: `-1` is
/// the last index.
///
/// The range always names the span from low to high, as everywhere in Rust. The step says in which order its
/// elements are taken: a negative step starts at the last element of the span.
///
/// ```
/// use inflight::{Device, Slice, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// let x = Tensor::from_vec(vec![0i32, 1, 2, 3, 4, 5], [6], &Device::cpu())?;
/// assert_eq!(x.slice(1..4).to_vec::<i32>()?, [1, 2, 3]);
/// assert_eq!(x.slice(-2..).to_vec::<i32>()?, [4, 5]);
/// assert_eq!(x.slice(Slice::new(1, -1)).to_vec::<i32>()?, [1, 2, 3, 4]);
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

    /// The indices from `start` up to but without `end`; negative bounds count from the end.
    ///
    /// The same as a range. Clippy takes a literal range such as `1..-1` for an empty one
    /// (`reversed_empty_ranges`); `Slice::new(1, -1)` says it without the lint.
    pub const fn new(start: isize, end: isize) -> Slice {
        Slice { start, end: Some(end), step: 1 }
    }

    /// The same span, every `step`th element of it; from its last element backwards if `step` is negative.
    #[must_use]
    pub const fn step(self, step: isize) -> Slice {
        Slice { step, ..self }
    }

    /// The elements of an axis of this extent that the slice takes, or the error.
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
            // One canonical form for each of these, whatever the range was: equal programs share a plan.
            0 => SliceAxis { start: 0, step: 1, len: 0 },
            1 if self.step > 0 => SliceAxis { start, step: 1, len: 1 },
            1 => SliceAxis { start: start + span - 1, step: 1, len: 1 },
            len if self.step > 0 => SliceAxis { start, step: self.step, len },
            len => SliceAxis { start: start + span - 1, step: self.step, len },
        })
    }

    /// The bounds as far as an axis of this extent has them, without the step.
    pub(super) fn clamped(self, extent: usize) -> (usize, usize) {
        let (start, end) = self.bounds(extent);
        let start = start.clamp(0, extent as i128);
        (start as usize, end.clamp(start, extent as i128) as usize)
    }

    /// The extent that a slice which cannot be resolved most plausibly would have had.
    fn plausible_extent(self, extent: usize) -> usize {
        let (start, end) = self.clamped(extent);
        (end - start).div_ceil(self.step.unsigned_abs().max(1))
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

/// What a slice takes of one axis.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum AxisEntry {
    /// One index, negative from the end. The axis is dropped.
    Index(isize),
    /// A span. The axis is kept.
    Span(Slice),
}

/// What a slice takes of one axis: an integer, a range, or a [`Slice`].
///
/// An integer selects one index and drops the axis, a range or [`Slice`] keeps it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index an axis",
    label = "expected an integer, a range or a `Slice`",
    note = "an axis is indexed with an integer (`0`, `-1`), a range (`..`, `1..3`, `-2..`) or a `Slice`"
)]
pub trait SliceIndex: sealed::Sealed {
    #[doc(hidden)]
    fn entry(&self) -> AxisEntry;
}

/// Indices of the first axes of a tensor, outermost first; the other axes are taken whole.
///
/// One integer, range or [`Slice`], a tuple that mixes them, or an array, slice or vector of one kind. The rule is
/// NumPy's for basic indexing: an integer selects one index and drops its axis, a range keeps its axis.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot index a tensor",
    label = "expected integers, ranges or `Slice`s",
    note = "index with an integer (`0`), a range (`1..3`), a `Slice`, a tuple of these (`(0, .., 1..-1)`), or an array \
            of one kind (`[0..2, 1..3]`)"
)]
pub trait Slices: sealed::Sealed {
    #[doc(hidden)]
    fn entries(&self) -> SmallVec<[AxisEntry; 4]>;
}

macro_rules! range_indices {
    ($($range:ty),*) => {$(
        impl SliceIndex for $range {
            fn entry(&self) -> AxisEntry {
                AxisEntry::Span(Slice::from(self.clone()))
            }
        }

        impl Slices for $range {
            fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
                SmallVec::from_slice(&[self.entry()])
            }
        }
    )*};
}

macro_rules! integer_indices {
    ($($integer:ty),*) => {$(
        impl SliceIndex for $integer {
            fn entry(&self) -> AxisEntry {
                AxisEntry::Index(self.to_isize())
            }
        }

        impl Slices for $integer {
            fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
                SmallVec::from_slice(&[self.entry()])
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
        range_indices!(Range<$integer>, RangeInclusive<$integer>, RangeFrom<$integer>);
        range_indices!(RangeTo<$integer>, RangeToInclusive<$integer>);
    )*};
}

/// A bound that does not fit an `isize` is out of range of every axis.
fn bound(value: impl TryInto<isize>) -> isize {
    value.try_into().unwrap_or(isize::MAX)
}

slice_from_ranges_of!(usize, isize, i32, i64);
integer_indices!(usize, isize, i32, i64);
range_indices!(Slice, RangeFull);

impl sealed::Sealed for Slice {}
impl sealed::Sealed for AxisEntry {}

impl SliceIndex for AxisEntry {
    fn entry(&self) -> AxisEntry {
        *self
    }
}

impl<S: SliceIndex> Slices for [S] {
    fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
        self.iter().map(SliceIndex::entry).collect()
    }
}

impl<S: SliceIndex, const N: usize> Slices for [S; N] {
    fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
        self.as_slice().entries()
    }
}

impl<S: SliceIndex> Slices for Vec<S> {
    fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
        self.as_slice().entries()
    }
}

impl<S: Slices + ?Sized> Slices for &S {
    fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
        (**self).entries()
    }
}

macro_rules! slices_of_tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: SliceIndex),+> Slices for ($($name,)+) {
            fn entries(&self) -> SmallVec<[AxisEntry; 4]> {
                [$(self.$position.entry()),+].into_iter().collect()
            }
        }
    )*};
}

for_tuples!(slices_of_tuples);

/// The region of a tensor that slices take.
pub(super) struct Region {
    /// One entry for each axis of the tensor.
    pub axes: SmallVec<[SliceAxis; 4]>,
    /// The region's shape with every axis; an axis that is indexed by an integer has extent 1.
    pub kept: Shape,
    /// The region's shape without the axes that are indexed by integers.
    pub shape: Shape,
}

impl Region {
    pub fn is_whole(&self, shape: &Shape) -> bool {
        self.axes.iter().zip(shape.iter()).all(|(&axis, &extent)| axis == SliceAxis::full(extent))
    }
}

impl AxisEntry {
    fn resolve(self, extent: usize) -> Result<SliceAxis, String> {
        match self {
            AxisEntry::Span(slice) => slice.resolve(extent),
            AxisEntry::Index(index) => match position(index, extent) {
                Some(start) => Ok(SliceAxis { start, step: 1, len: 1 }),
                None => Err(format!("index {index} is out of range of its extent, {extent}")),
            },
        }
    }

    /// The extent of the axis in a result that cannot be resolved. `None` if the axis is dropped.
    fn plausible_extent(self, extent: usize) -> Option<usize> {
        match self {
            AxisEntry::Span(slice) => Some(slice.plausible_extent(extent)),
            AxisEntry::Index(_) => None,
        }
    }
}

/// The index that a possibly negative one means, if the axis has it.
pub(super) fn position(index: isize, extent: usize) -> Option<usize> {
    let position = index as i128 + if index < 0 { extent as i128 } else { 0 };
    (0..extent as i128).contains(&position).then_some(position as usize)
}

/// The region that slices take of a tensor, or the error and the plausible shape of the result.
pub(super) fn resolve(shape: &Shape, slices: &impl Slices) -> Result<Region, (String, Shape)> {
    region(shape, &slices.entries())
}

fn region(shape: &Shape, entries: &[AxisEntry]) -> Result<Region, (String, Shape)> {
    let entry = |axis: usize| entries.get(axis).copied().unwrap_or(AxisEntry::Span(Slice::all()));
    let axes: Result<SmallVec<[SliceAxis; 4]>, String> = match entries.len() > shape.rank() {
        true => Err(format!("{} slices for a tensor of {} axes", entries.len(), shape.rank())),
        false => (0..shape.rank())
            .map(|axis| {
                entry(axis).resolve(shape[axis]).map_err(|cause| format!("axis {axis}: {cause}"))
            })
            .collect(),
    };
    match axes {
        Ok(axes) => {
            let kept: Shape = axes.iter().map(|axis| axis.len).collect();
            let is_kept = |&axis: &usize| matches!(entry(axis), AxisEntry::Span(_));
            let shape = (0..shape.rank()).filter(is_kept).map(|axis| kept[axis]).collect();
            Ok(Region { axes, kept, shape })
        }
        Err(cause) => {
            let extents = shape.iter().enumerate();
            let plausible =
                extents.filter_map(|(axis, &extent)| entry(axis).plausible_extent(extent));
            Err((cause, plausible.collect()))
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
    fn steps_select_within_the_span() {
        assert_eq!(taken(Slice::all().step(2), 5), [0, 2, 4]);
        assert_eq!(taken(Slice::all().step(-2), 6), [5, 3, 1]);
        assert_eq!(taken(Slice::from(1..5).step(-1), 6), [4, 3, 2, 1]);
        assert_eq!(taken(Slice::from(1..5).step(-7), 6), [4]);
        assert_eq!(taken(Slice::from(1..5).step(7), 6), [1]);
        assert_eq!(taken(Slice::all().step(isize::MIN), 6), [5]);
    }

    #[test]
    fn errors_name_the_slice() {
        for (slice, cause) in [
            (Slice::from(0..7), "..7"),
            (Slice::from(-6..), "-6.."),
            (Slice::from(..usize::MAX), "out of range"),
            (Slice::from(std::ops::Range { start: 3, end: 2 }), "ends before"),
            (Slice::all().step(0), "step of 0"),
        ] {
            let message = slice.resolve(5).unwrap_err();
            assert!(message.contains(cause), "{message}");
        }
    }

    #[test]
    fn mistakes_keep_a_plausible_shape() {
        let shape = Shape::from([4, 6]);
        let Err((cause, plausible)) = resolve(&shape, &(1.., 2..9)) else {
            panic!("expected an error")
        };
        assert!(
            cause.contains("axis 1") && cause.contains("2..9") && cause.contains('6'),
            "{cause}"
        );
        assert_eq!(plausible, Shape::from([3, 4]));
        assert!(resolve(&shape, &(.., .., ..)).is_err());
    }

    #[test]
    fn integers_drop_their_axis() {
        let shape = Shape::from([4, 6, 8]);
        let region =
            resolve(&shape, &(-1, .., Slice::new(1, -1))).unwrap_or_else(|(e, _)| panic!("{e}"));
        assert_eq!(region.axes[0], SliceAxis { start: 3, step: 1, len: 1 });
        assert_eq!((region.kept, region.shape), (Shape::from([1, 6, 6]), Shape::from([6, 6])));
        let Err((cause, plausible)) = resolve(&shape, &(1, 6)) else { panic!("expected an error") };
        assert_eq!(cause, "axis 1: index 6 is out of range of its extent, 6");
        assert_eq!(plausible, Shape::from([8]));
        assert!(resolve(&shape, &-5).is_err() && resolve(&shape, &[0, 1, 2, 3]).is_err());
    }
}
