//! The kernels of products of windows.

use super::Kernels;
use super::tiles::{COPIES, MATRICES, NUMBER_TILE, PIECES};
use crate::text::types;
use inflight_ir::DType;

/// Threads of a block.
pub const THREADS: usize = 256;

/// Rows of a tile: windows.
pub const ROWS: usize = 128;

/// Bytes of each row that a step multiplies.
pub const STEP_BYTES: usize = 64;

/// Multiplies.
pub const MULTIPLY: usize = 0;
/// Adds up parts.
pub const ADD: usize = 1;

/// Columns of a tile, for this many outputs.
pub fn columns(outputs: usize) -> usize {
    if outputs <= 64 { 64 } else { 128 }
}

/// The kernels for a dtype and tiles of this many columns.
pub fn kernels(dtype: DType, columns: usize) -> Kernels {
    let (stored, multiplied) = match dtype {
        DType::F16 => ("to_f16(x)", "f16"),
        DType::BF16 => ("to_bf16(x)", "bf16"),
        _ => ("x", ""),
    };
    let head = format!(
        "typedef long long N;\ntypedef {} E;\nconstexpr int ROWS = {ROWS}, COLUMNS = {columns}, THREADS = {THREADS};\n\
         FN E stored(float x) {{ return {stored}; }}\n{ARGUMENTS}",
        types::name(dtype),
    );
    let multiply = match dtype {
        DType::F32 => format!("{head}{COPIES}{PIECES}{NUMBER_TILE}{WINDOWS}{NUMBERS}"),
        _ => {
            let matrices = MATRICES.replace("HALF", multiplied);
            format!("{head}{COPIES}{matrices}{PIECES}{WINDOWS}{HALVES}")
        }
    };
    let texts = [multiply, format!("{head}{ADD_TEXT}")];
    Kernels::new(texts.map(|text| crate::text::with_functions(&text)).into(), 0)
}

const ARGUMENTS: &str = r"
struct Arguments {
    // Windows of a group, kernels of a group, groups; steps of a sum, and parts it is cut into.
    N rows, outputs, groups, steps, parts, features, taps;
    N positions[3], move[3], size[3], spread[3];
    N example, feature_groups, examples;
    N to_group, to_example, to_output, to_position[3];
    const E *x, *kernels; E* result; float* sums;
};

// Where the window of a row begins, or its results are.
struct Row { N example, position[3]; };
FN Row row_of(const Arguments& a, N row) {
    Row r;
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) {
        r.position[axis] = row % a.positions[axis];
        row /= a.positions[axis];
    }
    r.example = row;
    return r;
}
FN N window_at(const Arguments& a, N row) {
    const Row r = row_of(a, row);
    N at = r.example * a.example;
    #pragma unroll
    for (int axis = 0; axis < 3; axis++) at += r.position[axis] * a.move[axis];
    return at;
}
FN N result_at(const Arguments& a, N group, N row) {
    const Row r = row_of(a, row);
    N at = group * a.to_group + r.example * a.to_example;
    #pragma unroll
    for (int axis = 0; axis < 3; axis++) at += r.position[axis] * a.to_position[axis];
    return at;
}
";

const WINDOWS: &str = r"
// What a thread copies: one piece of each step of some rows of either matrix.
struct WindowCopier {
    const Arguments& a;
    const E *windows[ROWS / 64], *kernels[COLUMNS / 64];
    bool has_window[ROWS / 64], has_kernel[COLUMNS / 64];
    int piece, row;
    // The place of the window, and the feature, of the piece; and how many elements came before it.
    int tap[3], feature;
    N before;

    __device__ __forceinline__ WindowCopier(const Arguments& a, N group, N first_row, N first_output, N step) : a(a) {
        piece = threadIdx.x % 4;
        row = threadIdx.x / 4;
        const N inner = group % a.feature_groups, outer = group / a.feature_groups;
        #pragma unroll
        for (int i = 0; i < ROWS / 64; i++) {
            const N own = first_row + row + 64 * i;
            has_window[i] = own < a.rows;
            windows[i] = a.x + outer * a.examples * a.example + inner * a.features
                + window_at(a, has_window[i] ? own : 0);
        }
        #pragma unroll
        for (int i = 0; i < COLUMNS / 64; i++) {
            const N own = first_output + row + 64 * i;
            has_kernel[i] = own < a.outputs;
            kernels[i] = a.kernels + (group * a.outputs + (has_kernel[i] ? own : 0)) * a.taps * a.features;
        }
        before = step * STEP + piece * PIECE;
        feature = (int)(before % a.features);
        N rest = before / a.features;
        tap[2] = (int)(rest % a.size[2]);
        rest /= a.size[2];
        tap[1] = (int)(rest % a.size[1]);
        tap[0] = (int)(rest / a.size[1]);
    }

    __device__ __forceinline__ void copy(unsigned char* stage) {
        const bool is_there = tap[0] < (int)a.size[0];
        const N at = tap[0] * a.spread[0] + tap[1] * a.spread[1] + tap[2] * a.spread[2] + feature;
        #pragma unroll
        for (int i = 0; i < ROWS / 64; i++) {
            const bool copied = is_there && has_window[i];
            copy_16(stage + piece_at(row + 64 * i, piece), windows[i] + (copied ? at : 0), copied);
        }
        #pragma unroll
        for (int i = 0; i < COLUMNS / 64; i++) {
            const bool copied = is_there && has_kernel[i];
            copy_16(stage + ROWS * 64 + piece_at(row + 64 * i, piece), kernels[i] + (copied ? before : 0), copied);
        }
        before += STEP;
        feature += STEP;
        while (feature >= (int)a.features) {
            feature -= (int)a.features;
            if (++tap[2] == (int)a.size[2]) {
                tap[2] = 0;
                if (++tap[1] == (int)a.size[1]) { tap[1] = 0; tap[0]++; }
            }
        }
    }
};

// Which tile and which part of its sums a block computes.
struct Tile { N group, part, row, output, begin, end; };
FN Tile tile_of(const Arguments& a) {
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    N rest = blockIdx.x;
    Tile t;
    t.output = rest % across * COLUMNS;
    rest /= across;
    t.row = rest % down * ROWS;
    rest /= down;
    t.part = rest % a.parts;
    t.group = rest / a.parts;
    t.begin = a.steps * t.part / a.parts;
    t.end = a.steps * (t.part + 1) / a.parts;
    return t;
}

FN float* part_of(const Arguments& a, const Tile& t) {
    return a.sums + (t.part * a.groups + t.group) * a.rows * a.outputs;
}
";

const HALVES: &str = r#"
// Warps of 32 columns each, and as many rows as that leaves.
constexpr int ACROSS = COLUMNS / 32, DOWN = 8 / ACROSS, HIGH = ROWS / DOWN / 16;
constexpr int WIDTH = COLUMNS + 2;
static_assert(ROWS * WIDTH * 2 + ROWS * 8 <= STAGES * STAGE_BYTES);
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const Tile t = tile_of(a);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const int row = warp / ACROSS * (ROWS / DOWN), column = warp % ACROSS * 32;
    float sum[HIGH][4][4];
    #pragma unroll
    for (int i = 0; i < HIGH; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++) sum[i][j][k] = 0;
    const WindowCopier copier(a, t.group, t.row, t.output, t.begin);
    all_steps(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) {
        const unsigned char* kernels = stage + ROWS * 64;
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned left[HIGH][4], right[2][4];
            #pragma unroll
            for (int i = 0; i < HIGH; i++)
                load_matrices(left[i], stage + piece_at(row + 16 * i + (lane & 15), 2 * half + (lane >> 4)));
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                const int own = column + 16 * j + (lane & 7) + (lane >> 4 << 3);
                load_matrices(right[j], kernels + piece_at(own, 2 * half + (lane >> 3 & 1)));
            }
            #pragma unroll
            for (int i = 0; i < HIGH; i++)
                #pragma unroll
                for (int j = 0; j < 4; j++) multiply_matrices(sum[i][j], left[i], &right[j / 2][j % 2 * 2]);
        }
    });
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    const int own_row = row + lane / 4, own_column = column + lane % 4 * 2;
    if (a.parts > 1) {
        float* to = part_of(a, t);
        #pragma unroll
        for (int i = 0; i < HIGH; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++) {
                    const int y = own_row + 16 * i + k / 2 * 8, x = own_column + 8 * j + k % 2;
                    if (y < rows && x < columns) to[(t.row + y) * a.outputs + t.output + x] = sum[i][j][k];
                }
        return;
    }
    // Through shared memory, so that neighbouring threads write what is next to each other.
    E* tile = (E*)memory;
    N* starts = (N*)(memory + ROWS * WIDTH * 2);
    #pragma unroll
    for (int i = 0; i < HIGH; i++)
        #pragma unroll
        for (int j = 0; j < 4; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++)
                tile[(own_row + 16 * i + k / 2 * 8) * WIDTH + own_column + 8 * j + k % 2] = stored(sum[i][j][k]);
    if (threadIdx.x < ROWS && threadIdx.x < rows) starts[threadIdx.x] = result_at(a, t.group, t.row + threadIdx.x);
    __syncthreads();
    const bool along = a.to_output == 1;
    for (int e = threadIdx.x; e < ROWS * COLUMNS; e += THREADS) {
        const int y = along ? e / COLUMNS : e % ROWS, x = along ? e % COLUMNS : e / ROWS;
        if (y < rows && x < columns) a.result[starts[y] + (t.output + x) * a.to_output] = tile[y * WIDTH + x];
    }
}
"#;

const NUMBERS: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const Tile t = tile_of(a);
    NumberTile tile;
    const int row = tile.row, column = tile.column;
    const WindowCopier copier(a, t.group, t.row, t.output, t.begin);
    all_steps(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) { tile.multiply(stage); });
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    N* starts = (N*)memory;
    if (threadIdx.x < rows) {
        const N own = t.row + threadIdx.x;
        starts[threadIdx.x] = a.parts > 1 ? own * a.outputs : result_at(a, t.group, own);
    }
    __syncthreads();
    float* to = a.parts > 1 ? part_of(a, t) : a.result;
    const N distance = a.parts > 1 ? 1 : a.to_output;
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const int y = row + 8 * i;
        if (y >= rows) continue;
        #pragma unroll
        for (int j = 0; j < WIDE; j++) {
            const int x = column + 4 * j;
            if (x < columns) to[starts[y] + (t.output + x) * distance] = tile.sum[i][j];
        }
    }
}
"#;

const ADD_TEXT: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    const N total = a.groups * a.rows * a.outputs, at = (N)blockIdx.x * THREADS + threadIdx.x;
    if (at >= total) return;
    float sum = 0;
    #pragma unroll 8
    for (N part = 0; part < a.parts; part++) sum += a.sums[part * total + at];
    const N output = at % a.outputs, row = at / a.outputs % a.rows, group = at / a.outputs / a.rows;
    a.result[result_at(a, group, row) + output * a.to_output] = stored(sum);
}
"#;
