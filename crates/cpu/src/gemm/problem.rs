//! Extents and strides of a GEMM, with batch axes folded into rows where possible.

use super::Extents;
use inflight_backend::{GemmLaunch, GemmOperand};
use smallvec::SmallVec;

/// A batched GEMM with as few batch axes as possible.
pub struct Problem {
    batch: SmallVec<[usize; 4]>,
    /// The extents of each GEMM of the batch.
    pub extents: Extents,
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
    /// The problem of a command.
    pub fn new(launch: &GemmLaunch) -> Problem {
        let operand = |operand: &GemmOperand| Operand {
            offset: operand.offset,
            batch: operand.batch_strides.clone(),
            row: operand.row_stride,
            column: operand.column_stride,
        };
        let mut problem = Problem {
            batch: launch.batch.clone(),
            extents: Extents { m: launch.m, n: launch.n, k: launch.k },
            operands: [operand(&launch.a), operand(&launch.b), operand(&launch.c)],
        };
        while problem.fold_batch_into_rows() {}
        problem
    }

    /// Folds the innermost batch axis into `m`: a batch that shares its right operand and whose rows are evenly spaced
    /// is one taller matrix. Returns whether it did.
    fn fold_batch_into_rows(&mut self) -> bool {
        let Some(axis) = self.batch.len().checked_sub(1) else { return false };
        let rows = self.extents.m as isize;
        let [a, b, c] = &self.operands;
        let continues_rows = |operand: &Operand| operand.batch[axis] == operand.row * rows;
        let folds =
            self.batch[axis] == 1 || (b.batch[axis] == 0 && continues_rows(a) && continues_rows(c));
        if folds {
            self.extents.m *= self.batch[axis];
            self.batch.truncate(axis);
            self.operands.iter_mut().for_each(|operand| operand.batch.truncate(axis));
        }
        folds
    }

    /// The number of GEMMs in the batch.
    pub fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// Whether the left operand is M-major (column-major, a transposed `a`): the elements of a column are adjacent.
    pub fn a_is_mn_major(&self) -> bool {
        let [a, _, _] = &self.operands;
        a.row == 1 && a.column != 1
    }

    /// The offset, row stride and column stride of operand 0 (`a`), 1 (`b`) or 2 (`c`) for a flat batch index.
    pub fn matrix(&self, operand: usize, mut batch: usize) -> (isize, isize, isize) {
        let operand = &self.operands[operand];
        let mut offset = operand.offset;
        for (&extent, &stride) in self.batch.iter().zip(&operand.batch).rev() {
            offset += (batch % extent) as isize * stride;
            batch /= extent;
        }
        (offset, operand.row, operand.column)
    }
}
