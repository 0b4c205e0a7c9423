//! The kernels of products of windows.

use super::tiles::{COPIES, MATRICES, NUMBER_TILE, PIECES};
use super::{Kernels, groups, implicit_gemm_bf16x3};
use crate::codegen::{bf16x3_split, types};
use inflight_ir::DType;

/// Rows of a tile: windows.
const ROWS: usize = 128;

/// Multiplies.
pub const MULTIPLY: usize = 0;
/// Adds up parts.
pub const ADD: usize = 1;
/// Splits an operand into thirds.
pub const SPLIT: usize = 2;
/// Multiplies numbers that thirds do not stand for.
pub const MULTIPLY_NUMBERS: usize = 3;

/// Elements that a thread adds up the parts of.
pub const ADDED: usize = 4;

/// How a block multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// How many columns it has: kernels.
    pub columns: usize,
    pub by: By,
}

/// Who multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum By {
    /// Warps, from registers.
    Warps,
    /// Groups of four warps, from shared memory, as Hopper can (`sm_90a`).
    Groups,
    /// The same, of numbers in thirds, of windows along so many axes.
    Bf16x3 { axes: usize },
}

impl Tile {
    /// Those that there are for a dtype, on a device whose groups of warps can multiply, the widest first.
    pub fn all(dtype: DType, has_groups: bool) -> [Tile; 2] {
        let by = if has_groups && dtype != DType::F32 { By::Groups } else { By::Warps };
        [128, 64].map(|columns| Tile { columns, by })
    }

    /// Those of numbers in thirds, on such a device.
    pub fn of_bf16x3(axes: usize) -> [Tile; 2] {
        [128, 64].map(|columns| Tile { columns, by: By::Bf16x3 { axes } })
    }

    /// How many rows it has: windows.
    pub fn rows(self) -> usize {
        if let By::Bf16x3 { .. } = self.by { implicit_gemm_bf16x3::ROWS } else { ROWS }
    }

    /// Threads of its block.
    pub fn threads(self) -> u32 {
        match self.by {
            By::Warps => 128,
            By::Groups => 256,
            By::Bf16x3 { .. } => implicit_gemm_bf16x3::THREADS,
        }
    }

    /// Steps of a sum over so many places of a window, with so many features of so many bytes at each.
    pub fn steps(self, taps: usize, features: usize, bytes: usize) -> usize {
        match self.by {
            By::Bf16x3 { .. } => taps * features.div_ceil(self.step_bytes() / bytes),
            _ => (taps * features * bytes).div_ceil(self.step_bytes()),
        }
    }

    /// Bytes of each row's elements that a step multiplies.
    pub fn step_bytes(self) -> usize {
        match self.by {
            By::Warps => 64,
            By::Groups => 128,
            By::Bf16x3 { .. } => 4 * implicit_gemm_bf16x3::DEPTH,
        }
    }

    /// Blocks that run at once on a multiprocessor.
    pub fn resident(self) -> usize {
        match self.by {
            By::Warps if self.columns == 64 => 3,
            By::Bf16x3 { .. } => 1,
            _ => 2,
        }
    }
}

/// The kernels for a dtype and a tile.
pub fn kernels(dtype: DType, tile: Tile) -> Kernels {
    let (stored, half) = match dtype {
        DType::F16 => ("to_f16(x)", "f16"),
        DType::BF16 => ("to_bf16(x)", "bf16"),
        _ => ("x", ""),
    };
    let Tile { columns, by } = tile;
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
    let own = head(tile);
    let numbers = |head: &str| format!("{head}{COPIES}{PIECES}{NUMBER_TILE}{WINDOWS}{NUMBERS}");
    let multiply = match by {
        By::Bf16x3 { axes } => format!("{own}{}", implicit_gemm_bf16x3::text(columns, axes)),
        By::Groups => {
            let (groups, multiply) = (groups::text(columns, half), groups::MULTIPLY);
            format!("{own}{COPIES}{groups}{WINDOWS}{HALVES_FORM}{multiply}{HALVES_STORED}")
        }
        By::Warps if dtype == DType::F32 => numbers(&own),
        By::Warps => {
            let matrices = MATRICES.replace("HALF", half);
            format!("{own}{COPIES}{matrices}{PIECES}{WINDOWS}{HALVES_FORM}{HALVES}{HALVES_STORED}")
        }
    };
    let add = ADD_TEXT.replace("ADDED", &ADDED.to_string());
    let mut texts = vec![multiply, format!("{own}{add}")];
    texts.iter_mut().for_each(|text| *text = crate::codegen::with_functions(text));
    if let By::Bf16x3 { .. } = by {
        let plain = head(Tile { by: By::Warps, ..tile });
        texts.push(bf16x3_split::TEXT.clone());
        texts.push(crate::codegen::with_functions(&numbers(&plain)));
    }
    Kernels::new(texts, 0)
}

const ARGUMENTS: &str = r"
struct Arguments {
    // Windows of a group, kernels of a group, groups; steps of a sum, and parts it is cut into.
    N rows, outputs, groups, steps, parts, features, taps;
    N positions[3], move[3], size[3], spread[3];
    N example, feature_groups, examples;
    N to_group, to_example, to_output, to_position[3];
    const E *x, *kernels; E* result; float* sums;
    // Of both operands in thirds: what blocks have noted, and how many did; and what is not zero if numbers are to be
    // multiplied instead, if they may be.
    const unsigned* noted[2]; N blocks[2]; unsigned* instead;
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
FN N row_at(const Arguments& a, const Row& r) {
    N at = r.example * a.to_example;
    #pragma unroll
    for (int axis = 0; axis < 3; axis++) at += r.position[axis] * a.to_position[axis];
    return at;
}
FN N result_at(const Arguments& a, N group, N row) { return group * a.to_group + row_at(a, row_of(a, row)); }

// Which tile and which part of its sums is computed.
struct Tile { N group, part, row, output, begin, end; };
FN Tile tile_of(const Arguments& a, N number) {
    const N across = (a.outputs + COLUMNS - 1) / COLUMNS, down = (a.rows + ROWS - 1) / ROWS;
    Tile t;
    t.output = take_out(number, across) * COLUMNS;
    t.row = take_out(number, down) * ROWS;
    t.part = take_out(number, a.parts);
    t.group = number;
    t.begin = a.steps * t.part / a.parts;
    t.end = a.steps * (t.part + 1) / a.parts;
    return t;
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
    const Tile t = tile_of(a, blockIdx.x);
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
    if (a.instead && !*a.instead) return;
    const Tile t = tile_of(a, blockIdx.x);
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
// Elements of a thread, next to each other in each part.
constexpr int EACH = ADDED;
static_assert(EACH == 4);
struct alignas(EACH * sizeof(E)) Several { E x[EACH]; };

// An element, and the one after it in the order of parts. Only the first is divided for.
struct Place { N group, output; Row row; };
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
FN void next_place(const Arguments& a, bool along, Place& p) {
    const bool is_there = along ? next_output(a, p.output) || next_row(a, p.row) : next_row(a, p.row) || next_output(a, p.output);
    if (!is_there) p.group++;
}

extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    const N each = a.rows * a.outputs, total = a.groups * each;
    const N first = ((N)blockIdx.x * THREADS + threadIdx.x) * EACH;
    if (first >= total) return;
    float sum[EACH] = {};
    const bool is_even = total % EACH == 0;
    #pragma unroll 4
    for (N part = 0; part < a.parts; part++) {
        const float* const from = a.sums + part * total + first;
        if (is_even) {
            const float4 four = *(const float4*)from;
            sum[0] += four.x; sum[1] += four.y; sum[2] += four.z; sum[3] += four.w;
            continue;
        }
        #pragma unroll
        for (int k = 0; k < EACH; k++) if (first + k < total) sum[k] += from[k];
    }
    const bool along = a.to_output == 1;
    Place p;
    p.group = first;
    N rest = take_out(p.group, each);
    const N inner = take_out(rest, along ? a.outputs : a.rows);
    p.output = along ? inner : rest;
    p.row = row_of(a, along ? rest : inner);
    N to[EACH];
    bool is_one = is_even;
    Several several;
    #pragma unroll
    for (int k = 0; k < EACH; k++, next_place(a, along, p)) {
        to[k] = p.group * a.to_group + row_at(a, p.row) + p.output * a.to_output;
        is_one &= to[k] == to[0] + k;
        several.x[k] = stored(sum[k]);
    }
    if (is_one && to[0] % EACH == 0) {
        *(Several*)&a.result[to[0]] = several;
        return;
    }
    #pragma unroll
    for (int k = 0; k < EACH; k++) if (first + k < total) a.result[to[k]] = several.x[k];
}
"#;
