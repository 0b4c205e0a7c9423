//! The kernels of triangular factors and solutions, in blocks of 32 rows.

use super::{Kernels, wrong_dtype};
use crate::codegen::types;
use inflight_backend::Fault;
use inflight_ir::DType;

/// Rows and columns of a block on the diagonal: a warp has a thread for each.
pub const BLOCK: usize = 32;

/// Rows and columns of a product that a block of threads takes off.
pub const TILE: usize = 64;

/// Threads of a block, but for those that solve.
pub const THREADS: usize = 256;

/// Matrices that a block of threads factors, each by a warp.
pub const FACTORED: usize = 4;

/// From what is stored to what is computed in, elementwise, or the lower triangle of matrices.
pub const TO_NUMBERS: usize = 0;
/// The other way.
pub const TO_STORED: usize = 1;
/// Factors a block on the diagonal.
pub const FACTOR: usize = 2;
/// Solves with a block on the diagonal.
pub const SOLVE: usize = 3;
/// Takes a product off.
pub const SUBTRACT: usize = 4;

/// The dtype that matrices of a dtype are computed in, if there is one.
pub fn number(dtype: DType) -> Result<DType, Fault> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Ok(DType::F32),
        DType::F64 | DType::C64 | DType::C128 => Ok(dtype),
        _ => Err(wrong_dtype("triangular factors and solutions", dtype)),
    }
}

/// Threads, and systems, of a block that solves.
pub fn systems(number: DType) -> usize {
    512 / number.size()
}

/// The types and functions that kernels for a dtype have in common.
pub fn head(dtype: DType) -> Result<String, Fault> {
    let number = number(dtype)?;
    let (load, store) = match dtype {
        DType::F16 => ("to_float(x)", "to_f16(x)"),
        DType::BF16 => ("to_float(x)", "to_bf16(x)"),
        _ => ("x", "x"),
    };
    let field = if number.is_complex() { COMPLEX } else { REAL };
    let part = if number.real() == DType::F32 { "float" } else { "double" };
    Ok(format!(
        "typedef long long N;\ntypedef {} S;\ntypedef {} T;\ntypedef {part} R;\n\
         constexpr int BLOCK = {BLOCK}, TILE = {TILE}, DEPTH = {}, SYSTEMS = {};\n\
         FN T loaded(S x) {{ return {load}; }}\nFN S stored(T x) {{ return {store}; }}\n{FIELD}{field}",
        types::name(dtype),
        types::name(number),
        128 / number.size(),
        systems(number),
    ))
}

/// Writes the kernels for a dtype.
pub fn kernels(dtype: DType) -> Result<Kernels, Fault> {
    let head = head(dtype)?;
    let text = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    Ok(Kernels::new(
        [LOAD_TEXT, STORE_TEXT, FACTOR_TEXT, SOLVE_TEXT, UPDATE_TEXT].map(text).into(),
        0,
    ))
}

const FIELD: &str = r"
FN R fused(R a, R b, R c) {
    if constexpr (sizeof(R) == 4) return __fmaf_rn(a, b, c); else return __fma_rn(a, b, c);
}
FN R root_of(R x) { return x > (R)0 ? sqrt(x) : (R)__longlong_as_double(0x7ff8000000000000ll); }
template <class V> FN V from_lane(V x, int lane) {
    unsigned w[sizeof(V) / 4];
    memcpy(w, &x, sizeof(V));
    #pragma unroll
    for (int i = 0; i < (int)(sizeof(V) / 4); i++) w[i] = __shfl_sync(~0u, w[i], lane);
    memcpy(&x, w, sizeof(V));
    return x;
}
";

const REAL: &str = r"
FN T zero() { return (T)0; }
FN T one() { return (T)1; }
FN T conjugate(T x) { return x; }
FN T root(T x) { return root_of(x); }
FN T over(T a, T b) { return a / b; }
// c - a b
FN T less(T c, T a, T b) { return fused(-a, b, c); }
";

const COMPLEX: &str = r"
FN T zero() { return T{(R)0, (R)0}; }
FN T one() { return T{(R)1, (R)0}; }
FN T conjugate(T x) { return T{x.re, -x.im}; }
FN T root(T x) { return T{root_of(x.re), (R)0}; }
FN T over(T a, T b) {
    const R n = b.re * b.re + b.im * b.im;
    return T{(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
}
FN T less(T c, T a, T b) {
    return T{fused(a.im, b.im, fused(-a.re, b.re, c.re)), fused(-a.im, b.re, fused(-a.re, b.im, c.im))};
}
";

const LOAD_TEXT: &str = r#"
// Matrices are loaded with their rows as they are or, conjugated, as columns, and only the lower triangle.
struct Arguments { N total, n, matrices, turned; const S* from; T* to; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.total) return;
    if (!a.matrices) { a.to[i] = loaded(a.from[i]); return; }
    const N row = i / a.n % a.n, column = i % a.n, start = i - row * a.n - column;
    T x = zero();
    if (column <= row) x = a.turned ? conjugate(loaded(a.from[start + column * a.n + row])) : loaded(a.from[i]);
    a.to[i] = x;
}
"#;

const STORE_TEXT: &str = r#"
struct Arguments { N total, n, matrices, turned; const T* from; S* to; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.total) return;
    if (!a.matrices) { a.to[i] = stored(a.from[i]); return; }
    const N row = i / a.n % a.n, column = i % a.n, start = i - row * a.n - column;
    a.to[i] = stored(a.turned ? conjugate(a.from[start + column * a.n + row]) : a.from[i]);
}
"#;

const FACTOR_TEXT: &str = r#"
// A warp factors a block on the diagonal: each lane has a row. What is missing to a whole block is the identity's.
struct Arguments { N batch, n, first; T* matrix; };
extern "C" __global__ void __launch_bounds__(128) entry(const __grid_constant__ Arguments a) {
    const N number = (N)blockIdx.x * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (number >= a.batch) return;
    const int size = (int)(a.n - a.first < BLOCK ? a.n - a.first : BLOCK);
    T* block = a.matrix + number * a.n * a.n + a.first * (a.n + 1);
    T row[BLOCK];
    #pragma unroll
    for (int c = 0; c < BLOCK; c++)
        row[c] = lane < size && c <= lane ? block[lane * a.n + c] : c == lane ? one() : zero();
    #pragma unroll
    for (int c = 0; c < BLOCK; c++) {
        const T pivot = root(from_lane(row[c], c));
        row[c] = lane == c ? pivot : over(row[c], pivot);
        #pragma unroll
        for (int k = c + 1; k < BLOCK; k++) row[k] = less(row[k], row[c], conjugate(from_lane(row[c], k)));
    }
    #pragma unroll
    for (int c = 0; c < BLOCK; c++) if (lane < size && c <= lane) block[lane * a.n + c] = row[c];
}
"#;

const SOLVE_TEXT: &str = r#"
// Solves with a block on the diagonal, from its first row on, or if backward from its last. A thread has a system.
struct Arguments {
    N size, columns, conjugated, unit, backward;
    const T* triangle; N a_batch, a_row, a_column;
    T* x; N x_batch, x_row, x_column;
};
extern "C" __global__ void __launch_bounds__(SYSTEMS) entry(const __grid_constant__ Arguments a) {
    __shared__ T coefficient[BLOCK][BLOCK];
    __shared__ T staged[SYSTEMS][BLOCK + 1];
    const N groups = (a.columns + SYSTEMS - 1) / SYSTEMS, number = blockIdx.x / groups;
    const N first = blockIdx.x % groups * SYSTEMS;
    const int size = (int)a.size, systems = (int)(a.columns - first < SYSTEMS ? a.columns - first : SYSTEMS);
    const T* triangle = a.triangle + number * a.a_batch;
    T* x = a.x + number * a.x_batch + first * a.x_column;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += SYSTEMS) {
        const int i = e / BLOCK, j = e % BLOCK;
        T value = i == j ? one() : zero();
        if (i < size && j < size && (j < i || (j == i && !a.unit))) {
            const int row = a.backward ? size - 1 - i : i, column = a.backward ? size - 1 - j : j;
            value = triangle[row * a.a_row + column * a.a_column];
            if (a.conjugated) value = conjugate(value);
        }
        coefficient[i][j] = value;
    }
    // Neighbouring threads take what is next to each other.
    const bool along = a.x_row == 1;
    for (int e = threadIdx.x; e < BLOCK * SYSTEMS; e += SYSTEMS) {
        const int i = along ? e % BLOCK : e / SYSTEMS, c = along ? e / BLOCK : e % SYSTEMS;
        const int row = a.backward ? size - 1 - i : i;
        staged[c][i] = i < size && c < systems ? x[row * a.x_row + c * a.x_column] : zero();
    }
    __syncthreads();
    T value[BLOCK];
    #pragma unroll
    for (int i = 0; i < BLOCK; i++) {
        T rest = staged[threadIdx.x][i];
        #pragma unroll
        for (int j = 0; j < i; j++) rest = less(rest, coefficient[i][j], value[j]);
        value[i] = a.unit ? rest : over(rest, coefficient[i][i]);
    }
    #pragma unroll
    for (int i = 0; i < BLOCK; i++) staged[threadIdx.x][i] = value[i];
    __syncthreads();
    for (int e = threadIdx.x; e < BLOCK * SYSTEMS; e += SYSTEMS) {
        const int i = along ? e % BLOCK : e / SYSTEMS, c = along ? e / BLOCK : e % SYSTEMS;
        const int row = a.backward ? size - 1 - i : i;
        if (i < size && c < systems) x[row * a.x_row + c * a.x_column] = staged[c][i];
    }
}
"#;

const UPDATE_TEXT: &str = r#"
// c -= a b, of which only the lower triangle if asked for. A thread has four rows and four columns.
struct Arguments {
    N rows, columns, depth, lower, a_conjugated, b_conjugated;
    const T* a; N a_batch, a_row, a_column;
    const T* b; N b_batch, b_row, b_column;
    T* c; N c_batch, c_row, c_column;
};
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments g) {
    __shared__ T left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const N down = (g.rows + TILE - 1) / TILE, across = (g.columns + TILE - 1) / TILE;
    const N number = blockIdx.x / (down * across), tile = blockIdx.x % (down * across);
    const N row = tile / across * TILE, column = tile % across * TILE;
    if (g.lower && column > row + TILE - 1) return;
    const T* a = g.a + number * g.a_batch + row * g.a_row;
    const T* b = g.b + number * g.b_batch + column * g.b_column;
    T* c = g.c + number * g.c_batch + row * g.c_row + column * g.c_column;
    const int rows = (int)(g.rows - row < TILE ? g.rows - row : TILE);
    const int columns = (int)(g.columns - column < TILE ? g.columns - column : TILE);
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    T sum[4][4];
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const int y = ty + 16 * i, x = tx + 16 * j;
            sum[i][j] = y < rows && x < columns ? c[y * g.c_row + x * g.c_column] : zero();
        }
    }
    for (int start = 0; start < (int)g.depth; start += DEPTH) {
        for (int e = threadIdx.x; e < DEPTH * TILE; e += 256) {
            const bool a_along = g.a_column == 1, b_along = g.b_row == 1;
            const int ka = a_along ? e % DEPTH : e / TILE, y = a_along ? e / DEPTH : e % TILE;
            const int kb = b_along ? e % DEPTH : e / TILE, x = b_along ? e / DEPTH : e % TILE;
            T p = zero(), q = zero();
            if (y < rows && start + ka < (int)g.depth) p = a[y * g.a_row + (start + ka) * g.a_column];
            if (x < columns && start + kb < (int)g.depth) q = b[(start + kb) * g.b_row + x * g.b_column];
            left[ka][y] = g.a_conjugated ? conjugate(p) : p;
            right[kb][x] = g.b_conjugated ? conjugate(q) : q;
        }
        __syncthreads();
        #pragma unroll 8
        for (int k = 0; k < DEPTH; k++) {
            T p[4], q[4];
            #pragma unroll
            for (int i = 0; i < 4; i++) { p[i] = left[k][ty + 16 * i]; q[i] = right[k][tx + 16 * i]; }
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                #pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = less(sum[i][j], p[i], q[j]);
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const int y = ty + 16 * i, x = tx + 16 * j;
            const bool inside = y < rows && x < columns && (!g.lower || column + x <= row + y);
            if (inside) c[y * g.c_row + x * g.c_column] = sum[i][j];
        }
    }
}
"#;
