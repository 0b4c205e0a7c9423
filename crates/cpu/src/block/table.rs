//! Which function runs which elementwise instruction on which dtype.
//!
//! A combination that no verified kernel has is a panic when the program is prepared.

use super::apply::{Function, one, two};
use super::complex::ComplexNumber;
use super::number::{Bits, Flag, Integer, Number, Ordered, Real};
use half::{bf16, f16};
use inflight_ir::{BinaryOp, CompareOp, DType, UnaryOp};
use num_complex::Complex;

/// Calls a generic function with the element type of a dtype, by the class of the dtype.
macro_rules! by_class {
    ($dtype:expr, $flag:ident, $integer:ident, $real:ident, $complex:ident, ($($argument:expr),*)) => {
        match $dtype {
            DType::Bool => $flag($($argument),*),
            DType::I8 => $integer::<i8>($($argument),*),
            DType::I16 => $integer::<i16>($($argument),*),
            DType::I32 => $integer::<i32>($($argument),*),
            DType::I64 => $integer::<i64>($($argument),*),
            DType::U8 => $integer::<u8>($($argument),*),
            DType::U16 => $integer::<u16>($($argument),*),
            DType::U32 => $integer::<u32>($($argument),*),
            DType::U64 => $integer::<u64>($($argument),*),
            DType::F16 => $real::<f16>($($argument),*),
            DType::BF16 => $real::<bf16>($($argument),*),
            DType::F32 => $real::<f32>($($argument),*),
            DType::F64 => $real::<f64>($($argument),*),
            DType::C64 => $complex::<Complex<f32>>($($argument),*),
            DType::C128 => $complex::<Complex<f64>>($($argument),*),
        }
    };
}
pub(super) use by_class;

/// The function of a unary op on operands of this dtype.
pub fn unary(op: UnaryOp, dtype: DType) -> Function {
    let function = match (op, dtype) {
        // They give a number of another class, so not every class has them.
        (UnaryOp::IsNan | UnaryOp::IsFinite, _) => Some(test(op, dtype)),
        (UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag, DType::C64) => part::<Complex<f32>>(op),
        (UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag, DType::C128) => part::<Complex<f64>>(op),
        _ => by_class!(dtype, flag_unary, integer_unary, real_unary, complex_unary, (op)),
    };
    function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name()))
}

fn test(op: UnaryOp, dtype: DType) -> Function {
    fn real<T: Real>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => one(|a: T| Flag(Ordered::is_nan(a) as u8)),
            _ => one(|a: T| Flag(a.is_finite() as u8)),
        }
    }
    fn complex<T: ComplexNumber>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => one(|a: T| Flag(a.is_nan() as u8)),
            _ => one(|a: T| Flag(a.is_finite() as u8)),
        }
    }
    fn integer<T: Integer>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => one(|_: T| Flag(0)),
            _ => one(|_: T| Flag(1)),
        }
    }
    fn flag(op: UnaryOp) -> Function {
        integer::<u8>(op)
    }
    by_class!(dtype, flag, integer, real, complex, (op))
}

fn part<T: ComplexNumber>(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::Abs => one(|a: T| a.modulus()),
        UnaryOp::Real => one(|a: T| a.real()),
        _ => one(|a: T| a.imaginary()),
    })
}

fn flag_unary(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Not => one(Flag::not),
        Neg | Abs | Sign | Floor | Ceil | Round | Real | Conj => one(|a: Flag| a),
        _ => return None,
    })
}

fn integer_unary<T: Integer>(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Neg => one(T::neg),
        Abs => one(T::abs),
        Sign => one(T::sign),
        Not => one(T::not),
        Floor | Ceil | Round | Real | Conj => one(|a: T| a),
        Imag => one(|a: T| a.xor(a)),
        PopulationCount => one(T::population_count),
        LeadingZeros => one(T::leading_zeros),
        _ => return None,
    })
}

fn real_unary<T: Real>(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Neg => one(T::neg),
        Abs => one(T::abs),
        Sign => one(T::sign),
        Floor => one(T::floor),
        Ceil => one(T::ceil),
        Round => one(T::round),
        Exp => one(T::exp),
        Exp2 => one(T::exp2),
        Expm1 => one(T::expm1),
        Log => one(T::log),
        Log2 => one(T::log2),
        Log1p => one(T::log1p),
        Sqrt => one(T::sqrt),
        Rsqrt => one(T::rsqrt),
        Cbrt => one(T::cbrt),
        Sin => one(T::sin),
        Cos => one(T::cos),
        Tan => one(T::tan),
        Asin => one(T::asin),
        Acos => one(T::acos),
        Atan => one(T::atan),
        Sinh => one(T::sinh),
        Cosh => one(T::cosh),
        Tanh => one(T::tanh),
        Asinh => one(T::asinh),
        Acosh => one(T::acosh),
        Atanh => one(T::atanh),
        Sigmoid => one(T::sigmoid),
        Erf => one(T::erf),
        Real | Conj => one(|a: T| a),
        Imag => one(T::imaginary),
        Not | IsNan | IsFinite | PopulationCount | LeadingZeros => return None,
    })
}

fn complex_unary<T: ComplexNumber>(op: UnaryOp) -> Option<Function> {
    /// A function for each of these ops.
    macro_rules! functions {
        ($($op:ident)*) => {
            match op {
                UnaryOp::Neg => one(T::neg),
                UnaryOp::Conj => one(T::conj),
                $(UnaryOp::$op => one(|a: T| a.unary(UnaryOp::$op)),)*
                _ => return None,
            }
        };
    }
    Some(functions!(
        Sign Exp Exp2 Expm1 Log Log2 Log1p Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh
        Acosh Atanh Sigmoid
    ))
}

/// The function of a binary op on operands of this dtype.
pub fn binary(op: BinaryOp, dtype: DType) -> Function {
    let function = match (op, dtype) {
        (BinaryOp::Complex, DType::F32) => Some(two(Complex::<f32>::new)),
        (BinaryOp::Complex, DType::F64) => Some(two(Complex::<f64>::new)),
        _ => by_class!(dtype, flag_binary, integer_binary, real_binary, complex_binary, (op)),
    };
    function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name()))
}

fn flag_binary(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add | Max | Or => two(Flag::or),
        Mul | Min | And => two(Flag::and),
        Sub | Xor => two(Flag::xor),
        _ => return None,
    })
}

fn integer_binary<T: Integer>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => two(T::add),
        Sub => two(T::sub),
        Mul => two(T::mul),
        Div => two(T::div),
        Rem => two(T::rem),
        Pow => two(T::pow),
        Min => two(T::min),
        Max => two(T::max),
        And => two(T::and),
        Or => two(T::or),
        Xor => two(T::xor),
        ShiftLeft => two(T::shift_left),
        ShiftRight => two(T::shift_right),
        ShiftRightLogical => two(T::shift_right_logical),
        Atan2 | Complex => return None,
    })
}

fn real_binary<T: Real>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => two(T::add),
        Sub => two(T::sub),
        Mul => two(T::mul),
        Div => two(T::div),
        Rem => two(T::rem),
        Pow => two(T::pow),
        Min => two(T::min),
        Max => two(T::max),
        Atan2 => two(T::atan2),
        And | Or | Xor | ShiftLeft | ShiftRight | ShiftRightLogical | Complex => return None,
    })
}

fn complex_binary<T: ComplexNumber>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => two(T::add),
        Sub => two(T::sub),
        Mul => two(T::mul),
        Div => two(|a: T, b: T| a.binary(BinaryOp::Div, b)),
        Pow => two(|a: T, b: T| a.binary(BinaryOp::Pow, b)),
        _ => return None,
    })
}

/// The function of a comparison of this dtype, and whether its operands change places.
pub fn compare(op: CompareOp, dtype: DType) -> (Function, bool) {
    fn equality<T: Number>(op: CompareOp) -> Option<Function> {
        match op {
            CompareOp::Eq => Some(two(|a: T, b: T| Flag((a == b) as u8))),
            CompareOp::Ne => Some(two(|a: T, b: T| Flag((a != b) as u8))),
            _ => None,
        }
    }
    fn ordered<T: Ordered>(op: CompareOp) -> Option<Function> {
        match op {
            CompareOp::Lt => Some(two(|a: T, b: T| Flag((a < b) as u8))),
            CompareOp::Le => Some(two(|a: T, b: T| Flag((a <= b) as u8))),
            _ => equality::<T>(op),
        }
    }
    fn flag(op: CompareOp) -> Option<Function> {
        ordered::<Flag>(op)
    }
    let (same, swapped) = match op {
        CompareOp::Gt => (CompareOp::Lt, true),
        CompareOp::Ge => (CompareOp::Le, true),
        other => (other, false),
    };
    let function = by_class!(dtype, flag, ordered, ordered, equality, (same));
    (function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name())), swapped)
}

/// The function of a fused multiply-add of this dtype.
pub fn fma(dtype: DType) -> Function {
    match dtype {
        DType::F32 => super::apply::three(f32::mul_add),
        DType::F64 => super::apply::three(f64::mul_add),
        _ => panic!("no verified kernel has fma of {dtype}"),
    }
}
