//! Driver of the emitted function: fills the argument block, loops over the outer grid axes, splits the vector
//! axis into blocks, and selects non-temporal stores or the tiled transpose path.

use super::Code;
use super::argument_layout::{self, lane_size};
use super::emitter::splat;
use crate::call::{Call, Part, Scratch};
use inflight_ir::DType;
use inflight_ir::kernel::{Kind, Stride, VectorAxis};
use std::ops::Range;

/// Maximum columns per block of a column reduction.
const MAX_COLUMN_BLOCK: usize = 4096;
/// Budget in bytes for the tile arrays of one block of columns.
const TILE_BUDGET_BYTES: usize = 256 << 10;

/// Results of at least this many bytes use non-temporal stores: cached stores would evict them before they are
/// read. Measured with 32 MiB of cache: non-temporal stores are faster for 16 MiB written and read again, slower
/// for 8 MiB.
const MIN_STREAMED_BYTES: usize = 16 << 20;
/// Launches over fewer points cannot have results of that size.
const MIN_STREAMED_ELEMENTS: usize = MIN_STREAMED_BYTES / 16;
/// Required alignment of non-temporal vector stores.
const VECTOR_BYTES: isize = 64;

/// Signature of emitted code: takes the address of the argument block.
pub(super) type Function = unsafe extern "sysv64" fn(*mut u8);

/// Argument block under construction.
pub(super) struct ArgumentBlock {
    pub(super) start: *mut u8,
}

impl ArgumentBlock {
    /// # Safety
    /// `at` is the offset of a word in the block.
    pub(super) unsafe fn write_word(&self, at: i32, value: usize) {
        // SAFETY: guaranteed by the caller; words are 8-byte aligned in a 64-byte aligned block.
        unsafe { self.start.offset(at as isize).cast::<usize>().write(value) }
    }

    /// # Safety
    /// `at` is the offset of an initialized word in the block.
    pub(super) unsafe fn read_word(&self, at: i32) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe { self.start.offset(at as isize).cast::<usize>().read() }
    }

    /// # Safety
    /// `at` is the offset of a vector in the block.
    unsafe fn write_vector(&self, at: i32, value: [u8; 64]) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.start.offset(at as isize).cast::<[u8; 64]>().write(value) }
    }
}

/// The points that one call of the emitted function covers.
pub(super) struct CallBlock {
    /// Flat index over the grid axes except the innermost.
    pub(super) grid: usize,
    pub(super) inner: Range<usize>,
    pub(super) vector: Range<usize>,
}

impl Code {
    /// Runs a part of a launch.
    ///
    /// # Safety
    /// The call's buffers contain every address that the shape's maps reach from the part's points, the buffers
    /// and scalars match the kernel's, and the CPU supports the instruction set the code was compiled for.
    pub unsafe fn run(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        let streaming = self.can_stream(call, part);
        let transposed = self.transposed.as_ref().filter(|transposed| transposed.applies_to(call));
        let code = match streaming && transposed.is_none() {
            true => self.streaming().unwrap_or(self),
            false => self,
        };
        // SAFETY: guaranteed by the caller. `can_stream` checked the alignment that streaming code requires.
        unsafe { code.run_part(call, part, streaming, scratch) }
    }

    /// Whether a launch should use non-temporal stores: its results do not fit in the cache, and every full
    /// vector store is aligned.
    fn can_stream(&self, call: &Call, part: &Part) -> bool {
        let kernel = &self.kernel;
        let extents = &call.shape.extents;
        let (vector, rows) = extents.split_last().expect("launches have a vector axis");
        if extents.iter().product::<usize>() < MIN_STREAMED_ELEMENTS {
            return false;
        }
        // A pure transpose checks alignment itself.
        let is_pure_transpose =
            match self.transposed.as_ref().filter(|transposed| transposed.applies_to(call)) {
                Some(transposed) if !transposed.can_stream() => return false,
                Some(transposed) => transposed.is_pure_transpose(),
                None => false,
            };
        let mut bytes = 0;
        for instruction in &kernel.body {
            let Kind::Store { access, index, combine, .. } = instruction.kind else { continue };
            if index.is_some() || combine.is_some() {
                return false;
            }
            let (access, size) = (access as usize, instruction.dtype.size());
            if is_pure_transpose {
                bytes += extents.iter().product::<usize>() * size;
                continue;
            }
            if kernel.accesses[access].vector != Stride::One {
                continue;
            }
            let Some(param) = kernel.accesses[access].param else { return false };
            let shape = &call.shape.accesses[access];
            let first = shape.offset + part.vector.start as isize;
            let start = call.buffers[param as usize].addr() as isize + first * size as isize;
            let steps = shape.strides.iter().zip(rows).filter(|(_, extent)| **extent > 1);
            let aligned = |bytes: isize| bytes % VECTOR_BYTES == 0;
            if !aligned(start) || steps.clone().any(|(stride, _)| !aligned(stride * size as isize))
            {
                return false;
            }
            let written = steps.filter(|(stride, _)| **stride != 0).map(|(_, extent)| extent);
            bytes += written.product::<usize>() * vector * size;
        }
        bytes >= MIN_STREAMED_BYTES
    }

    /// Like [`run`](Code::run), but always with cached stores.
    ///
    /// # Safety
    /// As for [`run`](Code::run).
    pub unsafe fn run_in_cache(&self, call: &Call, part: &Part, scratch: &mut Scratch) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.run_part(call, part, false, scratch) }
    }

    /// # Safety
    /// As for [`run`](Code::run); with `streaming`, the results of a tiled transpose begin at multiples of a
    /// cache line.
    unsafe fn run_part(&self, call: &Call, part: &Part, streaming: bool, scratch: &mut Scratch) {
        let kernel = &self.kernel;
        let extents = &call.shape.extents;
        let vector_extent = *extents.last().expect("launches have a vector axis");
        let parallel = kernel.vector == VectorAxis::Parallel;
        if part.grid.is_empty() || (parallel && part.vector.is_empty() && vector_extent > 0) {
            return;
        }
        let vector = if parallel { part.vector.clone() } else { 0..vector_extent };
        // SAFETY: guaranteed by the caller.
        let (arguments, width) = unsafe { self.prepare_arguments(call, vector.len(), scratch) };
        let transposed = self.transposed.as_ref().filter(|transposed| transposed.applies_to(call));
        for (grid, inner) in self.program_runs(call, part) {
            if let Some(transposed) = transposed {
                // SAFETY: the range is within the part.
                unsafe { transposed.run(call, grid, inner, vector.clone(), streaming, scratch) };
                continue;
            }
            for vector in split_range(vector.clone(), width) {
                // SAFETY: the block is within the part and no wider than the scratch arrays.
                unsafe {
                    let block = CallBlock { grid, inner: inner.clone(), vector };
                    self.write_block_arguments(&arguments, call, &block);
                    self.invoke(&arguments);
                }
            }
        }
    }

    /// Prepares a call's argument block except for its per-block words. Returns it with the maximum block width.
    ///
    /// # Safety
    /// As for [`run`](Code::run). The arguments are valid until the scratch memory is used otherwise.
    pub(super) unsafe fn prepare_arguments(
        &self,
        call: &Call,
        points: usize,
        scratch: &mut Scratch,
    ) -> (ArgumentBlock, usize) {
        let kernel = &self.kernel;
        let extents = &call.shape.extents;
        let reduce = &extents[kernel.grid_rank..kernel.grid_rank + kernel.reduce_rank];
        let rows = reduce.iter().product::<usize>().max(1);
        let width = self.block_width(rows).min(points);
        let padded = width.next_multiple_of(self.layout.lanes) + 4 * self.layout.lanes;
        let arguments_bytes = self.argument_block_bytes();
        let columns = self.schedule.columns.len() * padded * 8;
        let tiles = self.schedule.tiles.len() * rows * padded * 8;
        let start = scratch.bytes(arguments_bytes + columns + tiles);
        let arguments = ArgumentBlock { start };
        // SAFETY: the offsets come from the layout, and the block has the layout's size.
        unsafe {
            self.write_launch_arguments(&arguments, call);
            let mut array = arguments_bytes;
            for (index, &value) in
                self.schedule.columns.iter().chain(&self.schedule.tiles).enumerate()
            {
                let size = lane_size(kernel.body[value as usize].dtype);
                let words = self.layout.array(index);
                arguments
                    .write_word(words + argument_layout::ARRAY_BASE, start.add(array) as usize);
                arguments.write_word(words + argument_layout::ARRAY_ROW_STEP, padded * size);
                let is_column = index < self.schedule.columns.len();
                array += padded * 8 * if is_column { 1 } else { rows };
            }
        }
        (arguments, width)
    }

    /// Splits a part into runs of programs along the innermost grid axis: the flat index over the other grid
    /// axes, and the range along the innermost one.
    pub(super) fn program_runs(
        &self,
        call: &Call,
        part: &Part,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let inner_extent = match self.kernel.grid_rank {
            0 => 1,
            rank => call.shape.extents[rank - 1],
        };
        let (mut at, end) = (part.grid.start, part.grid.end);
        std::iter::from_fn(move || {
            if at >= end {
                return None;
            }
            let inner = at % inner_extent;
            let count = (inner_extent - inner).min(end - at);
            let grid = at / inner_extent;
            at += count;
            Some((grid, inner..inner + count))
        })
    }

    /// Maximum extent of the vector axis per call.
    fn block_width(&self, rows: usize) -> usize {
        if !self.kernel.reduces_columns() {
            return usize::MAX;
        }
        let row_bytes = 8 * self.schedule.tiles.len() * rows;
        let fitting = TILE_BUDGET_BYTES.checked_div(row_bytes).unwrap_or(MAX_COLUMN_BLOCK);
        let lanes = self.layout.lanes;
        (fitting / (4 * lanes) * (4 * lanes)).clamp(4 * lanes, MAX_COLUMN_BLOCK)
    }

    /// Writes the argument words that all blocks of a call share.
    ///
    /// # Safety
    /// The argument block has the layout's size.
    pub(super) unsafe fn write_launch_arguments(&self, arguments: &ArgumentBlock, call: &Call) {
        let kernel = &self.kernel;
        let rank = kernel.grid_rank;
        let extents = &call.shape.extents;
        // SAFETY: the offsets come from the layout.
        unsafe {
            let constant_pool = self.bytes().as_ptr().add(self.constant_pool);
            arguments.write_word(argument_layout::CONSTANT_POOL, constant_pool as usize);
            for axis in 0..kernel.reduce_rank {
                arguments.write_word(
                    argument_layout::REDUCE_EXTENTS + 8 * axis as i32,
                    extents[rank + axis],
                );
            }
            for (index, access) in kernel.accesses.iter().enumerate() {
                let strides = &call.shape.accesses[index].strides;
                let size =
                    access.param.map_or(1, |p| kernel.params[p as usize].dtype.size()) as isize;
                let words = self.layout.access(index);
                let grid = if rank == 0 { 0 } else { strides[rank - 1] * size };
                arguments.write_word(words + argument_layout::GRID_STEP, grid as usize);
                for axis in 0..kernel.reduce_rank {
                    // Distance already covered by the loop over the next inner axis.
                    let covered_by_inner = match axis + 1 < kernel.reduce_rank {
                        true => strides[rank + axis + 1] * extents[rank + axis + 1] as isize,
                        false => 0,
                    };
                    let step = (strides[rank + axis] - covered_by_inner) * size;
                    arguments.write_word(
                        words + argument_layout::REDUCE_STEP + 8 * axis as i32,
                        step as usize,
                    );
                }
                let vector = *strides.last().expect("launches have a vector axis") * size;
                arguments.write_word(words + argument_layout::VECTOR_STEP, vector as usize);
                let index = call.shape.accesses[index].index_stride * size;
                arguments.write_word(words + argument_layout::INDEX_STEP, index as usize);
            }
            for (index, &scalar) in call.scalars.iter().enumerate() {
                let scalar = scalar.cast(kernel.scalars[index]);
                arguments.write_vector(self.layout.scalar(index), splat(scalar));
            }
            for (index, &(access, dtype)) in self.layout.offsets.iter().enumerate() {
                let stride = call.shape.accesses[access as usize].strides.last().copied();
                let stride = stride.expect("launches have a vector axis") as i64;
                arguments.write_vector(
                    self.layout.lane_offsets(index),
                    lane_offset_vector(stride, dtype),
                );
            }
        }
    }

    /// Size of the argument block in bytes.
    pub(super) fn argument_block_bytes(&self) -> usize {
        self.layout.spill(self.spill_slots) as usize
    }

    /// Address of an access at the first point of a block; for a position, its value.
    pub(super) fn access_pointer(&self, access: usize, call: &Call, block: &CallBlock) -> *mut u8 {
        let kernel = &self.kernel;
        let rank = kernel.grid_rank;
        let shape = &call.shape.accesses[access];
        let mut element = shape.offset;
        let mut outer = block.grid;
        for axis in (0..rank.saturating_sub(1)).rev() {
            let extent = call.shape.extents[axis];
            element += shape.strides[axis] * (outer % extent) as isize;
            outer /= extent;
        }
        if rank > 0 {
            element += shape.strides[rank - 1] * block.inner.start as isize;
        }
        element += shape.strides[rank + kernel.reduce_rank] * block.vector.start as isize;
        match kernel.accesses[access].param {
            None => std::ptr::without_provenance_mut(element as usize),
            Some(param) => {
                let size = kernel.params[param as usize].dtype.size() as isize;
                call.buffers[param as usize].wrapping_offset(element * size)
            }
        }
    }

    /// Writes the argument words of one block.
    ///
    /// # Safety
    /// The argument block has the layout's size.
    pub(super) unsafe fn write_block_arguments(
        &self,
        arguments: &ArgumentBlock,
        call: &Call,
        block: &CallBlock,
    ) {
        let count = block.vector.len();
        // SAFETY: the offsets come from the layout.
        unsafe {
            arguments.write_word(argument_layout::PROGRAMS_LEFT, block.inner.len());
            arguments.write_word(argument_layout::VECTOR_EXTENT, count);
            for (step, limit) in argument_layout::UNROLL_LIMITS.into_iter().enumerate() {
                let vectors = self.layout.lanes << step;
                arguments.write_word(limit, count / vectors * vectors);
            }
            for access in 0..self.kernel.accesses.len() {
                let row = self.access_pointer(access, call, block).expose_provenance();
                arguments
                    .write_word(self.layout.access(access) + argument_layout::PROGRAM_POINTER, row);
            }
        }
    }

    /// Calls the emitted function.
    ///
    /// # Safety
    /// As for [`Code::run`]; launch and block arguments are written.
    pub(super) unsafe fn invoke(&self, arguments: &ArgumentBlock) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.function()(arguments.start) }
    }

    /// The emitted code as a function pointer.
    pub(super) fn function(&self) -> Function {
        // SAFETY: the code is a function of this type and follows the System V calling convention. It accesses
        // only the argument block, the scratch arrays and the addresses of the access maps.
        unsafe { std::mem::transmute::<*const u8, Function>(self.bytes().as_ptr()) }
    }
}

/// Splits a range into blocks of at most this length. An empty range yields one empty block, because a program
/// may have stores that do not depend on the vector axis.
pub(super) fn split_range(
    range: Range<usize>,
    length: usize,
) -> impl Iterator<Item = Range<usize>> {
    let length = length.max(1);
    let pieces = range.len().div_ceil(length).max(1);
    (0..pieces).map(move |piece| {
        let start = range.start + piece * length;
        start..range.end.min(start.saturating_add(length))
    })
}

/// 0, stride, 2 · stride, … in the lanes of a dtype.
fn lane_offset_vector(stride: i64, dtype: DType) -> [u8; 64] {
    let mut bytes = [0; 64];
    let size = lane_size(dtype);
    for (lane, chunk) in bytes.chunks_exact_mut(size).enumerate() {
        chunk.copy_from_slice(&(stride.wrapping_mul(lane as i64)).to_le_bytes()[..size]);
    }
    bytes
}
