//! Convolution as implicit GEMM of `f32` on the tensor cores of Hopper (`sm_90a`), with a bf16x3 split (see
//! [`bf16x3`](crate::codegen::gemm::bf16x3)) and TMA im2col copies.
//!
//! Persistent blocks compute one tile after another. TMA im2col copies gather the windows: one thread issues a copy
//! per K-step with the tap of the windows, the features, and the first window. Completion is tracked by mbarriers,
//! and wgmma multiplies.
//!
//! If an operand has elements that a bf16x3 split cannot represent, or a result is not finite, a flag is set, and the
//! SIMT kernel recomputes the result.

use crate::codegen::gemm::{self, bf16x3};
use crate::tensor_map::{self, Im2colAxis, MAX_SPATIAL_AXES, TENSOR_MAP_WORDS, TmaTensor};
use cudarc::driver::sys::{CUtensorMapDataType, CUtensorMapSwizzle};
use inflight_backend::Fault;
use inflight_ir::DType;
use inflight_ir::plan::ImplicitGemmOperands;
use smallvec::SmallVec;

/// Rows of a tile: windows. Each of two warpgroups has half of them, in two steps.
pub const ROWS: usize = 256;

/// Threads of a block: a producer and two consumer warpgroups.
pub const THREADS: u32 = gemm::THREADS;

/// Features per K-step.
pub const DEPTH: usize = gemm::BF16X3_STAGE_K;

/// Bytes of shared memory for all stages.
const STAGES_BYTES: usize = 225 << 10;

/// TMA copies begin at multiples of this many features.
const ALIGNED_FEATURES: usize = 8;

/// Whether the operands are supported.
pub fn is_supported(operands: &ImplicitGemmOperands) -> bool {
    let (features, mut windows) = (operands.extents.features, operands.gemm.windows.iter());
    operands.dtype == DType::F32
        && features >= DEPTH
        && features.is_multiple_of(ALIGNED_FEATURES)
        && windows.all(|window| window.size > 0)
        && operands.extents.positions.iter().all(|&positions| positions > 0)
        && tensor_map::supports_im2col(&axes(operands))
}

/// The spatial axes.
fn axes(operands: &ImplicitGemmOperands) -> SmallVec<[Im2colAxis; 4]> {
    let extents = &operands.extents;
    let sizes = extents.space.iter().zip(&extents.positions);
    let axes = operands.gemm.windows.iter().zip(sizes);
    axes.map(|(window, (extent, positions))| Im2colAxis {
        stride: window.stride,
        reach: (window.size - 1) * window.dilation,
        end: extent - (positions - 1) * window.stride,
    })
    .collect()
}

/// The arguments before those of the other kernels: TMA descriptors of both split operands, strides and dilations.
pub fn arguments(
    operands: &ImplicitGemmOperands,
    columns: usize,
    [x, kernels]: [u64; 2],
) -> Result<Vec<u64>, Fault> {
    let ImplicitGemmOperands { gemm, extents, .. } = operands;
    let axes = axes(operands);
    let features = extents.features as u64;
    let images = (extents.groups() / extents.feature_groups * extents.examples) as u64;
    // The innermost axis comes first.
    let mut x_extents = vec![extents.feature_groups as u64 * features];
    x_extents.extend(extents.space.iter().rev().map(|&extent| extent as u64));
    x_extents.push(3 * images);
    let taps: usize = gemm.windows.iter().map(|window| window.size).product();
    let outputs = (extents.groups() * extents.outputs) as u64;
    let kernel_extents = [features, taps as u64, outputs, 3];
    let strides: SmallVec<[u32; 4]> = axes.iter().rev().map(|axis| axis.stride as u32).collect();
    let ends: SmallVec<[i32; 4]> = axes.iter().rev().map(|axis| axis.end as i32).collect();

    let x_strides = dense_strides(&x_extents);
    let windows = mapped_tensor(x, &x_extents, &x_strides);
    let windows = windows.im2col(&strides, &ends, [DEPTH as u32, ROWS as u32])?;
    let kernel_strides = dense_strides(&kernel_extents);
    let box_extents = [DEPTH as u32, 1, columns as u32, 1];
    let kernels = mapped_tensor(kernels, &kernel_extents, &kernel_strides).tiled(&box_extents)?;
    let mut words = Vec::with_capacity(3 * TENSOR_MAP_WORDS);
    words.extend(windows);
    words.extend(kernels);
    let missing = MAX_SPATIAL_AXES - axes.len();
    words.extend((0..missing).map(|_| 0));
    words.extend(axes.iter().map(|axis| axis.stride as u64));
    words.extend((0..missing).map(|_| 0));
    words.extend(gemm.windows.iter().map(|window| window.dilation as u64));
    words.push(images);
    Ok(words)
}

/// The strides of a dense `bf16` tensor along all axes but the innermost, in bytes.
fn dense_strides(extents: &[u64]) -> SmallVec<[u64; 5]> {
    let strides = extents.iter().scan(2, |stride, extent| {
        *stride *= extent;
        Some(*stride)
    });
    strides.take(extents.len() - 1).collect()
}

fn mapped_tensor<'a>(address: u64, extents: &'a [u64], strides: &'a [u64]) -> TmaTensor<'a> {
    TmaTensor {
        address,
        kind: CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        swizzle: CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_64B,
        extents,
        distances: strides,
    }
}

/// The kernel source, for a tile width and a number of spatial axes. It follows the declarations shared by all
/// implicit GEMM kernels.
pub fn source(columns: usize, axes: usize) -> String {
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
    [&constants, gemm::TMA_AND_WGMMA, &declarations, &im2col_copy(axes), ENTRY].join("\n")
}

/// TMA im2col copy of features of consecutive windows, the first of which begins at `at` in an image, at one tap.
fn im2col_copy(axes: usize) -> String {
    let list = |names: &mut dyn Iterator<Item = String>| names.collect::<Vec<_>>().join(", ");
    // The features, the spatial axes from the last on, and the image.
    let coordinates = list(&mut (0..axes + 2).map(|i| format!("%{}", i + 2)));
    let offsets = list(&mut (0..axes).map(|i| format!("%{}", i + axes + 5)));
    let at = list(&mut (0..axes).map(|i| format!("\"r\"(at[{}])", 2 - i)));
    let tap_offsets =
        list(&mut (0..axes).map(|i| format!("\"h\"((unsigned short)tap_offset[{}])", 2 - i)));
    format!(
        "FN void copy_windows(unsigned to, const TensorMap& map, int feature, const int (&at)[3], int image, const int (&tap_offset)[3], unsigned barrier) {{\n\
         asm volatile(\"cp.async.bulk.tensor.{}d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes \"\n\
         \"[%0], [%1, {{{coordinates}}}], [%{}], {{{offsets}}};\"\n\
         :: \"r\"(to), \"l\"(&map), \"r\"(feature), {at}, \"r\"(image), \"r\"(barrier), {tap_offsets} : \"memory\");\n}}",
        axes + 2,
        axes + 4,
    )
}

const ENTRY: &str = r#"
// TMA copy of features of the kernels, at one tap.
FN void copy_kernels(unsigned to, const TensorMap& map, int feature, int tap_offset, int kernel, int part, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
        :: "r"(to), "l"(&map), "r"(feature), "r"(tap_offset), "r"(kernel), "r"(part), "r"(barrier) : "memory");
}
// TMA descriptors of both split operands; strides and dilations of the windows; images in each of the three parts.
struct KernelArguments { TensorMap windows, kernels; N stride[3], dilation[3], images; Arguments rest; };

// Producer: issues the TMA copies of a tile.
FN void copy_tile(const KernelArguments& arguments, const Tile& t, Pipeline& pipeline) {
    const Arguments& a = arguments.rest;
    const Row first = row_of(a, t.row);
    N outer = t.group, rest = t.begin;
    const int inner = (int)divmod(outer, a.feature_groups), features = (int)a.features, blocks = (features + STAGE_K - 1) / STAGE_K;
    const int image = (int)(outer * a.examples + first.example), kernel = (int)(t.group * a.outputs + t.output);
    int feature = (int)divmod(rest, blocks) * STAGE_K, index = (int)rest, at[3], tap[3], tap_offset[3];
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) {
        at[axis] = (int)(first.position[axis] * arguments.stride[axis]);
        tap[axis] = (int)divmod(rest, a.size[axis]);
    }
    for (N step = t.begin; step < t.end; step++, pipeline.advance()) {
        const unsigned to = pipeline.address(), barrier = pipeline.full + 8 * pipeline.stage;
        #pragma unroll
        for (int axis = 0; axis < 3; axis++) tap_offset[axis] = tap[axis] * (int)arguments.dilation[axis];
        pipeline.wait_empty();
        mbarrier_expect_bytes(barrier, STAGE_BYTES);
        #pragma unroll
        for (int part = 0; part < 3; part++) {
            copy_windows(to + part * ROWS * LINE_BYTES, arguments.windows, inner * features + feature, at, image + part * (int)arguments.images, tap_offset, barrier);
            copy_kernels(to + ROW_BYTES + part * COLUMNS * LINE_BYTES, arguments.kernels, feature, index, kernel, part, barrier);
        }
        feature += STAGE_K;
        if (feature < features) continue;
        feature = 0;
        index++;
        #pragma unroll
        for (int axis = 2; axis >= 0; axis--) {
            if (++tap[axis] < (int)a.size[axis]) break;
            tap[axis] = 0;
        }
    }
}

// Stores the accumulators of 64 rows, or partial sums (split-K). A thread has two rows, and pairs of columns. Returns
// whether everything stored is finite: a bf16x3 sum may be an infinity of either sign where the f32 sum is finite or
// has one sign.
FN bool store(const Arguments& a, const Tile& t, N first_row, const float (&sums)[ACCUMULATORS], int lane) {
    const bool is_partial = a.splits > 1;
    const N column_stride = is_partial && a.output_stride != 1 ? a.rows : a.output_stride;
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    bool is_finite = true;
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        const N row = first_row + lane / 4 + 8 * k;
        if (row >= a.rows) continue;
        float* const to = is_partial ? a.sums + partial_at(a, t.split, t.group, row, t.output)
                                  : a.result + result_at(a, t.group, row) + t.output * a.output_stride;
        const bool in_pairs = column_stride == 1 && (unsigned long long)to % 8 == 0;
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
            if (x < columns) to[x * column_stride] = two.x;
            if (x + 1 < columns) to[(x + 1) * column_stride] = two.y;
        }
    }
    return is_finite;
}

extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ KernelArguments arguments) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    __shared__ unsigned long long barriers[2 * STAGES];
    Pipeline pipeline = init_pipeline(memory, barriers);
    const Arguments& a = arguments.rest;
    bool is_unrepresentable = false;
    for (int i = 0; i < 2; i++) is_unrepresentable |= is_split_inexact(a.flags[i], a.blocks[i], THREADS);
    if (is_unrepresentable) {
        if (threadIdx.x == 0) *a.fallback = 1;
        return;
    }
    const int group = threadIdx.x / 128;
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    const N tiles = a.groups * across * down * a.splits;
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (N tile = blockIdx.x; tile < tiles; tile += gridDim.x) copy_tile(arguments, tile_of(a, tile), pipeline);
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int own = group - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    if (own == 1) ping_pong_signal(own);
    for (N tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Tile counted = tile_of(a, tile);
        const int k_steps = (int)(counted.end - counted.begin);
        // Of both row halves of the warpgroup.
        float sums[2][ACCUMULATORS];
        #pragma unroll
        for (int half = 0; half < 2; half++)
            #pragma unroll
            for (int i = 0; i < ACCUMULATORS; i++) sums[half][i] = 0.0f;
        for (int step = 0; step < k_steps; step++, pipeline.advance()) {
            pipeline.wait_full();
            const unsigned at = pipeline.address() >> 4, last = thread == 0 ? pipeline.empty + 8 * pipeline.stage : 0;
            #pragma unroll
            for (int half = 0; half < 2; half++)
                mma_stage(sums[half], at, at + ((2 * own + half) * 64 * LINE_BYTES >> 4), own, half ? last : 0);
        }
        // Recompute the tile indices: there are no registers to keep them in across the main loop.
        N index = tile;
        asm volatile("" : "+l"(index) :: "memory");
        const Tile t = tile_of(a, index);
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            if (!store(a, t, t.row + (2 * own + half) * 64 + warp * 16, sums[half], lane)) *a.fallback = 1;
        }
    }
}
"#;
