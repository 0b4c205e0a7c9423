//! Error propagation through elementwise ops of floats.

use super::format::{EITHER_ZERO, Format, UNDECIDED, distance};
use inflight_ir::elementwise::{BinaryOp, CompareOp, UnaryOp};
use inflight_ir::interpret::{scalar_binary, scalar_compare, scalar_unary};
use inflight_ir::{DType, Element, Scalar};

/// A value with its error bound.
#[derive(Clone, Copy, Debug)]
pub struct Approximate {
    /// The reference value.
    pub value: f64,
    /// The error bound: the largest deviation from it.
    pub error: f64,
}

/// The error bound of `f32` functions in ulp, plus half an ulp for the reference.
const FUNCTION_ULPS: f64 = 3.5;

/// The error that a function adds, in ulp of its result.
fn function_ulps(dtype: DType) -> f64 {
    match dtype {
        DType::F16 | DType::BF16 => 1.01,
        DType::F64 => 4.0,
        _ => FUNCTION_ULPS,
    }
}

/// The error of a unary op's result. `result` is the reference result, rounded to `dtype`.
pub fn unary(op: UnaryOp, dtype: DType, x: Approximate, result: Scalar) -> f64 {
    let Approximate { value: x, error } = x;
    if error == UNDECIDED {
        return UNDECIDED;
    }
    let format = Format::of(dtype);
    let wide = distance(error);
    let value = result.to_f64();
    match op {
        UnaryOp::Neg | UnaryOp::Abs | UnaryOp::Real | UnaryOp::Conj => error,
        UnaryOp::Imag | UnaryOp::IsNan | UnaryOp::IsFinite => 0.0,
        UnaryOp::Sign => match () {
            _ if x.is_nan() => 0.0,
            _ if wide > 0.0 && x.abs() <= wide => UNDECIDED,
            _ if x == 0.0 => error,
            _ => 0.0,
        },
        UnaryOp::Floor | UnaryOp::Ceil | UnaryOp::Round => {
            let at = |x: f64| scalar_unary(op, x.to_scalar()).to_f64();
            match () {
                _ if !x.is_finite() || error == 0.0 => 0.0,
                _ if at(x - wide) != at(x + wide) => UNDECIDED,
                _ if value == 0.0 => EITHER_ZERO,
                _ => 0.0,
            }
        }
        UnaryOp::Sqrt if wide == 0.0 && value.is_finite() => {
            let exact = value.mul_add(-value, x) == 0.0;
            format.rounded_error(value, error, if exact { 0.0 } else { 1.0 })
        }
        _ => function(op, dtype, Approximate { value: x, error }, value),
    }
}

/// Interval evaluation of a function that is continuous, or whose poles and edges show at the ends of the interval.
fn function(op: UnaryOp, dtype: DType, x: Approximate, value: f64) -> f64 {
    let Approximate { value: x, error } = x;
    let format = Format::of(dtype);
    let wide = distance(error);
    let at = |x: f64| scalar_unary(op, x.to_scalar()).to_f64();
    let ulps = function_ulps(dtype);
    if x == 0.0 && error > 0.0 && op == UnaryOp::Rsqrt {
        return UNDECIDED;
    }
    let centre = at(x);
    let deviation = if wide == 0.0 {
        if centre.is_nan() || centre.is_infinite() {
            return 0.0;
        }
        if value.is_infinite() {
            return format.overflow_error(centre.abs());
        }
        // Functions that are exactly zero at zero preserve the sign of their argument.
        if x == 0.0 && value == 0.0 {
            return error;
        }
        0.0
    } else if matches!(op, UnaryOp::Sin | UnaryOp::Cos) {
        wide.min(2.0)
    } else {
        let pole = op == UnaryOp::Tan
            && (wide > 1.0 || (x - wide).cos().signum() != (x + wide).cos().signum());
        let (low, high) = (at(x - wide), at(x + wide));
        match () {
            _ if pole => return UNDECIDED,
            _ if centre.is_nan() && low.is_nan() && high.is_nan() && wide < 1.0 => return 0.0,
            _ if centre.is_nan() || low.is_nan() || high.is_nan() => return UNDECIDED,
            _ if centre.is_infinite() && low == centre && high == centre => return 0.0,
            _ => {}
        }
        let deviation = (low - centre).abs().max((high - centre).abs());
        if value.is_infinite() && deviation.is_finite() {
            return format.overflow_error(centre.abs() - deviation);
        }
        deviation
    };
    format.rounded_error(value, deviation, ulps)
}

/// Whether the arithmetic of two exact operands gave an exact result.
fn is_exact(op: BinaryOp, a: f64, b: f64, value: f64) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Sub => {
            let b = if op == BinaryOp::Sub { -b } else { b };
            let sum = a + b;
            let back = sum - a;
            sum == value && (a - (sum - back)) + (b - back) == 0.0
        }
        BinaryOp::Mul => {
            let product = a * b;
            let lost = product == 0.0 && a != 0.0 && b != 0.0;
            product == value && !lost && a.mul_add(b, -product) == 0.0
        }
        BinaryOp::Div => {
            let quotient = a / b;
            let lost = quotient == 0.0 && a != 0.0;
            quotient == value && !lost && quotient.mul_add(-b, a) == 0.0
        }
        _ => false,
    }
}

/// The error of a binary op's result. `result` is the reference result, rounded to `dtype`.
pub fn binary(op: BinaryOp, dtype: DType, a: Approximate, b: Approximate, result: Scalar) -> f64 {
    if a.error == UNDECIDED || b.error == UNDECIDED {
        return UNDECIDED;
    }
    let value = result.to_f64();
    match op {
        BinaryOp::Complex => a.error.max(b.error),
        BinaryOp::Min | BinaryOp::Max => extreme(a, b, value),
        // NaN to the power of 0 is 1, and so is 1 to the power of NaN.
        BinaryOp::Pow if may_be(b, 0.0) && a.value.is_nan() => UNDECIDED,
        BinaryOp::Pow if may_be(a, 1.0) && b.value.is_nan() => UNDECIDED,
        _ if a.value.is_nan() || b.value.is_nan() => 0.0,
        BinaryOp::Rem => remainder(dtype, a, b, value),
        BinaryOp::Pow => power(dtype, a, b, value),
        BinaryOp::Atan2 => angle(dtype, a, b, value),
        _ => arithmetic(op, dtype, a, b, value),
    }
}

/// Whether an inexact value may equal `constant`.
fn may_be(x: Approximate, constant: f64) -> bool {
    distance(x.error) > 0.0 && (x.value - constant).abs() <= x.error
}

fn extreme(a: Approximate, b: Approximate, value: f64) -> f64 {
    if a.value.is_nan() || b.value.is_nan() {
        return 0.0;
    }
    let apart = (a.value - b.value).abs() > a.error + b.error;
    let error = match apart {
        true if value == a.value => a.error,
        true => b.error,
        false => a.error.max(b.error),
    };
    // Which of two zeros is smaller depends on their signs only.
    if value == 0.0 && !apart { error.max(EITHER_ZERO) } else { error }
}

fn arithmetic(op: BinaryOp, dtype: DType, a: Approximate, b: Approximate, value: f64) -> f64 {
    let format = Format::of(dtype);
    let (Approximate { value: x, error: ex }, Approximate { value: y, error: ey }) = (a, b);
    // Whether an operand may be zero without being exactly zero, or only its sign is unknown.
    let open = |x: f64, error: f64| error > 0.0 && x.abs() <= error;
    if !x.is_finite() || !y.is_finite() {
        let undecided = match op {
            BinaryOp::Add | BinaryOp::Sub => false,
            BinaryOp::Mul => open(x, distance(ex)) || open(y, distance(ey)),
            _ => false,
        };
        // The sign of an infinity may depend on the sign of a zero.
        let sign = value.is_infinite() && (open(x, ex) || open(y, ey));
        return match () {
            _ if undecided || (op != BinaryOp::Add && op != BinaryOp::Sub && sign) => UNDECIDED,
            _ if value == 0.0 => EITHER_ZERO,
            _ => 0.0,
        };
    }
    if op == BinaryOp::Div && y.abs() <= ey {
        // Division by a zero of known sign gives an infinity, unless 0 is divided.
        if ey > 0.0 {
            let nan = distance(ey) == 0.0 && x == 0.0 && distance(ex) == 0.0;
            return if nan { 0.0 } else { UNDECIDED };
        }
        return if open(x, distance(ex)) || open(x, ex) && value.is_infinite() {
            UNDECIDED
        } else {
            0.0
        };
    }
    let exact_operands = distance(ex) == 0.0 && distance(ey) == 0.0;
    if exact_operands {
        if value.is_infinite() {
            return 0.0;
        }
        let exact = is_exact(op, x, y, value);
        let zero = exact && value == 0.0 && (ex > 0.0 || ey > 0.0);
        return match zero {
            true => EITHER_ZERO,
            false => format.rounded_error(value, 0.0, if exact { 0.0 } else { 1.0 }),
        };
    }
    let deviation = match op {
        BinaryOp::Add | BinaryOp::Sub => ex + ey,
        BinaryOp::Mul => x.abs() * ey + y.abs() * ex + ex * ey,
        _ => (ex + (x / y).abs() * ey) / (y.abs() - ey),
    };
    if value.is_infinite() {
        let centre = scalar_binary(op, x.to_scalar(), y.to_scalar()).to_f64().abs();
        return format.overflow_error(if deviation.is_finite() { centre - deviation } else { 0.0 });
    }
    format.rounded_error(value, deviation, 1.0)
}

fn remainder(dtype: DType, a: Approximate, b: Approximate, value: f64) -> f64 {
    let (ea, eb) = (distance(a.error), distance(b.error));
    let format = Format::of(dtype);
    if ea == 0.0 && eb == 0.0 {
        return if value.is_nan() { 0.0 } else { format.rounded_error(value, a.error, 0.0) };
    }
    if !a.value.is_finite() || !b.value.is_finite() || b.value.abs() <= eb {
        return UNDECIDED;
    }
    let low = ((a.value.abs() - ea) / (b.value.abs() + eb)).trunc();
    let high = ((a.value.abs() + ea) / (b.value.abs() - eb)).trunc();
    // Beyond the precision of `f64`, the quotients themselves are rounded.
    match low == high && high < 1e9 && a.value.abs() > ea {
        true => format.rounded_error(value, ea + high * eb, 1.0),
        false => UNDECIDED,
    }
}

fn power(dtype: DType, a: Approximate, b: Approximate, value: f64) -> f64 {
    let format = Format::of(dtype);
    let (ea, eb) = (distance(a.error), distance(b.error));
    let at = |x: f64, y: f64| x.powf(y);
    let centre = at(a.value, b.value);
    if a.value == 0.0 && a.error > 0.0 {
        return UNDECIDED;
    }
    if ea == 0.0 && eb == 0.0 {
        return match () {
            _ if !centre.is_finite() => 0.0,
            _ if value.is_infinite() => format.overflow_error(centre.abs()),
            _ => format.rounded_error(value, 0.0, function_ulps(dtype)),
        };
    }
    let scaled_magnitude = eb == 0.0 && b.value == b.value.trunc();
    if !a.value.is_finite()
        || !b.value.is_finite()
        || a.value.abs() <= ea
        || (a.value < 0.0 && !scaled_magnitude)
    {
        return UNDECIDED;
    }
    let corners = [(-ea, -eb), (-ea, eb), (ea, -eb), (ea, eb)];
    let deviation = corners.map(|(da, db)| (at(a.value + da, b.value + db) - centre).abs());
    let deviation = deviation.into_iter().fold(0.0, f64::max);
    if value.is_infinite() {
        return format.overflow_error(if deviation.is_finite() {
            centre.abs() - deviation
        } else {
            0.0
        });
    }
    format.rounded_error(value, deviation, function_ulps(dtype))
}

fn angle(dtype: DType, y: Approximate, x: Approximate, value: f64) -> f64 {
    let format = Format::of(dtype);
    let ulps = function_ulps(dtype);
    if y.error == 0.0 && x.error == 0.0 {
        return if value == 0.0 && y.value == 0.0 {
            0.0
        } else {
            format.rounded_error(value, 0.0, ulps)
        };
    }
    let (error, radius) = (y.error.max(x.error) * 2.0, y.value.hypot(x.value));
    let cut = x.value - x.error <= 0.0 && y.error > 0.0 && y.value.abs() <= y.error;
    match cut || !radius.is_finite() || radius <= 2.0 * error {
        true => UNDECIDED,
        false => format.rounded_error(value, error / (radius - error), ulps),
    }
}

/// The error of a comparison's result: none, or undecided.
pub fn compare(op: CompareOp, a: Approximate, b: Approximate) -> f64 {
    if a.error == UNDECIDED || b.error == UNDECIDED {
        return UNDECIDED;
    }
    let error = distance(a.error) + distance(b.error);
    let settled = error == 0.0 || !a.value.is_finite() || !b.value.is_finite();
    let (low, high) = ((b.value - error).to_scalar(), (b.value + error).to_scalar());
    let a = a.value.to_scalar();
    let beside = scalar_compare(op, a, low) == scalar_compare(op, a, high)
        && scalar_compare(CompareOp::Lt, a, low) == scalar_compare(CompareOp::Lt, a, high)
        && scalar_compare(CompareOp::Gt, a, low) == scalar_compare(CompareOp::Gt, a, high);
    if settled || beside { 0.0 } else { UNDECIDED }
}

/// The error of a float cast to another dtype. `result` is the reference result.
pub fn cast(to: DType, x: Approximate, result: Scalar) -> f64 {
    let Approximate { value: x, error } = x;
    if error == UNDECIDED {
        return UNDECIDED;
    }
    let wide = distance(error);
    if to.is_float() || to.is_complex() {
        let format = Format::of(to);
        let value = result.to_f64();
        return match () {
            _ if !x.is_finite() => 0.0,
            _ if value.is_infinite() && wide == 0.0 => 0.0,
            _ if value.is_infinite() => format.overflow_error(x.abs() - wide),
            _ if value == x => format.flush_error(value, error),
            _ => format.rounded_error(value, error, 1.0),
        };
    }
    let at = |x: f64| x.to_scalar().cast(to);
    let zero = to == DType::Bool && wide > 0.0 && x.abs() <= wide;
    match wide == 0.0 || (at(x - wide) == at(x + wide) && !zero) {
        true => 0.0,
        false => UNDECIDED,
    }
}
