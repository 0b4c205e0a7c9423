//! Polynomial approximations of `f32` functions, as straight-line arithmetic that every backend supports.
//!
//! Error bound: each function is within 3 ulp of the true value (most are within 2) and exact for NaN, infinities
//! and zeros. No function depends on subnormals: with or without flush-to-zero, the result is within the bound of
//! the function at `x`, or at a zero of the same sign if `x` is subnormal. The coefficients are minimax fits of the
//! relative error.
//!
//! `Sin`, `Cos` and `Tan` hold the bound for every finite argument: range reduction is exact up to the largest `f32`.

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

/// Expands a [transcendental](UnaryOp::is_transcendental) function of an `f32`.
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
