//! C++ expressions of arithmetic instructions on one element.

use super::types;
use inflight_ir::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use inflight_ir::kernel::{Kernel, Kind, Value};
use inflight_ir::{DType, DTypeClass, Scalar};

/// The expression of an arithmetic instruction. `names` are the expressions of all values.
pub fn arithmetic(kernel: &Kernel, value: Value, names: &[String]) -> String {
    let instruction = kernel.body[value as usize];
    let name = |value: Value| names[value as usize].as_str();
    let of = |value: Value| kernel.body[value as usize].dtype;
    match instruction.kind {
        Kind::Unary(op, a) => unary(op, of(a), name(a)),
        Kind::Binary(op, a, b) => binary(op, of(a), name(a), name(b)),
        Kind::Compare(op, a, b) => compare(op, of(a), name(a), name(b)),
        Kind::Select(mask, a, b) => format!("({} ? {} : {})", name(mask), name(a), name(b)),
        Kind::Fma(a, b, c) if instruction.dtype == DType::F32 => {
            format!("__fmaf_rn({}, {}, {})", name(a), name(b), name(c))
        }
        Kind::Fma(a, b, c) => format!("__fma_rn({}, {}, {})", name(a), name(b), name(c)),
        Kind::Cast(a) => cast(of(a), instruction.dtype, name(a)),
        Kind::Bitcast(a) => bitcast(instruction.dtype, name(a)),
        _ => unreachable!("not an arithmetic instruction"),
    }
}

/// `op(a)`.
pub fn unary(op: UnaryOp, operand: DType, a: &str) -> String {
    let is_f32 = operand == DType::F32;
    let suffixed = |name: &str| match is_f32 {
        true => format!("{name}f({a})"),
        false => format!("{name}({a})"),
    };
    if operand.is_complex() {
        let name = match op {
            UnaryOp::Real => return format!("({a}).re"),
            UnaryOp::Imag => return format!("({a}).im"),
            UnaryOp::Neg => "complex_neg",
            UnaryOp::Conj => "complex_conj",
            UnaryOp::Abs => "complex_abs",
            UnaryOp::IsNan => "complex_is_nan",
            UnaryOp::IsFinite => "complex_is_finite",
            // Computed in double precision, then rounded.
            _ if operand == DType::C64 => {
                return format!("narrow({}(widen({a})))", complex_function(op));
            }
            _ => complex_function(op),
        };
        return format!("{name}({a})");
    }
    match op {
        UnaryOp::Neg => format!("(-{a})"),
        UnaryOp::Abs => suffixed("fabs"),
        UnaryOp::Floor => suffixed("floor"),
        UnaryOp::Ceil => suffixed("ceil"),
        UnaryOp::Round => suffixed("rint"),
        UnaryOp::Sqrt => match is_f32 {
            true => format!("__fsqrt_rn({a})"),
            false => format!("__dsqrt_rn({a})"),
        },
        UnaryOp::PopulationCount => {
            format!("({})__popcll(bits_of({a}))", types::name(operand))
        }
        UnaryOp::LeadingZeros => format!(
            "({})(__clzll(bits_of({a})) - {})",
            types::name(operand),
            64 - 8 * operand.size()
        ),
        UnaryOp::Sigmoid => format!("sigmoid({a})"),
        UnaryOp::Tanh => format!("hyperbolic_tangent({a})"),
        UnaryOp::Exp
        | UnaryOp::Exp2
        | UnaryOp::Expm1
        | UnaryOp::Log
        | UnaryOp::Log2
        | UnaryOp::Log1p
        | UnaryOp::Cbrt
        | UnaryOp::Sin
        | UnaryOp::Cos
        | UnaryOp::Tan
        | UnaryOp::Asin
        | UnaryOp::Acos
        | UnaryOp::Atan
        | UnaryOp::Sinh
        | UnaryOp::Cosh
        | UnaryOp::Asinh
        | UnaryOp::Acosh
        | UnaryOp::Atanh
        | UnaryOp::Erf => suffixed(op.name()),
        UnaryOp::Sign
        | UnaryOp::Not
        | UnaryOp::Rsqrt
        | UnaryOp::IsNan
        | UnaryOp::IsFinite
        | UnaryOp::Real
        | UnaryOp::Imag
        | UnaryOp::Conj => unreachable!("{} of {operand} should have been expanded", op.name()),
    }
}

fn complex_function(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Sign => "complex_sign",
        UnaryOp::Exp => "complex_exp",
        UnaryOp::Exp2 => "complex_exp2",
        UnaryOp::Expm1 => "complex_expm1",
        UnaryOp::Log => "complex_log",
        UnaryOp::Log2 => "complex_log2",
        UnaryOp::Log1p => "complex_log1p",
        UnaryOp::Sqrt => "complex_sqrt",
        UnaryOp::Rsqrt => "complex_rsqrt",
        UnaryOp::Sin => "complex_sin",
        UnaryOp::Cos => "complex_cos",
        UnaryOp::Tan => "complex_tan",
        UnaryOp::Asin => "complex_asin",
        UnaryOp::Acos => "complex_acos",
        UnaryOp::Atan => "complex_atan",
        UnaryOp::Sinh => "complex_sinh",
        UnaryOp::Cosh => "complex_cosh",
        UnaryOp::Tanh => "complex_tanh",
        UnaryOp::Asinh => "complex_asinh",
        UnaryOp::Acosh => "complex_acosh",
        UnaryOp::Atanh => "complex_atanh",
        UnaryOp::Sigmoid => "complex_sigmoid",
        _ => unreachable!("{} has no complex variant", op.name()),
    }
}

/// Whether a dtype is an integer of at most 32 bits.
fn is_narrow_integer(dtype: DType) -> bool {
    dtype.is_integer() && dtype.size() <= 4
}

/// `op(a, b)`.
pub fn binary(op: BinaryOp, operand: DType, a: &str, b: &str) -> String {
    let name = types::name(operand);
    let wrap = types::wrapping(operand);
    if operand.is_complex() {
        let wide = |function: &str| match operand {
            DType::C64 => format!("narrow({function}(widen({a}), widen({b})))"),
            _ => format!("{function}({a}, {b})"),
        };
        return match op {
            BinaryOp::Add => format!("complex_add({a}, {b})"),
            BinaryOp::Sub => format!("complex_sub({a}, {b})"),
            BinaryOp::Mul => format!("complex_mul({a}, {b})"),
            BinaryOp::Div => wide("complex_div"),
            BinaryOp::Pow => wide("complex_pow"),
            _ => unreachable!("{} has no complex variant", op.name()),
        };
    }
    match op {
        BinaryOp::Complex if operand == DType::F32 => format!("c64{{{a}, {b}}}"),
        BinaryOp::Complex => format!("c128{{{a}, {b}}}"),
        BinaryOp::Sub
            if is_narrow_integer(operand) && a == types::literal(Scalar::zero(operand)) =>
        {
            format!("({name})negative((unsigned)({b}))")
        }
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
            let sign = match op {
                BinaryOp::Add => '+',
                BinaryOp::Sub => '-',
                _ => '*',
            };
            match operand.is_float() {
                true => format!("({a} {sign} {b})"),
                false => format!("({name})(({wrap})({a}) {sign} ({wrap})({b}))"),
            }
        }
        BinaryOp::Div if operand.is_float() => format!("({a} / {b})"),
        BinaryOp::Div => format!("integer_div({a}, {b})"),
        BinaryOp::Rem if operand == DType::F32 => format!("fmodf({a}, {b})"),
        BinaryOp::Rem if operand == DType::F64 => format!("fmod({a}, {b})"),
        BinaryOp::Rem => format!("integer_rem({a}, {b})"),
        BinaryOp::Pow if operand.is_float() => format!("pow({a}, {b})"),
        BinaryOp::Pow => format!("integer_pow({a}, {b})"),
        BinaryOp::Min => format!("smaller({a}, {b})"),
        BinaryOp::Max => format!("larger({a}, {b})"),
        BinaryOp::And => format!("({name})({a} & {b})"),
        BinaryOp::Or => format!("({name})({a} | {b})"),
        BinaryOp::Xor => format!("({name})({a} ^ {b})"),
        BinaryOp::ShiftLeft => format!("shift_left({a}, {b})"),
        BinaryOp::ShiftRight => format!("shift_right({a}, {b})"),
        BinaryOp::ShiftRightLogical => format!("shift_right_logical({a}, {b})"),
        BinaryOp::Atan2 => format!("atan2({a}, {b})"),
    }
}

/// `a op b`, a `bool`.
pub fn compare(op: CompareOp, operand: DType, a: &str, b: &str) -> String {
    let sign = match op {
        CompareOp::Eq => "==",
        CompareOp::Ne => "!=",
        CompareOp::Lt => "<",
        CompareOp::Le => "<=",
        CompareOp::Gt => ">",
        CompareOp::Ge => ">=",
    };
    match (operand.is_complex(), op) {
        (true, CompareOp::Eq) => format!("complex_equal({a}, {b})"),
        (true, _) => format!("(!complex_equal({a}, {b}))"),
        _ => format!("({a} {sign} {b})"),
    }
}

/// `a` converted.
pub fn cast(from: DType, to: DType, a: &str) -> String {
    let name = types::name(to);
    if from == to {
        return a.to_owned();
    }
    let part = match from.is_complex() {
        true => format!("({a}).re"),
        false => a.to_owned(),
    };
    let real = from.real();
    match (from, to) {
        (DType::C64, DType::C128) => return format!("widen({a})"),
        (DType::C128, DType::C64) => return format!("narrow({a})"),
        (_, DType::Bool) if from.is_complex() => {
            return format!("(({a}).re != 0 || ({a}).im != 0)");
        }
        (_, DType::C64) => return format!("c64{{{}, 0.0f}}", cast(real, DType::F32, &part)),
        (_, DType::C128) => return format!("c128{{{}, 0.0}}", cast(real, DType::F64, &part)),
        _ => {}
    }
    if real == to {
        return part;
    }
    match (real, to) {
        (_, DType::Bool) => format!("({part} != 0)"),
        (DType::F16 | DType::BF16, DType::F32) => format!("to_float({part})"),
        (DType::F32, DType::F16) => format!("to_f16({part})"),
        (DType::F32, DType::BF16) => format!("to_bf16({part})"),
        (_, DType::F16) => format!("to_f16(round_to_odd_f32({part}))"),
        (_, DType::BF16) => format!("to_bf16(round_to_odd_f32({part}))"),
        (DType::F16 | DType::BF16, _) => cast(DType::F32, to, &format!("to_float({part})")),
        (DType::F32 | DType::F64, _) if to.is_integer() => {
            let (low, high) = bounds(to);
            format!("to_integer<{name}>({part}, {low}, {high})")
        }
        _ => format!("({name})({part})"),
    }
}

/// An integer dtype's smallest value and the first float beyond its largest. Both are exact in `f32` and `f64`.
fn bounds(dtype: DType) -> (String, String) {
    let bits = 8 * dtype.size() as i32;
    match dtype.class() {
        DTypeClass::Signed => {
            let limit = f64::powi(2.0, bits - 1);
            (format!("-{limit:?}f"), format!("{limit:?}f"))
        }
        _ => ("0.0f".to_owned(), format!("{:?}f", f64::powi(2.0, bits))),
    }
}

/// The same bits as another dtype.
pub fn bitcast(to: DType, a: &str) -> String {
    format!("bit_cast<{}>({a})", types::name(to))
}

/// Combines two values of a reduction, a scan or a combining store. 16-bit floats are combined in `f32`.
pub fn combine(op: CombineOp, dtype: DType, a: &str, b: &str) -> String {
    if dtype.is_half() {
        let wide = |x: &str| cast(dtype, DType::F32, x);
        let combined = binary(op.binary(), DType::F32, &wide(a), &wide(b));
        return cast(DType::F32, dtype, &combined);
    }
    binary(op.binary(), dtype, a, b)
}

/// The identity element of a combination.
pub fn identity(op: CombineOp, dtype: DType) -> String {
    types::literal(Scalar::identity(op, dtype))
}

/// Whether an arg-reduction prefers `a` at index `i` to `b` at index `j`. A negative index means no value yet.
pub fn is_better(op: ArgOp, [a, i]: [&str; 2], [b, j]: [&str; 2]) -> String {
    let function = match op {
        ArgOp::Min => "is_better_min",
        ArgOp::Max => "is_better_max",
    };
    format!("{function}({a}, {i}, {b}, {j})")
}
