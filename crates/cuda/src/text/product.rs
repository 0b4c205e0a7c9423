//! Kernels whose points take in a matrix product as it is computed, on the matrix units of Hopper (`sm_90a`).
//!
//! A block computes one tile of the product after another: one thread has the device copy pieces of the operands
//! into a ring of stages in shared memory, and two groups of four warps multiply them, each the half of a tile's rows.
//! A tile's sums are then in registers. They go through shared memory, some columns at a time, to the threads that
//! compute what follows, whose other operands have come in stages as well. While that goes on, the first stages of the
//! next tile are on their way.
//!
//! Numbers are multiplied in TF32: the copies round them. The units take an operand from shared memory only if what is
//! summed is next to each other there. The operand of a tile's rows may lie across instead: then the threads bring
//! its numbers to the units themselves, and a thread's rows are chosen such that their numbers are in banks of their
//! own.
//!
//! Or they are multiplied as halves that [`packed`] has made of them, which have mantissas as long, at twice the rate. Such
//! operands may lie as they like. Whether their halves will do is known when the kernel starts: it has both ways.

use super::address;
use super::body::{Body, Division, Stages};
use super::packed;
use super::points;
use super::{Variant, types};
use inflight_ir::DType;
use inflight_ir::elementwise::{BinaryOp, UnaryOp};
use inflight_ir::kernel::{AccessId, Kernel, Kind, Value};

/// How a product lies that a kernel takes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiled {
    /// The kernel's param that is the product.
    pub product: u32,
    /// Whether a tile's rows are columns of the product.
    pub turned: bool,
    /// Whether, in the operand of a tile's rows, what is summed is not next to each other.
    pub across: bool,
    /// If halves are to be multiplied, whether what is summed is not next to each other, in those of a tile's rows and in
    /// those of its columns.
    pub packed: Option<[bool; 2]>,
    /// The accesses whose elements come in stages, as bits. At most [`MOST_HELD`].
    pub held: u64,
    /// The accesses that are the same element everywhere, as bits.
    pub same: u64,
}

impl Tiled {
    /// The accesses whose elements come in stages, in order.
    pub fn held(&self) -> impl Iterator<Item = AccessId> + use<> {
        let bits = self.held;
        (0..64).filter(move |access| bits >> access & 1 == 1)
    }
}

/// Rows of a tile.
pub const ROWS: usize = 128;

/// Columns of a tile.
pub const COLUMNS: usize = 256;

/// Bytes of what is summed of each in a stage.
pub const LINE_BYTES: usize = 128;

/// Columns of a tile whose sums are passed on at once.
pub const PART: usize = 32;

/// So many matrices of four-byte elements fit into a stage, as long as a part of a tile.
pub const MOST_HELD: usize = 3;

/// Threads of a block: those that copy, and two groups that multiply.
pub const THREADS: u32 = 384;

const STAGES: usize = 4;
const STAGE_BYTES: usize = (ROWS + COLUMNS) * LINE_BYTES;

/// Bytes of a group's part of a tile, on its way from registers to other threads.
const SHEET_BYTES: usize = 9216;

/// Bytes of a block's shared memory. Stages begin at multiples of 1,024.
const SHARED_BYTES: usize = STAGES * STAGE_BYTES + 2 * SHEET_BYTES + 1024;

/// Sums of each thread: half the rows of a tile are a group's.
const SUMS: usize = ROWS / 2 * COLUMNS / 128;

/// The text of a kernel that takes in a product.
pub fn text(kernel: &Kernel, variant: Variant, tiled: Tiled) -> String {
    let stages = Stages::new(kernel);
    let mut body = Body::new(kernel, &stages, variant.width, variant);
    body.division = Division::Straight;
    let held: Vec<AccessId> = tiled.held().collect();
    let Tiled { turned, across, packed, .. } = tiled;
    let [rows_across, columns_across] = packed.unwrap_or_default();
    body.writer.line(format!(
        "constexpr int ROWS = {ROWS}, COLUMNS = {COLUMNS}, LINE_BYTES = {LINE_BYTES}, PART = {PART}, STAGES = {STAGES};\n\
         constexpr int HELD = {}, SHEET_BYTES = {SHEET_BYTES}, SUMS = {SUMS};\n\
         {SHARED}{SHARED_BYTES};\n\
         constexpr bool TURNED = {turned}, ACROSS = {across}, PACKS = {};\n\
         constexpr bool ROWS_ACROSS = {rows_across}, COLUMNS_ACROSS = {columns_across};",
        held.len(),
        packed.is_some(),
    ));
    body.writer.line(packed::declarations());
    body.writer.line(MACHINE);
    body.writer.line(multiply("multiply", "k8.f32.tf32.tf32", "", across));
    let lies = format!(", {}, {}", u8::from(rows_across), u8::from(columns_across));
    body.writer.line(multiply("multiply_halves", "k16.f32.f16.f16", &lies, false));
    body.writer
        .line(SUMMING.replace("OWN_ROWS", if across { "fetched[s]" } else { "left + 2 * s" }));
    let same = same_everywhere(&mut body, tiled);
    body.writer.line(ENTRY.replace("    SAME\n", &same));
    points_of_part(&mut body, tiled, &held);
    body.writer.line(END);
    body.writer.finish()
}

/// The loads of what is the same everywhere.
fn same_everywhere(body: &mut Body, tiled: Tiled) -> String {
    let kernel = body.kernel;
    let mut lines = String::new();
    for value in 0..kernel.body.len() as Value {
        if let Some(access) = loads_same(kernel, value, tiled) {
            let kind = types::name(kernel.body[value as usize].dtype);
            let param = kernel.accesses[access as usize].param.expect("a verified kernel");
            let name = format!("same{value}");
            lines += &format!(
                "    const {kind} {name} = (({kind}*)a.buffer[{param}])[a.offset[{access}]];\n"
            );
            body.names[value as usize] = name;
        }
    }
    lines
}

/// The access of a load of what is the same everywhere.
fn loads_same(kernel: &Kernel, value: Value, tiled: Tiled) -> Option<AccessId> {
    match kernel.body[value as usize].kind {
        Kind::Load { access, index: None, mask: None }
            if access < 64 && tiled.same >> access & 1 == 1 =>
        {
            Some(access)
        }
        _ => None,
    }
}

/// What a part's points do, given the sums in `sheet` and other operands in `held`.
fn points_of_part(body: &mut Body, tiled: Tiled, held: &[AccessId]) {
    let (kernel, width) = (body.kernel, body.width as usize);
    let vector = kernel.rank() - 1;
    body.scalars();
    // The result's rows and columns of a group's part.
    let (columns, sheet_row) =
        if tiled.turned { (ROWS / 2, ROWS / 2 + 4) } else { (PART, PART + 4) };
    let lanes = columns / width;
    let items = ROWS / 2 * PART / width / 128;
    body.writer.line(format!("#pragma unroll {}", items.min(4)));
    body.writer.open(format!("for (int i = 0; i < {items}; i++)"));
    body.writer.line(format!(
        "const int place = i * 128 + thread, y = place / {lanes}, x = place % {lanes} * {width};"
    ));
    let (first, inside) = match tiled.turned {
        false => (["first_row", "first_column + part * PART"], ["(I)all.rows", "(I)all.columns"]),
        true => (["first_column + part * PART", "first_row"], ["(I)all.columns", "(I)all.rows"]),
    };
    body.writer
        .line(format!("const I row = (I)({}) + y, c{vector} = (I)({}) + x;", first[0], first[1]));
    body.writer.open(format!("if (row < {} && c{vector} < {})", inside[0], inside[1]));
    address::unravel(&mut body.writer, "row", 0..vector);
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
    body.writer.line(format!("alignas(16) float product[{width}];"));
    body.writer.line(format!("load_pack<{width}>(product, sheet + y * {sheet_row} + x);"));
    let mut there = Vec::new();
    for value in 0..kernel.body.len() as Value {
        let Kind::Load { access, .. } = kernel.body[value as usize].kind else { continue };
        if kernel.accesses[access as usize].param == Some(tiled.product) {
            body.names[value as usize] = "product[j]".to_owned();
        } else if let Some(slot) = held.iter().position(|&held| held == access) {
            let kind = types::name(kernel.body[value as usize].dtype);
            let at = match tiled.turned {
                false => format!("(own * {} + y) * PART + x", ROWS / 2),
                true => format!("y * ROWS + own * {} + x", ROWS / 2),
            };
            body.writer.line(format!("alignas(16) {kind} h{value}[{width}];"));
            body.writer.line(format!(
                "load_pack<{width}>(h{value}, (const {kind}*)held + {slot} * ROWS * PART + {at});"
            ));
            body.names[value as usize] = format!("h{value}[j]");
        } else if loads_same(kernel, value, tiled).is_none() {
            continue;
        }
        there.push(value);
    }
    compute(body, &points::Group::new(body, &|value| there.contains(value)));
    body.writer.close();
    body.writer.close();
}

/// What the points of one group do. What is rare in divisions and roots is left to another try.
fn compute(body: &mut Body, group: &points::Group) {
    let divides = body.kernel.body.iter().any(|instruction| {
        let kind = instruction.kind;
        matches!(kind, Kind::Binary(BinaryOp::Div, ..) | Kind::Unary(UnaryOp::Sqrt, _))
            && instruction.dtype == DType::F32
    });
    group.begin(body);
    if divides && group.stores_last(body) {
        body.writer.line("bool odd = false;");
        body.division = Division::Usual;
        group.lanes(body);
        body.division = Division::Straight;
        body.writer.open("if (odd)");
        group.lanes(body);
        body.writer.close();
    } else {
        group.lanes(body);
    }
    group.store(body);
}

/// How a text says how much shared memory its kernel has beyond what it declares.
const SHARED: &str = "constexpr unsigned SHARED_BYTES = ";

/// Bytes of shared memory that a text's kernel must be launched with.
pub fn shared_bytes(text: &str) -> u32 {
    let declared = text.split_once(SHARED).map(|(_, rest)| rest);
    let number = declared.and_then(|rest| rest.split_once(';')).map(|(number, _)| number);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The instruction that multiplies 64 rows, 32 bytes of each, with 256 columns, and adds to `sums`. With `fetched`, the
/// rows' numbers are in registers.
fn multiply(function: &str, name: &str, lies: &str, fetched: bool) -> String {
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%{at}")).collect();
        names.join(", ")
    };
    let sums: Vec<String> = (0..SUMS).map(|at| format!("\"+f\"(sums[{at}])")).collect();
    let (rows, operand, more, inputs) = match fetched {
        true => (
            "const unsigned (&rows)[4]",
            format!("{{{}}}, %{}", list(SUMS, 4), SUMS + 4),
            SUMS + 5,
            "\"r\"(rows[0]), \"r\"(rows[1]), \"r\"(rows[2]), \"r\"(rows[3])",
        ),
        false => (
            "unsigned long long rows",
            format!("%{}, %{}", SUMS, SUMS + 1),
            SUMS + 2,
            "\"l\"(rows)",
        ),
    };
    format!(
        "FN void {function}(float (&sums)[SUMS], {rows}, unsigned long long columns, int adds) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{more}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n256{name} {{{}}}, {operand}, p, 1, 1{lies};\\n}}\\n\"\n\
         : {} : {inputs}, \"l\"(columns), \"r\"(adds));\n}}",
        list(0, SUMS),
        sums.join(", "),
    )
}

const MACHINE: &str = r#"
constexpr unsigned ROW_BYTES = ROWS * LINE_BYTES, STAGE_BYTES = (ROWS + COLUMNS) * LINE_BYTES;
static_assert(HELD * ROWS * PART * 4 <= STAGE_BYTES);
// What a stage has of a sum, which the units take in four steps.
constexpr int DEPTH = LINE_BYTES / 4, HALVES_DEPTH = LINE_BYTES / 2, STEPS = 4;
// Where a matrix is, as the device's copies take it.
struct alignas(128) Map { unsigned long long words[16]; };
// What is known of a packed operand, its halves, and the distance of their lines.
struct Operand { const Header* header; const f16* halves; long long leading; };
// Operands of a tile's rows and of its columns.
struct All { Map operands[2], packed_operands[2], held[HELD > 0 ? HELD : 1]; long long rows, columns, depth; Operand packed[2]; Arguments rest; };

FN unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// A barrier passes when it was arrived at so often, and all bytes came that were announced.
FN void begin_barrier(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count));
}
FN void announce(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
FN void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
FN void await(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
        :: "r"(barrier), "r"(parity) : "memory");
}
// Copies a box of a matrix, from this column and row on. What is outside of the matrix is zero.
FN void copy_box(unsigned to, const Map& map, int column, int row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(barrier) : "memory");
}
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
FN void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void end_multiplying() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int OPEN> FN void multiplied() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(OPEN) : "memory"); }
FN void group_meets(int group) { asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory"); }

// Stages, the barriers that pass when one is full and when it is empty, and which of them is next.
struct Ring {
    unsigned stages, full, empty, stage, parity;
    __device__ __forceinline__ void next() { if (++stage == STAGES) { stage = 0; parity ^= 1; } }
    __device__ __forceinline__ unsigned here() const { return stages + stage * STAGE_BYTES; }
    __device__ __forceinline__ void await_full() const { await(full + 8 * stage, parity); }
    __device__ __forceinline__ void await_empty() const { await(empty + 8 * stage, parity ^ 1); }
};

// The first row and column of a tile. Tiles that are computed at the same time are near each other, so that they need few
// of the operands' numbers: they go down so many rows, and then to the next columns.
constexpr int HIGH = 16;
struct Corner { int row, column; };
FN Corner corner_of(int tile, int down, int across) {
    const int strip = tile / (HIGH * across), rest = tile % (HIGH * across), high = min(HIGH, down - strip * HIGH);
    return {(strip * HIGH + rest % high) * ROWS, rest / high * COLUMNS};
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

const ENTRY: &str = r#"
extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ All all) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    __shared__ unsigned long long barriers[2 * STAGES];
    __shared__ List list;
    __shared__ Found found[2];
    Ring ring = {shared_address(memory), shared_address(barriers), shared_address(barriers + STAGES), 0, 0};
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            begin_barrier(ring.full + 8 * s, 1);
            begin_barrier(ring.empty + 8 * s, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
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
    const Arguments& a = all.rest;
    const int depth = packed ? HALVES_DEPTH : DEPTH, steps = (int)((all.depth + depth - 1) / depth);
    const int group = threadIdx.x / 128;
    const int down = (int)((all.rows + ROWS - 1) / ROWS), across = (int)((all.columns + COLUMNS - 1) / COLUMNS);
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
            const auto [row, column] = corner_of(tile, down, across);
            for (int step = 0; step < steps; step++, ring.next()) {
                const unsigned to = ring.here(), barrier = ring.full + 8 * ring.stage;
                ring.await_empty();
                announce(barrier, STAGE_BYTES);
                if (packed) {
                    copy_side<ROWS, ROWS_ACROSS ? HALVES_DEPTH : 128>(to, all.packed_operands[0], row, step * HALVES_DEPTH, barrier, ROWS_ACROSS);
                    copy_side<COLUMNS, COLUMNS_ACROSS ? HALVES_DEPTH : 128>(to + ROW_BYTES, all.packed_operands[1], column, step * HALVES_DEPTH, barrier, COLUMNS_ACROSS);
                } else {
                    copy_side<ROWS, ACROSS ? DEPTH : 128>(to, all.operands[0], row, step * DEPTH, barrier, ACROSS);
                    copy_side<COLUMNS, 128>(to + ROW_BYTES, all.operands[1], column, step * DEPTH, barrier, false);
                }
            }
            for (int part = 0; part < (HELD ? COLUMNS / PART : 0); part++, ring.next()) {
                const unsigned to = ring.here(), barrier = ring.full + 8 * ring.stage;
                ring.await_empty();
                announce(barrier, HELD * ROWS * PART * 4);
                for (int i = 0; i < HELD; i++) {
                    const int x = TURNED ? row : column + part * PART, y = TURNED ? column + part * PART : row;
                    copy_box(to + i * ROWS * PART * 4, all.held[i], x, y, barrier);
                }
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int own = group - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    const int g = lane / 4, t = lane % 4;
    float* const sheet = (float*)(memory + STAGES * STAGE_BYTES + own * SHEET_BYTES);
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
    SAME
    Factors factors;
    if (packed) factors = factors_of(all.packed);
    float sums[SUMS];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        const Corner corner = corner_of(tile, down, across);
        const int first_row = corner.row + own * (ROWS / 2), first_column = corner.column;
        if (packed) sum_halves(sums, ring, steps, own, thread, factors);
        else sum_numbers(sums, ring, steps, own, thread, first, second);
        const bool has_listed = packed && list.count > 0;
        if (has_listed) find_listed(list, found[own], first_row, first_column, group, thread);
        #pragma unroll 1
        for (int part = 0; part < COLUMNS / PART; part++) {
            #pragma unroll
            for (int p = 0; p < COLUMNS / PART; p++) if (p == part) {
                #pragma unroll
                for (int i = 0; i < 16; i += 2) {
                    const int y = rows[i / 2 % 2], x = i / 4 * 8 + t * 2;
                    const float2 two = {sums[16 * p + i], sums[16 * p + i + 1]};
                    if (TURNED) {
                        sheet[x * (ROWS / 2 + 4) + y] = two.x;
                        sheet[(x + 1) * (ROWS / 2 + 4) + y] = two.y;
                    } else {
                        *(float2*)&sheet[y * (PART + 4) + x] = two;
                    }
                }
            }
            if (HELD) ring.await_full();
            const unsigned char* const held = memory + ring.stage * STAGE_BYTES;
            group_meets(group);
            if (has_listed) add_listed(all, list, found[own], sheet, first_row, first_column + part * PART, group, thread, factors);
"#;

const END: &str = r#"
            group_meets(group);
            if (HELD) {
                if (thread == 0) arrive(ring.empty + 8 * ring.stage);
                ring.next();
            }
        }
    }
}
"#;
