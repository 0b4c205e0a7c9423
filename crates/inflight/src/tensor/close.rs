//! Approximate comparison within a relative and an absolute tolerance: `is_close`, `all_close`, `assert_close!`.

use super::Tensor;
use super::array::NestedArray;
use super::method::naming;
use super::operand::{Operand, operand_ref, operand_tensor};
use super::record::mistake;
use crate::lists::for_elements;
use crate::{DType, Result};
use inflight_ir::DTypeClass;
use std::panic::Location;

impl Tensor {
    /// Tests |a − b| ≤ `absolute` + `relative` · |b| for each element, as `bool`. Broadcasts.
    ///
    /// Equal infinities are close. NaN is close to nothing, itself included.
    #[doc(alias("isclose"))]
    #[track_caller]
    pub fn is_close(&self, other: impl Operand, relative: f64, absolute: f64) -> Tensor {
        let _naming = naming("is_close");
        let location = Location::caller();
        let other = match operand_tensor(operand_ref(&other), self.dtype(), self.device(), location)
        {
            Ok(other) => other,
            Err(message) => {
                let shape = self.shape().clone();
                return mistake("is_close", message, &[self], shape, DType::Bool, location);
            }
        };
        let equal = self.eq(&other);
        if !self.dtype().is_float() && !self.dtype().is_complex() {
            // The difference is exact in 64 bits: wrapping subtraction of the smaller, read as unsigned.
            let wide =
                if self.dtype().class() == DTypeClass::Signed { DType::I64 } else { DType::U64 };
            let (a, b) = (self.cast(wide), other.cast(wide));
            let difference = a.maximum(&b).sub(a.minimum(&b)).bitcast(DType::U64);
            let tolerance = b.cast(DType::F64).abs() * relative + absolute;
            return difference.cast(DType::F64).le(tolerance) | equal;
        }
        let (a, b) = (self.widen_half(), other.widen_half());
        let difference = (&a - &b).abs();
        let tolerance = b.abs() * relative + absolute;
        difference.le(&tolerance).bitwise_and(tolerance.is_finite()) | equal
    }

    /// Reads whether all elements are close, as defined by [`is_close`](Tensor::is_close). Waits for the result.
    ///
    /// # Errors
    /// The first error of the computation, such as shapes that do not broadcast.
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
    #[doc(alias("allclose"))]
    #[track_caller]
    pub fn all_close(&self, other: impl Operand, relative: f64, absolute: f64) -> Result<bool> {
        self.is_close(other, relative, absolute).all_all().item()
    }
}

/// The expected values of [`assert_close!`](crate::assert_close): a tensor, a scalar, a nested array or a vector.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be compared with a tensor",
    note = "expected `&Tensor`, a scalar, a nested array or a vector of elements"
)]
pub trait Expected {
    /// Converts the values to a tensor with the dtype and on the device of `found`.
    fn expected_for(&self, found: &Tensor) -> Tensor;
}

impl Expected for Tensor {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        self.to_device(found.device())
    }
}

impl<E: Expected + ?Sized> Expected for &E {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        (**self).expected_for(found)
    }
}

impl<A: NestedArray + Clone, const N: usize> Expected for [A; N] {
    fn expected_for(&self, found: &Tensor) -> Tensor {
        Tensor::from_array(self.clone(), found.device())
    }
}

macro_rules! scalars {
    ($($type:ty),*) => {$(
        impl Expected for $type {
            fn expected_for(&self, found: &Tensor) -> Tensor {
                Tensor::scalar(*self, found.device())
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
            false => Tensor::stack(&rows, 0),
        }
    }
}

/// The dtype in which values are compared. Expected values are rounded to the float dtype that was found; an integer that was
/// found is not rounded, so that it differs from a fraction and from a value that its dtype does not have.
fn comparison_dtype(found: DType, expected: DType) -> DType {
    match (found, expected) {
        _ if found == expected || found.is_complex() => found,
        _ if expected.is_complex() => DType::C128,
        _ if found.is_float() => found,
        _ if expected.is_float() || [found, expected].contains(&DType::U64) => DType::F64,
        _ => DType::I64,
    }
}

/// Describes how `found` differs from the expected values, or returns `None` if all elements are close.
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
    let dtype = comparison_dtype(found.dtype(), expected.dtype());
    let (found, expected) = (&found.cast(dtype), expected.cast(dtype));
    // Only a NaN differs from itself.
    let both_nan = found.ne(found) & expected.ne(&expected);
    let close = found.is_close(&expected, relative, absolute) | both_nan;
    let read = || -> Result<Option<String>> {
        let close = close.flatten().to_vec::<bool>()?;
        let count = close.iter().filter(|close| !**close).count();
        let Some(first) = close.iter().position(|close| !close) else { return Ok(None) };
        let (mut index, mut remainder) = (vec![0; found.rank()], first);
        for axis in (0..found.rank()).rev() {
            index[axis] = remainder % found.shape()[axis];
            remainder /= found.shape()[axis];
        }
        let element = |x: &Tensor| x.flatten().narrow(0, first, 1).reshape(()).to_string();
        Ok(Some(format!(
            "{count} of {} elements differ, the first at {index:?}: expected {}, found {} (relative tolerance \
             {relative:e}, absolute {absolute:e})",
            close.len(),
            element(&expected),
            element(found),
        )))
    };
    read().unwrap_or_else(|error| Some(error.to_string()))
}

/// Asserts that a tensor has the expected values within a tolerance. Waits for both.
///
/// The expected values are a tensor, a nested array, a vector or a scalar of the same shape; they are cast to the
/// tensor's dtype. The optional arguments are the relative tolerance and the absolute tolerance. Without them, the
/// tolerances are 1e-5 and 1e-8; with the relative tolerance alone, the absolute one is 0. NaN equals NaN here.
///
/// # Panics
/// If the values differ, with the number of different elements and the first of them; or if reading them fails.
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
