//! The logarithm of the gamma function and its derivative, by Lanczos' approximation with g = 7.

use super::{Builder, Lowered, Math};
use inflight_ir::graph::NodeId;
use inflight_ir::{CompareOp, UnaryOp};
use std::f64::consts::PI;

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

/// Whether x is left of ½ and mirrored, and the z with Γ(z + 1) of x or its mirror image.
fn mirrored(math: &mut Math<'_>, x: NodeId) -> Lowered<(NodeId, NodeId)> {
    let is_mirrored = math.compare(CompareOp::Lt, x, 0.5)?;
    let negative = math.unary(UnaryOp::Neg, x)?;
    let before = math.plus(x, -1.0)?;
    Ok((is_mirrored, math.select(is_mirrored, negative, before)?))
}

/// ln(z + g + ½), which rounds less than its formula.
fn log_of_shifted(math: &mut Math<'_>, z: NodeId) -> Lowered<NodeId> {
    let shift = math.number(G + 0.5);
    let quotient = math.div(z, shift)?;
    let log = math.rounded_once(UnaryOp::Log1p, quotient)?;
    math.plus(log, (G + 0.5).ln())
}

/// ln |Γ(x)|
pub(super) fn lgamma(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let (is_mirrored, z) = mirrored(&mut math, x)?;
    let mut series = math.number(BASE);
    for (i, &coefficient) in COEFFICIENTS.iter().enumerate() {
        let denominator = math.plus(z, i as f64 + 1.0)?;
        let coefficient = math.number(coefficient);
        let term = math.div(coefficient, denominator)?;
        series = math.add(series, term)?;
    }
    // (z + ½) ln t − t, arranged so that it does not cancel for large z.
    let t = math.plus(z, G + 0.5)?;
    let log_t = log_of_shifted(&mut math, z)?;
    let quotient = math.div(t, log_t)?;
    let half = math.plus(z, 0.5)?;
    let difference = math.sub(half, quotient)?;
    let product = math.mul(difference, log_t)?;
    let log_series = math.rounded_once(UnaryOp::Log, series)?;
    let value = math.plus(product, (2.0 * PI).sqrt().ln())?;
    let value = math.add(value, log_series)?;

    // Γ(x) Γ(1 − x) = π / sin πx, of which only the distance to the nearest integer counts.
    let size = math.unary(UnaryOp::Abs, x)?;
    let floor = math.unary(UnaryOp::Floor, size)?;
    let fraction = math.sub(size, floor)?;
    let one = math.number(1.0);
    let complement = math.sub(one, fraction)?;
    let is_upper = math.compare(CompareOp::Gt, fraction, 0.5)?;
    let distance = math.select(is_upper, complement, fraction)?;
    let angle = math.times(distance, PI)?;
    let sine = math.rounded_once(UnaryOp::Sin, angle)?;
    let log_sine = math.rounded_once(UnaryOp::Log, sine)?;
    let log_pi = math.number(PI.ln());
    let reflected = math.sub(log_pi, log_sine)?;
    let reflected = math.sub(reflected, value)?;
    let is_finite = math.unary(UnaryOp::IsFinite, log_sine)?;
    let pole = math.unary(UnaryOp::Neg, log_sine)?;
    let reflected = math.select(is_finite, reflected, pole)?;
    let value = math.select(is_mirrored, reflected, value)?;
    let infinity = math.number(f64::INFINITY);
    let is_infinite = math.compare(CompareOp::Eq, size, f64::INFINITY)?;
    math.select(is_infinite, infinity, value)
}

/// The derivative of ln Γ(x); NaN at its poles.
pub(super) fn digamma(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let mut math = Math::new(builder, x);
    let (is_mirrored, z) = mirrored(&mut math, x)?;
    let mut series = math.number(BASE);
    let mut derivative = math.number(0.0);
    for (i, &coefficient) in COEFFICIENTS.iter().enumerate() {
        let denominator = math.plus(z, i as f64 + 1.0)?;
        let square = math.mul(denominator, denominator)?;
        let coefficient = math.number(coefficient);
        let slope = math.div(coefficient, square)?;
        derivative = math.sub(derivative, slope)?;
        let term = math.div(coefficient, denominator)?;
        series = math.add(series, term)?;
    }
    let t = math.plus(z, G + 0.5)?;
    let log_t = log_of_shifted(&mut math, z)?;
    let quotient = math.div(derivative, series)?;
    let value = math.add(log_t, quotient)?;
    let g = math.number(G);
    let correction = math.div(g, t)?;
    let value = math.sub(value, correction)?;

    // ψ(x) = ψ(1 − x) − π / tan πx; the tangent has period 1.
    let shifted = math.plus(x, 0.5)?;
    let floor = math.unary(UnaryOp::Floor, shifted)?;
    let size = math.unary(UnaryOp::Abs, floor)?;
    let reduced = math.add(x, size)?;
    let angle = math.times(reduced, PI)?;
    let (sine, cosine) =
        (math.rounded_once(UnaryOp::Sin, angle)?, math.rounded_once(UnaryOp::Cos, angle)?);
    let scaled = math.times(cosine, PI)?;
    let cotangent = math.div(scaled, sine)?;
    let reflected = math.sub(value, cotangent)?;
    let value = math.select(is_mirrored, reflected, value)?;
    let integer = math.unary(UnaryOp::Floor, x)?;
    let is_integer = math.builder.compare(CompareOp::Eq, x, integer)?;
    let is_negative = math.compare(CompareOp::Le, x, 0.0)?;
    let is_pole = math.and(is_negative, is_integer)?;
    let nan = math.number(f64::NAN);
    math.select(is_pole, nan, value)
}
