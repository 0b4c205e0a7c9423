//! The block of memory a call's code reads its operands from and keeps its state in.
//!
//! Words come first, then vectors of 64 bytes: values that are the same in every lane are kept in all
//! lanes, so that any vector instruction can take them from memory at any width.

use super::Isa;
use inflight_ir::DType;
use inflight_ir::kernel::{AccessId, Kernel, Kind, Level, Schedule, VectorAxis};

/// The address of the constants.
pub(super) const CONSTANT_POOL: i32 = 0;
/// How many programs along the innermost grid axis are left.
pub(super) const PROGRAMS_LEFT: i32 = 8;
/// The number of points of the vector axis.
pub(super) const VECTOR_EXTENT: i32 = 16;
/// That number rounded down to 1, 2 and 4 vectors.
pub(super) const UNROLL_LIMITS: [i32; 3] = [24, 32, 40];
/// The extents of the reduce axes.
pub(super) const REDUCE_EXTENTS: i32 = 48;
/// How many points of each reduce axis are left.
pub(super) const REDUCE_COUNTERS: i32 = 72;
const ACCESSES: i32 = 96;

/// The most reduce axes that code is made for.
pub(super) const MAX_REDUCE_RANK: usize = 3;

/// The words of one access: pointers in bytes, or positions in elements.
pub(super) const ACCESS_WORDS: usize = 9;
/// The pointer of the current program.
pub(super) const PROGRAM_POINTER: i32 = 0;
/// The pointer of the current row of the current program, when it is not in a register.
pub(super) const ROW_POINTER: i32 = 8;
/// From one program to the next along the innermost grid axis.
pub(super) const GRID_STEP: i32 = 16;
/// From the end of a row of each reduce axis to the start of the next.
pub(super) const REDUCE_STEP: i32 = 24;
/// From one point of the vector axis to the next.
pub(super) const VECTOR_STEP: i32 = 48;
/// From one value of the index to the next.
pub(super) const INDEX_STEP: i32 = 56;
/// The pointer with the index of the current row taken in, when it is not in a register.
pub(super) const INDEXED_POINTER: i32 = 64;

/// The words of one scratch array.
pub(super) const ARRAY_WORDS: usize = 3;
/// Where it starts.
pub(super) const ARRAY_BASE: i32 = 0;
/// The pointer of the current row, when it is not in a register.
pub(super) const ARRAY_ROW_POINTER: i32 = 8;
/// From one row to the next.
pub(super) const ARRAY_ROW_STEP: i32 = 16;

/// Where everything is that depends on the kernel.
#[derive(Clone, Debug)]
pub(super) struct ArgumentLayout {
    /// Elements of a full vector.
    pub(super) lanes: usize,
    arrays: i32,
    vectors: i32,
    scalars: usize,
    slots: usize,
    /// The positions that have lane offsets among the vectors.
    pub(super) offsets: Vec<(AccessId, DType)>,
}

/// Bytes of a value of this dtype in a lane of a register.
pub(super) fn lane_size(dtype: DType) -> usize {
    if dtype.size() > 4 { 8 } else { 4 }
}

/// The most instructions of a tile whose time is that of reading it.
const LIGHT: usize = 3;

/// Whether a kernel does little more than read rows and fold them. Rows that are not in the first cache arrive
/// faster in vectors of 256 bits: a sum of 16 MiB was measured to take 187 µs, and 207 µs in those of 512.
fn is_light_fold(kernel: &Kernel) -> bool {
    let levels = kernel.levels();
    let of_tile =
        kernel.body.iter().zip(levels).filter(|(instruction, level)| {
            *level == Level::Tile || instruction.kind.is_reduction()
        });
    let folds = kernel.body.iter().any(|instruction| instruction.kind.is_reduction());
    folds && kernel.vector == VectorAxis::Reduced && of_tile.count() <= LIGHT
}

impl ArgumentLayout {
    pub(super) fn new(kernel: &Kernel, schedule: &Schedule, isa: Isa) -> ArgumentLayout {
        let wide = super::gather_scatter::needs_wide_lanes(kernel);
        let lanes = match isa {
            Isa::Avx512 if !wide && is_light_fold(kernel) => 8,
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

    /// The words of an access.
    pub(super) fn access(&self, access: usize) -> i32 {
        ACCESSES + (8 * ACCESS_WORDS * access) as i32
    }

    /// The words of a scratch array; column arrays come before tile arrays.
    pub(super) fn array(&self, array: usize) -> i32 {
        self.arrays + (8 * ARRAY_WORDS * array) as i32
    }

    /// The vector of a launch scalar.
    pub(super) fn scalar(&self, scalar: usize) -> i32 {
        self.vectors + 64 * scalar as i32
    }

    /// The vector of a value kept for a whole program.
    pub(super) fn slot(&self, slot: usize) -> i32 {
        self.scalar(self.scalars + slot)
    }

    /// The vector of a position's steps from lane 0 to each lane.
    pub(super) fn lane_offsets(&self, index: usize) -> i32 {
        self.slot(self.slots + index)
    }

    /// A vector for the lanes of an index.
    pub(super) fn indices(&self) -> i32 {
        self.slot(self.slots + self.offsets.len())
    }

    /// A vector for the lanes of a value that is combined one by one.
    pub(super) fn combined(&self) -> i32 {
        self.slot(self.slots + self.offsets.len() + 1)
    }

    /// The vector of a spilled register.
    pub(super) fn spill(&self, spill: usize) -> i32 {
        self.slot(self.slots + self.offsets.len() + 2 + spill)
    }
}
