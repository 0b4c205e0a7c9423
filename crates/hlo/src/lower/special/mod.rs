//! Expansion of CHLO special functions to arithmetic and elementary functions.
//!
//! They are computed in `f64` and rounded once at the end, because their terms cancel. `erf_inv`, which normally
//! distributed random values are made with, is computed in `f32` for `f32` and 16-bit floats.

#![expect(clippy::excessive_precision, reason = "the coefficients are as published")]

mod bessel;
mod error_function;
mod gamma;
mod next_after;
mod zeta;

use super::builder::{Builder, Lowered};
use super::elementwise::expect_array;
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, DType, UnaryOp};

/// Whether [`apply`] supports the function.
pub(super) fn is_special(name: &str) -> bool {
    matches!(
        name,
        "chlo.erf_inv"
            | "chlo.erfc"
            | "chlo.lgamma"
            | "chlo.digamma"
            | "chlo.polygamma"
            | "chlo.zeta"
            | "chlo.bessel_i1e"
            | "chlo.next_after"
            | "next_after"
            | "polygamma"
            | "zeta"
            | "chlo.square"
            | "chlo.is_inf"
            | "chlo.is_pos_inf"
            | "chlo.is_neg_inf"
    )
}

/// Expands a special function.
pub(super) fn apply(
    builder: &mut Builder,
    name: &str,
    operands: &[NodeId],
    result: DType,
) -> Lowered<NodeId> {
    let unary = match name {
        "chlo.erf_inv" => error_function::erf_inv,
        "chlo.erfc" => error_function::erfc,
        "chlo.lgamma" => gamma::lgamma,
        "chlo.digamma" => gamma::digamma,
        "chlo.bessel_i1e" => bessel::i1e,
        "chlo.square" => {
            let [x] = expect_array(operands)?;
            return builder.mul(x, x);
        }
        "chlo.is_inf" => return infinite(builder, operands, None),
        "chlo.is_pos_inf" => return infinite(builder, operands, Some(f64::INFINITY)),
        "chlo.is_neg_inf" => return infinite(builder, operands, Some(f64::NEG_INFINITY)),
        "chlo.next_after" | "next_after" => {
            let [x, towards] = expect_array(operands)?;
            return next_after::next_after(builder, x, towards);
        }
        _ => {
            let [a, b] = expect_array(operands)?;
            let function = match name {
                "chlo.zeta" | "zeta" => zeta::zeta,
                _ => zeta::polygamma,
            };
            let (a, b) = (widened(builder, a, DType::F64)?, widened(builder, b, DType::F64)?);
            let value = function(builder, a, b)?;
            return builder.cast(value, result);
        }
    };
    let [x] = expect_array(operands)?;
    let least = if name == "chlo.erf_inv" { DType::F32 } else { DType::F64 };
    let x = widened(builder, x, least)?;
    let value = unary(builder, x)?;
    builder.cast(value, result)
}

/// Casts a float operand to `least` if it is narrower.
fn widened(builder: &mut Builder, x: NodeId, least: DType) -> Lowered<NodeId> {
    let dtype = builder.dtype(x);
    if !dtype.is_float() {
        return Err(format!("expected a float operand, found {dtype}").into());
    }
    if dtype.size() < least.size() { builder.cast(x, least) } else { Ok(x) }
}

/// Whether x is infinite, or the given infinity.
fn infinite(builder: &mut Builder, operands: &[NodeId], which: Option<f64>) -> Lowered<NodeId> {
    let [x] = expect_array(operands)?;
    let dtype = builder.dtype(x);
    let size = if which.is_some() { x } else { builder.unary(UnaryOp::Abs, x)? };
    let infinity = builder.float(which.unwrap_or(f64::INFINITY), dtype);
    builder.compare(CompareOp::Eq, size, infinity)
}

/// Arithmetic on nodes of one float dtype, with scalar constants as operands.
pub(super) struct Math<'b> {
    pub builder: &'b mut Builder,
    pub dtype: DType,
}

impl<'b> Math<'b> {
    pub fn new(builder: &'b mut Builder, x: NodeId) -> Math<'b> {
        let dtype = builder.dtype(x);
        Math { builder, dtype }
    }

    pub fn constant(&mut self, value: f64) -> NodeId {
        self.builder.float(value, self.dtype)
    }

    pub fn add(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.add(a, b)
    }

    pub fn sub(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.sub(a, b)
    }

    pub fn mul(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.mul(a, b)
    }

    pub fn div(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.div(a, b)
    }

    pub fn plus(&mut self, a: NodeId, b: f64) -> Lowered<NodeId> {
        let b = self.constant(b);
        self.add(a, b)
    }

    pub fn times(&mut self, a: NodeId, b: f64) -> Lowered<NodeId> {
        let b = self.constant(b);
        self.mul(a, b)
    }

    pub fn unary(&mut self, op: UnaryOp, x: NodeId) -> Lowered<NodeId> {
        self.builder.unary(op, x)
    }

    pub fn compare(&mut self, op: CompareOp, a: NodeId, b: f64) -> Lowered<NodeId> {
        let b = self.constant(b);
        self.builder.compare(op, a, b)
    }

    pub fn select(&mut self, condition: NodeId, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.select(condition, a, b)
    }

    pub fn and(&mut self, a: NodeId, b: NodeId) -> Lowered<NodeId> {
        self.builder.binary(BinaryOp::And, a, b)
    }

    /// A polynomial by Horner's rule, highest power first.
    pub fn polynomial(&mut self, x: NodeId, coefficients: &[f64]) -> Lowered<NodeId> {
        let mut value = self.constant(coefficients[0]);
        for &coefficient in &coefficients[1..] {
            let product = self.mul(value, x)?;
            value = self.plus(product, coefficient)?;
        }
        Ok(value)
    }
}
