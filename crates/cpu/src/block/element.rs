//! Scalar arithmetic of one element of each dtype, as documented for the ops.

use half::{bf16, f16};

/// A `bool` element: 0 or 1.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct BoolByte(pub u8);

/// Arithmetic of all dtypes.
pub trait Numeric: Copy + PartialEq + 'static {
    /// a + b; `or` for `bool`.
    fn add(self, other: Self) -> Self;
    /// a · b; `and` for `bool`.
    fn mul(self, other: Self) -> Self;
}

/// Arithmetic of all dtypes but the complex ones.
pub trait Ordered: Numeric + PartialOrd {
    /// Whether the value is NaN.
    #[inline(always)]
    #[expect(clippy::eq_op, reason = "only NaN differs from itself")]
    fn is_nan(self) -> bool {
        self != self
    }
    /// Minimum; NaN if either operand is.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        if (self < other) | self.is_nan() { self } else { other }
    }
    /// Maximum; NaN if either operand is.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        if (self > other) | self.is_nan() { self } else { other }
    }
}

/// Bitwise arithmetic of `bool` and integers.
pub trait Bitwise: Ordered {
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Bitwise complement; logical for `bool`.
    fn not(self) -> Self;
}

/// Integer arithmetic.
pub trait Integer: Bitwise {
    fn sub(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    fn rem(self, other: Self) -> Self;
    fn pow(self, other: Self) -> Self;
    fn shift_left(self, other: Self) -> Self;
    fn shift_right(self, other: Self) -> Self;
    fn shift_right_logical(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
    fn sign(self) -> Self;
    fn population_count(self) -> Self;
    fn leading_zeros(self) -> Self;
}

impl Numeric for BoolByte {
    #[inline(always)]
    fn add(self, other: BoolByte) -> BoolByte {
        self.or(other)
    }
    #[inline(always)]
    fn mul(self, other: BoolByte) -> BoolByte {
        self.and(other)
    }
}

impl Ordered for BoolByte {}

impl Bitwise for BoolByte {
    #[inline(always)]
    fn and(self, other: BoolByte) -> BoolByte {
        BoolByte(self.0 & other.0)
    }
    #[inline(always)]
    fn or(self, other: BoolByte) -> BoolByte {
        BoolByte(self.0 | other.0)
    }
    #[inline(always)]
    fn xor(self, other: BoolByte) -> BoolByte {
        BoolByte(self.0 ^ other.0)
    }
    #[inline(always)]
    fn not(self) -> BoolByte {
        BoolByte(self.0 ^ 1)
    }
}

macro_rules! integer {
    ($type:ident, $unsigned:ident, signed: $signed:literal) => {
        impl Numeric for $type {
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self.wrapping_mul(other)
            }
        }

        impl Ordered for $type {}

        impl Bitwise for $type {
            #[inline(always)]
            fn and(self, other: $type) -> $type {
                self & other
            }
            #[inline(always)]
            fn or(self, other: $type) -> $type {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: $type) -> $type {
                self ^ other
            }
            #[inline(always)]
            fn not(self) -> $type {
                !self
            }
        }

        #[allow(unused_comparisons, reason = "one text for integers with and without a sign")]
        impl Integer for $type {
            #[inline(always)]
            fn sub(self, other: $type) -> $type {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn div(self, other: $type) -> $type {
                if other == 0 { !0 } else { self.wrapping_div(other) }
            }
            #[inline(always)]
            fn rem(self, other: $type) -> $type {
                if other == 0 { self } else { self.wrapping_rem(other) }
            }
            #[inline]
            fn pow(self, other: $type) -> $type {
                if other < 0 {
                    return match self {
                        1 => 1,
                        minus_one if minus_one.wrapping_add(1) == 0 => {
                            if other & 1 == 0 {
                                1
                            } else {
                                minus_one
                            }
                        }
                        _ => 0,
                    };
                }
                let (mut result, mut base, mut power): ($type, _, _) =
                    (1, self, other as $unsigned);
                while power > 0 {
                    if power & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    power >>= 1;
                }
                result
            }
            #[inline(always)]
            fn shift_left(self, other: $type) -> $type {
                let amount = other as $unsigned;
                let in_range = amount < $type::BITS as $unsigned;
                if in_range { self.wrapping_shl(amount as u32) } else { 0 }
            }
            #[inline(always)]
            fn shift_right(self, other: $type) -> $type {
                let amount = other as $unsigned;
                let in_range = amount < $type::BITS as $unsigned;
                let overflowed = if $signed { self.wrapping_shr($type::BITS - 1) } else { 0 };
                if in_range { self.wrapping_shr(amount as u32) } else { overflowed }
            }
            #[inline(always)]
            fn shift_right_logical(self, other: $type) -> $type {
                let amount = other as $unsigned;
                let in_range = amount < $type::BITS as $unsigned;
                if in_range { (self as $unsigned).wrapping_shr(amount as u32) as $type } else { 0 }
            }
            #[inline(always)]
            fn neg(self) -> $type {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> $type {
                if self < 0 { self.wrapping_neg() } else { self }
            }
            #[inline(always)]
            fn sign(self) -> $type {
                ((self > 0) as $type).wrapping_sub((self < 0) as $type)
            }
            #[inline(always)]
            fn population_count(self) -> $type {
                self.count_ones() as $type
            }
            #[inline(always)]
            fn leading_zeros(self) -> $type {
                $type::leading_zeros(self) as $type
            }
        }
    };
}

integer!(i8, u8, signed: true);
integer!(i16, u16, signed: true);
integer!(i32, u32, signed: true);
integer!(i64, u64, signed: true);
integer!(u8, u8, signed: false);
integer!(u16, u16, signed: false);
integer!(u32, u32, signed: false);
integer!(u64, u64, signed: false);

/// Declares [`Real`]: `f32` and `f64` by the given functions, `f16` and `bf16` through `f32`.
macro_rules! real {
    (
        one { $($one:ident: $single:expr, $double:expr;)* }
        two { $($two:ident: $single_two:expr, $double_two:expr;)* }
    ) => {
        /// Floating-point arithmetic.
        pub trait Real: Ordered {
            $(fn $one(self) -> Self;)*
            $(fn $two(self, other: Self) -> Self;)*
            fn is_finite(self) -> bool;
        }

        impl Real for f32 {
            $(#[inline(always)] fn $one(self) -> f32 { let f: fn(f32) -> f32 = $single; f(self) })*
            $(#[inline(always)] fn $two(self, other: f32) -> f32 {
                let f: fn(f32, f32) -> f32 = $single_two;
                f(self, other)
            })*
            #[inline(always)] fn is_finite(self) -> bool { f32::is_finite(self) }
        }

        impl Real for f64 {
            $(#[inline(always)] fn $one(self) -> f64 { let f: fn(f64) -> f64 = $double; f(self) })*
            $(#[inline(always)] fn $two(self, other: f64) -> f64 {
                let f: fn(f64, f64) -> f64 = $double_two;
                f(self, other)
            })*
            #[inline(always)] fn is_finite(self) -> bool { f64::is_finite(self) }
        }

        real!(sixteen_bit f16 { $($one)* } { $($two)* });
        real!(sixteen_bit bf16 { $($one)* } { $($two)* });
    };
    (sixteen_bit $float:ident { $($one:ident)* } { $($two:ident)* }) => {
        impl Real for $float {
            $(fn $one(self) -> $float { $float::from_f32(Real::$one(self.to_f32())) })*
            $(fn $two(self, other: $float) -> $float {
                $float::from_f32(Real::$two(self.to_f32(), other.to_f32()))
            })*
            fn is_finite(self) -> bool { $float::is_finite(self) }
        }
    };
}

real! {
    one {
        neg: |x| -x, |x| -x;
        abs: f32::abs, f64::abs;
        // Zero and NaN are returned unchanged. `x + x` also turns a subnormal that compares as zero into zero.
        sign: |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x + x },
            |x| if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x + x };
        floor: f32::floor, f64::floor;
        ceil: f32::ceil, f64::ceil;
        round: f32::round_ties_even, f64::round_ties_even;
        exp: f32::exp, f64::exp;
        exp2: f32::exp2, f64::exp2;
        expm1: f32::exp_m1, f64::exp_m1;
        log: f32::ln, f64::ln;
        log2: f32::log2, f64::log2;
        log1p: f32::ln_1p, f64::ln_1p;
        sqrt: f32::sqrt, f64::sqrt;
        rsqrt: |x| 1.0 / x.sqrt(), |x| 1.0 / x.sqrt();
        cbrt: f32::cbrt, f64::cbrt;
        sin: f32::sin, f64::sin;
        cos: f32::cos, f64::cos;
        tan: f32::tan, f64::tan;
        asin: f32::asin, f64::asin;
        acos: f32::acos, f64::acos;
        atan: f32::atan, f64::atan;
        sinh: f32::sinh, f64::sinh;
        cosh: f32::cosh, f64::cosh;
        tanh: f32::tanh, f64::tanh;
        asinh: libm::asinhf, libm::asinh;
        // libm does not return NaN for large negative arguments.
        acosh: |x| if x < 1.0 { f32::NAN } else { libm::acoshf(x) },
            |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) };
        atanh: libm::atanhf, libm::atanh;
        sigmoid: |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) },
            |x| if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        erf: libm::erff, libm::erf;
        imaginary: |_| 0.0, |_| 0.0;
    }
    two {
        sub: |a, b| a - b, |a, b| a - b;
        div: |a, b| a / b, |a, b| a / b;
        rem: |a, b| a % b, |a, b| a % b;
        pow: f32::powf, f64::powf;
        atan2: f32::atan2, f64::atan2;
    }
}

macro_rules! float_element {
    ($($type:ty)*) => {$(
        impl Numeric for $type {
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: $type) -> $type {
                self * other
            }
        }
        impl Ordered for $type {}
    )*};
}

float_element!(f32 f64);

macro_rules! sixteen_bit_float {
    ($($type:ty)*) => {$(
        impl Numeric for $type {
            fn add(self, other: $type) -> $type {
                <$type>::from_f32(self.to_f32() + other.to_f32())
            }
            fn mul(self, other: $type) -> $type {
                <$type>::from_f32(self.to_f32() * other.to_f32())
            }
        }
        impl Ordered for $type {}
    )*};
}

sixteen_bit_float!(f16 bf16);
