//! Lowering of elementwise operations, with CHLO's implicit broadcasting, and of `map`.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered};
use super::context::{Bound, Lowering};
use super::control_flow::regions;
use super::{complex_functions, reduce_precision, special};
use crate::module::Operation;
use inflight_ir::graph::NodeId;
use inflight_ir::{Axes, BinaryOp, CompareOp, DType, DTypeClass, Scalar, Shape, UnaryOp};

/// Whether [`lower`] supports the operation.
pub(super) fn is_elementwise(name: &str) -> bool {
    let name = name.strip_prefix("chlo.broadcast_").unwrap_or(name);
    unary_op(name).is_some()
        || binary_op(name).is_some()
        || special::is_special(name)
        || matches!(
            name,
            "maximum"
                | "minimum"
                | "compare"
                | "chlo.compare"
                | "select"
                | "clamp"
                | "convert"
                | "reduce_precision"
                | "round_nearest_afz"
                | "shift_right_arithmetic"
                | "bitcast_convert"
                | "atan2"
                | "complex"
                | "cbrt"
                | "power"
        )
}

/// Lowers an elementwise operation, by its name without `stablehlo.`. `None` if it is not elementwise.
pub(super) fn lower(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
    name: &str,
) -> Lowered<Option<NodeId>> {
    if !is_elementwise(name) {
        return Ok(None);
    }
    let fields = AttributeView::of(operation);
    let mut operands = lowering.operands(operation)?;
    let result = lowering.declared_dtype(operation, 0)?;
    let builder = lowering.builder();
    let name = match name.strip_prefix("chlo.broadcast_") {
        Some(name) => {
            broadcast_operands(builder, fields, &mut operands)?;
            name
        }
        None => name,
    };
    apply(builder, name, fields, &operands, result).map(Some)
}

/// Broadcasts operands to a common shape: by `broadcast_dimensions` if present, else by NumPy's rule.
fn broadcast_operands(
    builder: &mut Builder,
    fields: AttributeView<'_>,
    operands: &mut [NodeId],
) -> Lowered<()> {
    let rank = operands.iter().map(|&x| builder.shape(x).rank()).max().unwrap_or(0);
    if fields.get("broadcast_dimensions").is_some() {
        let axes = fields.axes("broadcast_dimensions")?;
        for operand in operands.iter_mut() {
            let shape = builder.shape(*operand).clone();
            if shape.rank() < rank && shape.rank() == axes.len() {
                let mut extents = Axes::from_elem(1, rank);
                for (&axis, &extent) in axes.iter().zip(shape.iter()) {
                    *extents.get_mut(axis).ok_or("`broadcast_dimensions` is out of range")? =
                        extent;
                }
                *operand = builder.reshape(*operand, &Shape::new(&extents))?;
            }
        }
    }
    let mut shape = Shape::scalar();
    for &operand in operands.iter() {
        let other = builder.shape(operand);
        shape = shape
            .broadcast(other)
            .ok_or_else(|| format!("expected shapes that broadcast, found {shape} and {other}"))?;
    }
    for operand in operands {
        *operand = builder.broadcast(*operand, &shape)?;
    }
    Ok(())
}

fn unary_op(name: &str) -> Option<UnaryOp> {
    use UnaryOp::*;
    Some(match name {
        "abs" => Abs,
        "ceil" => Ceil,
        "cosine" => Cos,
        "count_leading_zeros" => LeadingZeros,
        "exponential" => Exp,
        "exponential_minus_one" => Expm1,
        "floor" => Floor,
        "imag" => Imag,
        "is_finite" => IsFinite,
        "log" => Log,
        "log_plus_one" => Log1p,
        "logistic" => Sigmoid,
        "negate" => Neg,
        "not" => Not,
        "popcnt" => PopulationCount,
        "real" => Real,
        "round_nearest_even" => Round,
        "rsqrt" => Rsqrt,
        "sign" => Sign,
        "sine" => Sin,
        "sqrt" => Sqrt,
        "tan" | "chlo.tan" => Tan,
        "tanh" => Tanh,
        "chlo.acos" => Acos,
        "chlo.acosh" => Acosh,
        "chlo.asin" => Asin,
        "chlo.asinh" => Asinh,
        "chlo.atan" => Atan,
        "chlo.atanh" => Atanh,
        "chlo.conj" => Conj,
        "chlo.cosh" => Cosh,
        "chlo.sinh" => Sinh,
        "chlo.erf" => Erf,
        _ => return None,
    })
}

fn binary_op(name: &str) -> Option<BinaryOp> {
    use BinaryOp::*;
    Some(match name {
        "add" => Add,
        "and" => And,
        "divide" => Div,
        "multiply" => Mul,
        "or" => Or,
        "remainder" => Rem,
        "shift_left" => ShiftLeft,
        "shift_right_logical" => ShiftRightLogical,
        "subtract" => Sub,
        "xor" => Xor,
        _ => return None,
    })
}

fn apply(
    builder: &mut Builder,
    name: &str,
    fields: AttributeView<'_>,
    operands: &[NodeId],
    result: DType,
) -> Lowered<NodeId> {
    if let Some(op) = unary_op(name) {
        let [x] = expect_array(operands)?;
        return unary(builder, op, x);
    }
    if let Some(op) = binary_op(name) {
        let [a, b] = expect_array(operands)?;
        return builder.binary(op, a, b);
    }
    if special::is_special(name) {
        return special::apply(builder, name, operands, result);
    }
    match name {
        "maximum" => min_or_max(builder, CompareOp::Gt, operands),
        "minimum" => min_or_max(builder, CompareOp::Lt, operands),
        "compare" | "chlo.compare" => {
            let [a, b] = expect_array(operands)?;
            let direction = direction(fields)?;
            let is_total = matches!(fields.enum_case("compare_type")?, Some("TOTALORDER"));
            compare(builder, direction, is_total, a, b)
        }
        "select" => {
            let [condition, a, b] = expect_array(operands)?;
            builder.select(condition, a, b)
        }
        "clamp" => {
            let [low, x, high] = expect_array(operands)?;
            let x = min_or_max(builder, CompareOp::Gt, &[x, low])?;
            min_or_max(builder, CompareOp::Lt, &[x, high])
        }
        "convert" => {
            let [x] = expect_array(operands)?;
            builder.cast(x, result)
        }
        "bitcast_convert" => {
            let [x] = expect_array(operands)?;
            builder.bitcast(x, result)
        }
        "reduce_precision" => {
            let [x] = expect_array(operands)?;
            let bits = |name| -> Lowered<u32> {
                let count = fields.integer(name)?.unwrap_or(-1);
                u32::try_from(count).map_err(|_| {
                    format!("expected `{name}` to be a bit width, found {count}").into()
                })
            };
            reduce_precision::reduce(builder, x, bits("exponent_bits")?, bits("mantissa_bits")?)
        }
        "round_nearest_afz" => {
            let [x] = expect_array(operands)?;
            round_away_from_zero(builder, x)
        }
        "shift_right_arithmetic" => {
            let [a, b] = expect_array(operands)?;
            // The highest bit is the sign, even for unsigned dtypes.
            let (dtype, signed) = (builder.dtype(a), signed_of_same_size(builder.dtype(a)));
            let (a, b) = (builder.bitcast(a, signed)?, builder.bitcast(b, signed)?);
            let shifted = builder.binary(BinaryOp::ShiftRight, a, b)?;
            builder.bitcast(shifted, dtype)
        }
        "complex" => {
            let [a, b] = expect_array(operands)?;
            builder.binary(BinaryOp::Complex, a, b)
        }
        "atan2" => {
            let [a, b] = expect_array(operands)?;
            match builder.dtype(a).is_complex() {
                true => complex_functions::atan2(builder, a, b),
                false => builder.binary(BinaryOp::Atan2, a, b),
            }
        }
        "cbrt" => {
            let [x] = expect_array(operands)?;
            match builder.dtype(x).is_complex() {
                true => complex_functions::cbrt(builder, x),
                false => builder.unary(UnaryOp::Cbrt, x),
            }
        }
        "power" => {
            let [a, b] = expect_array(operands)?;
            match builder.dtype(a).is_complex() {
                true => complex_functions::power(builder, a, b),
                false => builder.binary(BinaryOp::Pow, a, b),
            }
        }
        _ => Err(format!("{name} is not an elementwise operation").into()),
    }
}

pub(super) fn expect_array<const N: usize>(operands: &[NodeId]) -> Lowered<[NodeId; N]> {
    operands
        .try_into()
        .map_err(|_| format!("expected {N} operands, found {}", operands.len()).into())
}

fn unary(builder: &mut Builder, op: UnaryOp, x: NodeId) -> Lowered<NodeId> {
    // `conj` and `real` are the identity on real operands.
    match (op, builder.dtype(x).class()) {
        (UnaryOp::Conj | UnaryOp::Real, DTypeClass::Float) => Ok(x),
        _ => builder.unary(op, x),
    }
}

/// The signed integer dtype of the same size.
pub(super) fn signed_of_same_size(dtype: DType) -> DType {
    match dtype.size() {
        1 => DType::I8,
        2 => DType::I16,
        4 => DType::I32,
        _ => DType::I64,
    }
}

fn direction(fields: AttributeView<'_>) -> Lowered<CompareOp> {
    Ok(match fields.enum_case("comparison_direction")? {
        Some("EQ") => CompareOp::Eq,
        Some("NE") => CompareOp::Ne,
        Some("LT") => CompareOp::Lt,
        Some("LE") => CompareOp::Le,
        Some("GT") => CompareOp::Gt,
        Some("GE") => CompareOp::Ge,
        _ => {
            return Err(
                "expected `comparison_direction` to be one of EQ, NE, LT, LE, GT, GE".into()
            );
        }
    })
}

/// A comparison. Complex values compare lexicographically: real part, then imaginary part.
pub(super) fn compare(
    builder: &mut Builder,
    op: CompareOp,
    is_total: bool,
    a: NodeId,
    b: NodeId,
) -> Lowered<NodeId> {
    let dtype = builder.dtype(a);
    if is_total && dtype.is_float() {
        let (a, b) = (total_order(builder, a)?, total_order(builder, b)?);
        return builder.compare(op, a, b);
    }
    if !dtype.is_complex() || matches!(op, CompareOp::Eq | CompareOp::Ne) {
        return builder.compare(op, a, b);
    }
    let (a_real, b_real) = (builder.unary(UnaryOp::Real, a)?, builder.unary(UnaryOp::Real, b)?);
    let (a_imag, b_imag) = (builder.unary(UnaryOp::Imag, a)?, builder.unary(UnaryOp::Imag, b)?);
    let strict = match op {
        CompareOp::Le => CompareOp::Lt,
        CompareOp::Ge => CompareOp::Gt,
        other => other,
    };
    let first = builder.compare(strict, a_real, b_real)?;
    let tie = builder.compare(CompareOp::Eq, a_real, b_real)?;
    let second = builder.compare(op, a_imag, b_imag)?;
    let second = builder.binary(BinaryOp::And, tie, second)?;
    builder.binary(BinaryOp::Or, first, second)
}

/// Order-preserving mapping of a float to an integer, for the IEEE 754 total order.
pub(super) fn total_order(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let dtype = signed_of_same_size(builder.dtype(x));
    let bits = builder.bitcast(x, dtype)?;
    let last = builder.integer(8 * dtype.size() as i64 - 1, dtype);
    let sign = builder.binary(BinaryOp::ShiftRight, bits, last)?;
    let most = builder.scalar(Scalar::highest(dtype));
    let flip = builder.binary(BinaryOp::And, sign, most)?;
    builder.binary(BinaryOp::Xor, bits, flip)
}

/// The maximum (`Gt`) or minimum (`Lt`) of two values.
fn min_or_max(builder: &mut Builder, op: CompareOp, operands: &[NodeId]) -> Lowered<NodeId> {
    let [a, b] = expect_array(operands)?;
    if builder.dtype(a).is_complex() {
        let first = compare(builder, op, false, a, b)?;
        return builder.select(first, a, b);
    }
    let op = if op == CompareOp::Gt { BinaryOp::Max } else { BinaryOp::Min };
    builder.binary(op, a, b)
}

/// Rounds to the nearest integer, ties away from zero. Every step is exact.
fn round_away_from_zero(builder: &mut Builder, x: NodeId) -> Lowered<NodeId> {
    let dtype = builder.dtype(x);
    let size = builder.unary(UnaryOp::Abs, x)?;
    let below = builder.unary(UnaryOp::Floor, size)?;
    let rest = builder.sub(size, below)?;
    let (half, one) = (builder.float(0.5, dtype), builder.float(1.0, dtype));
    let is_up = builder.compare(CompareOp::Ge, rest, half)?;
    let above = builder.add(below, one)?;
    let rounded = builder.select(is_up, above, below)?;
    let sign = builder.unary(UnaryOp::Sign, x)?;
    builder.mul(rounded, sign)
}

/// `map`
pub(super) fn map<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let [body] = regions::<1>(operation)?;
    let operands = lowering.operands(operation)?;
    let Some(&first) = operands.first() else { return Err("expected at least one operand".into()) };
    let shape = lowering.builder().shape(first).clone();
    let results = lowering.apply_elementwise(body, &operands, &shape)?;
    Ok(results.into_iter().map(|node| lowering.bound(node)).collect())
}
