//! Products of `f16` and `bf16`: summed in `f32`, rounded once.

use super::{Extents, Matrix, Multiply, multiply_add};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use std::cell::RefCell;

/// The part of the sums that is converted at a time, so that it stays in a cache.
const DEPTH: usize = 512;

/// The longest side of a panel: with [`DEPTH`] it bounds the work memory of a thread to 3 MiB.
const SIDE: usize = 512;

/// `f32` forms of a panel's operands and result. One for each thread, reused.
#[derive(Default)]
struct Widened {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

thread_local! {
    static WIDENED: RefCell<Widened> = RefCell::new(Widened::default());
}

/// A 16-bit float.
trait Narrow: Copy + 'static {
    fn widen(self) -> f32;
    fn narrow(value: f32) -> Self;
    /// Widens a run of neighbours.
    fn widen_all(from: &[Self], to: &mut [f32]);
    /// Rounds a run of neighbours.
    fn narrow_all(from: &[f32], to: &mut [Self]);
}

macro_rules! narrow {
    ($($type:ty),*) => {$(
        impl Narrow for $type {
            fn widen(self) -> f32 {
                self.to_f32()
            }
            fn narrow(value: f32) -> $type {
                <$type>::from_f32(value)
            }
            fn widen_all(from: &[$type], to: &mut [f32]) {
                from.convert_to_f32_slice(to);
            }
            fn narrow_all(from: &[f32], to: &mut [$type]) {
                to.convert_from_f32_slice(from);
            }
        }

        impl Multiply for $type {
            const MAX_SIDE: usize = SIDE;

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                WIDENED.with_borrow_mut(|widened| {
                    // SAFETY: promised by the caller.
                    unsafe { multiply_narrow(e, a, b, c, widened) }
                });
            }
        }
    )*};
}

narrow!(f16, bf16);

/// # Safety
/// As for [`Multiply::multiply`].
unsafe fn multiply_narrow<T: Narrow>(
    Extents { m, n, k }: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    widened: &mut Widened,
) {
    widened.c.clear();
    widened.c.resize(m * n, 0.0);
    let sums = Matrix { start: widened.c.as_mut_ptr(), row: n as isize, column: 1 };
    for depth in (0..k).step_by(DEPTH) {
        let k = DEPTH.min(k - depth);
        // SAFETY: the parts are within the operands, and the sums are this thread's own.
        unsafe {
            let a = widen(a.from(0, depth), m, k, &mut widened.a);
            let b = widen(b.from(depth, 0), k, n, &mut widened.b);
            multiply_add(Extents { m, n, k }, a, b, sums, depth > 0);
        }
    }
    for (row, sums) in widened.c.chunks_exact(n.max(1)).enumerate() {
        // SAFETY: the row is within the extents of `c`; where its elements are neighbours they are a
        // slice, which nobody else accesses.
        unsafe {
            if c.column == 1 {
                T::narrow_all(sums, std::slice::from_raw_parts_mut(c.at(row, 0), n));
            } else {
                for (column, &sum) in sums.iter().enumerate() {
                    c.at(row, column).write(T::narrow(sum));
                }
            }
        }
    }
}

/// The matrix as `f32`, dense, in the order in which it is dense itself.
///
/// # Safety
/// All elements within the extents must be valid for reading.
unsafe fn widen<T: Narrow>(
    matrix: Matrix<T>,
    rows: usize,
    columns: usize,
    to: &mut Vec<f32>,
) -> Matrix<f32> {
    if matrix.row == 1 && matrix.column != 1 {
        let transposed = Matrix { row: matrix.column, column: matrix.row, ..matrix };
        // SAFETY: the same elements.
        let wide = unsafe { widen(transposed, columns, rows, to) };
        return Matrix { row: wide.column, column: wide.row, ..wide };
    }
    to.resize(to.len().max(rows * columns), 0.0);
    for (row, to) in to.chunks_exact_mut(columns.max(1)).take(rows).enumerate() {
        // SAFETY: the row is within the extents; where its elements are neighbours they are a slice.
        unsafe {
            if matrix.column == 1 {
                T::widen_all(std::slice::from_raw_parts(matrix.at(row, 0), columns), to);
            } else {
                for (column, to) in to.iter_mut().enumerate() {
                    *to = matrix.at(row, column).read().widen();
                }
            }
        }
    }
    Matrix { start: to.as_mut_ptr(), row: columns as isize, column: 1 }
}
