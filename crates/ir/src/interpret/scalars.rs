//! Scalar semantics of the elementwise ops.
//!
//! Integers are computed in 128 bits and wrapped; floats and complex numbers are computed in double precision and
//! rounded once to their dtype. Every function panics on a dtype that its op does not accept;
//! [`infer`](crate::graph::infer) rejects these before.

use super::complex;
use super::double_double::{DoubleDouble, RealArithmetic};
use crate::elementwise::{BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{DType, DTypeClass, Element, Scalar};
use num_complex::Complex;

/// Applies a unary op.
///
/// # Panics
/// If the op does not accept the value's dtype.
pub fn scalar_unary(op: UnaryOp, x: Scalar) -> Scalar {
    let dtype = x.dtype();
    match dtype.class() {
        DTypeClass::Bool => match op {
            UnaryOp::Not => (!bool::from_scalar(x)).to_scalar(),
            _ => unsupported_dtype(op.name(), dtype),
        },
        DTypeClass::Signed | DTypeClass::Unsigned => match op {
            UnaryOp::IsNan => false.to_scalar(),
            UnaryOp::IsFinite => true.to_scalar(),
            _ => wrap(dtype, integer_unary(op, x)),
        },
        DTypeClass::Float => match op {
            UnaryOp::IsNan => x.to_f64().is_nan().to_scalar(),
            UnaryOp::IsFinite => x.to_f64().is_finite().to_scalar(),
            _ => round(dtype, float_unary(op, dtype, x.to_f64())),
        },
        DTypeClass::Complex => {
            let z = Complex::<f64>::from_scalar(x);
            match op {
                UnaryOp::IsNan => z.is_nan().to_scalar(),
                UnaryOp::IsFinite => z.is_finite().to_scalar(),
                UnaryOp::Abs => round(dtype.real(), z.re.hypot(z.im)),
                UnaryOp::Real => round(dtype.real(), z.re),
                UnaryOp::Imag => round(dtype.real(), z.im),
                // The result has half the precision of `f64`.
                _ if dtype == DType::C64 => {
                    complex_unary::<f64>(op, dtype, z).to_scalar().cast(dtype)
                }
                _ => complex_unary::<DoubleDouble>(op, dtype, z).to_scalar().cast(dtype),
            }
        }
    }
}

/// Applies a binary op to two values of one dtype.
///
/// # Panics
/// If the dtypes differ or the op does not accept them.
pub fn scalar_binary(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    let dtype = a.dtype();
    assert_eq!(dtype, b.dtype(), "{} of two dtypes", op.name());
    match dtype.class() {
        DTypeClass::Bool => {
            let (a, b) = (bool::from_scalar(a), bool::from_scalar(b));
            let result = match op {
                BinaryOp::Add | BinaryOp::Max | BinaryOp::Or => a | b,
                BinaryOp::Mul | BinaryOp::Min | BinaryOp::And => a & b,
                BinaryOp::Xor => a ^ b,
                _ => unsupported_dtype(op.name(), dtype),
            };
            result.to_scalar()
        }
        DTypeClass::Signed | DTypeClass::Unsigned => {
            wrap(dtype, integer_binary(op, dtype, integer_value(a), integer_value(b)))
        }
        DTypeClass::Float if op == BinaryOp::Complex => match dtype {
            DType::F32 => Complex::new(f32::from_scalar(a), f32::from_scalar(b)).to_scalar(),
            DType::F64 => Complex::new(f64::from_scalar(a), f64::from_scalar(b)).to_scalar(),
            _ => unsupported_dtype(op.name(), dtype),
        },
        DTypeClass::Float => round(dtype, float_binary(op, dtype, a.to_f64(), b.to_f64())),
        DTypeClass::Complex => {
            let (a, b) = (Complex::<f64>::from_scalar(a), Complex::<f64>::from_scalar(b));
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Sub => a - b,
                BinaryOp::Mul => a * b,
                BinaryOp::Div if dtype == DType::C64 => complex::divide::<f64>(a, b),
                BinaryOp::Div => complex::divide::<DoubleDouble>(a, b),
                BinaryOp::Pow => complex::pow(a, b),
                _ => unsupported_dtype(op.name(), dtype),
            };
            result.to_scalar().cast(dtype)
        }
    }
}

/// Compares two values of one dtype.
///
/// # Panics
/// If the dtypes differ or the comparison does not accept them.
pub fn scalar_compare(op: CompareOp, a: Scalar, b: Scalar) -> bool {
    assert_eq!(a.dtype(), b.dtype(), "{} of two dtypes", op.name());
    let ordering = match a.dtype().class() {
        DTypeClass::Bool | DTypeClass::Signed | DTypeClass::Unsigned => {
            Some(integer_value(a).cmp(&integer_value(b)))
        }
        DTypeClass::Float => a.to_f64().partial_cmp(&b.to_f64()),
        DTypeClass::Complex => {
            let equal = Complex::<f64>::from_scalar(a) == Complex::<f64>::from_scalar(b);
            return match op {
                CompareOp::Eq => equal,
                CompareOp::Ne => !equal,
                _ => unsupported_dtype(op.name(), a.dtype()),
            };
        }
    };
    match op {
        CompareOp::Eq => ordering.is_some_and(|ordering| ordering.is_eq()),
        CompareOp::Ne => ordering.is_none_or(|ordering| ordering.is_ne()),
        CompareOp::Lt => ordering.is_some_and(|ordering| ordering.is_lt()),
        CompareOp::Le => ordering.is_some_and(|ordering| ordering.is_le()),
        CompareOp::Gt => ordering.is_some_and(|ordering| ordering.is_gt()),
        CompareOp::Ge => ordering.is_some_and(|ordering| ordering.is_ge()),
    }
}

/// Combines two values with a reduction's op, rounded to their dtype.
///
/// # Panics
/// If the dtypes differ or the op does not accept them.
pub fn scalar_combine(op: CombineOp, a: Scalar, b: Scalar) -> Scalar {
    scalar_binary(op.binary(), a, b)
}

/// The value of an integer or `bool`.
pub(super) fn integer_value(x: Scalar) -> i128 {
    let unused = 64 - 8 * x.dtype().size() as u32;
    match x.dtype().class() {
        DTypeClass::Signed => ((x.bits()[0] << unused) as i64 >> unused) as i128,
        _ => x.bits()[0] as i128,
    }
}

fn wrap(dtype: DType, value: i128) -> Scalar {
    Scalar::from_bits(dtype, [value as u64, 0])
}

fn round(dtype: DType, value: f64) -> Scalar {
    value.to_scalar().cast(dtype)
}

fn unsupported_dtype(name: &str, dtype: DType) -> ! {
    panic!("{name} does not accept {dtype}")
}

fn integer_unary(op: UnaryOp, scalar: Scalar) -> i128 {
    let x = integer_value(scalar);
    let bits = scalar.bits()[0];
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign => x.signum(),
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => x,
        UnaryOp::Not => !x,
        UnaryOp::PopulationCount => bits.count_ones() as i128,
        UnaryOp::LeadingZeros => {
            (bits.leading_zeros() - (64 - 8 * scalar.dtype().size() as u32)) as i128
        }
        _ => unsupported_dtype(op.name(), scalar.dtype()),
    }
}

fn integer_binary(op: BinaryOp, dtype: DType, a: i128, b: i128) -> i128 {
    let bits = 8 * dtype.size() as i128;
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div if b == 0 => -1,
        BinaryOp::Div => a / b,
        BinaryOp::Rem if b == 0 => a,
        BinaryOp::Rem => a % b,
        BinaryOp::Pow => integer_power(a, b),
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::ShiftLeft if (0..bits).contains(&b) => a << b,
        BinaryOp::ShiftLeft => 0,
        BinaryOp::ShiftRight if (0..bits).contains(&b) => a >> b,
        BinaryOp::ShiftRight => a >> 127,
        BinaryOp::ShiftRightLogical if (0..bits).contains(&b) => (a & ((1 << bits) - 1)) >> b,
        BinaryOp::ShiftRightLogical => 0,
        BinaryOp::Atan2 | BinaryOp::Complex => unsupported_dtype(op.name(), dtype),
    }
}

fn integer_power(base: i128, exponent: i128) -> i128 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 => 1 - 2 * (exponent & 1),
            _ => 0,
        };
    }
    let (mut result, mut square, mut remaining) = (1i128, base, exponent);
    while remaining > 0 {
        if remaining & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        remaining >>= 1;
    }
    result
}

fn float_unary(op: UnaryOp, dtype: DType, x: f64) -> f64 {
    match op {
        UnaryOp::Neg => -x,
        UnaryOp::Abs => x.abs(),
        UnaryOp::Sign if x.is_nan() || x == 0.0 => x,
        UnaryOp::Sign => x.signum(),
        UnaryOp::Floor => x.floor(),
        UnaryOp::Ceil => x.ceil(),
        UnaryOp::Round => x.round_ties_even(),
        UnaryOp::Exp => x.exp(),
        UnaryOp::Exp2 => x.exp2(),
        UnaryOp::Expm1 => x.exp_m1(),
        UnaryOp::Log => x.ln(),
        UnaryOp::Log2 => x.log2(),
        UnaryOp::Log1p => x.ln_1p(),
        UnaryOp::Sqrt => x.sqrt(),
        UnaryOp::Rsqrt => 1.0 / x.sqrt(),
        UnaryOp::Cbrt => x.cbrt(),
        UnaryOp::Sin => x.sin(),
        UnaryOp::Cos => x.cos(),
        UnaryOp::Tan => x.tan(),
        UnaryOp::Asin => x.asin(),
        UnaryOp::Acos => x.acos(),
        UnaryOp::Atan => x.atan(),
        UnaryOp::Sinh => x.sinh(),
        UnaryOp::Cosh => x.cosh(),
        UnaryOp::Tanh => x.tanh(),
        // The standard library's inverse hyperbolic functions are inaccurate near 0 and 1.
        UnaryOp::Asinh => libm::asinh(x),
        // `libm::acosh` does not return NaN for large negative arguments.
        UnaryOp::Acosh if x < 1.0 => f64::NAN,
        UnaryOp::Acosh => libm::acosh(x),
        UnaryOp::Atanh => libm::atanh(x),
        UnaryOp::Sigmoid if x >= 0.0 => 1.0 / (1.0 + (-x).exp()),
        UnaryOp::Sigmoid => x.exp() / (1.0 + x.exp()),
        UnaryOp::Erf => libm::erf(x),
        UnaryOp::Real | UnaryOp::Conj => x,
        UnaryOp::Imag => 0.0,
        UnaryOp::Not
        | UnaryOp::IsNan
        | UnaryOp::IsFinite
        | UnaryOp::PopulationCount
        | UnaryOp::LeadingZeros => unsupported_dtype(op.name(), dtype),
    }
}

fn float_binary(op: BinaryOp, dtype: DType, a: f64, b: f64) -> f64 {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        BinaryOp::Rem => a % b,
        BinaryOp::Pow => a.powf(b),
        BinaryOp::Min | BinaryOp::Max if a.is_nan() || b.is_nan() => f64::NAN,
        // −0 is smaller than +0, as in IEEE 754 minimum and maximum.
        BinaryOp::Min if a < b || (a == b && a.is_sign_negative()) => a,
        BinaryOp::Min => b,
        BinaryOp::Max if a > b || (a == b && a.is_sign_positive()) => a,
        BinaryOp::Max => b,
        BinaryOp::Atan2 => a.atan2(b),
        _ => unsupported_dtype(op.name(), dtype),
    }
}

fn complex_unary<T: RealArithmetic>(op: UnaryOp, dtype: DType, z: Complex<f64>) -> Complex<f64> {
    match op {
        UnaryOp::Neg => -z,
        UnaryOp::Sign => complex::sign::<T>(z),
        UnaryOp::Exp => complex::exp(z),
        UnaryOp::Exp2 => complex::exp2(z),
        UnaryOp::Expm1 => complex::exp_m1(z),
        UnaryOp::Log => complex::ln::<T>(z),
        UnaryOp::Log2 => complex::ln::<T>(z) / std::f64::consts::LN_2,
        UnaryOp::Log1p => complex::ln_1p::<T>(z),
        UnaryOp::Sqrt => complex::sqrt::<T>(z),
        UnaryOp::Rsqrt => complex::rsqrt::<T>(z),
        UnaryOp::Sin => complex::sin(z),
        UnaryOp::Cos => complex::cos(z),
        UnaryOp::Tan => complex::tan::<T>(z),
        UnaryOp::Asin => complex::asin::<T>(z),
        UnaryOp::Acos => complex::acos::<T>(z),
        UnaryOp::Atan => complex::atan::<T>(z),
        UnaryOp::Sinh => complex::sinh(z),
        UnaryOp::Cosh => complex::cosh(z),
        UnaryOp::Tanh => complex::tanh::<T>(z),
        UnaryOp::Asinh => complex::asinh::<T>(z),
        UnaryOp::Acosh => complex::acosh::<T>(z),
        UnaryOp::Atanh => complex::atanh::<T>(z),
        UnaryOp::Sigmoid => complex::sigmoid(z),
        UnaryOp::Conj => z.conj(),
        _ => unsupported_dtype(op.name(), dtype),
    }
}

#[cfg(test)]
mod tests;
