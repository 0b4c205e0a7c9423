//! Blocked Cholesky factorization. Threads share the matrices of a batch, or the rows of one large matrix.

use super::element::{LinalgScalar, StoredElement, Submatrix, gemm_subtract};
use super::triangular_solve::{TriangularMatrix, for_each_element};
use super::{Device, SharedPtr};
use crate::gemm::{GemmScalar, Matrix};
use inflight_backend::Fault;

/// Columns of a block.
const BLOCK: usize = 64;

/// Minimum rows for all threads to share one matrix.
const MIN_SHARED_ROWS: usize = 256;

/// Factors a batch of matrices.
///
/// # Safety
/// As for [`run`](super::run).
pub unsafe fn cholesky<S: StoredElement>(
    device: &Device,
    batch: usize,
    n: usize,
    lower: bool,
    x: *mut u8,
    result: *mut u8,
) -> Result<(), Fault> {
    let (x, result) = (SharedPtr(x.cast::<S>()), SharedPtr(result.cast::<S>()));
    let factors = device.workspace::<S::Compute>(batch * n * n)?;
    let factors = factors.start;
    // Compute the lower factor. The upper factor is its adjoint, computed from the adjoint of the input.
    let indices = |i: usize| {
        let (matrix, row, column) = (i / (n * n), i / n % n, i % n);
        let given = if lower { i } else { matrix * n * n + column * n + row };
        (given, row, column)
    };
    for_each_element(device, batch * n * n, |i| {
        let (given, row, column) = indices(i);
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe {
            let value = (*x.at(given)).load();
            let value = if lower { value } else { value.conjugate() };
            factors.at(i).write(if column <= row { value } else { GemmScalar::ZERO });
        }
    })?;
    if n < MIN_SHARED_ROWS {
        device.parallel_for(batch, |matrix| {
            // SAFETY: each thread has matrices of its own.
            unsafe { factor_sequential(factors.at(matrix * n * n), n) };
        })?;
    } else {
        for matrix in 0..batch {
            // SAFETY: no other thread accesses the matrices.
            unsafe { factor_parallel(device, SharedPtr(factors.at(matrix * n * n)), n)? };
        }
    }
    for_each_element(device, batch * n * n, |i| {
        let (computed, row, column) = indices(i);
        // SAFETY: promised by the caller; the factors have been computed.
        unsafe {
            let value = *factors.at(computed);
            let value = if lower { value } else { value.conjugate() };
            let filled = if lower { column <= row } else { row <= column };
            result.at(i).write(S::store(if filled { value } else { GemmScalar::ZERO }));
        }
    })
}

/// The submatrix of a dense matrix of `n` columns that begins at this row and column.
fn submatrix<T>(a: *mut T, n: usize, row: usize, column: usize) -> Matrix<T> {
    Matrix { start: a, row: n as isize, column: 1 }.submatrix(row, column)
}

/// Factors the lower triangle of one matrix in place, on the current thread.
///
/// # Safety
/// `a` must have `n` rows and columns, which no other thread accesses.
unsafe fn factor_sequential<T: LinalgScalar>(a: *mut T, n: usize) {
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        // SAFETY: promised by the caller.
        unsafe {
            factor_diagonal_block(a, n, start, end);
            solve_panel(a, n, start, end, end, n);
            for row in (end..n).step_by(BLOCK) {
                update_trailing_rows(a, n, start, end, row, (row + BLOCK).min(n));
            }
        }
    }
}

/// Factors the lower triangle of one matrix in place, on all threads.
///
/// # Safety
/// `a` must have `n` rows and columns, which no other thread accesses.
unsafe fn factor_parallel<T: LinalgScalar>(
    device: &Device,
    a: SharedPtr<T>,
    n: usize,
) -> Result<(), Fault> {
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let chunks = (n - end).div_ceil(BLOCK);
        let rows = |chunk: usize| (end + chunk * BLOCK, (end + (chunk + 1) * BLOCK).min(n));
        // SAFETY: promised by the caller. Each chunk writes rows of its own; the rows of others that it reads were
        // written by loops that have ended.
        unsafe {
            factor_diagonal_block(a.at(0), n, start, end);
            device.parallel_for(chunks, |chunk| {
                let (first, last) = rows(chunk);
                solve_panel(a.at(0), n, start, end, first, last);
            })?;
            device.parallel_for(chunks, |chunk| {
                let (first, last) = rows(chunk);
                update_trailing_rows(a.at(0), n, start, end, first, last);
            })?;
        }
    }
    Ok(())
}

/// Factors the diagonal block of these rows and columns, column by column.
///
/// # Safety
/// As for [`factor_sequential`].
unsafe fn factor_diagonal_block<T: LinalgScalar>(a: *mut T, n: usize, start: usize, end: usize) {
    // SAFETY: rows and columns are within the matrix.
    unsafe {
        let at = |row: usize, column: usize| a.wrapping_add(row * n + column);
        for column in start..end {
            let mut diagonal = *at(column, column);
            for k in start..column {
                let factor = *at(column, k);
                diagonal = diagonal - factor * factor.conjugate();
            }
            let root = diagonal.root();
            *at(column, column) = root;
            for row in column + 1..end {
                let mut value = *at(row, column);
                for k in start..column {
                    value = value - *at(row, k) * (*at(column, k)).conjugate();
                }
                *at(row, column) = value / root;
            }
        }
    }
}

/// Solves for the factor's rows `first..last` in the columns of a factored diagonal block: `x · blockᴴ = given`.
///
/// # Safety
/// As for [`factor_sequential`]; no other thread may access these rows.
unsafe fn solve_panel<T: LinalgScalar>(
    a: *mut T,
    n: usize,
    start: usize,
    end: usize,
    first: usize,
    last: usize,
) {
    if first >= last {
        return;
    }
    // `x · blockᴴ = given` is `conj(block) · xᵀ = givenᵀ`.
    let triangle = TriangularMatrix {
        transposed: false,
        conjugated: true,
        forward: true,
        unit_diagonal: false,
    };
    let block = submatrix(a, n, start, start).start;
    let rows = submatrix(a, n, first, start);
    let x = Matrix { start: rows.start, row: rows.column, column: rows.row };
    // SAFETY: the block and the rows are within the matrix and do not overlap.
    unsafe { triangle.solve_strided(block, n, end - start, x, last - first) };
}

/// Trailing update: subtracts the product of the factored columns from the rows `first..last`, up to the diagonal.
///
/// # Safety
/// As for [`factor_sequential`]; no other thread may access these rows beyond the factored columns.
unsafe fn update_trailing_rows<T: LinalgScalar>(
    a: *mut T,
    n: usize,
    start: usize,
    end: usize,
    first: usize,
    last: usize,
) {
    let rows = Submatrix {
        matrix: submatrix(a, n, first, start),
        rows: last - first,
        columns: end - start,
        conjugated: false,
    };
    let above = submatrix(a, n, end, start);
    let columns = Submatrix {
        matrix: Matrix { start: above.start, row: above.column, column: above.row },
        rows: end - start,
        columns: last - end,
        conjugated: true,
    };
    // SAFETY: the update reads the factored columns and writes beyond them.
    unsafe { gemm_subtract(rows, columns, submatrix(a, n, first, end)) };
}
