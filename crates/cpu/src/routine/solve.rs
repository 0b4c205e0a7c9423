//! Triangular systems: blocks on the diagonal are solved one by one, and what they give is taken off the rest
//! by matrix products. Systems are independent of each other, and shared among the threads.

use super::field::{Number, Part, Stored, subtract_product};
use super::{Device, Shared};
use crate::gemm::Matrix;
use inflight_backend::Fault;
use inflight_ir::graph::Transpose;
use inflight_ir::plan::TriangularSystems;

/// Rows of a block on the diagonal.
const BLOCK: usize = 32;

/// Solves all systems.
///
/// # Safety
/// As for [`run`](super::run); the operands are the triangular matrices and the right-hand sides.
pub unsafe fn solve<S: Stored>(
    device: &Device,
    systems: &TriangularSystems,
    [a, b]: [*mut u8; 2],
    result: *mut u8,
) -> Result<(), Fault> {
    let &TriangularSystems { batch, n, count, left_side, .. } = systems;
    let (a, b, result) = (Shared(a.cast::<S>()), Shared(b.cast::<S>()), Shared(result.cast::<S>()));
    // Numbers to compute in, where they are not what is stored.
    let (triangles, solutions) =
        (device.work::<S::Number>(batch * n * n)?, device.work::<S::Number>(batch * n * count)?);
    let (triangles, solutions) = (triangles.start, solutions.start);
    copy(device, batch * n * n, |i| {
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe { triangles.at(i).write((*a.at(i)).load()) }
    })?;
    copy(device, batch * n * count, |i| {
        // SAFETY: as above.
        unsafe { solutions.at(i).write((*b.at(i)).load()) }
    })?;
    let triangle = Triangle::new(systems);
    // Enough systems at a time for products to be worth their packing.
    let threads = device.workers.width();
    let step = count.div_ceil(threads.div_ceil(batch.max(1))).next_multiple_of(16).max(16);
    let chunks = count.div_ceil(step);
    device.parallel_for(batch * chunks, |chunk| {
        let (matrix, first) = (chunk / chunks, chunk % chunks * step);
        let (row, column) = if left_side { (count, 1) } else { (1, n) };
        let start = solutions.at(matrix * n * count + first * column);
        let x = Matrix { start, row: row as isize, column: column as isize };
        let a = triangles.at(matrix * n * n);
        // SAFETY: the matrices are those of this chunk, which no other thread writes.
        unsafe { triangle.solve(a, n, x, step.min(count - first)) };
    })?;
    copy(device, batch * n * count, |i| {
        // SAFETY: promised by the caller; all solutions are there.
        unsafe { result.at(i).write(S::store(*solutions.at(i))) }
    })
}

/// Calls `each` for every element, on all threads.
pub fn copy(device: &Device, elements: usize, each: impl Fn(usize) + Sync) -> Result<(), Fault> {
    const PART: usize = 1 << 16;
    device.parallel_for(elements.div_ceil(PART), |chunk| {
        (chunk * PART..((chunk + 1) * PART).min(elements)).for_each(&each);
    })
}

/// A triangular matrix as it stands on the left of what is solved for.
#[derive(Clone, Copy)]
pub struct Triangle {
    /// Whether its rows are the stored matrix's columns.
    pub transposed: bool,
    pub conjugated: bool,
    /// Whether it is lower triangular, and solved from the first row on.
    pub forward: bool,
    pub unit_diagonal: bool,
}

impl Triangle {
    fn new(systems: &TriangularSystems) -> Triangle {
        // From the right, `x·a = b` is `aᵀ·xᵀ = bᵀ`.
        let transposed = (systems.transpose != Transpose::No) == systems.left_side;
        Triangle {
            transposed,
            conjugated: systems.transpose == Transpose::Adjoint,
            forward: systems.lower != transposed,
            unit_diagonal: systems.unit_diagonal,
        }
    }

    /// Replaces the columns of `x` by the solutions of `triangle · y = x`. `a` is dense with rows of `n`.
    ///
    /// # Safety
    /// `a` must have `n` rows and columns, `x` `n` rows and `columns` columns, all valid; nobody else may
    /// access those of `x` meanwhile.
    pub unsafe fn solve<T: Number>(self, a: *mut T, n: usize, x: Matrix<T>, columns: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.solve_strided(a, n, n, x, columns) }
    }

    /// The same with rows of the triangular matrix `stride` apart.
    ///
    /// # Safety
    /// As for [`solve`](Triangle::solve).
    pub unsafe fn solve_strided<T: Number>(
        self,
        a: *mut T,
        stride: usize,
        n: usize,
        x: Matrix<T>,
        columns: usize,
    ) {
        let stride = stride as isize;
        let (row, column) = if self.transposed { (1, stride) } else { (stride, 1) };
        let a = Matrix { start: a, row, column };
        let blocks = n.div_ceil(BLOCK);
        for step in 0..blocks {
            let block = if self.forward { step } else { blocks - 1 - step };
            let (start, end) = (block * BLOCK, ((block + 1) * BLOCK).min(n));
            // SAFETY: the block is within the matrices.
            unsafe { self.solve_block(a, start..end, x, columns) };
            let rest = if self.forward { end..n } else { 0..start };
            let coefficients = Part {
                matrix: a.from(rest.start, start),
                rows: rest.len(),
                columns: end - start,
                conjugated: self.conjugated,
            };
            let solved =
                Part { matrix: x.from(start, 0), rows: end - start, columns, conjugated: false };
            // SAFETY: both are parts of the matrices, and the rest is none of the block's rows.
            unsafe { subtract_product(coefficients, solved, x.from(rest.start, 0)) };
        }
    }

    /// Solves for some rows with the coefficients in their own columns.
    ///
    /// # Safety
    /// As for [`solve`](Triangle::solve).
    unsafe fn solve_block<T: Number>(
        self,
        a: Matrix<T>,
        rows: std::ops::Range<usize>,
        x: Matrix<T>,
        columns: usize,
    ) {
        let len = rows.len();
        // SAFETY: rows and columns are within the matrices, by the caller's promise.
        unsafe {
            let coefficient = |row: usize, column: usize| {
                let value = *a.at(row, column);
                if self.conjugated { value.conjugate() } else { value }
            };
            for step in 0..len {
                let row = if self.forward { rows.start + step } else { rows.end - 1 - step };
                for known in 0..step {
                    let other =
                        if self.forward { rows.start + known } else { rows.end - 1 - known };
                    let factor = coefficient(row, other);
                    for column in 0..columns {
                        let at = x.at(row, column);
                        *at = *at - factor * *x.at(other, column);
                    }
                }
                if !self.unit_diagonal {
                    let diagonal = coefficient(row, row);
                    for column in 0..columns {
                        let at = x.at(row, column);
                        *at = *at / diagonal;
                    }
                }
            }
        }
    }
}
