//! Logarithms and inverse hyperbolic functions, by range reduction and polynomials.
//!
//! x = 2ᵏ·(1 + f) with 1 + f between √½ and √2, split by the bits of x; a polynomial in f approximates ln(1 + f).

use super::Builder;
use super::exponential::{LN_2_HIGH, LN_2_LOW};
use crate::DType;
use crate::elementwise::{BinaryOp, CompareOp};
use crate::kernel::Value;

/// The bit pattern of √½.
const SQRT_HALF: i32 = 0x3f35_04f3;
const EXPONENT_MASK: i32 = !0x7f_ffff;
/// Above this, x and x + 1 have the same rounded logarithm.
const LARGE: f32 = 67_108_864.0;

/// (ln(1 + f) − f) / f².
const LOG: [f32; 9] = [
    -0.07608474,
    0.12900986,
    -0.13246424,
    0.14182329,
    -0.16608717,
    0.2000196,
    -0.250016,
    0.33333325,
    -0.49999988,
];
/// (log₂(1 + f) − f·log₂ e) / f².
const LOG2: [f32; 9] = [
    -0.11096139,
    0.18721658,
    -0.19119136,
    0.20444843,
    -0.23958118,
    0.28857377,
    -0.36069843,
    0.48089817,
    -0.72134733,
];
const LOG2_E_HIGH: f32 = std::f32::consts::LOG2_E;
const LOG2_E_LOW: f32 = 1.925963e-8;

/// A positive normal `f32`, decomposed as 2ᵏ·(1 + f).
pub(super) struct Decomposed {
    /// k, as an `f32`.
    pub exponent: Value,
    /// k as an `i32`, in the exponent field.
    pub exponent_bits: Value,
    /// 1 + f.
    pub mantissa: Value,
}

pub(super) fn decompose(b: &mut Builder, x: Value) -> Decomposed {
    let bits = b.bitcast(x, DType::I32);
    let origin = b.i32(SQRT_HALF);
    let offset = b.sub(bits, origin);
    let (mask, shift) = (b.i32(EXPONENT_MASK), b.i32(23));
    let exponent_bits = b.binary(BinaryOp::And, offset, mask);
    let exponent = b.binary(BinaryOp::ShiftRight, offset, shift);
    let exponent = b.cast(exponent, DType::F32);
    let mantissa = b.sub(bits, exponent_bits);
    let mantissa = b.bitcast(mantissa, DType::F32);
    Decomposed { exponent, exponent_bits, mantissa }
}

/// k·ln 2 + ln(1 + f)
fn log_of_parts(b: &mut Builder, exponent: Value, fraction: Value) -> Value {
    let sum = b.polynomial(fraction, &LOG);
    let square = b.mul(fraction, fraction);
    let (high, low) = (b.f32(LN_2_HIGH), b.f32(LN_2_LOW));
    let rest = b.mul(exponent, low);
    let rest = b.fma(sum, square, rest);
    let rest = b.add(fraction, rest);
    b.fma(exponent, high, rest)
}

/// The result for positive normal x; x for NaN and infinity, −∞ for zeros, NaN for negative x.
fn within(b: &mut Builder, x: Value, result: Value) -> Value {
    let infinity = b.f32(f32::INFINITY);
    let result = b.choose(x, CompareOp::Lt, infinity, result, x);
    let (smallest, below) = (b.f32(f32::MIN_POSITIVE), b.f32(-f32::MIN_POSITIVE));
    let (nan, minus_infinity) = (b.f32(f32::NAN), b.f32(f32::NEG_INFINITY));
    let special = b.choose(x, CompareOp::Le, below, nan, minus_infinity);
    b.choose(x, CompareOp::Lt, smallest, special, result)
}

pub(super) fn log(b: &mut Builder, x: Value) -> Value {
    let Decomposed { exponent, mantissa, .. } = decompose(b, x);
    let one = b.f32(1.0);
    let fraction = b.sub(mantissa, one);
    let result = log_of_parts(b, exponent, fraction);
    within(b, x, result)
}

pub(super) fn log2(b: &mut Builder, x: Value) -> Value {
    let Decomposed { exponent, mantissa, .. } = decompose(b, x);
    let one = b.f32(1.0);
    let fraction = b.sub(mantissa, one);
    let sum = b.polynomial(fraction, &LOG2);
    let square = b.mul(fraction, fraction);
    let (high, low) = (b.f32(LOG2_E_HIGH), b.f32(LOG2_E_LOW));
    let rest = b.mul(sum, square);
    let rest = b.fma(fraction, low, rest);
    let rest = b.fma(fraction, high, rest);
    let result = b.add(exponent, rest);
    within(b, x, result)
}

/// ln(1 + x), except that −0 gives +0.
fn log1p_unsigned(b: &mut Builder, x: Value) -> Value {
    let one = b.f32(1.0);
    let sum = b.add(x, one);
    let Decomposed { exponent, exponent_bits, mantissa } = decompose(b, sum);
    // f = (1 + x)·2⁻ᵏ − 1 computed from x itself, with one rounding. For a large x the 1 is negligible, and 2⁻ᵏ may
    // be subnormal.
    let bias = b.i32(127 << 23);
    let scale = b.sub(bias, exponent_bits);
    let scale = b.bitcast(scale, DType::F32);
    let offset = b.sub(scale, one);
    let exact = b.fma(x, scale, offset);
    let rough = b.sub(mantissa, one);
    let large = b.f32(LARGE);
    let fraction = b.choose(x, CompareOp::Gt, large, rough, exact);
    let result = log_of_parts(b, exponent, fraction);
    let infinity = b.f32(f32::INFINITY);
    let result = b.choose(x, CompareOp::Lt, infinity, result, x);
    let minus_one = b.f32(-1.0);
    let (nan, minus_infinity) = (b.f32(f32::NAN), b.f32(f32::NEG_INFINITY));
    let special = b.choose(x, CompareOp::Lt, minus_one, nan, minus_infinity);
    b.choose(x, CompareOp::Le, minus_one, special, result)
}

pub(super) fn log1p(b: &mut Builder, x: Value) -> Value {
    let result = log1p_unsigned(b, x);
    // The result already has the sign of x, except for −0.
    b.with_sign_of(result, x)
}

/// ln(1 + x), plus ln 2 where the mask `large` is set: the argument then stands for 2·x, which may overflow.
fn log1p_doubled_if_large(b: &mut Builder, x: Value, large: Value) -> Value {
    let result = log1p_unsigned(b, x);
    let (ln_2, zero) = (b.f32(LN_2_HIGH), b.f32(0.0));
    let offset = b.select(large, ln_2, zero);
    b.add(result, offset)
}

/// ln(1 + x + x² / (1 + √(1 + x²)))
pub(super) fn asinh(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let (one, limit) = (b.f32(1.0), b.f32(LARGE));
    let large = b.compare(CompareOp::Gt, magnitude, limit);
    let square = b.mul(magnitude, magnitude);
    let root = b.add(square, one);
    let root = b.sqrt(root);
    let denominator = b.add(root, one);
    let quotient = b.div(square, denominator);
    let sum = b.add(magnitude, quotient);
    let argument = b.select(large, magnitude, sum);
    let result = log1p_doubled_if_large(b, argument, large);
    b.with_sign_of(result, x)
}

/// ln(1 + t + √(t² + 2t)), t = x − 1
pub(super) fn acosh(b: &mut Builder, x: Value) -> Value {
    let (one, limit) = (b.f32(1.0), b.f32(LARGE));
    let large = b.compare(CompareOp::Gt, x, limit);
    let above = b.sub(x, one);
    let doubled = b.add(above, above);
    let square = b.fma(above, above, doubled);
    let root = b.sqrt(square);
    let sum = b.add(above, root);
    let argument = b.select(large, x, sum);
    let result = log1p_doubled_if_large(b, argument, large);
    let nan = b.f32(f32::NAN);
    b.choose(x, CompareOp::Lt, one, nan, result)
}

/// ½·ln(1 + 2x / (1 − x))
pub(super) fn atanh(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let (one, half) = (b.f32(1.0), b.f32(0.5));
    let numerator = b.add(magnitude, magnitude);
    let denominator = b.sub(one, magnitude);
    let quotient = b.div(numerator, denominator);
    let result = log1p_unsigned(b, quotient);
    let result = b.mul(result, half);
    b.with_sign_of(result, x)
}
