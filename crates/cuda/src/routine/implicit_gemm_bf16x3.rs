//! Products of windows of `f32` on the matrix units of Hopper (`sm_90a`), with each number in three parts, as
//! [`thirds`](crate::codegen::gemm::bf16x3) has it.
//!
//! A block computes one tile after another, as those of other products do. The device's own copies know how to walk
//! windows: one thread says at which place of the windows, with which features, and of which window on.
//!
//! Where an operand has numbers that thirds do not stand for, or a result is not finite, that is noted, and another kernel
//! multiplies the numbers instead.

use crate::codegen::gemm::{self, bf16x3};
use crate::tensor_map::{self, Im2colAxis, MAX_SPATIAL_AXES, TENSOR_MAP_WORDS, TmaTensor};
use cudarc::driver::sys::{CUtensorMapDataType, CUtensorMapSwizzle};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::ImplicitGemmOperands;
use smallvec::SmallVec;

/// Rows of a tile: windows. Each of two groups of warps has half of them, in two halves.
pub const ROWS: usize = 256;

/// Threads of a block: those that copy, and two groups that multiply.
pub const THREADS: u32 = gemm::THREADS;

/// Features that a step multiplies.
pub const DEPTH: usize = gemm::BF16X3_STAGE_K;

/// Bytes of shared memory that all stages may have.
const STAGES_BYTES: usize = 225 << 10;

/// Copies begin at multiples of so many features.
const ALIGNED_FEATURES: usize = 8;

/// Whether operands may be multiplied so.
pub fn may_multiply(operands: &ImplicitGemmOperands) -> bool {
    let (features, mut windows) = (operands.extents.features, operands.product.windows.iter());
    operands.dtype == DType::F32
        && features >= DEPTH
        && features.is_multiple_of(ALIGNED_FEATURES)
        && windows.all(|window| window.size > 0)
        && operands.extents.positions.iter().all(|&positions| positions > 0)
        && tensor_map::supports_im2col(&axes(operands))
}

/// The axes of space.
fn axes(operands: &ImplicitGemmOperands) -> SmallVec<[Im2colAxis; 4]> {
    let extents = &operands.extents;
    let sizes = extents.space.iter().zip(&extents.positions);
    let axes = operands.product.windows.iter().zip(sizes);
    axes.map(|(window, (extent, positions))| Im2colAxis {
        stride: window.stride,
        reach: (window.size - 1) * window.dilation,
        end: extent - (positions - 1) * window.stride,
    })
    .collect()
}

/// What the kernel takes before all others take: where the thirds of both operands are, and how windows are walked.
pub fn arguments(
    operands: &ImplicitGemmOperands,
    columns: usize,
    [x, kernels]: [u64; 2],
) -> Result<Vec<u64>, Fault> {
    let ImplicitGemmOperands { product, extents, .. } = operands;
    let axes = axes(operands);
    let features = extents.features as u64;
    let images = (extents.groups() / extents.feature_groups * extents.examples) as u64;
    // The axis that lies closest comes first.
    let mut of_x = vec![extents.feature_groups as u64 * features];
    of_x.extend(extents.space.iter().rev().map(|&extent| extent as u64));
    of_x.push(3 * images);
    let taps: usize = product.windows.iter().map(|window| window.size).product();
    let outputs = (extents.groups() * extents.outputs) as u64;
    let of_kernels = [features, taps as u64, outputs, 3];
    let strides: SmallVec<[u32; 4]> = axes.iter().rev().map(|axis| axis.stride as u32).collect();
    let ends: SmallVec<[i32; 4]> = axes.iter().rev().map(|axis| axis.end as i32).collect();

    let distances = distances_of(&of_x);
    let windows = mapped(x, &of_x, &distances);
    let windows = windows.im2col(&strides, &ends, [DEPTH as u32, ROWS as u32])?;
    let distances = distances_of(&of_kernels);
    let part = [DEPTH as u32, 1, columns as u32, 1];
    let kernels = mapped(kernels, &of_kernels, &distances).tiled(&part)?;
    let mut words = Vec::with_capacity(3 * TENSOR_MAP_WORDS);
    words.extend(windows);
    words.extend(kernels);
    let missing = MAX_SPATIAL_AXES - axes.len();
    words.extend((0..missing).map(|_| 0));
    words.extend(axes.iter().map(|axis| axis.stride as u64));
    words.extend((0..missing).map(|_| 0));
    words.extend(product.windows.iter().map(|window| window.dilation as u64));
    words.push(images);
    Ok(words)
}

/// From an element to the next along each axis but the first, in bytes of halves that lie one after another.
fn distances_of(extents: &[u64]) -> SmallVec<[u64; 5]> {
    let distances = extents.iter().scan(2, |distance, extent| {
        *distance *= extent;
        Some(*distance)
    });
    distances.take(extents.len() - 1).collect()
}

fn mapped<'a>(address: u64, extents: &'a [u64], distances: &'a [u64]) -> TmaTensor<'a> {
    TmaTensor {
        address,
        kind: CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        swizzle: CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        extents,
        distances,
    }
}

/// The kernel, for tiles of so many columns and windows along so many axes. It goes by what all kernels of windows do.
pub fn text(columns: usize, axes: usize) -> String {
    let stage_bytes = bf16x3::stage_bytes(ROWS, columns);
    let stages = STAGES_BYTES / stage_bytes;
    let constants = format!(
        "constexpr int STAGES = {stages}, ACCUMULATORS = {};\n\
         constexpr unsigned STAGE_BYTES = {stage_bytes};\n\
         {}{};\n",
        gemm::accumulators(columns),
        gemm::SHARED_BYTES,
        stages * stage_bytes + 1024,
    );
    let declarations = bf16x3::declarations([false, false], columns);
    [&constants, gemm::TMA_AND_WGMMA, &declarations, &copy(axes), ENTRY].join("\n")
}

/// Copies features of windows, from one that begins `at` in an image, and at a place of each of them.
fn copy(axes: usize) -> String {
    let list = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    // The features, the axes of space from the last on, and the image.
    let coordinates = list(&mut (0..axes + 2).map(|i| format!("%{}", i + 2)));
    let offsets = list(&mut (0..axes).map(|i| format!("%{}", i + axes + 5)));
    let at = list(&mut (0..axes).map(|i| format!("\"r\"(at[{}])", 2 - i)));
    let places = list(&mut (0..axes).map(|i| format!("\"h\"((unsigned short)place[{}])", 2 - i)));
    format!(
        "FN void copy_windows(unsigned to, const TensorMap& map, int feature, const int (&at)[3], int image, const int (&place)[3], unsigned barrier) {{\n\
         asm volatile(\"cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes \"\n\
         \"[%0], [%1, {{{coordinates}}}], [%{}], {{{offsets}}};\"\n\
         :: \"r\"(to), \"l\"(&map), \"r\"(feature), {at}, \"r\"(image), \"r\"(barrier), {places} : \"memory\");\n}}",
        axes + 2,
        axes + 4,
    )
}

const ENTRY: &str = r#"
// Copies features of kernels, at a place of each of them.
FN void copy_kernels(unsigned to, const TensorMap& map, int feature, int place, int kernel, int third, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
        :: "r"(to), "l"(&map), "r"(feature), "r"(place), "r"(kernel), "r"(third), "r"(barrier) : "memory");
}
// Both in thirds; how far windows are apart, and their elements; and how many images there are of each third.
struct All { TensorMap windows, kernels; N stride[3], dilation[3], images; Arguments rest; };

// Copies what belongs to a tile.
FN void copy_tile(const All& all, const Tile& t, Pipeline& pipeline) {
    const Arguments& a = all.rest;
    const Row first = row_of(a, t.row);
    N outer = t.group, rest = t.begin;
    const int inner = (int)take_out(outer, a.feature_groups), features = (int)a.features, blocks = (features + STAGE_K - 1) / STAGE_K;
    const int image = (int)(outer * a.examples + first.example), kernel = (int)(t.group * a.outputs + t.output);
    int feature = (int)take_out(rest, blocks) * STAGE_K, number = (int)rest, at[3], tap[3], place[3];
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) {
        at[axis] = (int)(first.position[axis] * all.stride[axis]);
        tap[axis] = (int)take_out(rest, a.size[axis]);
    }
    for (N step = t.begin; step < t.end; step++, pipeline.advance()) {
        const unsigned to = pipeline.address(), barrier = pipeline.full + 8 * pipeline.stage;
        #pragma unroll
        for (int axis = 0; axis < 3; axis++) place[axis] = tap[axis] * (int)all.dilation[axis];
        pipeline.wait_empty();
        mbarrier_expect_bytes(barrier, STAGE_BYTES);
        #pragma unroll
        for (int third = 0; third < 3; third++) {
            copy_windows(to + third * ROWS * LINE_BYTES, all.windows, inner * features + feature, at, image + third * (int)all.images, place, barrier);
            copy_kernels(to + ROW_BYTES + third * COLUMNS * LINE_BYTES, all.kernels, feature, number, kernel, third, barrier);
        }
        feature += STAGE_K;
        if (feature < features) continue;
        feature = 0;
        number++;
        #pragma unroll
        for (int axis = 2; axis >= 0; axis--) {
            if (++tap[axis] < (int)a.size[axis]) break;
            tap[axis] = 0;
        }
    }
}

// Stores sums of 64 rows, or parts of them, from this row on. A thread has two rows, and pairs of columns. Says whether all
// that it has stored is finite: products of thirds may be infinite, of either sign, where that of the numbers is not, or is of
// one sign.
FN bool store(const Arguments& a, const Tile& t, N first_row, const float (&sums)[ACCUMULATORS], int lane) {
    const bool is_part = a.parts > 1;
    const N distance = is_part && a.to_output != 1 ? a.rows : a.to_output;
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    bool is_finite = true;
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        const N row = first_row + lane / 4 + 8 * k;
        if (row >= a.rows) continue;
        float* const to = is_part ? a.sums + part_at(a, t.part, t.group, row, t.output)
                                  : a.result + result_at(a, t.group, row) + t.output * a.to_output;
        const bool in_pairs = distance == 1 && (unsigned long long)to % 8 == 0;
        #pragma unroll
        for (int j = 0; j < COLUMNS / 8; j++) {
            const int x = 8 * j + lane % 4 * 2;
            const float2 two = {sums[4 * j + 2 * k], sums[4 * j + 2 * k + 1]};
            is_finite &= x >= columns || fabsf(two.x) < __int_as_float(0x7f800000);
            is_finite &= x + 1 >= columns || fabsf(two.y) < __int_as_float(0x7f800000);
            if (in_pairs && x + 1 < columns) {
                *(float2*)&to[x] = two;
                continue;
            }
            if (x < columns) to[x * distance] = two.x;
            if (x + 1 < columns) to[(x + 1) * distance] = two.y;
        }
    }
    return is_finite;
}

extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ All all) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    __shared__ unsigned long long barriers[2 * STAGES];
    Pipeline pipeline = init_pipeline(memory, barriers);
    const Arguments& a = all.rest;
    bool is_odd = false;
    for (int i = 0; i < 2; i++) is_odd |= is_split_inexact(a.noted[i], a.blocks[i], THREADS);
    if (is_odd) {
        if (threadIdx.x == 0) *a.instead = 1;
        return;
    }
    const int group = threadIdx.x / 128;
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    const N tiles = a.groups * across * down * a.parts;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (N tile = blockIdx.x; tile < tiles; tile += gridDim.x) copy_tile(all, tile_of(a, tile), pipeline);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int own = group - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    if (own == 1) ping_pong_signal(own);
    for (N tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Tile counted = tile_of(a, tile);
        const int steps = (int)(counted.end - counted.begin);
        // Of both halves of the group's rows.
        float sums[2][ACCUMULATORS];
        #pragma unroll
        for (int half = 0; half < 2; half++)
            #pragma unroll
            for (int i = 0; i < ACCUMULATORS; i++) sums[half][i] = 0.0f;
        for (int step = 0; step < steps; step++, pipeline.advance()) {
            pipeline.wait_full();
            const unsigned at = pipeline.address() >> 4, last = thread == 0 ? pipeline.empty + 8 * pipeline.stage : 0;
            #pragma unroll
            for (int half = 0; half < 2; half++)
                mma_stage(sums[half], at, at + ((2 * own + half) * 64 * LINE_BYTES >> 4), own, half ? last : 0);
        }
        // Which tile it is is found out again: registers are short until here.
        N number = tile;
        asm volatile("" : "+l"(number) :: "memory");
        const Tile t = tile_of(a, number);
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            if (!store(a, t, t.row + (2 * own + half) * 64 + warp * 16, sums[half], lane)) *a.instead = 1;
        }
    }
}
"#;
