//! Functions of each element: arithmetic, mathematics, comparisons, bits, conversions.
//!
//! Operands broadcast by NumPy's rule. Where an operand may be a number, it takes the tensor's dtype.

use super::Tensor;
use super::method::{method, naming};
use super::operand::{Operand, OperandRef, apply, look, materialize, whole};
use super::record::{mistake, record, record_at};
use crate::{DType, Element};
use inflight_ir::graph::Op;
use inflight_ir::{BinaryOp, CompareOp, UnaryOp};
use std::panic::Location;

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Tensor {
                record(Op::Unary(UnaryOp::$op), &[self])
            }
        )*}
    };
}

unary! {
    /// −x; wraps for integers.
    neg Neg;
    /// |x|; the modulus of a complex number, as a float.
    abs Abs;
    /// −1, 0 or 1; keeps NaN and the sign of a zero.
    sign Sign;
    /// Rounds towards −∞.
    floor Floor;
    /// Rounds towards +∞.
    ceil Ceil;
    /// Rounds to nearest, ties to even.
    round Round;
    /// eˣ.
    exp Exp;
    /// 2ˣ.
    exp2 Exp2;
    /// eˣ − 1, accurate near 0.
    expm1 Expm1;
    /// The natural logarithm.
    log Log;
    /// The logarithm to base 2.
    log2 Log2;
    /// ln(1 + x), accurate near 0.
    log1p Log1p;
    /// √x.
    sqrt Sqrt;
    /// 1 / √x.
    rsqrt Rsqrt;
    /// The cube root, also of negative numbers.
    cbrt Cbrt;
    /// Sine.
    sin Sin;
    /// Cosine.
    cos Cos;
    /// Tangent.
    tan Tan;
    /// Inverse sine.
    asin Asin;
    /// Inverse cosine.
    acos Acos;
    /// Inverse tangent.
    atan Atan;
    /// Hyperbolic sine.
    sinh Sinh;
    /// Hyperbolic cosine.
    cosh Cosh;
    /// Hyperbolic tangent.
    tanh Tanh;
    /// Inverse hyperbolic sine.
    asinh Asinh;
    /// Inverse hyperbolic cosine.
    acosh Acosh;
    /// Inverse hyperbolic tangent.
    atanh Atanh;
    /// 1 / (1 + e⁻ˣ).
    sigmoid Sigmoid;
    /// The error function.
    erf Erf;
    /// Whether each element is NaN.
    is_nan IsNan;
    /// Whether each element is neither infinite nor NaN.
    is_finite IsFinite;
    /// The real part, as a float.
    real Real;
    /// The imaginary part, as a float.
    imag Imag;
    /// The complex conjugate.
    conj Conj;
    /// Flips every bit of an integer; flips a `bool`.
    bitwise_not Not;
    /// The number of one bits of each integer.
    count_ones PopulationCount;
    /// The number of leading zero bits of each integer.
    leading_zeros LeadingZeros;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, other: impl Operand) -> Tensor {
                apply(Op::Binary(BinaryOp::$op), self, look(&other))
            }
        )*}
    };
}

binary! {
    /// a + b; wraps for integers, `or` for `bool`.
    add Add;
    /// a − b; wraps for integers.
    sub Sub;
    /// a · b; wraps for integers, `and` for `bool`.
    mul Mul;
    /// a / b; integers truncate, and by zero give all bits one.
    div Div;
    /// a − b · trunc(a / b), with the sign of a. Integers by zero: a.
    rem Rem;
    /// The smaller of a and b; NaN if either is.
    minimum Min;
    /// The larger of a and b; NaN if either is.
    maximum Max;
    /// The angle of the point (b, a).
    atan2 Atan2;
    /// Bitwise `and` of integers; logical of `bool`.
    bitwise_and And;
    /// Bitwise `or` of integers; logical of `bool`.
    bitwise_or Or;
    /// Bitwise exclusive `or` of integers; logical of `bool`.
    bitwise_xor Xor;
    /// a · 2ᵇ of integers; 0 when b is negative or not below the number of bits.
    shift_left ShiftLeft;
    /// Shifts in the sign of a signed integer, and zeros for an unsigned one.
    shift_right ShiftRight;
    /// Shifts in zeros, also for signed integers.
    shift_right_logical ShiftRightLogical;
    /// The complex numbers with this real part and that imaginary part.
    complex Complex;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, other: impl Operand) -> Tensor {
                apply(Op::Compare(CompareOp::$op), self, look(&other))
            }
        )*}
    };
}

comparisons! {
    /// Where a = b, as `bool`.
    eq Eq;
    /// Where a ≠ b, as `bool`; true for NaN.
    ne Ne;
    /// Where a < b, as `bool`.
    lt Lt;
    /// Where a ≤ b, as `bool`.
    le Le;
    /// Where a > b, as `bool`.
    gt Gt;
    /// Where a ≥ b, as `bool`.
    ge Ge;
}

/// Exponents up to this are multiplications in [`Tensor::pow`]: that is faster, and as accurate.
const FEW_MULTIPLICATIONS: u128 = 4;

impl Tensor {
    /// aᵇ. Integers wrap, and a negative power of one is 0 but for ±1.
    #[track_caller]
    pub fn pow(&self, exponent: impl Operand) -> Tensor {
        let _naming = naming("pow");
        let exponent = look(&exponent);
        if let OperandRef::Number(number) = exponent
            && let Some(power) = whole(number).filter(|n| n.unsigned_abs() <= FEW_MULTIPLICATIONS)
        {
            return self.powi(power as i32);
        }
        apply(Op::Binary(BinaryOp::Pow), self, exponent)
    }

    /// xⁿ by repeated multiplication.
    #[track_caller]
    pub fn powi(&self, power: i32) -> Tensor {
        let _naming = naming("powi");
        let continuous = self.dtype().is_float() || self.dtype().is_complex();
        let multiplied = power > 0 && self.dtype() != DType::Bool || power < 0 && continuous;
        if !multiplied {
            return apply(Op::Binary(BinaryOp::Pow), self, look(&power));
        }
        let mut left = power.unsigned_abs();
        let mut factor = self.clone();
        let mut product: Option<Tensor> = None;
        loop {
            if left & 1 == 1 {
                product = Some(match product {
                    Some(product) => product.mul(&factor),
                    None => factor.clone(),
                });
            }
            left >>= 1;
            match product {
                Some(product) if left == 0 && power > 0 => return product,
                Some(product) if left == 0 => return product.reciprocal(),
                _ => factor = factor.square(),
            }
        }
    }

    /// xᵖ with a number p.
    #[track_caller]
    pub fn powf(&self, power: f64) -> Tensor {
        let _naming = naming("powf");
        self.pow(power)
    }

    /// x · x.
    #[track_caller]
    pub fn square(&self) -> Tensor {
        method("square").of(&[self], self.mul(self))
    }

    /// 1 / x.
    #[track_caller]
    pub fn reciprocal(&self) -> Tensor {
        method("reciprocal").of(&[self], 1 / self)
    }

    /// The element, but not below `low` nor above `high`; NaN stays.
    #[track_caller]
    pub fn clamp(&self, low: impl Operand, high: impl Operand) -> Tensor {
        let _naming = naming("clamp");
        self.maximum(low).minimum(high)
    }

    /// Where both are true.
    #[track_caller]
    pub fn logical_and(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::And, "logical_and", look(&other))
    }

    /// Where at least one is true.
    #[track_caller]
    pub fn logical_or(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::Or, "logical_or", look(&other))
    }

    /// Where exactly one is true.
    #[track_caller]
    pub fn logical_xor(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::Xor, "logical_xor", look(&other))
    }

    /// Where it is false.
    #[track_caller]
    pub fn logical_not(&self) -> Tensor {
        match self.not_bool("logical_not") {
            Some(mistake) => mistake,
            None => method("logical_not").of(&[self], self.bitwise_not()),
        }
    }

    #[track_caller]
    fn logical(&self, op: BinaryOp, name: &'static str, other: OperandRef<'_>) -> Tensor {
        match self.not_bool(name) {
            Some(mistake) => mistake,
            None => {
                let _naming = naming(name);
                apply(Op::Binary(op), self, other)
            }
        }
    }

    /// The mistake of asking a value that is not `bool` whether it is true.
    #[track_caller]
    pub(super) fn not_bool(&self, name: &'static str) -> Option<Tensor> {
        if self.dtype() == DType::Bool {
            return None;
        }
        let message = format!(
            "expected bool, found {}; compare it with something, such as x.ne(0)",
            self.dtype()
        );
        let shape = self.shape().clone();
        Some(mistake(name, message, &[self], shape, DType::Bool, Location::caller()))
    }

    /// `on_true` where this `bool` tensor is true, `on_false` elsewhere.
    ///
    /// A number takes the dtype of the other choice; of two numbers, the second takes the first's.
    #[track_caller]
    pub fn where_cond(&self, on_true: impl Operand, on_false: impl Operand) -> Tensor {
        let location = Location::caller();
        let (on_true, on_false) = (look(&on_true), look(&on_false));
        if let (OperandRef::Tensor(on_true), OperandRef::Tensor(on_false)) = (on_true, on_false) {
            return record_at(Op::Select, &[self, on_true, on_false], location);
        }
        let dtype = match (on_true, on_false) {
            (OperandRef::Tensor(tensor), _) | (_, OperandRef::Tensor(tensor)) => tensor.dtype(),
            (OperandRef::Number(number), _) => number.dtype(),
        };
        let on_true = materialize(on_true, dtype, self.device(), location);
        let on_false = materialize(on_false, dtype, self.device(), location);
        match (on_true, on_false) {
            (Ok(on_true), Ok(on_false)) => {
                record_at(Op::Select, &[self, &on_true, &on_false], location)
            }
            (Err(message), Ok(other)) | (Ok(other), Err(message)) => {
                let shape = self.shape().broadcast(other.shape());
                let shape = shape.unwrap_or_else(|| self.shape().clone());
                mistake("select", message, &[self, &other], shape, dtype, location)
            }
            (Err(message), Err(_)) => {
                mistake("select", message, &[self], self.shape().clone(), dtype, location)
            }
        }
    }

    /// `value` where `mask` is true, and what is here elsewhere.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Operand) -> Tensor {
        method("masked_fill").of(&[self, mask], mask.where_cond(value, self))
    }

    /// The elements converted: integers wrap, floats round to nearest even, floats to integers truncate
    /// and saturate with NaN as 0, anything but zero is `true`, and a complex number drops its imaginary
    /// part.
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Tensor {
        match self.dtype() == dtype {
            true => self.clone(),
            false => record(Op::Cast(dtype), &[self]),
        }
    }

    /// As [`cast`](Tensor::cast), to the dtype of a Rust type.
    #[track_caller]
    pub fn to<T: Element>(&self) -> Tensor {
        self.cast(T::DTYPE)
    }

    /// The same bits seen as another dtype of the same size.
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Tensor {
        match self.dtype() == dtype {
            true => self.clone(),
            false => record(Op::Bitcast(dtype), &[self]),
        }
    }

    /// This value in a dtype that sums and products of halves do not overflow: `f32` for `f16` and
    /// `bf16`, itself otherwise.
    #[track_caller]
    pub(super) fn widened(&self) -> Tensor {
        match self.dtype().is_half() {
            true => self.cast(DType::F32),
            false => self.clone(),
        }
    }
}
