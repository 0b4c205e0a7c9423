//! Trigonometric functions and their inverses.

use super::Builder;
use crate::DType;
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::Value;
use std::f32::consts::{FRAC_PI_2, PI};
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI};

/// Adding this rounds an `f64` to an integer and leaves it in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
/// From here on the integer would not fit into the mantissa.
const LIMIT: f32 = 2_251_799_813_685_248.0;
const PI_HIGH: f64 = std::f64::consts::PI;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;
/// The relative error of π rounded to `f32`.
const PI_ERROR: f32 = -2.782_753_4e-8;
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

/// sin(x)/x as a polynomial of x², |x| ≤ 2.7.
const SIN: [f64; 8] = [
    -6.834385380302386e-13,
    1.5959784742900585e-10,
    -2.5045712709332855e-08,
    2.755708935999672e-06,
    -0.0001984126535054149,
    0.008333333290893903,
    -0.16666666665273253,
    1.0,
];
/// sin(x)/x as a polynomial of x², |x| ≤ 1.3.
const TAN_SIN: [f64; 6] = [
    -2.4254571124787425e-08,
    2.7542395994023847e-06,
    -0.00019841142301809026,
    0.008333332854689094,
    -0.16666666660784493,
    1.0,
];
/// cos(x) as a polynomial of x², |x| ≤ 1.3.
const TAN_COS: [f64; 6] = [
    -2.648208800620692e-07,
    2.4780525289114567e-05,
    -0.0013888698478403882,
    0.04166665900163553,
    -0.4999999989690751,
    1.0,
];
/// (asin(x)/x − 1) / x² as a polynomial of x², |x| ≤ ½.
const ASIN: [f32; 5] = [0.042157013, 0.024185503, 0.04546902, 0.0749531, 0.16666752];
/// (atan(x)/x − 1) / x² as a polynomial of x², |x| ≤ 1.
const ATAN: [f32; 9] = [
    -0.0017875765,
    0.010887479,
    -0.031127188,
    0.057906687,
    -0.084004804,
    0.109511755,
    -0.14264052,
    0.19998531,
    -0.333333,
];

/// A period as an unevaluated sum of two `f64`, and its inverse.
struct Period {
    scale: f64,
    parts: [f64; 2],
}

const PERIOD_PI: Period = Period { scale: FRAC_1_PI, parts: [PI_HIGH, PI_LOW] };
const PERIOD_HALF_PI: Period = Period { scale: FRAC_2_PI, parts: [PI_HIGH / 2.0, PI_LOW / 2.0] };

/// An `f64` argument reduced modulo a period.
struct Reduced {
    rest: Value,
    /// Holds the multiple in its low bits, as an `i64`.
    bits: Value,
}

/// Range reduction (Cody-Waite): subtracts n·period, or (n − ½)·period, which leaves at most about half a period.
/// Computed in `f64` with a two-part period, so that nothing is lost for |x| < 2⁵¹. Beyond that, the reduced
/// argument is `otherwise`; for infinities it is NaN.
fn reduce(b: &mut Builder, x: Value, period: Period, offset: f64, otherwise: f64) -> Reduced {
    let Period { scale, parts } = period;
    let wide = b.cast(x, DType::F64);
    let rounding = b.f64(ROUNDING);
    let scale = b.f64(scale);
    let (shifted, multiple) = if offset == 0.0 {
        let shifted = b.fma(wide, scale, rounding);
        (shifted, b.sub(shifted, rounding))
    } else {
        let offset = b.f64(offset);
        let scaled = b.fma(wide, scale, offset);
        let shifted = b.add(scaled, rounding);
        let multiple = b.sub(shifted, rounding);
        (shifted, b.sub(multiple, offset))
    };
    let [high, low] = parts.map(|part| b.f64(-part));
    let rest = b.fma(multiple, high, wide);
    let rest = b.fma(multiple, low, rest);
    let (magnitude, limit) = (b.abs(x), b.f32(LIMIT));
    let (zero, otherwise) = (b.f64(0.0), b.f64(otherwise));
    let otherwise = b.fma(wide, zero, otherwise);
    let rest = b.choose(magnitude, CompareOp::Lt, limit, rest, otherwise);
    Reduced { rest, bits: b.bitcast(shifted, DType::I64) }
}

/// Negates an `f64` where an `i64` is odd.
fn negated_if_odd(b: &mut Builder, value: Value, integer: Value) -> Value {
    let shift = b.i64(63);
    let sign = b.binary(BinaryOp::ShiftLeft, integer, shift);
    let bits = b.bitcast(value, DType::I64);
    let bits = b.binary(BinaryOp::Xor, bits, sign);
    b.bitcast(bits, DType::F64)
}

fn sin_of_rest(b: &mut Builder, Reduced { rest, bits }: Reduced) -> Value {
    let square = b.mul(rest, rest);
    let sum = b.polynomial_f64(square, &SIN);
    let result = b.mul(sum, rest);
    let result = negated_if_odd(b, result, bits);
    b.cast(result, DType::F32)
}

/// (−1)ⁿ·sin(x − n·π)
pub(super) fn sin(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x, PERIOD_PI, 0.0, 0.0);
    sin_of_rest(b, reduced)
}

/// (−1)ⁿ·sin(x − (n − ½)·π)
pub(super) fn cos(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x, PERIOD_PI, 0.5, PI_HIGH / 2.0);
    sin_of_rest(b, reduced)
}

/// tan(x − n·π/2), or its negated inverse if n is odd.
pub(super) fn tan(b: &mut Builder, x: Value) -> Value {
    let Reduced { rest, bits } = reduce(b, x, PERIOD_HALF_PI, 0.0, PI_HIGH / 4.0);
    let square = b.mul(rest, rest);
    let sine = b.polynomial_f64(square, &TAN_SIN);
    let sine = b.mul(sine, rest);
    let cosine = b.polynomial_f64(square, &TAN_COS);
    let (one, zero) = (b.i64(1), b.i64(0));
    let parity = b.binary(BinaryOp::And, bits, one);
    let is_odd = b.compare(CompareOp::Ne, parity, zero);
    let numerator = b.select(is_odd, cosine, sine);
    let denominator = b.select(is_odd, sine, cosine);
    let result = b.div(numerator, denominator);
    let result = negated_if_odd(b, result, bits);
    b.cast(result, DType::F32)
}

/// asin of |x| up to ½, and of √((1 − |x|)/2) above; NaN if |x| > 1.
struct HalfAngle {
    is_above: Value,
    angle: Value,
}

fn half_angle(b: &mut Builder, x: Value) -> HalfAngle {
    let magnitude = b.abs(x);
    let half = b.f32(0.5);
    let is_above = b.compare(CompareOp::Gt, magnitude, half);
    let minus_half = b.f32(-0.5);
    let from_one = b.fma(magnitude, minus_half, half);
    let square = b.mul(magnitude, magnitude);
    let square = b.select(is_above, from_one, square);
    let root = b.sqrt(square);
    let root = b.select(is_above, root, magnitude);
    let sum = b.polynomial(square, &ASIN);
    let cube = b.mul(root, square);
    let angle = b.fma(cube, sum, root);
    HalfAngle { is_above, angle }
}

pub(super) fn asin(b: &mut Builder, x: Value) -> Value {
    let HalfAngle { is_above, angle } = half_angle(b, x);
    let (minus_two, right_angle) = (b.f32(-2.0), b.f32(FRAC_PI_2));
    let above = b.fma(angle, minus_two, right_angle);
    let result = b.select(is_above, above, angle);
    b.with_sign_of(result, x)
}

pub(super) fn acos(b: &mut Builder, x: Value) -> Value {
    let HalfAngle { is_above, angle } = half_angle(b, x);
    let signed = b.with_sign_of(angle, x);
    let (zero, two, pi) = (b.f32(0.0), b.f32(2.0), b.f32(PI));
    let start = b.choose(x, CompareOp::Lt, zero, pi, zero);
    let above = b.fma(signed, two, start);
    let below = from_right_angle(b, signed);
    b.select(is_above, above, below)
}

/// π/2 − x
fn from_right_angle(b: &mut Builder, x: Value) -> Value {
    let (high, low) = (b.f32(FRAC_PI_2), b.f32(FRAC_PI_2_LOW));
    let rest = b.sub(x, low);
    b.sub(high, rest)
}

/// atan(x) for 0 ≤ x ≤ 1.
fn atan_of_ratio(b: &mut Builder, x: Value) -> Value {
    let square = b.mul(x, x);
    let sum = b.polynomial(square, &ATAN);
    let cube = b.mul(x, square);
    b.fma(cube, sum, x)
}

pub(super) fn atan(b: &mut Builder, x: Value) -> Value {
    let magnitude = b.abs(x);
    let one = b.f32(1.0);
    let is_steep = b.compare(CompareOp::Gt, magnitude, one);
    let inverse = b.div(one, magnitude);
    let ratio = b.select(is_steep, inverse, magnitude);
    let flat = atan_of_ratio(b, ratio);
    let steep = from_right_angle(b, flat);
    let result = b.select(is_steep, steep, flat);
    b.with_sign_of(result, x)
}

/// The angle of the point (x, y): atan of the smaller coordinate over the larger, reflected.
pub(in crate::kernel) fn atan2(b: &mut Builder, y: Value, x: Value) -> Value {
    let (width, height) = (b.abs(x), b.abs(y));
    let is_steep = b.compare(CompareOp::Gt, height, width);
    let smaller = b.select(is_steep, width, height);
    let larger = b.select(is_steep, height, width);
    let quotient = b.div(smaller, larger);
    // Two zeros give an angle of 0, two infinities one of 45°.
    let (zero, one, smallest) = (b.f32(0.0), b.f32(1.0), b.f32(f32::MIN_POSITIVE));
    let equal = b.choose(larger, CompareOp::Lt, smallest, zero, one);
    let ratio = b.choose(smaller, CompareOp::Eq, larger, equal, quotient);
    let flat = atan_of_ratio(b, ratio);
    let sign = b.sign_bit(x);
    let bits = b.bitcast(flat, DType::I32);
    let bits = b.binary(BinaryOp::Xor, bits, sign);
    let angle = b.bitcast(bits, DType::F32);
    let negated = b.unary(UnaryOp::Neg, angle);
    let angle = b.select(is_steep, negated, angle);
    let (no_bits, pi, right_angle) = (b.i32(0), b.f32(PI), b.f32(FRAC_PI_2));
    let start = b.choose(sign, CompareOp::Lt, no_bits, pi, zero);
    let start = b.select(is_steep, right_angle, start);
    let error = b.f32(PI_ERROR);
    let angle = b.fma(start, error, angle);
    let angle = b.add(start, angle);
    b.with_sign_of(angle, y)
}
