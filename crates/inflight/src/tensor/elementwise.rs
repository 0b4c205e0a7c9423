//! Elementwise ops: arithmetic, mathematical functions, comparisons, bit operations, selection, casts.
//!
//! Operands broadcast by NumPy's rule. A scalar operand takes the tensor's dtype. Nothing here waits; a wrong shape or
//! dtype makes a result that carries the error.

use super::Tensor;
use super::method::{method, naming};
use super::operand::{
    Operand, OperandRef, integer_value, operand_ref, operand_tensor, record_binary,
};
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
    /// −x for each element. Integers wrap.
    #[doc(alias("negative", "negate"))]
    neg Neg;
    /// |x| for each element; the modulus of a complex element, as a float.
    #[doc(alias("absolute", "fabs", "modulus"))]
    abs Abs;
    /// The sign of each element: −1, 0 or 1. Keeps NaN and the sign of a zero.
    #[doc(alias("sgn"))]
    sign Sign;
    /// Rounds each element towards −∞.
    floor Floor;
    /// Rounds each element towards +∞.
    ceil Ceil;
    /// Rounds each element to the nearest integer, ties to even.
    #[doc(alias("rint", "round_ties_even"))]
    round Round;
    /// eˣ for each element.
    exp Exp;
    /// 2ˣ for each element.
    exp2 Exp2;
    /// eˣ − 1 for each element, accurate near 0.
    #[doc(alias("exp_m1"))]
    expm1 Expm1;
    /// The natural logarithm of each element.
    #[doc(alias("ln"))]
    log Log;
    /// The base-2 logarithm of each element.
    log2 Log2;
    /// ln(1 + x) for each element, accurate near 0.
    #[doc(alias("ln_1p"))]
    log1p Log1p;
    /// √x for each element.
    sqrt Sqrt;
    /// 1 / √x for each element.
    #[doc(alias("inverse_sqrt"))]
    rsqrt Rsqrt;
    /// The cube root of each element, also of negative ones.
    cbrt Cbrt;
    /// The sine of each element, in radians.
    #[doc(alias("sine"))]
    sin Sin;
    /// The cosine of each element, in radians.
    #[doc(alias("cosine"))]
    cos Cos;
    /// The tangent of each element, in radians.
    #[doc(alias("tangent"))]
    tan Tan;
    /// The inverse sine of each element.
    #[doc(alias("arcsin"))]
    asin Asin;
    /// The inverse cosine of each element.
    #[doc(alias("arccos"))]
    acos Acos;
    /// The inverse tangent of each element.
    #[doc(alias("arctan"))]
    atan Atan;
    /// The hyperbolic sine of each element.
    sinh Sinh;
    /// The hyperbolic cosine of each element.
    cosh Cosh;
    /// The hyperbolic tangent of each element.
    tanh Tanh;
    /// The inverse hyperbolic sine of each element.
    #[doc(alias("arcsinh"))]
    asinh Asinh;
    /// The inverse hyperbolic cosine of each element.
    #[doc(alias("arccosh"))]
    acosh Acosh;
    /// The inverse hyperbolic tangent of each element.
    #[doc(alias("arctanh"))]
    atanh Atanh;
    /// The logistic function 1 / (1 + e⁻ˣ) of each element.
    #[doc(alias("expit", "logistic"))]
    sigmoid Sigmoid;
    /// The error function of each element.
    erf Erf;
    /// Whether each element is NaN, as `bool`.
    #[doc(alias("isnan"))]
    is_nan IsNan;
    /// Whether each element is neither infinite nor NaN, as `bool`.
    #[doc(alias("isfinite"))]
    is_finite IsFinite;
    /// The real part of each element, as a float.
    real Real;
    /// The imaginary part of each element, as a float.
    imag Imag;
    /// The complex conjugate of each element.
    #[doc(alias("conjugate"))]
    conj Conj;
    /// Flips every bit of each integer; negates a `bool`.
    #[doc(alias("invert", "bitwise_invert", "not"))]
    bitwise_not Not;
    /// The number of one bits of each integer.
    #[doc(alias("bitwise_count", "population_count", "popcount"))]
    count_ones PopulationCount;
    /// The number of leading zero bits of each integer.
    #[doc(alias("clz", "count_leading_zeros"))]
    leading_zeros LeadingZeros;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, other: impl Operand) -> Tensor {
                record_binary(Op::Binary(BinaryOp::$op), self, operand_ref(&other))
            }
        )*}
    };
}

binary! {
    /// a + b for each pair of elements. Integers wrap; `bool` is a logical or.
    #[doc(alias("plus"))]
    add Add;
    /// a − b for each pair of elements. Integers wrap.
    #[doc(alias("subtract", "minus"))]
    sub Sub;
    /// a · b for each pair of elements. Integers wrap; `bool` is a logical and.
    #[doc(alias("multiply", "times"))]
    mul Mul;
    /// a / b for each pair of elements. Integers truncate; an integer divided by 0 has all bits set.
    #[doc(alias("divide", "true_divide"))]
    div Div;
    /// The remainder a − b · trunc(a / b) of each pair of elements, with the sign of a. The remainder of an integer
    /// divided by 0 is a.
    ///
    /// This is `fmod` of PyTorch and NumPy. Their `remainder` and `mod` have the sign of b.
    #[doc(alias("fmod", "remainder", "mod"))]
    rem Rem;
    /// The smaller element of each pair; NaN if either is NaN.
    #[doc(alias("min", "clamp_max"))]
    minimum Min;
    /// The larger element of each pair; NaN if either is NaN.
    #[doc(alias("max", "clamp_min"))]
    maximum Max;
    /// The angle of the point (b, a) in radians, in [−π, π].
    #[doc(alias("arctan2"))]
    atan2 Atan2;
    /// Bitwise and of integers; logical and of `bool`.
    #[doc(alias("and"))]
    bitwise_and And;
    /// Bitwise or of integers; logical or of `bool`.
    #[doc(alias("or"))]
    bitwise_or Or;
    /// Bitwise exclusive or of integers; logical exclusive or of `bool`.
    #[doc(alias("xor"))]
    bitwise_xor Xor;
    /// a · 2ᵇ of integers; 0 if b is negative or not less than the number of bits.
    #[doc(alias("left_shift", "bitwise_left_shift", "shl"))]
    shift_left ShiftLeft;
    /// Arithmetic right shift of integers: shifts in the sign of a signed integer, and zeros for an unsigned one.
    #[doc(alias("right_shift", "bitwise_right_shift", "shift_right_arithmetic", "shr"))]
    shift_right ShiftRight;
    /// Logical right shift of integers: shifts in zeros, also for signed integers.
    #[doc(alias("logical_right_shift"))]
    shift_right_logical ShiftRightLogical;
    /// The complex elements with real part a and imaginary part b.
    complex Complex;
}

macro_rules! comparisons {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {
        impl Tensor {$(
            $(#[$doc])*
            #[track_caller]
            pub fn $name(&self, other: impl Operand) -> Tensor {
                record_binary(Op::Compare(CompareOp::$op), self, operand_ref(&other))
            }
        )*}
    };
}

comparisons! {
    /// a = b for each pair of elements, as `bool`.
    #[doc(alias("equal"))]
    eq Eq;
    /// a ≠ b for each pair of elements, as `bool`; true if either is NaN.
    #[doc(alias("not_equal"))]
    ne Ne;
    /// a < b for each pair of elements, as `bool`.
    #[doc(alias("less"))]
    lt Lt;
    /// a ≤ b for each pair of elements, as `bool`.
    #[doc(alias("less_equal"))]
    le Le;
    /// a > b for each pair of elements, as `bool`.
    #[doc(alias("greater"))]
    gt Gt;
    /// a ≥ b for each pair of elements, as `bool`.
    #[doc(alias("greater_equal"))]
    ge Ge;
}

/// [`Tensor::pow`] records multiplications for integer exponents up to this magnitude: faster than the power function,
/// and as accurate.
const MAX_MULTIPLIED_EXPONENT: u128 = 4;

impl Tensor {
    /// aᵇ for each pair of elements. Integers wrap; a negative power of an integer other than ±1 is 0.
    ///
    /// A scalar exponent that is an integer of at most 4 in magnitude records multiplications.
    #[doc(alias("power", "float_power"))]
    #[track_caller]
    pub fn pow(&self, exponent: impl Operand) -> Tensor {
        let _naming = naming("pow");
        let exponent = operand_ref(&exponent);
        if let OperandRef::Scalar(scalar) = exponent
            && let Some(power) = integer_value(scalar)
                .filter(|power| power.unsigned_abs() <= MAX_MULTIPLIED_EXPONENT)
        {
            return self.powi(power as i32);
        }
        record_binary(Op::Binary(BinaryOp::Pow), self, exponent)
    }

    /// xⁿ for each element, by repeated squaring. A negative power of an integer other than ±1 is 0.
    #[doc(alias("integer_pow"))]
    #[track_caller]
    pub fn powi(&self, power: i32) -> Tensor {
        let _naming = naming("powi");
        let continuous = self.dtype().is_float() || self.dtype().is_complex();
        let is_product = power > 0 && self.dtype() != DType::Bool || power < 0 && continuous;
        if !is_product {
            return record_binary(Op::Binary(BinaryOp::Pow), self, operand_ref(&power));
        }
        let mut remaining = power.unsigned_abs();
        let mut factor = self.clone();
        let mut product: Option<Tensor> = None;
        loop {
            if remaining & 1 == 1 {
                product = Some(match product {
                    Some(product) => product.mul(&factor),
                    None => factor.clone(),
                });
            }
            remaining >>= 1;
            match product {
                Some(product) if remaining == 0 && power > 0 => return product,
                Some(product) if remaining == 0 => return product.reciprocal(),
                _ => factor = factor.square(),
            }
        }
    }

    /// xᵖ for each element, with a scalar exponent. Same as [`pow`](Tensor::pow).
    #[track_caller]
    pub fn powf(&self, power: f64) -> Tensor {
        let _naming = naming("powf");
        self.pow(power)
    }

    /// x · x for each element.
    #[track_caller]
    pub fn square(&self) -> Tensor {
        self.mul(self)
    }

    /// 1 / x for each element.
    #[doc(alias("recip", "inverse"))]
    #[track_caller]
    pub fn reciprocal(&self) -> Tensor {
        1 / self
    }

    /// Limits each element to the range from `low` to `high`. NaN stays NaN.
    #[doc(alias("clip"))]
    #[track_caller]
    pub fn clamp(&self, low: impl Operand, high: impl Operand) -> Tensor {
        let _naming = naming("clamp");
        self.maximum(low).minimum(high)
    }

    /// Whether both elements are true. Expects `bool`; compare other dtypes first, such as `x.ne(0)`.
    #[track_caller]
    pub fn logical_and(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::And, "logical_and", operand_ref(&other))
    }

    /// Whether at least one element is true. Expects `bool`; compare other dtypes first, such as `x.ne(0)`.
    #[track_caller]
    pub fn logical_or(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::Or, "logical_or", operand_ref(&other))
    }

    /// Whether exactly one element is true. Expects `bool`; compare other dtypes first, such as `x.ne(0)`.
    #[track_caller]
    pub fn logical_xor(&self, other: impl Operand) -> Tensor {
        self.logical(BinaryOp::Xor, "logical_xor", operand_ref(&other))
    }

    /// Whether each element is false. Expects `bool`; compare other dtypes first, such as `x.ne(0)`.
    #[doc(alias("not"))]
    #[track_caller]
    pub fn logical_not(&self) -> Tensor {
        match self.check_bool("logical_not") {
            Some(mistake) => mistake,
            None => self.bitwise_not(),
        }
    }

    #[track_caller]
    fn logical(&self, op: BinaryOp, name: &'static str, other: OperandRef<'_>) -> Tensor {
        match self.check_bool(name) {
            Some(mistake) => mistake,
            None => {
                let _naming = naming(name);
                record_binary(Op::Binary(op), self, other)
            }
        }
    }

    /// The failed result of a logical op if the dtype is not `bool`.
    #[track_caller]
    fn check_bool(&self, name: &'static str) -> Option<Tensor> {
        if self.dtype() == DType::Bool {
            return None;
        }
        let message = format!(
            "expected a bool tensor, found {}; convert it with a comparison such as x.ne(0)",
            self.dtype()
        );
        let shape = self.shape().clone();
        Some(mistake(name, message, &[self], shape, DType::Bool, Location::caller()))
    }

    /// Selects from `on_true` where this `bool` tensor is true, and from `on_false` elsewhere. All three broadcast.
    ///
    /// A scalar takes the dtype of the other choice; of two scalars, the second takes the dtype of the first.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_array([-1.0f32, 2.0], &Device::cpu());
    /// assert_eq!(x.gt(0).where_cond(&x, 0).to_vec::<f32>()?, [0.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("where", "select", "if_else"))]
    #[track_caller]
    pub fn where_cond(&self, on_true: impl Operand, on_false: impl Operand) -> Tensor {
        let location = Location::caller();
        let method = method("where_cond");
        let (on_true, on_false) = (operand_ref(&on_true), operand_ref(&on_false));
        if let (OperandRef::Tensor(on_true), OperandRef::Tensor(on_false)) = (on_true, on_false) {
            let operands = [self, on_true, on_false];
            return method.of(&operands, record_at(Op::Select, &operands, location));
        }
        let dtype = match (on_true, on_false) {
            (OperandRef::Tensor(tensor), _) | (_, OperandRef::Tensor(tensor)) => tensor.dtype(),
            (OperandRef::Scalar(scalar), _) => scalar.dtype(),
        };
        let on_true = operand_tensor(on_true, dtype, self.device(), location);
        let on_false = operand_tensor(on_false, dtype, self.device(), location);
        match (on_true, on_false) {
            (Ok(on_true), Ok(on_false)) => {
                let operands = [self, &on_true, &on_false];
                method.of(&operands, record_at(Op::Select, &operands, location))
            }
            (Err(message), Ok(other)) | (Ok(other), Err(message)) => {
                let shape = self.shape().broadcast(other.shape());
                let shape = shape.unwrap_or_else(|| self.shape().clone());
                let operands = [self, &other];
                let failed = mistake("where_cond", message, &operands, shape, dtype, location);
                method.of(&operands, failed)
            }
            (Err(message), Err(_)) => {
                let shape = self.shape().clone();
                let failed = mistake("where_cond", message, &[self], shape, dtype, location);
                method.of(&[self], failed)
            }
        }
    }

    /// Replaces the elements where `mask` is true by `value`. `mask` is `bool`; all three broadcast.
    #[doc(alias("putmask"))]
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Operand) -> Tensor {
        method("masked_fill").of(&[self, mask], mask.where_cond(value, self))
    }

    /// Converts the elements to another dtype. No op is recorded if the tensor has that dtype already.
    ///
    /// - An integer to an integer wraps.
    /// - A float to a float rounds to nearest, ties to even.
    /// - A float to an integer truncates and saturates; NaN becomes 0.
    /// - Every value other than 0 becomes `true`.
    /// - A complex element to a real dtype drops the imaginary part.
    ///
    /// ```
    /// use inflight::{DType, Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_array([-1.5f32, 300.0], &Device::cpu());
    /// assert_eq!(x.cast(DType::U8).to_vec::<u8>()?, [0, 255]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("to", "astype", "type", "convert_element_type", "to_dtype"))]
    #[track_caller]
    pub fn cast(&self, dtype: DType) -> Tensor {
        match self.dtype() == dtype {
            true => self.clone(),
            false => record(Op::Cast(dtype), &[self]),
        }
    }

    /// Converts the elements to the dtype of a Rust type: `x.to::<f32>()` is `x.cast(DType::F32)`.
    ///
    /// [`cast`](Tensor::cast) defines the conversions.
    #[doc(alias("float", "double", "half", "bfloat16", "int", "long", "bool", "astype"))]
    #[track_caller]
    pub fn to<T: Element>(&self) -> Tensor {
        self.cast(T::DTYPE)
    }

    /// Reinterprets the bits of the elements as another dtype of the same size.
    ///
    /// The result carries an error if the sizes differ.
    #[doc(alias("view", "bitcast_convert_type"))]
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Tensor {
        match self.dtype() == dtype {
            true => self.clone(),
            false => record(Op::Bitcast(dtype), &[self]),
        }
    }

    /// Casts `f16` and `bf16` to `f32`, whose range and precision intermediate sums and products need. Returns other
    /// dtypes unchanged.
    #[track_caller]
    pub(super) fn widen_half(&self) -> Tensor {
        match self.dtype().is_half() {
            true => self.cast(DType::F32),
            false => self.clone(),
        }
    }
}
