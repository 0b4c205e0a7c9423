//! Elementwise and combining ops, shared by graphs and kernels.

/// An op of one operand, whose result has the same shape.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// −x; wraps for integers.
    Neg,
    /// |x|; wraps for the smallest signed integer; the modulus of a complex number, as its part type.
    Abs,
    /// −1, 0 or 1; keeps NaN and the sign of a zero.
    Sign,
    /// Rounds towards −∞.
    Floor,
    /// Rounds towards +∞.
    Ceil,
    /// Rounds to nearest, ties to even.
    Round,
    /// Logical for `bool`, bitwise for integers.
    Not,
    /// eˣ.
    Exp,
    /// 2ˣ.
    Exp2,
    /// eˣ − 1, accurate near 0.
    Expm1,
    /// Natural logarithm.
    Log,
    /// Logarithm to base 2.
    Log2,
    /// ln(1 + x), accurate near 0.
    Log1p,
    /// Square root.
    Sqrt,
    /// 1 / √x.
    Rsqrt,
    /// Cube root, also of negative values.
    Cbrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// The error function.
    Erf,
    /// Whether x is NaN; `bool`.
    IsNan,
    /// Whether x is neither infinite nor NaN; `bool`.
    IsFinite,
    /// The real part of a complex number, as its part type.
    Real,
    /// The imaginary part of a complex number, as its part type.
    Imag,
    /// The complex conjugate.
    Conj,
    /// The number of one bits.
    PopulationCount,
    /// The number of leading zero bits.
    LeadingZeros,
}

/// An op of two operands of one dtype.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// a + b; `or` for `bool`; wraps for integers.
    Add,
    /// a − b; wraps for integers.
    Sub,
    /// a · b; `and` for `bool`; wraps for integers.
    Mul,
    /// a / b; integers truncate. By zero: all bits one (−1 or the largest unsigned). MIN / −1 is MIN.
    Div,
    /// a − b · trunc(a / b), with the sign of a. Integers by zero: a. MIN rem −1 is 0.
    Rem,
    /// aᵇ. Integers: by repeated multiplication, wrapping; a negative power is 0 except for ±1.
    Pow,
    /// The smaller; NaN if either is NaN.
    Min,
    /// The larger; NaN if either is NaN.
    Max,
    /// Logical for `bool`, bitwise for integers.
    And,
    /// Logical for `bool`, bitwise for integers.
    Or,
    /// Logical for `bool`, bitwise for integers.
    Xor,
    /// a · 2ᵇ; 0 when b is not in 0..bits.
    ShiftLeft,
    /// Shifts in the sign of a signed and zeros for an unsigned integer; b not in 0..bits shifts all out.
    ShiftRight,
    /// Shifts in zeros, also for signed integers; 0 when b is not in 0..bits.
    ShiftRightLogical,
    /// The angle of the point (b, a).
    Atan2,
    /// a + b·i of two floats.
    Complex,
}

/// A comparison of two operands of one dtype, with a `bool` result. Comparisons with NaN are false, except `Ne`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompareOp {
    /// a = b
    Eq,
    /// a ≠ b
    Ne,
    /// a < b
    Lt,
    /// a ≤ b
    Le,
    /// a > b
    Gt,
    /// a ≥ b
    Ge,
}

/// How a reduction, a scan or a scatter combines two values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CombineOp {
    /// Addition, from 0. `or` for `bool`.
    Sum,
    /// Multiplication, from 1. `and` for `bool`.
    Product,
    /// The minimum, starting from the largest value; NaN if any is NaN.
    Min,
    /// The maximum, starting from the smallest value; NaN if any is NaN.
    Max,
    /// All true, or bitwise and.
    And,
    /// Any true, or bitwise or.
    Or,
    /// Exclusive or.
    Xor,
}

/// The element an arg-reduction finds. The first of equal elements; NaN ranks above every other value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ArgOp {
    /// The index of the smallest.
    Min,
    /// The index of the largest.
    Max,
}

impl CombineOp {
    /// The elementwise op that combines two values.
    pub fn binary(self) -> BinaryOp {
        match self {
            CombineOp::Sum => BinaryOp::Add,
            CombineOp::Product => BinaryOp::Mul,
            CombineOp::Min => BinaryOp::Min,
            CombineOp::Max => BinaryOp::Max,
            CombineOp::And => BinaryOp::And,
            CombineOp::Or => BinaryOp::Or,
            CombineOp::Xor => BinaryOp::Xor,
        }
    }
}

impl UnaryOp {
    /// Every unary op.
    pub const ALL: [UnaryOp; 37] = {
        use UnaryOp::*;
        [
            Neg,
            Abs,
            Sign,
            Floor,
            Ceil,
            Round,
            Not,
            Exp,
            Exp2,
            Expm1,
            Log,
            Log2,
            Log1p,
            Sqrt,
            Rsqrt,
            Cbrt,
            Sin,
            Cos,
            Tan,
            Asin,
            Acos,
            Atan,
            Sinh,
            Cosh,
            Tanh,
            Asinh,
            Acosh,
            Atanh,
            Sigmoid,
            Erf,
            IsNan,
            IsFinite,
            Real,
            Imag,
            Conj,
            PopulationCount,
            LeadingZeros,
        ]
    };

    /// The name in messages and in kernel text.
    pub const fn name(self) -> &'static str {
        match self {
            UnaryOp::Neg => "neg",
            UnaryOp::Abs => "abs",
            UnaryOp::Sign => "sign",
            UnaryOp::Floor => "floor",
            UnaryOp::Ceil => "ceil",
            UnaryOp::Round => "round",
            UnaryOp::Not => "not",
            UnaryOp::Exp => "exp",
            UnaryOp::Exp2 => "exp2",
            UnaryOp::Expm1 => "expm1",
            UnaryOp::Log => "log",
            UnaryOp::Log2 => "log2",
            UnaryOp::Log1p => "log1p",
            UnaryOp::Sqrt => "sqrt",
            UnaryOp::Rsqrt => "rsqrt",
            UnaryOp::Cbrt => "cbrt",
            UnaryOp::Sin => "sin",
            UnaryOp::Cos => "cos",
            UnaryOp::Tan => "tan",
            UnaryOp::Asin => "asin",
            UnaryOp::Acos => "acos",
            UnaryOp::Atan => "atan",
            UnaryOp::Sinh => "sinh",
            UnaryOp::Cosh => "cosh",
            UnaryOp::Tanh => "tanh",
            UnaryOp::Asinh => "asinh",
            UnaryOp::Acosh => "acosh",
            UnaryOp::Atanh => "atanh",
            UnaryOp::Sigmoid => "sigmoid",
            UnaryOp::Erf => "erf",
            UnaryOp::IsNan => "is_nan",
            UnaryOp::IsFinite => "is_finite",
            UnaryOp::Real => "real",
            UnaryOp::Imag => "imag",
            UnaryOp::Conj => "conj",
            UnaryOp::PopulationCount => "population_count",
            UnaryOp::LeadingZeros => "leading_zeros",
        }
    }

    /// Whether the op is a mathematical function that kernels expand into arithmetic.
    pub const fn is_transcendental(self) -> bool {
        use UnaryOp::*;
        matches!(
            self,
            Exp | Exp2
                | Expm1
                | Log
                | Log2
                | Log1p
                | Cbrt
                | Sin
                | Cos
                | Tan
                | Asin
                | Acos
                | Atan
                | Sinh
                | Cosh
                | Tanh
                | Asinh
                | Acosh
                | Atanh
                | Sigmoid
                | Erf
        )
    }
}

impl BinaryOp {
    /// Every binary op.
    pub const ALL: [BinaryOp; 16] = {
        use BinaryOp::*;
        [
            Add,
            Sub,
            Mul,
            Div,
            Rem,
            Pow,
            Min,
            Max,
            And,
            Or,
            Xor,
            ShiftLeft,
            ShiftRight,
            ShiftRightLogical,
            Atan2,
            Complex,
        ]
    };

    /// The name in messages and in kernel text.
    pub const fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "add",
            BinaryOp::Sub => "sub",
            BinaryOp::Mul => "mul",
            BinaryOp::Div => "div",
            BinaryOp::Rem => "rem",
            BinaryOp::Pow => "pow",
            BinaryOp::Min => "minimum",
            BinaryOp::Max => "maximum",
            BinaryOp::And => "and",
            BinaryOp::Or => "or",
            BinaryOp::Xor => "xor",
            BinaryOp::ShiftLeft => "shift_left",
            BinaryOp::ShiftRight => "shift_right",
            BinaryOp::ShiftRightLogical => "shift_right_logical",
            BinaryOp::Atan2 => "atan2",
            BinaryOp::Complex => "complex",
        }
    }
}

impl CompareOp {
    /// Every comparison.
    pub const ALL: [CompareOp; 6] = {
        use CompareOp::*;
        [Eq, Ne, Lt, Le, Gt, Ge]
    };

    /// The name in messages and in kernel text.
    pub const fn name(self) -> &'static str {
        match self {
            CompareOp::Eq => "eq",
            CompareOp::Ne => "ne",
            CompareOp::Lt => "lt",
            CompareOp::Le => "le",
            CompareOp::Gt => "gt",
            CompareOp::Ge => "ge",
        }
    }
}

impl CombineOp {
    /// Every combining op.
    pub const ALL: [CombineOp; 7] = {
        use CombineOp::*;
        [Sum, Product, Min, Max, And, Or, Xor]
    };

    /// The name of the reduction with this op.
    pub const fn reduce_name(self) -> &'static str {
        match self {
            CombineOp::Sum => "sum",
            CombineOp::Product => "prod",
            CombineOp::Min => "min",
            CombineOp::Max => "max",
            CombineOp::And => "all",
            CombineOp::Or => "any",
            CombineOp::Xor => "xor_reduce",
        }
    }

    /// The name of the scan with this op.
    pub const fn scan_name(self) -> &'static str {
        match self {
            CombineOp::Sum => "cumsum",
            CombineOp::Product => "cumprod",
            CombineOp::Min => "cummin",
            CombineOp::Max => "cummax",
            CombineOp::And => "cumall",
            CombineOp::Or => "cumany",
            CombineOp::Xor => "cumxor",
        }
    }
}
