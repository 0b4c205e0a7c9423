//! `next_after`: the adjacent representable float in a direction.

use super::{Builder, Lowered};
use crate::lower::shape::unsigned;
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, Scalar};

/// The float after `x` in the direction of `towards`; `towards` itself if they are equal.
pub(super) fn next_after(builder: &mut Builder, x: NodeId, towards: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(x);
    if !dtype.is_float() {
        return Err(format!("expected a float operand, found {dtype}").into());
    }
    let bits = unsigned(dtype.size());
    let constant =
        |builder: &mut Builder, word: u64| builder.scalar(Scalar::from_bits(bits, [word, 0]));
    let sign_bit = 1u64 << (8 * dtype.size() - 1);
    let (sign_mask, rest) = (constant(builder, sign_bit), constant(builder, !sign_bit));
    let (zero, one) = (constant(builder, 0), constant(builder, 1));
    let (from, to) = (builder.bitcast(x, bits)?, builder.bitcast(towards, bits)?);
    let from_size = builder.binary(BinaryOp::And, from, rest)?;
    let to_size = builder.binary(BinaryOp::And, to, rest)?;
    let from_sign = builder.binary(BinaryOp::And, from, sign_mask)?;
    let to_sign = builder.binary(BinaryOp::And, to, sign_mask)?;

    // Magnitudes are ordered like their bits, so the adjacent float is one bit pattern up or down.
    let grows = builder.compare(CompareOp::Lt, from_size, to_size)?;
    let same_sign = builder.compare(CompareOp::Eq, from_sign, to_sign)?;
    let grows = builder.binary(BinaryOp::And, grows, same_sign)?;
    let (more, less) = (builder.add(from, one)?, builder.sub(from, one)?);
    let next = builder.select(grows, more, less)?;
    let smallest = builder.binary(BinaryOp::Or, to_sign, one)?;
    let is_zero = builder.compare(CompareOp::Eq, from_size, zero)?;
    let next = builder.select(is_zero, smallest, next)?;
    let next = builder.bitcast(next, dtype)?;

    let is_there = builder.compare(CompareOp::Eq, x, towards)?;
    let next = builder.select(is_there, towards, next)?;
    let x_is_nan = builder.compare(CompareOp::Ne, x, x)?;
    let towards_is_nan = builder.compare(CompareOp::Ne, towards, towards)?;
    let is_nan = builder.binary(BinaryOp::Or, x_is_nan, towards_is_nan)?;
    let nan = builder.float(f64::NAN, dtype);
    builder.select(is_nan, nan, next)
}
