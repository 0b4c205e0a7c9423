//! Transposing kernels: an access that jumps along the vector axis while it is contiguous along the
//! innermost grid axis.
//!
//! The plane of the two axes is walked in squares. What such an access reads is first copied, with the
//! axes exchanged, into a square in the cache, and what it writes is copied back from one. So memory is
//! touched in whole lines, and the code, made for contiguous accesses, runs on neighbours.

use super::driver::{Arguments, Block, blocks};
use super::layout;
use super::transpose::{Rows, transpose};
use super::{Code, Unsupported};
use crate::call::{Call, Scratch};
use inflight_ir::kernel::{Kernel, Kind, Stride, VectorAxis};
use std::ops::Range;

/// The side of a square.
const SIDE: usize = 64;
/// Bytes of a square of the largest elements.
const SQUARE_BYTES: usize = SIDE * SIDE * 8;

/// Code for a kernel whose strided accesses are copied.
pub(super) struct Squares {
    code: Box<Code>,
    copied: Vec<Copied>,
}

/// An access that goes through a square.
struct Copied {
    access: usize,
    size: usize,
    is_read: bool,
    is_written: bool,
}

impl Squares {
    /// The code for squares, for kernels that may need it.
    pub(super) fn compile(
        kernel: &Kernel,
        compile: &mut dyn FnMut(Kernel) -> Result<Code, Unsupported>,
    ) -> Result<Option<Squares>, Unsupported> {
        let plane = kernel.grid_rank > 0 && kernel.reduce_rank == 0;
        if !plane || kernel.vector != VectorAxis::Parallel {
            return Ok(None);
        }
        let mut straight = kernel.clone();
        let mut copied: Vec<Copied> = Vec::new();
        for instruction in &kernel.body {
            let (access, mask, writes) = match instruction.kind {
                // What an index leads to is no square, and a square that is combined with is not there.
                Kind::Load { index: Some(_), .. }
                | Kind::Store { index: Some(_), .. }
                | Kind::Store { combine: Some(_), .. } => return Ok(None),
                Kind::Load { access, mask, .. } => (access as usize, mask, false),
                Kind::Store { access, mask, .. } => (access as usize, mask, true),
                _ => continue,
            };
            if kernel.accesses[access].vector != Stride::Any {
                continue;
            }
            // A copy of the whole square would touch what the mask forbids.
            if mask.is_some() {
                return Ok(None);
            }
            straight.accesses[access].vector = Stride::One;
            let index = copied.iter().position(|copy| copy.access == access).unwrap_or_else(|| {
                let size = instruction.dtype.size();
                copied.push(Copied { access, size, is_read: false, is_written: false });
                copied.len() - 1
            });
            copied[index].is_read |= !writes;
            copied[index].is_written |= writes;
        }
        if copied.is_empty() {
            return Ok(None);
        }
        let code = compile(straight)?;
        Ok(Some(Squares { code: Box::new(code), copied }))
    }

    /// Its code.
    pub(super) fn code(&self) -> &Code {
        &self.code
    }

    /// Whether a launch is one that squares are for.
    pub(super) fn suit(&self, call: &Call) -> bool {
        let inner = self.code.kernel.grid_rank - 1;
        let step = |copy: &Copied, axis: usize| call.shape.accesses[copy.access].strides[axis];
        let all_copy = self.copied.iter().all(|copy| step(copy, inner) == 1);
        // A row of a few elements is not worth a copy.
        all_copy && call.shape.extents[inner] >= 4
    }

    /// Runs some programs along the innermost grid axis.
    ///
    /// # Safety
    /// As for [`Code::run`].
    pub(super) unsafe fn run(
        &self,
        call: &Call,
        grid: usize,
        inner: Range<usize>,
        vector: Range<usize>,
        scratch: &mut Scratch,
    ) {
        let code = &self.code;
        let rank = code.kernel.grid_rank;
        let header = code.header();
        let start = scratch.bytes(header + self.copied.len() * SQUARE_BYTES);
        let arguments = Arguments { start };
        let square = |index: usize| {
            let size = self.copied[index].size;
            let start = start.wrapping_add(header + index * SQUARE_BYTES);
            Rows { start, step: (SIDE * size) as isize }
        };
        // SAFETY: the block is as long as the layout says.
        unsafe {
            code.fill(&arguments, call);
            for (index, copy) in self.copied.iter().enumerate() {
                let words = code.layout.access(copy.access);
                arguments.word(words + layout::GRID_STEP, square(index).step as usize);
            }
        }
        for rows in blocks(inner, SIDE) {
            for columns in blocks(vector.clone(), SIDE) {
                let block = Block { grid, inner: rows.clone(), vector: columns.clone() };
                let memory = |copy: &Copied| Rows {
                    start: code.pointer(copy.access, call, &block),
                    step: call.shape.accesses[copy.access].strides[rank] * copy.size as isize,
                };
                let (inner, outer) = (rows.len(), columns.len());
                // SAFETY: the block is within the part. A row of memory goes along the innermost grid
                // axis, a row of a square along the vector axis.
                unsafe {
                    code.place(&arguments, call, &block);
                    for (index, copy) in self.copied.iter().enumerate() {
                        let row = code.layout.access(copy.access) + layout::ROW;
                        arguments.word(row, square(index).start.expose_provenance());
                        if copy.is_read {
                            transpose(copy.size, memory(copy), square(index), outer, inner);
                        }
                    }
                    code.enter(&arguments);
                    for (index, copy) in self.copied.iter().enumerate() {
                        if copy.is_written {
                            transpose(copy.size, square(index), memory(copy), inner, outer);
                        }
                    }
                }
            }
        }
    }
}
