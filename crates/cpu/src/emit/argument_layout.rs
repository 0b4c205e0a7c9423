//! Layout of the argument block: the memory through which an emitted function receives its operands and in which
//! it keeps loop counters, uniform values and register spill slots.
//!
//! 8-byte words come first, then 64-byte vectors. Uniform values are stored splat across all lanes, so that a
//! vector instruction of any width can use them as a memory operand.

use super::Isa;
use inflight_ir::DType;
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Schedule, VectorAxis};

/// Address of the constant pool.
pub(super) const CONSTANT_POOL: i32 = 0;
/// Remaining programs along the innermost grid axis.
pub(super) const PROGRAMS_LEFT: i32 = 8;
/// Extent of the vector axis.
pub(super) const VECTOR_EXTENT: i32 = 16;
/// That extent rounded down to a multiple of 1, 2 and 4 vectors: the bounds of the unrolled loops.
pub(super) const UNROLL_LIMITS: [i32; 3] = [24, 32, 40];
/// Extents of the reduce axes.
pub(super) const REDUCE_EXTENTS: i32 = 48;
/// Remaining iterations of each reduce axis.
pub(super) const REDUCE_COUNTERS: i32 = 72;
const ACCESSES: i32 = 96;

/// Maximum number of reduce axes of emitted kernels.
pub(super) const MAX_REDUCE_RANK: usize = 3;

/// BlockWords per access: pointers in bytes, or positions in elements.
pub(super) const ACCESS_WORDS: usize = 9;
/// Pointer of the current program.
pub(super) const PROGRAM_POINTER: i32 = 0;
/// Pointer of the current row of the current program, unless it is in a register.
pub(super) const ROW_POINTER: i32 = 8;
/// Step to the next program along the innermost grid axis.
pub(super) const GRID_STEP: i32 = 16;
/// Step from the end of a row of each reduce axis to the start of the next row.
pub(super) const REDUCE_STEP: i32 = 24;
/// Step to the next point of the vector axis.
pub(super) const VECTOR_STEP: i32 = 48;
/// Step for an index increment of one.
pub(super) const INDEX_STEP: i32 = 56;
/// Row pointer with the current row's index folded in, unless it is in a register.
pub(super) const INDEXED_POINTER: i32 = 64;

/// BlockWords per scratch array.
pub(super) const ARRAY_WORDS: usize = 3;
/// Base address.
pub(super) const ARRAY_BASE: i32 = 0;
/// Pointer of the current row, unless it is in a register.
pub(super) const ARRAY_ROW_POINTER: i32 = 8;
/// Step to the next row.
pub(super) const ARRAY_ROW_STEP: i32 = 16;

/// Kernel-dependent offsets into the argument block.
#[derive(Clone, Debug)]
pub(super) struct ArgumentLayout {
    /// Lanes of a full vector.
    pub(super) lanes: usize,
    arrays: i32,
    vectors: i32,
    scalars: usize,
    slots: usize,
    /// Positions with a lane offset vector in the argument block.
    pub(super) offsets: Vec<(AccessId, DType)>,
}

/// Bytes per lane of a register that holds this dtype.
pub(super) fn lane_size(dtype: DType) -> usize {
    if dtype.size() > 4 { 8 } else { 4 }
}

/// Maximum tile instructions of a memory-bound reduction.
const MAX_MEMORY_BOUND_INSTRUCTIONS: usize = 3;

/// Whether a kernel is a memory-bound row reduction. Rows outside the L1 cache stream faster through 256-bit
/// vectors: a sum of 16 MiB takes 187 µs, against 207 µs with 512-bit vectors.
fn is_memory_bound_reduction(kernel: &Kernel) -> bool {
    let levels = kernel.levels();
    let of_tile =
        kernel.body.iter().zip(levels).filter(|(instruction, level)| {
            *level == Level::Tile || instruction.kind.is_reduction()
        });
    let folds = kernel.body.iter().any(|instruction| instruction.kind.is_reduction());
    folds
        && kernel.vector == VectorAxis::Reduced
        && of_tile.count() <= MAX_MEMORY_BOUND_INSTRUCTIONS
}

impl ArgumentLayout {
    pub(super) fn new(kernel: &Kernel, schedule: &Schedule, isa: Isa) -> ArgumentLayout {
        let wide = super::gather_scatter::needs_wide_lanes(kernel);
        let lanes = match isa {
            Isa::Avx512 if !wide && is_memory_bound_reduction(kernel) => 8,
            Isa::Avx512 => 16,
            Isa::Avx2 => 8,
        } >> wide as usize;
        let arrays = ACCESSES + (8 * ACCESS_WORDS * kernel.accesses.len()) as i32;
        let array_count = schedule.columns.len() + schedule.tiles.len();
        let vectors = (arrays + (8 * ARRAY_WORDS * array_count) as i32 + 63) & !63;
        let mut offsets = Vec::new();
        for instruction in &kernel.body {
            if let Kind::Position(access) = instruction.kind
                && !offsets.contains(&(access, instruction.dtype))
            {
                offsets.push((access, instruction.dtype));
            }
        }
        ArgumentLayout {
            lanes,
            arrays,
            vectors,
            scalars: kernel.scalars.len(),
            slots: schedule.slots.len(),
            offsets,
        }
    }

    /// Offset of an access's words.
    pub(super) fn access(&self, access: usize) -> i32 {
        ACCESSES + (8 * ACCESS_WORDS * access) as i32
    }

    /// Offset of a scratch array's words. Column arrays precede tile arrays.
    pub(super) fn array(&self, array: usize) -> i32 {
        self.arrays + (8 * ARRAY_WORDS * array) as i32
    }

    /// Offset of a launch scalar's vector.
    pub(super) fn scalar(&self, scalar: usize) -> i32 {
        self.vectors + 64 * scalar as i32
    }

    /// Offset of a uniform value's vector, live for a whole program.
    pub(super) fn slot(&self, slot: usize) -> i32 {
        self.scalar(self.scalars + slot)
    }

    /// Offset of the vector with a position's offset from lane 0 to each lane.
    pub(super) fn lane_offsets(&self, index: usize) -> i32 {
        self.slot(self.slots + index)
    }

    /// Offset of the vector that holds the index lanes of a gather or scatter.
    pub(super) fn index_lanes(&self) -> i32 {
        self.slot(self.slots + self.offsets.len())
    }

    /// Offset of the vector that holds the lanes of a serialized combining store.
    pub(super) fn combine_lanes(&self) -> i32 {
        self.slot(self.slots + self.offsets.len() + 1)
    }

    /// Offset of a register spill slot.
    pub(super) fn spill(&self, spill: usize) -> i32 {
        self.slot(self.slots + self.offsets.len() + 2 + spill)
    }
}
