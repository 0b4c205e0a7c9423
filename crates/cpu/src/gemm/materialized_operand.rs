//! Materializes a small prologue operand before the GEMM, where a fused prologue would leave threads too few rows.

use super::partition::{BlockRows, PROLOGUE_ROWS};
use super::{Extents, GemmElement, Matrix, TypedGemm, TypedSource};
use crate::call::with_scratch;
use crate::workers::Workers;
use inflight_backend::FaultKind;
use inflight_ir::plan::Side;

/// Largest operand to materialize: it stays in a cache that all threads share.
const MAX_ELEMENTS: usize = 256 << 10;

/// Minimum number of multiplications; a smaller GEMM does not pay for a parallel loop before it.
const MIN_MULTIPLICATIONS: usize = 4 << 20;

const PARTS_PER_THREAD: usize = 2;

/// Runs a GEMM, and materializes a small prologue operand first. With a fused prologue, a thread that computes few rows
/// of the operand also multiplies few at a time, and packs the other operand again for each such block.
///
/// # Safety
/// As for [`run`](super::run).
pub(super) unsafe fn run_with_materialized_operand<T: GemmElement>(
    workers: &Workers,
    mut gemm: TypedGemm<'_, T>,
    run: unsafe fn(&Workers, &TypedGemm<T>) -> Result<(), FaultKind>,
) -> Result<(), FaultKind> {
    let Extents { m, n, k } = gemm.problem.extents;
    let prologue = [(Side::A, m, n), (Side::B, n, m)].into_iter().find_map(|(side, own, other)| {
        let source = if side == Side::A { &gemm.a } else { &gemm.b };
        match source {
            TypedSource::Prologue(prologue) => Some((side, *prologue, own, other)),
            _ => None,
        }
    });
    let batches = gemm.problem.batches();
    let is_small = |own: usize, other: usize| {
        let share = (batches * own).div_ceil(workers.thread_count());
        workers.thread_count() > 1
            && batches == 1
            && share < PROLOGUE_ROWS
            && other >= own
            && own.saturating_mul(k) <= MAX_ELEMENTS
            && (own * k).saturating_mul(other) >= MIN_MULTIPLICATIONS
    };
    let Some((side, prologue, own, _)) =
        prologue.filter(|&(_, _, own, other)| is_small(own, other))
    else {
        // SAFETY: promised by the caller.
        return unsafe { run(workers, &gemm) };
    };
    let (row, column, elements) = prologue.layout(own, k);
    with_scratch(prologue.pool(), |scratch| {
        let start = scratch.bytes(elements * prologue.element_size());
        let operand = SharedOperand(Matrix { start, row, column });
        let mut step = own.div_ceil(workers.thread_count() * PARTS_PER_THREAD).max(1);
        if let BlockRows::MultipleOf(unit) = prologue.block_rows() {
            step = step.next_multiple_of(unit);
        }
        workers.parallel_for(own.div_ceil(step), &|part| {
            let rows = part * step..own.min((part + 1) * step);
            let to = operand.starting_at_row(rows.start, prologue.element_size());
            // SAFETY: the rows are rows of the operand, each part has its own, and there is memory for all.
            unsafe { prologue.compute(rows, to) };
        })?;
        let start = operand.0.start.cast();
        let materialized = TypedSource::Materialized(Matrix { start, row, column });
        match side {
            Side::A => gemm.a = materialized,
            Side::B => gemm.b = materialized,
        }
        // SAFETY: promised by the caller.
        unsafe { run(workers, &gemm) }
    })
}

/// The memory of the operand; strides are in elements.
struct SharedOperand(Matrix<u8>);

// SAFETY: each thread writes rows of its own.
unsafe impl Sync for SharedOperand {}

impl SharedOperand {
    /// The rows from this one on.
    fn starting_at_row(&self, row: usize, element_size: usize) -> Matrix<u8> {
        let before = row as isize * self.0.row * element_size as isize;
        Matrix { start: self.0.start.wrapping_offset(before), ..self.0 }
    }
}
