//! Transposes of the operands of TF32 GEMMs into K-major layout.
//!
//! The tensor cores reach their TF32 peak only if both operands are K-major. If both are MN-major, as in the gradient
//! of weights, cuBLASLt takes half as long again; transposing them first costs less than that if the result is large.

use super::operand_split::PackedMatrix;
use super::simt_gemm::GemmKernelLaunch;
use crate::background::EnqueueError;
use crate::codegen::scaled_f16_split;
use crate::device::Shared;
use inflight_backend::{GemmLaunch, GemmOperand};
use inflight_ir::DType;
use smallvec::smallvec;
use std::sync::{Arc, LazyLock};

/// Rows of a block's tile: the length of the lines it writes.
const ROWS: usize = 128;

/// Columns of a block's tile.
const COLUMNS: usize = 32;

/// Threads of a block: each moves four elements at a time.
const THREADS: u32 = 256;

/// With operands of M × K and K × N, a GEMM takes time in proportion to M · N · K, and transposing them in proportion
/// to (M + N) · K. Break-even factor, measured on an H200.
const BREAK_EVEN: usize = 1024;

/// Whether a matrix can be transposed four elements at a time.
pub fn is_transposable(rows: usize, columns: usize) -> bool {
    [rows, columns].iter().all(|extent| extent % 4 == 0 && *extent > 0)
}

/// Whether transposing both operands of a TF32 GEMM pays.
pub fn is_worthwhile(gemm: &GemmLaunch) -> bool {
    let GemmLaunch { m, n, k, .. } = *gemm;
    let (a, b) = (&gemm.a, &gemm.b);
    let is_mn_major = |inner: isize, outer: isize, extent: usize, offset: isize| {
        inner == 1 && outer >= extent as isize && outer % 4 == 0 && offset % 4 == 0
    };
    gemm.dtype == DType::F32
        && gemm.batch.iter().all(|extent| *extent == 1)
        && is_transposable(m, k)
        && is_transposable(n, k)
        && m * n >= BREAK_EVEN * (m + n)
        && is_mn_major(a.row_stride, a.column_stride, m, a.offset)
        && is_mn_major(b.column_stride, b.row_stride, n, b.offset)
}

/// The same GEMM of the transposed operands, without its epilogue.
pub fn transposed(gemm: &GemmLaunch) -> GemmLaunch {
    let axes = gemm.batch.len();
    let operand = |of: &GemmOperand, row_stride: usize, column_stride: usize| GemmOperand {
        buffer: of.buffer.clone(),
        offset: 0,
        batch_strides: smallvec![0; axes],
        row_stride: row_stride as isize,
        column_stride: column_stride as isize,
    };
    let c = &gemm.c;
    GemmLaunch {
        dtype: gemm.dtype,
        batch: gemm.batch.clone(),
        m: gemm.m,
        n: gemm.n,
        k: gemm.k,
        a: operand(&gemm.a, gemm.k, 1),
        b: operand(&gemm.b, 1, gemm.k),
        c: GemmOperand { buffer: c.buffer.clone(), batch_strides: c.batch_strides.clone(), ..*c },
        prologue: None,
        epilogue: None,
        label: gemm.label.clone(),
    }
}

/// The launches that transpose A and B, from the first addresses to the second.
pub fn launches(
    shared: &Arc<Shared>,
    gemm: &GemmLaunch,
    from: [u64; 2],
    to: [u64; 2],
) -> Result<[GemmKernelLaunch; 2], EnqueueError> {
    let a = &gemm.a;
    Ok([
        launch(shared, a, [gemm.k, gemm.m], a.column_stride, [from[0], to[0]], None)?,
        launch_b(shared, gemm, from[1], to[1], None)?,
    ])
}

/// The launch that transposes B. With `packed`, it does nothing unless the scaled-f16 split of an operand has failed.
pub fn launch_b(
    shared: &Arc<Shared>,
    gemm: &GemmLaunch,
    from: u64,
    to: u64,
    packed: Option<[PackedMatrix; 2]>,
) -> Result<GemmKernelLaunch, EnqueueError> {
    let b = &gemm.b;
    launch(shared, b, [gemm.k, gemm.n], b.row_stride, [from, to], packed)
}

/// The launch that transposes a matrix.
fn launch(
    shared: &Arc<Shared>,
    of: &GemmOperand,
    [rows, columns]: [usize; 2],
    leading: isize,
    [from, to]: [u64; 2],
    packed: Option<[PackedMatrix; 2]>,
) -> Result<GemmKernelLaunch, EnqueueError> {
    let function = shared.function(&TEXT).poll()?;
    let first = from.wrapping_add_signed(of.offset as i64 * 4);
    let tiles_across = columns.div_ceil(COLUMNS);
    let mut words =
        vec![first, to, leading as u64, rows as u64, columns as u64, tiles_across as u64];
    words.extend(packed.map_or([0; 2], |packed| packed.map(|packed| packed.header)));
    let blocks = (tiles_across * rows.div_ceil(ROWS)) as u32;
    Ok(GemmKernelLaunch { function, blocks, threads: THREADS, words })
}

/// The kernel source: a block transposes a tile through shared memory, swizzled against bank conflicts.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let sizes = format!("ROWS = {ROWS}, COLUMNS = {COLUMNS}, THREADS = {THREADS}");
    let packed = scaled_f16_split::declarations();
    crate::codegen::with_functions(&format!("constexpr int {sizes};\n{packed}{ENTRY}"))
});

const ENTRY: &str = r#"
// Threads along a line that is read and along one that is written, and lines at a time.
constexpr int READ_THREADS = COLUMNS / 4, WRITE_THREADS = ROWS / 4, READ_LINES = THREADS / READ_THREADS, WRITE_LINES = THREADS / WRITE_THREADS;
struct Arguments { const float *from; float *to; long long leading, rows, columns, tiles_across; const Header* packed[2]; };
extern "C" __global__ void __launch_bounds__(THREADS) entry(const __grid_constant__ Arguments a) {
    if (a.packed[0] && can_use_f16(*a.packed[0], *a.packed[1])) return;
    __shared__ alignas(16) float tile[COLUMNS * ROWS];
    const long long row = blockIdx.x / a.tiles_across * ROWS, column = blockIdx.x % a.tiles_across * COLUMNS;
    const int line = threadIdx.x / READ_THREADS, column_in_tile = threadIdx.x % READ_THREADS * 4;
    float4 x[ROWS / READ_LINES];
    #pragma unroll
    for (int i = 0; i < ROWS / READ_LINES; i++) {
        const bool is_inside = row + line + i * READ_LINES < a.rows && column + column_in_tile < a.columns;
        x[i] = {0.0f, 0.0f, 0.0f, 0.0f};
        if (is_inside) x[i] = *(const float4*)(a.from + (row + line + i * READ_LINES) * a.leading + column + column_in_tile);
    }
    #pragma unroll
    for (int i = 0; i < ROWS / READ_LINES; i++) {
        const int at = column_in_tile * ROWS + ((line + i * READ_LINES) ^ column_in_tile);
        tile[at] = x[i].x;
        tile[at + ROWS] = x[i].y;
        tile[at + 2 * ROWS] = x[i].z;
        tile[at + 3 * ROWS] = x[i].w;
    }
    __syncthreads();
    const int output_row = threadIdx.x / WRITE_THREADS, output_column = threadIdx.x % WRITE_THREADS * 4;
    #pragma unroll
    for (int i = 0; i < COLUMNS / WRITE_LINES; i++) {
        const int y = output_row + i * WRITE_LINES;
        if (column + y < a.columns && row + output_column < a.rows) {
            *(float4*)(a.to + (column + y) * a.rows + row + output_column) = *(const float4*)&tile[y * ROWS + (output_column ^ (y & -4))];
        }
    }
}
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use inflight_backend::{Buffer, Label};

    /// A GEMM of `f32` operands, each of which is column-major if `column_major` says so.
    fn gemm_of(m: usize, n: usize, k: usize, column_major: [bool; 2]) -> GemmLaunch {
        let operand = |rows: usize, columns: usize, column_major: bool| GemmOperand {
            buffer: Buffer::declare(rows * columns * 4),
            offset: 0,
            batch_strides: smallvec![],
            row_stride: if column_major { 1 } else { columns as isize },
            column_stride: if column_major { rows as isize } else { 1 },
        };
        GemmLaunch {
            dtype: DType::F32,
            batch: smallvec![],
            m,
            n,
            k,
            a: operand(m, k, column_major[0]),
            b: operand(k, n, column_major[1]),
            c: operand(m, n, false),
            prologue: None,
            epilogue: None,
            label: Label { segment: [].into(), work: Arc::default() },
        }
    }

    #[test]
    fn only_large_weight_gradients_are_transposed() {
        assert!(is_worthwhile(&gemm_of(4096, 4096, 1024, [true, false])));
        assert!(!is_worthwhile(&gemm_of(1024, 1024, 4096, [true, false])), "a small result");
        assert!(
            !is_worthwhile(&gemm_of(4096, 4096, 1024, [false, false])),
            "one operand is K-major"
        );
        assert!(!is_worthwhile(&gemm_of(4096, 4096, 1024, [true, true])), "one operand is K-major");
        assert!(is_worthwhile(&gemm_of(4096, 4096, 1000, [true, false])), "partial tiles");
        assert!(
            !is_worthwhile(&gemm_of(4096, 4096, 1002, [true, false])),
            "extents that are not multiples of four"
        );
        let f16 = GemmLaunch { dtype: DType::F16, ..gemm_of(4096, 4096, 1024, [true, false]) };
        assert!(!is_worthwhile(&f16), "f16 needs no K-major operands");
        let transposed = transposed(&gemm_of(4096, 4096, 1024, [true, false]));
        assert_eq!([transposed.a.row_stride, transposed.a.column_stride], [1024, 1]);
        assert_eq!([transposed.b.row_stride, transposed.b.column_stride], [1, 1024]);
    }
}
