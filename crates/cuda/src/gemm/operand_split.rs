//! Operand splits of `f32` GEMMs: packs operands into one scaled `f16` or three `bf16` per element. See
//! [`packed`](crate::codegen::scaled_f16_split) and [`split`](crate::codegen::bf16x3_split) for the kernels.

use super::simt_gemm::GemmKernelLaunch;
use crate::codegen::bf16x3_split;
use crate::codegen::scaled_f16_split::{self, HEADER_BYTES};
use crate::codegen::split_groups::{GROUP, MAX_BLOCKS, THREADS};
use crate::device::{FunctionTask, Shared};
use crate::driver::Function;
use std::sync::Arc;

/// Fewest groups of elements per block.
const MIN_BLOCK_GROUPS: usize = 2 * THREADS as usize;

/// The kind of operand split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandSplit {
    /// One `f16` per element, with a common exponent.
    ScaledF16,
    /// Three `bf16` per element.
    Bf16x3,
}

impl OperandSplit {
    /// 16-bit floats per element.
    fn parts(self) -> usize {
        match self {
            OperandSplit::ScaledF16 => 1,
            OperandSplit::Bf16x3 => 3,
        }
    }

    /// The kernel that packs a matrix.
    pub fn function(self, shared: &Arc<Shared>) -> FunctionTask {
        shared.function(match self {
            OperandSplit::ScaledF16 => &scaled_f16_split::TEXT,
            OperandSplit::Bf16x3 => &bf16x3_split::TEXT,
        })
    }
}

/// An `f32` matrix with contiguous lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandMatrix {
    /// The number of lines.
    pub lines: usize,
    /// Elements of a line.
    pub columns: usize,
    /// The distance of lines, in elements.
    pub leading: usize,
    /// The offset of the first element.
    pub offset: isize,
}

/// A packed matrix on the device.
#[derive(Clone, Copy)]
pub struct PackedMatrix {
    /// The address of its 16-bit floats.
    pub data: u64,
    /// The distance of lines, in elements.
    pub leading: usize,
    /// Lines of each part.
    pub lines: usize,
    /// The address of its header: the exponent and exceptions of a scaled-f16 split, or the flags of a bf16x3 split.
    pub header: u64,
    /// The blocks that packed it, which is the number of flags in the header.
    pub blocks: u32,
}

impl OperandMatrix {
    /// Groups of elements in a line.
    fn line_groups(&self) -> usize {
        self.columns.div_ceil(GROUP)
    }

    fn groups(&self) -> usize {
        self.lines * self.line_groups()
    }

    /// Bytes of one 16-bit float per element.
    fn part_bytes(&self) -> usize {
        self.groups() * GROUP * 2
    }

    /// The bytes of the packed matrix.
    pub fn packed_bytes(&self, split: OperandSplit) -> usize {
        let header = match split {
            OperandSplit::ScaledF16 => HEADER_BYTES,
            OperandSplit::Bf16x3 => 4 * MAX_BLOCKS,
        };
        self.part_bytes() * split.parts() + header
    }

    /// Whether the kernel's 32-bit group index suffices.
    pub fn fits_group_index(&self) -> bool {
        self.groups() < 1 << 31
    }

    /// Blocks of the launch that packs it.
    fn blocks(&self) -> usize {
        self.groups().div_ceil(MIN_BLOCK_GROUPS).min(MAX_BLOCKS)
    }

    /// The address of its first element.
    fn at(&self, address: u64) -> u64 {
        address.wrapping_add_signed(self.offset as i64 * 4)
    }

    /// The launch of the scaled-f16 split, and the packed matrix. `counter` is the address of a word that is zero
    /// between launches. If the split of `first` has failed, this one is skipped.
    pub fn pack_scaled_f16(
        &self,
        function: &Arc<Function>,
        [from, to]: [u64; 2],
        counter: u64,
        first: Option<PackedMatrix>,
    ) -> (GemmKernelLaunch, PackedMatrix) {
        let block_groups = self.groups().div_ceil(self.blocks());
        let packed = self.packed(to, OperandSplit::ScaledF16);
        let other = first.map_or(0, |first| first.header);
        let extents = [self.leading, self.lines, self.columns];
        let groups = [self.line_groups(), block_groups, self.groups()];
        let mut words = vec![self.at(from), to, packed.header, counter, other];
        words.extend(extents.iter().chain(&groups).map(|&word| word as u64));
        (self.launch(function, words), packed)
    }

    /// The launch of the bf16x3 split, and the packed matrix.
    pub fn split_bf16x3(
        &self,
        function: &Arc<Function>,
        [from, to]: [u64; 2],
    ) -> (GemmKernelLaunch, PackedMatrix) {
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

    fn launch(&self, function: &Arc<Function>, words: Vec<u64>) -> GemmKernelLaunch {
        let (function, blocks) = (function.clone(), self.blocks() as u32);
        GemmKernelLaunch { function, blocks, threads: THREADS, words }
    }

    /// The packed matrix at an address.
    fn packed(&self, to: u64, split: OperandSplit) -> PackedMatrix {
        let data = self.part_bytes() * split.parts();
        PackedMatrix {
            data: to,
            leading: self.line_groups() * GROUP,
            lines: self.lines,
            header: to + data as u64,
            blocks: self.blocks() as u32,
        }
    }
}
