//! Dispatch table from elementwise op and dtype to loop function.
//!
//! A combination that no verified kernel contains panics when the kernel is compiled.

use super::complex::ComplexElement;
use super::element::{Bitwise, BoolByte, Integer, Numeric, Ordered, Real};
use super::elementwise::{Function, binary_loop, unary_loop};
use half::{bf16, f16};
use inflight_ir::{BinaryOp, CompareOp, DType, UnaryOp};
use num_complex::Complex;

/// Calls a generic function with the element type of a dtype, selected by the dtype's class.
macro_rules! by_class {
    ($dtype:expr, $boolean:ident, $integer:ident, $real:ident, $complex:ident, ($($argument:expr),*)) => {
        match $dtype {
            DType::Bool => $boolean($($argument),*),
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

/// Loop function of a unary op on operands of this dtype.
pub fn unary(op: UnaryOp, dtype: DType) -> Function {
    let function = match (op, dtype) {
        // These return another dtype, and not every class has them.
        (UnaryOp::IsNan | UnaryOp::IsFinite, _) => Some(float_class_test(op, dtype)),
        (UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag, DType::C64) => {
            complex_component::<Complex<f32>>(op)
        }
        (UnaryOp::Abs | UnaryOp::Real | UnaryOp::Imag, DType::C128) => {
            complex_component::<Complex<f64>>(op)
        }
        _ => by_class!(dtype, bool_unary, integer_unary, real_unary, complex_unary, (op)),
    };
    function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name()))
}

fn float_class_test(op: UnaryOp, dtype: DType) -> Function {
    fn real<T: Real>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => unary_loop(|a: T| BoolByte(Ordered::is_nan(a) as u8)),
            _ => unary_loop(|a: T| BoolByte(a.is_finite() as u8)),
        }
    }
    fn complex<T: ComplexElement>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => unary_loop(|a: T| BoolByte(a.is_nan() as u8)),
            _ => unary_loop(|a: T| BoolByte(a.is_finite() as u8)),
        }
    }
    fn integer<T: Integer>(op: UnaryOp) -> Function {
        match op {
            UnaryOp::IsNan => unary_loop(|_: T| BoolByte(0)),
            _ => unary_loop(|_: T| BoolByte(1)),
        }
    }
    fn boolean(op: UnaryOp) -> Function {
        integer::<u8>(op)
    }
    by_class!(dtype, boolean, integer, real, complex, (op))
}

fn complex_component<T: ComplexElement>(op: UnaryOp) -> Option<Function> {
    Some(match op {
        UnaryOp::Abs => unary_loop(|a: T| a.modulus()),
        UnaryOp::Real => unary_loop(|a: T| a.real()),
        _ => unary_loop(|a: T| a.imaginary()),
    })
}

fn bool_unary(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Not => unary_loop(BoolByte::not),
        Neg | Abs | Sign | Floor | Ceil | Round | Real | Conj => unary_loop(|a: BoolByte| a),
        _ => return None,
    })
}

fn integer_unary<T: Integer>(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Neg => unary_loop(T::neg),
        Abs => unary_loop(T::abs),
        Sign => unary_loop(T::sign),
        Not => unary_loop(T::not),
        Floor | Ceil | Round | Real | Conj => unary_loop(|a: T| a),
        Imag => unary_loop(|a: T| a.xor(a)),
        PopulationCount => unary_loop(T::population_count),
        LeadingZeros => unary_loop(T::leading_zeros),
        _ => return None,
    })
}

fn real_unary<T: Real>(op: UnaryOp) -> Option<Function> {
    use UnaryOp::*;
    Some(match op {
        Neg => unary_loop(T::neg),
        Abs => unary_loop(T::abs),
        Sign => unary_loop(T::sign),
        Floor => unary_loop(T::floor),
        Ceil => unary_loop(T::ceil),
        Round => unary_loop(T::round),
        Exp => unary_loop(T::exp),
        Exp2 => unary_loop(T::exp2),
        Expm1 => unary_loop(T::expm1),
        Log => unary_loop(T::log),
        Log2 => unary_loop(T::log2),
        Log1p => unary_loop(T::log1p),
        Sqrt => unary_loop(T::sqrt),
        Rsqrt => unary_loop(T::rsqrt),
        Cbrt => unary_loop(T::cbrt),
        Sin => unary_loop(T::sin),
        Cos => unary_loop(T::cos),
        Tan => unary_loop(T::tan),
        Asin => unary_loop(T::asin),
        Acos => unary_loop(T::acos),
        Atan => unary_loop(T::atan),
        Sinh => unary_loop(T::sinh),
        Cosh => unary_loop(T::cosh),
        Tanh => unary_loop(T::tanh),
        Asinh => unary_loop(T::asinh),
        Acosh => unary_loop(T::acosh),
        Atanh => unary_loop(T::atanh),
        Sigmoid => unary_loop(T::sigmoid),
        Erf => unary_loop(T::erf),
        Real | Conj => unary_loop(|a: T| a),
        Imag => unary_loop(T::imaginary),
        Not | IsNan | IsFinite | PopulationCount | LeadingZeros => return None,
    })
}

fn complex_unary<T: ComplexElement>(op: UnaryOp) -> Option<Function> {
    /// Loop function of each listed op.
    macro_rules! functions {
        ($($op:ident)*) => {
            match op {
                UnaryOp::Neg => unary_loop(T::neg),
                UnaryOp::Conj => unary_loop(T::conj),
                $(UnaryOp::$op => unary_loop(|a: T| a.unary(UnaryOp::$op)),)*
                _ => return None,
            }
        };
    }
    Some(functions!(
        Sign Exp Exp2 Expm1 Log Log2 Log1p Sqrt Rsqrt Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh
        Acosh Atanh Sigmoid
    ))
}

/// Loop function of a binary op on operands of this dtype.
pub fn binary(op: BinaryOp, dtype: DType) -> Function {
    let function = match (op, dtype) {
        (BinaryOp::Complex, DType::F32) => Some(binary_loop(Complex::<f32>::new)),
        (BinaryOp::Complex, DType::F64) => Some(binary_loop(Complex::<f64>::new)),
        _ => by_class!(dtype, bool_binary, integer_binary, real_binary, complex_binary, (op)),
    };
    function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name()))
}

fn bool_binary(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add | Max | Or => binary_loop(BoolByte::or),
        Mul | Min | And => binary_loop(BoolByte::and),
        Sub | Xor => binary_loop(BoolByte::xor),
        _ => return None,
    })
}

fn integer_binary<T: Integer>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => binary_loop(T::add),
        Sub => binary_loop(T::sub),
        Mul => binary_loop(T::mul),
        Div => binary_loop(T::div),
        Rem => binary_loop(T::rem),
        Pow => binary_loop(T::pow),
        Min => binary_loop(T::min),
        Max => binary_loop(T::max),
        And => binary_loop(T::and),
        Or => binary_loop(T::or),
        Xor => binary_loop(T::xor),
        ShiftLeft => binary_loop(T::shift_left),
        ShiftRight => binary_loop(T::shift_right),
        ShiftRightLogical => binary_loop(T::shift_right_logical),
        Atan2 | Complex => return None,
    })
}

fn real_binary<T: Real>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => binary_loop(T::add),
        Sub => binary_loop(T::sub),
        Mul => binary_loop(T::mul),
        Div => binary_loop(T::div),
        Rem => binary_loop(T::rem),
        Pow => binary_loop(T::pow),
        Min => binary_loop(T::min),
        Max => binary_loop(T::max),
        Atan2 => binary_loop(T::atan2),
        And | Or | Xor | ShiftLeft | ShiftRight | ShiftRightLogical | Complex => return None,
    })
}

fn complex_binary<T: ComplexElement>(op: BinaryOp) -> Option<Function> {
    use BinaryOp::*;
    Some(match op {
        Add => binary_loop(T::add),
        Sub => binary_loop(T::sub),
        Mul => binary_loop(T::mul),
        Div => binary_loop(|a: T, b: T| a.binary(BinaryOp::Div, b)),
        Pow => binary_loop(|a: T, b: T| a.binary(BinaryOp::Pow, b)),
        _ => return None,
    })
}

/// Loop function of a comparison of this dtype, and whether to swap its operands.
pub fn compare(op: CompareOp, dtype: DType) -> (Function, bool) {
    fn equality<T: Numeric>(op: CompareOp) -> Option<Function> {
        match op {
            CompareOp::Eq => Some(binary_loop(|a: T, b: T| BoolByte((a == b) as u8))),
            CompareOp::Ne => Some(binary_loop(|a: T, b: T| BoolByte((a != b) as u8))),
            _ => None,
        }
    }
    fn ordered<T: Ordered>(op: CompareOp) -> Option<Function> {
        match op {
            CompareOp::Lt => Some(binary_loop(|a: T, b: T| BoolByte((a < b) as u8))),
            CompareOp::Le => Some(binary_loop(|a: T, b: T| BoolByte((a <= b) as u8))),
            _ => equality::<T>(op),
        }
    }
    fn boolean(op: CompareOp) -> Option<Function> {
        ordered::<BoolByte>(op)
    }
    let (same, swapped) = match op {
        CompareOp::Gt => (CompareOp::Lt, true),
        CompareOp::Ge => (CompareOp::Le, true),
        other => (other, false),
    };
    let function = by_class!(dtype, boolean, ordered, ordered, equality, (same));
    (function.unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.name())), swapped)
}

/// Loop function of a fused multiply-add of this dtype.
pub fn fma(dtype: DType) -> Function {
    match dtype {
        DType::F32 => super::elementwise::ternary_loop(f32::mul_add),
        DType::F64 => super::elementwise::ternary_loop(f64::mul_add),
        _ => panic!("no verified kernel has fma of {dtype}"),
    }
}
