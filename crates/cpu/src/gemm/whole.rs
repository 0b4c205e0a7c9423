//! Small operands that a launch computes: whole, before the product, where threads would otherwise have too few rows
//! each.

use super::partition::{ROWS_PRODUCED, Unit};
use super::{Extents, Matrix, Multiply, Prepared, PreparedSource};
use crate::call::with_scratch;
use crate::workers::Workers;
use inflight_ir::plan::Side;

/// The most elements of an operand that is computed whole: it stays in a cache that all threads reach.
const MOST_ELEMENTS: usize = 256 << 10;

/// A product of fewer multiplications is not worth a loop of its own before it.
const FEWEST_MULTIPLICATIONS: usize = 4 << 20;

/// Parts of it for each thread.
const PARTS_PER_THREAD: usize = 2;

/// Runs a product, with a small operand of it computed before. A thread that computes a few rows of it at a time
/// multiplies as few, and for each such part the other operand is packed anew.
///
/// # Safety
/// As for [`contract`](super::contract).
pub(super) unsafe fn with_small_operands<T: Multiply>(
    workers: &Workers,
    mut prepared: Prepared<'_, T>,
    run: unsafe fn(&Workers, &Prepared<T>) -> Result<(), String>,
) -> Result<(), String> {
    let Extents { m, n, k } = prepared.problem.extents;
    let produced = [(Side::A, m, n), (Side::B, n, m)].into_iter().find_map(|(side, own, other)| {
        let source = if side == Side::A { &prepared.a } else { &prepared.b };
        match source {
            PreparedSource::Blocks(blocks) => Some((side, *blocks, own, other)),
            _ => None,
        }
    });
    let batches = prepared.problem.batches();
    let is_small = |own: usize, other: usize| {
        let share = (batches * own).div_ceil(workers.width());
        workers.width() > 1
            && batches == 1
            && share < ROWS_PRODUCED
            && other >= own
            && own.saturating_mul(k) <= MOST_ELEMENTS
            && (own * k).saturating_mul(other) >= FEWEST_MULTIPLICATIONS
    };
    let Some((side, blocks, own, _)) = produced.filter(|&(_, _, own, other)| is_small(own, other))
    else {
        // SAFETY: promised by the caller.
        return unsafe { run(workers, &prepared) };
    };
    let (row, column, elements) = blocks.layout(own, k);
    with_scratch(|scratch| {
        let operand =
            Operand(Matrix { start: scratch.bytes(elements * blocks.size()), row, column });
        let mut step = own.div_ceil(workers.width() * PARTS_PER_THREAD).max(1);
        if let Unit::Multiple(unit) = blocks.unit() {
            step = step.next_multiple_of(unit);
        }
        workers.parallel_for(own.div_ceil(step), &|part| {
            let rows = part * step..own.min((part + 1) * step);
            // SAFETY: the rows are rows of the operand, each part has its own, and there is memory for all.
            unsafe { blocks.compute(rows.clone(), operand.from(rows.start, blocks.size())) };
        })?;
        let computed = PreparedSource::Whole(Matrix { start: operand.0.start.cast(), row, column });
        match side {
            Side::A => prepared.a = computed,
            Side::B => prepared.b = computed,
        }
        // SAFETY: promised by the caller.
        unsafe { run(workers, &prepared) }
    })
}

/// Where the operand is; distances are in elements.
struct Operand(Matrix<u8>);

// SAFETY: each thread writes rows of its own.
unsafe impl Sync for Operand {}

impl Operand {
    /// What begins at a row, of elements of so many bytes.
    fn from(&self, row: usize, size: usize) -> Matrix<u8> {
        let before = row as isize * self.0.row * size as isize;
        Matrix { start: self.0.start.wrapping_offset(before), ..self.0 }
    }
}
