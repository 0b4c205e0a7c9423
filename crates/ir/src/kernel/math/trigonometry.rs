//! Trigonometric functions and their inverses.

use super::Builder;
use crate::DType;
use crate::elementwise::{BinaryOp, CompareOp, UnaryOp};
use crate::kernel::Value;
use std::f32::consts::{FRAC_PI_2, PI};
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI};

/// Adding this rounds an `f64` to an integer and leaves it in the low bits.
const ROUNDING: f64 = 6_755_399_441_055_744.0;
const PI_HIGH: f64 = std::f64::consts::PI;
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;
/// The relative error of π rounded to `f32`.
const PI_ERROR: f32 = -2.782_753_4e-8;
const FRAC_PI_2_LOW: f32 = -4.371_139e-8;

/// sin(x)/x as a polynomial of x², |x| ≤ 1.575; relative error 2⁻²⁷.
const SIN: [f64; 5] = [
    2.6010812335482344e-06,
    -0.00019807051655177434,
    0.008333020069138575,
    -0.16666656462622856,
    0.9999999945368561,
];
/// sin(x)/x as a polynomial of x², |x| ≤ 0.79; relative error 2⁻³⁷.
const TAN_SIN: [f64; 5] = [
    2.716700010036051e-06,
    -0.0001983912882650224,
    0.008333328523897777,
    -0.16666666628703247,
    0.9999999999951745,
];
/// cos(x) as a polynomial of x², |x| ≤ 0.79; relative error 2⁻³⁴.
const TAN_COS: [f64; 5] = [
    2.4367580474667335e-05,
    -0.001388647241344946,
    0.04166661128570154,
    -0.49999999550492136,
    0.9999999999404494,
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

/// A multiple of 2π that is nearly an integer of 50 bits times a power of two: `fold + excess` is 2π·k. Subtracting
/// q·`fold` from an `f32` is exact in `f64`, and q·`excess` is a small correction.
struct Fold {
    fold: f64,
    inverse: f64,
    excess: f64,
}

/// From |x| < 2¹²⁸ to about 2⁸³, then to about 2⁴¹. Both folds are convergents of 2π/2ʲ by continued fractions: of their
/// size, they have the smallest excess, 2⁻⁵⁴.
const FOLDS: [Fold; 2] = [
    Fold {
        fold: 1.8148984654673125e25,
        inverse: 5.50995011030831e-26,
        excess: 4.866647610588404e-17,
    },
    Fold {
        fold: 2253666990800.8984,
        inverse: 4.437212791782624e-13,
        excess: 6.004489456758327e-17,
    },
];

/// An `f64` argument reduced modulo a period.
struct Reduced {
    rest: Value,
    /// Holds the multiple in its low bits, as an `i64`.
    bits: Value,
}

/// Range reduction of every finite `f32`, in `f64` and without branches: subtracts n·period, or (n − ½)·period, which
/// leaves at most half a period (plus 2⁻⁹). For infinities and NaN the rest is NaN.
///
/// First two [folds](FOLDS) subtract multiples of 2π until |x| < 2⁴¹. Each q·`fold` has a multiple of the last bit of
/// either the argument or `fold`, and the difference has at most 53 bits, so these steps are exact; the sum of the
/// q·`excess`, at most 2⁻⁹, is accurate to 2⁻⁶². A smaller |x| has q = 0 and stays as it is. Then Cody-Waite subtracts a
/// multiple of the two-part period, the first part exactly. The error of the rest is below 2⁻⁶⁰, and no `f32` is
/// closer than 2⁻³⁰ to a multiple of π/2 other than zero.
fn reduce(b: &mut Builder, x: Value, period: Period, offset: f64) -> Reduced {
    let Period { scale, parts } = period;
    let wide = b.cast(x, DType::F64);
    let rounding = b.f64(ROUNDING);
    let (mut folded, mut correction) = (wide, None);
    for Fold { fold, inverse, excess } in FOLDS {
        let [fold, inverse, excess] = [-fold, inverse, excess].map(|constant| b.f64(constant));
        let shifted = b.fma(folded, inverse, rounding);
        let multiple = b.sub(shifted, rounding);
        folded = b.fma(multiple, fold, folded);
        correction = Some(match correction {
            None => b.mul(multiple, excess),
            Some(sum) => b.fma(multiple, excess, sum),
        });
    }
    let scale = b.f64(scale);
    let (shifted, multiple) = if offset == 0.0 {
        let shifted = b.fma(folded, scale, rounding);
        (shifted, b.sub(shifted, rounding))
    } else {
        let offset = b.f64(offset);
        let scaled = b.fma(folded, scale, offset);
        let shifted = b.add(scaled, rounding);
        let multiple = b.sub(shifted, rounding);
        (shifted, b.sub(multiple, offset))
    };
    let [high, low] = parts.map(|part| b.f64(-part));
    let mut rest = b.fma(multiple, high, folded);
    if let Some(correction) = correction {
        rest = b.sub(rest, correction);
    }
    let rest = b.fma(multiple, low, rest);
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
    let reduced = reduce(b, x, PERIOD_PI, 0.0);
    sin_of_rest(b, reduced)
}

/// (−1)ⁿ·sin(x − (n − ½)·π)
pub(super) fn cos(b: &mut Builder, x: Value) -> Value {
    let reduced = reduce(b, x, PERIOD_PI, 0.5);
    sin_of_rest(b, reduced)
}

/// tan(x − n·π/2), or its negated inverse if n is odd.
pub(super) fn tan(b: &mut Builder, x: Value) -> Value {
    let Reduced { rest, bits } = reduce(b, x, PERIOD_HALF_PI, 0.0);
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
