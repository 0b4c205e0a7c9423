//! Transposing kernels: an access that jumps along the vector axis while it is contiguous along the
//! innermost grid axis.
//!
//! The plane of the two axes is walked in squares. What such an access reads is first copied, with the
//! axes exchanged, into a square in the cache, and what it writes is copied back from one. So memory is
//! touched in whole lines, and the code, made for contiguous accesses, runs on neighbours. A kernel that does
//! nothing else is copied from memory to memory.

use super::driver::{Arguments, Block, blocks};
use super::layout;
use super::transpose::{Rows, Stores, finish, prefetch, transpose};
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
    /// What is read beside them where it lies: accesses and the bytes of an element.
    beside: Vec<(usize, usize)>,
    /// The load and the store of a kernel that has nothing but these.
    moves: Option<(usize, usize)>,
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
        let beside = kernel.body.iter().filter_map(|instruction| match instruction.kind {
            Kind::Load { access, .. } => {
                let access = access as usize;
                let contiguous = kernel.accesses[access].vector == Stride::One;
                contiguous.then_some((access, instruction.dtype.size()))
            }
            _ => None,
        });
        let beside = beside.collect();
        Ok(Some(Squares { code: Box::new(code), copied, beside, moves: moves(kernel) }))
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

    /// Whether the kernel does nothing but move elements.
    pub(super) fn moves(&self) -> bool {
        self.moves.is_some()
    }

    /// Whether results, if they are large, can be written around the caches: what goes through a square cannot.
    pub(super) fn may_stream(&self) -> bool {
        self.moves.is_some() || !self.copied.iter().any(|copy| copy.is_written)
    }

    /// Runs some programs along the innermost grid axis. With `streaming`, results go around the caches: they begin
    /// at multiples of a line.
    ///
    /// # Safety
    /// As for [`Code::run`].
    pub(super) unsafe fn run(
        &self,
        call: &Call,
        grid: usize,
        inner: Range<usize>,
        vector: Range<usize>,
        streaming: bool,
        scratch: &mut Scratch,
    ) {
        if let Some(moves) = self.moves {
            let block = Block { grid, inner, vector };
            // SAFETY: promised by the caller.
            return unsafe { self.copy(call, moves, &block, streaming) };
        }
        let code = match streaming {
            true => self.code.streaming().unwrap_or(&self.code),
            false => &self.code,
        };
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
        // Along the rows of what is copied first: their next lines are fetched ahead.
        for columns in blocks(vector, SIDE) {
            for rows in blocks(inner.clone(), SIDE) {
                let block = Block { grid, inner: rows.clone(), vector: columns.clone() };
                let memory = |copy: &Copied| Rows {
                    start: code.pointer(copy.access, call, &block),
                    step: call.shape.accesses[copy.access].strides[rank] * copy.size as isize,
                };
                let (inner, outer) = (rows.len(), columns.len());
                // It is here when the copies are made.
                for &(access, size) in &self.beside {
                    let start = code.pointer(access, call, &block);
                    let step = call.shape.accesses[access].strides[rank - 1] * size as isize;
                    prefetch(Rows { start, step }, inner, outer * size);
                }
                // SAFETY: the block is within the part. A row of memory goes along the innermost grid
                // axis, a row of a square along the vector axis.
                unsafe {
                    code.place(&arguments, call, &block);
                    for (index, copy) in self.copied.iter().enumerate() {
                        let row = code.layout.access(copy.access) + layout::ROW;
                        arguments.word(row, square(index).start.expose_provenance());
                        if copy.is_read {
                            let (from, to) = (memory(copy), square(index));
                            transpose(copy.size, from, to, outer, inner, Stores::Cached);
                        }
                    }
                    code.enter(&arguments);
                    for (index, copy) in self.copied.iter().enumerate() {
                        if copy.is_written {
                            let (from, to) = (square(index), memory(copy));
                            transpose(copy.size, from, to, inner, outer, Stores::Cached);
                        }
                    }
                }
            }
        }
    }

    /// Copies a block from memory to memory with its axes exchanged.
    ///
    /// # Safety
    /// As for [`Code::run`].
    unsafe fn copy(
        &self,
        call: &Call,
        (load, store): (usize, usize),
        block: &Block,
        streaming: bool,
    ) {
        let kernel = &self.code.kernel;
        let (inner, vector) = (kernel.grid_rank - 1, kernel.grid_rank);
        let size = self.copied[0].size;
        let rows = |access: usize, axis: usize| Rows {
            start: self.code.pointer(access, call, block),
            step: call.shape.accesses[access].strides[axis] * size as isize,
        };
        let (across, along) = (block.inner.len(), block.vector.len());
        // The side that is copied has its rows along the vector axis.
        let (from, to, height, width) = match self.copied[0].is_read {
            true => (rows(load, vector), rows(store, inner), along, across),
            false => (rows(load, inner), rows(store, vector), across, along),
        };
        let lines = |start: usize| start.is_multiple_of(64);
        let aligned = lines(to.start.addr()) && lines(to.step.unsigned_abs());
        let stores =
            if streaming && aligned && size >= 4 { Stores::Around } else { Stores::Cached };
        // SAFETY: promised by the caller: the block is within the part.
        unsafe { transpose(size, from, to, height, width, stores) };
        finish(stores);
    }
}

/// The load and the store of a kernel that is nothing else.
fn moves(kernel: &Kernel) -> Option<(usize, usize)> {
    let [load, store] = &kernel.body[..] else { return None };
    let Kind::Load { access: load, .. } = load.kind else { return None };
    let Kind::Store { access: store, value: 0, .. } = store.kind else { return None };
    let strided = |access: u32| kernel.accesses[access as usize].vector == Stride::Any;
    // If both jump, neither is a row of the other.
    let one = strided(load) != strided(store);
    let other = if strided(load) { store } else { load };
    let contiguous = kernel.accesses[other as usize].vector == Stride::One;
    (one && contiguous).then_some((load as usize, store as usize))
}
