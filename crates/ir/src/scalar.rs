//! Host element types, and scalars of a run-time dtype.

use crate::{DType, DTypeClass, elementwise::CombineOp};
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;
use std::fmt;

/// A Rust type that is the host representation of a [`DType`].
///
/// Sealed: exactly the types whose layout the runtime knows implement it.
pub trait Element:
    Item + Copy + Send + Sync + PartialEq + fmt::Debug + Default + private::Sealed + 'static
{
    /// The dtype that this type represents.
    const DTYPE: DType;
    /// This value with its dtype.
    fn to_scalar(self) -> Scalar;
    /// The value of a scalar, converted as [`Scalar::cast`] does.
    fn from_scalar(scalar: Scalar) -> Self;
}

/// A Rust type that one element of a tensor can be read as: every [`Element`] type, and `usize` and `isize`, which read
/// any integer dtype.
#[diagnostic::on_unimplemented(
    message = "a tensor's element cannot be read as `{Self}`",
    note = "expected `bool`, an integer, `f16`, `bf16`, `f32`, `f64` or a complex type"
)]
pub trait Item: Sized + private::Sealed {
    /// The dtype that an error asks for.
    #[doc(hidden)]
    const EXPECTED: DType;
    /// Whether an element of this dtype can be read.
    #[doc(hidden)]
    fn reads(dtype: DType) -> bool;
    /// The element, of a dtype that can be read. `None` if this type has no such value.
    #[doc(hidden)]
    fn from_element(element: Scalar) -> Option<Self>;
}

mod private {
    pub trait Sealed {}
}

macro_rules! sizes {
    ($($type:ty: $dtype:ident),*) => {$(
        impl private::Sealed for $type {}
        impl Item for $type {
            const EXPECTED: DType = DType::$dtype;
            fn reads(dtype: DType) -> bool {
                dtype.is_integer()
            }
            fn from_element(element: Scalar) -> Option<$type> {
                match element.dtype {
                    DType::U64 => u64::from_scalar(element).try_into().ok(),
                    _ => i64::from_scalar(element).try_into().ok(),
                }
            }
        }
    )*};
}

sizes!(usize: U64, isize: I64);

/// A value of any dtype, by its bits in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    dtype: DType,
    /// The value's bytes, little-endian, zero-extended. Two words, for the parts of a `complex128`.
    bits: [u64; 2],
}

macro_rules! element {
    ($type:ty, $dtype:ident, $from_bits:expr, $to_bits:expr) => {
        impl private::Sealed for $type {}
        impl Item for $type {
            const EXPECTED: DType = DType::$dtype;
            fn reads(dtype: DType) -> bool {
                dtype == DType::$dtype
            }
            fn from_element(element: Scalar) -> Option<$type> {
                Some(<$type>::from_scalar(element))
            }
        }
        impl Element for $type {
            const DTYPE: DType = DType::$dtype;
            fn to_scalar(self) -> Scalar {
                Scalar { dtype: DType::$dtype, bits: $to_bits(self) }
            }
            fn from_scalar(scalar: Scalar) -> $type {
                $from_bits(scalar.cast(DType::$dtype).bits)
            }
        }
        impl From<$type> for Scalar {
            fn from(value: $type) -> Scalar {
                value.to_scalar()
            }
        }
    };
}

element!(bool, Bool, |bits: [u64; 2]| bits[0] != 0, |value| [value as u64, 0]);
element!(i8, I8, |bits: [u64; 2]| bits[0] as i8, |value| [value as u8 as u64, 0]);
element!(i16, I16, |bits: [u64; 2]| bits[0] as i16, |value| [value as u16 as u64, 0]);
element!(i32, I32, |bits: [u64; 2]| bits[0] as i32, |value| [value as u32 as u64, 0]);
element!(i64, I64, |bits: [u64; 2]| bits[0] as i64, |value| [value as u64, 0]);
element!(u8, U8, |bits: [u64; 2]| bits[0] as u8, |value| [value as u64, 0]);
element!(u16, U16, |bits: [u64; 2]| bits[0] as u16, |value| [value as u64, 0]);
element!(u32, U32, |bits: [u64; 2]| bits[0] as u32, |value| [value as u64, 0]);
element!(u64, U64, |bits: [u64; 2]| bits[0], |value| [value, 0]);
element!(f16, F16, |bits: [u64; 2]| f16::from_bits(bits[0] as u16), |value: f16| [
    value.to_bits() as u64,
    0
]);
element!(bf16, BF16, |bits: [u64; 2]| bf16::from_bits(bits[0] as u16), |value: bf16| [
    value.to_bits() as u64,
    0
]);
element!(f32, F32, |bits: [u64; 2]| f32::from_bits(bits[0] as u32), |value: f32| [
    value.to_bits() as u64,
    0
]);
element!(f64, F64, |bits: [u64; 2]| f64::from_bits(bits[0]), |value: f64| [value.to_bits(), 0]);
element!(
    Complex<f32>,
    C64,
    |bits: [u64; 2]| Complex::new(
        f32::from_bits(bits[0] as u32),
        f32::from_bits((bits[0] >> 32) as u32)
    ),
    |value: Complex<f32>| [value.re.to_bits() as u64 | (value.im.to_bits() as u64) << 32, 0]
);
element!(
    Complex<f64>,
    C128,
    |bits: [u64; 2]| Complex::new(f64::from_bits(bits[0]), f64::from_bits(bits[1])),
    |value: Complex<f64>| [value.re.to_bits(), value.im.to_bits()]
);

/// A value of a type that is wide enough for any dtype of its class. Every conversion goes through it.
#[derive(Clone, Copy)]
enum Wide {
    Integer(i128),
    Float(f64),
    Complex(Complex<f64>),
}

impl Scalar {
    /// The value's dtype.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// The value's bytes as two little-endian words, zero-extended.
    pub fn bits(self) -> [u64; 2] {
        self.bits
    }

    /// The value of this dtype with these bytes; bytes beyond the dtype's size are dropped.
    pub fn from_bits(dtype: DType, bits: [u64; 2]) -> Scalar {
        let bits = match dtype.size() {
            16 => bits,
            8 => [bits[0], 0],
            size => [bits[0] & ((1 << (8 * size)) - 1), 0],
        };
        Scalar { dtype, bits }
    }

    /// The value's bytes in memory; the first `dtype.size()` of them count.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.bits[0].to_le_bytes());
        bytes[8..].copy_from_slice(&self.bits[1].to_le_bytes());
        bytes
    }

    /// The value of this dtype at the start of `bytes`.
    ///
    /// # Panics
    /// If there are fewer than `dtype.size()` bytes.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Scalar {
        let mut all = [0; 16];
        all[..dtype.size()].copy_from_slice(&bytes[..dtype.size()]);
        let word =
            |i: usize| u64::from_le_bytes(all[8 * i..8 * i + 8].try_into().expect("8 bytes"));
        Scalar { dtype, bits: [word(0), word(1)] }
    }

    /// Zero of this dtype; `false`.
    pub fn zero(dtype: DType) -> Scalar {
        Scalar { dtype, bits: [0, 0] }
    }

    /// One of this dtype; `true`.
    pub fn one(dtype: DType) -> Scalar {
        1u8.to_scalar().cast(dtype)
    }

    /// The smallest value: −∞ for floats, `false` for `bool`; undefined (zero) for complex.
    pub fn lowest(dtype: DType) -> Scalar {
        match dtype.class() {
            DTypeClass::Bool | DTypeClass::Unsigned | DTypeClass::Complex => Scalar::zero(dtype),
            DTypeClass::Signed => Scalar::from_bits(dtype, [1 << (8 * dtype.size() - 1), 0]),
            DTypeClass::Float => f64::NEG_INFINITY.to_scalar().cast(dtype),
        }
    }

    /// The largest value: +∞ for floats, `true` for `bool`; undefined (zero) for complex.
    pub fn highest(dtype: DType) -> Scalar {
        match dtype.class() {
            DTypeClass::Bool => true.to_scalar(),
            DTypeClass::Unsigned => Scalar::from_bits(dtype, [u64::MAX, 0]),
            DTypeClass::Signed => Scalar::from_bits(dtype, [(1 << (8 * dtype.size() - 1)) - 1, 0]),
            DTypeClass::Float => f64::INFINITY.to_scalar().cast(dtype),
            DTypeClass::Complex => Scalar::zero(dtype),
        }
    }

    /// The identity element of a combining op.
    pub fn identity(op: CombineOp, dtype: DType) -> Scalar {
        match op {
            CombineOp::Sum | CombineOp::Or | CombineOp::Xor => Scalar::zero(dtype),
            CombineOp::Product => Scalar::one(dtype),
            CombineOp::Min => Scalar::highest(dtype),
            CombineOp::Max => Scalar::lowest(dtype),
            CombineOp::And => match dtype {
                DType::Bool => true.to_scalar(),
                _ => Scalar::from_bits(dtype, [u64::MAX, 0]),
            },
        }
    }

    /// The value converted, as a cast of a tensor converts it: integers wrap, floats round to
    /// nearest even, floats to integers truncate and saturate with NaN as 0, anything but zero is
    /// `true`, and a complex number drops its imaginary part.
    pub fn cast(self, dtype: DType) -> Scalar {
        if self.dtype == dtype {
            return self;
        }
        let wide = self.widen();
        let float = match wide {
            Wide::Integer(value) => value as f64,
            Wide::Float(value) => value,
            Wide::Complex(value) => value.re,
        };
        let bits = |bits: u64| Scalar::from_bits(dtype, [bits, 0]);
        match (dtype.class(), wide) {
            (DTypeClass::Bool, Wide::Integer(value)) => (value != 0).to_scalar(),
            (DTypeClass::Bool, Wide::Float(value)) => (value != 0.0).to_scalar(),
            (DTypeClass::Bool, Wide::Complex(value)) => {
                (value.re != 0.0 || value.im != 0.0).to_scalar()
            }
            (DTypeClass::Signed | DTypeClass::Unsigned, Wide::Integer(value)) => bits(value as u64),
            (DTypeClass::Signed, _) => {
                let limit = 8 * dtype.size() as u32 - 1;
                let value = (float as i64).clamp(-1 << limit, i64::MAX >> (63 - limit));
                bits(value as u64)
            }
            (DTypeClass::Unsigned, _) => {
                bits((float as u64).min(u64::MAX >> (64 - 8 * dtype.size() as u32)))
            }
            (DTypeClass::Float, wide) => match dtype {
                DType::F64 => float.to_scalar(),
                // Convert directly from the integer or double, so that the value rounds once.
                DType::F32 => match wide {
                    Wide::Integer(value) => (value as f32).to_scalar(),
                    _ => (float as f32).to_scalar(),
                },
                DType::F16 => f16::from_f32(round_to_odd(wide, float)).to_scalar(),
                _ => bf16::from_f32(round_to_odd(wide, float)).to_scalar(),
            },
            (DTypeClass::Complex, wide) => {
                let value = match wide {
                    Wide::Complex(value) => value,
                    _ => Complex::new(float, 0.0),
                };
                match dtype {
                    DType::C64 => Complex::new(value.re as f32, value.im as f32).to_scalar(),
                    _ => value.to_scalar(),
                }
            }
        }
    }

    /// The value as an `f64`, rounded if need be; a complex number's real part.
    pub fn to_f64(self) -> f64 {
        f64::from_scalar(self)
    }

    /// The value as an `i64`, converted as [`Scalar::cast`] does.
    pub fn to_i64(self) -> i64 {
        i64::from_scalar(self)
    }

    fn widen(self) -> Wide {
        let word = self.bits[0];
        match self.dtype {
            DType::Bool | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                Wide::Integer(word as i128)
            }
            DType::I8 => Wide::Integer(word as i8 as i128),
            DType::I16 => Wide::Integer(word as i16 as i128),
            DType::I32 => Wide::Integer(word as i32 as i128),
            DType::I64 => Wide::Integer(word as i64 as i128),
            DType::F16 => Wide::Float(f16::from_bits(word as u16).to_f64()),
            DType::BF16 => Wide::Float(bf16::from_bits(word as u16).to_f64()),
            DType::F32 => Wide::Float(f32::from_bits(word as u32) as f64),
            DType::F64 => Wide::Float(f64::from_bits(word)),
            DType::C64 => Wide::Complex(Complex::new(
                f32::from_bits(word as u32) as f64,
                f32::from_bits((word >> 32) as u32) as f64,
            )),
            DType::C128 => {
                Wide::Complex(Complex::new(f64::from_bits(word), f64::from_bits(self.bits[1])))
            }
        }
    }
}

/// Converts to an `f32` that rounds to a 16-bit float exactly as the value itself does: round to odd. An inexact
/// value is truncated towards zero and its last bit is set (sticky), so that it is never mistaken for a tie.
fn round_to_odd(wide: Wide, float: f64) -> f32 {
    let (single, order) = match wide {
        // The range of `f32` covers every integer dtype, so the conversion back is exact.
        Wide::Integer(value) => {
            let single = value as f32;
            (single, (single as i128).abs().cmp(&value.abs()))
        }
        _ => {
            let single = float as f32;
            match (single as f64).abs().partial_cmp(&float.abs()) {
                Some(order) => (single, order),
                None => return single,
            }
        }
    };
    match order {
        Ordering::Equal => single,
        // A value that overflows `f32` also overflows every 16-bit float.
        _ if single.is_infinite() => single,
        Ordering::Less => f32::from_bits(single.to_bits() | 1),
        Ordering::Greater => f32::from_bits((single.to_bits() - 1) | 1),
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.dtype, self.widen()) {
            (DType::Bool, _) => fmt::Display::fmt(&(self.bits[0] != 0), f),
            (_, Wide::Integer(value)) => fmt::Display::fmt(&value, f),
            (DType::F64, Wide::Float(value)) => fmt::Debug::fmt(&value, f),
            (_, Wide::Float(value)) => fmt::Debug::fmt(&(value as f32), f),
            (_, Wide::Complex(value)) => write!(f, "({:?}, {:?})", value.re, value.im),
        }
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}{}", self.dtype)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_follow_the_documented_rules() {
        assert_eq!(300i32.to_scalar().cast(DType::U8), 44u8.to_scalar());
        assert_eq!((-1i8).to_scalar().cast(DType::U64), u64::MAX.to_scalar());
        assert_eq!(f32::NAN.to_scalar().cast(DType::I32), 0i32.to_scalar());
        assert_eq!(1e10f32.to_scalar().cast(DType::I32), i32::MAX.to_scalar());
        assert_eq!((-1e10f32).to_scalar().cast(DType::I8), i8::MIN.to_scalar());
        assert_eq!((-1.5f64).to_scalar().cast(DType::U16), 0u16.to_scalar());
        assert_eq!(0.5f32.to_scalar().cast(DType::Bool), true.to_scalar());
        assert_eq!(Complex::new(2.5f32, 9.0).to_scalar().cast(DType::F64), 2.5f64.to_scalar());
        assert_eq!(u64::MAX.to_scalar().cast(DType::F32), (u64::MAX as f32).to_scalar());
        assert_eq!((1u64 << 40).to_scalar().cast(DType::I32), 0i32.to_scalar());
    }

    #[test]
    fn casts_to_16_bit_floats_round_once() {
        // A bit 2^-40 next to a tie decides the rounding, though an `f32` cannot hold it.
        let sticky = f64::powi(2.0, -40);
        let half = |value: f64| f16::from_scalar(value.to_scalar()).to_f64();
        let brain = |value: f64| bf16::from_scalar(value.to_scalar()).to_f64();
        let (tie, ulp) = (1.0 + f64::powi(2.0, -11), f64::powi(2.0, -10));
        assert_eq!([half(tie), half(tie + sticky), half(tie - sticky)], [1.0, 1.0 + ulp, 1.0]);
        assert_eq!([half(-tie), half(-tie - sticky)], [-1.0, -1.0 - ulp]);
        let (tie, ulp) = (1.0 + f64::powi(2.0, -8), f64::powi(2.0, -7));
        assert_eq!([brain(tie), brain(tie + sticky), brain(tie - sticky)], [1.0, 1.0 + ulp, 1.0]);
        // The same for integers that an `f64` cannot hold.
        let (tie, ulp) = ((1u64 << 60) + (1 << 52), (1u64 << 53) as f64);
        let integer = |value: u64| bf16::from_scalar(value.to_scalar()).to_f64();
        let base = (1u64 << 60) as f64;
        assert_eq!([integer(tie - 1), integer(tie), integer(tie + 1)], [base, base, base + ulp]);
        assert_eq!(bf16::from_scalar((-(tie as i64) - 1).to_scalar()).to_f64(), -base - ulp);
        // Overflow, subnormals and NaN.
        assert_eq!([half(65519.9), half(65520.0)], [65504.0, f64::INFINITY]);
        assert_eq!([half(1e300), brain(-1e300)], [f64::INFINITY, f64::NEG_INFINITY]);
        assert_eq!(half(f64::powi(2.0, -25) * 1.000001), f64::powi(2.0, -24));
        assert_eq!([half(f64::powi(2.0, -25)), half(1e-300)], [0.0, 0.0]);
        assert!(half(f64::NAN).is_nan() && brain(f64::NAN).is_nan());
    }

    #[test]
    fn the_extremes_of_each_dtype() {
        assert_eq!(Scalar::lowest(DType::I16), i16::MIN.to_scalar());
        assert_eq!(Scalar::highest(DType::I64), i64::MAX.to_scalar());
        assert_eq!(Scalar::highest(DType::U32), u32::MAX.to_scalar());
        assert_eq!(Scalar::lowest(DType::BF16), bf16::NEG_INFINITY.to_scalar());
    }

    #[test]
    fn bytes_round_trip() {
        for dtype in DType::ALL {
            let one = Scalar::one(dtype);
            assert_eq!(Scalar::from_bytes(dtype, &one.to_bytes()), one);
        }
    }
}
