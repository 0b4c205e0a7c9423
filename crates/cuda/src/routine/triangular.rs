//! Blocked Cholesky factorization and triangular solve (TRSM): diagonal blocks one by one, each followed by a GEMM
//! update of the trailing matrix. All matrices of a batch and all right-hand sides are processed at once.

use super::cholesky_panel::{self, CholeskyPanels, PANEL};
use super::triangular_kernels::{self, BLOCK, FACTORED_PER_BLOCK, THREADS, TILE};
use super::{KernelKey, KernelSet, Launch, RoutineContext};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::Transpose;
use inflight_ir::plan::TriangularSystems;
use std::sync::Arc;

/// A batch of matrices: the address of the first, and strides in elements.
#[derive(Clone, Copy)]
struct Matrix {
    start: u64,
    batch: usize,
    row: usize,
    column: usize,
}

impl Matrix {
    /// The submatrix from an element on. `size` is the bytes of an element.
    fn from(self, size: usize, row: usize, column: usize) -> Matrix {
        let elements = row * self.row + column * self.column;
        Matrix { start: self.start + (elements * size) as u64, ..self }
    }

    fn transposed(self) -> Matrix {
        Matrix { row: self.column, column: self.row, ..self }
    }

    fn words(self) -> [u64; 4] {
        [self.start, self.batch as u64, self.row as u64, self.column as u64]
    }
}

/// A triangular matrix on the left-hand side of a solve.
struct TriangularMatrix {
    matrix: Matrix,
    conjugated: bool,
    /// Whether the solve is forward substitution: the matrix is lower triangular.
    forward: bool,
    unit_diagonal: bool,
}

/// Cholesky factorization of all matrices.
pub fn cholesky(
    context: &mut RoutineContext,
    dtype: DType,
    [batch, n]: [usize; 2],
    lower: bool,
    x: u64,
    result: u64,
) -> Result<(), Fault> {
    let elements = batch * n * n;
    if elements == 0 {
        return Ok(());
    }
    let solver = TriangularSolver::new(context, dtype, batch)?;
    // The lower factor is computed. The upper one is its adjoint, from the adjoint of the operand.
    let in_place = lower && solver.computes_in_stored_dtype();
    let factors =
        if in_place { result } else { context.allocate_scratch(elements * solver.size())? };
    solver.convert(
        context,
        triangular_kernels::TO_COMPUTE,
        elements,
        Some((n, !lower)),
        [x, factors],
    )?;
    let all = Matrix { start: factors, batch: n * n, row: n, column: 1 };
    let size = solver.size();
    if cholesky_panel::is_suitable(solver.compute_dtype, n) {
        let panels = CholeskyPanels::new(context, solver.compute_dtype, [batch, n], factors)?;
        for start in (0..n).step_by(PANEL) {
            panels.factor(context, start)?;
            let end = start + PANEL;
            if end >= n {
                break;
            }
            if panels.supports_trailing_update() {
                panels.update_trailing(context, start)?;
                continue;
            }
            let panel_below = all.from(size, end, start);
            let update = GemmUpdate {
                extents: [n - end, n - end, PANEL],
                a: (panel_below, false),
                b: (panel_below.transposed(), true),
                c: all.from(size, end, end),
                lower: true,
            };
            solver.update(context, update)?;
        }
        panels.store_diagonals(context)?;
        return solver.store_factors(context, [elements, n], lower, in_place, [factors, result]);
    }
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let words = [batch as u64, n as u64, start as u64, factors].to_vec();
        let blocks = batch.div_ceil(FACTORED_PER_BLOCK);
        context.launch(
            &solver.kernels,
            triangular_kernels::FACTOR,
            Launch { blocks, threads: 32 * FACTORED_PER_BLOCK as u32, words },
        )?;
        if end == n {
            break;
        }
        // `x · blockᴴ = panel` is `conj(block) · xᵀ = panelᵀ`.
        let block = TriangularMatrix {
            matrix: all.from(size, start, start),
            conjugated: true,
            forward: true,
            unit_diagonal: false,
        };
        let panel = all.from(size, end, start);
        solver.solve_block(context, &block, end - start, panel.transposed(), n - end)?;
        let update = GemmUpdate {
            extents: [n - end, n - end, end - start],
            a: (panel, false),
            b: (panel.transposed(), true),
            c: all.from(size, end, end),
            lower: true,
        };
        solver.update(context, update)?;
    }
    solver.store_factors(context, [elements, n], lower, in_place, [factors, result])
}

/// TRSM: solves all triangular systems.
pub fn triangular_solve(
    context: &mut RoutineContext,
    dtype: DType,
    systems: &TriangularSystems,
    [a, b]: [u64; 2],
    result: u64,
) -> Result<(), Fault> {
    let &TriangularSystems { batch, n, count, left_side, .. } = systems;
    let elements = batch * n * count;
    if elements == 0 {
        return Ok(());
    }
    let solver = TriangularSolver::new(context, dtype, batch)?;
    let (mut triangles, mut solutions) = (a, result);
    if !solver.computes_in_stored_dtype() {
        triangles = context.allocate_scratch(batch * n * n * solver.size())?;
        solutions = context.allocate_scratch(elements * solver.size())?;
        solver.convert(
            context,
            triangular_kernels::TO_COMPUTE,
            batch * n * n,
            None,
            [a, triangles],
        )?;
    }
    solver.convert(context, triangular_kernels::TO_COMPUTE, elements, None, [b, solutions])?;
    // On the right-hand side, `x · a = b` is `aᵀ · xᵀ = bᵀ`.
    let is_transposed = (systems.transpose != Transpose::No) == left_side;
    let stored = Matrix { start: triangles, batch: n * n, row: n, column: 1 };
    let triangle = TriangularMatrix {
        matrix: if is_transposed { stored.transposed() } else { stored },
        conjugated: systems.transpose == Transpose::Adjoint,
        forward: systems.lower != is_transposed,
        unit_diagonal: systems.unit_diagonal,
    };
    let (row, column) = if left_side { (count, 1) } else { (1, n) };
    let x = Matrix { start: solutions, batch: n * count, row, column };
    solver.solve(context, &triangle, n, x, count)?;
    match solver.computes_in_stored_dtype() {
        true => Ok(()),
        false => solver.convert(
            context,
            triangular_kernels::TO_STORED,
            elements,
            None,
            [solutions, result],
        ),
    }
}

/// A GEMM update: `c -= a · b`.
struct GemmUpdate {
    /// M, N and K.
    extents: [usize; 3],
    /// A matrix, and whether it is conjugated.
    a: (Matrix, bool),
    b: (Matrix, bool),
    c: Matrix,
    /// Whether only the lower triangle is updated.
    lower: bool,
}

/// The kernels for a dtype, and the batch they run on.
struct TriangularSolver {
    kernels: Arc<KernelSet>,
    dtype: DType,
    /// The dtype that is computed in.
    compute_dtype: DType,
    batch: usize,
}

impl TriangularSolver {
    fn new(
        context: &RoutineContext,
        dtype: DType,
        batch: usize,
    ) -> Result<TriangularSolver, Fault> {
        let kernels =
            context.kernels(KernelKey::Triangular(dtype), || triangular_kernels::kernels(dtype))?;
        Ok(TriangularSolver {
            kernels,
            dtype,
            compute_dtype: triangular_kernels::compute_dtype(dtype)?,
            batch,
        })
    }

    /// Whether the operands are stored in the compute dtype.
    fn computes_in_stored_dtype(&self) -> bool {
        self.compute_dtype == self.dtype
    }

    /// Bytes of an element in the compute dtype.
    fn size(&self) -> usize {
        self.compute_dtype.size()
    }

    /// Converts elements between the stored and the compute dtype. `matrices` is the size of square matrices and
    /// whether to transpose them.
    fn convert(
        &self,
        context: &mut RoutineContext,
        kernel: usize,
        elements: usize,
        matrices: Option<(usize, bool)>,
        [from, to]: [u64; 2],
    ) -> Result<(), Fault> {
        let (n, is_transposed) = matrices.unwrap_or((1, false));
        let mut words = vec![elements as u64, n as u64];
        words.extend([matrices.is_some() as u64, is_transposed as u64, from, to]);
        let blocks = elements.div_ceil(THREADS);
        context.launch(&self.kernels, kernel, Launch { blocks, threads: THREADS as u32, words })
    }

    /// Stores factors that were not computed in place.
    fn store_factors(
        &self,
        context: &mut RoutineContext,
        [elements, n]: [usize; 2],
        lower: bool,
        in_place: bool,
        addresses: [u64; 2],
    ) -> Result<(), Fault> {
        match in_place {
            true => Ok(()),
            false => self.convert(
                context,
                triangular_kernels::TO_STORED,
                elements,
                Some((n, !lower)),
                addresses,
            ),
        }
    }

    /// Replaces the columns of `x` by the solutions of `triangle · y = x`.
    fn solve(
        &self,
        context: &mut RoutineContext,
        triangle: &TriangularMatrix,
        n: usize,
        x: Matrix,
        columns: usize,
    ) -> Result<(), Fault> {
        let size = self.size();
        let blocks = n.div_ceil(BLOCK);
        for step in 0..blocks {
            let block = if triangle.forward { step } else { blocks - 1 - step };
            let (start, end) = (block * BLOCK, ((block + 1) * BLOCK).min(n));
            let diagonal =
                TriangularMatrix { matrix: triangle.matrix.from(size, start, start), ..*triangle };
            let solved = x.from(size, start, 0);
            self.solve_block(context, &diagonal, end - start, solved, columns)?;
            let rest = if triangle.forward { end..n } else { 0..start };
            if rest.is_empty() {
                continue;
            }
            let update = GemmUpdate {
                extents: [rest.len(), columns, end - start],
                a: (triangle.matrix.from(size, rest.start, start), triangle.conjugated),
                b: (solved, false),
                c: x.from(size, rest.start, 0),
                lower: false,
            };
            self.update(context, update)?;
        }
        Ok(())
    }

    /// Solves for the rows of one diagonal block.
    fn solve_block(
        &self,
        context: &mut RoutineContext,
        triangle: &TriangularMatrix,
        rows: usize,
        x: Matrix,
        columns: usize,
    ) -> Result<(), Fault> {
        let flags = [triangle.conjugated, triangle.unit_diagonal, !triangle.forward];
        let mut words = vec![rows as u64, columns as u64];
        words.extend(flags.map(|flag| flag as u64));
        words.extend(triangle.matrix.words());
        words.extend(x.words());
        let systems = triangular_kernels::systems_per_block(self.compute_dtype);
        let blocks = self.batch * columns.div_ceil(systems);
        context.launch(
            &self.kernels,
            triangular_kernels::TRSM,
            Launch { blocks, threads: systems as u32, words },
        )
    }

    fn update(&self, context: &mut RoutineContext, update: GemmUpdate) -> Result<(), Fault> {
        let GemmUpdate { extents: [rows, columns, depth], a, b, c, lower } = update;
        // Neighbouring threads write neighbouring columns. If rows are contiguous instead, update the transpose.
        let is_transposed = c.column != 1 && c.row == 1;
        let ((rows, columns), a, b, c) = match is_transposed {
            false => ((rows, columns), a, b, c),
            true => {
                let (a, b) = ((b.0.transposed(), b.1), (a.0.transposed(), a.1));
                ((columns, rows), a, b, c.transposed())
            }
        };
        let mut words = vec![rows as u64, columns as u64, depth as u64];
        words.extend([lower, a.1, b.1].map(|flag| flag as u64));
        for matrix in [a.0, b.0, c] {
            words.extend(matrix.words());
        }
        let blocks = self.batch * rows.div_ceil(TILE) * columns.div_ceil(TILE);
        context.launch(
            &self.kernels,
            triangular_kernels::UPDATE,
            Launch { blocks, threads: THREADS as u32, words },
        )
    }
}
