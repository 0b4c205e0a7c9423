//! What stands on the other side of an operator: a tensor, or a number that takes the tensor's dtype.

use super::Tensor;
use super::record::{constant, mistake, record_at};
use crate::lists::for_elements;
use crate::runtime::Device;
use crate::{DType, Element, Scalar, Shape};
use inflight_ir::DTypeClass;
use inflight_ir::graph::{self, Op};
use num_complex::Complex;
use std::panic::Location;

/// A [`Tensor`], a reference to one, or a scalar: any [`Element`] type, `usize`, `isize` or a
/// [`Scalar`] of a run-time dtype.
///
/// A number takes the dtype of the tensor it meets: with an `f32` tensor `x`, both `&x * 2` and
/// `&x * 2.0` are `f32`. One that the dtype has no value for, such as `2.5` or `300` for `u8`, makes a
/// tensor that carries the mistake.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tensor nor a number",
    note = "operands are `Tensor`, `&Tensor` and numbers such as `2`, `0.5f32` and `true`"
)]
pub trait Operand: sealed::Sealed {}

mod sealed {
    /// Keeps [`Operand`](super::Operand) to the types of this crate.
    pub trait Sealed {
        fn operand(&self) -> super::OperandRef<'_>;
    }
}

/// An operand, looked at.
#[derive(Clone, Copy)]
pub enum OperandRef<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A number that takes the tensor's dtype.
    Number(Scalar),
}

impl Operand for Tensor {}
impl sealed::Sealed for Tensor {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Tensor(self)
    }
}

impl<T: Operand + ?Sized> Operand for &T {}
impl<T: Operand + ?Sized> sealed::Sealed for &T {
    fn operand(&self) -> OperandRef<'_> {
        sealed::Sealed::operand(*self)
    }
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl Operand for $type {}
        impl sealed::Sealed for $type {
            fn operand(&self) -> OperandRef<'_> {
                OperandRef::Number(self.to_scalar())
            }
        }
    )*};
}

for_elements!(numbers);

impl Operand for Scalar {}
impl sealed::Sealed for Scalar {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Number(*self)
    }
}

impl Operand for usize {}
impl sealed::Sealed for usize {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Number((*self as u64).to_scalar())
    }
}

impl Operand for isize {}
impl sealed::Sealed for isize {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Number((*self as i64).to_scalar())
    }
}

/// An operand as what it is.
pub(super) fn look<O: Operand>(operand: &O) -> OperandRef<'_> {
    sealed::Sealed::operand(operand)
}

/// Records an elementwise op of a tensor and an operand.
#[track_caller]
pub(super) fn apply(op: Op, a: &Tensor, b: OperandRef<'_>) -> Tensor {
    let location = Location::caller();
    match b {
        OperandRef::Tensor(b) => record_at(op, &[a, b], location),
        OperandRef::Number(number) => match fit(number, a.dtype()) {
            Ok(value) => {
                let b = constant(value, a.device(), location);
                record_at(op, &[a, &b], location)
            }
            Err(message) => unfit(&op, message, a, location),
        },
    }
}

/// Records an elementwise op of a number and a tensor, in this order.
#[track_caller]
pub(super) fn apply_number(op: Op, number: Scalar, b: &Tensor) -> Tensor {
    let location = Location::caller();
    match fit(number, b.dtype()) {
        Ok(value) => {
            let a = constant(value, b.device(), location);
            record_at(op, &[&a, b], location)
        }
        Err(message) => unfit(&op, message, b, location),
    }
}

/// An operand as a tensor of this dtype, or what is wrong with the number.
pub(super) fn materialize(
    operand: OperandRef<'_>,
    dtype: DType,
    device: &Device,
    location: &'static Location<'static>,
) -> Result<Tensor, String> {
    match operand {
        OperandRef::Tensor(tensor) => Ok(tensor.clone()),
        OperandRef::Number(number) => Ok(constant(fit(number, dtype)?, device, location)),
    }
}

fn unfit(
    op: &Op,
    message: String,
    tensor: &Tensor,
    location: &'static Location<'static>,
) -> Tensor {
    let dtype = tensor.dtype();
    let described = [(tensor.shape(), dtype), (&Shape::scalar(), dtype)];
    let (shape, dtype) = graph::plausible(op, &described);
    mistake(op.name(), message, &[tensor], shape, dtype, location)
}

/// The value of a dtype that a number stands for. Floats round; everything else must be exact.
pub(super) fn fit(number: Scalar, dtype: DType) -> Result<Scalar, String> {
    if number.dtype() == dtype {
        return Ok(number);
    }
    let exact = match dtype.class() {
        DTypeClass::Complex => true,
        DTypeClass::Float => imaginary(number) == 0.0,
        DTypeClass::Bool | DTypeClass::Signed | DTypeClass::Unsigned => {
            whole(number).is_some_and(|value| in_range(value, dtype))
        }
    };
    match exact {
        true => Ok(number.cast(dtype)),
        false => Err(format!(
            "the number {number} is not a value of {dtype}; cast the tensor to a dtype that has it"
        )),
    }
}

/// The number as an integer, if it is whole.
pub(super) fn whole(number: Scalar) -> Option<i128> {
    match number.dtype().class() {
        DTypeClass::Bool | DTypeClass::Unsigned => Some(i128::from(number.bits()[0])),
        DTypeClass::Signed => Some(i128::from(number.to_i64())),
        DTypeClass::Float | DTypeClass::Complex => {
            let value = number.to_f64();
            (value.is_finite() && value.fract() == 0.0 && imaginary(number) == 0.0)
                .then_some(value as i128)
        }
    }
}

fn imaginary(number: Scalar) -> f64 {
    match number.dtype().is_complex() {
        true => Complex::<f64>::from_scalar(number).im,
        false => 0.0,
    }
}

fn in_range(value: i128, dtype: DType) -> bool {
    let bits = 8 * dtype.size() as u32;
    match dtype.class() {
        DTypeClass::Bool => (0..=1).contains(&value),
        DTypeClass::Signed => (-(1i128 << (bits - 1))..1i128 << (bits - 1)).contains(&value),
        _ => (0..1i128 << bits).contains(&value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_where_they_have_a_value() {
        let fits = |number: Scalar, dtype| fit(number, dtype).is_ok();
        assert_eq!(fit(2.into(), DType::F32), Ok(2.0f32.into()));
        assert_eq!(fit(0.1f64.into(), DType::F32), Ok(0.1f32.into()));
        assert_eq!(fit(3.0f64.into(), DType::U8), Ok(3u8.into()));
        assert_eq!(fit(true.into(), DType::I64), Ok(1i64.into()));
        assert!(!fits(2.5f64.into(), DType::I32));
        assert!(!fits(300i32.into(), DType::U8));
        assert!(!fits((-1i32).into(), DType::U32));
        assert!(!fits(u64::MAX.into(), DType::I64));
        assert!(!fits(2.into(), DType::Bool));
        assert!(fits(1.into(), DType::Bool));
        assert!(!fits(f64::NAN.into(), DType::I32) && fits(f64::NAN.into(), DType::F16));
        assert!(!fits(Complex::new(1.0f32, 1.0).into(), DType::F32));
        assert!(fits(Complex::new(1.0f32, 0.0).into(), DType::F32));
        assert!(fits(i64::MIN.into(), DType::I64) && !fits(1e20f64.into(), DType::I64));
    }
}
