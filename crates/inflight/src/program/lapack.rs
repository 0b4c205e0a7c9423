//! LAPACK custom calls that JAX exports for CPUs and that have no StableHLO op: LU, QR and Hermitian
//! eigendecompositions, computed on the host in double precision.

use super::custom_call::{HostView, HostViewMut};
use crate::{Complex, DType};
use inflight_hlo::module::{Attribute, Attributes, attribute};
use inflight_hlo::program::ValueType;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::Arc;

type CustomCallFn =
    dyn Fn(&[HostView<'_>], &mut [HostViewMut<'_>]) -> Result<(), String> + Send + Sync;

/// LAPACK routines, without their precision prefix.
#[derive(Clone, Copy)]
enum Routine {
    /// LU with partial pivoting: the factors in one matrix, the pivots (1-based), and `info`.
    Getrf,
    /// Householder QR: R above the reflectors, and the scalar factors τ.
    Geqrf,
    /// Generates the columns of Q from the reflectors.
    Orgqr,
    /// Hermitian eigendecomposition: eigenvectors, ascending eigenvalues, and `info`. Reads only one triangle.
    Syevd { lower: bool },
}

/// Resolves a call's target for values of these types. `None` if the target is not a LAPACK call.
pub(super) fn resolve(
    target: &str,
    attributes: &Attributes,
    inputs: &[ValueType],
    outputs: &[ValueType],
) -> Result<Option<Arc<CustomCallFn>>, String> {
    let name = target.strip_prefix("lapack_").and_then(|name| name.strip_suffix("_ffi"));
    let Some(name) = name.and_then(|name| name.strip_prefix(['s', 'd', 'c', 'z'])) else {
        return Ok(None);
    };
    let routine = match name {
        "getrf" => Routine::Getrf,
        "geqrf" => Routine::Geqrf,
        "orgqr" | "ungqr" => Routine::Orgqr,
        "syevd" | "heevd" => Routine::Syevd { lower: is_lower(attributes) },
        _ => return Ok(None),
    };
    let Some(dtype) = inputs.first().map(|input| input.dtype) else {
        return Err(format!(
            "{target}: expected a matrix as its first argument, found no argument"
        ));
    };
    types_match(routine, inputs, outputs)
        .ok_or_else(|| mismatch_message(target, inputs, outputs))?;
    Ok(Some(match dtype {
        DType::F32 | DType::F64 => {
            Arc::new(move |read, written| run::<f64>(routine, read, written))
        }
        _ => Arc::new(move |read, written| run::<Complex<f64>>(routine, read, written)),
    }))
}

/// Error message for a call whose types do not match its routine.
fn mismatch_message(target: &str, inputs: &[ValueType], outputs: &[ValueType]) -> String {
    let list = |types: &[ValueType]| {
        let types: Vec<String> =
            types.iter().map(|ty| format!("{}{}", ty.dtype, ty.shape)).collect();
        types.join(", ")
    };
    format!(
        "{target}: found argument types ({}) and result types ({}), which do not match the LAPACK routine",
        list(inputs),
        list(outputs)
    )
}

/// Whether the lower triangle is read.
fn is_lower(attributes: &Attributes) -> bool {
    let options = match attribute(attributes, "mhlo.backend_config") {
        Some(Attribute::Dictionary(options)) => attribute(options, "uplo"),
        _ => None,
    };
    !matches!(options, Some(Attribute::Integer(letter, _)) if *letter == i128::from(b'U'))
}

/// Checks the types of a routine's inputs and outputs.
fn types_match(routine: Routine, inputs: &[ValueType], outputs: &[ValueType]) -> Option<()> {
    let first = inputs.first()?;
    let real = match first.dtype {
        DType::F32 | DType::C64 => DType::F32,
        DType::F64 | DType::C128 => DType::F64,
        _ => return None,
    };
    let (batch, [rows, columns]) = first.shape.split_last_chunk::<2>().map(|(b, s)| (b, *s))?;
    let is = |ty: &ValueType, dtype: DType, extents: &[usize]| {
        ty.dtype == dtype && ty.shape.iter().eq(batch.iter().chain(extents))
    };
    let (matrix, least) = ([rows, columns], rows.min(columns));
    let fits = match (routine, inputs, outputs) {
        (Routine::Getrf, [_], [factors, pivots, info]) => {
            is(factors, first.dtype, &matrix)
                && is(pivots, DType::I32, &[least])
                && is(info, DType::I32, &[])
        }
        (Routine::Geqrf, [_], [factors, scales]) => {
            is(factors, first.dtype, &matrix) && is(scales, first.dtype, &[least])
        }
        (Routine::Orgqr, [_, scales], [vectors]) => {
            let count = scales.shape.last().copied()?;
            count <= columns
                && columns <= rows
                && is(scales, first.dtype, &[count])
                && is(vectors, first.dtype, &matrix)
        }
        (Routine::Syevd { .. }, [_], [vectors, values, info]) => {
            rows == columns
                && is(vectors, first.dtype, &matrix)
                && is(values, real, &[rows])
                && is(info, DType::I32, &[])
        }
        _ => false,
    };
    fits.then_some(())
}

/// Runs a routine on each matrix of a batch.
fn run<F: Field>(
    routine: Routine,
    inputs: &[HostView<'_>],
    outputs: &mut [HostViewMut<'_>],
) -> Result<(), String> {
    let (batch, &[rows, columns]) =
        inputs[0].shape.split_last_chunk::<2>().ok_or("expected a matrix as the first argument")?;
    let count: usize = batch.iter().product();
    let mut factors = elements::<F>(&inputs[0]);
    let mut more_outputs: Vec<Vec<F>> = vec![Vec::new(); outputs.len().saturating_sub(1)];
    let scales = inputs.get(1).map(elements::<F>).unwrap_or_default();
    for index in 0..count {
        let size = rows * columns;
        let matrix =
            &mut Matrix { elements: &mut factors[index * size..(index + 1) * size], rows, columns };
        match routine {
            Routine::Getrf => {
                let (pivots, info) = lu_factorize(matrix);
                more_outputs[0].extend(pivots);
                more_outputs[1].push(info);
            }
            Routine::Geqrf => more_outputs[0].extend(householder_qr(matrix)),
            Routine::Orgqr => {
                let each = scales.len() / count;
                generate_q(matrix, &scales[index * each..(index + 1) * each]);
            }
            Routine::Syevd { lower } => {
                let (values, info) = jacobi_eigen(matrix, lower);
                more_outputs[0].extend(values);
                more_outputs[1].push(info);
            }
        }
    }
    for (values, output) in [factors].into_iter().chain(more_outputs).zip(outputs) {
        write(&values, output);
    }
    Ok(())
}

/// A row-major matrix.
struct Matrix<'a, F> {
    elements: &'a mut [F],
    rows: usize,
    columns: usize,
}

impl<F: Field> Matrix<'_, F> {
    fn at(&self, row: usize, column: usize) -> F {
        self.elements[row * self.columns + column]
    }

    fn set(&mut self, row: usize, column: usize, value: F) {
        self.elements[row * self.columns + column] = value;
    }
}

/// LU factorization with partial pivoting, in place. Returns the pivots (1-based), and `info`: the first step with
/// a zero pivot (1-based), or 0.
fn lu_factorize<F: Field>(a: &mut Matrix<'_, F>) -> (Vec<F>, F) {
    let mut pivots = Vec::new();
    let mut info = 0;
    for step in 0..a.rows.min(a.columns) {
        let mut pivot = step;
        for row in step + 1..a.rows {
            if a.at(row, step).pivot_magnitude() > a.at(pivot, step).pivot_magnitude() {
                pivot = row;
            }
        }
        pivots.push(F::of(pivot as f64 + 1.0));
        if a.at(pivot, step).pivot_magnitude() == 0.0 {
            info = if info == 0 { step + 1 } else { info };
            continue;
        }
        for column in 0..a.columns {
            a.elements.swap(step * a.columns + column, pivot * a.columns + column);
        }
        let (above, below) = a.elements.split_at_mut((step + 1) * a.columns);
        let row = &above[step * a.columns..];
        for other in below.chunks_exact_mut(a.columns) {
            let factor = other[step] / row[step];
            other[step] = factor;
            for (x, &y) in other[step + 1..].iter_mut().zip(&row[step + 1..]) {
                *x = *x - factor * y;
            }
        }
    }
    (pivots, F::of(info as f64))
}

/// Householder QR, in place: reflectors 1 − τ·v·vᴴ. R is left on and above the diagonal, the vectors v below it
/// without their leading 1. Returns the factors τ.
fn householder_qr<F: Field>(a: &mut Matrix<'_, F>) -> Vec<F> {
    let mut scales = Vec::new();
    for step in 0..a.rows.min(a.columns) {
        let first = a.at(step, step);
        let below: f64 = (step + 1..a.rows).map(|row| a.at(row, step).norm_squared()).sum();
        if below == 0.0 && first.is_real() {
            scales.push(F::of(0.0));
            continue;
        }
        let length = (first.norm_squared() + below).sqrt();
        let left = F::of(if first.real() >= 0.0 { -length } else { length });
        let scale = (left - first) / left;
        let divisor = first - left;
        for row in step + 1..a.rows {
            a.set(row, step, a.at(row, step) / divisor);
        }
        a.set(step, step, left);
        apply_reflector(a, step, step + 1, scale.conjugate(), |a, row| a.at(row, step));
        scales.push(scale);
    }
    scales
}

/// Applies a reflector to the columns from `first` on. Its vector is 1 at row `step`, and `vector` below.
fn apply_reflector<F: Field>(
    a: &mut Matrix<'_, F>,
    step: usize,
    first: usize,
    scale: F,
    vector: impl Fn(&Matrix<'_, F>, usize) -> F,
) {
    let vector: Vec<F> = (step + 1..a.rows).map(|row| vector(a, row)).collect();
    for column in first..a.columns {
        let mut product = a.at(step, column);
        for (row, v) in (step + 1..).zip(&vector) {
            product = product + v.conjugate() * a.at(row, column);
        }
        let product = product * scale;
        a.set(step, column, a.at(step, column) - product);
        for (row, &v) in (step + 1..).zip(&vector) {
            a.set(row, column, a.at(row, column) - v * product);
        }
    }
}

/// Generates the leading columns of Q from the reflectors, in place.
fn generate_q<F: Field>(a: &mut Matrix<'_, F>, scales: &[F]) {
    let vectors: Vec<F> = a.elements.to_vec();
    let columns = a.columns;
    for row in 0..a.rows {
        for column in 0..columns {
            a.set(row, column, F::of(if row == column { 1.0 } else { 0.0 }));
        }
    }
    for (step, &scale) in scales.iter().enumerate().rev() {
        apply_reflector(a, step, step, scale, |_, row| vectors[row * columns + step]);
    }
}

/// Limit on Jacobi sweeps; a handful is usual.
const MAX_SWEEPS: usize = 60;

/// Cyclic Jacobi eigendecomposition. Replaces the Hermitian matrix by its eigenvectors. Returns the eigenvalues,
/// ascending, and `info`: 1 if it did not converge.
fn jacobi_eigen<F: Field>(a: &mut Matrix<'_, F>, lower: bool) -> (Vec<F>, F) {
    let n = a.rows;
    for i in 0..n {
        a.set(i, i, F::of(a.at(i, i).real()));
        for j in 0..i {
            match lower {
                true => a.set(j, i, a.at(i, j).conjugate()),
                false => a.set(i, j, a.at(j, i).conjugate()),
            }
        }
    }
    let mut values = a.elements.to_vec();
    let mut vectors = vec![F::of(0.0); n * n];
    (0..n).for_each(|i| vectors[i * n + i] = F::of(1.0));
    let total: f64 = values.iter().map(|value| value.norm_squared()).sum();
    let sweeps = if total.is_finite() { MAX_SWEEPS } else { 0 };
    let mut found = false;
    for _ in 0..sweeps {
        let rest: f64 =
            (0..n * n).filter(|i| i / n != i % n).map(|i| values[i].norm_squared()).sum();
        if rest <= total * 1e-32 {
            found = true;
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                jacobi_rotate(&mut values, &mut vectors, n, p, q);
            }
        }
    }
    let value = |i: usize| values[i * n + i].real();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| value(i).total_cmp(&value(j)));
    for (column, &from) in order.iter().enumerate() {
        for row in 0..n {
            a.set(row, column, vectors[row * n + from]);
        }
    }
    let sorted = order.iter().map(|&i| F::of(value(i))).collect();
    (sorted, F::of(if found { 0.0 } else { 1.0 }))
}

/// Applies the Jacobi rotation that zeroes the element (p, q).
fn jacobi_rotate<F: Field>(values: &mut [F], vectors: &mut [F], n: usize, p: usize, q: usize) {
    let between = values[p * n + q];
    let size = between.norm_squared().sqrt();
    if size == 0.0 {
        return;
    }
    let phase = between / F::of(size);
    let slope = (values[q * n + q].real() - values[p * n + p].real()) / (2.0 * size);
    let tangent = slope.signum() / (slope.abs() + slope.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let (cosine, sine) = (F::of(cosine), phase * F::of(tangent * cosine));
    for matrix in [&mut *values, vectors] {
        for row in matrix.chunks_exact_mut(n) {
            let (x, y) = (row[p], row[q]);
            row[p] = x * cosine - y * sine.conjugate();
            row[q] = x * sine + y * cosine;
        }
    }
    for column in 0..n {
        let (x, y) = (values[p * n + column], values[q * n + column]);
        values[p * n + column] = x * cosine - y * sine;
        values[q * n + column] = x * sine.conjugate() + y * cosine;
    }
    (values[p * n + q], values[q * n + p]) = (F::of(0.0), F::of(0.0));
}

/// Scalar field of the matrices: real or complex.
trait Field:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    fn of(value: f64) -> Self;
    fn complex(value: Complex<f64>) -> Self;
    fn parts(self) -> Complex<f64>;
    fn conjugate(self) -> Self;

    fn real(self) -> f64 {
        self.parts().re
    }

    fn is_real(self) -> bool {
        self.parts().im == 0.0
    }

    /// Squared absolute value.
    fn norm_squared(self) -> f64 {
        self.parts().norm_sqr()
    }

    /// |re| + |im|, which pivots are compared by.
    fn pivot_magnitude(self) -> f64 {
        self.parts().l1_norm()
    }
}

impl Field for f64 {
    fn of(value: f64) -> f64 {
        value
    }

    fn complex(value: Complex<f64>) -> f64 {
        value.re
    }

    fn parts(self) -> Complex<f64> {
        Complex::new(self, 0.0)
    }

    fn conjugate(self) -> f64 {
        self
    }
}

impl Field for Complex<f64> {
    fn of(value: f64) -> Complex<f64> {
        Complex::new(value, 0.0)
    }

    fn complex(value: Complex<f64>) -> Complex<f64> {
        value
    }

    fn parts(self) -> Complex<f64> {
        self
    }

    fn conjugate(self) -> Complex<f64> {
        self.conj()
    }
}

fn elements<F: Field>(view: &HostView<'_>) -> Vec<F> {
    let wide = |re: f64, im: f64| F::complex(Complex::new(re, im));
    match view.dtype {
        DType::F32 => bytemuck::pod_collect_to_vec::<u8, f32>(view.bytes)
            .into_iter()
            .map(|x| wide(x.into(), 0.0))
            .collect(),
        DType::F64 => bytemuck::pod_collect_to_vec::<u8, f64>(view.bytes)
            .into_iter()
            .map(|x| wide(x, 0.0))
            .collect(),
        DType::C64 => bytemuck::pod_collect_to_vec::<u8, [f32; 2]>(view.bytes)
            .into_iter()
            .map(|[re, im]| wide(re.into(), im.into()))
            .collect(),
        _ => bytemuck::pod_collect_to_vec::<u8, [f64; 2]>(view.bytes)
            .into_iter()
            .map(|[re, im]| wide(re, im))
            .collect(),
    }
}

/// Converts values to the output's dtype and stores them.
fn write<F: Field>(values: &[F], output: &mut HostViewMut<'_>) {
    let size = output.dtype.size();
    for (value, target) in values.iter().zip(output.bytes.chunks_exact_mut(size)) {
        let Complex { re, im } = value.parts();
        match output.dtype {
            DType::I32 => target.copy_from_slice(&(re as i32).to_le_bytes()),
            DType::F32 => target.copy_from_slice(&(re as f32).to_le_bytes()),
            DType::F64 => target.copy_from_slice(&re.to_le_bytes()),
            DType::C64 => target.copy_from_slice(bytemuck::bytes_of(&[re as f32, im as f32])),
            _ => target.copy_from_slice(bytemuck::bytes_of(&[re, im])),
        }
    }
}
