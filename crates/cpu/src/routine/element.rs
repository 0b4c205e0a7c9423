//! Element types of the triangular routines: the stored type, and the type they compute in (`f32` for `f16` and `bf16`).

use crate::gemm::{GemmScalar, Matrix, multiply_subtract};
use half::{bf16, f16};
use num_complex::Complex;
use std::ops::{Add, Div, Mul, Sub};

/// A real or complex scalar that the triangular routines compute in.
pub trait LinalgScalar:
    GemmScalar
    + Send
    + Sync
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The complex conjugate; the identity for real types.
    fn conjugate(self) -> Self;
    /// The square root of the real part; NaN if that is not positive.
    fn root(self) -> Self;
}

macro_rules! impl_linalg_scalar {
    ($($type:ty),*) => {$(
        impl LinalgScalar for $type {
            fn conjugate(self) -> $type {
                self
            }
            fn root(self) -> $type {
                if self > 0.0 { self.sqrt() } else { <$type>::NAN }
            }
        }

        impl LinalgScalar for Complex<$type> {
            fn conjugate(self) -> Complex<$type> {
                self.conj()
            }
            fn root(self) -> Complex<$type> {
                Complex::new(self.re.root(), 0.0)
            }
        }
    )*};
}

impl_linalg_scalar!(f32, f64);

/// The element type of a dtype, with the type to compute in.
pub trait StoredElement: Copy + Send + Sync + 'static {
    type Compute: LinalgScalar;
    fn load(self) -> Self::Compute;
    fn store(value: Self::Compute) -> Self;
}

macro_rules! impl_stored_element {
    ($($type:ty, $compute:ty, $load:expr, $store:expr;)*) => {$(
        impl StoredElement for $type {
            type Compute = $compute;
            fn load(self) -> $compute {
                $load(self)
            }
            fn store(value: $compute) -> $type {
                $store(value)
            }
        }
    )*};
}

impl_stored_element! {
    f16, f32, f16::to_f32, f16::from_f32;
    bf16, f32, bf16::to_f32, bf16::from_f32;
    f32, f32, |x| x, |x| x;
    f64, f64, |x| x, |x| x;
    Complex<f32>, Complex<f32>, |x| x, |x| x;
    Complex<f64>, Complex<f64>, |x| x, |x| x;
}

/// A GEMM operand: a submatrix, possibly transposed by its strides.
pub struct Submatrix<T> {
    pub matrix: Matrix<T>,
    pub rows: usize,
    pub columns: usize,
    pub conjugated: bool,
}

/// `c -= a · b`.
///
/// # Safety
/// All elements must be valid, those of `c` for writing; no other thread may access those of `c`.
pub unsafe fn gemm_subtract<T: LinalgScalar>(a: Submatrix<T>, b: Submatrix<T>, c: Matrix<T>) {
    if a.rows == 0 || b.columns == 0 || a.columns == 0 {
        return;
    }
    let extents = [a.rows, b.columns, a.columns];
    // SAFETY: promised by the caller.
    unsafe { multiply_subtract(extents, (a.matrix, a.conjugated), (b.matrix, b.conjugated), c) }
}
