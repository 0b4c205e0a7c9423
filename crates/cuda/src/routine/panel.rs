//! Factors of large matrices, panel by panel of some columns.
//!
//! Within a panel, 32 columns at a time are computed by one launch: each block takes some rows, takes off what the
//! panel's columns before give, and solves with the block on the diagonal, which every block factors for itself. What a
//! whole panel gives is then taken off the rest by one large product.

use super::matrix::{self, BLOCK};
use super::tiles::{COPIES, NUMBER_TILE, PIECES};
use super::{Kernels, Key, Launch, Site};
use inflight_backend::Fault;
use inflight_ir::DType;
use std::sync::Arc;

/// Columns of a panel.
pub const PANEL: usize = 128;

/// Rows of a block of threads within a panel.
const ROWS: usize = 64;

/// Rows and columns of a tile of the product. Sums are short, and there may be few tiles: large ones take a block long, and
/// leave multiprocessors idle (2.1 ms of a matrix of 4096, where these take 1.2 on an H200).
const TILE: usize = 64;

const THREADS: u32 = 256;

/// Threads of a block that multiplies.
const TILE_THREADS: u32 = 128;

const COLUMNS: usize = 0;
const DIAGONAL: usize = 1;
const SUBTRACT: usize = 2;

/// Matrices that are factored in panels.
pub struct Panels {
    kernels: Arc<Kernels>,
    number: DType,
    batch: usize,
    n: usize,
    /// The first matrix.
    matrices: u64,
    /// The factors of the blocks on the diagonal, until all is done.
    diagonals: u64,
}

/// Whether matrices of this size, computed in this dtype, are factored in panels.
pub fn suits(number: DType, n: usize) -> bool {
    n >= 4 * PANEL && number.size() <= 8
}

/// The kernels for a dtype that is computed in; only those of floats have the large product.
pub fn kernels(number: DType) -> Result<Kernels, Fault> {
    let head = matrix::head(number)?;
    let text = |body: &str| crate::codegen::with_functions(&format!("{head}{body}"));
    let mut texts = vec![text(COLUMNS_TEXT), text(DIAGONAL_TEXT)];
    if number == DType::F32 {
        texts.push(crate::codegen::with_functions(&format!(
            "typedef long long N;\ntypedef float E;\n\
             constexpr int ROWS = {TILE}, COLUMNS = {TILE}, THREADS = {TILE_THREADS};\n\
             {COPIES}{PIECES}{NUMBER_TILE}{SUBTRACT_TEXT}"
        )));
    }
    Ok(Kernels::new(texts, 0))
}

impl Panels {
    pub fn new(
        site: &mut Site,
        number: DType,
        [batch, n]: [usize; 2],
        matrices: u64,
    ) -> Result<Panels, Fault> {
        let kernels = site.kernels(Key::Panel(number), || kernels(number))?;
        let diagonals = batch * n.div_ceil(BLOCK) * BLOCK * BLOCK * number.size();
        let diagonals = site.temporary(diagonals)?;
        Ok(Panels { kernels, number, batch, n, matrices, diagonals })
    }

    /// Computes the columns of a panel. Blocks on the diagonal stay as they were until [`finish`](Panels::finish).
    pub fn factor(&self, site: &mut Site, panel: usize) -> Result<(), Fault> {
        let end = (panel + PANEL).min(self.n);
        for first in (panel..end).step_by(BLOCK) {
            let below = self.n - (first + BLOCK).min(self.n);
            let mut words = [self.n, panel, first].map(|number| number as u64).to_vec();
            words.extend([self.matrices, self.diagonals]);
            let blocks = self.batch * below.div_ceil(ROWS).max(1);
            site.launch(&self.kernels, COLUMNS, Launch { blocks, threads: THREADS, words })?;
        }
        Ok(())
    }

    /// Whether what a panel gives can be taken off by [`subtract`](Panels::subtract).
    pub fn has_product(&self) -> bool {
        self.number == DType::F32 && self.n.is_multiple_of(4)
    }

    /// Takes what a panel gives off the rest.
    pub fn subtract(&self, site: &mut Site, panel: usize) -> Result<(), Fault> {
        let first = panel + PANEL;
        let tiles = (self.n - first).div_ceil(TILE);
        let mut words = [self.n, panel, first].map(|number| number as u64).to_vec();
        words.push(self.matrices);
        let blocks = self.batch * tiles * (tiles + 1) / 2;
        site.launch(&self.kernels, SUBTRACT, Launch { blocks, threads: TILE_THREADS, words })
    }

    /// Puts the blocks of the diagonal in their places.
    pub fn finish(&self, site: &mut Site) -> Result<(), Fault> {
        let words = vec![self.n as u64, self.matrices, self.diagonals];
        let blocks = self.batch * self.n.div_ceil(BLOCK);
        site.launch(&self.kernels, DIAGONAL, Launch { blocks, threads: THREADS, words })
    }
}

const COLUMNS_TEXT: &str = r#"
constexpr int ROWS = 64, PACK = 16 / (int)sizeof(T), WIDTH = BLOCK + PACK;
struct alignas(16) Pack { T x[PACK]; };
struct Arguments { N n, panel, first; T *matrices, *diagonals; };
FN T minus(T x) { return less(zero(), one(), x); }
FN T times(T a, T b) { return less(zero(), a, minus(b)); }

// The root of a pivot and its inverse: what is not positive has none.
struct Roots { T root, inverse; };
template <class V> FN Roots roots_of(V x) {
    if constexpr (sizeof(V) == 4) {
        // All wait for it, so it is made of a guess and what that lacks.
        const V guess = x > 0.0f ? rsqrtf(x) : __uint_as_float(0x7fc00000u);
        const V inverse = fused(0.5f * guess, fused(-x * guess, guess, 1.0f), guess);
        const V near = x * inverse;
        return Roots{fused(fused(-near, near, x), 0.5f * inverse, near), inverse};
    } else {
        const V found = root(x);
        return Roots{found, over(one(), found)};
    }
}
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    // The rows of the diagonal's block, then the block's own.
    __shared__ alignas(16) unsigned char bytes[(BLOCK + ROWS) * WIDTH * sizeof(T)];
    __shared__ T inverse[BLOCK];
    T (*row)[WIDTH] = (T (*)[WIDTH])bytes;
    const int size = (int)(a.n - a.first < BLOCK ? a.n - a.first : BLOCK);
    const N below = a.n - a.first - size, groups = below > 0 ? (below + ROWS - 1) / ROWS : 1;
    const N number = blockIdx.x / groups, part = blockIdx.x % groups, start = a.first + size + part * ROWS;
    const int rows = (int)(a.n - start < ROWS ? a.n - start : ROWS);
    T* matrix = a.matrices + number * a.n * a.n;
    const int t = threadIdx.x, lane = t & 31, warp = t / 32;
    // Whether there is such a row, and where it is.
    const auto is_there = [&](int r) { return r < BLOCK ? r < size : r - BLOCK < rows; };
    const auto at = [&](int r) { return matrix + (r < BLOCK ? a.first + r : start + r - BLOCK) * a.n; };
    constexpr int OWN = (BLOCK + ROWS) / 8;
    T sum[OWN];
    #pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int r = warp + 8 * i;
        const bool needed = is_there(r) && lane < size && (r >= BLOCK || lane <= r);
        sum[i] = needed ? at(r)[a.first + lane] : r == lane ? one() : zero();
    }
    // The next columns are read while these are multiplied.
    T next[OWN];
    const auto read = [&](N k) {
        #pragma unroll
        for (int i = 0; i < OWN; i++) {
            const int r = warp + 8 * i;
            next[i] = is_there(r) ? at(r)[k + lane] : zero();
        }
    };
    if (a.panel < a.first) read(a.panel);
    for (N k = a.panel; k < a.first; k += BLOCK) {
        #pragma unroll
        for (int i = 0; i < OWN; i++) row[warp + 8 * i][lane] = next[i];
        __syncthreads();
        if (k + BLOCK < a.first) read(k + BLOCK);
        #pragma unroll
        for (int p = 0; p < BLOCK; p += PACK) {
            const Pack right = *(const Pack*)&row[lane][p];
            #pragma unroll
            for (int i = 0; i < OWN; i++) {
                const Pack left = *(const Pack*)&row[warp + 8 * i][p];
                #pragma unroll
                for (int v = 0; v < PACK; v++) sum[i] = less(sum[i], left.x[v], conjugate(right.x[v]));
            }
        }
        __syncthreads();
    }
    #pragma unroll
    for (int i = 0; i < OWN; i++) {
        const int r = warp + 8 * i;
        // Above the diagonal there is nothing.
        row[r][lane] = r < BLOCK && lane > r ? zero() : sum[i];
    }
    __syncthreads();
    if (warp == 0) {
        T own[BLOCK], last = one();
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) own[c] = row[lane][c];
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            const Roots pivot = roots_of(from_lane(own[c], c));
            own[c] = lane == c ? pivot.root : times(own[c], pivot.inverse);
            if (lane == c) last = pivot.inverse;
            #pragma unroll
            for (int k = c + 1; k < BLOCK; k++) own[k] = less(own[k], own[c], conjugate(from_lane(own[c], k)));
        }
        // With its sign turned, so that a product is taken off nothing.
        inverse[lane] = minus(last);
        T* diagonal = a.diagonals + (number * ((a.n + BLOCK - 1) / BLOCK) + a.first / BLOCK) * BLOCK * BLOCK;
        #pragma unroll
        for (int c = 0; c < BLOCK; c++) {
            if (c <= lane) row[lane][c] = own[c];
            if (part == 0 && c <= lane) diagonal[lane * BLOCK + c] = own[c];
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
            solved[c] = less(zero(), solved[c], inverse[c]);
            #pragma unroll
            for (int k = c + 1; k < BLOCK; k++) solved[k] = less(solved[k], solved[c], conjugate(row[k][c]));
        }
        #pragma unroll
        for (int p = 0; p < BLOCK / PACK; p++) *(Pack*)&row[BLOCK + t][p * PACK] = x[p];
    }
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < ROWS / 8; i++) {
        const int r = BLOCK + warp + 8 * i;
        if (is_there(r) && lane < size) at(r)[a.first + lane] = row[r][lane];
    }
}
"#;

const DIAGONAL_TEXT: &str = r#"
struct Arguments { N n; T* matrices; const T* diagonals; };
extern "C" __global__ void __launch_bounds__(256) entry(const __grid_constant__ Arguments a) {
    const N blocks = (a.n + BLOCK - 1) / BLOCK, number = blockIdx.x / blocks, first = blockIdx.x % blocks * BLOCK;
    T* matrix = a.matrices + number * a.n * a.n;
    for (int e = threadIdx.x; e < BLOCK * BLOCK; e += 256) {
        const N r = first + e / BLOCK, c = first + e % BLOCK;
        if (r < a.n && c <= r) matrix[r * a.n + c] = a.diagonals[(N)blockIdx.x * BLOCK * BLOCK + e];
    }
}
"#;

const SUBTRACT_TEXT: &str = r#"
struct Arguments { N n, panel, first; float* matrices; };
// Pieces of rows of the panel: those of the tile's rows, and those of its columns.
struct PanelCopier {
    static constexpr int APART = THREADS / 4;
    const float *left, *right;
    N n;
    // How many rows there are from the first of the thread's on.
    int left_rows, right_rows, piece, row;

    __device__ __forceinline__ PanelCopier(const Arguments& a, const float* matrix, N first_row, N first_column) {
        piece = threadIdx.x % 4;
        row = threadIdx.x / 4;
        n = a.n;
        left_rows = (int)(n - first_row) - row;
        right_rows = (int)(n - first_column) - row;
        left = matrix + (left_rows > 0 ? first_row + row : 0) * n + a.panel + piece * PIECE;
        right = matrix + (right_rows > 0 ? first_column + row : 0) * n + a.panel + piece * PIECE;
    }

    __device__ __forceinline__ void copy(unsigned char* stage) {
        #pragma unroll
        for (int i = 0; i < ROWS / APART; i++) {
            const bool has_left = APART * i < left_rows, has_right = APART * i < right_rows;
            copy_16(stage + piece_at(row + APART * i, piece), left + (has_left ? APART * i * n : 0), has_left);
            copy_16(stage + ROWS * 64 + piece_at(row + APART * i, piece), right + (has_right ? APART * i * n : 0),
                has_right);
        }
        left += STEP;
        right += STEP;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ alignas(128) unsigned char memory[STAGES * STAGE_BYTES];
    const int tiles = (int)((a.n - a.first + ROWS - 1) / ROWS), all = tiles * (tiles + 1) / 2;
    float* matrix = a.matrices + blockIdx.x / all * a.n * a.n;
    // Tiles of the lower triangle, row by row.
    const int own = (int)(blockIdx.x % all);
    int down = (int)((sqrtf(8.0f * (float)own + 1.0f) - 1.0f) * 0.5f);
    while (down * (down + 1) / 2 > own) down--;
    while ((down + 1) * (down + 2) / 2 <= own) down++;
    const N first_row = a.first + down * ROWS, first_column = a.first + (own - down * (down + 1) / 2) * COLUMNS;
    NumberTile tile;
    const PanelCopier copier(a, matrix, first_row, first_column);
    all_steps(copier, (int)(a.first - a.panel) / STEP, memory, [&](const unsigned char* stage) { tile.multiply(stage); });
    // All are read before any is written: reads then do not wait for each other.
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const N y = first_row + tile.row + 8 * i;
        #pragma unroll
        for (int j = 0; j < WIDE; j++) {
            const N x = first_column + tile.column + 4 * j;
            if (y < a.n && x <= y) tile.sum[i][j] = matrix[y * a.n + x] - tile.sum[i][j];
        }
    }
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const N y = first_row + tile.row + 8 * i;
        #pragma unroll
        for (int j = 0; j < WIDE; j++) {
            const N x = first_column + tile.column + 4 * j;
            if (y < a.n && x <= y) matrix[y * a.n + x] = tile.sum[i][j];
        }
    }
}
"#;
