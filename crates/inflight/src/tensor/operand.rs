//! Operands of elementwise ops: a tensor, or a scalar that is converted to the tensor's dtype.

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
/// A scalar takes the dtype of the tensor operand: with an `f32` tensor `x`, both `&x * 2` and `&x * 2.0` are `f32`. A
/// scalar that the dtype cannot represent, such as `2.5` or `300` for `u8`, makes a result that carries an error.
/// Floats are rounded.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tensor nor a scalar",
    note = "operands are `Tensor`, `&Tensor` and scalars such as `2`, `0.5f32` and `true`"
)]
pub trait Operand: sealed::Sealed {}

mod sealed {
    /// Seals [`Operand`](super::Operand): only this crate implements it.
    pub trait Sealed {
        fn operand(&self) -> super::OperandRef<'_>;
    }
}

/// A borrowed operand: a tensor or a scalar.
#[derive(Clone, Copy)]
pub enum OperandRef<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A scalar, to be converted to the other operand's dtype.
    Scalar(Scalar),
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

macro_rules! scalars {
    ($($type:ty),*) => {$(
        impl Operand for $type {}
        impl sealed::Sealed for $type {
            fn operand(&self) -> OperandRef<'_> {
                OperandRef::Scalar(self.to_scalar())
            }
        }
    )*};
}

for_elements!(scalars);

impl Operand for Scalar {}
impl sealed::Sealed for Scalar {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Scalar(*self)
    }
}

impl Operand for usize {}
impl sealed::Sealed for usize {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Scalar((*self as u64).to_scalar())
    }
}

impl Operand for isize {}
impl sealed::Sealed for isize {
    fn operand(&self) -> OperandRef<'_> {
        OperandRef::Scalar((*self as i64).to_scalar())
    }
}

/// Borrows an operand.
pub(super) fn operand_ref<O: Operand>(operand: &O) -> OperandRef<'_> {
    sealed::Sealed::operand(operand)
}

/// Records an elementwise op of a tensor and an operand.
#[track_caller]
pub(super) fn record_binary(op: Op, a: &Tensor, b: OperandRef<'_>) -> Tensor {
    let location = Location::caller();
    match b {
        OperandRef::Tensor(b) => record_at(op, &[a, b], location),
        OperandRef::Scalar(scalar) => match convert_scalar(scalar, a.dtype()) {
            Ok(value) => {
                let b = constant(value, a.device(), location);
                record_at(op, &[a, &b], location)
            }
            Err(message) => scalar_error(&op, message, a, location),
        },
    }
}

/// Records an elementwise op whose left operand is a scalar.
#[track_caller]
pub(super) fn record_scalar_binary(op: Op, a: Scalar, b: &Tensor) -> Tensor {
    let location = Location::caller();
    match convert_scalar(a, b.dtype()) {
        Ok(value) => {
            let a = constant(value, b.device(), location);
            record_at(op, &[&a, b], location)
        }
        Err(message) => scalar_error(&op, message, b, location),
    }
}

/// Converts an operand to a tensor: a scalar becomes a constant of this dtype. The error is the message for a scalar
/// that the dtype cannot represent.
pub(super) fn operand_tensor(
    operand: OperandRef<'_>,
    dtype: DType,
    device: &Device,
    location: &'static Location<'static>,
) -> Result<Tensor, String> {
    match operand {
        OperandRef::Tensor(tensor) => Ok(tensor.clone()),
        OperandRef::Scalar(scalar) => {
            Ok(constant(convert_scalar(scalar, dtype)?, device, location))
        }
    }
}

/// The failed result of an op whose scalar operand the tensor's dtype cannot represent.
fn scalar_error(
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

/// Converts a scalar to a dtype. Float and complex dtypes round; integers and `bool` must be exact, and a complex scalar
/// converts to a real dtype only if it has no imaginary part.
pub(super) fn convert_scalar(scalar: Scalar, dtype: DType) -> Result<Scalar, String> {
    if scalar.dtype() == dtype {
        return Ok(scalar);
    }
    let exact = match dtype.class() {
        DTypeClass::Complex => true,
        DTypeClass::Float => imaginary_part(scalar) == 0.0,
        DTypeClass::Bool | DTypeClass::Signed | DTypeClass::Unsigned => {
            integer_value(scalar).is_some_and(|value| is_in_range(value, dtype))
        }
    };
    match exact {
        true => Ok(scalar.cast(dtype)),
        false => Err(format!(
            "expected a scalar that {dtype} can represent, found {scalar}; use another scalar, or a dtype that can \
             represent it: .cast(DType::…) converts a tensor"
        )),
    }
}

/// The exact integer value of a scalar; `None` if it has a fraction or an imaginary part, or is not finite.
pub(super) fn integer_value(scalar: Scalar) -> Option<i128> {
    match scalar.dtype().class() {
        DTypeClass::Bool | DTypeClass::Unsigned => Some(i128::from(scalar.bits()[0])),
        DTypeClass::Signed => Some(i128::from(scalar.to_i64())),
        DTypeClass::Float | DTypeClass::Complex => {
            let value = scalar.to_f64();
            (value.is_finite() && value.fract() == 0.0 && imaginary_part(scalar) == 0.0)
                .then_some(value as i128)
        }
    }
}

fn imaginary_part(scalar: Scalar) -> f64 {
    match scalar.dtype().is_complex() {
        true => Complex::<f64>::from_scalar(scalar).im,
        false => 0.0,
    }
}

/// Whether an integer or `bool` dtype can represent `value`.
fn is_in_range(value: i128, dtype: DType) -> bool {
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
    fn scalars_convert_to_dtypes_that_represent_them() {
        let fits = |scalar: Scalar, dtype| convert_scalar(scalar, dtype).is_ok();
        assert_eq!(convert_scalar(2.into(), DType::F32), Ok(2.0f32.into()));
        assert_eq!(convert_scalar(0.1f64.into(), DType::F32), Ok(0.1f32.into()));
        assert_eq!(convert_scalar(3.0f64.into(), DType::U8), Ok(3u8.into()));
        assert_eq!(convert_scalar(true.into(), DType::I64), Ok(1i64.into()));
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
