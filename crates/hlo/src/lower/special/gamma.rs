//! `lgamma` by series at 2 and at infinity, and `digamma` by the Lanczos approximation with g = 7.

use super::{Builder, Lowered, Math};
use inflight_ir::graph::NodeId;
use inflight_ir::{CompareOp, UnaryOp};
use std::f64::consts::PI;

/// The maximum number of recurrence steps that shift an argument towards 2.
const STEPS: i32 = 8;
const G: f64 = 7.0;
const BASE: f64 = 0.999_999_999_999_809_932_276_847_004_734_78;
const COEFFICIENTS: [f64; 8] = [
    676.520368121885098567009190444019,
    -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,
    -176.61502916214059906584551354,
    12.507343278686904814458936853,
    -0.13857109526572011689554707,
    9.984369578019570859563e-6,
    1.50563273514931155834e-7,
];

/// Reflection: whether x < ½, and the z with Γ(z + 1) = Γ(x) or, reflected, Γ(1 − x).
fn reflected(math: &mut Math<'_>, x: NodeId) -> Lowered<(NodeId, NodeId)> {
    let is_reflected = math.compare(CompareOp::Lt, x, 0.5)?;
    let negative = math.unary(UnaryOp::Neg, x)?;
    let before = math.plus(x, -1.0)?;
    Ok((is_reflected, math.select(is_reflected, negative, before)?))
}

/// ln(z + g + ½), rearranged to reduce rounding errors.
fn log_of_shifted(math: &mut Math<'_>, z: NodeId) -> Lowered<NodeId> {
    let shift = math.constant(G + 0.5);
    let quotient = math.div(z, shift)?;
    let log = math.unary(UnaryOp::Log1p, quotient)?;
    math.plus(log, (G + 0.5).ln())
}

/// ln Γ(2 + d) / d for |d| ≤ ½ by its series at 2, whose coefficients are (−1)ᵏ (ζ(k) − 1) / k and, last, 1 − γ.
const AT_2: [f64; 26] = [
    5.7313672416788620133e-10,
    -1.1921401405860912074e-9,
    2.4836745438024783172e-9,
    -5.1834750419700466551e-9,
    1.0838659214896954091e-8,
    -2.271109460894316491e-8,
    4.7698101693639805658e-8,
    -1.0043224823968099609e-7,
    2.1207184805554665869e-7,
    -4.4924691987645660433e-7,
    9.5514121304074198329e-7,
    -2.0392157538013662368e-6,
    4.3748667899074878042e-6,
    -9.439488275268395904e-6,
    2.0507212775670691553e-5,
    -4.49262367381331417e-5,
    9.9457512781808533715e-5,
    -2.2315475845357937976e-4,
    5.0966952474304242234e-4,
    -0.0011927539117032609771,
    0.0028905103307415232858,
    -0.0073855510286739852663,
    0.020580808427784547879,
    -0.067352301053198095133,
    0.32246703342411321824,
    0.42278433509846713939,
];
/// Stirling's series in 1 / y², times y: Bernoulli numbers over 2k (2k − 1).
const STIRLING: [f64; 8] = [
    -0.02955065359477124183,
    0.0064102564102564102564,
    -0.0019175269175269175269,
    8.4175084175084175084e-4,
    -5.952380952380952381e-4,
    7.9365079365079365079e-4,
    -0.0027777777777777777778,
    0.083333333333333333333,
];

/// ln |Γ(x)|
pub(super) fn lgamma(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let (is_reflected, z) = reflected(&mut math, x)?;
    // Γ(z + 1) is Γ(2 + d) times z (z − 1) … (d + 2), or over 1 + d where z is below ½.
    let shifted = math.plus(z, -0.5)?;
    let steps = math.unary(UnaryOp::Floor, shifted)?;
    let one = math.constant(1.0);
    let before = math.plus(z, -1.0)?;
    let d = math.sub(before, steps)?;
    let mut product = one;
    for step in 0..STEPS {
        let factor = math.plus(z, -f64::from(step))?;
        let is_taken = math.compare(CompareOp::Gt, steps, f64::from(step))?;
        let factor = math.select(is_taken, factor, one)?;
        product = math.mul(product, factor)?;
    }
    let log_product = math.unary(UnaryOp::Log, product)?;
    let log_divisor = math.unary(UnaryOp::Log1p, d)?;
    let log_divisor = math.unary(UnaryOp::Neg, log_divisor)?;
    let is_divided = math.compare(CompareOp::Lt, steps, 0.0)?;
    let logarithm = math.select(is_divided, log_divisor, log_product)?;
    let series = math.polynomial(d, &AT_2)?;
    let series = math.mul(series, d)?;
    let near = math.add(logarithm, series)?;

    let y = math.plus(z, 1.0)?;
    let inverse = math.div(one, y)?;
    let square = math.mul(inverse, inverse)?;
    let series = math.polynomial(square, &STIRLING)?;
    let series = math.mul(series, inverse)?;
    let log = math.unary(UnaryOp::Log, y)?;
    let log = math.plus(log, -1.0)?;
    let half = math.plus(z, 0.5)?;
    let far = math.mul(half, log)?;
    let far = math.plus(far, (2.0 * PI).ln() / 2.0 - 0.5)?;
    let far = math.add(far, series)?;
    let is_near = math.compare(CompareOp::Lt, steps, f64::from(STEPS))?;
    let value = math.select(is_near, near, far)?;

    // Γ(x) Γ(1 − x) = π / sin πx; the sine depends only on the distance to the nearest integer.
    let size = math.unary(UnaryOp::Abs, x)?;
    let floor = math.unary(UnaryOp::Floor, size)?;
    let fraction = math.sub(size, floor)?;
    let complement = math.sub(one, fraction)?;
    let is_upper = math.compare(CompareOp::Gt, fraction, 0.5)?;
    let distance = math.select(is_upper, complement, fraction)?;
    let angle = math.times(distance, PI)?;
    let sine = math.unary(UnaryOp::Sin, angle)?;
    let log_sine = math.unary(UnaryOp::Log, sine)?;
    let log_pi = math.constant(PI.ln());
    let reflected = math.sub(log_pi, log_sine)?;
    let reflected = math.sub(reflected, value)?;
    let is_finite = math.unary(UnaryOp::IsFinite, log_sine)?;
    let pole = math.unary(UnaryOp::Neg, log_sine)?;
    let reflected = math.select(is_finite, reflected, pole)?;
    let value = math.select(is_reflected, reflected, value)?;
    let infinity = math.constant(f64::INFINITY);
    let is_infinite = math.compare(CompareOp::Eq, size, f64::INFINITY)?;
    math.select(is_infinite, infinity, value)
}

/// The derivative of ln Γ(x); NaN at its poles.
pub(super) fn digamma(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let (is_reflected, z) = reflected(&mut math, x)?;
    let mut series = math.constant(BASE);
    let mut derivative = math.constant(0.0);
    for (i, &coefficient) in COEFFICIENTS.iter().enumerate() {
        let denominator = math.plus(z, i as f64 + 1.0)?;
        let square = math.mul(denominator, denominator)?;
        let coefficient = math.constant(coefficient);
        let slope = math.div(coefficient, square)?;
        derivative = math.sub(derivative, slope)?;
        let term = math.div(coefficient, denominator)?;
        series = math.add(series, term)?;
    }
    let t = math.plus(z, G + 0.5)?;
    let log_t = log_of_shifted(&mut math, z)?;
    let quotient = math.div(derivative, series)?;
    let value = math.add(log_t, quotient)?;
    let g = math.constant(G);
    let correction = math.div(g, t)?;
    let value = math.sub(value, correction)?;

    // ψ(x) = ψ(1 − x) − π / tan πx; the tangent has period 1.
    let shifted = math.plus(x, 0.5)?;
    let floor = math.unary(UnaryOp::Floor, shifted)?;
    let size = math.unary(UnaryOp::Abs, floor)?;
    let reduced = math.add(x, size)?;
    let angle = math.times(reduced, PI)?;
    let (sine, cosine) = (math.unary(UnaryOp::Sin, angle)?, math.unary(UnaryOp::Cos, angle)?);
    let scaled = math.times(cosine, PI)?;
    let cotangent = math.div(scaled, sine)?;
    let reflected = math.sub(value, cotangent)?;
    let value = math.select(is_reflected, reflected, value)?;
    let integer = math.unary(UnaryOp::Floor, x)?;
    let is_integer = math.builder.compare(CompareOp::Eq, x, integer)?;
    let is_negative = math.compare(CompareOp::Le, x, 0.0)?;
    let is_pole = math.and(is_negative, is_integer)?;
    let nan = math.constant(f64::NAN);
    math.select(is_pole, nan, value)
}
