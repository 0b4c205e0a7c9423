//! Split-K: few results with long sums. Threads compute partial sums over ranges of `k`, and a reduction adds them.

use super::problem::Problem;
use super::{Extents, GemmElement, GemmTarget, Matrix, TypedGemm, TypedSource};
use crate::workers::Workers;
use inflight_backend::FaultKind;

/// Larger results have enough panels to occupy the threads.
const MAX_RESULT_ELEMENTS: usize = 1 << 14;

/// Minimum range of `k` in a split.
const MIN_SPLIT_LENGTH: usize = 1 << 13;

const MAX_SPLITS: usize = 16;

/// The number of ranges to split `k` into; `None` to sum in one pass. Independent of the number of threads, so that
/// results are too.
pub(super) fn split_count(problem: &Problem) -> Option<usize> {
    let Extents { m, n, k } = problem.extents;
    let elements = [problem.batches(), m, n].into_iter().fold(1usize, usize::saturating_mul);
    let splits = (k / MIN_SPLIT_LENGTH).min(MAX_SPLITS);
    (splits > 1 && elements > 0 && elements <= MAX_RESULT_ELEMENTS).then_some(splits)
}

/// Runs a GEMM of operands in memory with split-K.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run<T: GemmElement>(
    workers: &Workers,
    gemm: &TypedGemm<T>,
    splits: usize,
    add: fn(T, T) -> T,
) -> Result<(), FaultKind> {
    let problem = &gemm.problem;
    let Extents { m, n, k } = problem.extents;
    let batches = problem.batches();
    let elements = batches * m * n;
    // The partial sums of each split, one after another.
    let mut workspace: Vec<T> = Vec::with_capacity(splits * elements);
    let sums = PartialSums(workspace.as_mut_ptr());
    let matrix = |source: usize, batch: usize| match [&gemm.a, &gemm.b][source] {
        TypedSource::Memory(start) => gemm.matrix(source, *start, batch),
        _ => unreachable!("split-K operands are in memory"),
    };
    let dense = |split: usize, batch: usize| {
        let start = sums.at((split * batches + batch) * m * n);
        Matrix { start, row: n as isize, column: 1 }
    };
    workers.parallel_for(splits * batches, &|index| {
        let (split, batch) = (index / batches, index % batches);
        let (first, end) = (split * k / splits, (split + 1) * k / splits);
        let extents = Extents { m, n, k: end - first };
        let (a, b) = (matrix(0, batch).submatrix(0, first), matrix(1, batch).submatrix(first, 0));
        // SAFETY: the range is within the extents, which the caller guarantees; each split writes its own sums.
        unsafe { T::multiply(extents, a, b, dense(split, batch)) };
    })?;
    // The split-K reduction. One chunk: there is little to add, and a chunk runs with subnormals flushed to zero
    // whichever thread it runs on.
    workers.parallel_for(1, &|_| {
        for split in 1..splits {
            for i in 0..elements {
                // SAFETY: all partial sums are computed, and no other thread accesses them.
                unsafe { *sums.at(i) = add(*sums.at(i), *sums.at(split * elements + i)) };
            }
        }
        for batch in 0..batches {
            let source = dense(0, batch);
            let copy = |target: Matrix<T>| {
                for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column)))
                {
                    // SAFETY: both are within the extents, and only this thread writes the target.
                    unsafe { target.at(row, column).write(*source.at(row, column)) };
                }
            };
            match gemm.target {
                GemmTarget::Memory(address) => copy(gemm.matrix(2, address.cast(), batch)),
                GemmTarget::Epilogue(epilogue) => {
                    let rows = batch * m..(batch + 1) * m;
                    // SAFETY: the epilogue's buffers are, by its construction, for this GEMM to use.
                    unsafe { epilogue.run_panel(rows, 0..n, n, None, copy) };
                }
            }
        }
    })
}

/// The address of the partial sums.
struct PartialSums<T>(*mut T);

// SAFETY: each thread uses sums of its own.
unsafe impl<T> Sync for PartialSums<T> {}

impl<T> PartialSums<T> {
    fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}
