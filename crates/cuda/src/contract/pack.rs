//! Packing the operands of a product in TF32 into halves. See [`packed`](crate::text::packed) for what that is.

use super::plain::PlainLaunch;
use crate::device::{AwaitedFunction, Shared};
use crate::driver::Function;
use crate::text::packed::{GROUP, HEADER_BYTES, MOST_BLOCKS, TEXT, THREADS};
use std::sync::Arc;

/// A block has so many groups of numbers at least.
const LEAST_GROUPS: usize = 2 * THREADS as usize;

/// The kernel that packs.
pub fn function(shared: &Arc<Shared>) -> AwaitedFunction {
    shared.function(&TEXT)
}

/// A matrix of `f32` whose lines are contiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub lines: usize,
    pub columns: usize,
    /// From one line to the next, in elements.
    pub leading: usize,
    /// Of the first element.
    pub offset: isize,
}

/// A packed matrix, on the device.
#[derive(Clone, Copy)]
pub struct Packed {
    pub halves: u64,
    /// From one line to the next.
    pub leading: usize,
    /// What is known of it besides.
    pub header: u64,
}

impl Packed {
    /// As a kernel that multiplies takes it.
    pub fn words(&self) -> [u64; 3] {
        [self.header, self.halves, self.leading as u64]
    }
}

impl Matrix {
    /// Groups of numbers in a line.
    fn line_groups(&self) -> usize {
        self.columns.div_ceil(GROUP)
    }

    fn groups(&self) -> usize {
        self.lines * self.line_groups()
    }

    fn halves_bytes(&self) -> usize {
        self.groups() * GROUP * 2
    }

    /// What it takes, packed.
    pub fn bytes(&self) -> usize {
        self.halves_bytes() + HEADER_BYTES
    }

    /// Whether the kernel can count its groups.
    pub fn is_countable(&self) -> bool {
        self.groups() < 1 << 31
    }

    /// The launch that packs it, from one address to another, and what it then is. `counter` is the address of a word that
    /// is zero between launches. If `first`, which is packed before, is of no use, neither is this.
    pub fn pack(
        &self,
        function: &Arc<Function>,
        [from, to]: [u64; 2],
        counter: u64,
        first: Option<Packed>,
    ) -> (PlainLaunch, Packed) {
        let blocks = self.groups().div_ceil(LEAST_GROUPS).min(MOST_BLOCKS);
        let block_groups = self.groups().div_ceil(blocks);
        let header = to + self.halves_bytes() as u64;
        let at = from.wrapping_add_signed(self.offset as i64 * 4);
        let other = first.map_or(0, |first| first.header);
        let extents = [self.leading, self.lines, self.columns];
        let groups = [self.line_groups(), block_groups, self.groups()];
        let mut words = vec![at, to, header, counter, other];
        words.extend(extents.iter().chain(&groups).map(|&word| word as u64));
        let (function, blocks) = (function.clone(), blocks as u32);
        let launch = PlainLaunch { function, blocks, threads: THREADS, words };
        (launch, Packed { halves: to, leading: self.line_groups() * GROUP, header })
    }
}
