//! Block interpreter: the portable backend, which runs any kernel of any dtype on any CPU.
//!
//! Values are blocks of a few hundred elements that stay in the L1 cache. Each instruction is one loop over a
//! block, which rustc auto-vectorizes. [`Program::new`] makes every decision that depends on the kernel alone:
//! the passes, the loop function of each instruction, and the storage of each value. Execution then iterates over
//! the domain and calls these functions.
//!
//! - [`mod@compile`]: translates a kernel into steps on virtual registers;
//! - [`execute`]: runs the steps over a part of a launch;
//! - [`elementwise`], [`dispatch`], [`cast`], [`reduce`], [`load_store`]: the loops, by op and dtype;
//! - [`element`], [`complex`]: the arithmetic of one element.

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

/// Maximum elements per block.
const MAX_BLOCK: usize = 512;

/// Minimum elements per block when many values are live at once.
const MIN_BLOCK: usize = 128;

/// Budget in bytes of the L1 cache for blocks; operands in memory need the rest.
const BLOCK_CACHE_BYTES: usize = 24 << 10;

/// A kernel compiled for interpretation.
pub struct Program {
    kernel: Kernel,
    compiled: CompiledProgram,
    /// Scratch memory offset of each slot, unless it is dynamic.
    offsets: Vec<Option<usize>>,
    /// Bytes of scratch memory without the tile arrays.
    fixed_bytes: usize,
    /// Elements per block.
    block: usize,
}

impl Program {
    /// Compiles a verified kernel.
    pub fn new(kernel: &Kernel) -> Program {
        Program::from_expanded(expand(kernel))
    }

    /// Compiles a kernel without expanding it. Expansion affects only speed and accuracy.
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
    /// Only the part with the first point of the vector axis executes the stores of program-level values.
    ///
    /// # Safety
    /// The buffers contain every address that the shape's maps reach, are aligned for their dtypes, and do not
    /// alias in ways that the kernel writes: what one point of the domain writes, no other reads or writes.
    pub unsafe fn run(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        // SAFETY: guaranteed by the caller.
        unsafe { execute::run(self, call, part, scratch) }
    }
}
