//! Products of windows and kernels: convolutions whose windows are in no memory.
//!
//! It is a matrix product. A row of the left matrix is a window, whose elements a block copies to shared memory as it
//! needs them: a place of the window and some features are next to each other in memory, and where a window's places
//! are follows from numbers that come with the launch. Where there are too few tiles of the result for the device,
//! several blocks add up parts of a tile's sums, and another kernel adds these.

use super::implicit_gemm_codegen::{self, ADDED, By, Tile};
use super::{Key, Launch, MOST_KINDS, Site, implicit_gemm_bf16x3, wrong_dtype};
use crate::codegen::bf16x3_split;
use crate::codegen::split_groups::{GROUP, MAX_BLOCKS, THREADS as GROUP_THREADS};
use crate::tensor_map::{MAX_SPATIAL_AXES, TENSOR_MAP_WORDS};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::ImplicitGemmOperands;

/// Products of numbers, and of halves, in a microsecond.
const NUMBERS_PER_TIME: f64 = 18e6;
const HALVES_PER_TIME: f64 = 180e6;

/// The same of halves that groups of warps multiply, and of numbers in thirds.
const GROUPED_PER_TIME: f64 = 250e6;
const THIRDS_PER_TIME: f64 = 60e6;
const NARROW_THIRDS_PER_TIME: f64 = 42e6;

/// Each part of a sum has at least this many steps.
const FEWEST_STEPS: usize = 8;

/// The most parts of a sum.
const MOST_PARTS: usize = 64;

/// About what a block's beginning and end cost, in bytes of a row that could be multiplied.
const EDGE_BYTES: f64 = 384.0;

/// Microseconds of one more launch.
const LAUNCH_TIME: f64 = 3.0;

/// Fewer products of numbers are not worth the launches: what is estimated of few tiles is too much.
const LEAST_SPLIT: usize = 1 << 27;

/// Blocks that begin and end in a microsecond.
const BLOCKS_PER_TIME: f64 = 500.0;

/// Bytes that are moved in a microsecond.
const BYTES_PER_TIME: f64 = 3e6;

/// Multiplies windows with kernels.
pub fn product(
    site: &mut Site,
    operands: &ImplicitGemmOperands,
    [x, kernels]: [u64; 2],
    result: u64,
) -> Result<(), Fault> {
    let ImplicitGemmOperands { dtype, product, extents } = operands;
    if !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        return Err(wrong_dtype("products of windows", *dtype));
    }
    let shape = product.shape(extents);
    if shape.elements() == 0 {
        return Ok(());
    }
    let (groups, outputs, features) = (extents.groups(), extents.outputs, extents.features);
    let sizes = Sizes::of(operands);
    let Sizes { rows, taps, .. } = sizes;
    let processors = site.shared.processors;
    let Cuts { numbers: mut cut, thirds } = Cuts::of(site, operands);
    let partial = |cut: Cut| match cut.parts {
        1 => 0,
        parts => 4 * parts * sizes.results(),
    };
    // Bf16x3, and how the copies walk. Where there is no memory for the one, or no way for the other, numbers are multiplied.
    let mut split = None;
    if let Some(thirds) = thirds {
        split = Split::of(site, counts(operands), partial(thirds)).and_then(|split| {
            let columns = thirds.tile.columns;
            let walk = implicit_gemm_bf16x3::arguments(operands, columns, split.thirds).ok()?;
            Some((split, walk))
        });
        if split.is_some() {
            cut = thirds;
        }
    }
    let Cut { tile, parts, .. } = cut;
    let sums = match (&split, partial(cut)) {
        (Some((split, _)), _) => split.sums,
        (None, 0) => 0,
        (None, bytes) => site.temporary(bytes)?,
    };

    // Axes of space that there are not have one position.
    let missing = MAX_SPATIAL_AXES - extents.space.len();
    let padded = |values: &mut dyn Iterator<Item = usize>, fill: usize| {
        let mut padded = [fill as u64; MAX_SPATIAL_AXES];
        values.zip(&mut padded[missing..]).for_each(|(value, to)| *to = value as u64);
        padded
    };
    // Distances in `x`: along each axis of space, then from example to example.
    let mut distances = vec![0; extents.space.len()];
    let mut example = extents.feature_groups * features;
    for (distance, extent) in distances.iter_mut().zip(&extents.space).rev() {
        *distance = example;
        example *= extent;
    }
    let strides = shape.strides();
    let [group_axis, example_axis, output_axis, first] = product.axes();
    let windows = || product.windows.iter().zip(&distances);
    let words = |tile: Tile| {
        let steps = sizes.steps(tile);
        let counts = [rows, outputs, groups, steps, parts, features, taps];
        let mut words = counts.map(|n| n as u64).to_vec();
        words.extend(padded(&mut extents.positions.iter().copied(), 1));
        words.extend(padded(&mut windows().map(|(window, distance)| window.stride * distance), 0));
        words.extend(padded(&mut product.windows.iter().map(|window| window.size), 1));
        words
            .extend(padded(&mut windows().map(|(window, distance)| window.dilation * distance), 0));
        words.extend([example, extents.feature_groups, extents.examples].map(|n| n as u64));
        words.extend([group_axis, example_axis, output_axis].map(|axis| strides[axis] as u64));
        words.extend(padded(&mut strides[first..first + extents.space.len()].iter().copied(), 0));
        words.extend([x, kernels, result, sums]);
        words.extend(split.as_ref().map_or([0; 5], |(split, _)| split.words()));
        words
    };

    let key = Key::ImplicitGemm { dtype: *dtype, tile };
    let prepared = site.kernels(key, || Ok(implicit_gemm_codegen::kernels(*dtype, tile)))?;
    let launch = |tile: Tile, blocks: usize, words: Vec<u64>| Launch {
        blocks,
        threads: tile.threads(),
        words,
    };
    match &split {
        None => {
            let multiply = launch(tile, sizes.tiles(tile) * parts, words(tile));
            site.launch(&prepared, implicit_gemm_codegen::MULTIPLY, multiply)?;
        }
        Some((split, walk)) => {
            for launch in split.launches([x, kernels]) {
                site.launch(&prepared, implicit_gemm_codegen::SPLIT, launch)?;
            }
            let mut all = walk.clone();
            all.extend(words(tile));
            all.resize(all.len().next_multiple_of(TENSOR_MAP_WORDS), 0);
            let blocks = (sizes.tiles(tile) * parts).min(processors);
            site.launch(&prepared, implicit_gemm_codegen::MULTIPLY, launch(tile, blocks, all))?;
            let plain = Tile { by: By::Warps, ..tile };
            let multiply = launch(plain, sizes.tiles(plain) * parts, words(plain));
            site.launch(&prepared, implicit_gemm_codegen::MULTIPLY_NUMBERS, multiply)?;
        }
    }
    if parts == 1 {
        return Ok(());
    }
    let blocks = sizes.results().div_ceil(ADDED * tile.threads() as usize);
    site.launch(&prepared, implicit_gemm_codegen::ADD, launch(tile, blocks, words(tile)))
}

/// How a product is best cut, of numbers or halves as they are, and of thirds if that is faster. To find it out takes longer
/// than to look it up.
#[derive(Clone, Copy)]
pub(super) struct Cuts {
    numbers: Cut,
    thirds: Option<Cut>,
}

impl Cuts {
    fn of(site: &Site, operands: &ImplicitGemmOperands) -> Cuts {
        let known = site.shared.routines.cuts.lock().get(operands).copied();
        known.unwrap_or_else(|| {
            let cuts = Cuts::found(operands, site.shared.has_wgmma, site.shared.processors);
            let mut all = site.shared.routines.cuts.lock();
            if all.len() >= MOST_KINDS {
                all.clear();
            }
            all.insert(operands.clone(), cuts);
            cuts
        })
    }

    fn found(operands: &ImplicitGemmOperands, has_groups: bool, processors: usize) -> Cuts {
        let sizes = Sizes::of(operands);
        let numbers = sizes.cut(Tile::all(operands.dtype, has_groups), processors);
        let thirds = may_use_bf16x3(operands, has_groups).then(|| {
            let thirds = sizes.cut(Tile::of_bf16x3(operands.extents.space.len()), processors);
            let split = Split::time(counts(operands).iter().sum(), sizes.tiles(numbers.tile));
            (thirds.time + split < numbers.time).then_some(thirds)
        });
        Cuts { numbers, thirds: thirds.flatten() }
    }
}

/// Whether operands may be multiplied in thirds, and it may be worth it.
pub fn may_use_bf16x3(operands: &ImplicitGemmOperands, has_groups: bool) -> bool {
    let sizes = Sizes::of(operands);
    let products = sizes.results().saturating_mul(sizes.taps * sizes.features);
    has_groups && products >= LEAST_SPLIT && implicit_gemm_bf16x3::may_multiply(operands)
}

/// Numbers of what the windows are of, and of the kernels.
fn counts(operands: &ImplicitGemmOperands) -> [usize; 2] {
    let (extents, Sizes { groups, outputs, taps, features, .. }) =
        (&operands.extents, Sizes::of(operands));
    let examples = extents.space.iter().product::<usize>() * extents.examples;
    [groups * examples * features, groups * outputs * taps * features]
}

/// Operands in thirds.
struct Split {
    thirds: [u64; 2],
    /// What those who split note, and how many they are.
    noted: [u64; 2],
    blocks: [usize; 2],
    /// Numbers of each.
    counts: [usize; 2],
    /// What is not zero when numbers are to be multiplied instead.
    instead: u64,
    /// Memory for parts of sums.
    sums: u64,
}

impl Split {
    /// What it takes to split so many numbers, to launch what does, and to launch so many blocks that have nothing to do.
    fn time(numbers: usize, blocks: usize) -> f64 {
        let idle = blocks as f64 / BLOCKS_PER_TIME;
        (10 * numbers) as f64 / BYTES_PER_TIME + 3.0 * LAUNCH_TIME + idle
    }

    /// Memory for such operands and so many bytes of sums. `None` if there is none.
    fn of(site: &mut Site, counts: [usize; 2], sums: usize) -> Option<Split> {
        // The kernel counts them in 32 bits.
        if counts.iter().any(|&count| count >= 1 << 31) {
            return None;
        }
        let blocks = counts
            .map(|count| count.div_ceil(2 * GROUP * GROUP_THREADS as usize).clamp(1, MAX_BLOCKS));
        let sizes = counts.map(|count| (6 * count).next_multiple_of(256));
        let notes = 4 * MAX_BLOCKS;
        let memory = site.temporary(sizes[0] + sizes[1] + 2 * notes + 256 + sums).ok()?;
        let thirds = [memory, memory + sizes[0] as u64];
        let first = thirds[1] + sizes[1] as u64;
        let noted = [first, first + notes as u64];
        let instead = first + 2 * notes as u64;
        Some(Split { thirds, noted, blocks, counts, instead, sums: instead + 256 })
    }

    /// What splits both.
    fn launches(&self, operands: [u64; 2]) -> [Launch; 2] {
        [0, 1].map(|at| {
            // One line.
            let (count, groups) = (self.counts[at], self.counts[at] / GROUP);
            let arguments = bf16x3_split::Arguments {
                from: operands[at],
                to: self.thirds[at],
                flags: self.noted[at],
                leading: count,
                columns: count,
                line_groups: groups,
                groups,
                clear: self.instead,
            };
            let words = arguments.words();
            Launch { blocks: self.blocks[at], threads: GROUP_THREADS, words }
        })
    }

    /// As the kernels take it.
    fn words(&self) -> [u64; 5] {
        let [first, second] = self.blocks.map(|blocks| blocks as u64);
        [self.noted[0], self.noted[1], first, second, self.instead]
    }
}

/// How much there is to multiply.
#[derive(Clone, Copy)]
struct Sizes {
    dtype: DType,
    groups: usize,
    /// Windows of a group, and its kernels.
    rows: usize,
    outputs: usize,
    /// AllocationHints of a window, and features at each.
    taps: usize,
    features: usize,
}

/// Which tiles, into how many parts their sums are cut, and what that takes by estimate, in microseconds.
#[derive(Clone, Copy, Debug)]
struct Cut {
    tile: Tile,
    parts: usize,
    time: f64,
}

impl Sizes {
    fn of(operands: &ImplicitGemmOperands) -> Sizes {
        let ImplicitGemmOperands { dtype, product, extents } = operands;
        Sizes {
            dtype: *dtype,
            groups: extents.groups(),
            rows: extents.examples * extents.positions.iter().product::<usize>(),
            outputs: extents.outputs,
            taps: product.windows.iter().map(|window| window.size).product(),
            features: extents.features,
        }
    }

    /// Elements of the result.
    fn results(&self) -> usize {
        self.groups * self.rows * self.outputs
    }

    /// How many tiles there are.
    fn tiles(&self, tile: Tile) -> usize {
        self.groups * self.rows.div_ceil(tile.rows()) * self.outputs.div_ceil(tile.columns)
    }

    /// How many steps there are to a tile's sums.
    fn steps(&self, tile: Tile) -> usize {
        tile.steps(self.taps, self.features, self.dtype.size())
    }

    /// Cuts sums so that all multiprocessors have work.
    fn cut(&self, kinds: [Tile; 2], processors: usize) -> Cut {
        let of = |tile: Tile, parts: usize| {
            // Microseconds of a step while all places are taken.
            let rate = match (tile.by, self.dtype) {
                (By::Bf16x3 { .. }, _) if tile.columns == 128 => THIRDS_PER_TIME,
                (By::Bf16x3 { .. }, _) => NARROW_THIRDS_PER_TIME,
                (By::Groups, _) => GROUPED_PER_TIME,
                (By::Warps, DType::F32) => NUMBERS_PER_TIME,
                (By::Warps, _) => HALVES_PER_TIME,
            };
            let products = tile.rows() * tile.columns * tile.step_bytes() / self.dtype.size();
            let places = tile.resident() * processors;
            let step = (products * places) as f64 / rate;
            let rounds = (self.tiles(tile) * parts).div_ceil(places) as f64;
            let steps = self.steps(tile).div_ceil(parts) as f64;
            let multiplied = rounds * (steps + EDGE_BYTES / tile.step_bytes() as f64) * step;
            let moved = (8 * parts * self.results()) as f64 / BYTES_PER_TIME;
            let time = multiplied + if parts > 1 { LAUNCH_TIME + moved } else { 0.0 };
            Cut { tile, parts, time }
        };
        let cuts = |tile: Tile| {
            let most = (self.steps(tile) / FEWEST_STEPS).clamp(1, MOST_PARTS);
            (1..=most).map(move |parts| of(tile, parts))
        };
        let cuts = kinds.into_iter().flat_map(cuts);
        cuts.min_by(|a, b| a.time.total_cmp(&b.time)).unwrap_or(of(kinds[0], 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which tile, and how many parts.
    fn cut_of(sizes: Sizes, kinds: [Tile; 2]) -> (Tile, usize) {
        let Cut { tile, parts, .. } = sizes.cut(kinds, 132);
        (tile, parts)
    }

    #[test]
    fn sums_are_cut_where_there_are_few_tiles() {
        let dtype = DType::BF16;
        for has_groups in [false, true] {
            let kinds = Tile::all(dtype, has_groups);
            let sizes = |rows, outputs, features| Sizes {
                dtype,
                groups: 1,
                rows,
                outputs,
                taps: 1,
                features,
            };
            // The gradient of a 3 × 3 kernel: long sums, five tiles.
            let (tile, parts) = cut_of(sizes(576, 64, 200_704), kinds);
            assert!(tile.columns == 64 && (40..=64).contains(&parts), "{tile:?} {parts}");
            // A large result.
            assert_eq!(cut_of(sizes(200_704, 64, 576), kinds), (kinds[1], 1));
            assert_eq!(cut_of(sizes(200_704, 1024, 576), kinds).1, 1);
        }
        let kinds = Tile::all(DType::F32, true);
        let sizes =
            Sizes { dtype: DType::F32, groups: 1, rows: 1, outputs: 1, taps: 1, features: 1 };
        assert_eq!(cut_of(sizes, kinds), (kinds[1], 1));
    }

    #[test]
    fn large_convolutions_of_numbers_are_of_thirds() {
        let times = |sizes: Sizes, numbers: usize| {
            let plain = sizes.cut(Tile::all(DType::F32, true), 132);
            let thirds = sizes.cut(Tile::of_bf16x3(2), 132);
            (thirds.time + Split::time(numbers, 2000), plain.time)
        };
        // As large as the layers of a residual network with 64 examples.
        for (rows, features, numbers) in [(200_704, 64, 13_800_000), (12_544, 256, 4_800_000)] {
            let (dtype, groups, taps) = (DType::F32, 1, 9);
            let sizes = Sizes { dtype, groups, rows, outputs: features, taps, features };
            let (thirds, plain) = times(sizes, numbers);
            assert!(thirds < 0.7 * plain, "{thirds} and {plain}");
        }
    }
}
