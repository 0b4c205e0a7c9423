//! Complex arithmetic on one element. Addition and multiplication use the textbook formulas; every other function
//! is that of the reference interpreter, which computes in double precision and avoids their overflow and
//! cancellation.

use super::element::{Numeric, Real};
use inflight_ir::interpret::{scalar_binary, scalar_unary};
use inflight_ir::{BinaryOp, Element, UnaryOp};
use num_complex::Complex;

/// Arithmetic of complex dtypes.
pub trait ComplexElement: Numeric + Element {
    type Part: Real;
    fn real(self) -> Self::Part;
    fn imaginary(self) -> Self::Part;
    fn modulus(self) -> Self::Part;
    fn sub(self, other: Self) -> Self;
    fn neg(self) -> Self;
    fn conj(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    /// Unary function, evaluated by the reference interpreter.
    fn unary(self, op: UnaryOp) -> Self {
        Self::from_scalar(scalar_unary(op, self.to_scalar()))
    }
    /// Binary function, evaluated by the reference interpreter.
    fn binary(self, op: BinaryOp, other: Self) -> Self {
        Self::from_scalar(scalar_binary(op, self.to_scalar(), other.to_scalar()))
    }
}

macro_rules! complex {
    ($part:ident) => {
        impl Numeric for Complex<$part> {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
        }

        impl ComplexElement for Complex<$part> {
            type Part = $part;
            #[inline(always)]
            fn real(self) -> $part {
                self.re
            }
            #[inline(always)]
            fn imaginary(self) -> $part {
                self.im
            }
            fn modulus(self) -> $part {
                self.re.hypot(self.im)
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn conj(self) -> Self {
                Complex::new(self.re, -self.im)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
        }
    };
}

complex!(f32);
complex!(f64);
