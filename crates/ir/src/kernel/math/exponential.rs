//! Exponential functions, by range reduction and polynomials.
//!
//! x = k·ln 2 + r with |r| ≤ ½·ln 2; a polynomial approximates eʳ, and 2ᵏ is built from its bits. Adding and
//! subtracting 1.5·2²³ rounds to the integer k and leaves it in the low bits of the sum, so a single shift moves it
//! into the exponent field.

use super::Builder;
use crate::DType;
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::Value;
use std::f32::consts::{LN_2, LOG2_E};

const ROUNDING: f32 = 12_582_912.0;
pub(super) const LN_2_HIGH: f32 = LN_2;
pub(super) const LN_2_LOW: f32 = -1.904_654_2e-9;
/// The largest `f32` with a finite exponential.
const EXP_MAX: f32 = 88.72283;
/// The smallest `f32` whose exponential is not subnormal.
const EXP_MIN: f32 = -87.33654;
/// The largest `f32` with a finite hyperbolic sine and cosine.
const SINH_MAX: f32 = 89.415985;
/// Below this magnitude, eˣ − 1 and sinh x are x.
const TINY: f32 = 1e-8;

/// (eʳ − 1 − r) / r².
const EXP: [f32; 5] = [0.0013819392, 0.008368893, 0.04166829, 0.1666652, 0.49999994];
/// The same function, fitted to the relative error of eʳ − 1.
const EXPM1: [f32; 5] = [0.0013869068, 0.008366632, 0.041667458, 0.16666543, 0.49999997];
/// 2ʳ, |r| ≤ ½.
const EXP2: [f32; 7] =
    [0.00015329264, 0.0013390969, 0.009618499, 0.055503596, 0.24022648, LN_2, 1.0];
/// erf(x)/x − 1 as a polynomial of x², |x| ≤ 0.93.
const ERF_SMALL: [f32; 6] =
    [-0.0005959584, 0.0049873525, -0.026762966, 0.11281731, -0.3761249, 0.12837915];
/// (ln(1 − erf x) + x) / x, 0.92 ≤ x ≤ 4.
const ERF_LARGE: [f32; 6] =
    [0.00021399117, -0.003214991, 0.022890039, -0.105261914, -0.6357183, -0.12851436];

/// Range reduction of x: `rest` is r, and `shifted` holds k in its low bits.
struct Reduced {
    rest: Value,
    shifted: Value,
}

fn reduce(b: &mut Builder, x: Value) -> Reduced {
    let rounding = b.f32(ROUNDING);
    let log2_e = b.f32(LOG2_E);
    let shifted = b.fma(x, log2_e, rounding);
    let k = b.sub(shifted, rounding);
    let (high, low) = (b.f32(-LN_2_HIGH), b.f32(-LN_2_LOW));
    let rest = b.fma(k, high, x);
    let rest = b.fma(k, low, rest);
    Reduced { rest, shifted }
}

/// k, shifted into the exponent field.
fn exponent_bits(b: &mut Builder, shifted: Value) -> Value {
    let bits = b.bitcast(shifted, DType::I32);
    let shift = b.i32(23);
    b.binary(BinaryOp::ShiftLeft, bits, shift)
}

/// 2ᵏ⁺ᵒᶠᶠˢᵉᵗ.
fn power_of_two(b: &mut Builder, shifted: Value, offset: i32) -> Value {
    let exponent = exponent_bits(b, shifted);
    let bias = b.i32((127 + offset) << 23);
    let bits = b.add(exponent, bias);
    b.bitcast(bits, DType::F32)
}

/// value · 2ᵏ for ½ ≤ value ≤ 2: adds k to the exponent, so k = 128 works. Not for NaN.
fn scale(b: &mut Builder, value: Value, shifted: Value) -> Value {
    let exponent = exponent_bits(b, shifted);
    let bits = b.bitcast(value, DType::I32);
    let bits = b.add(bits, exponent);
    b.bitcast(bits, DType::F32)
}

/// eˣ, where the result is a normal `f32`.
fn exp_within(b: &mut Builder, x: Value) -> Value {
    let Reduced { rest, shifted } = reduce(b, x);
    let sum = b.polynomial(rest, &EXP);
    let one = b.f32(1.0);
    let sum = b.fma(sum, rest, one);
    let sum = b.fma(sum, rest, one);
    scale(b, sum, shifted)
}

/// eʳ − 1 of the reduced argument, to the last bit.
fn expm1_of_rest(b: &mut Builder, rest: Value) -> Value {
    let sum = b.polynomial(rest, &EXPM1);
    let square = b.mul(rest, rest);
    b.fma(square, sum, rest)
}

/// The result for x in `low..=high`; 0 below, infinity above, NaN for NaN.
fn within(b: &mut Builder, x: Value, low: f32, high: f32, result: Value) -> Value {
    let (zero, low, high) = (b.f32(0.0), b.f32(low), b.f32(high));
    let infinity = b.f32(f32::INFINITY);
    let above = b.add(x, infinity);
    let result = b.choose(x, CompareOp::Le, high, result, above);
    b.choose(x, CompareOp::Lt, low, zero, result)
}

pub(super) fn exp(b: &mut Builder, x: Value) -> Value {
    let result = exp_within(b, x);
    within(b, x, EXP_MIN, EXP_MAX, result)
}

pub(super) fn exp2(b: &mut Builder, x: Value) -> Value {
    let rounding = b.f32(ROUNDING);
    let shifted = b.add(x, rounding);
    let k = b.sub(shifted, rounding);
    let rest = b.sub(x, k);
    let sum = b.polynomial(rest, &EXP2);
    let result = scale(b, sum, shifted);
    within(b, x, -126.0, 128.0f32.next_down(), result)
}

pub(super) fn expm1(b: &mut Builder, x: Value) -> Value {
    let Reduced { rest, shifted } = reduce(b, x);
    let sum = expm1_of_rest(b, rest);
    // Half of the result, since 2¹²⁸ overflows.
    let power = power_of_two(b, shifted, -1);
    let half = b.f32(0.5);
    let offset = b.sub(power, half);
    let result = b.fma(sum, power, offset);
    let result = b.add(result, result);
    let (high, infinity) = (b.f32(EXP_MAX), b.f32(f32::INFINITY));
    let result = b.choose(x, CompareOp::Gt, high, infinity, result);
    let (low, minus_one) = (b.f32(-80.0), b.f32(-1.0));
    let result = b.choose(x, CompareOp::Lt, low, minus_one, result);
    // Preserves −0, and values whose half is subnormal.
    let (magnitude, tiny) = (b.abs(x), b.f32(TINY));
    b.choose(magnitude, CompareOp::Lt, tiny, x, result)
}

pub(super) fn sigmoid(b: &mut Builder, x: Value) -> Value {
    let negated = b.unary(UnaryOp::Neg, x);
    let power = exp(b, negated);
    let one = b.f32(1.0);
    let sum = b.add(one, power);
    b.div(one, sum)
}

pub(super) fn sinh(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let Reduced { rest, shifted } = reduce(b, magnitude);
    let sum = expm1_of_rest(b, rest);
    // A quarter of e^|x| − 1, since k may be 129.
    let power = power_of_two(b, shifted, -2);
    let quarter = b.f32(0.25);
    let offset = b.sub(power, quarter);
    let grown = b.fma(sum, power, offset);
    // 1 − e^−|x|
    let next = b.add(grown, quarter);
    let shrunk = b.div(grown, next);
    let (half, two) = (b.f32(0.5), b.f32(2.0));
    let shrunk = b.mul(shrunk, half);
    let result = b.fma(grown, two, shrunk);
    let result = infinite_above(b, magnitude, SINH_MAX, result);
    // A quarter of the result may be subnormal.
    let tiny = b.f32(TINY);
    let result = b.choose(magnitude, CompareOp::Lt, tiny, magnitude, result);
    b.with_sign_of(result, x)
}

pub(super) fn cosh(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let Reduced { rest, shifted } = reduce(b, magnitude);
    let sum = expm1_of_rest(b, rest);
    // A quarter of e^|x|, since k may be 129.
    let power = power_of_two(b, shifted, -2);
    let grown = b.fma(sum, power, power);
    let (eighth, two) = (b.f32(0.125), b.f32(2.0));
    let shrunk = b.div(eighth, grown);
    let result = b.fma(grown, two, shrunk);
    infinite_above(b, magnitude, SINH_MAX, result)
}

fn infinite_above(b: &mut Builder, x: Value, limit: f32, result: Value) -> Value {
    let (limit, infinity) = (b.f32(limit), b.f32(f32::INFINITY));
    b.choose(x, CompareOp::Gt, limit, infinity, result)
}

/// (e²ˣ − 1) / (e²ˣ + 1)
pub(super) fn tanh(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let doubled = b.add(magnitude, magnitude);
    let Reduced { rest, shifted } = reduce(b, doubled);
    let sum = expm1_of_rest(b, rest);
    let power = power_of_two(b, shifted, 0);
    let (one, two) = (b.f32(1.0), b.f32(2.0));
    let offset = b.sub(power, one);
    let grown = b.fma(sum, power, offset);
    let next = b.add(grown, two);
    let result = b.div(grown, next);
    let limit = b.f32(9.02);
    let result = b.choose(magnitude, CompareOp::Gt, limit, one, result);
    b.with_sign_of(result, x)
}

pub(super) fn erf(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let square = b.mul(x, x);
    let small = b.polynomial(square, &ERF_SMALL);
    let small = b.fma(small, magnitude, magnitude);
    // The result rounds to 1 beyond 4.
    let limit = b.f32(4.0);
    let limited = b.choose(magnitude, CompareOp::Gt, limit, limit, magnitude);
    let exponent = b.polynomial(limited, &ERF_LARGE);
    let exponent = {
        let negated = b.unary(UnaryOp::Neg, limited);
        b.fma(exponent, limited, negated)
    };
    let complement = exp_within(b, exponent);
    let one = b.f32(1.0);
    let large = b.sub(one, complement);
    let boundary = b.f32(0.925);
    let result = b.choose(magnitude, CompareOp::Gt, boundary, large, small);
    b.with_sign_of(result, x)
}
