//! Matrix products: panels for our own threads, each computed by the single-threaded `gemm`.

mod integer;
mod narrow;
mod split;

use crate::launch::Follower;
use crate::workers::Workers;
use half::{bf16, f16};
use inflight_backend::{Contract, ContractOperand};
use inflight_ir::DType;
use num_complex::Complex;
use smallvec::SmallVec;

/// No panel has fewer multiplications than this, unless the operands end: handing one to another thread
/// costs as much.
const MIN_PANEL: usize = 256 << 10;

/// Panels for each thread: enough to even out their times, few enough not to pack the same rows and
/// columns too often.
const PANELS_PER_THREAD: usize = 2;

/// Panels begin at multiples of this, so that two never write to one cache line of a dense result.
const STEP: usize = 16;

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

/// Runs a contraction. Returns the message of a panic, if there was one.
///
/// # Safety
/// `a`, `b` and `c` must be the addresses of the operands' buffers, with elements of the dtype wherever
/// offsets and strides lead to, and no one else may access those of `c` meanwhile, or write the others.
pub unsafe fn contract(
    workers: &Workers,
    contract: &Contract,
    a: *mut u8,
    b: *mut u8,
    c: Target,
) -> Result<(), String> {
    let run = match contract.dtype {
        DType::Bool => panels::<integer::Truth>,
        DType::I8 | DType::U8 => panels::<u8>,
        DType::I16 | DType::U16 => panels::<u16>,
        DType::I32 | DType::U32 => panels::<u32>,
        DType::I64 | DType::U64 => panels::<u64>,
        DType::F16 => panels::<f16>,
        DType::BF16 => panels::<bf16>,
        DType::F32 => panels::<f32>,
        DType::F64 => panels::<f64>,
        DType::C64 => panels::<Complex<f32>>,
        DType::C128 => panels::<Complex<f64>>,
    };
    let (address, follower) = match c {
        Target::Memory(address) => (address, None),
        Target::Follower(follower) => (std::ptr::null_mut(), Some(follower)),
    };
    // SAFETY: promised by the caller; the types above are the dtypes' host forms, up to the sign.
    unsafe { run(workers, contract, [a, b, address], follower) }
}

/// Where a product goes.
pub enum Target<'a> {
    /// To this address.
    Memory(*mut u8),
    /// To the launch that follows it, part by part.
    Follower(Follower<'a>),
}

unsafe fn panels<T: Multiply>(
    workers: &Workers,
    contract: &Contract,
    addresses: [*mut u8; 3],
    follower: Option<Follower>,
) -> Result<(), String> {
    let problem = Problem::new(contract);
    let Extents { m, n, k } = problem.extents;
    let mut cut = Cut::new(problem.batches(), problem.extents, workers.width(), T::MAX_SIDE);
    if let Some(follower) = &follower {
        cut.bound(follower.needs_whole_rows());
    }
    let addresses = Addresses(addresses.map(|address| address.cast::<T>()));
    if let (Some(add), Some(pieces)) = (T::ADD, split::pieces(&problem)) {
        // SAFETY: promised by the caller.
        return unsafe { split::run(workers, &problem, &addresses, follower, pieces, add) };
    }
    workers.parallel_for(cut.panels(), &|index| {
        let panel = cut.panel(index);
        for batch in panel.batches {
            let matrix = |i: usize| {
                let operand = &problem.operands[i];
                let offset = operand.offset + problem.batch_offset(operand, batch);
                let start = addresses.get(i).wrapping_offset(offset);
                Matrix { start, row: operand.row, column: operand.column }
            };
            let (row, column) = (panel.rows.0, panel.columns.0);
            let extents =
                Extents { m: panel.rows.1.min(m - row), n: panel.columns.1.min(n - column), k };
            let (a, b) = (matrix(0).from(row, 0), matrix(1).from(0, column));
            let multiply = |c: Matrix<T>| {
                // SAFETY: the panel is within the extents, which the caller vouches for; panels do not
                // overlap in `c`.
                unsafe { T::multiply(extents, a, b, c) }
            };
            match &follower {
                None => multiply(matrix(2).from(row, column)),
                Some(follower) => {
                    let rows = batch * m + row..batch * m + row + extents.m;
                    let columns = column..column + extents.n;
                    // SAFETY: the follower's buffers are, by its construction, for this contraction to
                    // use, and panels do not overlap.
                    unsafe { follower.take_in(rows, columns, cut.columns.1, multiply) };
                }
            }
        }
    })
}

/// The addresses of `a`, `b` and `c`.
struct Addresses<T>([*mut T; 3]);

// SAFETY: what is at the addresses is, by the contract of `contract`, for this contraction to use, from
// any thread.
unsafe impl<T> Sync for Addresses<T> {}

impl<T> Addresses<T> {
    fn get(&self, operand: usize) -> *mut T {
        self.0[operand]
    }
}

/// A contraction with as few batch axes as possible.
struct Problem {
    batch: SmallVec<[usize; 4]>,
    extents: Extents,
    /// `a`, `b`, `c`.
    operands: [Operand; 3],
}

struct Operand {
    offset: isize,
    batch: SmallVec<[isize; 4]>,
    row: isize,
    column: isize,
}

impl Problem {
    fn new(contract: &Contract) -> Problem {
        let operand = |operand: &ContractOperand| Operand {
            offset: operand.offset,
            batch: operand.batch_strides.clone(),
            row: operand.row_stride,
            column: operand.column_stride,
        };
        let mut problem = Problem {
            batch: contract.batch.clone(),
            extents: Extents { m: contract.m, n: contract.n, k: contract.k },
            operands: [operand(&contract.a), operand(&contract.b), operand(&contract.c)],
        };
        while problem.fold_batch_into_rows() {}
        problem
    }

    /// A batch that shares one right-hand side, with its rows one after another, is one taller matrix.
    fn fold_batch_into_rows(&mut self) -> bool {
        let Some(axis) = self.batch.len().checked_sub(1) else { return false };
        let rows = self.extents.m as isize;
        let [a, b, c] = &self.operands;
        let follows = |operand: &Operand| operand.batch[axis] == operand.row * rows;
        let folds = self.batch[axis] == 1 || (b.batch[axis] == 0 && follows(a) && follows(c));
        if folds {
            self.extents.m *= self.batch[axis];
            self.batch.truncate(axis);
            self.operands.iter_mut().for_each(|operand| operand.batch.truncate(axis));
        }
        folds
    }

    fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// Where an operand's matrix for a flat batch index begins.
    fn batch_offset(&self, operand: &Operand, mut batch: usize) -> isize {
        let mut offset = 0;
        for (&extent, &stride) in self.batch.iter().zip(&operand.batch).rev() {
            offset += (batch % extent) as isize * stride;
            batch /= extent;
        }
        offset
    }
}

/// How a contraction is divided: ranges of batches times ranges of rows times ranges of columns.
#[derive(Debug)]
struct Cut {
    /// Extent and step of each.
    batches: (usize, usize),
    rows: (usize, usize),
    columns: (usize, usize),
}

/// One part of a contraction; rows and columns are (first, count), where the count may reach beyond the
/// end.
struct Panel {
    batches: std::ops::Range<usize>,
    rows: (usize, usize),
    columns: (usize, usize),
}

impl Cut {
    fn new(batches: usize, extents: Extents, threads: usize, max_side: usize) -> Cut {
        let Extents { m, n, k } = extents;
        let work = [batches, m, n, k.max(1)].into_iter().fold(1usize, usize::saturating_mul);
        let wanted =
            if threads > 1 { (threads * PANELS_PER_THREAD).min(work / MIN_PANEL) } else { 1 };
        let mut cut = Cut {
            batches: (batches, batches.div_ceil(wanted.max(1)).max(1)),
            rows: (m, m.clamp(1, max_side)),
            columns: (n, n.clamp(1, max_side)),
        };
        // Halving the longer side keeps panels near to squares, for which the least is packed.
        while cut.panels() < wanted {
            let longer = if cut.rows.1 > cut.columns.1 { &mut cut.rows } else { &mut cut.columns };
            let step = longer.1.div_ceil(2).next_multiple_of(STEP);
            if step >= longer.1 {
                break;
            }
            longer.1 = step;
        }
        cut
    }

    /// Makes panels small enough for a product that is taken in while it is in cache.
    fn bound(&mut self, whole_rows: bool) {
        const MOST_ELEMENTS: usize = 1 << 20;
        if whole_rows {
            self.columns.1 = self.columns.0.max(1);
        }
        while self.rows.1 * self.columns.1 > MOST_ELEMENTS && self.rows.1 > STEP {
            self.rows.1 = self.rows.1.div_ceil(2).next_multiple_of(STEP);
        }
    }

    fn panels(&self) -> usize {
        [self.batches, self.rows, self.columns]
            .iter()
            .map(|(extent, step)| extent.div_ceil(*step))
            .product()
    }

    fn panel(&self, index: usize) -> Panel {
        let columns = self.columns.0.div_ceil(self.columns.1);
        let rows = self.rows.0.div_ceil(self.rows.1);
        let (column, row, batch) =
            (index % columns, index / columns % rows, index / columns / rows);
        let first = batch * self.batches.1;
        Panel {
            batches: first..(first + self.batches.1).min(self.batches.0),
            rows: (row * self.rows.1, self.rows.1),
            columns: (column * self.columns.1, self.columns.1),
        }
    }
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
        gemm::gemm(
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
            gemm::Parallelism::None,
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
        gemm::gemm(
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
            gemm::Parallelism::None,
        );
    }
}
