//! Matrix products: panels for our own threads, each computed by the single-threaded `gemm`.

mod fusion;
mod integer;
mod narrow;
mod partition;
mod problem;
mod split_k;
mod whole;

use crate::call::with_scratch;
use crate::workers::Workers;
use fusion::Redirected;
pub use fusion::{Blocks, EpilogueRunner};
use half::{bf16, f16};
use inflight_backend::GemmLaunch;
use inflight_ir::DType;
use inflight_ir::plan::Side;
use num_complex::Complex;
use partition::{Cut, Needs, Panel, Unit};
use problem::Problem;
use std::ops::Range;

/// A matrix in memory: the address of its first element, and the distances, in elements, to the next row
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

    /// The matrix that begins at an element of this one.
    pub fn from(self, row: usize, column: usize) -> Matrix<T> {
        Matrix { start: self.at(row, column), ..self }
    }
}

/// The extents of one panel's product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extents {
    m: usize,
    n: usize,
    k: usize,
}

/// An element type that matrices can be multiplied in.
trait Multiply: Sized + Copy + 'static {
    /// The longest side of a panel, where the work memory for one is to be bounded.
    const MAX_SIDE: usize = usize::MAX;

    /// The sum of two sums over parts of `k`, if it is as good as the sum over both: not where sums are rounded
    /// to fewer digits than they are computed with.
    const ADD: Option<fn(Self, Self) -> Self> = None;

    /// `c = a · b`.
    ///
    /// # Safety
    /// All elements within the extents must be valid, those of `c` for writing; nobody else may access
    /// those of `c` meanwhile or write those of `a` and `b`.
    unsafe fn multiply(extents: Extents, a: Matrix<Self>, b: Matrix<Self>, c: Matrix<Self>);
}

/// A contraction with its memory.
pub struct Product<'a> {
    /// The command.
    pub contract: &'a GemmLaunch,
    /// Where the operands come from.
    pub a: Source<'a>,
    pub b: Source<'a>,
    /// Where the result goes.
    pub c: Target<'a>,
}

/// Where an operand comes from.
pub enum Source<'a> {
    /// This is the address of its buffer.
    Memory(*mut u8),
    /// A launch computes it, block by block.
    Blocks(Blocks<'a>),
    /// Another product's follower writes it to this param, row by row.
    Product(Box<Product<'a>>, usize),
}

/// Where a product goes.
pub enum Target<'a> {
    /// To this address.
    Memory(*mut u8),
    /// To the launch that follows it, part by part.
    EpilogueRunner(EpilogueRunner<'a>),
}

/// Calls a generic function with the type of a dtype's elements as they are multiplied.
macro_rules! with_element {
    ($dtype:expr, $function:ident) => {
        match $dtype {
            DType::Bool => $function::<integer::Truth>,
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

/// Runs a contraction. Returns the message of a panic, if there was one.
///
/// # Safety
/// Addresses must be those of the operands' buffers, with elements of the dtype wherever offsets and strides
/// lead to, and no one else may access those of the result meanwhile, or write the others. Of a chain of
/// products, the first must have a follower that writes the rows of the second's operand densely, one after
/// another.
pub unsafe fn contract(workers: &Workers, product: &Product) -> Result<(), String> {
    let run = with_element!(product.contract.dtype, run_panels);
    // SAFETY: promised by the caller; the types are the dtypes' host forms, up to the sign.
    unsafe { run(workers, product) }
}

/// # Safety
/// As for [`contract`], and `T` must be the host form of the dtype.
unsafe fn run_panels<T: Multiply>(workers: &Workers, product: &Product) -> Result<(), String> {
    let prepared = Prepared::<T>::new(product);
    // SAFETY: promised by the caller.
    unsafe { whole::with_small_operands(workers, prepared, run_prepared) }
}

/// # Safety
/// As for [`contract`].
unsafe fn run_prepared<T: Multiply>(
    workers: &Workers,
    prepared: &Prepared<T>,
) -> Result<(), String> {
    let problem = &prepared.problem;
    let unit = |source: &PreparedSource<T>| match source {
        PreparedSource::Memory(_) | PreparedSource::Whole(_) => None,
        PreparedSource::Blocks(blocks) => Some(blocks.unit()),
        PreparedSource::Chain(chain) => Some(Unit::AtMost(chain.rows_at_a_time)),
    };
    let needs = Needs {
        max_side: (T::MAX_SIDE != usize::MAX).then_some(T::MAX_SIDE),
        taken_in: match &prepared.target {
            Target::Memory(_) => None,
            Target::EpilogueRunner(follower) => Some(follower.needs_whole_rows()),
        },
        produced: None
            .or_else(|| Some((Side::A, unit(&prepared.a)?)))
            .or_else(|| Some((Side::B, unit(&prepared.b)?))),
        turned: matches!(prepared.a, PreparedSource::Memory(_)) && problem.is_turned(),
    };
    let cut = Cut::new(problem.batches(), problem.extents, workers.width(), needs);
    if let (Some(add), Some(pieces)) = (T::ADD, split_k::pieces(problem))
        && matches!(
            (&prepared.a, &prepared.b),
            (PreparedSource::Memory(_), PreparedSource::Memory(_))
        )
    {
        // SAFETY: promised by the caller.
        return unsafe { split_k::run(workers, prepared, pieces, add) };
    }
    workers.parallel_for(cut.panels(), &|index| {
        let panel = cut.panel(index);
        for batch in panel.batches.clone() {
            // SAFETY: panels are within the extents, which the caller vouches for, and do not overlap.
            unsafe { prepared.panel(batch, &panel, cut.chunk) };
        }
    })
}

/// A product with all that its panels have in common.
struct Prepared<'a, T> {
    problem: Problem,
    a: PreparedSource<'a, T>,
    b: PreparedSource<'a, T>,
    target: &'a Target<'a>,
}

enum PreparedSource<'a, T> {
    Memory(*mut T),
    Blocks(&'a Blocks<'a>),
    /// What the blocks are of, computed: rows of `k` elements, counted over all batches.
    Whole(Matrix<T>),
    Chain(Chain<'a>),
}

// SAFETY: what is at the addresses is, by the contract of `contract`, for this contraction to use, from any
// thread.
unsafe impl<T> Sync for Prepared<'_, T> {}

impl<'a, T: Multiply> Prepared<'a, T> {
    fn new(product: &'a Product<'a>) -> Prepared<'a, T> {
        let source = |source: &'a Source<'a>| match source {
            Source::Memory(address) => PreparedSource::Memory(address.cast()),
            Source::Blocks(blocks) => PreparedSource::Blocks(blocks),
            Source::Product(first, value) => {
                PreparedSource::Chain(Chain::new(first, *value, size_of::<T>()))
            }
        };
        Prepared {
            problem: Problem::new(product.contract),
            a: source(&product.a),
            b: source(&product.b),
            target: &product.c,
        }
    }

    /// Computes one panel of a batch, at most `chunk` rows and columns at a time.
    ///
    /// # Safety
    /// The panel must be one of this product's, and no other thread's.
    unsafe fn panel(&self, batch: usize, panel: &Panel, chunk: (usize, usize)) {
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
                            let (a, b) = (a.from(rows.start, 0), b.from(0, columns.start));
                            let at = (row + rows.start, column + columns.start);
                            self.chunk(batch, at, chunk.1, extents, a, b);
                        }
                    }
                });
            });
        }
    }

    /// Computes a part of a product that begins at this row and column.
    ///
    /// # Safety
    /// As for [`panel`](Prepared::panel), and the operands must have these extents.
    unsafe fn chunk(
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
            Target::Memory(address) => {
                multiply(self.matrix(2, address.cast(), batch).from(row, column));
            }
            Target::EpilogueRunner(follower) => {
                let first = batch * self.problem.extents.m + row;
                let (rows, columns) = (first..first + extents.m, column..column + extents.n);
                // SAFETY: the follower's buffers are, by its construction, for this contraction to use, and
                // chunks do not overlap.
                unsafe { follower.take_in(rows, columns, width, None, multiply) };
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
        // As rows of `k` elements, counted over all batches.
        let rows = batch * free + range.start..batch * free + range.end;
        let turned = |block: Matrix<T>| match side {
            Side::A => block,
            Side::B => Matrix { row: block.column, column: block.row, ..block },
        };
        // SAFETY: the rows are rows of the operand.
        unsafe {
            match (source, side) {
                (PreparedSource::Memory(start), Side::A) => {
                    f(self.matrix(0, *start, batch).from(range.start, 0));
                }
                (PreparedSource::Memory(start), Side::B) => {
                    f(self.matrix(1, *start, batch).from(0, range.start));
                }
                (PreparedSource::Whole(operand), _) => {
                    f(turned(operand.from(rows.start, 0)));
                }
                (PreparedSource::Blocks(blocks), _) => {
                    blocks.with_block(rows, k, |block| f(turned(block)));
                }
                (PreparedSource::Chain(chain), _) => {
                    chain.with_rows(rows, k, |block| f(turned(block)));
                }
            }
        }
    }

    /// The matrix of operand `a`, `b` or `c` for a batch, in the memory that begins at an address.
    fn matrix(&self, operand: usize, start: *mut T, batch: usize) -> Matrix<T> {
        let (offset, row, column) = self.problem.matrix(operand, batch);
        Matrix { start: start.wrapping_offset(offset), row, column }
    }
}

/// A product whose rows, when its follower has taken them in, are rows of another's operand.
struct Chain<'a> {
    /// How many rows are best computed together.
    rows_at_a_time: usize,
    /// Bytes of an element of the operand.
    size: usize,
    /// Computes rows to an address.
    compute: Box<dyn Fn(Range<usize>, *mut u8) + Sync + 'a>,
}

impl<'a> Chain<'a> {
    /// The most elements of a block of rows; what is between two products should stay in a cache.
    const MOST_ELEMENTS: usize = 128 << 10;

    fn new(first: &'a Product<'a>, value: usize, size: usize) -> Chain<'a> {
        let bind = with_element!(first.contract.dtype, chained);
        Chain {
            rows_at_a_time: (Chain::MOST_ELEMENTS / first.contract.n.max(1)).clamp(32, 256),
            size,
            compute: bind(first, value, size),
        }
    }

    /// # Safety
    /// The rows must be rows of the operand, of `k` elements each.
    unsafe fn with_rows<T>(&self, rows: Range<usize>, k: usize, f: impl FnOnce(Matrix<T>)) {
        with_scratch(|scratch| {
            let start = scratch.bytes(rows.len() * k * self.size);
            (self.compute)(rows, start);
            f(Matrix { start: start.cast(), row: k as isize, column: 1 });
        });
    }
}

/// What computes rows of a chain's first product to an address, where each element has so many bytes.
fn chained<'a, T: Multiply>(
    first: &'a Product<'a>,
    value: usize,
    size: usize,
) -> Box<dyn Fn(Range<usize>, *mut u8) + Sync + 'a> {
    let prepared = Prepared::<T>::new(first);
    Box::new(move |rows: Range<usize>, address: *mut u8| {
        let Target::EpilogueRunner(follower) = prepared.target else {
            unreachable!("the first product of a chain has a follower")
        };
        let Extents { m, n, k } = prepared.problem.extents;
        let mut row = rows.start;
        // The rows of one batch at a time.
        while row < rows.end {
            let (batch, first) = (row / m, row % m);
            let count = (m - first).min(rows.end - row);
            let address = address.wrapping_add((row - rows.start) * n * size);
            let redirected = Redirected { param: value, address, size };
            // SAFETY: the rows are rows of the product, by the contract of `contract`, and the follower writes
            // them densely to memory that the caller made for them.
            unsafe {
                prepared.with_operand(Side::A, batch, first..first + count, |a| {
                    prepared.with_operand(Side::B, batch, 0..n, |b| {
                        let extents = Extents { m: count, n, k };
                        follower.take_in(row..row + count, 0..n, n, Some(redirected), |c| {
                            T::multiply(extents, a, b, c);
                        });
                    });
                });
            }
            row += count;
        }
    })
}

/// The numbers below `extent`, in ranges of at most `step`.
fn ranges(extent: usize, step: usize) -> impl Iterator<Item = Range<usize>> {
    (0..extent).step_by(step.max(1)).map(move |start| start..(start + step).min(extent))
}

/// An element type of `gemm`.
pub trait Multiplier: Copy + 'static {
    const ZERO: Self;
    const ONE: Self;
    const MINUS_ONE: Self;
}

macro_rules! multiply_with_gemm {
    ($($type:ty, $zero:expr, $one:expr, $minus_one:expr;)*) => {$(
        impl Multiplier for $type {
            const ZERO: $type = $zero;
            const ONE: $type = $one;
            const MINUS_ONE: $type = $minus_one;
        }

        impl Multiply for $type {
            const ADD: Option<fn($type, $type) -> $type> = Some(|a, b| a + b);

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                // SAFETY: promised by the caller.
                unsafe { multiply_add(e, a, b, c, false) }
            }
        }
    )*};
}

multiply_with_gemm! {
    f32, 0.0, 1.0, -1.0;
    f64, 0.0, 1.0, -1.0;
    Complex<f32>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex::new(-1.0, 0.0);
    Complex<f64>, Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex::new(-1.0, 0.0);
}

/// `c = a · b`, or `c += a · b`, on one thread.
///
/// # Safety
/// As for [`Multiply::multiply`]; if it adds, `c` must be initialized.
unsafe fn multiply_add<T: Multiplier>(
    Extents { m, n, k }: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    add: bool,
) {
    // SAFETY: promised by the caller; all strides are in elements, as `gemm` takes them.
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

/// `c -= a · b` on one thread, with the extents `m`, `n`, `k`; an operand may be conjugated.
///
/// # Safety
/// As for [`Multiply::multiply`]; `c` must be initialized.
pub unsafe fn multiply_subtract<T: Multiplier>(
    [m, n, k]: [usize; 3],
    (a, a_conjugated): (Matrix<T>, bool),
    (b, b_conjugated): (Matrix<T>, bool),
    c: Matrix<T>,
) {
    // SAFETY: promised by the caller; all strides are in elements, as `gemm` takes them.
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
