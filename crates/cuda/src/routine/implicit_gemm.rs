//! Convolution as implicit GEMM: the im2col matrix is never stored.
//!
//! A row of the left GEMM operand is a window, whose elements a block gathers to shared memory as it needs them:
//! features at one tap of a window are contiguous, and the addresses of the taps follow from strides in the launch
//! arguments. If the result has too few tiles for the device, split-K has several blocks compute partial sums of a
//! tile, and a second kernel reduces them. This module chooses the tile, the main loop and the number of splits.

use super::implicit_gemm_codegen::{self, MainLoop, REDUCED_PER_THREAD, Tile};
use super::{
    KernelKey, Launch, MAX_CACHED, RoutineContext, implicit_gemm_bf16x3, unsupported_dtype,
};
use crate::codegen::bf16x3_split;
use crate::codegen::split_groups::{GROUP, MAX_BLOCKS, THREADS as GROUP_THREADS};
use crate::tensor_map::{MAX_SPATIAL_AXES, TENSOR_MAP_WORDS};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::ImplicitGemmOperands;

/// Throughput in multiply-adds per microsecond: `f32` by SIMT FMA, and 16-bit floats by `mma.sync`.
const FMA_RATE: f64 = 18e6;
const MMA_RATE: f64 = 180e6;

/// The same of 16-bit floats by wgmma, and of bf16x3 with wide and with narrow tiles.
const WGMMA_RATE: f64 = 250e6;
const BF16X3_RATE: f64 = 60e6;
const NARROW_BF16X3_RATE: f64 = 42e6;

/// Fewest K-steps of a split.
const MIN_SPLIT_K_STEPS: usize = 8;

/// Upper bound of the splits along K.
const MAX_SPLITS: usize = 64;

/// Cost of a block's prologue and epilogue, in bytes of a row that it could multiply meanwhile.
const BLOCK_OVERHEAD_BYTES: f64 = 384.0;

/// Microseconds of one more launch.
const LAUNCH_MICROSECONDS: f64 = 3.0;

/// With fewer multiply-adds, a bf16x3 split does not pay for its launches: the estimate is too high for few tiles.
const MIN_BF16X3_MULTIPLY_ADDS: usize = 1 << 27;

/// Empty blocks per microsecond.
const EMPTY_BLOCK_RATE: f64 = 500.0;

/// Bytes moved per microsecond.
const BYTE_RATE: f64 = 3e6;

/// Computes a convolution.
pub fn run(
    context: &mut RoutineContext,
    operands: &ImplicitGemmOperands,
    [x, kernels]: [u64; 2],
    result: u64,
) -> Result<(), Fault> {
    let ImplicitGemmOperands { dtype, gemm, extents } = operands;
    if !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        return Err(unsupported_dtype("convolution as implicit GEMM", *dtype));
    }
    let shape = gemm.shape(extents);
    if shape.element_count() == 0 {
        return Ok(());
    }
    let (groups, outputs, features) = (extents.groups(), extents.outputs, extents.features);
    let size = ProblemSize::of(operands);
    let ProblemSize { rows, taps, .. } = size;
    let processors = context.shared.processors;
    let Partitions { direct: mut partition, bf16x3 } = Partitions::of(context, operands);
    let partial = |partition: Partition| match partition.splits {
        1 => 0,
        splits => 4 * splits * size.results(),
    };
    // The bf16x3 split and the TMA im2col descriptors. Without memory for the split, or if the descriptors cannot be
    // encoded, the SIMT kernel runs.
    let mut split = None;
    if let Some(bf16x3) = bf16x3 {
        split = Bf16x3Operands::of(context, element_counts(operands), partial(bf16x3)).and_then(
            |split| {
                let columns = bf16x3.tile.columns;
                let descriptors =
                    implicit_gemm_bf16x3::arguments(operands, columns, split.data).ok()?;
                Some((split, descriptors))
            },
        );
        if split.is_some() {
            partition = bf16x3;
        }
    }
    let Partition { tile, splits, .. } = partition;
    let partial_sums = match (&split, partial(partition)) {
        (Some((split, _)), _) => split.partial_sums,
        (None, 0) => 0,
        (None, bytes) => context.allocate_scratch(bytes)?,
    };

    // Missing spatial axes have one position.
    let missing = MAX_SPATIAL_AXES - extents.space.len();
    let padded = |values: &mut dyn Iterator<Item = usize>, fill: usize| {
        let mut padded = [fill as u64; MAX_SPATIAL_AXES];
        values.zip(&mut padded[missing..]).for_each(|(value, to)| *to = value as u64);
        padded
    };
    // Strides of `x` along each spatial axis, and then from example to example.
    let mut x_strides = vec![0; extents.space.len()];
    let mut example = extents.feature_groups * features;
    for (x_stride, extent) in x_strides.iter_mut().zip(&extents.space).rev() {
        *x_stride = example;
        example *= extent;
    }
    let strides = shape.strides();
    let [group_axis, example_axis, output_axis, first] = gemm.axes();
    let windows = || gemm.windows.iter().zip(&x_strides);
    let words = |tile: Tile| {
        let k_steps = size.k_steps(tile);
        let counts = [rows, outputs, groups, k_steps, splits, features, taps];
        let mut words = counts.map(|n| n as u64).to_vec();
        words.extend(padded(&mut extents.positions.iter().copied(), 1));
        words.extend(padded(&mut windows().map(|(window, x_stride)| window.stride * x_stride), 0));
        words.extend(padded(&mut gemm.windows.iter().map(|window| window.size), 1));
        words
            .extend(padded(&mut windows().map(|(window, x_stride)| window.dilation * x_stride), 0));
        words.extend([example, extents.feature_groups, extents.examples].map(|n| n as u64));
        words.extend([group_axis, example_axis, output_axis].map(|axis| strides[axis] as u64));
        words.extend(padded(&mut strides[first..first + extents.space.len()].iter().copied(), 0));
        words.extend([x, kernels, result, partial_sums]);
        words.extend(split.as_ref().map_or([0; 5], |(split, _)| split.words()));
        words
    };

    let key = KernelKey::ImplicitGemm { dtype: *dtype, tile };
    let prepared = context.kernels(key, || Ok(implicit_gemm_codegen::kernels(*dtype, tile)))?;
    let launch = |tile: Tile, blocks: usize, words: Vec<u64>| Launch {
        blocks,
        threads: tile.threads(),
        words,
    };
    match &split {
        None => {
            let gemm = launch(tile, size.tiles(tile) * splits, words(tile));
            context.launch(&prepared, implicit_gemm_codegen::GEMM, gemm)?;
        }
        Some((split, descriptors)) => {
            for launch in split.launches([x, kernels]) {
                context.launch(&prepared, implicit_gemm_codegen::BF16X3_SPLIT, launch)?;
            }
            let mut arguments = descriptors.clone();
            arguments.extend(words(tile));
            arguments.resize(arguments.len().next_multiple_of(TENSOR_MAP_WORDS), 0);
            let blocks = (size.tiles(tile) * splits).min(processors);
            context.launch(
                &prepared,
                implicit_gemm_codegen::GEMM,
                launch(tile, blocks, arguments),
            )?;
            let fallback = Tile { main_loop: MainLoop::Warp, ..tile };
            let gemm = launch(fallback, size.tiles(fallback) * splits, words(fallback));
            context.launch(&prepared, implicit_gemm_codegen::SIMT_FALLBACK, gemm)?;
        }
    }
    if splits == 1 {
        return Ok(());
    }
    let blocks = size.results().div_ceil(REDUCED_PER_THREAD * tile.threads() as usize);
    context.launch(
        &prepared,
        implicit_gemm_codegen::SPLIT_K_REDUCE,
        launch(tile, blocks, words(tile)),
    )
}

/// The best partition with the dtype's own main loop, and that of bf16x3 if it is faster. Cached per problem:
/// estimating takes longer than a lookup.
#[derive(Clone, Copy)]
pub(super) struct Partitions {
    direct: Partition,
    bf16x3: Option<Partition>,
}

impl Partitions {
    fn of(context: &RoutineContext, operands: &ImplicitGemmOperands) -> Partitions {
        let cached = context.shared.routines.partitions.lock().get(operands).copied();
        cached.unwrap_or_else(|| {
            let partitions =
                Partitions::estimate(operands, context.shared.has_wgmma, context.shared.processors);
            let mut cache = context.shared.routines.partitions.lock();
            if cache.len() >= MAX_CACHED {
                cache.clear();
            }
            cache.insert(operands.clone(), partitions);
            partitions
        })
    }

    fn estimate(operands: &ImplicitGemmOperands, has_wgmma: bool, processors: usize) -> Partitions {
        let size = ProblemSize::of(operands);
        let direct = size.partition(Tile::candidates(operands.dtype, has_wgmma), processors);
        let bf16x3 = may_use_bf16x3(operands, has_wgmma).then(|| {
            let bf16x3 =
                size.partition(Tile::bf16x3_candidates(operands.extents.space.len()), processors);
            let split = Bf16x3Operands::time(
                element_counts(operands).iter().sum(),
                size.tiles(direct.tile),
            );
            (bf16x3.time + split < direct.time).then_some(bf16x3)
        });
        Partitions { direct, bf16x3: bf16x3.flatten() }
    }
}

/// Whether bf16x3 supports the operands and may pay.
pub fn may_use_bf16x3(operands: &ImplicitGemmOperands, has_wgmma: bool) -> bool {
    let size = ProblemSize::of(operands);
    let multiply_adds = size.results().saturating_mul(size.taps * size.features);
    has_wgmma
        && multiply_adds >= MIN_BF16X3_MULTIPLY_ADDS
        && implicit_gemm_bf16x3::is_supported(operands)
}

/// The elements of `x` and of the kernels.
fn element_counts(operands: &ImplicitGemmOperands) -> [usize; 2] {
    let (extents, ProblemSize { groups, outputs, taps, features, .. }) =
        (&operands.extents, ProblemSize::of(operands));
    let examples = extents.space.iter().product::<usize>() * extents.examples;
    [groups * examples * features, groups * outputs * taps * features]
}

/// Operands split into three `bf16` (bf16x3).
struct Bf16x3Operands {
    data: [u64; 2],
    /// The addresses of the flags that the splitting blocks write, one per block, and the number of blocks.
    flags: [u64; 2],
    blocks: [usize; 2],
    /// Elements of each operand.
    counts: [usize; 2],
    /// The address of a word that is nonzero if the SIMT kernel must recompute the result.
    fallback: u64,
    /// The address of the split-K partial sums.
    partial_sums: u64,
}

impl Bf16x3Operands {
    /// Estimated microseconds to split this many elements, and to launch a fallback whose blocks exit at once.
    fn time(elements: usize, blocks: usize) -> f64 {
        let idle = blocks as f64 / EMPTY_BLOCK_RATE;
        (10 * elements) as f64 / BYTE_RATE + 3.0 * LAUNCH_MICROSECONDS + idle
    }

    /// Allocates the split operands and the partial sums. `None` without memory for them.
    fn of(
        context: &mut RoutineContext,
        counts: [usize; 2],
        partial_sums: usize,
    ) -> Option<Bf16x3Operands> {
        // The kernel has 32-bit element counts.
        if counts.iter().any(|&count| count >= 1 << 31) {
            return None;
        }
        let blocks = counts
            .map(|count| count.div_ceil(2 * GROUP * GROUP_THREADS as usize).clamp(1, MAX_BLOCKS));
        let bytes = counts.map(|count| (6 * count).next_multiple_of(256));
        let flags_bytes = 4 * MAX_BLOCKS;
        let memory = context
            .allocate_scratch(bytes[0] + bytes[1] + 2 * flags_bytes + 256 + partial_sums)
            .ok()?;
        let data = [memory, memory + bytes[0] as u64];
        let first = data[1] + bytes[1] as u64;
        let flags = [first, first + flags_bytes as u64];
        let fallback = first + 2 * flags_bytes as u64;
        Some(Bf16x3Operands { data, flags, blocks, counts, fallback, partial_sums: fallback + 256 })
    }

    /// The launches that split both operands.
    fn launches(&self, operands: [u64; 2]) -> [Launch; 2] {
        [0, 1].map(|at| {
            // A single line.
            let (count, groups) = (self.counts[at], self.counts[at] / GROUP);
            let arguments = bf16x3_split::Arguments {
                from: operands[at],
                to: self.data[at],
                flags: self.flags[at],
                leading: count,
                columns: count,
                line_groups: groups,
                groups,
                clear: self.fallback,
            };
            let words = arguments.words();
            Launch { blocks: self.blocks[at], threads: GROUP_THREADS, words }
        })
    }

    /// The arguments of the GEMM kernels.
    fn words(&self) -> [u64; 5] {
        let [first, second] = self.blocks.map(|blocks| blocks as u64);
        [self.flags[0], self.flags[1], first, second, self.fallback]
    }
}

/// The extents of the GEMM.
#[derive(Clone, Copy)]
struct ProblemSize {
    dtype: DType,
    groups: usize,
    /// M: the windows of a group. N: its kernels.
    rows: usize,
    outputs: usize,
    /// K: the taps of a window, and the features of each.
    taps: usize,
    features: usize,
}

/// A tile and its number of splits along K, with the estimated time in microseconds.
#[derive(Clone, Copy, Debug)]
struct Partition {
    tile: Tile,
    splits: usize,
    time: f64,
}

impl ProblemSize {
    fn of(operands: &ImplicitGemmOperands) -> ProblemSize {
        let ImplicitGemmOperands { dtype, gemm, extents } = operands;
        ProblemSize {
            dtype: *dtype,
            groups: extents.groups(),
            rows: extents.examples * extents.positions.iter().product::<usize>(),
            outputs: extents.outputs,
            taps: gemm.windows.iter().map(|window| window.size).product(),
            features: extents.features,
        }
    }

    /// Elements of the result.
    fn results(&self) -> usize {
        self.groups * self.rows * self.outputs
    }

    /// The number of tiles.
    fn tiles(&self, tile: Tile) -> usize {
        self.groups * self.rows.div_ceil(tile.rows()) * self.outputs.div_ceil(tile.columns)
    }

    /// K-steps of a tile.
    fn k_steps(&self, tile: Tile) -> usize {
        tile.k_steps(self.taps, self.features, self.dtype.size())
    }

    /// Chooses the tile and the split-K factor with the least estimated time on a device of this many
    /// multiprocessors.
    fn partition(&self, candidates: [Tile; 2], processors: usize) -> Partition {
        let of = |tile: Tile, splits: usize| {
            // Microseconds of a K-step at full occupancy.
            let rate = match (tile.main_loop, self.dtype) {
                (MainLoop::Bf16x3 { .. }, _) if tile.columns == 128 => BF16X3_RATE,
                (MainLoop::Bf16x3 { .. }, _) => NARROW_BF16X3_RATE,
                (MainLoop::Wgmma, _) => WGMMA_RATE,
                (MainLoop::Warp, DType::F32) => FMA_RATE,
                (MainLoop::Warp, _) => MMA_RATE,
            };
            let multiply_adds =
                tile.rows() * tile.columns * tile.k_step_bytes() / self.dtype.size();
            let slots = tile.blocks_per_sm() * processors;
            let step = (multiply_adds * slots) as f64 / rate;
            let waves = (self.tiles(tile) * splits).div_ceil(slots) as f64;
            let k_steps = self.k_steps(tile).div_ceil(splits) as f64;
            let multiplied =
                waves * (k_steps + BLOCK_OVERHEAD_BYTES / tile.k_step_bytes() as f64) * step;
            let moved = (8 * splits * self.results()) as f64 / BYTE_RATE;
            let time = multiplied + if splits > 1 { LAUNCH_MICROSECONDS + moved } else { 0.0 };
            Partition { tile, splits, time }
        };
        let partitions = |tile: Tile| {
            let max_splits = (self.k_steps(tile) / MIN_SPLIT_K_STEPS).clamp(1, MAX_SPLITS);
            (1..=max_splits).map(move |splits| of(tile, splits))
        };
        let partitions = candidates.into_iter().flat_map(partitions);
        partitions.min_by(|a, b| a.time.total_cmp(&b.time)).unwrap_or(of(candidates[0], 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chosen tile and number of splits.
    fn partition_of(size: ProblemSize, candidates: [Tile; 2]) -> (Tile, usize) {
        let Partition { tile, splits, .. } = size.partition(candidates, 132);
        (tile, splits)
    }

    #[test]
    fn split_k_is_chosen_for_few_tiles() {
        let dtype = DType::BF16;
        for has_wgmma in [false, true] {
            let candidates = Tile::candidates(dtype, has_wgmma);
            let size = |rows, outputs, features| ProblemSize {
                dtype,
                groups: 1,
                rows,
                outputs,
                taps: 1,
                features,
            };
            // The gradient of a 3 × 3 kernel: large K, five tiles.
            let (tile, splits) = partition_of(size(576, 64, 200_704), candidates);
            assert!(tile.columns == 64 && (40..=64).contains(&splits), "{tile:?} {splits}");
            // A large result.
            assert_eq!(partition_of(size(200_704, 64, 576), candidates), (candidates[1], 1));
            assert_eq!(partition_of(size(200_704, 1024, 576), candidates).1, 1);
        }
        let candidates = Tile::candidates(DType::F32, true);
        let size =
            ProblemSize { dtype: DType::F32, groups: 1, rows: 1, outputs: 1, taps: 1, features: 1 };
        assert_eq!(partition_of(size, candidates), (candidates[1], 1));
    }

    #[test]
    fn bf16x3_is_faster_for_large_f32_convolutions() {
        let times = |size: ProblemSize, elements: usize| {
            let direct = size.partition(Tile::candidates(DType::F32, true), 132);
            let bf16x3 = size.partition(Tile::bf16x3_candidates(2), 132);
            (bf16x3.time + Bf16x3Operands::time(elements, 2000), direct.time)
        };
        // Layers of a residual network with 64 examples.
        for (rows, features, elements) in [(200_704, 64, 13_800_000), (12_544, 256, 4_800_000)] {
            let (dtype, groups, taps) = (DType::F32, 1, 9);
            let size = ProblemSize { dtype, groups, rows, outputs: features, taps, features };
            let (bf16x3, direct) = times(size, elements);
            assert!(bf16x3 < 0.7 * direct, "{bf16x3} and {direct}");
        }
    }
}
