//! Blocked triangular solve (TRSM): solves the diagonal blocks one by one, and updates the remaining rows with a GEMM
//! after each. Threads share the systems, which are independent.

use super::element::{LinalgScalar, StoredElement, Submatrix, gemm_subtract};
use super::{Device, SharedPtr};
use crate::gemm::Matrix;
use inflight_backend::Fault;
use inflight_ir::graph::Transpose;
use inflight_ir::plan::TriangularSystems;

/// Rows of a diagonal block.
const BLOCK: usize = 32;

/// Solves a batch of triangular systems.
///
/// # Safety
/// As for [`run`](super::run); the operands are the triangular matrices and the right-hand sides.
pub unsafe fn triangular_solve<S: StoredElement>(
    device: &Device,
    systems: &TriangularSystems,
    [a, b]: [*mut u8; 2],
    result: *mut u8,
) -> Result<(), Fault> {
    let &TriangularSystems { batch, n, count, left_side, .. } = systems;
    let (a, b) = (SharedPtr(a.cast::<S>()), SharedPtr(b.cast::<S>()));
    let result = SharedPtr(result.cast::<S>());
    // Copies in the type to compute in.
    let triangles = device.workspace::<S::Compute>(batch * n * n)?;
    let solutions = device.workspace::<S::Compute>(batch * n * count)?;
    let (triangles, solutions) = (triangles.start, solutions.start);
    for_each_element(device, batch * n * n, |i| {
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe { triangles.at(i).write((*a.at(i)).load()) }
    })?;
    for_each_element(device, batch * n * count, |i| {
        // SAFETY: as above.
        unsafe { solutions.at(i).write((*b.at(i)).load()) }
    })?;
    let triangle = TriangularMatrix::new(systems);
    // Solve enough systems at a time for the GEMM to amortize its packing.
    let threads = device.workers.thread_count();
    let step = count.div_ceil(threads.div_ceil(batch.max(1))).next_multiple_of(16).max(16);
    let chunks = count.div_ceil(step);
    device.parallel_for(batch * chunks, |chunk| {
        let (matrix, first) = (chunk / chunks, chunk % chunks * step);
        let (row, column) = if left_side { (count, 1) } else { (1, n) };
        let start = solutions.at(matrix * n * count + first * column);
        let x = Matrix { start, row: row as isize, column: column as isize };
        let a = triangles.at(matrix * n * n);
        // SAFETY: the right-hand sides belong to this chunk, and no other thread accesses them.
        unsafe { triangle.solve(a, n, x, step.min(count - first)) };
    })?;
    for_each_element(device, batch * n * count, |i| {
        // SAFETY: promised by the caller; all solutions have been computed.
        unsafe { result.at(i).write(S::store(*solutions.at(i))) }
    })
}

/// Calls `each` with every element index, on all threads.
pub fn for_each_element(
    device: &Device,
    elements: usize,
    each: impl Fn(usize) + Sync,
) -> Result<(), Fault> {
    const PART: usize = 1 << 16;
    device.parallel_for(elements.div_ceil(PART), |chunk| {
        (chunk * PART..((chunk + 1) * PART).min(elements)).for_each(&each);
    })
}

/// Properties of a triangular matrix on the left of the unknowns.
#[derive(Clone, Copy)]
pub struct TriangularMatrix {
    /// Whether it is the transpose of the stored matrix.
    pub transposed: bool,
    pub conjugated: bool,
    /// Whether it is lower triangular, and solved by forward substitution.
    pub forward: bool,
    pub unit_diagonal: bool,
}

impl TriangularMatrix {
    fn new(systems: &TriangularSystems) -> TriangularMatrix {
        // With `a` on the right, `x·a = b` is `aᵀ·xᵀ = bᵀ`.
        let transposed = (systems.transpose != Transpose::No) == systems.left_side;
        TriangularMatrix {
            transposed,
            conjugated: systems.transpose == Transpose::Adjoint,
            forward: systems.lower != transposed,
            unit_diagonal: systems.unit_diagonal,
        }
    }

    /// Replaces the columns of `x` by the solutions of `triangle · y = x`. `a` is dense with rows of `n`.
    ///
    /// # Safety
    /// `a` must have `n` rows and columns, `x` `n` rows and `columns` columns, all valid; no other thread may access
    /// those of `x` meanwhile.
    pub unsafe fn solve<T: LinalgScalar>(self, a: *mut T, n: usize, x: Matrix<T>, columns: usize) {
        // SAFETY: promised by the caller.
        unsafe { self.solve_strided(a, n, n, x, columns) }
    }

    /// Like [`solve`](TriangularMatrix::solve), with a row stride of `a`.
    ///
    /// # Safety
    /// As for [`solve`](TriangularMatrix::solve).
    pub unsafe fn solve_strided<T: LinalgScalar>(
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
            let coefficients = Submatrix {
                matrix: a.submatrix(rest.start, start),
                rows: rest.len(),
                columns: end - start,
                conjugated: self.conjugated,
            };
            let solved = Submatrix {
                matrix: x.submatrix(start, 0),
                rows: end - start,
                columns,
                conjugated: false,
            };
            // SAFETY: both are within the matrices, and the remaining rows do not overlap the block's.
            unsafe { gemm_subtract(coefficients, solved, x.submatrix(rest.start, 0)) };
        }
    }

    /// Solves a diagonal block by substitution.
    ///
    /// # Safety
    /// As for [`solve`](TriangularMatrix::solve).
    unsafe fn solve_block<T: LinalgScalar>(
        self,
        a: Matrix<T>,
        rows: std::ops::Range<usize>,
        x: Matrix<T>,
        columns: usize,
    ) {
        let len = rows.len();
        // SAFETY: rows and columns are within the matrices, as promised by the caller.
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
