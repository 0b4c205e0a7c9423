//! Axes and integers as callers write them: literals and variables of any index type, arrays, tuples, ranges.
//!
//! Negative axes count from the end: `-1` is the last axis. Every method that takes one axis takes `impl Axis`;
//! every method that takes several takes `impl Axes`.

use super::slice::Slice;
use crate::lists::for_tuples;
use inflight_ir::Axes as AxisList;
use smallvec::SmallVec;
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// One axis of a tensor: a `usize`, `isize`, `i32` or `i64`. A negative axis counts from the end.
///
/// ```
/// # use inflight::{Device, Shape, Tensor};
/// let x = Tensor::zeros::<f32>([2, 3], &Device::cpu());
/// let last = x.rank() - 1; // a usize
/// assert_eq!(x.softmax(last).shape(), x.softmax(-1).shape());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an axis",
    label = "expected an axis",
    note = "an axis is an integer: `0`, `-1` for the last axis, or a variable of type `usize`, `isize`, `i32` or \
            `i64`"
)]
pub trait Axis: sealed::Sealed {
    #[doc(hidden)]
    fn number(&self) -> isize;
}

/// Some axes of a tensor: one axis, an array, slice, vector or tuple of axes, or a range of them.
///
/// The range `..` is all axes, `1..` all but the first, `-2..` the last two; `()` is none.
///
/// ```
/// # use inflight::{Device, Shape, Tensor};
/// let x = Tensor::zeros::<f32>([2, 3, 4], &Device::cpu());
/// assert_eq!(x.sum(-1).shape(), &Shape::from([2, 3]));
/// assert_eq!(x.sum([0, 2]).shape(), &Shape::from([3]));
/// assert_eq!(x.sum(1..).shape(), &Shape::from([2]));
/// assert_eq!(x.sum_keepdim(..).shape(), &Shape::from([1, 1, 1]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name axes",
    label = "expected axes",
    note = "axes are an integer (`-1`), an array, tuple, slice or vector of integers (`[0, 2]`), or a range (`..`, \
            `1..`, `-2..`)"
)]
pub trait Axes: sealed::Sealed {
    #[doc(hidden)]
    fn named(&self) -> NamedAxes;
}

/// An integer that may count from the end or mean "infer": a `usize`, `isize`, `i32` or `i64`.
///
/// Extents of a [`reshape`](crate::Tensor::reshape), indices of [`get`](crate::Tensor::get) and amounts of
/// [`pad`](crate::Tensor::pad) are of these types.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index or extent",
    label = "expected an integer",
    note = "use an integer literal or a variable of type `usize`, `isize`, `i32` or `i64`"
)]
pub trait Integer: sealed::Sealed {
    #[doc(hidden)]
    fn to_isize(&self) -> isize;
}

/// Axes as the caller named them, not yet resolved against a rank.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum NamedAxes {
    /// One by one.
    List(SmallVec<[isize; 4]>),
    /// A range.
    Range(Slice),
}

pub(super) mod sealed {
    /// Keeps the traits of arguments to the types of this crate.
    pub trait Sealed {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
    impl<T, const N: usize> Sealed for [T; N] {}
    impl<T> Sealed for [T] {}
    impl<T> Sealed for Vec<T> {}
    impl Sealed for () {}
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}

        impl Integer for $integer {
            fn to_isize(&self) -> isize {
                // A value that does not fit is out of range of every axis, and larger than every extent.
                isize::try_from(*self).unwrap_or(isize::MAX)
            }
        }

        impl Axis for $integer {
            fn number(&self) -> isize {
                self.to_isize()
            }
        }

        impl Axes for $integer {
            fn named(&self) -> NamedAxes {
                NamedAxes::List(SmallVec::from_slice(&[self.to_isize()]))
            }
        }

        range_axes!(Range<$integer>, RangeInclusive<$integer>, RangeFrom<$integer>);
        range_axes!(RangeTo<$integer>, RangeToInclusive<$integer>);
    )*};
}

macro_rules! range_axes {
    ($($range:ty),*) => {$(
        impl sealed::Sealed for $range {}
        impl Axes for $range {
            fn named(&self) -> NamedAxes {
                NamedAxes::Range(Slice::from(self.clone()))
            }
        }
    )*};
}

integers!(usize, isize, i32, i64);
range_axes!(RangeFull);

impl<T: Integer + ?Sized> Integer for &T {
    fn to_isize(&self) -> isize {
        (**self).to_isize()
    }
}

impl<T: Axis + ?Sized> Axis for &T {
    fn number(&self) -> isize {
        (**self).number()
    }
}

impl<T: Axes + ?Sized> Axes for &T {
    fn named(&self) -> NamedAxes {
        (**self).named()
    }
}

impl<T: Axis> Axes for [T] {
    fn named(&self) -> NamedAxes {
        NamedAxes::List(self.iter().map(Axis::number).collect())
    }
}

impl<T: Axis, const N: usize> Axes for [T; N] {
    fn named(&self) -> NamedAxes {
        self.as_slice().named()
    }
}

impl<T: Axis> Axes for Vec<T> {
    fn named(&self) -> NamedAxes {
        self.as_slice().named()
    }
}

impl Axes for () {
    fn named(&self) -> NamedAxes {
        NamedAxes::List(SmallVec::new())
    }
}

macro_rules! axes_of_tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name),+> sealed::Sealed for ($($name,)+) {}
        impl<$($name: Axis),+> Axes for ($($name,)+) {
            fn named(&self) -> NamedAxes {
                NamedAxes::List([$(self.$position.number()),+].into_iter().collect())
            }
        }
    )*};
}

for_tuples!(axes_of_tuples);

impl sealed::Sealed for NamedAxes {}
impl Axes for NamedAxes {
    fn named(&self) -> NamedAxes {
        self.clone()
    }
}

impl NamedAxes {
    /// The axes of a value of this rank, in the order given. An axis that is named twice is an error.
    pub(super) fn resolve(&self, rank: usize) -> Result<AxisList, String> {
        let named = match self {
            NamedAxes::List(named) => named,
            NamedAxes::Range(range) => return axis_range(*range, rank),
        };
        let mut result = AxisList::new();
        for &named in named {
            let found = axis(named, rank)?;
            if result.contains(&found) {
                return Err(format!("axis {found} is named twice in {:?}", self.as_list()));
            }
            result.push(found);
        }
        Ok(result)
    }

    /// As [`resolve`](NamedAxes::resolve), in ascending order.
    pub(super) fn sorted(&self, rank: usize) -> Result<AxisList, String> {
        let mut result = self.resolve(rank)?;
        result.sort_unstable();
        Ok(result)
    }

    /// The named axes that exist: the plausible result of a method that was given others.
    pub(super) fn existing(&self, rank: usize) -> AxisList {
        match self {
            NamedAxes::List(named) => {
                named.iter().filter_map(|&named| axis(named, rank).ok()).collect()
            }
            NamedAxes::Range(range) => {
                let (start, end) = range.clamped(rank);
                (start..end).collect()
            }
        }
    }

    fn as_list(&self) -> &[isize] {
        match self {
            NamedAxes::List(named) => named,
            NamedAxes::Range(_) => &[],
        }
    }
}

/// The axis of a value of this rank that `axis` names; `-1` is the last.
pub(super) fn axis(axis: isize, rank: usize) -> Result<usize, String> {
    let found = if axis < 0 { axis.checked_add_unsigned(rank) } else { Some(axis) };
    match found.and_then(|found| usize::try_from(found).ok()).filter(|&found| found < rank) {
        Some(found) => Ok(found),
        None if rank == 0 => Err(format!("axis {axis} of a scalar, which has none")),
        None => Err(format!("axis {axis} is not in -{rank}..{rank}")),
    }
}

fn axis_range(range: Slice, rank: usize) -> Result<AxisList, String> {
    match range.resolve(rank) {
        Ok(axes) => Ok((axes.start..axes.start + axes.len).collect()),
        Err(_) if rank == 0 => Err(format!("axes {range} of a scalar, which has none")),
        Err(_) => Err(format!("axes {range} are not a range within -{rank}..{rank}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(axes: impl Axes, rank: usize) -> Result<Vec<usize>, String> {
        axes.named().resolve(rank).map(|axes| axes.to_vec())
    }

    #[test]
    fn negative_axes_count_from_the_end() {
        assert_eq!(axis(0, 3), Ok(0));
        assert_eq!(axis(2, 3), Ok(2));
        assert_eq!(axis(-1, 3), Ok(2));
        assert_eq!(axis(-3, 3), Ok(0));
        assert_eq!(axis(3, 3), Err("axis 3 is not in -3..3".to_owned()));
        assert_eq!(axis(-4, 3), Err("axis -4 is not in -3..3".to_owned()));
        assert!(axis(isize::MIN, 3).is_err() && axis(isize::MAX, 3).is_err());
        assert_eq!(axis(0, 0), Err("axis 0 of a scalar, which has none".to_owned()));
    }

    #[test]
    fn axes_are_distinct() {
        assert_eq!(resolved([-1, 0], 3), Ok(vec![2, 0]));
        assert_eq!([-1, 0].named().sorted(3).unwrap().as_slice(), [0, 2]);
        assert!(resolved([-1, 2], 3).unwrap_err().contains("named twice"));
        assert_eq!([5, -1].named().existing(3).as_slice(), [2]);
    }

    #[test]
    fn every_form_of_axes_is_accepted() {
        let (n, list) = (1usize, vec![0i64, 2]);
        assert_eq!(resolved(n, 3), Ok(vec![1]));
        assert_eq!(resolved([n].first().unwrap(), 3), Ok(vec![1]));
        assert_eq!(resolved(-1isize, 3), Ok(vec![2]));
        assert_eq!(resolved(&list, 3), Ok(vec![0, 2]));
        assert_eq!(resolved(&list[..1], 3), Ok(vec![0]));
        assert_eq!(resolved(list, 3), Ok(vec![0, 2]));
        assert_eq!(resolved((2, n), 3), Ok(vec![2, 1]));
        assert_eq!(resolved((), 3), Ok(vec![]));
        assert_eq!(resolved(.., 3), Ok(vec![0, 1, 2]));
        assert_eq!(resolved(1.., 3), Ok(vec![1, 2]));
        assert_eq!(resolved(..2usize, 3), Ok(vec![0, 1]));
        assert_eq!(resolved(-2.., 3), Ok(vec![1, 2]));
        assert_eq!(resolved(0..=1, 3), Ok(vec![0, 1]));
        assert_eq!(resolved(.., 0), Ok(vec![]));
    }

    #[test]
    fn ranges_beyond_the_rank_are_errors() {
        assert_eq!(resolved(1..5, 3).unwrap_err(), "axes 1..5 are not a range within -3..3");
        assert_eq!((1..5).named().existing(3).as_slice(), [1, 2]);
        assert!(resolved(usize::MAX, 3).is_err());
        assert!(resolved(-2.., 0).unwrap_err().contains("scalar"));
    }
}
