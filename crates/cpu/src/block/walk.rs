//! The walk over a part of a launch: programs, blocks of the vector axis, passes, points of the reduce
//! axes. Addresses are never computed from coordinates but for the first; they are advanced.

use super::Program;
use super::apply::Arguments;
use super::memory::{Index, Mask, Transfer};
use super::prepare::{PreparedPass, Source, Step};
use crate::call::{Call, Part, Scratch};
use inflight_ir::kernel::{Level, Stride, VectorAxis};

/// The most bytes of tile arrays that a block of columns may keep, unless it would get too narrow.
const TILE_BYTES: usize = 512 << 10;

/// The fewest columns of a block that [`TILE_BYTES`] may lead to.
const NARROWEST: usize = 16;

/// How many blocks are summed before [`Walk::move_out`].
const MOVE_EVERY: usize = 64;

/// Elements of the vectors that one turn of a loop computes, or a multiple; divides every block.
const VECTORS: usize = 32;

/// Where an access is. In bytes for those of buffers, else in elements.
struct AccessState {
    buffer: *mut u8,
    /// At the origin of the current program's tile.
    program: isize,
    /// At the first element of the current point of the reduce axes.
    row: isize,
    /// The distance along the vector axis.
    vector: isize,
    /// The weight of an index.
    index: isize,
}

/// Axes that are walked in row-major order.
struct Axes<'a> {
    extents: &'a [usize],
    coordinates: Vec<usize>,
    /// For each axis and access, the distance to the next point along the axis from the last point of
    /// all axes inside it.
    steps: Vec<isize>,
}

impl Axes<'_> {
    fn new<'a>(extents: &'a [usize], strides: &[isize], accesses: usize) -> Axes<'a> {
        let mut steps = strides.to_vec();
        for access in 0..accesses {
            let mut back = 0;
            for axis in (0..extents.len()).rev() {
                let at = axis * accesses + access;
                let stride = strides[at];
                steps[at] = stride - back;
                back += stride * (extents[axis] as isize - 1);
            }
        }
        Axes { extents, coordinates: vec![0; extents.len()], steps }
    }

    /// Goes to the next point; the axis that moved, or `None` at the end.
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

struct Walk<'a> {
    program: &'a Program,
    table: Vec<*mut u8>,
    accesses: Vec<AccessState>,
    /// The reduce axes.
    reduce: Axes<'a>,
    /// Points of the reduce axes.
    reduce_points: usize,
    /// The start of each tile array.
    tiles: Vec<*mut u8>,
    /// Elements of a tile array for each point of the reduce axes.
    tile_row: usize,
    /// Whether stores of one value for the whole program are this part's.
    stores_program_values: bool,
}

/// Where a block is in the tile.
#[derive(Clone, Copy)]
struct Place {
    /// The number of elements.
    count: usize,
    /// The position of the first along the vector axis.
    vector: isize,
    /// Its position in a tile array.
    point: usize,
    /// Its index in row-major order over the reduced axes.
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

    let tile_bytes: usize = program.prepared.tiles.iter().sum();
    let mut block = program.block;
    if parallel && tile_bytes > 0 {
        let columns = TILE_BYTES / (tile_bytes * reduce_points).max(1);
        block = block.min(columns.max(NARROWEST));
    }
    let tile_row = if parallel { block } else { vector_extent };
    let tile_bytes_of = |size: &usize| (size * tile_row * reduce_points).next_multiple_of(64);
    let fixed_bytes = program.fixed_bytes.next_multiple_of(64);
    let all_tiles: usize = program.prepared.tiles.iter().map(tile_bytes_of).sum();
    let base = scratch.bytes(fixed_bytes + all_tiles);

    let table: Vec<*mut u8> =
        program.offsets.iter().map(|offset| base.wrapping_add(offset.unwrap_or(0))).collect();
    let mut next_tile = base.wrapping_add(fixed_bytes);
    let tiles = program.prepared.tiles.iter().map(|size| {
        let tile = next_tile;
        next_tile = next_tile.wrapping_add(tile_bytes_of(size));
        tile
    });
    let tiles = tiles.collect();
    let constants = program.prepared.constants.iter().copied();
    let scalars = program.prepared.scalars.iter();
    let scalars = scalars.map(|&(entry, scalar)| (entry, call.scalars[scalar as usize]));
    for (entry, scalar) in constants.chain(scalars) {
        // SAFETY: a cell is 16 bytes of scratch memory.
        unsafe { table[entry as usize].cast::<[u8; 16]>().write(scalar.to_bytes()) };
    }

    // In bytes, axis by axis.
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
        accesses.push(AccessState { buffer, program, row: program, vector, index });
    }
    let (grid_strides, reduce_strides) = strides.split_at(kernel.grid_rank * count);
    let mut grid = Axes::new(grid_extents, grid_strides, count);
    let reduce_strides = &reduce_strides[..kernel.reduce_rank * count];
    let reduce = Axes::new(reduce_extents, reduce_strides, count);

    let mut flat = part.grid.start;
    for axis in (0..kernel.grid_rank).rev() {
        let coordinate = flat % grid_extents[axis];
        flat /= grid_extents[axis];
        grid.coordinates[axis] = coordinate;
        for (id, access) in accesses.iter_mut().enumerate() {
            access.program += grid_strides[axis * count + id] * coordinate as isize;
        }
    }

    let mut walk = Walk {
        program,
        table,
        accesses,
        reduce,
        reduce_points,
        tiles,
        tile_row,
        stores_program_values: part.vector.start == 0,
    };
    for left in (0..part.grid.len()).rev() {
        // SAFETY: the caller's promise.
        unsafe {
            if parallel {
                walk.parallel(part, block);
            } else {
                walk.reduced(vector_extent, block);
            }
        }
        if left > 0
            && let Some(axis) = grid.advance()
        {
            for (access, step) in walk.accesses.iter_mut().zip(grid.steps(axis)) {
                access.program += step;
            }
        }
    }
}

impl Walk<'_> {
    /// A program whose vector axis is parallel: block by block, all passes for each.
    ///
    /// # Safety
    /// As for [`Program::run`].
    unsafe fn parallel(&mut self, part: &Part, block: usize) {
        let passes = &self.program.prepared.passes;
        // No program value depends on a reduction, so all of them come first.
        let first = passes.iter().position(|pass| pass.level != Level::Program);
        let (once, passes) = passes.split_at(first.unwrap_or(passes.len()));
        // SAFETY: the caller's promise.
        unsafe {
            for pass in once {
                self.once(pass);
            }
            let mut start = part.vector.start;
            while start < part.vector.end {
                let count = block.min(part.vector.end - start);
                let place = Place { count, vector: start as isize, point: 0, index: 0 };
                for pass in passes {
                    match pass.level {
                        Level::Program => self.once(pass),
                        Level::Column => {
                            self.rewind(pass);
                            self.block(pass, place);
                        }
                        Level::Tile => {
                            self.begin(pass, count);
                            self.rewind(pass);
                            for index in 0..self.reduce_points {
                                let point = index * self.tile_row;
                                self.block(pass, Place { point, index, ..place });
                                self.next_row(pass);
                                self.correct(pass, index + 1, count);
                            }
                            self.finish(pass, self.reduce_points, count);
                        }
                    }
                }
                start += count;
            }
        }
    }

    /// A program whose vector axis is reduced: pass by pass, all blocks for each.
    ///
    /// # Safety
    /// As for [`Program::run`].
    unsafe fn reduced(&mut self, extent: usize, block: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            for pass in &self.program.prepared.passes {
                if pass.level == Level::Program {
                    self.once(pass);
                    continue;
                }
                self.begin(pass, extent);
                self.rewind(pass);
                let mut blocks = 0;
                for row in 0..self.reduce_points {
                    let mut start = 0;
                    while start < extent {
                        let count = block.min(extent - start);
                        let point = row * extent + start;
                        let vector = start as isize;
                        self.block(pass, Place { count, vector, point, index: point });
                        start += count;
                        blocks += 1;
                        self.correct(pass, blocks, count);
                    }
                    self.next_row(pass);
                }
                self.finish(pass, blocks, extent);
            }
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn once(&mut self, pass: &PreparedPass) {
        self.rewind(pass);
        // SAFETY: the caller's promise.
        unsafe { self.block(pass, Place { count: 1, vector: 0, point: 0, index: 0 }) }
    }

    #[inline]
    fn rewind(&mut self, pass: &PreparedPass) {
        for &access in &pass.accesses {
            let access = &mut self.accesses[access as usize];
            access.row = access.program;
        }
    }

    #[inline]
    fn next_row(&mut self, pass: &PreparedPass) {
        if let Some(axis) = self.reduce.advance() {
            let steps = self.reduce.steps(axis);
            for &access in &pass.accesses {
                self.accesses[access as usize].row += steps[access as usize];
            }
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn begin(&mut self, pass: &PreparedPass, count: usize) {
        for begin in &pass.begin {
            let target = self.table[begin.target as usize];
            let source = self.table[begin.identity as usize] as *const u8;
            // SAFETY: both are scratch memory of their own.
            unsafe {
                (begin.fill)(&Arguments {
                    count: begin.count.unwrap_or(count),
                    target,
                    sources: [source; 3],
                    splat: [true; 3],
                    state: target,
                    start: 0,
                });
            }
        }
    }

    /// Moves the running sums out of the way when they have taken in enough.
    ///
    /// # Safety
    /// As for [`Program::run`].
    #[inline]
    unsafe fn correct(&mut self, pass: &PreparedPass, blocks: usize, count: usize) {
        if blocks.is_multiple_of(MOVE_EVERY) {
            // SAFETY: the caller's promise.
            unsafe { self.move_out(pass, blocks / MOVE_EVERY - 1, count) };
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn move_out(&mut self, pass: &PreparedPass, time: usize, count: usize) {
        for correction in &pass.corrections {
            let arguments = Arguments {
                count: correction.count.unwrap_or(count) * correction.moves.parts,
                target: self.table[correction.total as usize],
                sources: [self.table[correction.lost as usize]; 3],
                splat: [false; 3],
                state: self.table[correction.running as usize],
                start: time as i64,
            };
            // SAFETY: three places in scratch memory of their own.
            unsafe { (correction.moves.move_out)(&arguments) };
        }
    }

    /// # Safety
    /// As for [`Program::run`].
    unsafe fn finish(&mut self, pass: &PreparedPass, blocks: usize, count: usize) {
        if blocks >= MOVE_EVERY {
            // SAFETY: the caller's promise.
            unsafe { self.move_out(pass, blocks, count) };
            for correction in &pass.corrections {
                let target = self.table[correction.running as usize];
                let total = self.table[correction.total as usize] as *const u8;
                let lost = self.table[correction.lost as usize] as *const u8;
                // SAFETY: three places in scratch memory of their own.
                unsafe {
                    (correction.moves.move_back)(&Arguments {
                        count: correction.count.unwrap_or(count) * correction.moves.parts,
                        target,
                        sources: [total, lost, lost],
                        splat: [false; 3],
                        state: target,
                        start: 0,
                    });
                }
            }
        }
        for finish in &pass.finish {
            let target = self.table[finish.target as usize];
            let source = self.table[finish.lanes as usize] as *const u8;
            // SAFETY: both are scratch memory of their own.
            unsafe {
                (finish.function)(&Arguments {
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
    unsafe fn block(&mut self, pass: &PreparedPass, place: Place) {
        for tile in &pass.tiles {
            let start = self.tiles[tile.tile];
            self.table[tile.entry as usize] = start.wrapping_add(place.point * tile.size);
        }
        let whole_count = place.count.next_multiple_of(VECTORS);
        let count_of = |once: bool| if once { 1 } else { place.count };
        for step in &pass.steps {
            match *step {
                Step::Apply { function, target, sources, once, whole } => {
                    let [a, b, c] = sources;
                    let target = self.table[target as usize];
                    let arguments = Arguments {
                        count: if whole { whole_count } else { count_of(once) },
                        target,
                        sources: [self.source(a), self.source(b), self.source(c)],
                        splat: [a.splat, b.splat, c.splat],
                        state: target,
                        start: 0,
                    };
                    // SAFETY: entries hold blocks, cells or memory of the right dtype; the target is
                    // none of the sources, since registers are released after the instruction.
                    unsafe { function(&arguments) };
                }
                Step::Point { target, access } => {
                    self.table[target as usize] = self.address(access, place);
                }
                Step::Load { function, target, access, index, mask, once } => {
                    let transfer = Transfer {
                        count: count_of(once),
                        memory: self.address(access, place),
                        stride: self.accesses[access as usize].vector,
                        block: self.table[target as usize],
                        splat: false,
                        index: index.map(|index| self.index(index, access)),
                        mask: mask.map(|mask| self.mask(mask)),
                    };
                    // SAFETY: the caller's promise: the access maps stay within their buffers.
                    unsafe { function(&transfer) };
                }
                Step::Position { long, target, access, once } => {
                    let access = &self.accesses[access as usize];
                    let first = access.row + place.vector * access.vector;
                    let target = self.table[target as usize];
                    // SAFETY: the target is a block or cell of `i64` or `i32`.
                    unsafe {
                        if long {
                            positions::<i64>(target, count_of(once), first, access.vector, |p| {
                                p as i64
                            });
                        } else {
                            positions::<i32>(target, count_of(once), first, access.vector, |p| {
                                p as i32
                            });
                        }
                    }
                }
                Step::Store { function, access, value, index, mask } => {
                    if pass.level == Level::Program && !self.stores_program_values {
                        continue;
                    }
                    let transfer = Transfer {
                        count: place.count,
                        memory: self.address(access, place),
                        stride: self.accesses[access as usize].vector,
                        block: self.table[value.entry as usize],
                        splat: value.splat,
                        index: index.map(|index| self.index(index, access)),
                        mask: mask.map(|mask| self.mask(mask)),
                    };
                    // SAFETY: the caller's promise: the access maps stay within their buffers.
                    unsafe { function(&transfer) };
                }
                Step::Fold { function, target, state, source } => {
                    let arguments = Arguments {
                        count: place.count,
                        target: self.table[target as usize],
                        sources: [self.table[source as usize]; 3],
                        splat: [false; 3],
                        state: self.table[state as usize],
                        start: place.index as i64,
                    };
                    // SAFETY: the state was begun with this pass; it is neither target nor source of
                    // functions that have both.
                    unsafe { function(&arguments) };
                }
            }
        }
    }

    #[inline]
    fn source(&self, source: Source) -> *const u8 {
        self.table[source.entry as usize]
    }

    #[inline]
    fn address(&self, access: u32, place: Place) -> *mut u8 {
        let access = &self.accesses[access as usize];
        access.buffer.wrapping_offset(access.row + place.vector * access.vector)
    }

    fn index(&self, (source, long): (Source, bool), access: u32) -> Index {
        let stride = self.accesses[access as usize].index;
        Index { source: self.source(source), long, splat: source.splat, stride }
    }

    fn mask(&self, mask: Source) -> Mask {
        Mask { source: self.source(mask), splat: mask.splat }
    }
}

/// # Safety
/// The target has room for so many elements.
unsafe fn positions<T>(
    target: *mut u8,
    count: usize,
    first: isize,
    stride: isize,
    convert: impl Fn(isize) -> T,
) {
    // SAFETY: the caller's promise.
    let target = unsafe { super::apply::block_mut::<T>(target, count) };
    for (i, target) in target.iter_mut().enumerate() {
        *target = convert(first + i as isize * stride);
    }
}
