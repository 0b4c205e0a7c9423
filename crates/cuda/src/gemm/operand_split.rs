//! Packing the operands of a product into what is multiplied in their place: halves, or thirds. See
//! [`packed`](crate::codegen::scaled_f16_split) and [`split`](crate::codegen::bf16x3_split) for what those are.

use super::plain::PlainLaunch;
use crate::codegen::bf16x3_split;
use crate::codegen::scaled_f16_split::{self, HEADER_BYTES};
use crate::codegen::split_groups::{GROUP, MAX_BLOCKS, THREADS};
use crate::device::{FunctionTask, Shared};
use crate::driver::Function;
use std::sync::Arc;

/// A block has so many groups of numbers at least.
const LEAST_GROUPS: usize = 2 * THREADS as usize;

/// What numbers are packed into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandSplit {
    ScaledF16,
    Bf16x3,
}

impl OperandSplit {
    /// How many there are of each number: one half stands for it, or three thirds do.
    fn count(self) -> usize {
        match self {
            OperandSplit::ScaledF16 => 1,
            OperandSplit::Bf16x3 => 3,
        }
    }

    /// The kernel that packs.
    pub fn function(self, shared: &Arc<Shared>) -> FunctionTask {
        shared.function(match self {
            OperandSplit::ScaledF16 => &scaled_f16_split::TEXT,
            OperandSplit::Bf16x3 => &bf16x3_split::TEXT,
        })
    }
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
    /// The address of its halves, or of its thirds.
    pub numbers: u64,
    /// From one line to the next.
    pub leading: usize,
    /// How many lines there are of each part.
    pub lines: usize,
    /// The address of what is known of it besides.
    pub header: u64,
    /// How many blocks have packed it.
    pub blocks: u32,
}

impl Matrix {
    /// Groups of numbers in a line.
    fn line_groups(&self) -> usize {
        self.columns.div_ceil(GROUP)
    }

    fn groups(&self) -> usize {
        self.lines * self.line_groups()
    }

    /// Bytes of one part of each number.
    fn part_bytes(&self) -> usize {
        self.groups() * GROUP * 2
    }

    /// What it takes, packed.
    pub fn bytes(&self, parts: OperandSplit) -> usize {
        let header = match parts {
            OperandSplit::ScaledF16 => HEADER_BYTES,
            OperandSplit::Bf16x3 => 4 * MAX_BLOCKS,
        };
        self.part_bytes() * parts.count() + header
    }

    /// Whether the kernel can count its groups.
    pub fn is_countable(&self) -> bool {
        self.groups() < 1 << 31
    }

    /// Blocks that go through it.
    fn blocks(&self) -> usize {
        self.groups().div_ceil(LEAST_GROUPS).min(MAX_BLOCKS)
    }

    /// Where it is in memory that begins at an address.
    fn at(&self, address: u64) -> u64 {
        address.wrapping_add_signed(self.offset as i64 * 4)
    }

    /// The launch that packs it into halves, from one address to another, and what it then is. `counter` is the address of a
    /// word that is zero between launches. If `first`, which is packed before, is of no use, neither is this.
    pub fn pack(
        &self,
        function: &Arc<Function>,
        [from, to]: [u64; 2],
        counter: u64,
        first: Option<Packed>,
    ) -> (PlainLaunch, Packed) {
        let block_groups = self.groups().div_ceil(self.blocks());
        let packed = self.packed(to, OperandSplit::ScaledF16);
        let other = first.map_or(0, |first| first.header);
        let extents = [self.leading, self.lines, self.columns];
        let groups = [self.line_groups(), block_groups, self.groups()];
        let mut words = vec![self.at(from), to, packed.header, counter, other];
        words.extend(extents.iter().chain(&groups).map(|&word| word as u64));
        (self.launch(function, words), packed)
    }

    /// The launch that splits it into thirds, from one address to another, and what it then is.
    pub fn split(&self, function: &Arc<Function>, [from, to]: [u64; 2]) -> (PlainLaunch, Packed) {
        let packed = self.packed(to, OperandSplit::Bf16x3);
        let arguments = bf16x3_split::Arguments {
            from: self.at(from),
            to,
            flags: packed.header,
            leading: self.leading,
            columns: self.columns,
            line_groups: self.line_groups(),
            groups: self.groups(),
            clear: 0,
        };
        (self.launch(function, arguments.words()), packed)
    }

    fn launch(&self, function: &Arc<Function>, words: Vec<u64>) -> PlainLaunch {
        let (function, blocks) = (function.clone(), self.blocks() as u32);
        PlainLaunch { function, blocks, threads: THREADS, words }
    }

    /// What it is when it was packed, to an address.
    fn packed(&self, to: u64, parts: OperandSplit) -> Packed {
        let numbers = self.part_bytes() * parts.count();
        Packed {
            numbers: to,
            leading: self.line_groups() * GROUP,
            lines: self.lines,
            header: to + numbers as u64,
            blocks: self.blocks() as u32,
        }
    }
}
