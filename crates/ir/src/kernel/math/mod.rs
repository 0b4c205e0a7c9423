//! Mathematical functions of `f32` as straight-line arithmetic that every backend has.
//!
//! Each function is within 3 units in the last place of the true value (most within 2), is exact for
//! NaN, infinities and zeros, and never depends on a subnormal: a backend that flushes them to zero and
//! one that does not give results within the same bound of the function at `x` or at a zero of `x`'s
//! sign. The coefficients are minimax fits of the relative error.
//!
//! `Sin`, `Cos` and `Tan` hold the bound for |x| < 2⁵¹. Beyond, where neighbouring numbers are many periods
//! apart, the sine is 0, and cosine and tangent are 1 or −1.

#[cfg(test)]
mod accuracy;
mod builder;
mod exponential;
mod logarithm;
mod power;
mod trigonometry;

pub(super) use builder::Builder;
pub(super) use power::pow;
pub(super) use trigonometry::atan2;

use super::Value;
use crate::elementwise::UnaryOp;

/// A [transcendental](UnaryOp::is_transcendental) function of an `f32`.
pub(super) fn unary(builder: &mut Builder, op: UnaryOp, x: Value) -> Value {
    let function = match op {
        UnaryOp::Exp => exponential::exp,
        UnaryOp::Exp2 => exponential::exp2,
        UnaryOp::Expm1 => exponential::expm1,
        UnaryOp::Sigmoid => exponential::sigmoid,
        UnaryOp::Sinh => exponential::sinh,
        UnaryOp::Cosh => exponential::cosh,
        UnaryOp::Tanh => exponential::tanh,
        UnaryOp::Erf => exponential::erf,
        UnaryOp::Log => logarithm::log,
        UnaryOp::Log2 => logarithm::log2,
        UnaryOp::Log1p => logarithm::log1p,
        UnaryOp::Asinh => logarithm::asinh,
        UnaryOp::Acosh => logarithm::acosh,
        UnaryOp::Atanh => logarithm::atanh,
        UnaryOp::Sin => trigonometry::sin,
        UnaryOp::Cos => trigonometry::cos,
        UnaryOp::Tan => trigonometry::tan,
        UnaryOp::Asin => trigonometry::asin,
        UnaryOp::Acos => trigonometry::acos,
        UnaryOp::Atan => trigonometry::atan,
        UnaryOp::Cbrt => power::cbrt,
        _ => unreachable!("{} is not transcendental", op.name()),
    };
    function(builder, x)
}
