//! Double-double arithmetic: numbers as unevaluated sums of two `f64`, with about 106 bits of precision.
//!
//! The algebra of complex functions uses it, so that each part of a result is rounded about once. For `complex64`
//! results plain `f64` is precise enough, so the functions are generic over [`RealArithmetic`].

use std::ops::{Add, Div, Mul, Neg, Sub};

/// Real arithmetic of the complex functions: `f64` or [`DoubleDouble`].
pub trait RealArithmetic:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The sum of two `f64`.
    fn sum(a: f64, b: f64) -> Self;
    /// The product of two `f64`.
    fn product(a: f64, b: f64) -> Self;
    /// The leading component: the nearest `f64`, except for its last bit.
    fn high(self) -> f64;
    /// The square root of a non-negative number.
    fn sqrt(self) -> Self;
    /// Multiplies by a power of two.
    fn scaled(self, factor: f64) -> Self;
    /// The nearest `f64`.
    fn round(self) -> f64;
    /// Applies a function, given with its derivative, and rounds.
    fn map(self, value: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64) -> f64;
    /// The angle of the point (x, self), rounded.
    fn atan2(self, x: Self) -> f64;

    /// x²
    fn square(self) -> Self {
        self * self
    }
}

impl RealArithmetic for f64 {
    fn sum(a: f64, b: f64) -> f64 {
        a + b
    }
    fn product(a: f64, b: f64) -> f64 {
        a * b
    }
    fn high(self) -> f64 {
        self
    }
    fn sqrt(self) -> f64 {
        self.sqrt()
    }
    fn scaled(self, factor: f64) -> f64 {
        self * factor
    }
    fn round(self) -> f64 {
        self
    }
    fn map(self, value: impl Fn(f64) -> f64, _derivative: impl Fn(f64) -> f64) -> f64 {
        value(self)
    }
    fn atan2(self, x: f64) -> f64 {
        self.atan2(x)
    }
}

/// `high + low`, where |low| is at most half an ulp of `high`. A zero has the sign of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    pub high: f64,
    pub low: f64,
}

impl RealArithmetic for DoubleDouble {
    /// Exact (Knuth's two-sum).
    fn sum(a: f64, b: f64) -> DoubleDouble {
        let high = a + b;
        let rest = high - a;
        DoubleDouble { high, low: (a - (high - rest)) + (b - rest) }
    }

    /// Exact, unless it underflows (two-product by FMA).
    fn product(a: f64, b: f64) -> DoubleDouble {
        let high = a * b;
        DoubleDouble { high, low: a.mul_add(b, -high) }
    }

    fn high(self) -> f64 {
        self.high
    }

    fn sqrt(self) -> DoubleDouble {
        let root = self.high.sqrt();
        if root == 0.0 {
            return DoubleDouble::from(root);
        }
        let rest = root.mul_add(-root, self.high) + self.low;
        DoubleDouble::sum(root, rest / (2.0 * root))
    }

    fn scaled(self, factor: f64) -> DoubleDouble {
        DoubleDouble { high: self.high * factor, low: self.low * factor }
    }

    fn round(self) -> f64 {
        // Skip the addition for a zero `low`: −0 + 0 would lose the sign.
        if self.low == 0.0 { self.high } else { self.high + self.low }
    }

    /// The function of `high`, with a first-order correction for `low`.
    fn map(self, value: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64) -> f64 {
        let rounded = value(self.high);
        match self.low == 0.0 || !rounded.is_finite() {
            true => rounded,
            false => rounded + self.low * derivative(self.high),
        }
    }

    fn atan2(self, x: DoubleDouble) -> f64 {
        let angle = self.high.atan2(x.high);
        let square = x.high * x.high + self.high * self.high;
        let is_exact = self.low == 0.0 && x.low == 0.0;
        match is_exact || angle == 0.0 || !square.is_normal() {
            true => angle,
            false => angle + (x.high * self.low - self.high * x.low) / square,
        }
    }
}

impl From<f64> for DoubleDouble {
    fn from(high: f64) -> DoubleDouble {
        DoubleDouble { high, low: 0.0 }
    }
}

impl Add for DoubleDouble {
    type Output = DoubleDouble;
    fn add(self, other: DoubleDouble) -> DoubleDouble {
        if self.high == 0.0 && other.high == 0.0 {
            return DoubleDouble::from(self.high + other.high);
        }
        let sum = DoubleDouble::sum(self.high, other.high);
        DoubleDouble::sum(sum.high, sum.low + (self.low + other.low))
    }
}

impl Neg for DoubleDouble {
    type Output = DoubleDouble;
    fn neg(self) -> DoubleDouble {
        DoubleDouble { high: -self.high, low: -self.low }
    }
}

impl Sub for DoubleDouble {
    type Output = DoubleDouble;
    fn sub(self, other: DoubleDouble) -> DoubleDouble {
        self + -other
    }
}

impl Mul for DoubleDouble {
    type Output = DoubleDouble;
    fn mul(self, other: DoubleDouble) -> DoubleDouble {
        let product = DoubleDouble::product(self.high, other.high);
        if product.high == 0.0 {
            return DoubleDouble::from(product.high);
        }
        let cross = self.high * other.low + self.low * other.high;
        DoubleDouble::sum(product.high, product.low + cross)
    }
}

impl Div for DoubleDouble {
    type Output = DoubleDouble;
    fn div(self, other: DoubleDouble) -> DoubleDouble {
        let first = self.high / other.high;
        if first == 0.0 || !first.is_finite() {
            return DoubleDouble::from(first);
        }
        let rest = first.mul_add(-other.high, self.high) + (self.low - first * other.low);
        DoubleDouble::sum(first, rest / other.high)
    }
}

/// A complex number with parts of type `T`.
#[derive(Clone, Copy, Debug)]
pub struct ComplexOf<T> {
    pub re: T,
    pub im: T,
}

impl<T: RealArithmetic> ComplexOf<T> {
    /// |z|²
    pub fn norm_squared(self) -> T {
        self.re.square() + self.im.square()
    }

    /// z̄
    pub fn conj(self) -> ComplexOf<T> {
        ComplexOf { re: self.re, im: -self.im }
    }

    /// The principal square root of a finite number. Preserves the signs of zeros.
    pub fn sqrt(self) -> ComplexOf<T> {
        if self.re.high() == 0.0 && self.im.high() == 0.0 {
            return ComplexOf { re: T::from(0.0), im: self.im };
        }
        let size = self.re.high().abs().max(self.im.high().abs());
        // Scale, so that squares neither overflow nor underflow.
        let (factor, root) = match size {
            size if size > 1e150 => (2f64.powi(-600), 2f64.powi(300)),
            size if size < 1e-150 => (2f64.powi(600), 2f64.powi(-300)),
            _ => (1.0, 1.0),
        };
        let z = ComplexOf { re: self.re.scaled(factor), im: self.im.scaled(factor) };
        let modulus = z.norm_squared().sqrt();
        let is_left = z.re.high() < 0.0;
        let part = if is_left { modulus - z.re } else { modulus + z.re };
        let large = part.scaled(0.5).sqrt();
        let small = z.im / large.scaled(2.0);
        let (large, small) = (large.scaled(root), small.scaled(root));
        if !is_left {
            return ComplexOf { re: large, im: small };
        }
        let (re, im) = match z.im.high().is_sign_negative() {
            true => (-small, -large),
            false => (small, large),
        };
        ComplexOf { re: if re.high() == 0.0 { T::from(0.0) } else { re }, im }
    }
}

impl<T: RealArithmetic> Mul for ComplexOf<T> {
    type Output = ComplexOf<T>;
    fn mul(self, other: ComplexOf<T>) -> ComplexOf<T> {
        ComplexOf {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// √2 · √2 = 2 and 2 / 3 · 3 = 2, to more than `f64` precision.
    #[test]
    fn double_double_exceeds_f64_precision() {
        let root = DoubleDouble::from(2.0).sqrt();
        assert!(root.low != 0.0);
        assert!((root.square() - DoubleDouble::from(2.0)).round().abs() < 1e-30);
        let third = DoubleDouble::from(2.0) / DoubleDouble::from(3.0);
        assert!((third * DoubleDouble::from(3.0) - DoubleDouble::from(2.0)).round().abs() < 1e-30);
    }

    #[test]
    fn complex_sqrt_is_accurate_at_any_magnitude() {
        for size in [1.0, 1e-200, 1e200, 1e300] {
            for (re, im) in [(3.0, 4.0), (-3.0, 4.0), (-3.0, -4.0), (0.0, -2.0), (1.0, 1e-9)] {
                let z = ComplexOf {
                    re: DoubleDouble::from(re * size),
                    im: DoubleDouble::from(im * size),
                };
                let root = z.sqrt();
                let square = root * root;
                let error = (square.re - z.re).round().abs() + (square.im - z.im).round().abs();
                assert!(error <= 1e-29 * size, "{re}, {im} times {size}: {error}");
                assert!(root.re.high >= 0.0);
            }
        }
        let below = ComplexOf { re: DoubleDouble::from(-4.0), im: DoubleDouble::from(-0.0) }.sqrt();
        assert_eq!((below.re.high, below.im.high), (0.0, -2.0));
    }
}
