//! Numbers of `f32` as they are, each the sum of three of `bf16` that [`split`](crate::codegen::split) has made of it.
//!
//! Of the nine products of the thirds of two numbers, the three smallest are left out: they are less than what is rounded
//! anyway. The units cut what they have summed off, where `f32` would round it. So they begin anew with every stage, with the
//! smallest products first, and what they have summed is added to the sums, and rounded, in registers. Such sums are more
//! exact than those that are rounded for each number.
//!
//! Where an operand has numbers that thirds do not stand for, such as infinities, or where sums of a tile overflow, the threads
//! multiply the numbers themselves.

use super::{BF16X3_DEPTH as DEPTH, ROWS, THREADS, Way, multiply};
use crate::codegen::split::NOTED;

/// Bytes of shared memory that all stages may have.
const STAGES_BYTES: usize = 200 << 10;

/// How the kernel is filled in. See [`Numbers::Bf16x3`](super::Numbers::Bf16x3) for what is asked.
pub(super) fn way(across: [bool; 2], columns: usize) -> Way {
    let stage_bytes = stage_bytes(ROWS, columns);
    let threads = format!("constexpr int THREADS = {THREADS};");
    Way {
        columns,
        stages: STAGES_BYTES / stage_bytes,
        stage_bytes,
        declarations: [&threads, &declarations(across, columns), MACHINE, SUMMING].join("\n"),
        begin: BEGIN,
        copy: COPY,
        own: OWN,
        sum: SUM,
        add: "",
    }
}

/// Bytes of a stage: all thirds of so many rows and columns.
pub const fn stage_bytes(rows: usize, columns: usize) -> usize {
    3 * (rows + columns) * DEPTH * 2
}

/// What sums up stages, for tiles of so many columns. It goes by `ROWS`, `COLUMNS` and `SUMS`.
pub fn declarations(across: [bool; 2], columns: usize) -> String {
    let [rows_across, columns_across] = across;
    let lies = format!(", {}, {}", u8::from(rows_across), u8::from(columns_across));
    let constants = format!(
        "constexpr int DEPTH = {DEPTH};\n\
         constexpr bool ROWS_ACROSS = {rows_across}, COLUMNS_ACROSS = {columns_across};"
    );
    let multiply = multiply("multiply", columns, "k16.f32.bf16.bf16", &lies, false);
    [&constants, NOTED, MATRICES, &multiply, STAGES].join("\n")
}

const MATRICES: &str = r#"
// Bytes of what a stage has of a row or a column in one third, and of all rows in all thirds.
constexpr unsigned LINE_BYTES = DEPTH * 2, ROW_BYTES = 3 * ROWS * LINE_BYTES;
// Rows or columns that are copied at once.
constexpr int BOX = 64;
// A matrix in shared memory as the units take it: with rows of 64 bytes, eight of them swizzled together; or, if it lies
// across, boxes of 64 rows side by side, with lines of 128 bytes. Its address is in units of sixteen bytes, to which what is
// known before is added at once.
template <bool ACROSS> FN unsigned long long matrix_at(unsigned address, unsigned known) {
    constexpr unsigned NEXT = ACROSS ? BOX * LINE_BYTES >> 4 : 1, UPPER = ACROSS ? 64 | 1u << 30 : 32 | 2u << 30;
    return (unsigned long long)UPPER << 32 | (address + (known >> 4 | NEXT << 16));
}
"#;

const MACHINE: &str = r#"
// What those who have split an operand have noted, how many they are, where its numbers are, and how far apart they are from
// row to row or column to column, and along what is summed.
struct Operand { const unsigned* noted; long long blocks; const float* numbers; long long side, depth; };
// Operands of a tile's rows and of its columns.
struct All { Map thirds[2], held[HELD > 0 ? HELD : 1]; long long rows, columns, depth; Operand operands[2]; Arguments rest; };

// Copies a box of one third, from this column and line on. What is outside of the matrix is zero.
FN void copy_third(unsigned to, const Map& map, int column, int line, int third, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
        :: "r"(to), "l"(&map), "r"(column), "r"(line), "r"(third), "r"(barrier) : "memory");
}
// Copies what a stage has of so many rows or columns, one third after another.
template <int SIDE, bool ACROSS> FN void copy_side(unsigned to, const Map& map, int first, int depth, unsigned barrier) {
    for (int third = 0; third < 3; third++)
        for (int i = 0; i < SIDE; i += BOX) {
            const int column = ACROSS ? first + i : depth, line = ACROSS ? depth : first + i;
            copy_third(to + (third * SIDE + i) * LINE_BYTES, map, column, line, third, barrier);
        }
}
"#;

const STAGES: &str = r#"
// Groups multiply in turns, so that the units have something to do while one of them adds.
FN void await_turn(int own) { asm volatile("bar.sync %0, 256;" :: "r"(own + 3) : "memory"); }
FN void pass_turn(int own) { asm volatile("bar.arrive %0, 256;" :: "r"(4 - own) : "memory"); }
// Multiplies 64 rows of a stage, in units of sixteen bytes at `own_at`, with its columns, in a stage at `at`, and adds to the
// sums. When the units are done, `done` is arrived at, if it is not zero.
FN void sum_stage(float (&all_sums)[SUMS], unsigned at, unsigned own_at, int own, unsigned done) {
    float sums[SUMS];
    await_turn(own);
    begin_multiplying();
    // Which thirds are multiplied, the smallest first: a third is at most 2^-8 of the one before it.
    constexpr int thirds[6][2] = {{2, 0}, {1, 1}, {0, 2}, {1, 0}, {0, 1}, {0, 0}};
    // Sixteen lines of a box, or 32 bytes of each row.
    constexpr unsigned LEFT_STEP = ROWS_ACROSS ? 2048 : 32, RIGHT_STEP = COLUMNS_ACROSS ? 2048 : 32;
    #pragma unroll
    for (int i = 0; i < 6; i++) {
        #pragma unroll
        for (int s = 0; s < DEPTH / 16; s++) {
            const unsigned left = thirds[i][0] * ROWS * LINE_BYTES + s * LEFT_STEP;
            const unsigned right = ROW_BYTES + thirds[i][1] * COLUMNS * LINE_BYTES + s * RIGHT_STEP;
            multiply(sums, matrix_at<ROWS_ACROSS>(own_at, left), matrix_at<COLUMNS_ACROSS>(at, right), i | s);
        }
    }
    end_multiplying();
    pass_turn(own);
    multiplied<0>();
    // No sum is read before.
    #pragma unroll
    for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(sums[i]) :: "memory");
    if (done) arrive(done);
    #pragma unroll
    for (int i = 0; i < SUMS; i++) all_sums[i] = __fadd_rn(all_sums[i], sums[i]);
}
"#;

const SUMMING: &str = r#"
// Of thirds.
FN void sum_thirds(float (&sums)[SUMS], Ring& ring, int steps, int own, int thread) {
    #pragma unroll
    for (int i = 0; i < SUMS; i++) sums[i] = 0.0f;
    for (int step = 0; step < steps; step++, ring.next()) {
        ring.await_full();
        const unsigned at = ring.here() >> 4, own_at = at + own * (ROWS / 2 * LINE_BYTES >> 4);
        sum_stage(sums, at, own_at, own, thread == 0 ? ring.empty + 8 * ring.stage : 0);
    }
}

// Whether a sum is not finite: products of thirds may be infinite, of either sign, where that of the numbers is not, or is of
// one sign.
FN bool overflows(const float (&sums)[SUMS]) {
    bool is_finite = true;
    #pragma unroll
    for (int i = 0; i < SUMS; i++) is_finite &= fabsf(sums[i]) < __int_as_float(0x7f800000);
    return !is_finite;
}
// Whether it is so of any thread of a group.
FN bool group_has(int group, bool it) {
    unsigned any;
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.u32 p, %1, 0;\nbarrier.cta.red.or.pred q, %2, 128, p;\nselp.u32 %0, 1, 0, q;\n}"
        : "=r"(any) : "r"((unsigned)it), "r"(group) : "memory");
    return any;
}

// Numbers that are brought to shared memory at once, of each row and column, and the distance from one to the next.
constexpr int CHUNK = 8, ROW_STEP = ROWS / 2 + 2, COLUMN_STEP = COLUMNS + 2;
static_assert(CHUNK * (ROW_STEP + COLUMN_STEP) * 4 <= SHEET_BYTES);
// Of rows or columns that are not there, the last is taken; what is summed ends with zeros.
template <int SIDE, bool ACROSS> FN void bring(float* to, const Operand& from, long long first, long long last, long long depth, long long end, int thread) {
    #pragma unroll 4
    for (int i = thread; i < SIDE * CHUNK; i += 128) {
        const int side = ACROSS ? i % SIDE : i / CHUNK, k = ACROSS ? i / SIDE : i % CHUNK;
        const float* const at = from.numbers + min(first + side, last) * from.side + (depth + k) * from.depth;
        to[k * (SIDE + 2) + side] = depth + k < end ? *at : 0.0f;
    }
}
// Of numbers as they are. All threads of a group must call this.
FN void sum_one_by_one(float (&sums)[SUMS], const All& all, float* sheet, const int (&rows)[2], int first_row, int first_column, int group, int thread) {
    float *const of_rows = sheet, *const of_columns = sheet + CHUNK * ROW_STEP;
    #pragma unroll
    for (int i = 0; i < SUMS; i++) sums[i] = 0.0f;
    for (long long depth = 0; depth < all.depth; depth += CHUNK) {
        bring<ROWS / 2, ROWS_ACROSS>(of_rows, all.operands[0], first_row, all.rows - 1, depth, all.depth, thread);
        bring<COLUMNS, COLUMNS_ACROSS>(of_columns, all.operands[1], first_column, all.columns - 1, depth, all.depth, thread);
        group_meets(group);
        #pragma unroll 1
        for (int k = 0; k < CHUNK; k++) {
            const float own[2] = {of_rows[k * ROW_STEP + rows[0]], of_rows[k * ROW_STEP + rows[1]]};
            #pragma unroll
            for (int i = 0; i < SUMS; i += 4) {
                const float2 two = *(const float2*)&of_columns[k * COLUMN_STEP + i * 2 + thread % 4 * 2];
                #pragma unroll
                for (int j = 0; j < 4; j++) sums[i + j] = __fmaf_rn(own[j / 2], j % 2 ? two.y : two.x, sums[i + j]);
            }
        }
        group_meets(group);
    }
}
"#;

const BEGIN: &str = r#"
    bool is_odd = false;
    for (const Operand& operand : all.operands) is_odd |= is_odd_matrix(operand.noted, operand.blocks, THREADS);
    const int steps = is_odd ? 0 : (int)((all.depth + DEPTH - 1) / DEPTH);
"#;

const COPY: &str = r#"
                copy_side<ROWS, ROWS_ACROSS>(to, all.thirds[0], row, step * DEPTH, barrier);
                copy_side<COLUMNS, COLUMNS_ACROSS>(to + ROW_BYTES, all.thirds[1], column, step * DEPTH, barrier);
"#;

const OWN: &str = r#"
    const int rows[2] = {warp * 16 + g, warp * 16 + g + 8};
    if (own == 1) pass_turn(own);
"#;

const SUM: &str = r#"
        if (!is_odd) sum_thirds(sums, ring, steps, own, thread);
        if (is_odd || group_has(group, overflows(sums)))
            sum_one_by_one(sums, all, sheet, rows, first_row, first_column, group, thread);
"#;
