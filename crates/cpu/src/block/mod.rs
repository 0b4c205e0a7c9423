//! The portable block interpreter: runs any kernel, of any dtype, on any CPU.
//!
//! Values are blocks of a few hundred elements that stay in the first cache, and each instruction is one
//! plain loop over a block, which the compiler turns into vector code. What can be decided from the kernel
//! alone is decided once, in [`Program::new`]: the passes, the function of each instruction, and which
//! memory each value is in. Running is then a walk over the domain that calls functions.
//!
//! - [`prepare`]: from a kernel to steps on named memory;
//! - [`walk`]: runs the steps over a part of a launch;
//! - [`apply`], [`table`], [`cast`], [`fold`], [`memory`]: the loops, by op and dtype;
//! - [`number`], [`complex`]: the arithmetic of one element.

mod cast;
mod compile;
mod complex;
mod dispatch;
mod element;
mod elementwise;
mod execute;
mod load_store;
mod reduce;
#[cfg(test)]
mod tests;

use crate::call::{Call, Part, Scratch};
use compile::{CompiledProgram, SlotKind, compile};
use inflight_ir::kernel::{Kernel, expand, schedule};

/// The most elements of a block.
const MAX_BLOCK: usize = 512;

/// The fewest elements that a block is cut down to when there are many values alive at once.
const MIN_BLOCK: usize = 128;

/// Bytes of the first cache that blocks may take; operands in memory need the rest.
const BLOCK_CACHE_BYTES: usize = 24 << 10;

/// A kernel, compiled to be interpreted.
pub struct Program {
    kernel: Kernel,
    compiled: CompiledProgram,
    /// For each entry of the table, its place in scratch memory, if it has one that does not move.
    offsets: Vec<Option<usize>>,
    /// Bytes of scratch memory apart from tile arrays.
    fixed_bytes: usize,
    /// Elements of a block.
    block: usize,
}

impl Program {
    /// Prepares a verified kernel.
    pub fn new(kernel: &Kernel) -> Program {
        Program::from_expanded(expand(kernel))
    }

    /// Prepares a kernel as it is. Nothing but the speed and accuracy of functions depends on expansion.
    fn from_expanded(kernel: Kernel) -> Program {
        let compiled = compile(&kernel, &schedule(&kernel));
        let bytes = |kind: &SlotKind| match kind {
            SlotKind::Block(size) => *size,
            _ => 0,
        };
        let block_bytes: usize = compiled.slot_kinds.iter().map(bytes).sum();
        let mut block = MAX_BLOCK;
        while block > MIN_BLOCK && block * block_bytes > BLOCK_CACHE_BYTES {
            block /= 2;
        }
        let mut fixed_bytes = 0usize;
        let offsets = compiled.slot_kinds.iter().map(|kind| {
            let bytes = match kind {
                SlotKind::Cell => 16,
                SlotKind::Accumulator => reduce::ACCUMULATOR_BYTES,
                SlotKind::Block(size) | SlotKind::ColdBlock(size) => block * size,
                SlotKind::Dynamic => return None,
            };
            let align = if bytes == 16 { 16 } else { 64 };
            let offset = fixed_bytes.next_multiple_of(align);
            fixed_bytes = offset + bytes;
            Some(offset)
        });
        let offsets = offsets.collect();
        Program { kernel, compiled, offsets, fixed_bytes, block }
    }

    /// Runs a part of a launch.
    ///
    /// A store of one value for a whole program runs in the part that holds the first point of the vector
    /// axis alone.
    ///
    /// # Safety
    /// The buffers cover every address that the shape's maps reach, are aligned for their dtypes, and do
    /// not alias in ways the kernel writes: what one point of the domain writes, no other reads or writes.
    pub unsafe fn run(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        // SAFETY: the caller's promise.
        unsafe { execute::run(self, call, part, scratch) }
    }
}
