//! The extents and strides of a contraction, as few of them as possible.

use super::Extents;
use inflight_backend::{GemmLaunch, GemmOperand};
use smallvec::SmallVec;

/// A contraction with as few batch axes as possible.
pub struct Problem {
    batch: SmallVec<[usize; 4]>,
    /// Those of each product of the batch.
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
    /// The contraction of a command.
    pub fn new(contract: &GemmLaunch) -> Problem {
        let operand = |operand: &GemmOperand| Operand {
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

    /// How many products there are.
    pub fn batches(&self) -> usize {
        self.batch.iter().product()
    }

    /// Whether the rows of the left operand are what is contiguous in it.
    pub fn is_turned(&self) -> bool {
        let [a, _, _] = &self.operands;
        a.row == 1 && a.column != 1
    }

    /// Where the matrix of operand `a`, `b` or `c` begins for a flat batch index, and its distances to the next
    /// row and column.
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
