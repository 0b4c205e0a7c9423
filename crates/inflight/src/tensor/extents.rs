//! Extents as callers write them: shapes with an extent to infer, amounts of padding, one value per axis.

use super::axis::{Integer, sealed};
use crate::Shape;
use crate::lists::for_tuples;
use smallvec::SmallVec;

/// The extents of a shape, of which some may be `-1`: for [`reshape`](crate::Tensor::reshape), the extent that the
/// number of elements leaves; for [`expand`](crate::Tensor::expand), the extent the tensor has.
///
/// A [`Shape`], an integer, or a tuple, array, slice or vector of integers. The members of a tuple may be of
/// different integer types, such as a `usize` variable and the literal `-1`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "expected extents",
    note = "extents are an integer, a tuple, array, slice or vector of integers (`(n, -1)`, `[2, 3]`), or a `Shape`"
)]
pub trait Extents: sealed::Sealed {
    /// The extents, outermost first.
    fn extents(&self) -> SmallVec<[isize; 4]>;
}

/// Elements to add before the first and after the last of each axis: an array, slice or vector of pairs of
/// integers, such as `[(1, 1), (0, 2)]`. A negative amount crops.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an amount of padding for each axis",
    label = "expected pairs of integers",
    note = "give a pair (before, after) for each axis: `[(1, 1), (0, 2)]`"
)]
pub trait Padding: sealed::Sealed {
    #[doc(hidden)]
    fn amounts(&self) -> SmallVec<[(isize, isize); 4]>;
}

/// A value for each of `N` axes: one `usize` for all of them, or an array with one for each.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither one value for all axes nor one per axis",
    label = "expected a `usize` or an array of `usize`",
    note = "give one value for all axes (`2`), or an array with one per axis (`[1, 2]`)"
)]
pub trait PerAxis<const N: usize>: sealed::Sealed {
    #[doc(hidden)]
    fn per_axis(self) -> [usize; N];
}

impl<const N: usize> PerAxis<N> for usize {
    fn per_axis(self) -> [usize; N] {
        [self; N]
    }
}

impl<const N: usize> PerAxis<N> for [usize; N] {
    fn per_axis(self) -> [usize; N] {
        self
    }
}

macro_rules! one_extent {
    ($($integer:ty),*) => {$(
        impl Extents for $integer {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                SmallVec::from_slice(&[self.to_isize()])
            }
        }
    )*};
}

one_extent!(usize, isize, i32, i64);

impl<E: Integer> Extents for [E] {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        self.iter().map(Integer::to_isize).collect()
    }
}

impl<E: Integer, const N: usize> Extents for [E; N] {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        self.as_slice().extents()
    }
}

impl<E: Integer> Extents for Vec<E> {
    fn extents(&self) -> SmallVec<[isize; 4]> {
        self.as_slice().extents()
    }
}

impl sealed::Sealed for Shape {}
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

macro_rules! extents_of_tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: Integer),+> Extents for ($($name,)+) {
            fn extents(&self) -> SmallVec<[isize; 4]> {
                [$(self.$position.to_isize()),+].into_iter().collect()
            }
        }
    )*};
}

for_tuples!(extents_of_tuples);

impl<A: Integer, B: Integer> Padding for [(A, B)] {
    fn amounts(&self) -> SmallVec<[(isize, isize); 4]> {
        self.iter().map(|(before, after)| (before.to_isize(), after.to_isize())).collect()
    }
}

impl<A: Integer, B: Integer, const N: usize> Padding for [(A, B); N] {
    fn amounts(&self) -> SmallVec<[(isize, isize); 4]> {
        self.as_slice().amounts()
    }
}

impl<A: Integer, B: Integer> Padding for Vec<(A, B)> {
    fn amounts(&self) -> SmallVec<[(isize, isize); 4]> {
        self.as_slice().amounts()
    }
}

impl<P: Padding + ?Sized> Padding for &P {
    fn amounts(&self) -> SmallVec<[(isize, isize); 4]> {
        (**self).amounts()
    }
}

/// The error of a window option that has a zero, if it has one.
pub(super) fn zero_in(option: &str, values: &[usize]) -> Option<String> {
    values.contains(&0).then(|| format!("the {option} {values:?} has a 0; it must be at least 1"))
}

/// The shape that the extents of a reshape mean, or the error and a plausible shape.
pub(super) fn reshaped(extents: &[isize], from: &Shape) -> Result<Shape, (String, Shape)> {
    let elements = from.element_count();
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
        if shape.checked_element_count().is_some() { shape } else { Shape::from(elements) }
    };
    if let Some(extent) = known.clone().find(|&&extent| extent < 0) {
        let message = format!("{extents:?} has an extent of {extent}; only -1 may be negative");
        return Err((message, plausible()));
    }
    match (inferred, product) {
        (0, _) => Ok(with(0)),
        (1, Some(product)) if product > 0 && elements.is_multiple_of(product) => {
            Ok(with(elements / product))
        }
        (1, Some(0)) => {
            let message =
                format!("in {extents:?}, any extent would do for the -1; give that extent");
            Err((message, plausible()))
        }
        (1, _) => {
            let message = format!("the {elements} elements of {from} do not fill {extents:?}");
            Err((message, plausible()))
        }
        _ => Err((format!("{extents:?} has more than one -1; give all but one"), plausible())),
    }
}

/// The shape that the extents of an expand mean, or the error and a plausible shape. Shapes are aligned at the
/// last axis.
pub(super) fn expanded(extents: &[isize], from: &Shape) -> Result<Shape, (String, Shape)> {
    let own = |axis: usize| {
        (axis + from.rank()).checked_sub(extents.len()).and_then(|axis| from.get(axis)).copied()
    };
    let shape = |missing: usize| -> Shape {
        let extent = |(axis, &extent): (usize, &isize)| match extent {
            -1 => own(axis).unwrap_or(missing),
            extent => extent.max(0) as usize,
        };
        extents.iter().enumerate().map(extent).collect()
    };
    let plausible = || {
        let shape = shape(1);
        if shape.checked_element_count().is_some() { shape } else { from.clone() }
    };
    if let Some(extent) = extents.iter().find(|&&extent| extent < -1) {
        let message = format!("{extents:?} has an extent of {extent}; only -1 may be negative");
        return Err((message, plausible()));
    }
    let unknown = |&(axis, &extent): &(usize, &isize)| extent == -1 && own(axis).is_none();
    if let Some((axis, _)) = extents.iter().enumerate().find(unknown) {
        let message = format!(
            "axis {axis} of {extents:?} is new, so that {from} has no extent to keep for its -1; give the extent"
        );
        return Err((message, plausible()));
    }
    Ok(shape(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_extent_is_inferred() {
        let resolve = |extents: &[isize], elements: usize| reshaped(extents, &[elements].into());
        assert_eq!(resolve(&[2, -1], 6).unwrap(), Shape::from([2, 3]));
        assert_eq!(resolve(&[-1], 0).unwrap(), Shape::from([0]));
        assert_eq!(resolve(&[], 1).unwrap(), Shape::scalar());
        // The op checks that the number of elements is the same.
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
            assert!(plausible.checked_element_count().is_some());
        }
    }

    #[test]
    fn expanding_keeps_extents() {
        let from = Shape::from([3, 1]);
        assert_eq!(expanded(&[2, -1, 4], &from).unwrap(), Shape::from([2, 3, 4]));
        assert_eq!(expanded(&[-1, -1], &from).unwrap(), from);
        assert!(expanded(&[-1, 3, 4], &from).unwrap_err().0.contains("axis 0"));
        assert!(expanded(&[-2, 4], &from).unwrap_err().0.contains("-2"));
    }

    #[test]
    fn tuples_mix_integer_types() {
        let n = 4usize;
        assert_eq!((n, -1).extents().as_slice(), [4, -1]);
        assert_eq!((2i64, n, -1isize).extents().as_slice(), [2, 4, -1]);
        assert_eq!(usize::MAX.extents().as_slice(), [isize::MAX]);
        assert_eq!([(1, n)].amounts().as_slice(), [(1, 4)]);
    }
}
