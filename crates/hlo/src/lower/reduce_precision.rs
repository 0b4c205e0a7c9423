//! Expansion of `reduce_precision`: rounding to a floating point format with fewer bits.

use super::builder::{Builder, Lowered};
use inflight_ir::graph::NodeId;
use inflight_ir::{BinaryOp, CompareOp, DType, Scalar};

/// The bit layout of a float dtype.
struct Format {
    bits: DType,
    exponent: u32,
    mantissa: u32,
}

fn format(dtype: DType) -> Option<Format> {
    let (bits, exponent, mantissa) = match dtype {
        DType::F16 => (DType::U16, 5, 10),
        DType::BF16 => (DType::U16, 8, 7),
        DType::F32 => (DType::U32, 8, 23),
        DType::F64 => (DType::U64, 11, 52),
        _ => return None,
    };
    Some(Format { bits, exponent, mantissa })
}

/// Rounds `x` to nearest even in a format with the given exponent and mantissa widths, and returns it in its own dtype.
/// Overflow gives infinity, underflow zero.
pub(super) fn reduce(
    builder: &mut Builder,
    x: NodeId,
    exponent_bits: u32,
    mantissa_bits: u32,
) -> Lowered<NodeId> {
    let dtype = builder.dtype(x);
    let Some(format) = format(dtype) else {
        return Err(format!("expected a float operand, found {dtype}").into());
    };
    if exponent_bits == 0 {
        return Err("expected `exponent_bits` to be positive, found 0".into());
    }
    let unsigned = format.bits;
    let constant =
        |builder: &mut Builder, bits: u64| builder.scalar(Scalar::from_bits(unsigned, [bits, 0]));
    let bits = builder.bitcast(x, unsigned)?;
    let mut rounded = bits;
    if mantissa_bits < format.mantissa {
        // Round to nearest even on the bits: add half a unit in the last kept place, less one if that bit is even. A
        // carry into the exponent is the correct result.
        let dropped = format.mantissa - mantissa_bits;
        let last = 1u64 << dropped;
        let count = constant(builder, dropped as u64);
        let (one, half) = (constant(builder, 1), constant(builder, (last >> 1) - 1));
        let odd = builder.binary(BinaryOp::ShiftRightLogical, bits, count)?;
        let odd = builder.binary(BinaryOp::And, odd, one)?;
        let bias = builder.add(odd, half)?;
        rounded = builder.add(rounded, bias)?;
        let kept = constant(builder, !(last - 1));
        rounded = builder.binary(BinaryOp::And, rounded, kept)?;
    }
    if exponent_bits < format.exponent {
        let sign_bit = 1u64 << (format.exponent + format.mantissa);
        let bias = (1u64 << (format.exponent - 1)) - 1;
        let reduced_bias = (1u64 << (exponent_bits - 1)) - 1;
        let exponents = ((1u64 << format.exponent) - 1) << format.mantissa;
        let (least, most) = (bias - reduced_bias, bias + reduced_bias);
        let mask = constant(builder, exponents);
        let exponent = builder.binary(BinaryOp::And, rounded, mask)?;
        let most = constant(builder, most << format.mantissa);
        let least = constant(builder, least << format.mantissa);
        let is_large = builder.compare(CompareOp::Gt, exponent, most)?;
        let is_small = builder.compare(CompareOp::Le, exponent, least)?;
        let sign_mask = constant(builder, sign_bit);
        let sign = builder.binary(BinaryOp::And, rounded, sign_mask)?;
        let infinity = builder.binary(BinaryOp::Or, sign, mask)?;
        rounded = builder.select(is_small, sign, rounded)?;
        rounded = builder.select(is_large, infinity, rounded)?;
    }
    let rounded = builder.bitcast(rounded, dtype)?;
    let is_nan = builder.compare(CompareOp::Ne, x, x)?;
    if mantissa_bits > 0 {
        builder.select(is_nan, x, rounded)
    } else {
        // A format without mantissa bits has no NaN.
        let infinity = builder.float(f64::INFINITY, dtype);
        builder.select(is_nan, infinity, rounded)
    }
}
