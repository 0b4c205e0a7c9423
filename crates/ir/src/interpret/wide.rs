//! Numbers of twice the precision of `f64`: the unrounded sum of two. The algebra of a complex function is
//! done in them, so that its result is rounded about once. For `complex64`, `f64` has digits to spare and does
//! as well.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the algebra of complex functions is done in.
pub trait Digits:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The sum of two numbers.
    fn sum(a: f64, b: f64) -> Self;
    /// The product of two numbers.
    fn product(a: f64, b: f64) -> Self;
    /// The nearest `f64`, but for its last bit.
    fn high(self) -> f64;
    /// The square root of a number that is not negative.
    fn sqrt(self) -> Self;
    /// Times a power of two.
    fn scaled(self, factor: f64) -> Self;
    /// The nearest `f64`.
    fn round(self) -> f64;
    /// A function of the number, given with its derivative.
    fn map(self, value: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64) -> f64;
    /// The angle of the point (x, self).
    fn atan2(self, x: Self) -> f64;

    /// x²
    fn square(self) -> Self {
        self * self
    }
}

impl Digits for f64 {
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

/// `high + low`, where `low` is at most half a unit in the last place of `high`. The sign of a zero is that of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    pub high: f64,
    pub low: f64,
}

impl Digits for Wide {
    /// Exactly.
    fn sum(a: f64, b: f64) -> Wide {
        let high = a + b;
        let rest = high - a;
        Wide { high, low: (a - (high - rest)) + (b - rest) }
    }

    /// Exactly, but for underflow.
    fn product(a: f64, b: f64) -> Wide {
        let high = a * b;
        Wide { high, low: a.mul_add(b, -high) }
    }

    fn high(self) -> f64 {
        self.high
    }

    fn sqrt(self) -> Wide {
        let root = self.high.sqrt();
        if root == 0.0 {
            return Wide::from(root);
        }
        let rest = root.mul_add(-root, self.high) + self.low;
        Wide::sum(root, rest / (2.0 * root))
    }

    fn scaled(self, factor: f64) -> Wide {
        Wide { high: self.high * factor, low: self.low * factor }
    }

    fn round(self) -> f64 {
        // A negative zero and a positive one are a positive one.
        if self.low == 0.0 { self.high } else { self.high + self.low }
    }

    /// Of the rounded number, corrected by the derivative.
    fn map(self, value: impl Fn(f64) -> f64, derivative: impl Fn(f64) -> f64) -> f64 {
        let rounded = value(self.high);
        match self.low == 0.0 || !rounded.is_finite() {
            true => rounded,
            false => rounded + self.low * derivative(self.high),
        }
    }

    fn atan2(self, x: Wide) -> f64 {
        let angle = self.high.atan2(x.high);
        let square = x.high * x.high + self.high * self.high;
        let is_exact = self.low == 0.0 && x.low == 0.0;
        match is_exact || angle == 0.0 || !square.is_normal() {
            true => angle,
            false => angle + (x.high * self.low - self.high * x.low) / square,
        }
    }
}

impl From<f64> for Wide {
    fn from(high: f64) -> Wide {
        Wide { high, low: 0.0 }
    }
}

impl Add for Wide {
    type Output = Wide;
    fn add(self, other: Wide) -> Wide {
        if self.high == 0.0 && other.high == 0.0 {
            return Wide::from(self.high + other.high);
        }
        let sum = Wide::sum(self.high, other.high);
        Wide::sum(sum.high, sum.low + (self.low + other.low))
    }
}

impl Neg for Wide {
    type Output = Wide;
    fn neg(self) -> Wide {
        Wide { high: -self.high, low: -self.low }
    }
}

impl Sub for Wide {
    type Output = Wide;
    fn sub(self, other: Wide) -> Wide {
        self + -other
    }
}

impl Mul for Wide {
    type Output = Wide;
    fn mul(self, other: Wide) -> Wide {
        let product = Wide::product(self.high, other.high);
        if product.high == 0.0 {
            return Wide::from(product.high);
        }
        let cross = self.high * other.low + self.low * other.high;
        Wide::sum(product.high, product.low + cross)
    }
}

impl Div for Wide {
    type Output = Wide;
    fn div(self, other: Wide) -> Wide {
        let first = self.high / other.high;
        if first == 0.0 || !first.is_finite() {
            return Wide::from(first);
        }
        let rest = first.mul_add(-other.high, self.high) + (self.low - first * other.low);
        Wide::sum(first, rest / other.high)
    }
}

/// A complex number of such parts.
#[derive(Clone, Copy, Debug)]
pub struct Parts<T> {
    pub re: T,
    pub im: T,
}

impl<T: Digits> Parts<T> {
    /// |z|²
    pub fn norm_squared(self) -> T {
        self.re.square() + self.im.square()
    }

    /// z̄
    pub fn conj(self) -> Parts<T> {
        Parts { re: self.re, im: -self.im }
    }

    /// The principal square root of a finite number, with the signs of zeros kept.
    pub fn sqrt(self) -> Parts<T> {
        if self.re.high() == 0.0 && self.im.high() == 0.0 {
            return Parts { re: T::from(0.0), im: self.im };
        }
        let size = self.re.high().abs().max(self.im.high().abs());
        // Squares neither overflow nor underflow after this.
        let (factor, root) = match size {
            size if size > 1e150 => (2f64.powi(-600), 2f64.powi(300)),
            size if size < 1e-150 => (2f64.powi(600), 2f64.powi(-300)),
            _ => (1.0, 1.0),
        };
        let z = Parts { re: self.re.scaled(factor), im: self.im.scaled(factor) };
        let modulus = z.norm_squared().sqrt();
        let is_left = z.re.high() < 0.0;
        let part = if is_left { modulus - z.re } else { modulus + z.re };
        let large = part.scaled(0.5).sqrt();
        let small = z.im / large.scaled(2.0);
        let (large, small) = (large.scaled(root), small.scaled(root));
        if !is_left {
            return Parts { re: large, im: small };
        }
        let (re, im) = match z.im.high().is_sign_negative() {
            true => (-small, -large),
            false => (small, large),
        };
        Parts { re: if re.high() == 0.0 { T::from(0.0) } else { re }, im }
    }
}

impl<T: Digits> Mul for Parts<T> {
    type Output = Parts<T>;
    fn mul(self, other: Parts<T>) -> Parts<T> {
        Parts {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// √2 · √2 is 2, and 2 / 3 · 3, to more digits than a `f64` has.
    #[test]
    fn there_are_more_digits_than_one_number_has() {
        let root = Wide::from(2.0).sqrt();
        assert!(root.low != 0.0);
        assert!((root.square() - Wide::from(2.0)).round().abs() < 1e-30);
        let third = Wide::from(2.0) / Wide::from(3.0);
        assert!((third * Wide::from(3.0) - Wide::from(2.0)).round().abs() < 1e-30);
    }

    #[test]
    fn roots_of_any_size_are_roots() {
        for size in [1.0, 1e-200, 1e200, 1e300] {
            for (re, im) in [(3.0, 4.0), (-3.0, 4.0), (-3.0, -4.0), (0.0, -2.0), (1.0, 1e-9)] {
                let z = Parts { re: Wide::from(re * size), im: Wide::from(im * size) };
                let root = z.sqrt();
                let square = root * root;
                let error = (square.re - z.re).round().abs() + (square.im - z.im).round().abs();
                assert!(error <= 1e-29 * size, "{re}, {im} times {size}: {error}");
                assert!(root.re.high >= 0.0);
            }
        }
        let below = Parts { re: Wide::from(-4.0), im: Wide::from(-0.0) }.sqrt();
        assert_eq!((below.re.high, below.im.high), (0.0, -2.0));
    }
}
