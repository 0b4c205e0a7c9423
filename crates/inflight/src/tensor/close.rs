//! Comparing values within a tolerance.

use super::Tensor;
use super::array::NestedArray;
use super::method::naming;
use super::operand::{Operand, look, materialize};
use super::record::mistake;
use crate::lists::for_elements;
use crate::{DType, Result};
use std::panic::Location;

impl Tensor {
    /// Where |a − b| ≤ `absolute` + `relative` · |b|, as `bool`. Equal infinities are close; NaN is close to nothing.
    #[doc(alias = "isclose")]
    #[track_caller]
    pub fn is_close(&self, other: impl Operand, relative: f64, absolute: f64) -> Tensor {
        let _naming = naming("is_close");
        let location = Location::caller();
        let other = match materialize(look(&other), self.dtype(), self.device(), location) {
            Ok(other) => other,
            Err(message) => {
                let shape = self.shape().clone();
                return mistake("is_close", message, &[self], shape, DType::Bool, location);
            }
        };
        let equal = self.eq(&other);
        if !self.dtype().is_float() && !self.dtype().is_complex() {
            let (a, b) = (self.cast(DType::F64), other.cast(DType::F64));
            return (&a - &b).abs().le(b.abs() * relative + absolute) | equal;
        }
        let (a, b) = (self.widened(), other.widened());
        let distance = (&a - &b).abs();
        let allowed = b.abs() * relative + absolute;
        distance.le(&allowed).bitwise_and(allowed.is_finite()) | equal
    }

    /// Whether all elements are close, as [`is_close`](Tensor::is_close) says. A read: it waits.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_array([1.0f32, 2.0], &Device::cpu());
    /// assert!((&x / 3.0 * 3.0).all_close(&x, 1e-6, 0.0)?);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "allclose")]
    #[track_caller]
    pub fn all_close(&self, other: impl Operand, relative: f64, absolute: f64) -> Result<bool> {
        self.is_close(other, relative, absolute).all_all().item()
    }
}

/// The values that [`assert_close!`](crate::assert_close) expects: a tensor, a vector or a nested array.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with a tensor",
    note = "expected `&Tensor`, a scalar, a nested array or a vector of elements"
)]
pub trait Expected {
    /// The values as a tensor of this one's dtype and device.
    fn expected_for(&self, found: &Tensor) -> Tensor;
}

impl Expected for Tensor {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        self.to_device(found.device()).cast(found.dtype())
    }
}

impl<E: Expected + ?Sized> Expected for &E {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        (**self).expected_for(found)
    }
}

impl<A: NestedArray + Clone, const N: usize> Expected for [A; N] {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        Tensor::from_array(self.clone(), found.device()).cast(found.dtype())
    }
}

macro_rules! scalars {
    ($($type:ty),*) => {$(
        impl Expected for $type {
            fn expected_for(&self, found: &Tensor) -> Tensor {
                Tensor::scalar(*self, found.device()).cast(found.dtype())
            }
        }
    )*};
}

for_elements!(scalars);

impl<A: NestedArray + Clone> Expected for Vec<A> {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        let rows = self.iter().map(|row| Tensor::from_array(row.clone(), found.device()));
        let rows: Vec<Tensor> = rows.collect();
        match rows.is_empty() {
            true => found.reshape([0]),
            false => Tensor::stack(&rows, 0).cast(found.dtype()),
        }
    }
}

/// Says in words how `found` differs from what was expected, or `None` if it is close enough.
#[doc(hidden)]
#[track_caller]
pub fn difference(
    found: &Tensor,
    expected: &impl Expected,
    relative: f64,
    absolute: f64,
) -> Option<String> {
    let expected = expected.expected_for(found);
    if let Err(error) = found.check().and_then(|()| expected.check()) {
        return Some(error.to_string());
    }
    if found.shape() != expected.shape() {
        let (found, expected) = (found.shape(), expected.shape());
        return Some(format!("expected shape {expected}, found {found}"));
    }
    let both_nan = |x: &Tensor, y: &Tensor| match x.dtype().is_float() {
        true => x.is_nan() & y.is_nan(),
        false => x.ne(x),
    };
    let close = found.is_close(&expected, relative, absolute) | both_nan(found, &expected);
    let read = || -> Result<Option<String>> {
        let far = close.flatten().to_vec::<bool>()?;
        let count = far.iter().filter(|close| !**close).count();
        let Some(first) = far.iter().position(|close| !close) else { return Ok(None) };
        let (mut index, mut rest) = (vec![0; found.rank()], first);
        for axis in (0..found.rank()).rev() {
            index[axis] = rest % found.shape()[axis];
            rest /= found.shape()[axis];
        }
        let at = |x: &Tensor| x.flatten().narrow(0, first, 1).reshape(()).to_string();
        Ok(Some(format!(
            "{count} of {} elements differ, the first at {index:?}: expected {}, found {} (relative tolerance \
             {relative:e}, absolute {absolute:e})",
            far.len(),
            at(&expected),
            at(found),
        )))
    };
    read().unwrap_or_else(|error| Some(error.to_string()))
}

/// Asserts that a tensor has the expected values within a tolerance. Reads both, so it waits.
///
/// The expected values are a tensor, a nested array, a vector or a scalar. The tolerance is relative and absolute,
/// 1e-5 and 1e-8 unless given. NaN is expected where NaN is found.
///
/// ```
/// use inflight::{Device, Tensor, assert_close};
///
/// let x = Tensor::from_array([[1.0f32, 4.0], [9.0, 16.0]], &Device::cpu());
/// assert_close!(x.sqrt(), [[1.0, 2.0], [3.0, 4.0]]);
/// assert_close!(x.sqrt(), x.powf(0.5), 1e-6);
/// assert_close!(&x - 1e-3, x, 0.0, 1e-2);
/// ```
#[macro_export]
macro_rules! assert_close {
    ($found:expr, $expected:expr $(,)?) => {
        $crate::assert_close!($found, $expected, 1e-5, 1e-8)
    };
    ($found:expr, $expected:expr, $relative:expr $(,)?) => {
        $crate::assert_close!($found, $expected, $relative, 0.0)
    };
    ($found:expr, $expected:expr, $relative:expr, $absolute:expr $(,)?) => {
        match (&$found, &$expected) {
            (found, expected) => {
                if let Some(difference) = $crate::difference(found, expected, $relative, $absolute)
                {
                    panic!("{}: {difference}", stringify!($found));
                }
            }
        }
    };
}
