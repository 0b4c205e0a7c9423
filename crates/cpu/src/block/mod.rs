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

mod apply;
mod cast;
mod complex;
mod fold;
mod memory;
mod number;
mod prepare;
mod table;
#[cfg(test)]
mod tests;
mod walk;

use crate::call::{Call, Part, Scratch};
use inflight_ir::kernel::{Kernel, expand, schedule};
use prepare::{Location, Prepared, prepare};

/// The most elements of a block.
const BLOCK: usize = 512;

/// The fewest elements that a block is cut down to when there are many values alive at once.
const SMALLEST_BLOCK: usize = 128;

/// Bytes of the first cache that blocks may take; operands in memory need the rest.
const BLOCK_BYTES: usize = 24 << 10;

/// A kernel, prepared to be interpreted.
pub struct Program {
    kernel: Kernel,
    prepared: Prepared,
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
        Program::of_expanded(expand(kernel))
    }

    /// Prepares a kernel as it is. Nothing but the speed and accuracy of functions depends on expansion.
    fn of_expanded(kernel: Kernel) -> Program {
        let prepared = prepare(&kernel, &schedule(&kernel));
        let bytes = |location: &Location| match location {
            Location::Block(size) => *size,
            _ => 0,
        };
        let block_bytes: usize = prepared.locations.iter().map(bytes).sum();
        let mut block = BLOCK;
        while block > SMALLEST_BLOCK && block * block_bytes > BLOCK_BYTES {
            block /= 2;
        }
        let mut fixed_bytes = 0usize;
        let offsets = prepared.locations.iter().map(|location| {
            let bytes = match location {
                Location::Cell => 16,
                Location::Lanes => fold::LANES_BYTES,
                Location::Block(size) | Location::Spare(size) => block * size,
                Location::Moving => return None,
            };
            let align = if bytes == 16 { 16 } else { 64 };
            let offset = fixed_bytes.next_multiple_of(align);
            fixed_bytes = offset + bytes;
            Some(offset)
        });
        let offsets = offsets.collect();
        Program { kernel, prepared, offsets, fixed_bytes, block }
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
        unsafe { walk::run(self, call, part, scratch) }
    }
}
