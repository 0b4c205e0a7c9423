//! Products of integers, wrapping, and of truth values.

use super::{Extents, Matrix, Multiply};
use std::cell::RefCell;

/// Rows of the result that are summed at a time.
const ROWS: usize = 4;

/// Bytes of a row that are summed at a time: the sums of all [`ROWS`] are in registers.
const LINE: usize = 64;

/// The part of the sums whose right-hand rows are packed at a time, so that they stay in a cache.
const DEPTH: usize = 256;

/// A `bool` as it is in memory, 0 or 1; its product is "and", its sum "or".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Truth(u8);

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

        impl Multiply for $type {
            const ADD: Option<fn($type, $type) -> $type> = Some($add);

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                const COLUMNS: usize = LINE / size_of::<$type>();
                thread_local! {
                    static PACKED: RefCell<Vec<[$type; COLUMNS]>> = const { RefCell::new(Vec::new()) };
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
    Truth, |a, b| Truth(a.0 | b.0), |sum, a, b| Truth(sum.0 | (a.0 & b.0));
}

/// # Safety
/// As for [`Multiply::multiply`].
unsafe fn multiply<T: Integer, const COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; COLUMNS]>,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the feature; the rest is promised by the caller.
        return unsafe { multiply_avx2(e, a, b, c, packed) };
    }
    // SAFETY: promised by the caller.
    unsafe { multiply_blocks(e, a, b, c, packed) }
}

/// # Safety
/// As for [`Multiply::multiply`], and the processor must have AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn multiply_avx2<T: Integer, const COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; COLUMNS]>,
) {
    // SAFETY: promised by the caller.
    unsafe { multiply_blocks(e, a, b, c, packed) }
}

/// # Safety
/// As for [`Multiply::multiply`].
#[inline(always)]
unsafe fn multiply_blocks<T: Integer, const COLUMNS: usize>(
    e: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    packed: &mut Vec<[T; COLUMNS]>,
) {
    for column in (0..e.n).step_by(COLUMNS) {
        let columns = COLUMNS.min(e.n - column);
        // At least one round, so that an empty sum is written.
        for depth in (0..e.k.max(1)).step_by(DEPTH) {
            packed.clear();
            for i in depth..e.k.min(depth + DEPTH) {
                let mut line = [T::default(); COLUMNS];
                for (j, to) in line.iter_mut().enumerate().take(columns) {
                    // SAFETY: within the extents.
                    *to = unsafe { b.at(i, column + j).read() };
                }
                packed.push(line);
            }
            for row in (0..e.m).step_by(ROWS) {
                let rows = ROWS.min(e.m - row);
                let (a, c) = (a.from(row, depth), c.from(row, column));
                // SAFETY: within the extents.
                unsafe { block(rows, columns, packed, a, c, depth > 0) }
            }
        }
    }
}

/// `c = a · packed`, or `c += a · packed`, for up to [`ROWS`] rows and `COLUMNS` columns.
///
/// # Safety
/// As for [`Multiply::multiply`].
#[inline(always)]
unsafe fn block<T: Integer, const COLUMNS: usize>(
    rows: usize,
    columns: usize,
    packed: &[[T; COLUMNS]],
    a: Matrix<T>,
    c: Matrix<T>,
    add: bool,
) {
    let mut sums = [[T::default(); COLUMNS]; ROWS];
    if add {
        for (row, sums) in sums.iter_mut().enumerate().take(rows) {
            for (column, sum) in sums.iter_mut().enumerate().take(columns) {
                // SAFETY: within the extents, and written in the round before.
                *sum = unsafe { c.at(row, column).read() };
            }
        }
    }
    for (depth, line) in packed.iter().enumerate() {
        for (row, sums) in sums.iter_mut().enumerate() {
            // Rows beyond the last repeat it; their sums are not used.
            // SAFETY: within the extents.
            let factor = unsafe { a.at(row.min(rows - 1), depth).read() };
            for (sum, &value) in sums.iter_mut().zip(line) {
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
