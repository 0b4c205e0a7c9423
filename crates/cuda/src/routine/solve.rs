//! Triangular factors and solutions: blocks on the diagonal one by one, and what they give is taken off the rest
//! by products. All matrices of a batch, and all systems, are worked on at once.

use super::matrix::{self, BLOCK, FACTORED, THREADS, TILE};
use super::panel::{self, PANEL, Panels};
use super::{Kernels, Key, Launch, Site};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::graph::Transpose;
use inflight_ir::plan::TriangularSystems;
use std::sync::Arc;

/// A matrix of each batch: the first's address, and distances in elements.
#[derive(Clone, Copy)]
struct Matrix {
    start: u64,
    batch: usize,
    row: usize,
    column: usize,
}

impl Matrix {
    /// The part from an element on. `size` is an element's.
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

/// A triangular matrix as it stands on the left of what is solved for.
struct Triangle {
    matrix: Matrix,
    conjugated: bool,
    /// Whether it is lower triangular, and solved from the first row on.
    forward: bool,
    unit_diagonal: bool,
}

/// Factors all matrices.
pub fn cholesky(
    site: &mut Site,
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
    let work = Work::new(site, dtype, batch)?;
    // The lower factor is computed; the upper one is its adjoint, from the adjoint of what is given.
    let in_place = lower && work.is_stored();
    let factors = if in_place { result } else { site.temporary(elements * work.size())? };
    work.convert(site, matrix::TO_NUMBERS, elements, Some((n, !lower)), [x, factors])?;
    let all = Matrix { start: factors, batch: n * n, row: n, column: 1 };
    let size = work.size();
    if panel::suits(work.number, n) {
        let panels = Panels::new(site, work.number, [batch, n], factors)?;
        for start in (0..n).step_by(PANEL) {
            panels.factor(site, start)?;
            let end = start + PANEL;
            if end >= n {
                break;
            }
            if panels.has_product() {
                panels.subtract(site, start)?;
                continue;
            }
            let given = all.from(size, end, start);
            let product = Product {
                extents: [n - end, n - end, PANEL],
                a: (given, false),
                b: (given.transposed(), true),
                c: all.from(size, end, end),
                lower: true,
            };
            work.subtract(site, product)?;
        }
        panels.finish(site)?;
        return work.stored_factors(site, [elements, n], lower, in_place, [factors, result]);
    }
    for start in (0..n).step_by(BLOCK) {
        let end = (start + BLOCK).min(n);
        let words = [batch as u64, n as u64, start as u64, factors].to_vec();
        let blocks = batch.div_ceil(FACTORED);
        site.launch(
            &work.kernels,
            matrix::FACTOR,
            Launch { blocks, threads: 32 * FACTORED as u32, words },
        )?;
        if end == n {
            break;
        }
        // `x · blockᴴ = given` is `conj(block) · xᵀ = givenᵀ`.
        let block = Triangle {
            matrix: all.from(size, start, start),
            conjugated: true,
            forward: true,
            unit_diagonal: false,
        };
        let panel = all.from(size, end, start);
        work.solve_block(site, &block, end - start, panel.transposed(), n - end)?;
        let product = Product {
            extents: [n - end, n - end, end - start],
            a: (panel, false),
            b: (panel.transposed(), true),
            c: all.from(size, end, end),
            lower: true,
        };
        work.subtract(site, product)?;
    }
    work.stored_factors(site, [elements, n], lower, in_place, [factors, result])
}

/// Solves all systems.
pub fn triangular_solve(
    site: &mut Site,
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
    let work = Work::new(site, dtype, batch)?;
    let (mut triangles, mut solutions) = (a, result);
    if !work.is_stored() {
        triangles = site.temporary(batch * n * n * work.size())?;
        solutions = site.temporary(elements * work.size())?;
        work.convert(site, matrix::TO_NUMBERS, batch * n * n, None, [a, triangles])?;
    }
    work.convert(site, matrix::TO_NUMBERS, elements, None, [b, solutions])?;
    // From the right, `x·a = b` is `aᵀ·xᵀ = bᵀ`.
    let is_transposed = (systems.transpose != Transpose::No) == left_side;
    let stored = Matrix { start: triangles, batch: n * n, row: n, column: 1 };
    let triangle = Triangle {
        matrix: if is_transposed { stored.transposed() } else { stored },
        conjugated: systems.transpose == Transpose::Adjoint,
        forward: systems.lower != is_transposed,
        unit_diagonal: systems.unit_diagonal,
    };
    let (row, column) = if left_side { (count, 1) } else { (1, n) };
    let x = Matrix { start: solutions, batch: n * count, row, column };
    work.solve(site, &triangle, n, x, count)?;
    match work.is_stored() {
        true => Ok(()),
        false => work.convert(site, matrix::TO_STORED, elements, None, [solutions, result]),
    }
}

/// `c -= a · b`.
struct Product {
    /// Rows, columns and depth.
    extents: [usize; 3],
    /// Whether the operand is conjugated.
    a: (Matrix, bool),
    b: (Matrix, bool),
    c: Matrix,
    /// Whether only the lower triangle is wanted.
    lower: bool,
}

/// The kernels, and for how many matrices.
struct Work {
    kernels: Arc<Kernels>,
    dtype: DType,
    /// The dtype that is computed in.
    number: DType,
    batch: usize,
}

impl Work {
    fn new(site: &Site, dtype: DType, batch: usize) -> Result<Work, Fault> {
        let kernels = site.kernels(Key::Matrix(dtype), || matrix::kernels(dtype))?;
        Ok(Work { kernels, dtype, number: matrix::number(dtype)?, batch })
    }

    /// Whether what is stored is computed in.
    fn is_stored(&self) -> bool {
        self.number == self.dtype
    }

    /// Bytes of a number.
    fn size(&self) -> usize {
        self.number.size()
    }

    /// Converts elements; `matrices` says that they are square matrices, and whether they are turned.
    fn convert(
        &self,
        site: &mut Site,
        which: usize,
        elements: usize,
        matrices: Option<(usize, bool)>,
        [from, to]: [u64; 2],
    ) -> Result<(), Fault> {
        let (n, turned) = matrices.unwrap_or((1, false));
        let mut words = vec![elements as u64, n as u64];
        words.extend([matrices.is_some() as u64, turned as u64, from, to]);
        let blocks = elements.div_ceil(THREADS);
        site.launch(&self.kernels, which, Launch { blocks, threads: THREADS as u32, words })
    }

    /// Writes factors as they are stored, if they are not in place.
    fn stored_factors(
        &self,
        site: &mut Site,
        [elements, n]: [usize; 2],
        lower: bool,
        in_place: bool,
        addresses: [u64; 2],
    ) -> Result<(), Fault> {
        match in_place {
            true => Ok(()),
            false => self.convert(site, matrix::TO_STORED, elements, Some((n, !lower)), addresses),
        }
    }

    /// Replaces the columns of `x` by the solutions of `triangle · y = x`.
    fn solve(
        &self,
        site: &mut Site,
        triangle: &Triangle,
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
                Triangle { matrix: triangle.matrix.from(size, start, start), ..*triangle };
            let solved = x.from(size, start, 0);
            self.solve_block(site, &diagonal, end - start, solved, columns)?;
            let rest = if triangle.forward { end..n } else { 0..start };
            if rest.is_empty() {
                continue;
            }
            let product = Product {
                extents: [rest.len(), columns, end - start],
                a: (triangle.matrix.from(size, rest.start, start), triangle.conjugated),
                b: (solved, false),
                c: x.from(size, rest.start, 0),
                lower: false,
            };
            self.subtract(site, product)?;
        }
        Ok(())
    }

    /// Solves for the rows of one block.
    fn solve_block(
        &self,
        site: &mut Site,
        triangle: &Triangle,
        rows: usize,
        x: Matrix,
        columns: usize,
    ) -> Result<(), Fault> {
        let flags = [triangle.conjugated, triangle.unit_diagonal, !triangle.forward];
        let mut words = vec![rows as u64, columns as u64];
        words.extend(flags.map(|flag| flag as u64));
        words.extend(triangle.matrix.words());
        words.extend(x.words());
        let systems = matrix::systems(self.number);
        let blocks = self.batch * columns.div_ceil(systems);
        site.launch(&self.kernels, matrix::SOLVE, Launch { blocks, threads: systems as u32, words })
    }

    fn subtract(&self, site: &mut Site, product: Product) -> Result<(), Fault> {
        let Product { extents: [rows, columns, depth], a, b, c, lower } = product;
        // Neighbouring threads write neighbouring columns; if rows are neighbours, it is the transposed product.
        let turned = c.column != 1 && c.row == 1;
        let ((rows, columns), a, b, c) = match turned {
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
        site.launch(
            &self.kernels,
            matrix::SUBTRACT,
            Launch { blocks, threads: THREADS as u32, words },
        )
    }
}
