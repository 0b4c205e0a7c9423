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

use super::address;
use super::body::{Body, Division, Stages};
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

/// What is summed of each in a stage.
pub const DEPTH: usize = 32;

/// Columns of a tile whose sums are passed on at once.
pub const PART: usize = 32;

/// So many matrices of four-byte elements fit into a stage, as long as a part of a tile.
pub const MOST_HELD: usize = 3;

/// Threads of a block: those that copy, and two groups that multiply.
pub const THREADS: u32 = 384;

const STAGES: usize = 4;
const STAGE_BYTES: usize = (ROWS + COLUMNS) * DEPTH * 4;

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
    let Tiled { turned, across, .. } = tiled;
    body.writer.line(format!(
        "constexpr int ROWS = {ROWS}, COLUMNS = {COLUMNS}, DEPTH = {DEPTH}, PART = {PART}, STAGES = {STAGES};\n\
         constexpr int HELD = {}, SHEET_BYTES = {SHEET_BYTES}, SUMS = {SUMS};\n\
         {SHARED}{SHARED_BYTES};\n\
         constexpr bool TURNED = {turned}, ACROSS = {across};",
        held.len()
    ));
    body.writer.line(MACHINE);
    body.writer.line(multiply(across));
    let left = if across { "fetched[s]" } else { "left + 2 * s" };
    let same = same_everywhere(&mut body, tiled);
    body.writer.line(ENTRY.replace("LEFT", left).replace("    SAME\n", &same));
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

/// The instruction that multiplies 64 rows, eight numbers of each, with 256 columns, and adds to `sums`.
fn multiply(across: bool) -> String {
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%{at}")).collect();
        names.join(", ")
    };
    let sums: Vec<String> = (0..SUMS).map(|at| format!("\"+f\"(sums[{at}])")).collect();
    let (rows, operand, more, inputs) = match across {
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
        "FN void multiply(float (&sums)[SUMS], {rows}, unsigned long long columns, int adds) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{more}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {{{}}}, {operand}, p, 1, 1;\\n}}\\n\"\n\
         : {} : {inputs}, \"l\"(columns), \"r\"(adds));\n}}",
        list(0, SUMS),
        sums.join(", "),
    )
}

const MACHINE: &str = r#"
constexpr unsigned ROW_BYTES = ROWS * DEPTH * 4, STAGE_BYTES = (ROWS + COLUMNS) * DEPTH * 4;
static_assert(HELD * ROWS * PART * 4 <= STAGE_BYTES);
// Where a matrix is, as the device's copies take it.
struct alignas(128) Map { unsigned long long words[16]; };
struct All { Map row_operand, column_operand, held[HELD > 0 ? HELD : 1]; long long rows, columns, depth; Arguments rest; };

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
// A matrix in shared memory whose rows are 128 bytes, eight of them swizzled together, as the units take it.
FN unsigned long long matrix_at(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
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
"#;

const ENTRY: &str = r#"
extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ All all) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    const unsigned stages = shared_address(memory);
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            begin_barrier(full + 8 * s, 1);
            begin_barrier(empty + 8 * s, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    const Arguments& a = all.rest;
    const int group = threadIdx.x / 128, steps = (int)((all.depth + DEPTH - 1) / DEPTH);
    const int down = (int)((all.rows + ROWS - 1) / ROWS), across = (int)((all.columns + COLUMNS - 1) / COLUMNS);
    unsigned stage = 0, parity = 0;
    const auto next = [&] { if (++stage == STAGES) { stage = 0; parity ^= 1; } };
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
            const int row = tile % down * ROWS, column = tile / down * COLUMNS;
            for (int step = 0; step < steps; step++, next()) {
                const unsigned to = stages + stage * STAGE_BYTES, barrier = full + 8 * stage;
                await(empty + 8 * stage, parity ^ 1);
                announce(barrier, STAGE_BYTES);
                if (ACROSS) {
                    for (int i = 0; i < ROWS; i += 32)
                        copy_box(to + i * DEPTH * 4, all.row_operand, row + i, step * DEPTH, barrier);
                } else {
                    copy_box(to, all.row_operand, step * DEPTH, row, barrier);
                }
                for (int i = 0; i < COLUMNS; i += 128)
                    copy_box(to + ROW_BYTES + i * DEPTH * 4, all.column_operand, step * DEPTH, column + i, barrier);
            }
            for (int part = 0; part < (HELD ? COLUMNS / PART : 0); part++, next()) {
                const unsigned to = stages + stage * STAGE_BYTES, barrier = full + 8 * stage;
                await(empty + 8 * stage, parity ^ 1);
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
    const int rows[2] = {
        ACROSS ? warp / 2 * 32 + four * 4 + g % 4 : warp * 16 + g,
        ACROSS ? warp / 2 * 32 + four * 4 + g % 4 + 4 : warp * 16 + g + 8,
    };
    const unsigned base = (own * 2 + warp / 2) * DEPTH * 128 + t * 128 + g % 4 * 4;
    const unsigned first = base + ((four ^ t) << 4), second = base + (((four + 1) ^ t) << 4);
    SAME
    float sums[SUMS];
    unsigned numbers[2][DEPTH / 8][4];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        const int first_row = tile % down * ROWS + own * (ROWS / 2), first_column = tile / down * COLUMNS;
        unsigned before = 0;
        // While a stage is multiplied, the numbers of the next are fetched. The one before it is then free.
        const auto multiply_stage = [&](int step, unsigned (&fetched)[DEPTH / 8][4]) {
            await(full + 8 * stage, parity);
            const unsigned at = stages + stage * STAGE_BYTES;
            if (ACROSS) {
                #pragma unroll
                for (int s = 0; s < DEPTH / 8; s++) {
                    fetched[s][0] = word_at(at + s * 1024 + first);
                    fetched[s][1] = word_at(at + s * 1024 + second);
                    fetched[s][2] = word_at(at + s * 1024 + 512 + (first ^ 64));
                    fetched[s][3] = word_at(at + s * 1024 + 512 + (second ^ 64));
                }
            }
            begin_multiplying();
            const unsigned long long left = matrix_at(at + own * (ROWS / 2) * DEPTH * 4);
            const unsigned long long right = matrix_at(at + ROW_BYTES);
            #pragma unroll
            for (int s = 0; s < DEPTH / 8; s++) multiply(sums, LEFT, right + 2 * s, step + s > 0);
            end_multiplying();
            multiplied<1>();
            if (step > 0 && thread == 0) arrive(empty + 8 * before);
            before = stage;
            next();
        };
        int step = 0;
        for (; step + 1 < steps; step += 2) {
            multiply_stage(step, numbers[0]);
            multiply_stage(step + 1, numbers[1]);
        }
        if (step < steps) multiply_stage(step, numbers[0]);
        multiplied<0>();
        // No sum is read before.
        #pragma unroll
        for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(sums[i]) :: "memory");
        if (thread == 0) arrive(empty + 8 * before);
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
            if (HELD) await(full + 8 * stage, parity);
            const unsigned char* const held = memory + stage * STAGE_BYTES;
            group_meets(group);
"#;

const END: &str = r#"
            group_meets(group);
            if (HELD) {
                if (thread == 0) arrive(empty + 8 * stage);
                next();
            }
        }
    }
}
"#;
