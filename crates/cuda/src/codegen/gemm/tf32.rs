//! The TF32 main loop. TMA copies round the operands to TF32.
//!
//! wgmma reads a TF32 operand from shared memory only if it is K-major. The operand of a tile's rows may be MN-major:
//! then the threads load its fragments into registers themselves, and the assignment of rows to threads avoids bank
//! conflicts.
//!
//! With the scaled-f16 split ([`scaled_f16_split`]), the operands are multiplied as f16, which has an equally long
//! mantissa, at twice the rate and in either layout. Whether the split succeeded is known only when the kernel starts,
//! so the kernel contains both main loops. The epilogue adds the contributions of outliers.

use super::{MainLoop, STAGE_K_BYTES, TF32_TILE_COLUMNS as COLUMNS, TILE_ROWS as ROWS, wgmma};
use crate::codegen::scaled_f16_split;

/// The main loop for operands of these layouts. See [`GemmPrecision::Tf32`](super::GemmPrecision::Tf32) for the
/// parameters.
pub fn main_loop(mn_major: bool, scaled_f16: Option<[bool; 2]>) -> MainLoop {
    let [rows_mn_major, columns_mn_major] = scaled_f16.unwrap_or_default();
    let transposes = format!(", {}, {}", u8::from(rows_mn_major), u8::from(columns_mn_major));
    let constants = format!(
        "constexpr int LINE_BYTES = {STAGE_K_BYTES};\n\
         constexpr bool TF32_ROWS_MN_MAJOR = {mn_major}, HAS_F16 = {};\n\
         constexpr bool F16_ROWS_MN_MAJOR = {rows_mn_major}, F16_COLUMNS_MN_MAJOR = {columns_mn_major};",
        scaled_f16.is_some(),
    );
    let declarations = [
        constants,
        scaled_f16_split::declarations(),
        OPERANDS.to_owned(),
        wgmma("wgmma_tf32", COLUMNS, "k8.f32.tf32.tf32", "", mn_major),
        wgmma("wgmma_f16", COLUMNS, "k16.f32.f16.f16", &transposes, false),
        K_LOOP.replace("ROW_OPERAND", if mn_major { "fragment[s]" } else { "left + 2 * s" }),
    ];
    MainLoop {
        columns: COLUMNS,
        stages: 4,
        stage_bytes: (ROWS + COLUMNS) * STAGE_K_BYTES,
        declarations: declarations.join("\n"),
        init: INIT,
        load: LOAD,
        consumer: CONSUMER,
        accumulate: ACCUMULATE,
        fixup: FIXUP,
    }
}

const OPERANDS: &str = r#"
constexpr unsigned ROW_BYTES = ROWS * LINE_BYTES;
// Elements along K of a stage, in f32 and in f16, and wgmma instructions per stage.
constexpr int STAGE_K = LINE_BYTES / 4, F16_STAGE_K = LINE_BYTES / 2, STEPS = 4;
// A scaled-f16 operand: its header, elements, and leading dimension.
struct Operand { const Header* header; const f16* elements; long long leading; };
// The first operand belongs to a tile's rows, the second one to its columns.
struct GemmArguments { TensorMap operands[2], f16_operands[2], staged[STAGED > 0 ? STAGED : 1]; long long rows, columns, k; Operand packed[2]; Arguments epilogue; };
// TMA copies of one operand for a stage, in boxes of BOX rows or columns: MN-major boxes are as wide as a 128-byte
// line.
template <int SIDE, int BOX> FN void load_operand(unsigned to, const TensorMap& map, int first, int k, unsigned barrier, bool mn_major) {
    for (int i = 0; i < SIDE; i += BOX)
        tma_load_2d(to + i * LINE_BYTES, map, mn_major ? first + i : k, mn_major ? k : first + i, barrier);
}
// The wgmma descriptor of a K-major matrix in shared memory with rows of 128 bytes and the 128-byte swizzle.
FN unsigned long long k_major_descriptor(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
// The descriptor of an MN-major f16 matrix: boxes of 64 elements side by side, each with a line of 128 bytes for every
// k.
FN unsigned long long mn_major_descriptor(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | (64ull * LINE_BYTES >> 4) << 16 | 64ull << 32 | 1ull << 62;
}
FN unsigned load_shared(unsigned address) {
    unsigned x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address));
    return x;
}
// The outliers of both operands.
struct OutlierList { int count; Outlier outliers[2 * MAX_OUTLIERS]; };
// A bit set of outliers: each thread of a warp group tests one.
struct OutlierSet { unsigned words[2 * MAX_OUTLIERS / 32]; };
static_assert(2 * MAX_OUTLIERS <= 128);
FN float power_of_two(int exponent) { return __uint_as_float((unsigned)(127 + exponent) << 23); }
// The inverse scale of each operand, and that of products in two factors: a single one may overflow or underflow.
struct Scales { float inverse[2], first_factor, second_factor; };
FN Scales scales_of(const Operand (&packed)[2]) {
    const int rows = packed[0].header->exponent, columns = packed[1].header->exponent, half = (rows + columns) / 2;
    return {{power_of_two(-rows), power_of_two(-columns)}, power_of_two(-half), power_of_two(half - rows - columns)};
}
// The coordinates of an outlier: its row or column of the result, and k.
struct Coordinates { int mn, k; };
FN Coordinates coordinates_of(const Outlier& outlier) {
    const bool mn_major = outlier.operand == 0 ? F16_ROWS_MN_MAJOR : F16_COLUMNS_MN_MAJOR;
    return mn_major ? Coordinates{(int)outlier.column, (int)outlier.line} : Coordinates{(int)outlier.line, (int)outlier.column};
}
// An element of a scaled-f16 operand, still scaled.
template <bool MN_MAJOR> FN float f16_element(const Operand& operand, int mn, int k) {
    const long long index = MN_MAJOR ? k * operand.leading + mn : mn * operand.leading + k;
    return to_float(operand.elements[index]);
}
"#;

/// The loop over K of a consumer warp group, in TF32 and in f16, and the correction for outliers.
const K_LOOP: &str = r#"
template <int N> struct Constant { static constexpr int value = N; };
// Multiplies the stages of a tile. One stage's wgmmas stay in flight while the next stage is issued; then the previous
// stage is released to the producer.
template <class Multiply> FN void k_loop(float (&accumulators)[ACCUMULATORS], Pipeline& pipeline, int steps, int thread, Multiply multiply_stage) {
    unsigned previous = 0;
    const auto iteration = [&](int step, auto parity) {
        pipeline.wait_full();
        multiply_stage(pipeline.address(), step > 0, parity);
        wgmma_commit();
        wgmma_wait<1>();
        if (step > 0 && thread == 0) mbarrier_arrive(pipeline.empty + 8 * previous);
        previous = pipeline.stage;
        pipeline.advance();
    };
    int step = 0;
    for (; step + 1 < steps; step += 2) {
        iteration(step, Constant<0>{});
        iteration(step + 1, Constant<1>{});
    }
    if (step < steps) iteration(step, Constant<0>{});
    wgmma_wait<0>();
    // Keeps the compiler from reading accumulators before the wait.
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) asm volatile("" : "+f"(accumulators[i]) :: "memory");
    if (thread == 0) mbarrier_arrive(pipeline.empty + 8 * previous);
}

// In TF32. `first` and `second` are the offsets of the thread's two rows in a stage, for MN-major rows. Fragments are
// double buffered: the wgmmas of the previous stage may still be reading theirs.
FN void k_loop_tf32(float (&accumulators)[ACCUMULATORS], Pipeline& pipeline, int steps, int consumer, int thread, unsigned first, unsigned second) {
    unsigned fragments[2][STEPS][4];
    k_loop(accumulators, pipeline, steps, thread, [&](unsigned stage, int accumulates, auto parity) {
        unsigned (&fragment)[STEPS][4] = fragments[parity.value];
        if (TF32_ROWS_MN_MAJOR) {
            #pragma unroll
            for (int s = 0; s < STEPS; s++) {
                fragment[s][0] = load_shared(stage + s * 1024 + first);
                fragment[s][1] = load_shared(stage + s * 1024 + second);
                fragment[s][2] = load_shared(stage + s * 1024 + 512 + (first ^ 64));
                fragment[s][3] = load_shared(stage + s * 1024 + 512 + (second ^ 64));
            }
        }
        wgmma_fence();
        const unsigned long long left = k_major_descriptor(stage + consumer * (ROWS / 2) * LINE_BYTES);
        const unsigned long long right = k_major_descriptor(stage + ROW_BYTES);
        #pragma unroll
        for (int s = 0; s < STEPS; s++) wgmma_tf32(accumulators, ROW_OPERAND, right + 2 * s, accumulates | s);
    });
}

// In scaled f16.
FN void k_loop_f16(float (&accumulators)[ACCUMULATORS], Pipeline& pipeline, int steps, int consumer, int thread, const Scales& scales) {
    k_loop(accumulators, pipeline, steps, thread, [&](unsigned stage, int accumulates, auto) {
        wgmma_fence();
        const unsigned rows = stage + consumer * (ROWS / 2) * LINE_BYTES;
        const unsigned long long left = F16_ROWS_MN_MAJOR ? mn_major_descriptor(rows) : k_major_descriptor(rows);
        const unsigned long long right = F16_COLUMNS_MN_MAJOR ? mn_major_descriptor(stage + ROW_BYTES) : k_major_descriptor(stage + ROW_BYTES);
        // In units of 16 bytes: sixteen lines of an MN-major box, or 32 bytes of each K-major row.
        constexpr int LEFT_STEP = F16_ROWS_MN_MAJOR ? 128 : 2, RIGHT_STEP = F16_COLUMNS_MN_MAJOR ? 128 : 2;
        #pragma unroll
        for (int s = 0; s < STEPS; s++) wgmma_f16(accumulators, left + s * LEFT_STEP, right + s * RIGHT_STEP, accumulates | s);
    });
    #pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) accumulators[i] = accumulators[i] * scales.first_factor * scales.second_factor;
}

// Finds the outliers in the rows of a warp group's half tile, or in the columns of the tile. All threads of the warp
// group must call this, with a set of their own group.
FN void find_outliers(const OutlierList& list, OutlierSet& found, int first_row, int first_column, int group, int thread) {
    bool is_in_tile = false;
    if (thread < list.count) {
        const Outlier outlier = list.outliers[thread];
        const int offset = coordinates_of(outlier).mn - (outlier.operand == 0 ? first_row : first_column);
        is_in_tile = offset >= 0 && offset < (outlier.operand == 0 ? ROWS / 2 : COLUMNS);
    }
    const unsigned warp_ballot = __ballot_sync(0xffffffff, is_in_tile);
    if (thread % 32 == 0 && thread < 2 * MAX_OUTLIERS) found.words[thread / 32] = warp_ballot;
    sync_warp_group(group);
}
// Adds the products of outliers' residuals to a subtile's sums: a residual of the row operand affects a row, one of the
// column operand a column. All threads of the warp group must call this.
FN void add_outliers(const GemmArguments& gemm, const OutlierList& list, const OutlierSet& found, float* subtile_sums, int first_row, int first_column, int group, int thread, const Scales& scales) {
    for (int e = 0; e < list.count; e++) {
        if (!(found.words[e / 32] >> e % 32 & 1)) continue;
        const Outlier outlier = list.outliers[e];
        const Coordinates position = coordinates_of(outlier);
        const int y = outlier.operand == 0 ? position.mn - first_row : thread, row = first_row + y;
        const int x = outlier.operand == 0 ? thread : position.mn - first_column, column = first_column + x;
        if (y < ROWS / 2 && x >= 0 && x < SUBTILE_COLUMNS && row < gemm.rows && column < gemm.columns) {
            float factor = outlier.operand == 0 ? f16_element<F16_COLUMNS_MN_MAJOR>(gemm.packed[1], column, position.k)
                                                : f16_element<F16_ROWS_MN_MAJOR>(gemm.packed[0], row, position.k);
            // Where outliers of both operands meet, the product of their residuals is added once, with the second
            // operand's.
            for (int other = 0; other < e; other++) {
                const Outlier other_outlier = list.outliers[other];
                const Coordinates other_position = coordinates_of(other_outlier);
                if (other_outlier.operand < outlier.operand && other_position.mn == row && other_position.k == position.k) factor += other_outlier.residual;
            }
            const float residual = outlier.residual * (outlier.operand == 0 ? scales.inverse[0] : scales.inverse[1]);
            float& sum = subtile_sums[TRANSPOSED ? x * (ROWS / 2 + 4) + y : y * (SUBTILE_COLUMNS + 4) + x];
            sum = __fmaf_rn(residual, factor * (outlier.operand == 0 ? scales.inverse[1] : scales.inverse[0]), sum);
        }
        sync_warp_group(group);
    }
}
"#;

const INIT: &str = r#"
    __shared__ OutlierList list;
    __shared__ OutlierSet found[2];
    const bool uses_f16 = HAS_F16 && can_use_f16(*gemm.packed[0].header, *gemm.packed[1].header);
    if (uses_f16) {
        const int counts[2] = {(int)gemm.packed[0].header->count, (int)gemm.packed[1].header->count};
        if (threadIdx.x == 0) list.count = counts[0] + counts[1];
        for (int e = threadIdx.x; e < counts[0] + counts[1]; e += blockDim.x) {
            const unsigned operand = e >= counts[0];
            list.outliers[e] = gemm.packed[operand].header->outliers[operand ? e - counts[0] : e];
            list.outliers[e].operand = operand;
        }
    }
    __syncthreads();
    const int stage_k = uses_f16 ? F16_STAGE_K : STAGE_K, steps = (int)((gemm.k + stage_k - 1) / stage_k);
"#;

const LOAD: &str = r#"
                if (uses_f16) {
                    load_operand<ROWS, F16_ROWS_MN_MAJOR ? F16_STAGE_K : 128>(to, gemm.f16_operands[0], row, step * F16_STAGE_K, barrier, F16_ROWS_MN_MAJOR);
                    load_operand<COLUMNS, F16_COLUMNS_MN_MAJOR ? F16_STAGE_K : 128>(to + ROW_BYTES, gemm.f16_operands[1], column, step * F16_STAGE_K, barrier, F16_COLUMNS_MN_MAJOR);
                } else {
                    load_operand<ROWS, TF32_ROWS_MN_MAJOR ? STAGE_K : 128>(to, gemm.operands[0], row, step * STAGE_K, barrier, TF32_ROWS_MN_MAJOR);
                    load_operand<COLUMNS, 128>(to + ROW_BYTES, gemm.operands[1], column, step * STAGE_K, barrier, false);
                }
"#;

const CONSUMER: &str = r#"
    // The thread's two rows of the half tile, and the stage offsets of their first elements if the rows are MN-major.
    // The swizzle permutes 16-byte chunks of four elements; four lanes take the rows of a chunk, so that they access
    // different banks.
    const int chunk = core_row / 4 * 4 + warp % 2 * 2;
    const bool loads_fragments = TF32_ROWS_MN_MAJOR && !uses_f16;
    const int rows[2] = {
        loads_fragments ? warp / 2 * 32 + chunk * 4 + core_row % 4 : warp * 16 + core_row,
        loads_fragments ? warp / 2 * 32 + chunk * 4 + core_row % 4 + 4 : warp * 16 + core_row + 8,
    };
    const unsigned base = (consumer * 2 + warp / 2) * STAGE_K * LINE_BYTES + core_pair * 128 + core_row % 4 * 4;
    const unsigned first = base + ((chunk ^ core_pair) << 4), second = base + (((chunk + 1) ^ core_pair) << 4);
    Scales scales;
    if (uses_f16) scales = scales_of(gemm.packed);
"#;

const ACCUMULATE: &str = r#"
        if (uses_f16) k_loop_f16(accumulators, pipeline, steps, consumer, thread, scales);
        else k_loop_tf32(accumulators, pipeline, steps, consumer, thread, first, second);
        const bool has_outliers = uses_f16 && list.count > 0;
        if (has_outliers) find_outliers(list, found[consumer], first_row, first_column, group, thread);
"#;

const FIXUP: &str = r#"
            if (has_outliers) add_outliers(gemm, list, found[consumer], subtile_sums, first_row, first_column + subtile * SUBTILE_COLUMNS, group, thread, scales);
"#;
