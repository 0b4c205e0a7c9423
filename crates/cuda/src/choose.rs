//! How a launch is spread over the device: the variant of its kernel, the grid, and the arguments.

use crate::codegen::{
    COLUMN_LANES, Mapping, POINT_THREADS, Shape, TILE_THREADS, Variant, column_shared_bytes,
    is_in_place, walks, widest,
};
use inflight_ir::Scalar;
use inflight_ir::kernel::{AccessShape, Kernel, Kind, LaunchShape, Stride, VectorAxis};

/// From here on positions are counted in 64 bits; below, there is room for the step beyond the end.
const WIDE: usize = 1 << 30;

/// Bytes of a row that a thread may keep in registers.
const MOST_KEPT: usize = 256;

/// Rows of up to this many elements are walked by one warp.
const WARP_ROW: usize = 1024;

/// Bytes of shared memory that every block may have.
const SHARED: u32 = 48 << 10;

/// A param of more bytes than this does not fit the device's caches.
const STREAMED: usize = 64 << 20;

/// Along an axis of fewer points threads do not lie next to each other.
const SHORTEST_RUN: usize = 8;

/// Threads of a warp.
const WARP: usize = 32;

/// Sides of tiles: the larger if there is room for it.
const TILE_SIDES: [u32; 2] = [64, 32];

/// Blocks that share columns count each other in so many places.
pub const MOST_SLICED_BLOCKS: usize = 1 << 16;

/// What a kernel is, as far as launches need to know.
pub struct Described {
    /// The expanded kernel.
    pub kernel: Kernel,
    /// What it does.
    pub shape: Shape,
    /// Whether it loads from a buffer that it stores to.
    pub in_place: bool,
    scans: bool,
    /// How often a row or column is walked.
    walks: usize,
}

/// How a launch runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which text of the kernel.
    pub variant: Variant,
    /// Blocks.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// What the grid's blocks share among them: groups of points, rows, or blocks of columns.
    pub items: usize,
    /// Blocks that share each column.
    pub slices: usize,
    /// Bytes of memory for their parts.
    pub scratch: usize,
}

impl Described {
    /// Looks at an expanded kernel.
    pub fn new(kernel: Kernel) -> Described {
        let shape = crate::codegen::shape(&kernel);
        let in_place = is_in_place(&kernel);
        let scans = kernel.body.iter().any(|i| matches!(i.kind, Kind::Scan(..)));
        let walks = walks(&kernel);
        Described { kernel, shape, in_place, scans, walks }
    }

    /// How a launch runs on a device of so many multiprocessors. `None` if it has nothing to do.
    ///
    /// `buffers` are the params' addresses and sizes.
    pub fn choose(
        &self,
        launch: &LaunchShape,
        buffers: &[(u64, usize)],
        processors: usize,
    ) -> Result<Option<Choice>, String> {
        let kernel = &self.kernel;
        let (grid, tile) = launch.extents.split_at(kernel.grid_rank);
        let programs: usize = grid.iter().product();
        let points: usize = tile.iter().product();
        let wide = self.is_wide(launch, buffers);
        let width = width(kernel, launch, buffers);
        let choice = match self.shape {
            // Nothing is reduced that anybody needs, and there is no point; but what does not vary along the axes that
            // would be reduced is stored.
            Shape::Points if points == 0 && programs > 0 && kernel.reduces() => match kernel.vector
            {
                VectorAxis::Reduced => {
                    self.rows(programs, points, 1, wide, (true, 0), processors)?
                }
                VectorAxis::Parallel => {
                    let columns = *tile.last().expect("a lane");
                    self.columns([programs, 0, columns], 1, wide, (true, false, 0), processors)
                }
            },
            Shape::Points => self.points(launch, programs * points, width, wide, processors),
            Shape::Rows { ordered, kept_bytes } => {
                if programs == 0 {
                    return Ok(None);
                }
                self.rows(programs, points, width, wide, (ordered, kept_bytes), processors)?
            }
            Shape::Columns { ordered, one_walk, partial_bytes } => {
                let columns = *tile.last().expect("a lane");
                let rows: usize = tile[..tile.len() - 1].iter().product();
                self.columns(
                    [programs, rows, columns],
                    width,
                    wide,
                    (ordered, one_walk, partial_bytes),
                    processors,
                )
            }
        };
        let mut choice = choice;
        choice.variant.streamed = self.streamed(choice.variant.mapping, buffers);
        Ok((choice.items > 0).then_some(choice))
    }

    /// Whether positions need 64 bits.
    pub fn is_wide(&self, launch: &LaunchShape, buffers: &[(u64, usize)]) -> bool {
        let (grid, tile) = launch.extents.split_at(self.kernel.grid_rank);
        let (programs, points): (usize, usize) = (grid.iter().product(), tile.iter().product());
        let large = |(param, &(_, bytes)): (usize, &(u64, usize))| {
            bytes / self.kernel.params[param].dtype.size() >= WIDE
        };
        programs * points.max(1) >= WIDE || buffers.iter().enumerate().any(large)
    }

    /// The params that need not stay in a cache: they are larger, and nothing of them is used twice. Where as much
    /// is written, it is better left to the device (measured on an H200), but for rows that are kept in registers.
    fn streamed(&self, mapping: Mapping, buffers: &[(u64, usize)]) -> u64 {
        let uses_once = match mapping {
            Mapping::Points { .. } => true,
            Mapping::Tiles { .. } | Mapping::Product(_) => false,
            Mapping::Rows { kept, .. } => kept > 0 || self.walks == 1,
            Mapping::Columns { .. } => self.walks == 1,
        };
        if !uses_once || self.in_place {
            return 0;
        }
        let is_large = |&(_, &(_, bytes)): &(usize, &(u64, usize))| bytes > STREAMED;
        let large = buffers.iter().enumerate().take(64).filter(is_large);
        let bits: u64 = large.fold(0, |bits, (param, _)| bits | 1 << param);
        let writes_large = (0..self.kernel.params.len().min(64))
            .any(|param| self.kernel.params[param].writes && bits >> param & 1 == 1);
        let keeps_rows = matches!(mapping, Mapping::Rows { kept: 1.., .. });
        if writes_large && !keeps_rows { 0 } else { bits }
    }

    fn points(
        &self,
        launch: &LaunchShape,
        points: usize,
        width: u32,
        wide: bool,
        processors: usize,
    ) -> Choice {
        if let Some(choice) = self.tiles(launch, wide) {
            return choice;
        }
        let items = points / width as usize;
        // Elements that are less than four bytes wide leave room for a second group; for others, one group for
        // each of the many threads keeps the memory busy (measured on an H200).
        let many = items >= processors * 2048 * 2;
        let bytes = width as usize * self.narrowest();
        let unroll = if many && bytes < 16 && !self.in_place && self.kernel.body.len() < 256 {
            2
        } else {
            1
        };
        let mapping = Mapping::Points { unroll, along: self.along(launch, width) };
        let variant = Variant { width, wide, streamed: 0, mapping };
        let blocks = items.div_ceil((POINT_THREADS * unroll) as usize).min(1 << 30);
        Choice {
            variant,
            grid: [blocks as u32, 1],
            threads: POINT_THREADS,
            items,
            slices: 1,
            scratch: 0,
        }
    }

    /// The grid axis along which threads should be next to each other, if it is not the lanes': they then load what is
    /// next to each other along it, element by element, from fewer sectors of 32 bytes, and groups along the lanes from more.
    fn along(&self, launch: &LaunchShape, width: u32) -> Option<u32> {
        let kernel = &self.kernel;
        if kernel.reduces() || self.in_place {
            return None;
        }
        let accesses = kernel.body.iter().filter_map(|instruction| match instruction.kind {
            Kind::Load { access, .. } | Kind::Store { access, .. } => Some(access as usize),
            _ => None,
        });
        let accesses: Vec<usize> = accesses.collect();
        let of = |stride: Stride| {
            accesses.iter().copied().filter(move |&access| kernel.accesses[access].vector == stride)
        };
        // What a warp's access touches: of a group along the lanes half of each thread's sector, instead of all of it;
        // of an element along the axis a sector for each group of lanes, instead of its neighbours and an edge.
        let lost = of(Stride::One).count() * WARP / 2;
        let groups = launch.extents[kernel.rank() - 1] / width as usize;
        let saved = |axis: usize| {
            let runs = of(Stride::Any).filter(|&access| launch.accesses[access].strides[axis] == 1);
            let sectors = runs.map(|access| {
                let param =
                    kernel.accesses[access].param.map(|param| kernel.params[param as usize]);
                groups.min(WARP).saturating_sub(param.map_or(0, |param| param.dtype.size()) + 1)
            });
            sectors.sum::<usize>() * width as usize
        };
        let axes = (0..kernel.grid_rank).filter(|&axis| launch.extents[axis] >= SHORTEST_RUN);
        let axis = axes.max_by_key(|&axis| saved(axis)).filter(|&axis| saved(axis) > lost);
        axis.map(|axis| axis as u32)
    }

    /// Bytes of the smallest element that the kernel moves.
    fn narrowest(&self) -> usize {
        self.kernel.params.iter().map(|param| param.dtype.size()).min().unwrap_or(1)
    }

    /// Tiles, if operands run along another axis than the lanes.
    fn tiles(&self, launch: &LaunchShape, wide: bool) -> Option<Choice> {
        let kernel = &self.kernel;
        let vector = kernel.rank() - 1;
        let lanes = launch.extents[vector];
        if kernel.reduces() || self.in_place || lanes < 16 {
            return None;
        }
        let loads: Vec<usize> = kernel
            .body
            .iter()
            .filter_map(|instruction| match instruction.kind {
                Kind::Load { access, index: None, mask: None } => Some(access as usize),
                _ => None,
            })
            .collect();
        let turned = |axis: usize, side: u32| {
            let mut bits = 0u64;
            let mut bytes = 0;
            for &access in loads.iter().filter(|&&access| access < 64) {
                let (class, map) = (kernel.accesses[access], &launch.accesses[access]);
                let size = class.param.map_or(0, |p| kernel.params[p as usize].dtype.size());
                let tile = size * (side * (side + 1)) as usize;
                let runs = class.vector == Stride::Any && map.strides[axis] == 1;
                if runs && bits >> access & 1 == 0 && bytes + tile <= 40 << 10 {
                    bits |= 1 << access;
                    bytes += tile;
                }
            }
            bits
        };
        let axes = (0..kernel.grid_rank).filter(|&axis| launch.extents[axis] >= 16);
        let (axis, bits) = axes
            .map(|axis| (axis, turned(axis, TILE_SIDES[1])))
            .filter(|(_, bits)| *bits != 0)
            .max_by_key(|(_, bits)| bits.count_ones())?;
        let extent = launch.extents[axis];
        let has_room = |side: u32| extent.min(lanes) >= side as usize && turned(axis, side) == bits;
        let side = if has_room(TILE_SIDES[0]) { TILE_SIDES[0] } else { TILE_SIDES[1] };
        // What is loaded both ways is loaded once if both ways follow each other.
        let param = |access: usize| kernel.accesses[access].param;
        let is_turned = |access: usize| access < 64 && bits >> access & 1 == 1;
        let both_ways = loads
            .iter()
            .any(|&a| is_turned(a) && loads.iter().any(|&b| !is_turned(b) && param(a) == param(b)));
        let paired = both_ways && extent == lanes;
        let tiles = |extent: usize| extent.div_ceil(side as usize);
        let others: usize =
            (0..vector).filter(|&other| other != axis).map(|other| launch.extents[other]).product();
        let items = match paired {
            true => others * tiles(lanes) * (tiles(lanes) + 1),
            false => others * tiles(extent) * tiles(lanes),
        };
        let whole = extent.is_multiple_of(side as usize) && lanes.is_multiple_of(side as usize);
        let mapping = Mapping::Tiles { axis: axis as u32, turned: bits, side, paired, whole };
        Some(Choice {
            variant: Variant { width: 1, wide, streamed: 0, mapping },
            grid: [items.min(1 << 30) as u32, 1],
            threads: side * TILE_THREADS,
            items,
            slices: 1,
            scratch: 0,
        })
    }

    fn rows(
        &self,
        rows: usize,
        length: usize,
        width: u32,
        wide: bool,
        (ordered, kept_bytes): (bool, usize),
        processors: usize,
    ) -> Result<Choice, String> {
        let choice = |width: u32, threads: u32, rows_of_block: u32, kept: u32| Choice {
            variant: Variant {
                width,
                wide,
                streamed: 0,
                mapping: Mapping::Rows { threads, rows: rows_of_block, kept },
            },
            grid: [rows.div_ceil(rows_of_block as usize).min(1 << 30) as u32, 1],
            threads: threads * rows_of_block,
            items: rows,
            slices: 1,
            scratch: 0,
        };
        let beside = |threads: u32| if threads == 32 { 4 } else { 1 };
        let most = length.next_power_of_two();
        if ordered {
            return Ok(choice(1, 1, 128, 0));
        }
        if self.scans {
            let threads = most.div_ceil(4).next_power_of_two().clamp(32, 1024) as u32;
            return Ok(choice(1, threads, beside(threads), 0));
        }
        if kept_bytes > 0 && length > 0 {
            // Two groups for each of many threads, of halves four (measured on an H200); the largest block only where
            // a row would not fit otherwise, as there is room for few of them.
            let each = if width >= 8 { 32 } else { 8 };
            let few = if most <= WARP_ROW { 32 } else { (most / each).clamp(128, 512) as u32 };
            let many = if most <= WARP_ROW { 32 } else { 1024 };
            let more = std::iter::successors(Some(few), |threads| Some(threads * 2));
            for threads in more.take_while(|&threads| threads <= many) {
                let steps = most.div_ceil((threads * width) as usize);
                if steps * width as usize * kept_bytes <= MOST_KEPT {
                    return Ok(choice(width, threads, beside(threads), steps as u32));
                }
            }
        }
        if self.in_place {
            return Err("a kernel that reduces what it overwrites".to_owned());
        }
        // Of the largest blocks there is room for few, so that they leave the memory idle at the end of each (measured
        // on an H200); but rows that are few have no more than these.
        let largest = if rows * 512 >= processors * 2048 { 512 } else { 1024 };
        let threads = most.div_ceil(4 * width as usize).next_power_of_two().clamp(32, largest);
        let threads = threads as u32;
        // Many walks over a long body take more registers than the largest block has.
        let threads = if self.kernel.body.len() > 300 { threads.min(256) } else { threads };
        Ok(choice(width, threads, beside(threads), 0))
    }

    fn columns(
        &self,
        [programs, rows, columns]: [usize; 3],
        width: u32,
        wide: bool,
        (ordered, one_walk, partial_bytes): (bool, bool, usize),
        processors: usize,
    ) -> Choice {
        // Few columns are better spread over threads than put next to each other in one.
        let mut width = width.min(4);
        while width > 1 && columns < (COLUMN_LANES * width) as usize {
            width /= 2;
        }
        let blocks_of = |width: u32| programs * columns.div_ceil((COLUMN_LANES * width) as usize);
        let mut blocks = blocks_of(width);
        // As many threads as there is room for at once, 2,048 for each multiprocessor, in large blocks (measured
        // on an H200): those that come later would leave most of the device idle.
        let is_small = self.kernel.body.len() < 64;
        let of_block = if is_small { 32 } else { 8 };
        let room = processors * 64 / of_block;
        let most = (2 * room / blocks.max(1)).min(rows.div_ceil(4 * of_block)).min(1024);
        let filled = |slices: usize| {
            let all = blocks * slices;
            all * 1000 / (all.div_ceil(room) * room).max(1)
        };
        // The more of equally good ones, so that not all of them fold at the same time.
        let slices = (1..=most).max_by_key(|&slices| filled(slices)).unwrap_or(1);
        let sliced = one_walk && slices > 1 && blocks <= MOST_SLICED_BLOCKS;
        // Where blocks cannot share columns, narrower ones are more, so that fewer processors are idle.
        while !sliced && width > 1 && blocks < processors {
            width /= 2;
            blocks = blocks_of(width);
        }
        let mut threads = match rows {
            _ if ordered => 1,
            _ if sliced => of_block as u32,
            256.. if blocks < processors * 4 && self.kernel.body.len() < 128 => 32,
            16.. => 8,
            _ => 4,
        };
        while column_shared_bytes(&self.kernel, threads, width) > SHARED {
            threads /= 2;
        }
        let slices = if sliced { slices } else { 1 };
        Choice {
            variant: Variant {
                width,
                wide,
                streamed: 0,
                mapping: Mapping::Columns { threads, sliced },
            },
            grid: [blocks.min(1 << 30) as u32, slices as u32],
            threads: COLUMN_LANES * threads,
            items: blocks,
            slices,
            scratch: if sliced { partial_bytes * slices * programs * columns } else { 0 },
        }
    }
}

/// All that a choice depends on of addresses: where they are between multiples of sixteen. `None` if there are too
/// many of them.
pub fn alignments(buffers: &[(u64, usize)]) -> Option<u64> {
    let all = |alignments: u64, (address, _): &(u64, usize)| (alignments << 4) | (address % 16);
    (buffers.len() <= 16).then(|| buffers.iter().fold(0, all))
}

/// How many neighbours can be loaded and stored at once: all of them are next to each other, and the first is
/// where such an access may begin.
pub fn width(kernel: &Kernel, launch: &LaunchShape, buffers: &[(u64, usize)]) -> u32 {
    let lanes = launch.extents.last().copied().unwrap_or(1);
    let mut width = widest(kernel);
    let fits = |width: u32| {
        let step = width as usize;
        lanes % step == 0
            && kernel.accesses.iter().zip(&launch.accesses).all(|(class, map)| {
                let Some(param) = class.param.filter(|_| class.vector == Stride::One) else {
                    return true;
                };
                let size = kernel.params[param as usize].dtype.size();
                let address = buffers[param as usize].0 as isize + map.offset * size as isize;
                let (_, outer) = map.strides.split_last().expect("a lane");
                address % (step * size).min(16) as isize == 0
                    && outer.iter().all(|stride| stride % step as isize == 0)
            })
    };
    while width > 1 && !fits(width) {
        width /= 2;
    }
    width
}

/// Appends the words of a launch's arguments, in the order that the kernel's text declares them.
pub fn append_arguments(
    words: &mut Vec<u64>,
    kernel: &Kernel,
    launch: &LaunchShape,
    buffers: &[(u64, usize)],
    scalars: &[Scalar],
    choice: &Choice,
    [scratch, arrived]: [u64; 2],
) {
    let rank = kernel.rank();
    words.extend([choice.items as u64, choice.slices as u64, scratch, arrived]);
    let pad = |words: &mut Vec<u64>, is_empty: bool, count: usize| {
        if is_empty {
            words.extend(std::iter::repeat_n(0, count));
        }
    };
    words.extend(buffers.iter().map(|(address, _)| *address));
    pad(words, buffers.is_empty(), 1);
    words.extend(launch.extents.iter().map(|&extent| extent as u64));
    let none = launch.accesses.is_empty();
    let each = |words: &mut Vec<u64>, of: &dyn Fn(&AccessShape) -> u64| {
        words.extend(launch.accesses.iter().map(of));
        pad(words, none, 1);
    };
    each(words, &|access| access.offset as u64);
    words.extend(launch.accesses.iter().flat_map(|a| a.strides.iter().map(|&s| s as u64)));
    pad(words, none, rank);
    each(words, &|access| access.index_stride as u64);
    words.extend(scalars.iter().flat_map(|scalar| scalar.bits()));
    pad(words, scalars.is_empty(), 1);
}
