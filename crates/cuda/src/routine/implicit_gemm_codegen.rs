//! Implicit GEMM kernels: the im2col copier, the main loops, the epilogue and the split-K reduction.

use super::tile_pipeline::{ASYNC_COPIES, FMA_TILE, MMA, PIPELINE};
use super::{KernelSet, implicit_gemm_bf16x3, wgmma};
use crate::codegen::{bf16x3_split, types};
use inflight_ir::DType;

/// Rows of a tile: windows.
const ROWS: usize = 128;

/// The GEMM, or its split-K partial sums.
pub const GEMM: usize = 0;
/// The split-K reduction.
pub const SPLIT_K_REDUCE: usize = 1;
/// The bf16x3 split of an operand.
pub const BF16X3_SPLIT: usize = 2;
/// The SIMT fallback for operands that a bf16x3 split cannot represent.
pub const SIMT_FALLBACK: usize = 3;

/// Elements that a thread reduces over the splits.
pub const REDUCED_PER_THREAD: usize = 4;

/// A tile shape and its main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// Columns of a tile: kernels.
    pub columns: usize,
    pub main_loop: MainLoop,
}

/// The main loop of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MainLoop {
    /// Warps multiply from registers: `mma.sync`, or FMA for `f32`.
    Warp,
    /// Warpgroups multiply from shared memory (wgmma, `sm_90a`).
    Wgmma,
    /// wgmma with bf16x3 operands and TMA im2col copies along this many spatial axes.
    Bf16x3 { axes: usize },
}

impl Tile {
    /// The candidate tiles for a dtype, on a device with or without wgmma, the widest first.
    pub fn candidates(dtype: DType, has_wgmma: bool) -> [Tile; 2] {
        let main_loop =
            if has_wgmma && dtype != DType::F32 { MainLoop::Wgmma } else { MainLoop::Warp };
        [128, 64].map(|columns| Tile { columns, main_loop })
    }

    /// The candidate tiles of bf16x3.
    pub fn bf16x3_candidates(axes: usize) -> [Tile; 2] {
        [128, 64].map(|columns| Tile { columns, main_loop: MainLoop::Bf16x3 { axes } })
    }

    /// Rows of a tile: windows.
    pub fn rows(self) -> usize {
        if let MainLoop::Bf16x3 { .. } = self.main_loop { implicit_gemm_bf16x3::ROWS } else { ROWS }
    }

    /// Threads of a block.
    pub fn threads(self) -> u32 {
        match self.main_loop {
            MainLoop::Warp => 128,
            MainLoop::Wgmma => 256,
            MainLoop::Bf16x3 { .. } => implicit_gemm_bf16x3::THREADS,
        }
    }

    /// K-steps of a sum over this many taps and features, with elements of `bytes` bytes.
    pub fn k_steps(self, taps: usize, features: usize, bytes: usize) -> usize {
        match self.main_loop {
            MainLoop::Bf16x3 { .. } => taps * features.div_ceil(self.k_step_bytes() / bytes),
            _ => (taps * features * bytes).div_ceil(self.k_step_bytes()),
        }
    }

    /// Bytes of each row per K-step.
    pub fn k_step_bytes(self) -> usize {
        match self.main_loop {
            MainLoop::Warp => 64,
            MainLoop::Wgmma => 128,
            MainLoop::Bf16x3 { .. } => 4 * implicit_gemm_bf16x3::DEPTH,
        }
    }

    /// Occupancy: resident blocks per multiprocessor.
    pub fn blocks_per_sm(self) -> usize {
        match self.main_loop {
            MainLoop::Warp if self.columns == 64 => 3,
            MainLoop::Bf16x3 { .. } => 1,
            _ => 2,
        }
    }
}

/// Generates the kernels for a dtype and a tile.
pub fn kernels(dtype: DType, tile: Tile) -> KernelSet {
    let (stored, half) = match dtype {
        DType::F16 => ("to_f16(x)", "f16"),
        DType::BF16 => ("to_bf16(x)", "bf16"),
        _ => ("x", ""),
    };
    let Tile { columns, main_loop } = tile;
    let head = |tile: Tile| {
        format!(
            "typedef long long N;\ntypedef {} E;\n\
             constexpr int ROWS = {}, COLUMNS = {columns}, THREADS = {};\n\
             FN E stored(float x) {{ return {stored}; }}\n{ARGUMENTS}",
            types::name(dtype),
            tile.rows(),
            tile.threads(),
        )
    };
    let head_source = head(tile);
    let simt_gemm =
        |head: &str| format!("{head}{ASYNC_COPIES}{PIPELINE}{FMA_TILE}{IM2COL_COPIER}{SIMT_GEMM}");
    let gemm = match main_loop {
        MainLoop::Bf16x3 { axes } => {
            format!("{head_source}{}", implicit_gemm_bf16x3::source(columns, axes))
        }
        MainLoop::Wgmma => {
            let (wgmma, gemm) = (wgmma::declarations(columns, half), wgmma::GEMM);
            format!(
                "{head_source}{ASYNC_COPIES}{wgmma}{IM2COL_COPIER}{OUTPUT_TILE}{gemm}{OUTPUT_EPILOGUE}"
            )
        }
        MainLoop::Warp if dtype == DType::F32 => simt_gemm(&head_source),
        MainLoop::Warp => {
            let mma = MMA.replace("HALF", half);
            format!(
                "{head_source}{ASYNC_COPIES}{mma}{PIPELINE}{IM2COL_COPIER}{OUTPUT_TILE}{MMA_GEMM}{OUTPUT_EPILOGUE}"
            )
        }
    };
    let reduce =
        SPLIT_K_REDUCE_SOURCE.replace("REDUCED_PER_THREAD", &REDUCED_PER_THREAD.to_string());
    let mut sources = vec![gemm, format!("{head_source}{reduce}")];
    sources.iter_mut().for_each(|source| *source = crate::codegen::with_functions(source));
    if let MainLoop::Bf16x3 { .. } = main_loop {
        let fallback = head(Tile { main_loop: MainLoop::Warp, ..tile });
        sources.push(bf16x3_split::TEXT.clone());
        sources.push(crate::codegen::with_functions(&simt_gemm(&fallback)));
    }
    KernelSet::new(sources, 0)
}

const ARGUMENTS: &str = r"
struct Arguments {
    // Windows of a group, kernels of a group, groups; K-steps, and splits along K.
    N rows, outputs, groups, k_steps, splits, features, taps;
    N positions[3], window_stride[3], size[3], tap_stride[3];
    N example, feature_groups, examples;
    N group_stride, example_stride, output_stride, position_stride[3];
    const E *x, *kernels; E* result; float* sums;
    // bf16x3: the flags of both operands and how many there are; and a word that is nonzero if the SIMT fallback must
    // run, or null if there is no fallback.
    const unsigned* flags[2]; N blocks[2]; unsigned* fallback;
};

// Divides in place and returns the remainder. A 32-bit division is several times faster.
FN N divmod(N& x, N by) {
    const N before = x;
    x = (x | by) >> 32 ? x / by : (N)((unsigned)x / (unsigned)by);
    return before - x * by;
}

// The example and the spatial position of a row: of its window, and of its results.
struct Row { N example, position[3]; };
FN Row row_of(const Arguments& a, N row) {
    Row r;
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) r.position[axis] = divmod(row, a.positions[axis]);
    r.example = row;
    return r;
}
FN N window_at(const Arguments& a, N row) {
    const Row r = row_of(a, row);
    N at = r.example * a.example;
    #pragma unroll
    for (int axis = 0; axis < 3; axis++) at += r.position[axis] * a.window_stride[axis];
    return at;
}
// Partial sums have the order of the result: outputs contiguous, or rows.
FN N partial_at(const Arguments& a, N split, N group, N row, N output) {
    const N first = (split * a.groups + group) * a.rows * a.outputs;
    return first + (a.output_stride == 1 ? row * a.outputs + output : output * a.rows + row);
}
FN N row_at(const Arguments& a, const Row& r) {
    N at = r.example * a.example_stride;
    #pragma unroll
    for (int axis = 0; axis < 3; axis++) at += r.position[axis] * a.position_stride[axis];
    return at;
}
FN N result_at(const Arguments& a, N group, N row) { return group * a.group_stride + row_at(a, row_of(a, row)); }

// The tile and the split of a block.
struct Tile { N group, split, row, output, begin, end; };
FN Tile tile_of(const Arguments& a, N index) {
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    Tile t;
    t.output = divmod(index, across) * COLUMNS;
    t.row = divmod(index, down) * ROWS;
    t.split = divmod(index, a.splits);
    t.group = index;
    t.begin = a.k_steps * t.split / a.splits;
    t.end = a.k_steps * (t.split + 1) / a.splits;
    return t;
}
";

const IM2COL_COPIER: &str = r"
// im2col copier: each thread copies one chunk per K-step of some rows of both operands.
struct Im2colCopier {
    static constexpr int SPACING = THREADS / ROW_CHUNKS;
    static_assert(SPACING % 8 == 0);
    const Arguments& a;
    const E *windows[ROWS / SPACING], *kernels;
    // The rows left from the thread's first row on.
    int window_rows, kernel_rows, chunk, row;
    // The current tap and feature of the thread's chunk.
    int tap[3], feature;
    // The offset of the tap, and the steps from the last tap of a line, or of a plane, to the first of the next.
    N tap_at, next_line, next_plane, kernels_apart;

    // `memory` serves as scratch space for the row offsets, before the first copy.
    __device__ __forceinline__ Im2colCopier(
        const Arguments& a, N group, N first_row, N first_output, N step, unsigned char* memory) : a(a) {
        chunk = threadIdx.x % ROW_CHUNKS;
        row = threadIdx.x / ROW_CHUNKS;
        const N rows = a.rows - first_row - row, outputs = a.outputs - first_output - row;
        window_rows = (int)(rows < ROWS ? rows : ROWS);
        kernel_rows = (int)(outputs < COLUMNS ? outputs : COLUMNS);
        N* const row_offsets = (N*)memory;
        for (int y = threadIdx.x; y < ROWS; y += THREADS) {
            row_offsets[y] = window_at(a, first_row + y < a.rows ? first_row + y : 0);
        }
        __syncthreads();
        N outer = group;
        const N inner = divmod(outer, a.feature_groups);
        const E* const x = a.x + outer * a.examples * a.example + inner * a.features;
        #pragma unroll
        for (int i = 0; i < ROWS / SPACING; i++) windows[i] = x + row_offsets[row + SPACING * i];
        __syncthreads();
        const N before = step * K_STEP + chunk * CHUNK;
        kernels = a.kernels + (group * a.outputs + (kernel_rows > 0 ? first_output + row : 0)) * a.taps * a.features
            + before;
        kernels_apart = SPACING * a.taps * a.features;
        N rest = before;
        feature = (int)divmod(rest, a.features);
        tap[2] = (int)divmod(rest, a.size[2]);
        tap[1] = (int)divmod(rest, a.size[1]);
        tap[0] = (int)rest;
        tap_at = tap[0] * a.tap_stride[0] + tap[1] * a.tap_stride[1] + tap[2] * a.tap_stride[2];
        next_line = a.tap_stride[1] - a.size[2] * a.tap_stride[2];
        next_plane = a.tap_stride[0] - a.size[1] * a.tap_stride[1];
    }

    __device__ __forceinline__ void copy(unsigned char* stage) {
        // Rows this far apart are swizzled alike. Missing rows and taps are filled with zeros, without a read.
        unsigned char* const to = stage + chunk_offset(row, chunk);
        const bool is_valid = tap[0] < (int)a.size[0];
        const N tap_offset = tap_at + feature;
        #pragma unroll
        for (int i = 0; i < ROWS / SPACING; i++)
            copy_16(to + SPACING * i * ROW_BYTES, windows[i] + tap_offset, is_valid && SPACING * i < window_rows);
        const E* from = kernels;
        #pragma unroll
        for (int i = 0; i < COLUMNS / SPACING; i++, from += kernels_apart)
            copy_16(to + (ROWS + SPACING * i) * ROW_BYTES, from, is_valid && SPACING * i < kernel_rows);
        kernels += K_STEP;
        feature += K_STEP;
        while (feature >= (int)a.features) {
            feature -= (int)a.features;
            tap_at += a.tap_stride[2];
            if (++tap[2] < (int)a.size[2]) continue;
            tap[2] = 0;
            tap_at += next_line;
            if (++tap[1] < (int)a.size[1]) continue;
            tap[1] = 0;
            tap_at += next_plane;
            tap[0]++;
        }
    }
};
";

/// The layout of a 16-bit tile in shared memory, between accumulators and stores.
const OUTPUT_TILE: &str = r"
// Contiguous along the axis that is contiguous in the result, so that four elements are stored at once.
constexpr int SPACING = 8, BY_ROWS = COLUMNS + SPACING, BY_COLUMNS = ROWS + SPACING;
constexpr int TILE_BYTES = 2 * (ROWS * BY_ROWS > COLUMNS * BY_COLUMNS ? ROWS * BY_ROWS : COLUMNS * BY_COLUMNS);
static_assert(TILE_BYTES + ROWS * 8 <= STAGES * STAGE_BYTES);
struct alignas(8) Vector4 { E x[4]; };
";

const MMA_GEMM: &str = r#"
// A warp has 64 rows.
constexpr int WARPS_N = THREADS / 32 / (ROWS / 64), M_FRAGMENTS = 4, N_FRAGMENTS = COLUMNS / WARPS_N / 8;
extern "C" __global__ void __launch_bounds__(THREADS, COLUMNS == 64 ? 3 : 2)
entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const Tile t = tile_of(a, blockIdx.x);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const int row = warp / WARPS_N * 64, column = warp % WARPS_N * (8 * N_FRAGMENTS);
    float accumulator[M_FRAGMENTS][N_FRAGMENTS][4];
    #pragma unroll
    for (int i = 0; i < M_FRAGMENTS; i++)
        #pragma unroll
        for (int j = 0; j < N_FRAGMENTS; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++) accumulator[i][j][k] = 0;
    const Im2colCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    run_pipeline(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) {
        const unsigned char* kernels = stage + ROWS * 64;
        unsigned left[2][M_FRAGMENTS][4], right[2][N_FRAGMENTS / 2][4];
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            #pragma unroll
            for (int i = 0; i < M_FRAGMENTS; i++)
                ldmatrix_x4(left[half][i], stage + chunk_offset(row + 16 * i + (lane & 15), 2 * half + (lane >> 4)));
            #pragma unroll
            for (int j = 0; j < N_FRAGMENTS / 2; j++) {
                const int own = column + 16 * j + (lane & 7) + (lane >> 4 << 3);
                ldmatrix_x4(right[half][j], kernels + chunk_offset(own, 2 * half + (lane >> 3 & 1)));
            }
        }
        #pragma unroll
        for (int half = 0; half < 2; half++)
            #pragma unroll
            for (int i = 0; i < M_FRAGMENTS; i++)
                #pragma unroll
                for (int j = 0; j < N_FRAGMENTS; j++)
                    mma_m16n8k16(accumulator[i][j], left[half][i], &right[half][j / 2][j % 2 * 2]);
    });
    const int thread_row = row + lane / 4, thread_column = column + lane % 4 * 2;
"#;

/// Epilogue of 16-bit floats. A thread has the accumulators of rows `own_row + 16 i` and columns `own_column + 8 j`,
/// of the rows eight below and of the columns next to them.
const OUTPUT_EPILOGUE: &str = r#"
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    if (a.splits > 1) {
        #pragma unroll
        for (int i = 0; i < M_FRAGMENTS; i++)
            #pragma unroll
            for (int j = 0; j < N_FRAGMENTS; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++) {
                    const int y = thread_row + 16 * i + k / 2 * 8, x = thread_column + 8 * j + k % 2;
                    if (y < rows && x < columns)
                        a.sums[partial_at(a, t.split, t.group, t.row + y, t.output + x)] = accumulator[i][j][k];
                }
        return;
    }
    E* tile = (E*)memory;
    N* row_offsets = (N*)(memory + TILE_BYTES);
    const bool outputs_contiguous = a.output_stride == 1;
    const int down = outputs_contiguous ? BY_ROWS : 1, across = outputs_contiguous ? 1 : BY_COLUMNS;
    #pragma unroll
    for (int i = 0; i < M_FRAGMENTS; i++)
        #pragma unroll
        for (int j = 0; j < N_FRAGMENTS; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int y = thread_row + 16 * i + k / 2 * 8, x = thread_column + 8 * j + k % 2;
                tile[y * down + x * across] = stored(accumulator[i][j][k]);
            }
    for (int y = threadIdx.x; y < ROWS; y += THREADS) row_offsets[y] = y < rows ? result_at(a, t.group, t.row + y) : 0;
    __syncthreads();
    for (int e = threadIdx.x; e < ROWS * COLUMNS / 4; e += THREADS) {
        const int y = outputs_contiguous ? e / (COLUMNS / 4) : e % (ROWS / 4) * 4;
        const int x = outputs_contiguous ? e % (COLUMNS / 4) * 4 : e / (ROWS / 4);
        if (y >= rows || x >= columns) continue;
        const Vector4 vector4 = *(const Vector4*)&tile[y * down + x * across];
        const N to = row_offsets[y] + (t.output + x) * a.output_stride;
        const bool is_full = outputs_contiguous ? x + 3 < columns : y + 3 < rows && row_offsets[y + 3] == row_offsets[y] + 3;
        if (is_full && to % 4 == 0) { *(Vector4*)&a.result[to] = vector4; continue; }
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            if (outputs_contiguous && x + k < columns) a.result[to + k] = vector4.x[k];
            if (!outputs_contiguous && y + k < rows) a.result[row_offsets[y + k] + (t.output + x) * a.output_stride] = vector4.x[k];
        }
    }
}
"#;

const SIMT_GEMM: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS, COLUMNS == 64 ? 3 : 2)
entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    if (a.fallback && !*a.fallback) return;
    const Tile t = tile_of(a, blockIdx.x);
    FmaTile tile;
    const Im2colCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    run_pipeline(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) { tile.multiply(stage); });
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    N* row_offsets = (N*)memory;
    for (int y = threadIdx.x; y < rows; y += THREADS) {
        const N own = t.row + y;
        row_offsets[y] = a.splits > 1 ? partial_at(a, t.split, t.group, own, t.output) : result_at(a, t.group, own);
    }
    __syncthreads();
    float* to = a.splits > 1 ? a.sums : a.result + t.output * a.output_stride;
    const N column_stride = a.splits > 1 && a.output_stride != 1 ? a.rows : a.output_stride;
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const int y = tile.row + 8 * i;
        if (y >= rows) continue;
        #pragma unroll
        for (int j = 0; j < N_FRAGMENTS; j++) {
            const int x = tile.column + 4 * j;
            if (x < columns) to[row_offsets[y] + x * column_stride] = tile.accumulator[i][j];
        }
    }
}
"#;

const SPLIT_K_REDUCE_SOURCE: &str = r#"
// Contiguous elements per thread.
constexpr int PER_THREAD = REDUCED_PER_THREAD;
static_assert(PER_THREAD == 4);
struct alignas(PER_THREAD * sizeof(E)) Vector { E x[PER_THREAD]; };

// An element and its successor in the order of partial sums. Only the first element takes divisions.
struct Element { N group, output; Row row; };
FN bool next_row(const Arguments& a, Row& row) {
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) {
        if (++row.position[axis] < a.positions[axis]) return true;
        row.position[axis] = 0;
    }
    if (++row.example < a.examples) return true;
    row.example = 0;
    return false;
}
FN bool next_output(const Arguments& a, N& output) {
    if (++output < a.outputs) return true;
    output = 0;
    return false;
}
FN void next_element(const Arguments& a, bool outputs_contiguous, Element& p) {
    const bool is_valid = outputs_contiguous ? next_output(a, p.output) || next_row(a, p.row) : next_row(a, p.row) || next_output(a, p.output);
    if (!is_valid) p.group++;
}

extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    const N each = a.rows * a.outputs, total = a.groups * each;
    const N first = ((N)blockIdx.x * THREADS + threadIdx.x) * PER_THREAD;
    if (first >= total) return;
    float accumulator[PER_THREAD] = {};
    const bool is_divisible = total % PER_THREAD == 0;
    #pragma unroll 4
    for (N split = 0; split < a.splits; split++) {
        const float* const from = a.sums + split * total + first;
        if (is_divisible) {
            const float4 vector4 = *(const float4*)from;
            accumulator[0] += vector4.x; accumulator[1] += vector4.y; accumulator[2] += vector4.z; accumulator[3] += vector4.w;
            continue;
        }
        #pragma unroll
        for (int k = 0; k < PER_THREAD; k++) if (first + k < total) accumulator[k] += from[k];
    }
    const bool outputs_contiguous = a.output_stride == 1;
    Element p;
    p.group = first;
    N rest = divmod(p.group, each);
    const N inner = divmod(rest, outputs_contiguous ? a.outputs : a.rows);
    p.output = outputs_contiguous ? inner : rest;
    p.row = row_of(a, outputs_contiguous ? rest : inner);
    N to[PER_THREAD];
    bool is_contiguous = is_divisible;
    Vector vector;
    #pragma unroll
    for (int k = 0; k < PER_THREAD; k++, next_element(a, outputs_contiguous, p)) {
        to[k] = p.group * a.group_stride + row_at(a, p.row) + p.output * a.output_stride;
        is_contiguous &= to[k] == to[0] + k;
        vector.x[k] = stored(accumulator[k]);
    }
    if (is_contiguous && to[0] % PER_THREAD == 0) {
        *(Vector*)&a.result[to[0]] = vector;
        return;
    }
    #pragma unroll
    for (int k = 0; k < PER_THREAD; k++) if (first + k < total) a.result[to[k]] = vector.x[k];
}
"#;
