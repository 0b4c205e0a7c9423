//! Power and cube root.

use super::Builder;
use super::logarithm::{Decomposed, decompose};
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::Value;
use crate::{DType, Element};

/// Adding this rounds an `f64` to an integer and leaves it in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// log₂((1 + s)/(1 − s))/s as a polynomial of s².
const LOG2: [f64; 5] = [
    0.3407272578404674,
    0.4116728755783706,
    0.5770835822272281,
    0.9617966733581501,
    2.885390081790064,
];
/// 2ʳ, |r| ≤ ½.
const EXP2: [f64; 8] = [
    1.5196154098787024e-05,
    0.00015466756481955486,
    0.0013333935065965754,
    0.009618038131427148,
    0.055504103659776434,
    0.24022651066566617,
    0.6931471807045368,
    1.0,
];

/// xʸ as 2^(y·log₂|x|) in `f64`, or as multiplications for a small constant y.
pub(in crate::kernel) fn pow(b: &mut Builder, x: Value, y: Value) -> Value {
    if let Some(exponent) = b.as_constant(y)
        && let Some(result) = pow_of_constant(b, x, f32::from_scalar(exponent))
    {
        return result;
    }
    let magnitude = b.abs(x);
    let log = log2_f64(b, magnitude);
    let exponent = b.cast(y, DType::F64);
    // Clamp to a finite exponent, since 0 · ∞ would be NaN for |x| = 1.
    let exponent = clamped(b, exponent, 2f64.powi(100));
    let exponent = b.mul(exponent, log);
    let exponent = clamped(b, exponent, 300.0);
    let result = exp2_f64(b, exponent);
    let result = b.cast(result, DType::F32);

    let (zero, one, half) = (b.f32(0.0), b.f32(1.0), b.f32(0.5));
    let (infinity, nan) = (b.f32(f32::INFINITY), b.f32(f32::NAN));
    let is_integer = is_integer(b, y);
    // A negative finite base has real powers for integer exponents only.
    let root = b.choose(x, CompareOp::Lt, zero, nan, result);
    let root = b.choose(magnitude, CompareOp::Lt, infinity, root, result);
    let result = b.select(is_integer, result, root);
    // An odd power has the sign of x.
    let signed = b.with_sign_of(result, x);
    let halved = b.mul(y, half);
    let floor = b.unary(UnaryOp::Floor, halved);
    let odd = b.choose(floor, CompareOp::Ne, halved, signed, result);
    let result = b.select(is_integer, odd, result);
    let result = b.choose(y, CompareOp::Eq, zero, one, result);
    b.choose(x, CompareOp::Eq, one, one, result)
}

/// Powers for which a few multiplications are equally accurate, and correct at zeros and infinities.
fn pow_of_constant(b: &mut Builder, x: Value, y: f32) -> Option<Value> {
    let inverse = |b: &mut Builder| {
        let one = b.f32(1.0);
        b.div(one, x)
    };
    Some(match y {
        0.0 => b.f32(1.0),
        0.5 => {
            let root = b.sqrt(x);
            // pow(−0, ½) is +0 and pow(−∞, ½) is ∞, unlike the square root.
            let (zero, infinity) = (b.f32(0.0), b.f32(f32::INFINITY));
            let root = b.add(root, zero);
            let lowest = b.f32(f32::NEG_INFINITY);
            b.choose(x, CompareOp::Eq, lowest, infinity, root)
        }
        1.0 => x,
        2.0 => b.mul(x, x),
        3.0 => {
            let square = b.mul(x, x);
            b.mul(square, x)
        }
        4.0 => {
            let square = b.mul(x, x);
            b.mul(square, square)
        }
        -1.0 => inverse(b),
        -2.0 => {
            let inverse = inverse(b);
            b.mul(inverse, inverse)
        }
        _ => return None,
    })
}

fn is_integer(b: &mut Builder, x: Value) -> Value {
    let floor = b.unary(UnaryOp::Floor, x);
    b.compare(CompareOp::Eq, floor, x)
}

/// Clamps an `f64` to ±limit; NaN stays NaN.
fn clamped(b: &mut Builder, x: Value, limit: f64) -> Value {
    let (low, high) = (b.f64(-limit), b.f64(limit));
    let x = b.binary(BinaryOp::Min, x, high);
    b.binary(BinaryOp::Max, x, low)
}

/// log₂ of a non-negative `f32`, as an `f64` accurate to about 37 bits.
fn log2_f64(b: &mut Builder, x: Value) -> Value {
    let Decomposed { exponent, mantissa, .. } = decompose(b, x);
    let exponent = b.cast(exponent, DType::F64);
    let mantissa = b.cast(mantissa, DType::F64);
    let one = b.f64(1.0);
    let numerator = b.sub(mantissa, one);
    let denominator = b.add(mantissa, one);
    let ratio = b.div(numerator, denominator);
    let square = b.mul(ratio, ratio);
    let sum = b.polynomial_f64(square, &LOG2);
    let result = b.fma(sum, ratio, exponent);
    let (infinity, smallest) = (b.f32(f32::INFINITY), b.f32(f32::MIN_POSITIVE));
    let wide = b.cast(x, DType::F64);
    let result = b.choose(x, CompareOp::Lt, infinity, result, wide);
    let minus_infinity = b.f64(f64::NEG_INFINITY);
    b.choose(x, CompareOp::Lt, smallest, minus_infinity, result)
}

/// 2ˣ for an `f64` between −1000 and 1000, accurate to about 34 bits.
fn exp2_f64(b: &mut Builder, x: Value) -> Value {
    let rounding = b.f64(ROUNDING);
    let shifted = b.add(x, rounding);
    let k = b.sub(shifted, rounding);
    let rest = b.sub(x, k);
    let sum = b.polynomial_f64(rest, &EXP2);
    let bits = b.bitcast(shifted, DType::I64);
    let (shift, bias) = (b.i64(52), b.i64(1023 << 52));
    let bits = b.binary(BinaryOp::ShiftLeft, bits, shift);
    let bits = b.add(bits, bias);
    let power = b.bitcast(bits, DType::F64);
    b.mul(sum, power)
}

/// Cube root: an initial z ≈ |x|^−⅓ from a third of the bits of x, one fourth-order iteration, then one Newton step
/// on |x|·z².
pub(super) fn cbrt(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let bits = b.bitcast(magnitude, DType::I32);
    let bits = b.cast(bits, DType::F32);
    let (minus_third, origin) = (b.f32(-1.0 / 3.0), b.f32(0x54a2_fa8c_u32 as f32));
    let bits = b.fma(bits, minus_third, origin);
    let bits = b.cast(bits, DType::I32);
    let guess = b.bitcast(bits, DType::F32);

    let one = b.f32(1.0);
    let product = b.mul(magnitude, guess);
    let product = b.unary(UnaryOp::Neg, product);
    let square = b.mul(guess, guess);
    let error = b.fma(product, square, one);
    let step = b.polynomial(error, &[14.0 / 81.0, 2.0 / 9.0, 1.0 / 3.0]);
    let step = b.mul(step, error);
    let inverse = b.fma(guess, step, guess);

    let root = b.mul(inverse, inverse);
    let root = b.mul(magnitude, root);
    let square = b.mul(root, root);
    let other = b.div(magnitude, square);
    let difference = b.sub(other, root);
    let third = b.f32(1.0 / 3.0);
    let root = b.fma(difference, third, root);

    let root = b.with_sign_of(root, x);
    // Zeros, infinities and NaN map to themselves.
    let (infinity, smallest) = (b.f32(f32::INFINITY), b.f32(f32::MIN_POSITIVE));
    let root = b.choose(magnitude, CompareOp::Lt, infinity, root, x);
    let zero = b.f32(0.0);
    let zero = b.mul(x, zero);
    b.choose(magnitude, CompareOp::Lt, smallest, zero, root)
}
