//! Interpreter loop: executes the compiled steps over programs, blocks of the vector axis, passes and points of
//! the reduce axes. Addresses are computed from coordinates once and then advanced by strides.

use super::Program;
use super::compile::{CompiledPass, Operand, Step};
use super::elementwise::LoopArguments;
use super::load_store::{Index, Mask, Transfer};
use crate::call::{Call, Part, Scratch};
use inflight_ir::kernel::{Level, Stride, VectorAxis};

/// Budget in bytes for the tile arrays of one block of columns.
const TILE_BUDGET_BYTES: usize = 512 << 10;

/// Minimum columns per block, even if the tile arrays exceed [`TILE_BUDGET_BYTES`].
const MIN_COLUMNS: usize = 16;

/// Number of blocks that partial sums accumulate before [`Execution::flush_partial_sums`].
const FLUSH_INTERVAL: usize = 64;

/// Padding of a block in elements: a multiple of what one iteration of a vectorized loop computes. Divides every
/// block size.
const PADDING: usize = 32;

/// Current position of an access, in bytes for buffers and in elements for positions.
struct AccessCursor {
    buffer: *mut u8,
    /// At the origin of the current program's tile.
    program: isize,
    /// At the first element of the current point of the reduce axes.
    row: isize,
    /// Stride along the vector axis.
    vector: isize,
    /// Stride of the index.
    index: isize,
}

/// Axes iterated in row-major order.
struct LoopNest<'a> {
    extents: &'a [usize],
    coordinates: Vec<usize>,
    /// For each axis and access, the step to the next point of the axis from the last point of all inner axes.
    steps: Vec<isize>,
}

impl LoopNest<'_> {
    fn new<'a>(extents: &'a [usize], strides: &[isize], accesses: usize) -> LoopNest<'a> {
        let mut steps = strides.to_vec();
        for access in 0..accesses {
            let mut rewind = 0;
            for axis in (0..extents.len()).rev() {
                let at = axis * accesses + access;
                let stride = strides[at];
                steps[at] = stride - rewind;
                rewind += stride * (extents[axis] as isize - 1);
            }
        }
        LoopNest { extents, coordinates: vec![0; extents.len()], steps }
    }

    /// Advances to the next point. Returns the axis that advanced, or `None` at the end.
    #[inline]
    fn advance(&mut self) -> Option<usize> {
        for axis in (0..self.extents.len()).rev() {
            self.coordinates[axis] += 1;
            if self.coordinates[axis] < self.extents[axis] {
                return Some(axis);
            }
            self.coordinates[axis] = 0;
        }
        None
    }

    fn steps(&self, axis: usize) -> &[isize] {
        let accesses = self.steps.len() / self.extents.len();
        &self.steps[axis * accesses..(axis + 1) * accesses]
    }
}

struct Execution<'a> {
    program: &'a Program,
    addresses: Vec<*mut u8>,
    accesses: Vec<AccessCursor>,
    /// Reduce axes.
    reduce: LoopNest<'a>,
    /// Number of points of the reduce axes.
    reduce_points: usize,
    /// Start of each tile array.
    tiles: Vec<*mut u8>,
    /// Elements of a tile array per point of the reduce axes.
    tile_row: usize,
    /// Whether this part executes the stores of program-level values.
    owns_program_stores: bool,
}

/// Position of a block in the tile.
#[derive(Clone, Copy)]
struct BlockPosition {
    /// Number of elements.
    count: usize,
    /// Position of the first element along the vector axis.
    vector: isize,
    /// Its offset in a tile array.
    point: usize,
    /// Its row-major index over the reduced axes.
    index: usize,
}

/// Runs a part of a launch.
///
/// # Safety
/// As for [`Program::run`].
pub unsafe fn run(program: &Program, call: &Call, part: &Part, scratch: &mut Scratch) {
    if part.grid.is_empty() {
        return;
    }
    let kernel = &program.kernel;
    let extents = &call.shape.extents[..];
    let (grid_extents, inner) = extents.split_at(kernel.grid_rank);
    let (reduce_extents, vector_extent) = (&inner[..kernel.reduce_rank], inner[kernel.reduce_rank]);
    let reduce_points = reduce_extents.iter().product::<usize>();
    let parallel = kernel.vector == VectorAxis::Parallel;

    let tile_bytes: usize = program.compiled.tiles.iter().sum();
    let mut block = program.block;
    if parallel && tile_bytes > 0 {
        let columns = TILE_BUDGET_BYTES / (tile_bytes * reduce_points).max(1);
        block = block.min(columns.max(MIN_COLUMNS));
    }
    let tile_row = if parallel { block } else { vector_extent };
    let tile_bytes_of = |size: &usize| (size * tile_row * reduce_points).next_multiple_of(64);
    let fixed_bytes = program.fixed_bytes.next_multiple_of(64);
    let all_tiles: usize = program.compiled.tiles.iter().map(tile_bytes_of).sum();
    let base = scratch.bytes(fixed_bytes + all_tiles);

    let addresses: Vec<*mut u8> =
        program.offsets.iter().map(|offset| base.wrapping_add(offset.unwrap_or(0))).collect();
    let mut next_tile = base.wrapping_add(fixed_bytes);
    let tiles = program.compiled.tiles.iter().map(|size| {
        let tile = next_tile;
        next_tile = next_tile.wrapping_add(tile_bytes_of(size));
        tile
    });
    let tiles = tiles.collect();
    let constants = program.compiled.constants.iter().copied();
    let scalars = program.compiled.scalars.iter();
    let scalars = scalars.map(|&(slot, scalar)| (slot, call.scalars[scalar as usize]));
    for (slot, scalar) in constants.chain(scalars) {
        // SAFETY: a cell is 16 bytes of scratch memory.
        unsafe { addresses[slot as usize].cast::<[u8; 16]>().write(scalar.to_bytes()) };
    }

    // Strides in bytes, axis by axis.
    let count = kernel.accesses.len();
    let mut strides = vec![0isize; extents.len() * count];
    let mut accesses = Vec::with_capacity(count);
    for (id, (access, shape)) in kernel.accesses.iter().zip(&call.shape.accesses).enumerate() {
        let (buffer, size) = match access.param {
            Some(param) => {
                let size = kernel.params[param as usize].dtype.size();
                (call.buffers[param as usize], size as isize)
            }
            None => (std::ptr::null_mut(), 1),
        };
        for axis in 0..extents.len() {
            let is_grid = axis < kernel.grid_rank;
            if is_grid || (access.reduce && axis + 1 < extents.len()) {
                strides[axis * count + id] = shape.strides[axis] * size;
            }
        }
        let vector = match access.vector {
            Stride::Zero => 0,
            Stride::One => size,
            Stride::Any => shape.strides[extents.len() - 1] * size,
        };
        let program = shape.offset * size;
        let index = shape.index_stride * size;
        accesses.push(AccessCursor { buffer, program, row: program, vector, index });
    }
    let (grid_strides, reduce_strides) = strides.split_at(kernel.grid_rank * count);
    let mut grid = LoopNest::new(grid_extents, grid_strides, count);
    let reduce_strides = &reduce_strides[..kernel.reduce_rank * count];
    let reduce = LoopNest::new(reduce_extents, reduce_strides, count);

    let mut flat = part.grid.start;
    for axis in (0..kernel.grid_rank).rev() {
        let coordinate = flat % grid_extents[axis];
        flat /= grid_extents[axis];
        grid.coordinates[axis] = coordinate;
        for (id, access) in accesses.iter_mut().enumerate() {
            access.program += grid_strides[axis * count + id] * coordinate as isize;
        }
    }

    let mut execution = Execution {
        program,
        addresses,
        accesses,
        reduce,
        reduce_points,
        tiles,
        tile_row,
        owns_program_stores: part.vector.start == 0,
    };
    for remaining in (0..part.grid.len()).rev() {
        // SAFETY: guaranteed by the caller.
        unsafe {
            if parallel {
                execution.run_parallel(part, block);
            } else {
                execution.run_reduced(vector_extent, block);
            }
        }
        if remaining > 0
            && let Some(axis) = grid.advance()
        {
            for (access, step) in execution.accesses.iter_mut().zip(grid.steps(axis)) {
                access.program += step;
            }
        }
    }
}

impl Execution<'_> {
    /// Runs a program with a parallel vector axis: for each block, all passes.
    ///
    /// # Safety
    /// As for [`Program::run`].
    unsafe fn run_parallel(&mut self, part: &Part, block: usize) {
        let passes = &self.program.compiled.passes;
        // Program-level values do not depend on reductions here, so their passes all come first.
        let first = passes.iter().position(|pass| pass.level != Level::Program);
        let (prologue, passes) = passes.split_at(first.unwrap_or(passes.len()));
        // SAFETY: guaranteed by the caller.
        unsafe {
            for pass in prologue {
                self.run_once(pass);
            }
            let mut start = part.vector.start;
            while start < part.vector.end {
                let count = block.min(part.vector.end - start);
                let position = BlockPosition { count, vector: start as isize, point: 0, index: 0 };
                for pass in passes {
                    match pass.level {
                        Level::Program => self.run_once(pass),
                        Level::Column => {
                            self.reset_rows(pass);
                            self.run_block(pass, position);
                        }
                        Level::Tile => {
                            self.initialize_state(pass, count);
                            self.reset_rows(pass);
                            for index in 0..self.reduce_points {
                                let point = index * self.tile_row;
                                self.run_block(pass, BlockPosition { point, index, ..position });
                                self.advance_row(pass);
                                self.maybe_flush_partial_sums(pass, index + 1, count);
                            }
                            self.finish_reductions(pass, self.reduce_points, count);
                        }
                    }
                }
                start += count;
            }
        }
    }

    /// Runs a program with a reduced vector axis: for each pass, all blocks.
    ///
    /// # Safety
    /// As for [`Program::run`].
    unsafe fn run_reduced(&mut self, extent: usize, block: usize) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            for pass in &self.program.compiled.passes {
                if pass.level == Level::Program {
                    self.run_once(pass);
                    continue;
                }
                self.initialize_state(pass, extent);
                self.reset_rows(pass);
                let mut blocks = 0;
                for row in 0..self.reduce_points {
                    let mut start = 0;
                    while start < extent {
                        let count = block.min(extent - start);
                        let point = row * extent + start;
                        let vector = start as isize;
                        self.run_block(pass, BlockPosition { count, vector, point, index: point });
                        start += count;
                        blocks += 1;
                        self.maybe_flush_partial_sums(pass, blocks, count);
                    }
                    self.advance_row(pass);
                }
                self.finish_reductions(pass, blocks, extent);
            }
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn run_once(&mut self, pass: &CompiledPass) {
        self.reset_rows(pass);
        // SAFETY: guaranteed by the caller.
        unsafe { self.run_block(pass, BlockPosition { count: 1, vector: 0, point: 0, index: 0 }) }
    }

    #[inline]
    fn reset_rows(&mut self, pass: &CompiledPass) {
        for &access in &pass.accesses {
            let access = &mut self.accesses[access as usize];
            access.row = access.program;
        }
    }

    #[inline]
    fn advance_row(&mut self, pass: &CompiledPass) {
        if let Some(axis) = self.reduce.advance() {
            let steps = self.reduce.steps(axis);
            for &access in &pass.accesses {
                self.accesses[access as usize].row += steps[access as usize];
            }
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn initialize_state(&mut self, pass: &CompiledPass, count: usize) {
        for initialize in &pass.initialize {
            let target = self.addresses[initialize.target as usize];
            let source = self.addresses[initialize.identity as usize] as *const u8;
            // SAFETY: both point into disjoint scratch memory.
            unsafe {
                (initialize.fill)(&LoopArguments {
                    count: initialize.count.unwrap_or(count),
                    target,
                    sources: [source; 3],
                    splat: [true; 3],
                    state: target,
                    start: 0,
                });
            }
        }
    }

    /// Flushes the partial sums after every [`FLUSH_INTERVAL`] blocks.
    ///
    /// # Safety
    /// As for [`Program::run`].
    #[inline]
    unsafe fn maybe_flush_partial_sums(
        &mut self,
        pass: &CompiledPass,
        blocks: usize,
        count: usize,
    ) {
        if blocks.is_multiple_of(FLUSH_INTERVAL) {
            // SAFETY: guaranteed by the caller.
            unsafe { self.flush_partial_sums(pass, blocks / FLUSH_INTERVAL - 1, count) };
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn flush_partial_sums(&mut self, pass: &CompiledPass, flush: usize, count: usize) {
        for sum in &pass.compensated_sums {
            let arguments = LoopArguments {
                count: sum.count.unwrap_or(count) * sum.loops.components,
                target: self.addresses[sum.total as usize],
                sources: [self.addresses[sum.compensation as usize]; 3],
                splat: [false; 3],
                state: self.addresses[sum.partial as usize],
                start: flush as i64,
            };
            // SAFETY: three disjoint slots in scratch memory.
            unsafe { (sum.loops.flush_partial_sums)(&arguments) };
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn finish_reductions(&mut self, pass: &CompiledPass, blocks: usize, count: usize) {
        if blocks >= FLUSH_INTERVAL {
            // SAFETY: guaranteed by the caller.
            unsafe { self.flush_partial_sums(pass, blocks, count) };
            for sum in &pass.compensated_sums {
                let target = self.addresses[sum.partial as usize];
                let total = self.addresses[sum.total as usize] as *const u8;
                let compensation = self.addresses[sum.compensation as usize] as *const u8;
                // SAFETY: three disjoint slots in scratch memory.
                unsafe {
                    (sum.loops.restore_total)(&LoopArguments {
                        count: sum.count.unwrap_or(count) * sum.loops.components,
                        target,
                        sources: [total, compensation, compensation],
                        splat: [false; 3],
                        state: target,
                        start: 0,
                    });
                }
            }
        }
        for finish in &pass.finish {
            let target = self.addresses[finish.target as usize];
            let source = self.addresses[finish.lanes as usize] as *const u8;
            // SAFETY: both point into disjoint scratch memory.
            unsafe {
                (finish.function)(&LoopArguments {
                    count: 1,
                    target,
                    sources: [source; 3],
                    splat: [false; 3],
                    state: target,
                    start: 0,
                });
            }
        }
    }

    /// Runs a pass on one block.
    ///
    /// # Safety
    /// As for [`Program::run`].
    unsafe fn run_block(&mut self, pass: &CompiledPass, position: BlockPosition) {
        for tile in &pass.tiles {
            let start = self.tiles[tile.tile];
            self.addresses[tile.slot as usize] = start.wrapping_add(position.point * tile.size);
        }
        let padded_count = position.count.next_multiple_of(PADDING);
        let count_of = |scalar: bool| if scalar { 1 } else { position.count };
        for step in &pass.steps {
            match *step {
                Step::Apply { function, target, sources, scalar, padded } => {
                    let [a, b, c] = sources;
                    let target = self.addresses[target as usize];
                    let arguments = LoopArguments {
                        count: if padded { padded_count } else { count_of(scalar) },
                        target,
                        sources: [self.operand(a), self.operand(b), self.operand(c)],
                        splat: [a.splat, b.splat, c.splat],
                        state: target,
                        start: 0,
                    };
                    // SAFETY: slots hold blocks, cells or buffer memory of the right dtype. The target is none of
                    // the sources, since operand slots are released after the instruction.
                    unsafe { function(&arguments) };
                }
                Step::LoadInPlace { target, access } => {
                    self.addresses[target as usize] = self.address(access, position);
                }
                Step::Load { function, target, access, index, mask, scalar } => {
                    let transfer = Transfer {
                        count: count_of(scalar),
                        memory: self.address(access, position),
                        stride: self.accesses[access as usize].vector,
                        block: self.addresses[target as usize],
                        splat: false,
                        index: index.map(|index| self.index(index, access)),
                        mask: mask.map(|mask| self.mask(mask)),
                    };
                    // SAFETY: guaranteed by the caller: the access maps stay within their buffers.
                    unsafe { function(&transfer) };
                }
                Step::Position { is_i64, target, access, scalar } => {
                    let access = &self.accesses[access as usize];
                    let first = access.row + position.vector * access.vector;
                    let target = self.addresses[target as usize];
                    // SAFETY: the target is a block or cell of `i64` or `i32`.
                    unsafe {
                        if is_i64 {
                            positions::<i64>(target, count_of(scalar), first, access.vector, |p| {
                                p as i64
                            });
                        } else {
                            positions::<i32>(target, count_of(scalar), first, access.vector, |p| {
                                p as i32
                            });
                        }
                    }
                }
                Step::Store { function, access, value, index, mask } => {
                    if pass.level == Level::Program && !self.owns_program_stores {
                        continue;
                    }
                    let transfer = Transfer {
                        count: position.count,
                        memory: self.address(access, position),
                        stride: self.accesses[access as usize].vector,
                        block: self.addresses[value.slot as usize],
                        splat: value.splat,
                        index: index.map(|index| self.index(index, access)),
                        mask: mask.map(|mask| self.mask(mask)),
                    };
                    // SAFETY: guaranteed by the caller: the access maps stay within their buffers.
                    unsafe { function(&transfer) };
                }
                Step::Accumulate { function, target, state, source } => {
                    let arguments = LoopArguments {
                        count: position.count,
                        target: self.addresses[target as usize],
                        sources: [self.addresses[source as usize]; 3],
                        splat: [false; 3],
                        state: self.addresses[state as usize],
                        start: position.index as i64,
                    };
                    // SAFETY: the state was initialized with this pass. It is neither target nor source of
                    // functions that have all three.
                    unsafe { function(&arguments) };
                }
            }
        }
    }

    #[inline]
    fn operand(&self, source: Operand) -> *const u8 {
        self.addresses[source.slot as usize]
    }

    #[inline]
    fn address(&self, access: u32, position: BlockPosition) -> *mut u8 {
        let access = &self.accesses[access as usize];
        access.buffer.wrapping_offset(access.row + position.vector * access.vector)
    }

    fn index(&self, (source, is_i64): (Operand, bool), access: u32) -> Index {
        let stride = self.accesses[access as usize].index;
        Index { source: self.operand(source), is_i64, splat: source.splat, stride }
    }

    fn mask(&self, mask: Operand) -> Mask {
        Mask { source: self.operand(mask), splat: mask.splat }
    }
}

/// # Safety
/// The target has room for `count` elements.
unsafe fn positions<T>(
    target: *mut u8,
    count: usize,
    first: isize,
    stride: isize,
    convert: impl Fn(isize) -> T,
) {
    // SAFETY: guaranteed by the caller.
    let target = unsafe { super::elementwise::target_slice::<T>(target, count) };
    for (i, target) in target.iter_mut().enumerate() {
        *target = convert(first + i as isize * stride);
    }
}
