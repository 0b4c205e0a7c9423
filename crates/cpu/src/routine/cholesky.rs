//! Triangular factors. Small matrices are shared among the threads; of a large one, the rows.

use super::field::{Number, Part, Stored, subtract_product};
use super::solve::{Triangle, copy};
use super::{Device, Shared};
use crate::gemm::{Matrix, Multiplier};
use inflight_backend::Fault;

/// Columns that are factored at a time.
const BLOCK: usize = 64;

/// From this many rows on, all threads work on one matrix.
const LARGE: usize = 256;

/// Factors all matrices.
///
/// # Safety
/// As for [`run`](super::run).
pub unsafe fn cholesky<S: Stored>(
    device: &Device,
    batch: usize,
    n: usize,
    lower: bool,
    x: *mut u8,
    result: *mut u8,
) -> Result<(), Fault> {
    let (x, result) = (Shared(x.cast::<S>()), Shared(result.cast::<S>()));
    let factors = device.work::<S::Number>(batch * n * n)?;
    let factors = factors.start;
    // The lower factor is computed; the upper one is its adjoint, from the adjoint of what is given.
    let place = |i: usize| {
        let (matrix, row, column) = (i / (n * n), i / n % n, i % n);
        let given = if lower { i } else { matrix * n * n + column * n + row };
        (given, row, column)
    };
    copy(device, batch * n * n, |i| {
        let (given, row, column) = place(i);
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe {
            let value = (*x.at(given)).load();
            let value = if lower { value } else { value.conjugate() };
            factors.at(i).write(if column <= row { value } else { Multiplier::ZERO });
        }
    })?;
    if n < LARGE {
        device.parallel_for(batch, |matrix| {
            // SAFETY: each matrix is one thread's.
            unsafe { factor_alone(factors.at(matrix * n * n), n) };
        })?;
    } else {
        for matrix in 0..batch {
            // SAFETY: nobody else has the matrices.
            unsafe { factor_shared(device, Shared(factors.at(matrix * n * n)), n)? };
        }
    }
    copy(device, batch * n * n, |i| {
        let (computed, row, column) = place(i);
        // SAFETY: promised by the caller; the factors are there.
        unsafe {
            let value = *factors.at(computed);
            let value = if lower { value } else { value.conjugate() };
            let filled = if lower { column <= row } else { row <= column };
            result.at(i).write(S::store(if filled { value } else { Multiplier::ZERO }));
        }
    })
}

/// A part of a dense matrix of `n` columns.
fn part<T>(a: *mut T, n: usize, row: usize, column: usize) -> Matrix<T> {
    Matrix { start: a, row: n as isize, column: 1 }.from(row, column)
}

/// Factors one matrix in place, its lower triangle, on this thread.
///
/// # Safety
/// `a` must have `n` rows and columns, for nobody else to access.
unsafe fn factor_alone<T: Number>(a: *mut T, n: usize) {
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        // SAFETY: promised by the caller.
        unsafe {
            factor_block(a, n, start, end);
            solve_panel(a, n, start, end, end, n);
            for row in (end..n).step_by(BLOCK) {
                update_rows(a, n, start, end, row, (row + BLOCK).min(n));
            }
        }
    }
}

/// Factors one matrix in place, its lower triangle, on all threads.
///
/// # Safety
/// `a` must have `n` rows and columns, for nobody else to access.
unsafe fn factor_shared<T: Number>(device: &Device, a: Shared<T>, n: usize) -> Result<(), Fault> {
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let chunks = (n - end).div_ceil(BLOCK);
        let rows = |chunk: usize| (end + chunk * BLOCK, (end + (chunk + 1) * BLOCK).min(n));
        // SAFETY: promised by the caller. Each chunk writes rows of its own; what it reads of others was
        // written by loops that have ended.
        unsafe {
            factor_block(a.at(0), n, start, end);
            device.parallel_for(chunks, |chunk| {
                let (first, last) = rows(chunk);
                solve_panel(a.at(0), n, start, end, first, last);
            })?;
            device.parallel_for(chunks, |chunk| {
                let (first, last) = rows(chunk);
                update_rows(a.at(0), n, start, end, first, last);
            })?;
        }
    }
    Ok(())
}

/// Factors the block of these rows and columns, one column after another.
///
/// # Safety
/// As for [`factor_alone`].
unsafe fn factor_block<T: Number>(a: *mut T, n: usize, start: usize, end: usize) {
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

/// The factor's rows from `first` to `last` in the columns of a factored block: `x · blockᴴ = given`.
///
/// # Safety
/// As for [`factor_alone`]; nobody else may access these rows.
unsafe fn solve_panel<T: Number>(
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
    let triangle =
        Triangle { transposed: false, conjugated: true, forward: true, unit_diagonal: false };
    let block = part(a, n, start, start).start;
    let rows = part(a, n, first, start);
    let x = Matrix { start: rows.start, row: rows.column, column: rows.row };
    // SAFETY: the block and the rows are parts of the matrix that do not overlap.
    unsafe { triangle.solve_strided(block, n, end - start, x, last - first) };
}

/// Takes the product of the factored columns off the rows from `first` to `last`, up to the diagonal's block.
///
/// # Safety
/// As for [`factor_alone`]; nobody else may access these rows beyond the factored columns.
unsafe fn update_rows<T: Number>(
    a: *mut T,
    n: usize,
    start: usize,
    end: usize,
    first: usize,
    last: usize,
) {
    let rows = Part {
        matrix: part(a, n, first, start),
        rows: last - first,
        columns: end - start,
        conjugated: false,
    };
    let above = part(a, n, end, start);
    let columns = Part {
        matrix: Matrix { start: above.start, row: above.column, column: above.row },
        rows: end - start,
        columns: last - end,
        conjugated: true,
    };
    // SAFETY: what is read is in the factored columns, what is written beyond them.
    unsafe { subtract_product(rows, columns, part(a, n, first, end)) };
}
