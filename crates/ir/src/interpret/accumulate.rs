//! Accumulators of reductions: compensated summation, rounded once at the end.

use super::scalars::{scalar_binary, scalar_combine};
use crate::elementwise::{BinaryOp, CombineOp};
use crate::{DType, Element, Scalar};
use num_complex::Complex;

/// Running reduction of values.
///
/// Sums and products of floats and complex numbers are accumulated in double precision, sums with Neumaier
/// compensation. Everything else is exact.
#[derive(Clone)]
pub struct Accumulator {
    dtype: DType,
    state: State,
}

#[derive(Clone)]
enum State {
    /// Of a real number, or of a complex one with both parts used.
    Sum { re: CompensatedSum, im: CompensatedSum },
    /// Of a real or complex number.
    Product(Complex<f64>),
    /// Combined without rounding.
    Exact(CombineOp, Scalar),
}

impl Accumulator {
    /// An empty accumulator: the identity of the op.
    pub fn new(op: CombineOp, dtype: DType) -> Accumulator {
        let state = match op {
            CombineOp::Sum if dtype.is_float() || dtype.is_complex() => {
                State::Sum { re: CompensatedSum::default(), im: CompensatedSum::default() }
            }
            CombineOp::Product if dtype.is_float() || dtype.is_complex() => {
                State::Product(Complex::new(1.0, 0.0))
            }
            _ => State::Exact(op, Scalar::identity(op, dtype)),
        };
        Accumulator { dtype, state }
    }

    /// Accumulates a value.
    pub fn push(&mut self, value: Scalar) {
        match &mut self.state {
            State::Sum { re, im } => {
                let value = Complex::<f64>::from_scalar(value);
                re.add(value.re);
                im.add(value.im);
            }
            // Real products avoid complex multiplication, where 0 · ∞ would contribute NaN.
            State::Product(product) if self.dtype.is_float() => product.re *= value.to_f64(),
            State::Product(product) => *product *= Complex::<f64>::from_scalar(value),
            State::Exact(op, total) => *total = scalar_combine(*op, *total, value),
        }
    }

    /// Accumulates the product of two values without rounding it to their dtype.
    pub fn push_product(&mut self, a: Scalar, b: Scalar) {
        if self.dtype.is_float() {
            self.push((a.to_f64() * b.to_f64()).to_scalar());
        } else if self.dtype.is_complex() {
            let product = Complex::<f64>::from_scalar(a) * Complex::<f64>::from_scalar(b);
            self.push(product.to_scalar());
        } else {
            self.push(scalar_binary(BinaryOp::Mul, a, b));
        }
    }

    /// The result, rounded to the dtype.
    pub fn result(&self) -> Scalar {
        let value = match &self.state {
            State::Sum { re, im } => Complex::new(re.total(), im.total()),
            State::Product(product) => *product,
            State::Exact(_, total) => return *total,
        };
        value.to_scalar().cast(self.dtype)
    }
}

/// Compensated sum: Neumaier's variant of Kahan summation.
#[derive(Clone, Copy, Default)]
struct CompensatedSum {
    sum: f64,
    compensation: f64,
}

impl CompensatedSum {
    fn add(&mut self, value: f64) {
        let sum = self.sum + value;
        let (large, small) =
            if self.sum.abs() >= value.abs() { (self.sum, value) } else { (value, self.sum) };
        self.compensation += (large - sum) + small;
        self.sum = sum;
    }

    fn total(&self) -> f64 {
        // Beside an infinity the compensation is NaN and meaningless.
        if self.sum.is_finite() { self.sum + self.compensation } else { self.sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combine<T: Element>(op: CombineOp, values: &[T]) -> T {
        let mut accumulator = Accumulator::new(op, T::DTYPE);
        values.iter().for_each(|value| accumulator.push(value.to_scalar()));
        T::from_scalar(accumulator.result())
    }

    #[test]
    fn compensated_sum_rounds_once() {
        assert_eq!(combine(CombineOp::Sum, &[1e16f64, 1.0, 1.0, -1e16]), 2.0);
        assert_eq!(combine(CombineOp::Sum, &[1e30f32, 1.0, -1e30]), 1.0);
        let values = vec![half::f16::from_f32(0.1); 4096];
        let exact = values[0].to_f64() * 4096.0;
        assert_eq!(combine(CombineOp::Sum, &values), half::f16::from_f64(exact));
        assert_eq!(combine(CombineOp::Sum, &[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(combine(CombineOp::Sum, &[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert!(combine(CombineOp::Sum, &[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn products_and_integer_sums() {
        assert_eq!(combine(CombineOp::Product, &[1e30f32, 1e30, 1e-30, 1e-30]), 1.0);
        assert_eq!(combine(CombineOp::Product, &[f32::INFINITY, 2.0]), f32::INFINITY);
        let i = Complex::new(0.0f32, 1.0);
        assert_eq!(combine(CombineOp::Product, &[i, i]), Complex::new(-1.0, 0.0));
        assert_eq!(combine(CombineOp::Sum, &[i, i]), Complex::new(0.0, 2.0));
        assert_eq!(combine(CombineOp::Sum, &[200u8, 100]), 44);
        assert_eq!(combine(CombineOp::Product, &[i64::MAX, 2]), -2);
    }

    #[test]
    fn empty_reduction_gives_the_identity() {
        assert_eq!(combine::<f32>(CombineOp::Sum, &[]), 0.0);
        assert_eq!(combine::<f64>(CombineOp::Product, &[]), 1.0);
        assert_eq!(combine::<f32>(CombineOp::Min, &[]), f32::INFINITY);
        assert_eq!(combine::<i8>(CombineOp::Max, &[]), i8::MIN);
        assert_eq!(combine::<u16>(CombineOp::And, &[]), u16::MAX);
        assert!(!combine::<bool>(CombineOp::Sum, &[]));
        assert!(combine::<bool>(CombineOp::Product, &[]));
    }

    #[test]
    fn products_are_not_rounded_before_the_sum() {
        let mut accumulator = Accumulator::new(CombineOp::Sum, DType::F32);
        let a = (1.0f32 + f32::EPSILON).to_scalar();
        accumulator.push_product(a, a);
        accumulator.push_product((-1.0f32).to_scalar(), (1.0 + 2.0 * f32::EPSILON).to_scalar());
        assert_eq!(f32::from_scalar(accumulator.result()), f32::EPSILON * f32::EPSILON);
    }
}
