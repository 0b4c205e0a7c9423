//! GEMM (matrix multiplication): the main loop over panels.
//!
//! [`run`] executes one `GemmLaunch`. `partition` divides the result into panels for the worker threads and bounds what
//! one call multiplies (cache blocking); the single-threaded `gemm` crate packs and multiplies each panel. Operands
//! may be computed by a prologue, and results consumed by an epilogue (`fusion`); `split_k` handles long sums with few
//! results, `mixed_precision` accumulates `f16` and `bf16` in `f32`, and `integer` covers integers and `bool`.

mod fusion;
mod integer;
mod materialized_operand;
mod mixed_precision;
mod partition;
mod problem;
mod split_k;

use crate::call::with_scratch;
use crate::workers::Workers;
use fusion::RedirectedOutput;
pub use fusion::{EpilogueRunner, PrologueRunner};
use half::{bf16, f16};
use inflight_backend::{FaultKind, GemmLaunch, Pool};
use inflight_ir::DType;
use inflight_ir::plan::Side;
use num_complex::Complex;
use partition::{BlockRows, Constraints, Panel, Partition};
use problem::Problem;
use std::ops::Range;
use std::sync::Arc;

/// A strided matrix in memory: the address of its first element, and the distances, in elements, to the next row
/// and column.
#[derive(Debug)]
pub struct Matrix<T> {
    pub start: *mut T,
    pub row: isize,
    pub column: isize,
}

impl<T> Clone for Matrix<T> {
    fn clone(&self) -> Matrix<T> {
        *self
    }
}

impl<T> Copy for Matrix<T> {}

impl<T> Matrix<T> {
    /// The address of an element.
    pub fn at(self, row: usize, column: usize) -> *mut T {
        self.start.wrapping_offset(row as isize * self.row + column as isize * self.column)
    }

    /// The submatrix whose first element is at this row and column.
    pub fn submatrix(self, row: usize, column: usize) -> Matrix<T> {
        Matrix { start: self.at(row, column), ..self }
    }

    fn transpose(self) -> Matrix<T> {
        Matrix { row: self.column, column: self.row, ..self }
    }
}

/// The extents of one matrix multiplication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extents {
    m: usize,
    n: usize,
    k: usize,
}

/// An element type with a single-threaded GEMM.
trait GemmElement: Sized + Copy + 'static {
    /// Longest side of a chunk, where the thread's workspace for one must be bounded.
    const MAX_CHUNK_SIDE: usize = usize::MAX;

    /// Adds two split-K partial sums. `None` where partial sums are rounded to fewer bits than they are accumulated
    /// in: split-K would then lose precision.
    const ADD_PARTIAL_SUMS: Option<fn(Self, Self) -> Self> = None;

    /// `c = a · b`.
    ///
    /// # Safety
    /// All elements within the extents must be valid, those of `c` for writing; no other thread may access those of `c`
    /// meanwhile or write those of `a` and `b`.
    unsafe fn multiply(extents: Extents, a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
}

/// A GEMM bound to its memory.
pub struct BoundGemm<'a> {
    /// The command.
    pub launch: &'a GemmLaunch,
    /// The left operand.
    pub a: OperandSource<'a>,
    /// The right operand.
    pub b: OperandSource<'a>,
    /// The destination of the result.
    pub c: GemmTarget<'a>,
}

/// The source of an operand's elements.
pub enum OperandSource<'a> {
    /// The address of its buffer.
    Memory(*mut u8),
    /// A prologue kernel computes the operand block by block.
    Prologue(PrologueRunner<'a>),
    /// The epilogue of another GEMM writes the operand row by row, to this param.
    ChainedGemm(Box<BoundGemm<'a>>, usize),
}

/// The destination of a result.
pub enum GemmTarget<'a> {
    /// The address of its buffer.
    Memory(*mut u8),
    /// A fused epilogue consumes the result panel by panel.
    Epilogue(EpilogueRunner<'a>),
}

/// Selects the instance of a generic function for the host element type of a dtype.
macro_rules! with_element {
    ($dtype:expr, $function:ident) => {
        match $dtype {
            DType::Bool => $function::<integer::BoolByte>,
            DType::I8 | DType::U8 => $function::<u8>,
            DType::I16 | DType::U16 => $function::<u16>,
            DType::I32 | DType::U32 => $function::<u32>,
            DType::I64 | DType::U64 => $function::<u64>,
            DType::F16 => $function::<f16>,
            DType::BF16 => $function::<bf16>,
            DType::F32 => $function::<f32>,
            DType::F64 => $function::<f64>,
            DType::C64 => $function::<Complex<f32>>,
            DType::C128 => $function::<Complex<f64>>,
        }
    };
}

/// Runs a GEMM on the worker threads. Returns the fault of a panic, if there was one.
///
/// # Safety
/// Addresses must be those of the operands' buffers, with elements of the dtype at every address that offsets and
/// strides reach, and no other thread may access those of the result meanwhile, or write the others. Of chained GEMMs,
/// the first must have an epilogue that writes the rows of the second's operand densely, one after another.
pub unsafe fn run(workers: &Workers, gemm: &BoundGemm) -> Result<(), FaultKind> {
    let run = with_element!(gemm.launch.dtype, run_typed);
    // SAFETY: promised by the caller; the types are the dtypes' host forms, up to the sign.
    unsafe { run(workers, gemm) }
}

/// # Safety
/// As for [`run`], and `T` must be the host form of the dtype.
unsafe fn run_typed<T: GemmElement>(workers: &Workers, gemm: &BoundGemm) -> Result<(), FaultKind> {
    let typed = TypedGemm::<T>::new(gemm);
    // SAFETY: promised by the caller.
    unsafe { materialized_operand::run_with_materialized_operand(workers, typed, run_panels) }
}

/// # Safety
/// As for [`run`].
unsafe fn run_panels<T: GemmElement>(
    workers: &Workers,
    gemm: &TypedGemm<T>,
) -> Result<(), FaultKind> {
    let problem = &gemm.problem;
    let block_rows = |source: &TypedSource<T>| match source {
        TypedSource::Memory(_) | TypedSource::Materialized(_) => None,
        TypedSource::Prologue(prologue) => Some(prologue.block_rows()),
        TypedSource::ChainedGemm(chain) => Some(BlockRows::AtMost(chain.block_rows)),
    };
    let constraints = Constraints {
        max_side: (T::MAX_CHUNK_SIDE != usize::MAX).then_some(T::MAX_CHUNK_SIDE),
        epilogue_full_rows: match &gemm.target {
            GemmTarget::Memory(_) => None,
            GemmTarget::Epilogue(epilogue) => Some(epilogue.needs_full_rows()),
        },
        prologue: None
            .or_else(|| Some((Side::A, block_rows(&gemm.a)?)))
            .or_else(|| Some((Side::B, block_rows(&gemm.b)?))),
        a_is_mn_major: matches!(gemm.a, TypedSource::Memory(_)) && problem.a_is_mn_major(),
    };
    let partition =
        Partition::new(problem.batches(), problem.extents, workers.thread_count(), constraints);
    if let (Some(add), Some(splits)) = (T::ADD_PARTIAL_SUMS, split_k::split_count(problem))
        && matches!((&gemm.a, &gemm.b), (TypedSource::Memory(_), TypedSource::Memory(_)))
    {
        // SAFETY: promised by the caller.
        return unsafe { split_k::run(workers, gemm, splits, add) };
    }
    workers.parallel_for(partition.panels(), &|index| {
        let panel = partition.panel(index);
        for batch in panel.batches.clone() {
            // SAFETY: panels are within the extents, which the caller guarantees, and do not overlap.
            unsafe { gemm.run_panel(batch, &panel, partition.chunk) };
        }
    })
}

/// A GEMM with its element type, shared by all its panels.
struct TypedGemm<'a, T> {
    problem: Problem,
    a: TypedSource<'a, T>,
    b: TypedSource<'a, T>,
    target: &'a GemmTarget<'a>,
}

enum TypedSource<'a, T> {
    Memory(*mut T),
    Prologue(&'a PrologueRunner<'a>),
    /// The operand that a prologue has computed before the GEMM: rows of `k` elements, counted over all batches.
    Materialized(Matrix<T>),
    ChainedGemm(ChainedGemmRunner<'a>),
}

// SAFETY: by the contract of `run`, the memory at the addresses is for this GEMM to use, from any thread.
unsafe impl<T> Sync for TypedGemm<'_, T> {}

impl<'a, T: GemmElement> TypedGemm<'a, T> {
    fn new(gemm: &'a BoundGemm<'a>) -> TypedGemm<'a, T> {
        let source = |source: &'a OperandSource<'a>| match source {
            OperandSource::Memory(address) => TypedSource::Memory(address.cast()),
            OperandSource::Prologue(prologue) => TypedSource::Prologue(prologue),
            OperandSource::ChainedGemm(first, value) => {
                TypedSource::ChainedGemm(ChainedGemmRunner::new(first, *value, size_of::<T>()))
            }
        };
        TypedGemm {
            problem: Problem::new(gemm.launch),
            a: source(&gemm.a),
            b: source(&gemm.b),
            target: &gemm.c,
        }
    }

    /// Computes one panel of a batch, at most `chunk` rows and columns at a time.
    ///
    /// # Safety
    /// The panel must be one of this GEMM's, and no other thread's.
    unsafe fn run_panel(&self, batch: usize, panel: &Panel, chunk: (usize, usize)) {
        let (row, column) = (panel.rows.0, panel.columns.0);
        // SAFETY: the panel is within the extents; chunks are within the panel.
        unsafe {
            self.with_operand(Side::A, batch, row..row + panel.rows.1, |a| {
                self.with_operand(Side::B, batch, column..column + panel.columns.1, |b| {
                    for rows in ranges(panel.rows.1, chunk.0) {
                        for columns in ranges(panel.columns.1, chunk.1) {
                            let extents = Extents {
                                m: rows.len(),
                                n: columns.len(),
                                k: self.problem.extents.k,
                            };
                            let a = a.submatrix(rows.start, 0);
                            let b = b.submatrix(0, columns.start);
                            let origin = (row + rows.start, column + columns.start);
                            self.run_chunk(batch, origin, chunk.1, extents, a, b);
                        }
                    }
                });
            });
        }
    }

    /// Computes the chunk of the result whose first element is at this row and column.
    ///
    /// # Safety
    /// As for [`run_panel`](TypedGemm::run_panel), and the operands must have these extents.
    unsafe fn run_chunk(
        &self,
        batch: usize,
        (row, column): (usize, usize),
        width: usize,
        extents: Extents,
        a: Matrix<T>,
        b: Matrix<T>,
    ) {
        // SAFETY: promised by the caller.
        let multiply = |c: Matrix<T>| unsafe { T::multiply(extents, a, b, c) };
        match self.target {
            GemmTarget::Memory(address) => {
                multiply(self.matrix(2, address.cast(), batch).submatrix(row, column));
            }
            GemmTarget::Epilogue(epilogue) => {
                let first = batch * self.problem.extents.m + row;
                let (rows, columns) = (first..first + extents.m, column..column + extents.n);
                // SAFETY: the epilogue's buffers are, by its construction, for this GEMM to use, and chunks do not
                // overlap.
                unsafe { epilogue.run_panel(rows, columns, width, None, multiply) };
            }
        }
    }

    /// Calls `f` with these rows of the left operand, or these columns of the right one.
    ///
    /// # Safety
    /// They must be within the extents.
    unsafe fn with_operand(
        &self,
        side: Side,
        batch: usize,
        range: Range<usize>,
        f: impl FnOnce(Matrix<T>),
    ) {
        let Extents { m, n, k } = self.problem.extents;
        let (source, free) = match side {
            Side::A => (&self.a, m),
            Side::B => (&self.b, n),
        };
        // Rows of `k` elements, counted over all batches.
        let rows = batch * free + range.start..batch * free + range.end;
        let oriented = |block: Matrix<T>| match side {
            Side::A => block,
            Side::B => block.transpose(),
        };
        // SAFETY: the rows are rows of the operand.
        unsafe {
            match (source, side) {
                (TypedSource::Memory(start), Side::A) => {
                    f(self.matrix(0, *start, batch).submatrix(range.start, 0));
                }
                (TypedSource::Memory(start), Side::B) => {
                    f(self.matrix(1, *start, batch).submatrix(0, range.start));
                }
                (TypedSource::Materialized(operand), _) => {
                    f(oriented(operand.submatrix(rows.start, 0)));
                }
                (TypedSource::Prologue(prologue), _) => {
                    prologue.with_block(rows, k, |block| f(oriented(block)));
                }
                (TypedSource::ChainedGemm(chain), _) => {
                    chain.with_rows(rows, k, |block| f(oriented(block)));
                }
            }
        }
    }

    /// The matrix of operand 0 (`a`), 1 (`b`) or 2 (`c`) for a batch, in the memory that begins at an address.
    fn matrix(&self, operand: usize, start: *mut T, batch: usize) -> Matrix<T> {
        let (offset, row, column) = self.problem.matrix(operand, batch);
        Matrix { start: start.wrapping_offset(offset), row, column }
    }
}

/// The first of two chained GEMMs: its epilogue's rows are rows of the second's operand.
struct ChainedGemmRunner<'a> {
    /// Preferred rows of a block.
    block_rows: usize,
    /// Bytes of an element of the operand.
    element_size: usize,
    /// The source of scratch memory.
    pool: &'a Arc<Pool>,
    /// Computes rows to an address.
    compute: Box<dyn Fn(Range<usize>, *mut u8) + Sync + 'a>,
}

impl<'a> ChainedGemmRunner<'a> {
    /// Largest block of rows: the values between the two GEMMs should stay in a cache.
    const MAX_BLOCK_ELEMENTS: usize = 128 << 10;

    fn new(first: &'a BoundGemm<'a>, value: usize, element_size: usize) -> ChainedGemmRunner<'a> {
        let bind = with_element!(first.launch.dtype, bind_chained_gemm);
        let GemmTarget::Epilogue(epilogue) = &first.c else {
            unreachable!("the first of two chained GEMMs has an epilogue")
        };
        ChainedGemmRunner {
            block_rows: (ChainedGemmRunner::MAX_BLOCK_ELEMENTS / first.launch.n.max(1))
                .clamp(32, 256),
            element_size,
            pool: epilogue.pool(),
            compute: bind(first, value, element_size),
        }
    }

    /// # Safety
    /// The rows must be rows of the operand, of `k` elements each.
    unsafe fn with_rows<T>(&self, rows: Range<usize>, k: usize, f: impl FnOnce(Matrix<T>)) {
        with_scratch(self.pool, |scratch| {
            let start = scratch.bytes(rows.len() * k * self.element_size);
            (self.compute)(rows, start);
            f(Matrix { start: start.cast(), row: k as isize, column: 1 });
        });
    }
}

/// Returns a function that computes rows of a chain's first GEMM and its epilogue to an address.
fn bind_chained_gemm<'a, T: GemmElement>(
    first: &'a BoundGemm<'a>,
    value: usize,
    element_size: usize,
) -> Box<dyn Fn(Range<usize>, *mut u8) + Sync + 'a> {
    let gemm = TypedGemm::<T>::new(first);
    Box::new(move |rows: Range<usize>, address: *mut u8| {
        let GemmTarget::Epilogue(epilogue) = gemm.target else {
            unreachable!("the first of two chained GEMMs has an epilogue")
        };
        let Extents { m, n, k } = gemm.problem.extents;
        let mut row = rows.start;
        // One batch per iteration.
        while row < rows.end {
            let (batch, first) = (row / m, row % m);
            let count = (m - first).min(rows.end - row);
            let address = address.wrapping_add((row - rows.start) * n * element_size);
            let redirected = RedirectedOutput { param: value, address, element_size };
            // SAFETY: the rows are rows of this GEMM, by the contract of `run`, and the epilogue writes them densely to
            // memory that the caller allocated for them.
            unsafe {
                gemm.with_operand(Side::A, batch, first..first + count, |a| {
                    gemm.with_operand(Side::B, batch, 0..n, |b| {
                        let extents = Extents { m: count, n, k };
                        epilogue.run_panel(row..row + count, 0..n, n, Some(redirected), |c| {
                            T::multiply(extents, a, b, c);
                        });
                    });
                });
            }
            row += count;
        }
    })
}

/// Divides `0..extent` into ranges of at most `step`.
fn ranges(extent: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..extent).step_by(step.max(1)).map(move |start| start..(start + step).min(extent))
}

/// An element type of the `gemm` crate.
pub trait GemmScalar: Copy + 'static {
    const ZERO: Self;
    const ONE: Self;
    const MINUS_ONE: Self;
}

macro_rules! impl_with_gemm_crate {
    ($($type:ty, $zero:expr, $one:expr, $minus_one:expr;)*) => {$(
        impl GemmScalar for $type {
            const ZERO: $type = $zero;
            const ONE: $type = $one;
            const MINUS_ONE: $type = $minus_one;
        }

        impl GemmElement for $type {
            const ADD_PARTIAL_SUMS: Option<fn($type, $type) -> $type> = Some(|a, b| a + b);

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                // SAFETY: promised by the caller.
                unsafe { multiply_add(e, a, b, c, false) }
            }
        }
    )*};
}

impl_with_gemm_crate! {
    f32, 0.0, 1.0, -1.0;
    f64, 0.0, 1.0, -1.0;
    Complex<f32>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex::new(-1.0, 0.0);
    Complex<f64>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex::new(-1.0, 0.0);
}

/// `c = a · b`, or `c += a · b`, on one thread.
///
/// # Safety
/// As for [`GemmElement::multiply`]; if it adds, `c` must be initialized.
unsafe fn multiply_add<T: GemmScalar>(
    Extents { m, n, k }: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    add: bool,
) {
    // SAFETY: promised by the caller; all strides are in elements, as `gemm` expects them.
    unsafe {
        ::gemm::gemm(
            m,
            n,
            k,
            c.start,
            c.column,
            c.row,
            add,
            a.start,
            a.column,
            a.row,
            b.start,
            b.column,
            b.row,
            if add { T::ONE } else { T::ZERO },
            T::ONE,
            false,
            false,
            false,
            ::gemm::Parallelism::None,
        );
    }
}

/// `c -= a · b` on one thread, with the extents `m`, `n`, `k`; either operand may be conjugated.
///
/// # Safety
/// As for [`GemmElement::multiply`]; `c` must be initialized.
pub unsafe fn multiply_subtract<T: GemmScalar>(
    [m, n, k]: [usize; 3],
    (a, a_conjugated): (Matrix<T>, bool),
    (b, b_conjugated): (Matrix<T>, bool),
    c: Matrix<T>,
) {
    // SAFETY: promised by the caller; all strides are in elements, as `gemm` expects them.
    unsafe {
        ::gemm::gemm(
            m,
            n,
            k,
            c.start,
            c.column,
            c.row,
            true,
            a.start,
            a.column,
            a.row,
            b.start,
            b.column,
            b.row,
            T::ONE,
            T::MINUS_ONE,
            false,
            a_conjugated,
            b_conjugated,
            ::gemm::Parallelism::None,
        );
    }
}
