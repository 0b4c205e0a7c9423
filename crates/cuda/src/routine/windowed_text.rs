//! The kernels of products of windows.

use super::Kernels;
use super::groups;
use super::tiles::{COPIES, MATRICES, NUMBER_TILE, PIECES};
use crate::text::types;
use inflight_ir::DType;

/// Rows of a tile: windows.
pub const ROWS: usize = 128;

/// Multiplies.
pub const MULTIPLY: usize = 0;
/// Adds up parts.
pub const ADD: usize = 1;

/// How a block multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// How many columns it has: kernels.
    pub columns: usize,
    /// Whether groups of four warps multiply from shared memory, as Hopper can (`sm_90a`).
    pub grouped: bool,
}

impl Tile {
    /// Those that there are for a dtype, on a device whose groups of warps can multiply, the widest first.
    pub fn all(dtype: DType, has_groups: bool) -> [Tile; 2] {
        [128, 64].map(|columns| Tile { columns, grouped: has_groups && dtype != DType::F32 })
    }

    /// Threads of its block.
    pub fn threads(self) -> usize {
        if self.grouped { 256 } else { 128 }
    }

    /// Bytes of each row that a step multiplies.
    pub fn step_bytes(self) -> usize {
        if self.grouped { 128 } else { 64 }
    }

    /// Blocks that run at once on a multiprocessor.
    pub fn resident(self) -> usize {
        if self.columns == 64 && !self.grouped { 3 } else { 2 }
    }
}

/// The kernels for a dtype and a tile.
pub fn kernels(dtype: DType, tile: Tile) -> Kernels {
    let (stored, multiplied) = match dtype {
        DType::F16 => ("to_f16(x)", "f16"),
        DType::BF16 => ("to_bf16(x)", "bf16"),
        _ => ("x", ""),
    };
    let Tile { columns, grouped } = tile;
    let head = format!(
        "typedef long long N;\ntypedef {} E;\n\
         constexpr int ROWS = {ROWS}, COLUMNS = {columns}, THREADS = {};\n\
         FN E stored(float x) {{ return {stored}; }}\n{ARGUMENTS}",
        types::name(dtype),
        tile.threads(),
    );
    let multiply = match dtype {
        DType::F32 => format!("{head}{COPIES}{PIECES}{NUMBER_TILE}{WINDOWS}{NUMBERS}"),
        _ if grouped => {
            let groups = groups::text(columns, multiplied);
            format!(
                "{head}{COPIES}{groups}{WINDOWS}{HALVES_FORM}{}{HALVES_STORED}",
                groups::MULTIPLY
            )
        }
        _ => {
            let matrices = MATRICES.replace("HALF", multiplied);
            format!("{head}{COPIES}{matrices}{PIECES}{WINDOWS}{HALVES_FORM}{HALVES}{HALVES_STORED}")
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

// Divides and returns what is left over. What fits 32 bits is divided several times as fast.
FN N take_out(N& x, N by) {
    const N before = x;
    x = (x | by) >> 32 ? x / by : (N)((unsigned)x / (unsigned)by);
    return before - x * by;
}

// Where the window of a row begins, or its results are.
struct Row { N example, position[3]; };
FN Row row_of(const Arguments& a, N row) {
    Row r;
    #pragma unroll
    for (int axis = 2; axis >= 0; axis--) r.position[axis] = take_out(row, a.positions[axis]);
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
// Parts of sums are in the order of the result: outputs next to each other, or rows.
FN N part_at(const Arguments& a, N part, N group, N row, N output) {
    const N first = (part * a.groups + group) * a.rows * a.outputs;
    return first + (a.to_output == 1 ? row * a.outputs + output : output * a.rows + row);
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
    static constexpr int APART = THREADS / ROW_PIECES;
    static_assert(APART % 8 == 0);
    const Arguments& a;
    const E *windows[ROWS / APART], *kernels;
    // How many rows there are from the first of the thread's on.
    int window_rows, kernel_rows, piece, row;
    // The place of the window, where it is, and the feature of the piece.
    int tap[3], feature;
    // From the last place of a line, or of a plane, to the first of the next.
    N tap_at, next_line, next_plane, kernels_apart;

    // There is room for where rows begin in `memory`, before anything is copied there.
    __device__ __forceinline__ WindowCopier(
        const Arguments& a, N group, N first_row, N first_output, N step, unsigned char* memory) : a(a) {
        piece = threadIdx.x % ROW_PIECES;
        row = threadIdx.x / ROW_PIECES;
        const N rows = a.rows - first_row - row, outputs = a.outputs - first_output - row;
        window_rows = (int)(rows < ROWS ? rows : ROWS);
        kernel_rows = (int)(outputs < COLUMNS ? outputs : COLUMNS);
        N* const starts = (N*)memory;
        for (int y = threadIdx.x; y < ROWS; y += THREADS) {
            starts[y] = window_at(a, first_row + y < a.rows ? first_row + y : 0);
        }
        __syncthreads();
        N outer = group;
        const N inner = take_out(outer, a.feature_groups);
        const E* const x = a.x + outer * a.examples * a.example + inner * a.features;
        #pragma unroll
        for (int i = 0; i < ROWS / APART; i++) windows[i] = x + starts[row + APART * i];
        __syncthreads();
        const N before = step * STEP + piece * PIECE;
        kernels = a.kernels + (group * a.outputs + (kernel_rows > 0 ? first_output + row : 0)) * a.taps * a.features
            + before;
        kernels_apart = APART * a.taps * a.features;
        N rest = before;
        feature = (int)take_out(rest, a.features);
        tap[2] = (int)take_out(rest, a.size[2]);
        tap[1] = (int)take_out(rest, a.size[1]);
        tap[0] = (int)rest;
        tap_at = tap[0] * a.spread[0] + tap[1] * a.spread[1] + tap[2] * a.spread[2];
        next_line = a.spread[1] - a.size[2] * a.spread[2];
        next_plane = a.spread[0] - a.size[1] * a.spread[1];
    }

    __device__ __forceinline__ void copy(unsigned char* stage) {
        // Rows that are so far apart are swizzled alike. Where nothing is to be copied, nothing is read.
        unsigned char* const to = stage + piece_at(row, piece);
        const bool is_there = tap[0] < (int)a.size[0];
        const N place = tap_at + feature;
        #pragma unroll
        for (int i = 0; i < ROWS / APART; i++)
            copy_16(to + APART * i * ROW_BYTES, windows[i] + place, is_there && APART * i < window_rows);
        const E* from = kernels;
        #pragma unroll
        for (int i = 0; i < COLUMNS / APART; i++, from += kernels_apart)
            copy_16(to + (ROWS + APART * i) * ROW_BYTES, from, is_there && APART * i < kernel_rows);
        kernels += STEP;
        feature += STEP;
        while (feature >= (int)a.features) {
            feature -= (int)a.features;
            tap_at += a.spread[2];
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

// Which tile and which part of its sums a block computes.
struct Tile { N group, part, row, output, begin, end; };
FN Tile tile_of(const Arguments& a) {
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    N rest = blockIdx.x;
    Tile t;
    t.output = take_out(rest, across) * COLUMNS;
    t.row = take_out(rest, down) * ROWS;
    t.part = take_out(rest, a.parts);
    t.group = rest;
    t.begin = a.steps * t.part / a.parts;
    t.end = a.steps * (t.part + 1) / a.parts;
    return t;
}

";

/// How a tile of halves lies in shared memory before it is stored.
const HALVES_FORM: &str = r"
// What is next to each other in the result is so in shared memory too, four elements at a time.
constexpr int APART = 8, BY_ROWS = COLUMNS + APART, BY_COLUMNS = ROWS + APART;
constexpr int TILE_BYTES = 2 * (ROWS * BY_ROWS > COLUMNS * BY_COLUMNS ? ROWS * BY_ROWS : COLUMNS * BY_COLUMNS);
static_assert(TILE_BYTES + ROWS * 8 <= STAGES * STAGE_BYTES);
struct alignas(8) Four { E x[4]; };
";

const HALVES: &str = r#"
// A warp has 64 rows.
constexpr int ACROSS = THREADS / 32 / (ROWS / 64), HIGH = 4, WIDE = COLUMNS / ACROSS / 8;
extern "C" __global__ void __launch_bounds__(THREADS, COLUMNS == 64 ? 3 : 2)
entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const Tile t = tile_of(a);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    const int row = warp / ACROSS * 64, column = warp % ACROSS * (8 * WIDE);
    float sum[HIGH][WIDE][4];
    #pragma unroll
    for (int i = 0; i < HIGH; i++)
        #pragma unroll
        for (int j = 0; j < WIDE; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++) sum[i][j][k] = 0;
    const WindowCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    all_steps(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) {
        const unsigned char* kernels = stage + ROWS * 64;
        unsigned left[2][HIGH][4], right[2][WIDE / 2][4];
        #pragma unroll
        for (int half = 0; half < 2; half++) {
            #pragma unroll
            for (int i = 0; i < HIGH; i++)
                load_matrices(left[half][i], stage + piece_at(row + 16 * i + (lane & 15), 2 * half + (lane >> 4)));
            #pragma unroll
            for (int j = 0; j < WIDE / 2; j++) {
                const int own = column + 16 * j + (lane & 7) + (lane >> 4 << 3);
                load_matrices(right[half][j], kernels + piece_at(own, 2 * half + (lane >> 3 & 1)));
            }
        }
        #pragma unroll
        for (int half = 0; half < 2; half++)
            #pragma unroll
            for (int i = 0; i < HIGH; i++)
                #pragma unroll
                for (int j = 0; j < WIDE; j++)
                    multiply_matrices(sum[i][j], left[half][i], &right[half][j / 2][j % 2 * 2]);
    });
    const int own_row = row + lane / 4, own_column = column + lane % 4 * 2;
"#;

/// What a thread does with the sums of rows `own_row + 16 i` and columns `own_column + 8 j`, and of the rows eight below
/// and the columns next to them.
const HALVES_STORED: &str = r#"
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    if (a.parts > 1) {
        #pragma unroll
        for (int i = 0; i < HIGH; i++)
            #pragma unroll
            for (int j = 0; j < WIDE; j++)
                #pragma unroll
                for (int k = 0; k < 4; k++) {
                    const int y = own_row + 16 * i + k / 2 * 8, x = own_column + 8 * j + k % 2;
                    if (y < rows && x < columns)
                        a.sums[part_at(a, t.part, t.group, t.row + y, t.output + x)] = sum[i][j][k];
                }
        return;
    }
    E* tile = (E*)memory;
    N* starts = (N*)(memory + TILE_BYTES);
    const bool along = a.to_output == 1;
    const int down = along ? BY_ROWS : 1, across = along ? 1 : BY_COLUMNS;
    #pragma unroll
    for (int i = 0; i < HIGH; i++)
        #pragma unroll
        for (int j = 0; j < WIDE; j++)
            #pragma unroll
            for (int k = 0; k < 4; k++) {
                const int y = own_row + 16 * i + k / 2 * 8, x = own_column + 8 * j + k % 2;
                tile[y * down + x * across] = stored(sum[i][j][k]);
            }
    for (int y = threadIdx.x; y < ROWS; y += THREADS) starts[y] = y < rows ? result_at(a, t.group, t.row + y) : 0;
    __syncthreads();
    for (int e = threadIdx.x; e < ROWS * COLUMNS / 4; e += THREADS) {
        const int y = along ? e / (COLUMNS / 4) : e % (ROWS / 4) * 4;
        const int x = along ? e % (COLUMNS / 4) * 4 : e / (ROWS / 4);
        if (y >= rows || x >= columns) continue;
        const Four four = *(const Four*)&tile[y * down + x * across];
        const N to = starts[y] + (t.output + x) * a.to_output;
        const bool whole = along ? x + 3 < columns : y + 3 < rows && starts[y + 3] == starts[y] + 3;
        if (whole && to % 4 == 0) { *(Four*)&a.result[to] = four; continue; }
        #pragma unroll
        for (int k = 0; k < 4; k++) {
            if (along && x + k < columns) a.result[to + k] = four.x[k];
            if (!along && y + k < rows) a.result[starts[y + k] + (t.output + x) * a.to_output] = four.x[k];
        }
    }
}
"#;

const NUMBERS: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS, COLUMNS == 64 ? 3 : 2)
entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const Tile t = tile_of(a);
    NumberTile tile;
    const WindowCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    all_steps(copier, (int)(t.end - t.begin), memory, [&](const unsigned char* stage) { tile.multiply(stage); });
    const int rows = (int)(a.rows - t.row < ROWS ? a.rows - t.row : ROWS);
    const int columns = (int)(a.outputs - t.output < COLUMNS ? a.outputs - t.output : COLUMNS);
    N* starts = (N*)memory;
    for (int y = threadIdx.x; y < rows; y += THREADS) {
        const N own = t.row + y;
        starts[y] = a.parts > 1 ? part_at(a, t.part, t.group, own, t.output) : result_at(a, t.group, own);
    }
    __syncthreads();
    float* to = a.parts > 1 ? a.sums : a.result + t.output * a.to_output;
    const N distance = a.parts > 1 && a.to_output != 1 ? a.rows : a.to_output;
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const int y = tile.row + 8 * i;
        if (y >= rows) continue;
        #pragma unroll
        for (int j = 0; j < WIDE; j++) {
            const int x = tile.column + 4 * j;
            if (x < columns) to[starts[y] + x * distance] = tile.sum[i][j];
        }
    }
}
"#;

const ADD_TEXT: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    const N each = a.rows * a.outputs, total = a.groups * each, at = (N)blockIdx.x * THREADS + threadIdx.x;
    if (at >= total) return;
    float sum = 0;
    #pragma unroll 8
    for (N part = 0; part < a.parts; part++) sum += a.sums[part * total + at];
    const bool along = a.to_output == 1;
    N group = at, rest = take_out(group, each);
    const N first = take_out(rest, along ? a.outputs : a.rows);
    const N row = along ? rest : first, output = along ? first : rest;
    a.result[result_at(a, group, row) + output * a.to_output] = stored(sum);
}
"#;
