//! Numbers in TF32: the copies round them. The units take an operand from shared memory only if what is summed is next to
//! each other there. The operand of a tile's rows may lie across instead: then the threads bring its numbers to the units
//! themselves, and a thread's rows are chosen such that their numbers are in banks of their own.
//!
//! Or they are multiplied as halves that [`packed`] has made of them, which have mantissas as long, at twice the rate. Such
//! operands may lie as they like. Whether their halves will do is known when the kernel starts: it has both ways.

use super::{LINE_BYTES, ROUNDED_COLUMNS as COLUMNS, ROWS, Way, multiply};
use crate::codegen::packed;

/// How the kernel is filled in. See [`Numbers::Rounded`](super::Numbers::Rounded) for what is asked.
pub fn way(across: bool, packed: Option<[bool; 2]>) -> Way {
    let [rows_across, columns_across] = packed.unwrap_or_default();
    let lies = format!(", {}, {}", u8::from(rows_across), u8::from(columns_across));
    let constants = format!(
        "constexpr int LINE_BYTES = {LINE_BYTES};\n\
         constexpr bool ACROSS = {across}, PACKS = {};\n\
         constexpr bool ROWS_ACROSS = {rows_across}, COLUMNS_ACROSS = {columns_across};",
        packed.is_some(),
    );
    let declarations = [
        constants,
        packed::declarations(),
        MACHINE.to_owned(),
        multiply("multiply", COLUMNS, "k8.f32.tf32.tf32", "", across),
        multiply("multiply_halves", COLUMNS, "k16.f32.f16.f16", &lies, false),
        SUMMING.replace("OWN_ROWS", if across { "fetched[s]" } else { "left + 2 * s" }),
    ];
    Way {
        columns: COLUMNS,
        stages: 4,
        stage_bytes: (ROWS + COLUMNS) * LINE_BYTES,
        declarations: declarations.join("\n"),
        begin: BEGIN,
        copy: COPY,
        own: OWN,
        sum: SUM,
        add: ADD,
    }
}

const MACHINE: &str = r#"
constexpr unsigned ROW_BYTES = ROWS * LINE_BYTES;
// What a stage has of a sum, which the units take in four steps.
constexpr int DEPTH = LINE_BYTES / 4, HALVES_DEPTH = LINE_BYTES / 2, STEPS = 4;
// What is known of a packed operand, its halves, and the distance of their lines.
struct Operand { const Header* header; const f16* halves; long long leading; };
// Operands of a tile's rows and of its columns.
struct All { Map operands[2], packed_operands[2], held[HELD > 0 ? HELD : 1]; long long rows, columns, depth; Operand packed[2]; Arguments rest; };
// Copies what a stage has of so many rows or columns, so many at a time: of those that lie across as many as fill a line.
template <int SIDE, int EACH> FN void copy_side(unsigned to, const Map& map, int first, int depth, unsigned barrier, bool across) {
    for (int i = 0; i < SIDE; i += EACH)
        copy_box(to + i * LINE_BYTES, map, across ? first + i : depth, across ? depth : first + i, barrier);
}
// A matrix in shared memory whose rows are 128 bytes, eight of them swizzled together, as the units take it.
FN unsigned long long matrix_at(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
// The same of halves that lie across: boxes of 64 side by side, as many lines of them as there are to sum, one after
// another.
FN unsigned long long boxes_at(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | (64ull * LINE_BYTES >> 4) << 16 | 64ull << 32 | 1ull << 62;
}
FN unsigned word_at(unsigned address) {
    unsigned x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(address));
    return x;
}
// What was listed of both packed operands, as numbers of `operand`.
struct List { int count; Entry entries[2 * MOST_LISTED]; };
// Some of them, as bits: each thread of a group looks at one.
struct Found { unsigned words[2 * MOST_LISTED / 32]; };
static_assert(2 * MOST_LISTED <= 128);
FN float power_of_two(int exponent) { return __uint_as_float((unsigned)(127 + exponent) << 23); }
// What packed numbers are to be multiplied by: those of each operand, and sums of both's, twice, since one factor may be too
// large or too small.
struct Factors { float own[2], half, other_half; };
FN Factors factors_of(const Operand (&packed)[2]) {
    const int first = packed[0].header->exponent, second = packed[1].header->exponent, half = (first + second) / 2;
    return {{power_of_two(-first), power_of_two(-second)}, power_of_two(-half), power_of_two(half - first - second)};
}
// The row or column that a number belongs to, and its place in the sum.
struct Place { int side, depth; };
FN Place place_of(const Entry& entry) {
    const bool across = entry.operand == 0 ? ROWS_ACROSS : COLUMNS_ACROSS;
    return across ? Place{(int)entry.place, (int)entry.line} : Place{(int)entry.line, (int)entry.place};
}
// What a half stands for, times the matrix's power of two.
template <bool LIES_ACROSS> FN float number_of(const Operand& operand, int side, int depth) {
    const long long at = LIES_ACROSS ? depth * operand.leading + side : side * operand.leading + depth;
    return to_float(operand.halves[at]);
}
"#;

/// What a group does to have the sums of its part of a tile in registers.
const SUMMING: &str = r#"
template <int N> struct Number { static constexpr int value = N; };
// Multiplies what comes in stages. While one is multiplied, the next is fetched; the one before it is then free.
template <class Multiply> FN void sum_stages(float (&sums)[SUMS], Ring& ring, int steps, int thread, Multiply multiply_stage) {
    unsigned before = 0;
    const auto one = [&](int step, auto parity) {
        ring.await_full();
        multiply_stage(ring.here(), step > 0, parity);
        end_multiplying();
        multiplied<1>();
        if (step > 0 && thread == 0) arrive(ring.empty + 8 * before);
        before = ring.stage;
        ring.next();
    };
    int step = 0;
    for (; step + 1 < steps; step += 2) {
        one(step, Number<0>{});
        one(step + 1, Number<1>{});
    }
    if (step < steps) one(step, Number<0>{});
    multiplied<0>();
    // No sum is read before.
    #pragma unroll
    for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(sums[i]) :: "memory");
    if (thread == 0) arrive(ring.empty + 8 * before);
}

// Of numbers in TF32. `first` and `second` say where those of the thread's rows are in a stage, if they lie across.
FN void sum_numbers(float (&sums)[SUMS], Ring& ring, int steps, int own, int thread, unsigned first, unsigned second) {
    unsigned numbers[2][STEPS][4];
    sum_stages(sums, ring, steps, thread, [&](unsigned at, int adds, auto parity) {
        unsigned (&fetched)[STEPS][4] = numbers[parity.value];
        if (ACROSS) {
            #pragma unroll
            for (int s = 0; s < STEPS; s++) {
                fetched[s][0] = word_at(at + s * 1024 + first);
                fetched[s][1] = word_at(at + s * 1024 + second);
                fetched[s][2] = word_at(at + s * 1024 + 512 + (first ^ 64));
                fetched[s][3] = word_at(at + s * 1024 + 512 + (second ^ 64));
            }
        }
        begin_multiplying();
        const unsigned long long left = matrix_at(at + own * (ROWS / 2) * LINE_BYTES);
        const unsigned long long right = matrix_at(at + ROW_BYTES);
        #pragma unroll
        for (int s = 0; s < STEPS; s++) multiply(sums, OWN_ROWS, right + 2 * s, adds | s);
    });
}

// Of halves.
FN void sum_halves(float (&sums)[SUMS], Ring& ring, int steps, int own, int thread, const Factors& factors) {
    sum_stages(sums, ring, steps, thread, [&](unsigned at, int adds, auto) {
        begin_multiplying();
        const unsigned from = at + own * (ROWS / 2) * LINE_BYTES;
        const unsigned long long left = ROWS_ACROSS ? boxes_at(from) : matrix_at(from);
        const unsigned long long right = COLUMNS_ACROSS ? boxes_at(at + ROW_BYTES) : matrix_at(at + ROW_BYTES);
        // Sixteen lines of a box, or 32 bytes of each row.
        constexpr int LEFT_STEP = ROWS_ACROSS ? 128 : 2, RIGHT_STEP = COLUMNS_ACROSS ? 128 : 2;
        #pragma unroll
        for (int s = 0; s < STEPS; s++) multiply_halves(sums, left + s * LEFT_STEP, right + s * RIGHT_STEP, adds | s);
    });
    #pragma unroll
    for (int i = 0; i < SUMS; i++) sums[i] = sums[i] * factors.half * factors.other_half;
}

// The entries whose row is one of a group's, or whose column one of the tile's, as bits. All threads of a group must call
// this, with words of their own.
FN void find_listed(const List& list, Found& found, int first_row, int first_column, int group, int thread) {
    bool is_here = false;
    if (thread < list.count) {
        const Entry entry = list.entries[thread];
        const int at = place_of(entry).side - (entry.operand == 0 ? first_row : first_column);
        is_here = at >= 0 && at < (entry.operand == 0 ? ROWS / 2 : COLUMNS);
    }
    const unsigned of_warp = __ballot_sync(0xffffffff, is_here);
    if (thread % 32 == 0 && thread < 2 * MOST_LISTED) found.words[thread / 32] = of_warp;
    group_meets(group);
}
// Adds what no half stood for to the part of a tile in `sheet`: of the rows' operand, to a row, and of the columns', to a
// column. All threads of a group must call this.
FN void add_listed(const All& all, const List& list, const Found& found, float* sheet, int first_row, int first_column, int group, int thread, const Factors& factors) {
    for (int e = 0; e < list.count; e++) {
        if (!(found.words[e / 32] >> e % 32 & 1)) continue;
        const Entry entry = list.entries[e];
        const Place of = place_of(entry);
        const int y = entry.operand == 0 ? of.side - first_row : thread, row = first_row + y;
        const int x = entry.operand == 0 ? thread : of.side - first_column, column = first_column + x;
        if (y < ROWS / 2 && x >= 0 && x < PART && row < all.rows && column < all.columns) {
            float number = entry.operand == 0 ? number_of<COLUMNS_ACROSS>(all.packed[1], column, of.depth)
                                              : number_of<ROWS_ACROSS>(all.packed[0], row, of.depth);
            // What was listed of both is multiplied once.
            for (int other = 0; other < e; other++) {
                const Entry also = list.entries[other];
                const Place place = place_of(also);
                if (also.operand < entry.operand && place.side == row && place.depth == of.depth) number += also.rest;
            }
            const float rest = entry.rest * (entry.operand == 0 ? factors.own[0] : factors.own[1]);
            float& sum = sheet[TURNED ? x * (ROWS / 2 + 4) + y : y * (PART + 4) + x];
            sum = __fmaf_rn(rest, number * (entry.operand == 0 ? factors.own[1] : factors.own[0]), sum);
        }
        group_meets(group);
    }
}
"#;

const BEGIN: &str = r#"
    __shared__ List list;
    __shared__ Found found[2];
    const bool packed = PACKS && fit(*all.packed[0].header, *all.packed[1].header);
    if (packed) {
        const int counts[2] = {(int)all.packed[0].header->count, (int)all.packed[1].header->count};
        if (threadIdx.x == 0) list.count = counts[0] + counts[1];
        for (int e = threadIdx.x; e < counts[0] + counts[1]; e += blockDim.x) {
            const unsigned operand = e >= counts[0];
            list.entries[e] = all.packed[operand].header->list[operand ? e - counts[0] : e];
            list.entries[e].operand = operand;
        }
    }
    __syncthreads();
    const int depth = packed ? HALVES_DEPTH : DEPTH, steps = (int)((all.depth + depth - 1) / depth);
"#;

const COPY: &str = r#"
                if (packed) {
                    copy_side<ROWS, ROWS_ACROSS ? HALVES_DEPTH : 128>(to, all.packed_operands[0], row, step * HALVES_DEPTH, barrier, ROWS_ACROSS);
                    copy_side<COLUMNS, COLUMNS_ACROSS ? HALVES_DEPTH : 128>(to + ROW_BYTES, all.packed_operands[1], column, step * HALVES_DEPTH, barrier, COLUMNS_ACROSS);
                } else {
                    copy_side<ROWS, ACROSS ? DEPTH : 128>(to, all.operands[0], row, step * DEPTH, barrier, ACROSS);
                    copy_side<COLUMNS, 128>(to + ROW_BYTES, all.operands[1], column, step * DEPTH, barrier, false);
                }
"#;

const OWN: &str = r#"
    // The thread's two rows of the group's, and where their first two numbers are in a stage, if they lie across: four
    // numbers, side by side, are swizzled together, and the rows of four lanes are such four.
    const int four = g / 4 * 4 + warp % 2 * 2;
    const bool fetches = ACROSS && !packed;
    const int rows[2] = {
        fetches ? warp / 2 * 32 + four * 4 + g % 4 : warp * 16 + g,
        fetches ? warp / 2 * 32 + four * 4 + g % 4 + 4 : warp * 16 + g + 8,
    };
    const unsigned base = (own * 2 + warp / 2) * DEPTH * LINE_BYTES + t * 128 + g % 4 * 4;
    const unsigned first = base + ((four ^ t) << 4), second = base + (((four + 1) ^ t) << 4);
    Factors factors;
    if (packed) factors = factors_of(all.packed);
"#;

const SUM: &str = r#"
        if (packed) sum_halves(sums, ring, steps, own, thread, factors);
        else sum_numbers(sums, ring, steps, own, thread, first, second);
        const bool has_listed = packed && list.count > 0;
        if (has_listed) find_listed(list, found[own], first_row, first_column, group, thread);
"#;

const ADD: &str = r#"
            if (has_listed) add_listed(all, list, found[own], sheet, first_row, first_column + part * PART, group, thread, factors);
"#;
