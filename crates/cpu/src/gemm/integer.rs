//! Integer GEMM with wrapping arithmetic, and `bool` GEMM over "and" and "or".

use super::{Extents, GemmElement, Matrix};
use std::cell::RefCell;

/// Rows of the register tile.
const TILE_ROWS: usize = 4;

/// Bytes of a row of the register tile: the accumulators of all [`TILE_ROWS`] rows are in registers.
const TILE_ROW_BYTES: usize = 64;

/// Range of `k` whose rows of `b` are packed at a time, so that the packed panel stays in a cache.
const K_BLOCK: usize = 256;

/// The memory form of a `bool`, 0 or 1; multiplication is "and", addition "or".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct BoolByte(u8);

trait Integer: Copy + Default + 'static {
    fn multiply_add(self, a: Self, b: Self) -> Self;
}

macro_rules! integer {
    ($($type:ty, $add:expr, |$sum:ident, $a:ident, $b:ident| $multiply_add:expr;)*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn multiply_add(self, $a: $type, $b: $type) -> $type {
                let $sum = self;
                $multiply_add
            }
        }

        impl GemmElement for $type {
            const ADD_PARTIAL_SUMS: Option<fn($type, $type) -> $type> = Some($add);

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                const TILE_COLUMNS: usize = TILE_ROW_BYTES / size_of::<$type>();
                thread_local! {
                    static PACKED: RefCell<Vec<[$type; TILE_COLUMNS]>> = const { RefCell::new(Vec::new()) };
                }
                // SAFETY: promised by the caller.
                PACKED.with_borrow_mut(|packed| unsafe { multiply(e, a, b, c, packed) });
            }
        }
    )*};
}

integer! {
    u8, u8::wrapping_add, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    u16, u16::wrapping_add, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    u32, u32::wrapping_add, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    u64, u64::wrapping_add, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b));
    BoolByte, |a, b| BoolByte(a.0 | b.0), |sum, a, b| BoolByte(sum.0 | (a.0 & b.0));
}

/// # Safety
/// As for [`GemmElement::multiply`].
unsafe fn multiply<T: Integer, const TILE_COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; TILE_COLUMNS]>,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature; the rest is promised by the caller.
        return unsafe { multiply_avx2(e, a, b, c, packed) };
    }
    // SAFETY: promised by the caller.
    unsafe { multiply_blocked(e, a, b, c, packed) }
}

/// # Safety
/// As for [`GemmElement::multiply`], and the processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn multiply_avx2<T: Integer, const TILE_COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; TILE_COLUMNS]>,
) {
    // SAFETY: promised by the caller.
    unsafe { multiply_blocked(e, a, b, c, packed) }
}

/// # Safety
/// As for [`GemmElement::multiply`].
#[inline(always)]
unsafe fn multiply_blocked<T: Integer, const TILE_COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; TILE_COLUMNS]>,
) {
    for column in (0..e.n).step_by(TILE_COLUMNS) {
        let columns = TILE_COLUMNS.min(e.n - column);
        // At least one iteration, so that `k == 0` writes zeros.
        for depth in (0..e.k.max(1)).step_by(K_BLOCK) {
            packed.clear();
            for i in depth..e.k.min(depth + K_BLOCK) {
                let mut packed_row = [T::default(); TILE_COLUMNS];
                for (j, to) in packed_row.iter_mut().enumerate().take(columns) {
                    // SAFETY: within the extents.
                    *to = unsafe { b.at(i, column + j).read() };
                }
                packed.push(packed_row);
            }
            for row in (0..e.m).step_by(TILE_ROWS) {
                let rows = TILE_ROWS.min(e.m - row);
                let (a, c) = (a.submatrix(row, depth), c.submatrix(row, column));
                // SAFETY: within the extents.
                unsafe { microkernel(rows, columns, packed, a, c, depth > 0) }
            }
        }
    }
}

/// Microkernel: `c = a · packed`, or `c += a · packed`, for up to [`TILE_ROWS`] rows and `TILE_COLUMNS` columns.
///
/// # Safety
/// As for [`GemmElement::multiply`].
#[inline(always)]
unsafe fn microkernel<T: Integer, const TILE_COLUMNS: usize>(
    rows: usize,
    columns: usize,
    packed: &[[T; TILE_COLUMNS]],
    a: Matrix<T>,
    c: Matrix<T>,
    add: bool,
) {
    let mut sums = [[T::default(); TILE_COLUMNS]; TILE_ROWS];
    if add {
        for (row, sums) in sums.iter_mut().enumerate().take(rows) {
            for (column, sum) in sums.iter_mut().enumerate().take(columns) {
                // SAFETY: within the extents, and written in the previous iteration.
                *sum = unsafe { c.at(row, column).read() };
            }
        }
    }
    for (depth, packed_row) in packed.iter().enumerate() {
        for (row, sums) in sums.iter_mut().enumerate() {
            // Rows beyond the last repeat the last one; their sums are discarded.
            // SAFETY: within the extents.
            let factor = unsafe { a.at(row.min(rows - 1), depth).read() };
            for (sum, &value) in sums.iter_mut().zip(packed_row) {
                *sum = sum.multiply_add(factor, value);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate().take(rows) {
        for (column, &sum) in sums.iter().enumerate().take(columns) {
            // SAFETY: within the extents.
            unsafe { c.at(row, column).write(sum) };
        }
    }
}
