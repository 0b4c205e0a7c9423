//! The number types that matrices are factored and solved in.

use crate::gemm::{Matrix, Multiplier, multiply_subtract};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::{Add, Div, Mul, Sub};

/// An element type of matrices that triangular routines compute on.
pub trait Number:
    Multiplier
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The conjugate; a real number is its own.
    fn conjugate(self) -> Self;
    /// The square root of the real part; NaN where that is not above zero.
    fn root(self) -> Self;
}

macro_rules! real {
    ($($type:ty),*) => {$(
        impl Number for $type {
            fn conjugate(self) -> $type {
                self
            }
            fn root(self) -> $type {
                if self > 0.0 { self.sqrt() } else { <$type>::NAN }
            }
        }

        impl Number for Complex<$type> {
            fn conjugate(self) -> Complex<$type> {
                self.conj()
            }
            fn root(self) -> Complex<$type> {
                Complex::new(self.re.root(), 0.0)
            }
        }
    )*};
}

real!(f32, f64);

/// A dtype's element, and the number it is computed in.
pub trait Stored: Copy + Send + Sync + 'static {
    type Number: Number;
    fn load(self) -> Self::Number;
    fn store(number: Self::Number) -> Self;
}

macro_rules! stored {
    ($($type:ty, $number:ty, $load:expr, $store:expr;)*) => {$(
        impl Stored for $type {
            type Number = $number;
            fn load(self) -> $number {
                $load(self)
            }
            fn store(number: $number) -> $type {
                $store(number)
            }
        }
    )*};
}

stored! {
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
    f32, f32, |x| x, |x| x;
    f64, f64, |x| x, |x| x;
    Complex<f32>, Complex<f32>, |x| x, |x| x;
    Complex<f64>, Complex<f64>, |x| x, |x| x;
}

/// A part of a matrix, or of its transpose.
pub struct Part<T> {
    pub matrix: Matrix<T>,
    pub rows: usize,
    pub columns: usize,
    pub conjugated: bool,
}

/// `c -= a · b`.
///
/// # Safety
/// All elements must be valid, those of `c` for writing and nobody else's.
pub unsafe fn subtract_product<T: Number>(a: Part<T>, b: Part<T>, c: Matrix<T>) {
    if a.rows == 0 || b.columns == 0 || a.columns == 0 {
        return;
    }
    let extents = [a.rows, b.columns, a.columns];
    // SAFETY: promised by the caller.
    unsafe { multiply_subtract(extents, (a.matrix, a.conjugated), (b.matrix, b.conjugated), c) }
}
