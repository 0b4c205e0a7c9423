//! The kernels of blocked Cholesky and TRSM, with diagonal blocks of 32 rows.

use super::{KernelSet, unsupported_dtype};
use crate::codegen::types;
use inflight_backend::Fault;
use inflight_ir::DType;

/// Rows and columns of a diagonal block: a warp has a lane for each.
pub const BLOCK: usize = 32;

/// Rows and columns of a tile of the GEMM update.
pub const TILE: usize = 64;

/// Threads of a block, except in TRSM.
pub const THREADS: usize = 256;

/// Matrices that a block factors, one per warp.
pub const FACTORED_PER_BLOCK: usize = 4;

/// Converts elements, or the lower triangle of matrices, from the stored to the compute dtype.
pub const TO_COMPUTE: usize = 0;
/// Converts back to the stored dtype.
pub const TO_STORED: usize = 1;
/// Factors a diagonal block.
pub const FACTOR: usize = 2;
/// Solves with a diagonal block (TRSM).
pub const TRSM: usize = 3;
/// GEMM update: `c -= a · b`.
pub const UPDATE: usize = 4;

/// The compute dtype of matrices of a dtype, if they are supported.
pub fn compute_dtype(dtype: DType) -> Result<DType, Fault> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 => Ok(DType::F32),
        DType::F64 | DType::C64 | DType::C128 => Ok(dtype),
        _ => Err(unsupported_dtype("Cholesky and triangular solve", dtype)),
    }
}

/// Threads of a TRSM block, each of which solves one system.
pub fn systems_per_block(compute_dtype: DType) -> usize {
    512 / compute_dtype.size()
}

/// The types and functions shared by the kernels for a dtype.
pub fn head(dtype: DType) -> Result<String, Fault> {
    let compute_dtype = compute_dtype(dtype)?;
    let (load, store) = match dtype {
        DType::F16 => ("to_float(x)", "to_f16(x)"),
        DType::BF16 => ("to_float(x)", "to_bf16(x)"),
        _ => ("x", "x"),
    };
    let field = if compute_dtype.is_complex() { COMPLEX } else { REAL };
    let part = if compute_dtype.real() == DType::F32 { "float" } else { "double" };
    Ok(format!(
        "typedef long long N;\ntypedef {} S;\ntypedef {} T;\ntypedef {part} R;\n\
         constexpr int BLOCK = {BLOCK}, TILE = {TILE}, DEPTH = {}, SYSTEMS = {};\n\
         FN T to_compute(S x) {{ return {load}; }}\nFN S to_stored(T x) {{ return {store}; }}\n{SCALAR}{field}",
        types::name(dtype),
        types::name(compute_dtype),
        128 / compute_dtype.size(),
        systems_per_block(compute_dtype),
    ))
}

/// Generates the kernels for a dtype.
pub fn kernels(dtype: DType) -> Result<KernelSet, Fault> {
    let head = head(dtype)?;
    let source = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    Ok(KernelSet::new(
        [LOAD_SOURCE, STORE_SOURCE, FACTOR_SOURCE, TRSM_SOURCE, UPDATE_SOURCE].map(source).into(),
        0,
    ))
}

const SCALAR: &str = r"
FN R multiply_add(R a, R b, R c) {
    if constexpr (sizeof(R) == 4) return __fmaf_rn(a, b, c); else return __fma_rn(a, b, c);
}
FN R real_square_root(R x) { return x > (R)0 ? sqrt(x) : (R)__longlong_as_double(0x7ff8000000000000ll); }
template <class V> FN V broadcast(V x, int lane) {
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
FN T square_root(T x) { return real_square_root(x); }
FN T divide(T a, T b) { return a / b; }
// c - a * b
FN T multiply_subtract(T c, T a, T b) { return multiply_add(-a, b, c); }
";

const COMPLEX: &str = r"
FN T zero() { return T{(R)0, (R)0}; }
FN T one() { return T{(R)1, (R)0}; }
FN T conjugate(T x) { return T{x.re, -x.im}; }
FN T square_root(T x) { return T{real_square_root(x.re), (R)0}; }
FN T divide(T a, T b) {
    const R n = b.re * b.re + b.im * b.im;
    return T{(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
}
FN T multiply_subtract(T c, T a, T b) {
    return T{multiply_add(a.im, b.im, multiply_add(-a.re, b.re, c.re)), multiply_add(-a.im, b.re, multiply_add(-a.re, b.im, c.im))};
}
";

const LOAD_SOURCE: &str = r#"
// Only the lower triangle of matrices is loaded, or the conjugate transpose of the upper one.
struct Arguments { N total, n, are_matrices, is_transposed; const S* from; T* to; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.total) return;
    if (!a.are_matrices) { a.to[i] = to_compute(a.from[i]); return; }
    const N row = i / a.n % a.n, column = i % a.n, start = i - row * a.n - column;
    T x = zero();
    if (column <= row) x = a.is_transposed ? conjugate(to_compute(a.from[start + column * a.n + row])) : to_compute(a.from[i]);
    a.to[i] = x;
}
"#;

const STORE_SOURCE: &str = r#"
struct Arguments { N total, n, are_matrices, is_transposed; const T* from; S* to; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N i = (N)blockIdx.x * 256 + threadIdx.x;
    if (i >= a.total) return;
    if (!a.are_matrices) { a.to[i] = to_stored(a.from[i]); return; }
    const N row = i / a.n % a.n, column = i % a.n, start = i - row * a.n - column;
    a.to[i] = to_stored(a.is_transposed ? conjugate(a.from[start + column * a.n + row]) : a.from[i]);
}
"#;

const FACTOR_SOURCE: &str = r#"
// A warp factors a diagonal block, a lane per row. A partial block is padded with the identity.
struct Arguments { N batch, n, first; T* matrix; };
extern "C" __global__ void __launch_bounds__(128) entry(const __grid_constant__ Arguments a) {
    const N batch_index = (N)blockIdx.x * 4 + threadIdx.x / 32;
    const int lane = threadIdx.x & 31;
    if (batch_index >= a.batch) return;
    const int size = (int)(a.n - a.first < BLOCK ? a.n - a.first : BLOCK);
    T* block = a.matrix + batch_index * a.n * a.n + a.first * (a.n + 1);
    T row[BLOCK];
    #pragma unroll
    for (int c = 0; c < BLOCK; c++)
        row[c] = lane < size && c <= lane ? block[lane * a.n + c] : c == lane ? one() : zero();
    #pragma unroll
    for (int c = 0; c < BLOCK; c++) {
        const T pivot = square_root(broadcast(row[c], c));
        row[c] = lane == c ? pivot : divide(row[c], pivot);
        #pragma unroll
        for (int k = c + 1; k < BLOCK; k++) row[k] = multiply_subtract(row[k], row[c], conjugate(broadcast(row[c], k)));
    }
    #pragma unroll
    for (int c = 0; c < BLOCK; c++) if (lane < size && c <= lane) block[lane * a.n + c] = row[c];
}
"#;

const TRSM_SOURCE: &str = r#"
// TRSM with a diagonal block, by forward substitution or, if `backward`, from the last row. A thread per system.
struct Arguments {
    N size, columns, conjugated, unit_diagonal, backward;
    const T* triangle; N a_batch, a_row, a_column;
    T* x; N x_batch, x_row, x_column;
};
extern "C" __global__ void __launch_bounds__(SYSTEMS) entry(const __grid_constant__ Arguments a) {
    __shared__ T coefficient[BLOCK][BLOCK];
    __shared__ T staged[SYSTEMS][BLOCK + 1];
    const N column_groups = (a.columns + SYSTEMS - 1) / SYSTEMS, batch_index = blockIdx.x / column_groups;
    const N first = blockIdx.x % column_groups * SYSTEMS;
    const int size = (int)a.size, systems = (int)(a.columns - first < SYSTEMS ? a.columns - first : SYSTEMS);
    const T* triangle = a.triangle + batch_index * a.a_batch;
    T* x = a.x + batch_index * a.x_batch + first * a.x_column;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += SYSTEMS) {
        const int i = e / BLOCK, j = e % BLOCK;
        T value = i == j ? one() : zero();
        if (i < size && j < size && (j < i || (j == i && !a.unit_diagonal))) {
            const int row = a.backward ? size - 1 - i : i, column = a.backward ? size - 1 - j : j;
            value = triangle[row * a.a_row + column * a.a_column];
            if (a.conjugated) value = conjugate(value);
        }
        coefficient[i][j] = value;
    }
    // Coalesced accesses: neighbouring threads load contiguous elements.
    const bool rows_contiguous = a.x_row == 1;
    for (int e = threadIdx.x; e < BLOCK * SYSTEMS; e += SYSTEMS) {
        const int i = rows_contiguous ? e % BLOCK : e / SYSTEMS, c = rows_contiguous ? e / BLOCK : e % SYSTEMS;
        const int row = a.backward ? size - 1 - i : i;
        staged[c][i] = i < size && c < systems ? x[row * a.x_row + c * a.x_column] : zero();
    }
    __syncthreads();
    T value[BLOCK];
    #pragma unroll
    for (int i = 0; i < BLOCK; i++) {
        T rest = staged[threadIdx.x][i];
        #pragma unroll
        for (int j = 0; j < i; j++) rest = multiply_subtract(rest, coefficient[i][j], value[j]);
        value[i] = a.unit_diagonal ? rest : divide(rest, coefficient[i][i]);
    }
    #pragma unroll
    for (int i = 0; i < BLOCK; i++) staged[threadIdx.x][i] = value[i];
    __syncthreads();
    for (int e = threadIdx.x; e < BLOCK * SYSTEMS; e += SYSTEMS) {
        const int i = rows_contiguous ? e % BLOCK : e / SYSTEMS, c = rows_contiguous ? e / BLOCK : e % SYSTEMS;
        const int row = a.backward ? size - 1 - i : i;
        if (i < size && c < systems) x[row * a.x_row + c * a.x_column] = staged[c][i];
    }
}
"#;

const UPDATE_SOURCE: &str = r#"
// c -= a * b, or only its lower triangle. A thread has four rows and four columns.
struct Arguments {
    N rows, columns, depth, lower, a_conjugated, b_conjugated;
    const T* a; N a_batch, a_row, a_column;
    const T* b; N b_batch, b_row, b_column;
    T* c; N c_batch, c_row, c_column;
};
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments g) {
    __shared__ T left[DEPTH][TILE + 1], right[DEPTH][TILE + 1];
    const N tiles_m = (g.rows + TILE - 1) / TILE, tiles_n = (g.columns + TILE - 1) / TILE;
    const N batch_index = blockIdx.x / (tiles_m * tiles_n), tile = blockIdx.x % (tiles_m * tiles_n);
    const N row = tile / tiles_n * TILE, column = tile % tiles_n * TILE;
    if (g.lower && column > row + TILE - 1) return;
    const T* a = g.a + batch_index * g.a_batch + row * g.a_row;
    const T* b = g.b + batch_index * g.b_batch + column * g.b_column;
    T* c = g.c + batch_index * g.c_batch + row * g.c_row + column * g.c_column;
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
            const bool a_contiguous = g.a_column == 1, b_contiguous = g.b_row == 1;
            const int ka = a_contiguous ? e % DEPTH : e / TILE, y = a_contiguous ? e / DEPTH : e % TILE;
            const int kb = b_contiguous ? e % DEPTH : e / TILE, x = b_contiguous ? e / DEPTH : e % TILE;
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
                for (int j = 0; j < 4; j++) sum[i][j] = multiply_subtract(sum[i][j], p[i], q[j]);
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
