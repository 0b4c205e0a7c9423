//! The bf16x3 main loop: a GEMM with the precision of `f32` on bf16 tensor cores. Each operand is the sum of three
//! `bf16` parts, which [`bf16x3_split`](crate::codegen::bf16x3_split) computes.
//!
//! A product of two elements is the sum of nine products of parts. The three smallest are omitted: they are below the
//! rounding error of `f32`. Tensor cores truncate their accumulators, where `f32` addition would round. So each stage
//! starts from zero, with the smallest products first, and its sums are added to the `f32` accumulators, rounded to
//! nearest, in registers. The result is more precise than an `f32` GEMM that rounds after each element.
//!
//! If an operand has elements that the split cannot represent, such as infinities, or if the sums of a tile overflow,
//! the threads compute the tile in `f32`.

use super::{BF16X3_STAGE_K as STAGE_K, MainLoop, THREADS, TILE_ROWS as ROWS, wgmma};
use crate::codegen::bf16x3_split::FLAGS;

/// Bytes of shared memory for all stages.
const STAGES_BYTES: usize = 200 << 10;

/// The main loop. See [`GemmPrecision::Bf16x3`](super::GemmPrecision::Bf16x3) for the parameters.
pub(super) fn main_loop(mn_major: [bool; 2], columns: usize) -> MainLoop {
    let stage_bytes = stage_bytes(ROWS, columns);
    let threads = format!("constexpr int THREADS = {THREADS};");
    MainLoop {
        columns,
        stages: STAGES_BYTES / stage_bytes,
        stage_bytes,
        declarations: [&threads, &declarations(mn_major, columns), OPERANDS, K_LOOP].join("\n"),
        init: INIT,
        load: LOAD,
        consumer: CONSUMER,
        accumulate: ACCUMULATE,
        fixup: "",
    }
}

/// Bytes of a stage: the three parts of so many rows and columns.
pub const fn stage_bytes(rows: usize, columns: usize) -> usize {
    3 * (rows + columns) * STAGE_K * 2
}

/// Device functions that multiply a stage (`mma_stage`), for tiles of so many columns. The text before must define
/// `ROWS`, `COLUMNS` and `ACCUMULATORS`. The implicit GEMM of convolutions uses them, too.
pub fn declarations(mn_major: [bool; 2], columns: usize) -> String {
    let [rows_mn_major, columns_mn_major] = mn_major;
    let transposes = format!(", {}, {}", u8::from(rows_mn_major), u8::from(columns_mn_major));
    let constants = format!(
        "constexpr int STAGE_K = {STAGE_K};\n\
         constexpr bool ROWS_MN_MAJOR = {rows_mn_major}, COLUMNS_MN_MAJOR = {columns_mn_major};"
    );
    let wgmma = wgmma("wgmma_bf16", columns, "k16.f32.bf16.bf16", &transposes, false);
    [&constants, FLAGS, DESCRIPTORS, &wgmma, MMA_STAGE].join("\n")
}

const DESCRIPTORS: &str = r#"
// Bytes that a stage holds of one part of a row or column, and of all parts of all rows.
constexpr unsigned LINE_BYTES = STAGE_K * 2, ROW_BYTES = 3 * ROWS * LINE_BYTES;
// Rows or columns of a TMA box.
constexpr int BOX = 64;
// The wgmma descriptor of a matrix in shared memory: K-major with rows of 64 bytes and the 64-byte swizzle, or MN-major
// in boxes of 64 elements side by side, with lines of 128 bytes and the 128-byte swizzle. `address` is in units of 16
// bytes; the compile-time `offset` in bytes and the constant fields take a single addition.
template <bool MN_MAJOR> FN unsigned long long descriptor_of(unsigned address, unsigned offset) {
    constexpr unsigned LEADING = MN_MAJOR ? BOX * LINE_BYTES >> 4 : 1, UPPER = MN_MAJOR ? 64 | 1u << 30 : 32 | 2u << 30;
    return (unsigned long long)UPPER << 32 | (address + (offset >> 4 | LEADING << 16));
}
"#;

const OPERANDS: &str = r#"
// An f32 operand: the flags of the blocks that split it, its elements, and their strides along M or N and along K.
struct Operand { const unsigned* flags; long long blocks; const float* elements; long long mn_stride, k_stride; };
// The first operand belongs to a tile's rows, the second one to its columns.
struct GemmArguments { TensorMap parts[2], staged[STAGED > 0 ? STAGED : 1]; long long rows, columns, k; Operand operands[2]; Arguments epilogue; };

// TMA copy of a box of one part. Elements outside of the matrix are zero.
FN void tma_load_3d(unsigned to, const TensorMap& map, int column, int line, int part, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
        :: "r"(to), "l"(&map), "r"(column), "r"(line), "r"(part), "r"(barrier) : "memory");
}
// TMA copies of one operand for a stage, one part after another.
template <int SIDE, bool MN_MAJOR> FN void load_operand(unsigned to, const TensorMap& map, int first, int k, unsigned barrier) {
    for (int part = 0; part < 3; part++)
        for (int i = 0; i < SIDE; i += BOX) {
            const int column = MN_MAJOR ? first + i : k, line = MN_MAJOR ? k : first + i;
            tma_load_3d(to + (part * SIDE + i) * LINE_BYTES, map, column, line, part, barrier);
        }
}
"#;

const MMA_STAGE: &str = r#"
// Ping-pong: the consumer warp groups issue their wgmmas alternately, so that the tensor cores are busy while the other
// group adds to its accumulators.
FN void ping_pong_wait(int consumer) { asm volatile("bar.sync %0, 256;" :: "r"(consumer + 3) : "memory"); }
FN void ping_pong_signal(int consumer) { asm volatile("bar.arrive %0, 256;" :: "r"(4 - consumer) : "memory"); }
// Multiplies 64 rows of a stage with its columns and adds to `totals`. The addresses of the stage and of the rows are
// in units of 16 bytes. Arrives at the mbarrier `done`, if not zero, when the wgmmas have read the stage.
FN void mma_stage(float (&totals)[ACCUMULATORS], unsigned stage, unsigned rows, int consumer, unsigned done) {
    float accumulators[ACCUMULATORS];
    ping_pong_wait(consumer);
    wgmma_fence();
    // The parts of each product, the smallest first: a part is at most 2^-8 of the one before it.
    constexpr int parts[6][2] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    // Sixteen lines of an MN-major box, or 32 bytes of each K-major row.
    constexpr unsigned LEFT_STEP = ROWS_MN_MAJOR ? 2048 : 32, RIGHT_STEP = COLUMNS_MN_MAJOR ? 2048 : 32;
    #pragma unroll
    for (int i = 0; i < 6; i++) {
        #pragma unroll
        for (int s = 0; s < STAGE_K / 16; s++) {
            const unsigned left = parts[i][0] * ROWS * LINE_BYTES + s * LEFT_STEP;
            const unsigned right = ROW_BYTES + parts[i][1] * COLUMNS * LINE_BYTES + s * RIGHT_STEP;
            wgmma_bf16(accumulators, descriptor_of<ROWS_MN_MAJOR>(rows, left), descriptor_of<COLUMNS_MN_MAJOR>(stage, right), i | s);
        }
    }
    wgmma_commit();
    ping_pong_signal(consumer);
    wgmma_wait<0>();
    // Keeps the compiler from reading accumulators before the wait.
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) asm volatile("" : "+f"(accumulators[i]) :: "memory");
    if (done) mbarrier_arrive(done);
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) totals[i] = __fadd_rn(totals[i], accumulators[i]);
}
"#;

const K_LOOP: &str = r#"
// The loop over K of a consumer warp group.
FN void k_loop_bf16x3(float (&accumulators)[ACCUMULATORS], Pipeline& pipeline, int steps, int consumer, int thread) {
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) accumulators[i] = 0.0f;
    for (int step = 0; step < steps; step++, pipeline.advance()) {
        pipeline.wait_full();
        const unsigned stage = pipeline.address() >> 4, rows = stage + consumer * (ROWS / 2 * LINE_BYTES >> 4);
        mma_stage(accumulators, stage, rows, consumer, thread == 0 ? pipeline.empty + 8 * pipeline.stage : 0);
    }
}

// Whether a sum is not finite. Products of parts may be infinite, of either sign, where the product of the elements is
// finite or an infinity of one sign.
FN bool overflows(const float (&accumulators)[ACCUMULATORS]) {
    bool is_finite = true;
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) is_finite &= fabsf(accumulators[i]) < __int_as_float(0x7f800000);
    return !is_finite;
}
// Whether the predicate holds for any thread of a warp group.
FN bool warp_group_any(int group, bool predicate) {
    unsigned any;
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nbarrier.cta.red.or.pred q, %2, 128, p;\nselp.u32 %0, 1, 0, q;\n}"
        : "=r"(any) : "r"((unsigned)predicate), "r"(group) : "memory");
    return any;
}

// The f32 fallback stages so many elements along K in shared memory, with padded strides.
constexpr int FALLBACK_K = 8, ROW_STRIDE = ROWS / 2 + 2, COLUMN_STRIDE = COLUMNS + 2;
static_assert(FALLBACK_K * (ROW_STRIDE + COLUMN_STRIDE) * 4 <= SUBTILE_BYTES);
// Rows or columns beyond the end repeat the last one; elements beyond the end of K are zero.
template <int SIDE, bool MN_MAJOR> FN void load_f32(float* to, const Operand& from, long long first, long long last, long long first_k, long long end, int thread) {
    #pragma unroll 4
    for (int i = thread; i < SIDE * FALLBACK_K; i += 128) {
        const int mn = MN_MAJOR ? i % SIDE : i / FALLBACK_K, k = MN_MAJOR ? i / SIDE : i % FALLBACK_K;
        const float* const element = from.elements + min(first + mn, last) * from.mn_stride + (first_k + k) * from.k_stride;
        to[k * (SIDE + 2) + mn] = first_k + k < end ? *element : 0.0f;
    }
}
// Computes a half tile in f32 with FMAs. All threads of the warp group must call this.
FN void k_loop_f32(float (&accumulators)[ACCUMULATORS], const GemmArguments& gemm, float* subtile_sums, const int (&rows)[2], int first_row, int first_column, int group, int thread) {
    float *const row_operand = subtile_sums, *const column_operand = subtile_sums + FALLBACK_K * ROW_STRIDE;
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) accumulators[i] = 0.0f;
    for (long long first_k = 0; first_k < gemm.k; first_k += FALLBACK_K) {
        load_f32<ROWS / 2, ROWS_MN_MAJOR>(row_operand, gemm.operands[0], first_row, gemm.rows - 1, first_k, gemm.k, thread);
        load_f32<COLUMNS, COLUMNS_MN_MAJOR>(column_operand, gemm.operands[1], first_column, gemm.columns - 1, first_k, gemm.k, thread);
        sync_warp_group(group);
        #pragma unroll 1
        for (int k = 0; k < FALLBACK_K; k++) {
            const float left[2] = {row_operand[k * ROW_STRIDE + rows[0]], row_operand[k * ROW_STRIDE + rows[1]]};
            #pragma unroll
            for (int i = 0; i < ACCUMULATORS; i += 4) {
                const float2 right = *(const float2*)&column_operand[k * COLUMN_STRIDE + i * 2 + thread % 4 * 2];
                #pragma unroll
                for (int j = 0; j < 4; j++) accumulators[i + j] = __fmaf_rn(left[j / 2], j % 2 ? right.y : right.x, accumulators[i + j]);
            }
        }
        sync_warp_group(group);
    }
}
"#;

const INIT: &str = r#"
    bool uses_f32 = false;
    for (const Operand& operand : gemm.operands) uses_f32 |= is_split_inexact(operand.flags, operand.blocks, THREADS);
    const int steps = uses_f32 ? 0 : (int)((gemm.k + STAGE_K - 1) / STAGE_K);
"#;

const LOAD: &str = r#"
                load_operand<ROWS, ROWS_MN_MAJOR>(to, gemm.parts[0], row, step * STAGE_K, barrier);
                load_operand<COLUMNS, COLUMNS_MN_MAJOR>(to + ROW_BYTES, gemm.parts[1], column, step * STAGE_K, barrier);
"#;

const CONSUMER: &str = r#"
    const int rows[2] = {warp * 16 + core_row, warp * 16 + core_row + 8};
    if (consumer == 1) ping_pong_signal(consumer);
"#;

const ACCUMULATE: &str = r#"
        if (!uses_f32) k_loop_bf16x3(accumulators, pipeline, steps, consumer, thread);
        if (uses_f32 || warp_group_any(group, overflows(accumulators)))
            k_loop_f32(accumulators, gemm, subtile_sums, rows, first_row, first_column, group, thread);
"#;
