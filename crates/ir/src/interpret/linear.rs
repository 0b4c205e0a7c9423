//! Triangular matrices: factors and solutions. Computed in double precision, rounded at the end.

use super::Array;
use crate::graph::Transpose;
use crate::{Element, Scalar};
use num_complex::Complex;

type Number = Complex<f64>;

/// The matrices of an array, one after another, with the extents of each.
fn matrices(x: &Array) -> (Vec<Number>, usize, usize) {
    let (rows, columns) = (x.shape[x.shape.rank() - 2], x.shape[x.shape.rank() - 1]);
    (x.scalars().map(Complex::from_scalar).collect(), rows, columns)
}

/// An array like `x` of these elements.
fn rounded(values: Vec<Number>, x: &Array) -> Array {
    let round = |value: Number| -> Scalar {
        match x.dtype.is_complex() {
            true => value.to_scalar().cast(x.dtype),
            false => value.re.to_scalar().cast(x.dtype),
        }
    };
    Array::from_scalars(values.into_iter().map(round), &x.shape, x.dtype)
}

/// `a / b`; for reals as real division does, so that a zero gives infinities.
fn divide(a: Number, b: Number) -> Number {
    if a.im == 0.0 && b.im == 0.0 { Complex::new(a.re / b.re, 0.0) } else { a / b }
}

/// The triangular factor of each matrix.
pub fn cholesky(x: &Array, lower: bool) -> Array {
    let (values, n, _) = matrices(x);
    let mut factors = vec![Number::default(); values.len()];
    for (matrix, factor) in values.chunks(n * n).zip(factors.chunks_mut(n * n)) {
        // The lower factor; the upper one is its adjoint, from the adjoint of what is given.
        let given = |row: usize, column: usize| match lower {
            true => matrix[row * n + column],
            false => matrix[column * n + row].conj(),
        };
        let mut l = vec![Number::default(); n * n];
        for column in 0..n {
            let known: f64 = (0..column).map(|k| l[column * n + k].norm_sqr()).sum();
            let diagonal = (given(column, column).re - known).sqrt();
            // What is not above zero has no factor.
            let diagonal = if diagonal > 0.0 { diagonal } else { f64::NAN };
            l[column * n + column] = diagonal.into();
            for row in column + 1..n {
                let known: Number =
                    (0..column).map(|k| l[row * n + k] * l[column * n + k].conj()).sum();
                l[row * n + column] = (given(row, column) - known) / diagonal;
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
        // From the right, `x·a = b` is `aᵀ·xᵀ = bᵀ`.
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
                let known: Number = (0..step)
                    .map(|step| if forward { step } else { n - 1 - step })
                    .map(|column| coefficient(row, column) * x[at(column)])
                    .sum();
                let rest = x[at(row)] - known;
                x[at(row)] = if unit_diagonal { rest } else { divide(rest, coefficient(row, row)) };
            }
        }
    }
    rounded(values, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_multiply_to_what_is_given() {
        let x = Array::from_vec(vec![4.0f64, 2.0, 2.0, 10.0], [2, 2]);
        assert_eq!(cholesky(&x, true).to_vec::<f64>(), [2.0, 0.0, 1.0, 3.0]);
        assert_eq!(cholesky(&x, false).to_vec::<f64>(), [2.0, 1.0, 0.0, 3.0]);
        // The other triangle is not looked at.
        let x = Array::from_vec(vec![4.0f64, f64::NAN, 2.0, 10.0], [2, 2]);
        assert_eq!(cholesky(&x, true).to_vec::<f64>(), [2.0, 0.0, 1.0, 3.0]);
        let i = Complex::new(0.0f32, 1.0);
        let x = Array::from_vec(vec![4.0.into(), i * -2.0, i * 2.0, 10.0.into()], [2, 2]);
        let lower = [2.0.into(), 0.0.into(), i, 3.0.into()];
        assert_eq!(cholesky(&x, true).to_vec::<Complex<f32>>(), lower);
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let x = Array::from_vec(vec![1.0f32, 0.0, 0.0, -1.0], [2, 2]);
        let factor = cholesky(&x, true).to_vec::<f32>();
        assert_eq!(factor[..3], [1.0, 0.0, 0.0]);
        assert!(factor[3].is_nan());
    }

    #[test]
    fn solutions_solve_their_systems() {
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
