//! Linear algebra: Cholesky factorization and triangular solve. Computed in double precision, rounded at the end.

use super::Array;
use crate::graph::Transpose;
use crate::{Element, Scalar};
use num_complex::Complex;

type Complex64 = Complex<f64>;

/// The matrices of a batch, concatenated, with the extents of each.
fn matrices(x: &Array) -> (Vec<Complex64>, usize, usize) {
    let (rows, columns) = (x.shape[x.shape.rank() - 2], x.shape[x.shape.rank() - 1]);
    (x.scalars().map(Complex::from_scalar).collect(), rows, columns)
}

/// An array like `x` with these elements, rounded to its dtype.
fn rounded(values: Vec<Complex64>, x: &Array) -> Array {
    let round = |value: Complex64| -> Scalar {
        match x.dtype.is_complex() {
            true => value.to_scalar().cast(x.dtype),
            false => value.re.to_scalar().cast(x.dtype),
        }
    };
    Array::from_scalars(values.into_iter().map(round), &x.shape, x.dtype)
}

/// `a / b`. Uses real division for real numbers, so that division by zero gives infinities.
fn divide(a: Complex64, b: Complex64) -> Complex64 {
    if a.im == 0.0 && b.im == 0.0 { Complex::new(a.re / b.re, 0.0) } else { a / b }
}

/// The Cholesky factor of each matrix.
pub fn cholesky(x: &Array, lower: bool) -> Array {
    let (values, n, _) = matrices(x);
    let mut factors = vec![Complex64::default(); values.len()];
    for (matrix, factor) in values.chunks(n * n).zip(factors.chunks_mut(n * n)) {
        // Computes the lower factor. The upper factor is its adjoint, computed from the adjoint of the input.
        let input = |row: usize, column: usize| match lower {
            true => matrix[row * n + column],
            false => matrix[column * n + row].conj(),
        };
        let mut l = vec![Complex64::default(); n * n];
        for column in 0..n {
            let partial_sum: f64 = (0..column).map(|k| l[column * n + k].norm_sqr()).sum();
            let diagonal = (input(column, column).re - partial_sum).sqrt();
            // A matrix that is not positive definite has no factor.
            let diagonal = if diagonal > 0.0 { diagonal } else { f64::NAN };
            l[column * n + column] = diagonal.into();
            for row in column + 1..n {
                let partial_sum: Complex64 =
                    (0..column).map(|k| l[row * n + k] * l[column * n + k].conj()).sum();
                l[row * n + column] = (input(row, column) - partial_sum) / diagonal;
            }
        }
        for row in 0..n {
            for column in 0..n {
                factor[row * n + column] = match lower {
                    true => l[row * n + column],
                    false => l[column * n + row].conj(),
                };
            }
        }
    }
    rounded(factors, x)
}

/// The solution of each triangular system.
pub fn triangular_solve(
    a: &Array,
    b: &Array,
    left_side: bool,
    lower: bool,
    unit_diagonal: bool,
    transpose: Transpose,
) -> Array {
    let (a_values, n, _) = matrices(a);
    let (mut values, rows, columns) = matrices(b);
    let systems = if left_side { columns } else { rows };
    for (a, x) in a_values.chunks(n * n).zip(values.chunks_mut(rows * columns)) {
        // On the right side, `x·a = b` is solved as `aᵀ·xᵀ = bᵀ`.
        let transposed = (transpose != Transpose::No) == left_side;
        let conjugated = transpose == Transpose::Adjoint;
        let coefficient = |row: usize, column: usize| {
            let value = if transposed { a[column * n + row] } else { a[row * n + column] };
            if conjugated { value.conj() } else { value }
        };
        let forward = lower != transposed;
        for system in 0..systems {
            let at = |i: usize| if left_side { i * columns + system } else { system * columns + i };
            for step in 0..n {
                let row = if forward { step } else { n - 1 - step };
                let partial_sum: Complex64 = (0..step)
                    .map(|step| if forward { step } else { n - 1 - step })
                    .map(|column| coefficient(row, column) * x[at(column)])
                    .sum();
                let remainder = x[at(row)] - partial_sum;
                x[at(row)] = if unit_diagonal {
                    remainder
                } else {
                    divide(remainder, coefficient(row, row))
                };
            }
        }
    }
    rounded(values, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cholesky_of_known_matrices() {
        let x = Array::from_vec(vec![4.0f64, 2.0, 2.0, 10.0], [2, 2]);
        assert_eq!(cholesky(&x, true).to_vec::<f64>(), [2.0, 0.0, 1.0, 3.0]);
        assert_eq!(cholesky(&x, false).to_vec::<f64>(), [2.0, 1.0, 0.0, 3.0]);
        // The other triangle is not read.
        let x = Array::from_vec(vec![4.0f64, f64::NAN, 2.0, 10.0], [2, 2]);
        assert_eq!(cholesky(&x, true).to_vec::<f64>(), [2.0, 0.0, 1.0, 3.0]);
        let i = Complex::new(0.0f32, 1.0);
        let x = Array::from_vec(vec![4.0.into(), i * -2.0, i * 2.0, 10.0.into()], [2, 2]);
        let lower = [2.0.into(), 0.0.into(), i, 3.0.into()];
        assert_eq!(cholesky(&x, true).to_vec::<Complex<f32>>(), lower);
    }

    #[test]
    fn not_positive_definite_gives_nan() {
        let x = Array::from_vec(vec![1.0f32, 0.0, 0.0, -1.0], [2, 2]);
        let factor = cholesky(&x, true).to_vec::<f32>();
        assert_eq!(factor[..3], [1.0, 0.0, 0.0]);
        assert!(factor[3].is_nan());
    }

    #[test]
    fn triangular_solve_of_known_systems() {
        let a = Array::from_vec(vec![2.0f32, 9.0, 1.0, 4.0], [2, 2]);
        let b = Array::from_vec(vec![2.0f32, 4.0, 5.0, 6.0], [2, 2]);
        let solve = |left_side, lower, unit, transpose| {
            triangular_solve(&a, &b, left_side, lower, unit, transpose).to_vec::<f32>()
        };
        let no = Transpose::No;
        // [2 0; 1 4] · [1 2; 1 1] = [2 4; 5 6]
        assert_eq!(solve(true, true, false, no), [1.0, 2.0, 1.0, 1.0]);
        // [1 0; 1 1] · [2 4; 3 2]
        assert_eq!(solve(true, true, true, no), [2.0, 4.0, 3.0, 2.0]);
        // [2 1; 0 4] · x
        assert_eq!(solve(true, true, false, Transpose::Transpose), [0.375, 1.25, 1.25, 1.5]);
        // x · [2 0; 1 4]
        assert_eq!(solve(false, true, false, no), [0.5, 1.0, 1.75, 1.5]);
        // x · [2 9; 0 4]
        assert_eq!(solve(false, false, false, no), [1.0, -1.25, 2.5, -4.125]);
    }
}
