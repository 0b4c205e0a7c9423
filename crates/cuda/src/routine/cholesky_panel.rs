//! Blocked Cholesky of large matrices, panel by panel.
//!
//! Within a panel, a launch computes 32 columns: each block takes some rows, subtracts the contribution of the
//! panel's earlier columns, and solves (TRSM) with the diagonal block, which every block factors for itself. One
//! large GEMM (SYRK) then applies the panel to the trailing matrix.

use super::tile_pipeline::{ASYNC_COPIES, FMA_TILE, PIPELINE};
use super::triangular_kernels::{self, BLOCK};
use super::{KernelKey, KernelSet, Launch, RoutineContext};
use inflight_backend::Fault;
use inflight_ir::DType;
use std::sync::Arc;

/// Columns of a panel.
pub const PANEL: usize = 128;

/// Rows of a block of threads within a panel.
const ROWS: usize = 64;

/// Rows and columns of a tile of the trailing update. K is short and there may be few tiles: large tiles take a block
/// long and leave multiprocessors idle (a matrix of 4096 takes 2.1 ms with them and 1.2 ms with these, on an H200).
const TILE: usize = 64;

const THREADS: u32 = 256;

/// Threads of a block of the trailing update.
const TILE_THREADS: u32 = 128;

const PANEL_COLUMNS: usize = 0;
const STORE_DIAGONALS: usize = 1;
const TRAILING_UPDATE: usize = 2;

/// The state of a panel-wise factorization.
pub struct CholeskyPanels {
    kernels: Arc<KernelSet>,
    compute_dtype: DType,
    batch: usize,
    n: usize,
    /// The address of the first matrix.
    matrices: u64,
    /// The address of the factored diagonal blocks, which are stored to the matrices at the end.
    diagonals: u64,
}

/// Whether matrices of this size and compute dtype are factored panel by panel.
pub fn is_suitable(compute_dtype: DType, n: usize) -> bool {
    n >= 4 * PANEL && compute_dtype.size() <= 8
}

/// The kernels for a compute dtype. Only those of `f32` have the GEMM of the trailing update.
pub fn kernels(compute_dtype: DType) -> Result<KernelSet, Fault> {
    let head = triangular_kernels::head(compute_dtype)?;
    let source = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    let mut sources = vec![source(PANEL_COLUMNS_SOURCE), source(STORE_DIAGONALS_SOURCE)];
    if compute_dtype == DType::F32 {
        sources.push(crate::codegen::with_functions(&format!(
            "typedef long long N;\ntypedef float E;\n\
             constexpr int ROWS = {TILE}, COLUMNS = {TILE}, THREADS = {TILE_THREADS};\n\
             {ASYNC_COPIES}{PIPELINE}{FMA_TILE}{TRAILING_UPDATE_SOURCE}"
        )));
    }
    Ok(KernelSet::new(sources, 0))
}

impl CholeskyPanels {
    pub fn new(
        context: &mut RoutineContext,
        compute_dtype: DType,
        [batch, n]: [usize; 2],
        matrices: u64,
    ) -> Result<CholeskyPanels, Fault> {
        let kernels =
            context.kernels(KernelKey::CholeskyPanel(compute_dtype), || kernels(compute_dtype))?;
        let diagonals = batch * n.div_ceil(BLOCK) * BLOCK * BLOCK * compute_dtype.size();
        let diagonals = context.allocate_scratch(diagonals)?;
        Ok(CholeskyPanels { kernels, compute_dtype, batch, n, matrices, diagonals })
    }

    /// Computes the columns of a panel. The diagonal blocks keep their old elements until
    /// [`store_diagonals`](CholeskyPanels::store_diagonals).
    pub fn factor(&self, context: &mut RoutineContext, panel: usize) -> Result<(), Fault> {
        let end = (panel + PANEL).min(self.n);
        for first in (panel..end).step_by(BLOCK) {
            let below = self.n - (first + BLOCK).min(self.n);
            let mut words = [self.n, panel, first].map(|word| word as u64).to_vec();
            words.extend([self.matrices, self.diagonals]);
            let blocks = self.batch * below.div_ceil(ROWS).max(1);
            context.launch(
                &self.kernels,
                PANEL_COLUMNS,
                Launch { blocks, threads: THREADS, words },
            )?;
        }
        Ok(())
    }

    /// Whether [`update_trailing`](CholeskyPanels::update_trailing) supports the matrices.
    pub fn supports_trailing_update(&self) -> bool {
        self.compute_dtype == DType::F32 && self.n.is_multiple_of(4)
    }

    /// Subtracts the contribution of a panel from the trailing matrix.
    pub fn update_trailing(&self, context: &mut RoutineContext, panel: usize) -> Result<(), Fault> {
        let first = panel + PANEL;
        let tiles = (self.n - first).div_ceil(TILE);
        let mut words = [self.n, panel, first].map(|word| word as u64).to_vec();
        words.push(self.matrices);
        let blocks = self.batch * tiles * (tiles + 1) / 2;
        context.launch(
            &self.kernels,
            TRAILING_UPDATE,
            Launch { blocks, threads: TILE_THREADS, words },
        )
    }

    /// Stores the factored diagonal blocks to the matrices.
    pub fn store_diagonals(&self, context: &mut RoutineContext) -> Result<(), Fault> {
        let words = vec![self.n as u64, self.matrices, self.diagonals];
        let blocks = self.batch * self.n.div_ceil(BLOCK);
        context.launch(&self.kernels, STORE_DIAGONALS, Launch { blocks, threads: THREADS, words })
    }
}

const PANEL_COLUMNS_SOURCE: &str = r#"
constexpr int ROWS = 64, PACK = 16 / (int)sizeof(T), WIDTH = BLOCK + PACK;
struct alignas(16) Pack { T x[PACK]; };
struct Arguments { N n, panel, first; T *matrices, *diagonals; };
FN T minus(T x) { return multiply_subtract(zero(), one(), x); }
FN T times(T a, T b) { return multiply_subtract(zero(), a, minus(b)); }

// The square root of a pivot and its inverse. NaN unless the pivot is positive.
struct Roots { T square_root, inverse; };
template <class V> FN Roots roots_of(V x) {
    if constexpr (sizeof(V) == 4) {
        // On the critical path of all threads: an approximate inverse root and a Newton step.
        const V guess = x > 0.0f ? rsqrtf(x) : __uint_as_float(0x7fc00000u);
        const V inverse = multiply_add(0.5f * guess, multiply_add(-x * guess, guess, 1.0f), guess);
        const V near = x * inverse;
        return Roots{multiply_add(multiply_add(-near, near, x), 0.5f * inverse, near), inverse};
    } else {
        const V found = square_root(x);
        return Roots{found, divide(one(), found)};
    }
}
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    // The rows of the diagonal block, then the block's own rows.
    __shared__ alignas(16) unsigned char bytes[(BLOCK + ROWS) * WIDTH * sizeof(T)];
    __shared__ T inverse[BLOCK];
    T (*row)[WIDTH] = (T (*)[WIDTH])bytes;
    const int size = (int)(a.n - a.first < BLOCK ? a.n - a.first : BLOCK);
    const N below = a.n - a.first - size, row_tiles = below > 0 ? (below + ROWS - 1) / ROWS : 1;
    const N batch_index = blockIdx.x / row_tiles, row_tile = blockIdx.x % row_tiles, start = a.first + size + row_tile * ROWS;
    const int rows = (int)(a.n - start < ROWS ? a.n - start : ROWS);
    T* matrix = a.matrices + batch_index * a.n * a.n;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32;
    // Whether a row exists, and its address.
    const auto exists = [&](int r) { return r < BLOCK ? r < size : r - BLOCK < rows; };
    const auto address_of = [&](int r) { return matrix + (r < BLOCK ? a.first + r : start + r - BLOCK) * a.n; };
    constexpr int ROWS_PER_WARP = (BLOCK + ROWS) / 8;
    T sum[ROWS_PER_WARP];
    #pragma unroll
    for (int i = 0; i < ROWS_PER_WARP; i++) {
        const int r = warp + 8 * i;
        const bool is_needed = exists(r) && lane < size && (r >= BLOCK || lane <= r);
        sum[i] = is_needed ? address_of(r)[a.first + lane] : r == lane ? one() : zero();
    }
    // Prefetch the next columns while these are multiplied.
    T next[ROWS_PER_WARP];
    const auto read = [&](N k) {
        #pragma unroll
        for (int i = 0; i < ROWS_PER_WARP; i++) {
            const int r = warp + 8 * i;
            next[i] = exists(r) ? address_of(r)[k + lane] : zero();
        }
    };
    if (a.panel < a.first) read(a.panel);
    for (N k = a.panel; k < a.first; k += BLOCK) {
        #pragma unroll
        for (int i = 0; i < ROWS_PER_WARP; i++) row[warp + 8 * i][lane] = next[i];
        __syncthreads();
        if (k + BLOCK < a.first) read(k + BLOCK);
        #pragma unroll
        for (int p = 0; p < BLOCK; p += PACK) {
            const Pack right = *(const Pack*)&row[lane][p];
            #pragma unroll
            for (int i = 0; i < ROWS_PER_WARP; i++) {
                const Pack left = *(const Pack*)&row[warp + 8 * i][p];
                #pragma unroll
                for (int v = 0; v < PACK; v++) sum[i] = multiply_subtract(sum[i], left.x[v], conjugate(right.x[v]));
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < ROWS_PER_WARP; i++) {
        const int r = warp + 8 * i;
        // Zero above the diagonal.
        row[r][lane] = r < BLOCK && lane > r ? zero() : sum[i];
    }
    __syncthreads();
    if (warp == 0) {
        T own[BLOCK], last = one();
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) own[c] = row[lane][c];
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            const Roots pivot = roots_of(broadcast(own[c], c));
            own[c] = lane == c ? pivot.square_root : times(own[c], pivot.inverse);
            if (lane == c) last = pivot.inverse;
            #pragma unroll
            for (int k = c + 1; k < BLOCK; k++) own[k] = multiply_subtract(own[k], own[c], conjugate(broadcast(own[c], k)));
        }
        // Negated, so that `multiply_subtract` adds.
        inverse[lane] = minus(last);
        T* diagonal = a.diagonals + (batch_index * ((a.n + BLOCK - 1) / BLOCK) + a.first / BLOCK) * BLOCK * BLOCK;
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            if (c <= lane) row[lane][c] = own[c];
            if (row_tile == 0 && c <= lane) diagonal[lane * BLOCK + c] = own[c];
        }
    }
    __syncthreads();
    if (t < ROWS) {
        Pack x[BLOCK / PACK];
        T* solved = (T*)x;
        #pragma unroll
        for (int p = 0; p < BLOCK / PACK; p++) x[p] = *(const Pack*)&row[BLOCK + t][p * PACK];
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            solved[c] = multiply_subtract(zero(), solved[c], inverse[c]);
            #pragma unroll
            for (int k = c + 1; k < BLOCK; k++) solved[k] = multiply_subtract(solved[k], solved[c], conjugate(row[k][c]));
        }
        #pragma unroll
        for (int p = 0; p < BLOCK / PACK; p++) *(Pack*)&row[BLOCK + t][p * PACK] = x[p];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < ROWS / 8; i++) {
        const int r = BLOCK + warp + 8 * i;
        if (exists(r) && lane < size) address_of(r)[a.first + lane] = row[r][lane];
    }
}
"#;

const STORE_DIAGONALS_SOURCE: &str = r#"
struct Arguments { N n; T* matrices; const T* diagonals; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N blocks = (a.n + BLOCK - 1) / BLOCK, batch_index = blockIdx.x / blocks, first = blockIdx.x % blocks * BLOCK;
    T* matrix = a.matrices + batch_index * a.n * a.n;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += 256) {
        const N r = first + e / BLOCK, c = first + e % BLOCK;
        if (r < a.n && c <= r) matrix[r * a.n + c] = a.diagonals[(N)blockIdx.x * BLOCK * BLOCK + e];
    }
}
"#;

const TRAILING_UPDATE_SOURCE: &str = r#"
struct Arguments { N n, panel, first; float* matrices; };
// Chunks of rows of the panel: those of the tile's rows, and those of its columns.
struct PanelCopier {
    static constexpr int SPACING = THREADS / 4;
    const float *left, *right;
    N n;
    // The rows left from the thread's first row on.
    int left_rows, right_rows, chunk, row;

    __device__ __forceinline__ PanelCopier(const Arguments& a, const float* matrix, N first_row, N first_column) {
        chunk = threadIdx.x % 4;
        row = threadIdx.x / 4;
        n = a.n;
        left_rows = (int)(n - first_row) - row;
        right_rows = (int)(n - first_column) - row;
        left = matrix + (left_rows > 0 ? first_row + row : 0) * n + a.panel + chunk * CHUNK;
        right = matrix + (right_rows > 0 ? first_column + row : 0) * n + a.panel + chunk * CHUNK;
    }

    __device__ __forceinline__ void copy(unsigned char* stage) {
        #pragma unroll
        for (int i = 0; i < ROWS / SPACING; i++) {
            const bool has_left = SPACING * i < left_rows, has_right = SPACING * i < right_rows;
            copy_16(stage + chunk_offset(row + SPACING * i, chunk), left + (has_left ? SPACING * i * n : 0), has_left);
            copy_16(stage + ROWS * 64 + chunk_offset(row + SPACING * i, chunk), right + (has_right ? SPACING * i * n : 0),
                has_right);
        }
        left += K_STEP;
        right += K_STEP;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const int tiles = (int)((a.n - a.first + ROWS - 1) / ROWS), all = tiles * (tiles + 1) / 2;
    float* matrix = a.matrices + blockIdx.x / all * a.n * a.n;
    // Enumerate the tiles of the lower triangle row by row.
    const int own = (int)(blockIdx.x % all);
    int down = (int)((sqrtf(8.0f * (float)own + 1.0f) - 1.0f) * 0.5f);
    while (down * (down + 1) / 2 > own) down--;
    while ((down + 1) * (down + 2) / 2 <= own) down++;
    const N first_row = a.first + down * ROWS, first_column = a.first + (own - down * (down + 1) / 2) * COLUMNS;
    FmaTile tile;
    const PanelCopier copier(a, matrix, first_row, first_column);
    run_pipeline(copier, (int)(a.first - a.panel) / K_STEP, memory, [&](const unsigned char* stage) { tile.multiply(stage); });
    // Read everything before the first write, so that the loads are independent.
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const N y = first_row + tile.row + 8 * i;
        #pragma unroll
        for (int j = 0; j < N_FRAGMENTS; j++) {
            const N x = first_column + tile.column + 4 * j;
            if (y < a.n && x <= y) tile.accumulator[i][j] = matrix[y * a.n + x] - tile.accumulator[i][j];
        }
    }
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const N y = first_row + tile.row + 8 * i;
        #pragma unroll
        for (int j = 0; j < N_FRAGMENTS; j++) {
            const N x = first_column + tile.column + 4 * j;
            if (y < a.n && x <= y) matrix[y * a.n + x] = tile.accumulator[i][j];
        }
    }
}
"#;
