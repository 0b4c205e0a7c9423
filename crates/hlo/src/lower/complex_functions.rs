//! Complex `power`, `atan2` and `cbrt`, expanded to core ops with special cases that the core ops lack.

use super::builder::{Builder, Lowered};
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, DType, Scalar, UnaryOp};

/// aᵇ. A zero base gives 1 for exponent zero and 0 otherwise.
pub(super) fn power(builder: &mut Builder, a: NodeId, b: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(a);
    let power = builder.binary(BinaryOp::Pow, a, b)?;
    let (zero, one) = (builder.scalar(Scalar::zero(dtype)), builder.scalar(Scalar::one(dtype)));
    let is_zero = builder.compare(CompareOp::Eq, a, zero)?;
    let no_power = builder.compare(CompareOp::Eq, b, zero)?;
    let of_zero = builder.select(no_power, one, zero)?;
    builder.select(is_zero, of_zero, power)
}

/// The angle of the complex "point" (x, y): −i · ln((x + i·y) / √(x² + y²)).
pub(super) fn atan2(builder: &mut Builder, y: NodeId, x: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(y);
    if dtype == DType::C64 {
        // The logarithm of a value of magnitude close to 1 cancels: compute it in double precision.
        let (y, x) = (builder.cast(y, DType::C128)?, builder.cast(x, DType::C128)?);
        let angle = atan2(builder, y, x)?;
        return builder.cast(angle, dtype);
    }
    let part = dtype.real();
    let (zero, one) = (builder.float(0.0, part), builder.float(1.0, part));
    let i = builder.binary(BinaryOp::Complex, zero, one)?;
    let rotated = builder.mul(y, i)?;
    let point = builder.add(x, rotated)?;
    let (x_squared, y_squared) = (builder.mul(x, x)?, builder.mul(y, y)?);
    let squared = builder.add(x_squared, y_squared)?;
    let size = builder.unary(UnaryOp::Sqrt, squared)?;
    let quotient = builder.div(point, size)?;
    let log = builder.unary(UnaryOp::Log, quotient)?;
    let minus_i = builder.neg(i)?;
    builder.mul(log, minus_i)
}

/// The principal cube root.
pub(super) fn cbrt(builder: &mut Builder, z: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(z);
    let third = builder.float(1.0 / 3.0, dtype.real());
    let zero = builder.float(0.0, dtype.real());
    let exponent = builder.binary(BinaryOp::Complex, third, zero)?;
    power(builder, z, exponent)
}
