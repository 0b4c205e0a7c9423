//! Launch configuration: which variant of a kernel a launch uses, its grid and block size, and its packed arguments.
//!
//! The choice is a pure function of the kernel, the shapes, the alignment of addresses, and the number of SMs: vector
//! width, unrolling, threads per row, and the number of blocks, so that occupancy is high and the last wave of blocks
//! is full.

use crate::codegen::{
    COLUMN_LANES, ELEMENTWISE_THREADS, KernelClass, Mapping, TILE_THREADS, Variant, classify,
    column_shared_bytes, is_in_place, max_vector_width, pass_count,
};
use inflight_ir::Scalar;
use inflight_ir::kernel::{AccessShape, Kernel, Kind, LaunchShape, Stride, VectorAxis};

/// Extents from here on need 64-bit indices. Below, 32 bits have headroom for a loop's last increment beyond the end.
const INDEX64_EXTENT: usize = 1 << 30;

/// The most bytes of a row that a thread caches in registers.
const MAX_CACHED_BYTES: usize = 256;

/// Rows of up to this many elements are reduced by a single warp.
const WARP_ROW: usize = 1024;

/// Bytes of shared memory that a block may use without opting in to more.
const SHARED_BYTES: u32 = 48 << 10;

/// A param of more bytes than this exceeds the L2 cache and is streamed.
const STREAMED_BYTES: usize = 64 << 20;

/// The least extent of an axis along which consecutive threads may lie.
const MIN_MINOR_EXTENT: usize = 8;

/// Threads of a warp.
const WARP: usize = 32;

/// Sides of transposed tiles: the larger one if it fits.
const TILE_SIDES: [u32; 2] = [64, 32];

/// The most arrival counters of split reductions: one for each group of blocks that share columns.
pub const MAX_SPLIT_BLOCKS: usize = 1 << 16;

/// A kernel with the properties that launch configurations depend on.
pub struct AnalyzedKernel {
    /// The expanded kernel.
    pub kernel: Kernel,
    /// The class, which determines the mapping.
    pub class: KernelClass,
    /// Whether it loads from a buffer that it stores to.
    pub in_place: bool,
    scans: bool,
    /// Passes over a row or column.
    passes: usize,
}

/// The configuration of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// The variant of the kernel's text.
    pub variant: Variant,
    /// The grid, in blocks.
    pub grid: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// Work items of the grid-stride loop: vectors, tiles, rows, or blocks of columns.
    pub items: usize,
    /// Blocks that share each column (split reduction).
    pub splits: usize,
    /// Bytes of scratch memory for their partial results.
    pub scratch: usize,
}

impl AnalyzedKernel {
    /// Analyzes an expanded kernel.
    pub fn new(kernel: Kernel) -> AnalyzedKernel {
        let class = classify(&kernel);
        let in_place = is_in_place(&kernel);
        let scans = kernel.body.iter().any(|i| matches!(i.kind, Kind::Scan(..)));
        let passes = pass_count(&kernel);
        AnalyzedKernel { kernel, class, in_place, scans, passes }
    }

    /// Chooses the configuration of a launch on a device with so many multiprocessors. `None` if it has nothing to do.
    ///
    /// `buffers` are the params' addresses and sizes.
    pub fn configure(
        &self,
        launch: &LaunchShape,
        buffers: &[(u64, usize)],
        processors: usize,
    ) -> Result<Option<LaunchConfig>, String> {
        let kernel = &self.kernel;
        let (grid, tile) = launch.extents.split_at(kernel.grid_rank);
        let programs: usize = grid.iter().product();
        let points: usize = tile.iter().product();
        let index64 = self.needs_index64(launch, buffers);
        let width = width(kernel, launch, buffers);
        let config = match self.class {
            // The kernel reduces nothing that is used, and the reduced extent is zero. Stores that do not vary along
            // the reduced axes must run all the same.
            KernelClass::Elementwise if points == 0 && programs > 0 && kernel.reduces() => {
                match kernel.vector {
                    VectorAxis::Reduced => {
                        self.row_reduction(programs, points, 1, index64, (true, 0), processors)?
                    }
                    VectorAxis::Parallel => {
                        let columns = *tile.last().expect("a lane");
                        self.column_reduction(
                            [programs, 0, columns],
                            1,
                            index64,
                            (true, false, 0),
                            processors,
                        )
                    }
                }
            }
            KernelClass::Elementwise => {
                self.elementwise(launch, programs * points, width, index64, processors)
            }
            KernelClass::RowReduction { ordered, cached_bytes } => {
                if programs == 0 {
                    return Ok(None);
                }
                self.row_reduction(
                    programs,
                    points,
                    width,
                    index64,
                    (ordered, cached_bytes),
                    processors,
                )?
            }
            KernelClass::ColumnReduction { ordered, single_pass, partial_bytes } => {
                let columns = *tile.last().expect("a lane");
                let rows: usize = tile[..tile.len() - 1].iter().product();
                self.column_reduction(
                    [programs, rows, columns],
                    width,
                    index64,
                    (ordered, single_pass, partial_bytes),
                    processors,
                )
            }
        };
        let mut config = config;
        config.variant.streamed = self.streamed(config.variant.mapping, buffers);
        Ok((config.items > 0).then_some(config))
    }

    /// Whether element indices need 64 bits.
    pub fn needs_index64(&self, launch: &LaunchShape, buffers: &[(u64, usize)]) -> bool {
        let (grid, tile) = launch.extents.split_at(self.kernel.grid_rank);
        let (programs, points): (usize, usize) = (grid.iter().product(), tile.iter().product());
        let large = |(param, &(_, bytes)): (usize, &(u64, usize))| {
            bytes / self.kernel.params[param].dtype.size() >= INDEX64_EXTENT
        };
        programs * points.max(1) >= INDEX64_EXTENT || buffers.iter().enumerate().any(large)
    }

    /// Bit set of the params to access with streaming cache hints: they exceed the L2 cache, and each element is used
    /// once. If the kernel writes such params, too, the default policy is faster (measured on an H200), except for rows
    /// that are cached in registers.
    fn streamed(&self, mapping: Mapping, buffers: &[(u64, usize)]) -> u64 {
        let is_single_use = match mapping {
            Mapping::Elementwise { .. } => true,
            Mapping::TransposedTiles { .. } | Mapping::FusedGemm(_) => false,
            Mapping::RowReduction { cached, .. } => cached > 0 || self.passes == 1,
            Mapping::ColumnReduction { .. } => self.passes == 1,
        };
        if !is_single_use || self.in_place {
            return 0;
        }
        let is_large = |&(_, &(_, bytes)): &(usize, &(u64, usize))| bytes > STREAMED_BYTES;
        let large = buffers.iter().enumerate().take(64).filter(is_large);
        let bits: u64 = large.fold(0, |bits, (param, _)| bits | 1 << param);
        let writes_large = (0..self.kernel.params.len().min(64))
            .any(|param| self.kernel.params[param].writes && bits >> param & 1 == 1);
        let caches_rows = matches!(mapping, Mapping::RowReduction { cached: 1.., .. });
        if writes_large && !caches_rows { 0 } else { bits }
    }

    /// The `Elementwise` mapping, or `TransposedTiles` if operands benefit from it.
    fn elementwise(
        &self,
        launch: &LaunchShape,
        points: usize,
        width: u32,
        index64: bool,
        processors: usize,
    ) -> LaunchConfig {
        if let Some(config) = self.transposed_tiles(launch, index64) {
            return config;
        }
        let items = points / width as usize;
        // Vectors of less than 16 bytes leave room for a second one per thread. For full vectors, one for each of the
        // many threads saturates memory bandwidth (measured on an H200).
        let many = items >= processors * 2048 * 2;
        let bytes = width as usize * self.min_element_bytes();
        let unroll = if many && bytes < 16 && !self.in_place && self.kernel.body.len() < 256 {
            2
        } else {
            1
        };
        let mapping = Mapping::Elementwise { unroll, minor_axis: self.minor_axis(launch, width) };
        let variant = Variant { width, index64, streamed: 0, mapping };
        let blocks = items.div_ceil((ELEMENTWISE_THREADS * unroll) as usize).min(1 << 30);
        LaunchConfig {
            variant,
            grid: [blocks as u32, 1],
            threads: ELEMENTWISE_THREADS,
            items,
            splits: 1,
            scratch: 0,
        }
    }

    /// The grid axis along which consecutive threads should lie, if it is not the vector axis. Loads that are
    /// contiguous along that axis then coalesce into fewer 32-byte sectors, and vector loads into more.
    fn minor_axis(&self, launch: &LaunchShape, width: u32) -> Option<u32> {
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
        // Sectors that a warp's access touches. A vector load along the vector axis uses half of each thread's sector
        // instead of all of it; a load along the axis needed a sector for each vector, and now shares them with its
        // neighbours.
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
        let axes = (0..kernel.grid_rank).filter(|&axis| launch.extents[axis] >= MIN_MINOR_EXTENT);
        let axis = axes.max_by_key(|&axis| saved(axis)).filter(|&axis| saved(axis) > lost);
        axis.map(|axis| axis as u32)
    }

    /// Bytes of the smallest dtype among the params.
    fn min_element_bytes(&self) -> usize {
        self.kernel.params.iter().map(|param| param.dtype.size()).min().unwrap_or(1)
    }

    /// The `TransposedTiles` mapping, if operands are contiguous along another axis than the vector axis.
    fn transposed_tiles(&self, launch: &LaunchShape, index64: bool) -> Option<LaunchConfig> {
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
        let transposed = |axis: usize, side: u32| {
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
            .map(|axis| (axis, transposed(axis, TILE_SIDES[1])))
            .filter(|(_, bits)| *bits != 0)
            .max_by_key(|(_, bits)| bits.count_ones())?;
        let extent = launch.extents[axis];
        let fits = |side: u32| extent.min(lanes) >= side as usize && transposed(axis, side) == bits;
        let side = if fits(TILE_SIDES[0]) { TILE_SIDES[0] } else { TILE_SIDES[1] };
        // A param that is loaded both directly and transposed is read from memory once if mirrored tiles follow each
        // other.
        let param = |access: usize| kernel.accesses[access].param;
        let is_transposed = |access: usize| access < 64 && bits >> access & 1 == 1;
        let reads_both_ways = loads.iter().any(|&a| {
            is_transposed(a) && loads.iter().any(|&b| !is_transposed(b) && param(a) == param(b))
        });
        let paired = reads_both_ways && extent == lanes;
        let tiles = |extent: usize| extent.div_ceil(side as usize);
        let others: usize =
            (0..vector).filter(|&other| other != axis).map(|other| launch.extents[other]).product();
        let items = match paired {
            true => others * tiles(lanes) * (tiles(lanes) + 1),
            false => others * tiles(extent) * tiles(lanes),
        };
        let full = extent.is_multiple_of(side as usize) && lanes.is_multiple_of(side as usize);
        let mapping =
            Mapping::TransposedTiles { axis: axis as u32, transposed: bits, side, paired, full };
        Some(LaunchConfig {
            variant: Variant { width: 1, index64, streamed: 0, mapping },
            grid: [items.min(1 << 30) as u32, 1],
            threads: side * TILE_THREADS,
            items,
            splits: 1,
            scratch: 0,
        })
    }

    /// The `RowReduction` mapping: threads per row, and the registers that cache it between passes.
    fn row_reduction(
        &self,
        rows: usize,
        length: usize,
        width: u32,
        index64: bool,
        (ordered, cached_bytes): (bool, usize),
        processors: usize,
    ) -> Result<LaunchConfig, String> {
        let config = |width: u32, threads: u32, block_rows: u32, cached: u32| LaunchConfig {
            variant: Variant {
                width,
                index64,
                streamed: 0,
                mapping: Mapping::RowReduction { threads, rows: block_rows, cached },
            },
            grid: [rows.div_ceil(block_rows as usize).min(1 << 30) as u32, 1],
            threads: threads * block_rows,
            items: rows,
            splits: 1,
            scratch: 0,
        };
        let rows_per_block = |threads: u32| if threads == 32 { 4 } else { 1 };
        let padded_length = length.next_power_of_two();
        if ordered {
            return Ok(config(1, 1, 128, 0));
        }
        if self.scans {
            let threads = padded_length.div_ceil(4).next_power_of_two().clamp(32, 1024) as u32;
            return Ok(config(1, threads, rows_per_block(threads), 0));
        }
        if cached_bytes > 0 && length > 0 {
            // Two vectors per thread, or four of 16-bit floats (measured on an H200). Larger blocks only if the row
            // would not fit into registers otherwise: their occupancy is low.
            let elements_per_thread = if width >= 8 { 32 } else { 8 };
            let few = if padded_length <= WARP_ROW {
                32
            } else {
                (padded_length / elements_per_thread).clamp(128, 512) as u32
            };
            let many = if padded_length <= WARP_ROW { 32 } else { 1024 };
            let more = std::iter::successors(Some(few), |threads| Some(threads * 2));
            for threads in more.take_while(|&threads| threads <= many) {
                let vectors = padded_length.div_ceil((threads * width) as usize);
                if vectors * width as usize * cached_bytes <= MAX_CACHED_BYTES {
                    return Ok(config(width, threads, rows_per_block(threads), vectors as u32));
                }
            }
        }
        if self.in_place {
            return Err(
                "a row reduction that overwrites its operand needs rows that fit into registers"
                    .to_owned(),
            );
        }
        // The largest blocks have a low occupancy and leave memory idle at their end (measured on an H200). With few
        // rows they are the only parallelism there is.
        let largest = if rows * 512 >= processors * 2048 { 512 } else { 1024 };
        let threads =
            padded_length.div_ceil(4 * width as usize).next_power_of_two().clamp(32, largest);
        let threads = threads as u32;
        // Long bodies need more registers per thread than the largest block has.
        let threads = if self.kernel.body.len() > 300 { threads.min(256) } else { threads };
        Ok(config(width, threads, rows_per_block(threads), 0))
    }

    /// The `ColumnReduction` mapping: threads and blocks that share a column, and the number of splits.
    fn column_reduction(
        &self,
        [programs, rows, columns]: [usize; 3],
        width: u32,
        index64: bool,
        (ordered, single_pass, partial_bytes): (bool, bool, usize),
        processors: usize,
    ) -> LaunchConfig {
        // With few columns, parallelism over threads is worth more than wide vectors.
        let mut width = width.min(4);
        while width > 1 && columns < (COLUMN_LANES * width) as usize {
            width /= 2;
        }
        let block_count = |width: u32| programs * columns.div_ceil((COLUMN_LANES * width) as usize);
        let mut blocks = block_count(width);
        // One or two full waves at the full occupancy of 2,048 threads per SM, in large blocks (measured on an H200): a
        // partial last wave would leave most of the device idle.
        let is_small = self.kernel.body.len() < 64;
        let block_rows = if is_small { 32 } else { 8 };
        let wave = processors * 64 / block_rows;
        let max_splits = (2 * wave / blocks.max(1)).min(rows.div_ceil(4 * block_rows)).min(1024);
        let utilization = |splits: usize| {
            let all = blocks * splits;
            all * 1000 / (all.div_ceil(wave) * wave).max(1)
        };
        // Of equally good splits the largest, so that not all blocks combine their results at the same time.
        let splits = (1..=max_splits).max_by_key(|&splits| utilization(splits)).unwrap_or(1);
        let split = single_pass && splits > 1 && blocks <= MAX_SPLIT_BLOCKS;
        // Without a split, narrower vectors make more blocks, so that fewer SMs are idle.
        while !split && width > 1 && blocks < processors {
            width /= 2;
            blocks = block_count(width);
        }
        let mut threads = match rows {
            _ if ordered => 1,
            _ if split => block_rows as u32,
            256.. if blocks < processors * 4 && self.kernel.body.len() < 128 => 32,
            16.. => 8,
            _ => 4,
        };
        while column_shared_bytes(&self.kernel, threads, width) > SHARED_BYTES {
            threads /= 2;
        }
        let splits = if split { splits } else { 1 };
        LaunchConfig {
            variant: Variant {
                width,
                index64,
                streamed: 0,
                mapping: Mapping::ColumnReduction { threads, split },
            },
            grid: [blocks.min(1 << 30) as u32, splits as u32],
            threads: COLUMN_LANES * threads,
            items: blocks,
            splits,
            scratch: if split { partial_bytes * splits * programs * columns } else { 0 },
        }
    }
}

/// All that a configuration depends on of addresses: their alignment modulo 16, as a cache key. `None` if there are too
/// many buffers for a key.
pub fn alignments(buffers: &[(u64, usize)]) -> Option<u64> {
    let append = |alignments: u64, (address, _): &(u64, usize)| (alignments << 4) | (address % 16);
    (buffers.len() <= 16).then(|| buffers.iter().fold(0, append))
}

/// The vector width of a launch: the widest accesses that its strides, extents and alignment allow.
pub fn width(kernel: &Kernel, launch: &LaunchShape, buffers: &[(u64, usize)]) -> u32 {
    let lanes = launch.extents.last().copied().unwrap_or(1);
    let mut width = max_vector_width(kernel);
    let fits = |width: u32| {
        let elements = width as usize;
        lanes % elements == 0
            && kernel.accesses.iter().zip(&launch.accesses).all(|(class, map)| {
                let Some(param) = class.param.filter(|_| class.vector == Stride::One) else {
                    return true;
                };
                let size = kernel.params[param as usize].dtype.size();
                let address = buffers[param as usize].0 as isize + map.offset * size as isize;
                let (_, outer) = map.strides.split_last().expect("a lane");
                address % (elements * size).min(16) as isize == 0
                    && outer.iter().all(|stride| stride % elements as isize == 0)
            })
    };
    while width > 1 && !fits(width) {
        width /= 2;
    }
    width
}

/// Appends the words of a launch's arguments, in the order of the declaration in the kernel's text
/// ([`Arguments`](crate::codegen::Arguments)).
pub fn append_arguments(
    words: &mut Vec<u64>,
    kernel: &Kernel,
    launch: &LaunchShape,
    buffers: &[(u64, usize)],
    scalars: &[Scalar],
    config: &LaunchConfig,
    [scratch, arrivals]: [u64; 2],
) {
    let rank = kernel.rank();
    words.extend([config.items as u64, config.splits as u64, scratch, arrivals]);
    let pad = |words: &mut Vec<u64>, is_empty: bool, count: usize| {
        if is_empty {
            words.extend(std::iter::repeat_n(0, count));
        }
    };
    words.extend(buffers.iter().map(|(address, _)| *address));
    pad(words, buffers.is_empty(), 1);
    words.extend(launch.extents.iter().map(|&extent| extent as u64));
    let has_no_accesses = launch.accesses.is_empty();
    let append = |words: &mut Vec<u64>, of: &dyn Fn(&AccessShape) -> u64| {
        words.extend(launch.accesses.iter().map(of));
        pad(words, has_no_accesses, 1);
    };
    append(words, &|access| access.offset as u64);
    words.extend(launch.accesses.iter().flat_map(|a| a.strides.iter().map(|&s| s as u64)));
    pad(words, has_no_accesses, rank);
    append(words, &|access| access.index_stride as u64);
    words.extend(scalars.iter().flat_map(|scalar| scalar.bits()));
    pad(words, scalars.is_empty(), 1);
}
