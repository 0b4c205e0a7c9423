//! Mixed-precision GEMM: `f16` and `bf16` operands, `f32` accumulation, one rounding of the result.

use super::{Extents, GemmElement, Matrix, multiply_add};
use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use std::cell::RefCell;

/// Range of `k` that is converted at a time, so that the converted operands stay in a cache.
const K_BLOCK: usize = 512;

/// Longest side of a chunk: with [`K_BLOCK`] it bounds the workspace of a thread to 3 MiB.
const MAX_SIDE: usize = 512;

/// A chunk's operands and result in `f32`. One per thread, reused.
#[derive(Default)]
struct F32Workspace {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
}

thread_local! {
    static WORKSPACE: RefCell<F32Workspace> = RefCell::new(F32Workspace::default());
}

/// A 16-bit float: `f16` or `bf16`.
trait Float16: Copy + 'static {
    fn widen(self) -> f32;
    fn round(value: f32) -> Self;
    fn widen_slice(from: &[Self], to: &mut [f32]);
    fn round_slice(from: &[f32], to: &mut [Self]);
}

macro_rules! impl_float16 {
    ($($type:ty),*) => {$(
        impl Float16 for $type {
            fn widen(self) -> f32 {
                self.to_f32()
            }
            fn round(value: f32) -> $type {
                <$type>::from_f32(value)
            }
            fn widen_slice(from: &[$type], to: &mut [f32]) {
                from.convert_to_f32_slice(to);
            }
            fn round_slice(from: &[f32], to: &mut [$type]) {
                to.convert_from_f32_slice(from);
            }
        }

        impl GemmElement for $type {
            const MAX_CHUNK_SIDE: usize = MAX_SIDE;

            unsafe fn multiply(e: Extents, a: Matrix<$type>, b: Matrix<$type>, c: Matrix<$type>) {
                WORKSPACE.with_borrow_mut(|workspace| {
                    // SAFETY: promised by the caller.
                    unsafe { multiply_in_f32(e, a, b, c, workspace) }
                });
            }
        }
    )*};
}

impl_float16!(f16, bf16);

/// # Safety
/// As for [`GemmElement::multiply`].
unsafe fn multiply_in_f32<T: Float16>(
    Extents { m, n, k }: Extents,
    a: Matrix<T>,
    b: Matrix<T>,
    c: Matrix<T>,
    workspace: &mut F32Workspace,
) {
    workspace.c.clear();
    workspace.c.resize(m * n, 0.0);
    let sums = Matrix { start: workspace.c.as_mut_ptr(), row: n as isize, column: 1 };
    for depth in (0..k).step_by(K_BLOCK) {
        let k = K_BLOCK.min(k - depth);
        // SAFETY: the blocks are within the operands, and the sums are this thread's own.
        unsafe {
            let a = widen(a.submatrix(0, depth), m, k, &mut workspace.a);
            let b = widen(b.submatrix(depth, 0), k, n, &mut workspace.b);
            multiply_add(Extents { m, n, k }, a, b, sums, depth > 0);
        }
    }
    for (row, sums) in workspace.c.chunks_exact(n.max(1)).enumerate() {
        // SAFETY: the row is within the extents of `c`; where its elements are adjacent they are a slice, which no
        // other thread accesses.
        unsafe {
            if c.column == 1 {
                T::round_slice(sums, std::slice::from_raw_parts_mut(c.at(row, 0), n));
            } else {
                for (column, &sum) in sums.iter().enumerate() {
                    c.at(row, column).write(T::round(sum));
                }
            }
        }
    }
}

/// Converts a matrix to a dense `f32` matrix of the same layout (row-major or column-major).
///
/// # Safety
/// All elements within the extents must be valid for reading.
unsafe fn widen<T: Float16>(
    matrix: Matrix<T>,
    rows: usize,
    columns: usize,
    to: &mut Vec<f32>,
) -> Matrix<f32> {
    if matrix.row == 1 && matrix.column != 1 {
        // SAFETY: the same elements.
        return unsafe { widen(matrix.transpose(), columns, rows, to) }.transpose();
    }
    to.resize(to.len().max(rows * columns), 0.0);
    for (row, to) in to.chunks_exact_mut(columns.max(1)).take(rows).enumerate() {
        // SAFETY: the row is within the extents; where its elements are adjacent they are a slice.
        unsafe {
            if matrix.column == 1 {
                T::widen_slice(std::slice::from_raw_parts(matrix.at(row, 0), columns), to);
            } else {
                for (column, to) in to.iter_mut().enumerate() {
                    *to = matrix.at(row, column).read().widen();
                }
            }
        }
    }
    Matrix { start: to.as_mut_ptr(), row: columns as isize, column: 1 }
}
