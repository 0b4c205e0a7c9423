//! Products of few elements with long sums: threads share the sums, and their parts are added up.

use super::problem::Problem;
use super::{Extents, Matrix, Multiply, Prepared, PreparedSource, Target};
use crate::workers::Workers;

/// A result of more elements than this has panels enough.
const FEW_ELEMENTS: usize = 1 << 14;

/// No part of a sum is shorter.
const SHORTEST_PART: usize = 1 << 13;

/// The most parts of a sum.
const MOST_PARTS: usize = 16;

/// Into how many parts the sums are cut, if they are. It does not depend on the threads, so that results do not.
pub(super) fn pieces(problem: &Problem) -> Option<usize> {
    let Extents { m, n, k } = problem.extents;
    let elements = [problem.batches(), m, n].into_iter().fold(1usize, usize::saturating_mul);
    let pieces = (k / SHORTEST_PART).min(MOST_PARTS);
    (pieces > 1 && elements > 0 && elements <= FEW_ELEMENTS).then_some(pieces)
}

/// Runs a contraction of operands in memory whose sums are cut into parts.
///
/// # Safety
/// As for [`contract`](super::contract).
pub(super) unsafe fn run<T: Multiply>(
    workers: &Workers,
    prepared: &Prepared<T>,
    pieces: usize,
    add: fn(T, T) -> T,
) -> Result<(), String> {
    let problem = &prepared.problem;
    let Extents { m, n, k } = problem.extents;
    let batches = problem.batches();
    let elements = batches * m * n;
    // The result of each part, one after another.
    let mut parts: Vec<T> = Vec::with_capacity(pieces * elements);
    let sums = Sums(parts.as_mut_ptr());
    let matrix = |source: usize, batch: usize| match [&prepared.a, &prepared.b][source] {
        PreparedSource::Memory(start) => prepared.matrix(source, *start, batch),
        _ => unreachable!("only operands in memory are cut along their sums"),
    };
    let dense = |piece: usize, batch: usize| {
        let start = sums.at((piece * batches + batch) * m * n);
        Matrix { start, row: n as isize, column: 1 }
    };
    workers.parallel_for(pieces * batches, &|index| {
        let (piece, batch) = (index / batches, index % batches);
        let (first, end) = (piece * k / pieces, (piece + 1) * k / pieces);
        let extents = Extents { m, n, k: end - first };
        let (a, b) = (matrix(0, batch).from(0, first), matrix(1, batch).from(first, 0));
        // SAFETY: the part is within the extents, which the caller vouches for; each writes its own sums.
        unsafe { T::multiply(extents, a, b, dense(piece, batch)) };
    })?;
    // In one chunk: there are few, and threads treat subnormals alike in it.
    workers.parallel_for(1, &|_| {
        for piece in 1..pieces {
            for i in 0..elements {
                // SAFETY: all parts are computed, and nobody else has them.
                unsafe { *sums.at(i) = add(*sums.at(i), *sums.at(piece * elements + i)) };
            }
        }
        for batch in 0..batches {
            let source = dense(0, batch);
            let copy = |target: Matrix<T>| {
                for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column)))
                {
                    // SAFETY: both are within the extents, and the target is this thread's to write.
                    unsafe { target.at(row, column).write(*source.at(row, column)) };
                }
            };
            match prepared.target {
                Target::Memory(address) => copy(prepared.matrix(2, address.cast(), batch)),
                Target::EpilogueRunner(follower) => {
                    let rows = batch * m..(batch + 1) * m;
                    // SAFETY: the follower's buffers are, by its construction, for this contraction to use.
                    unsafe { follower.take_in(rows, 0..n, n, None, copy) };
                }
            }
        }
    })
}

/// The address of the sums.
struct Sums<T>(*mut T);

// SAFETY: each thread uses sums of its own.
unsafe impl<T> Sync for Sums<T> {}

impl<T> Sums<T> {
    fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}
