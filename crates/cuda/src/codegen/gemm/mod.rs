//! Kernels whose points take in a matrix product as it is computed, on the matrix units of Hopper (`sm_90a`).
//!
//! A block computes one tile of the product after another: one thread has the device copy pieces of the operands
//! into a ring of stages in shared memory, and two groups of four warps multiply them, each the half of a tile's rows.
//! A tile's sums are then in registers. They go through shared memory, some columns at a time, to the threads that
//! compute what follows, whose other operands have come in stages as well. While that goes on, the first stages of the
//! next tile are on their way.
//!
//! Numbers of `f32` are multiplied in one of two ways, each of which fills in its part of the kernel: [`rounded`] to TF32,
//! or whole, in [`thirds`].

pub mod bf16x3;
mod rounded;

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
    /// How its numbers are multiplied.
    pub numbers: Numbers,
    /// The accesses whose elements come in stages, as bits. At most [`MOST_HELD`].
    pub held: u64,
    /// The accesses that are the same element everywhere, as bits.
    pub same: u64,
}

/// How the numbers of a product are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Numbers {
    /// As TF32 rounds them.
    Rounded {
        /// Whether, in the operand of a tile's rows, what is summed is not next to each other.
        across: bool,
        /// If halves are to be multiplied, whether what is summed is not next to each other, in those of a tile's rows and
        /// in those of its columns.
        packed: Option<[bool; 2]>,
    },
    /// As sums of three numbers each.
    Bf16x3 {
        /// Whether what is summed is not next to each other, in the operand of a tile's rows and in that of its columns.
        across: [bool; 2],
        /// Columns of a tile.
        columns: u32,
    },
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

/// Columns of a tile whose operands are rounded.
pub const ROUNDED_COLUMNS: usize = 256;

/// Bytes of what is summed of each in a stage, where operands are rounded.
pub const LINE_BYTES: usize = 128;

/// What is summed of each in a stage, where operands are in thirds.
pub const BF16X3_DEPTH: usize = 32;

/// Columns of a tile whose sums are passed on at once.
pub const PART: usize = 32;

/// So many matrices of four-byte elements fit into a stage, as long as a part of a tile.
pub const MOST_HELD: usize = 3;

/// Threads of a block: those that copy, and two groups that multiply.
pub const THREADS: u32 = 384;

/// Bytes of a group's part of a tile, on its way from registers to other threads.
const SHEET_BYTES: usize = 9216;

/// What a way to multiply numbers fills in.
struct Way {
    /// Columns of a tile.
    columns: usize,
    /// How many stages there are, and the bytes of each. They begin at multiples of 1,024.
    stages: usize,
    stage_bytes: usize,
    /// Functions, and `All`, which is what the kernel takes.
    declarations: String,
    /// What all threads do first. It says how many `steps` there are to a sum, and has all threads meet.
    begin: &'static str,
    /// Copies what belongs to a step of the tile at `row` and `column` to a stage, `STAGE_BYTES` in all.
    copy: &'static str,
    /// What the threads that multiply know: the two `rows` of its group that a thread has.
    own: &'static str,
    /// What brings the sums of a tile to `sums`.
    sum: &'static str,
    /// What is done to a part of the sums in `sheet`.
    add: &'static str,
}

/// Sums of each thread: half the rows of a tile are a group's.
pub fn sums(columns: usize) -> usize {
    ROWS / 2 * columns / 128
}

/// The text of a kernel that takes in a product.
pub fn text(kernel: &Kernel, variant: Variant, tiled: Tiled) -> String {
    let stages = Stages::new(kernel);
    let mut body = Body::new(kernel, &stages, variant.width, variant);
    body.division = Division::Straight;
    let held: Vec<AccessId> = tiled.held().collect();
    let way = match tiled.numbers {
        Numbers::Rounded { across, packed } => rounded::way(across, packed),
        Numbers::Bf16x3 { across, columns } => bf16x3::way(across, columns as usize),
    };
    let Way { columns, stages, stage_bytes, .. } = way;
    let shared_bytes = stages * stage_bytes + 2 * SHEET_BYTES + 1024;
    body.writer.line(format!(
        "constexpr int ROWS = {ROWS}, COLUMNS = {columns}, PART = {PART}, STAGES = {stages};\n\
         constexpr int HELD = {}, SHEET_BYTES = {SHEET_BYTES}, SUMS = {};\n\
         constexpr unsigned STAGE_BYTES = {stage_bytes};\n\
         {SHARED}{shared_bytes};\n\
         constexpr bool TURNED = {};",
        held.len(),
        sums(columns),
        tiled.turned,
    ));
    body.writer.line(MACHINE);
    body.writer.line(TILES);
    body.writer.line(&way.declarations);
    let same = same_everywhere(&mut body, tiled);
    let entry = [
        ("    BEGIN\n", way.begin),
        ("                COPY\n", way.copy),
        ("    OWN\n", way.own),
        ("    SAME\n", &same),
        ("        SUM\n", way.sum),
        ("            ADD\n", way.add),
    ];
    let entry =
        entry.iter().fold(ENTRY.to_owned(), |text, (place, with)| text.replace(place, with));
    body.writer.line(entry);
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
pub const SHARED: &str = "constexpr unsigned SHARED_BYTES = ";

/// Bytes of shared memory that a text's kernel must be launched with.
pub fn shared_bytes(text: &str) -> u32 {
    let declared = text.split_once(SHARED).map(|(_, rest)| rest);
    let number = declared.and_then(|rest| rest.split_once(';')).map(|(number, _)| number);
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The instruction that multiplies 64 rows, 32 bytes of each, with so many columns, and adds to `sums`. With `fetched`, the
/// rows' numbers are in registers.
fn multiply(function: &str, columns: usize, name: &str, lies: &str, fetched: bool) -> String {
    let count = sums(columns);
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%{at}")).collect();
        names.join(", ")
    };
    let sums: Vec<String> = (0..count).map(|at| format!("\"+f\"(sums[{at}])")).collect();
    let (rows, operand, more, inputs) = match fetched {
        true => (
            "const unsigned (&rows)[4]",
            format!("{{{}}}, %{}", list(count, 4), count + 4),
            count + 5,
            "\"r\"(rows[0]), \"r\"(rows[1]), \"r\"(rows[2]), \"r\"(rows[3])",
        ),
        false => (
            "unsigned long long rows",
            format!("%{}, %{}", count, count + 1),
            count + 2,
            "\"l\"(rows)",
        ),
    };
    format!(
        "FN void {function}(float (&sums)[SUMS], {rows}, unsigned long long columns, int adds) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{more}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n{columns}{name} {{{}}}, {operand}, p, 1, 1{lies};\\n}}\\n\"\n\
         : {} : {inputs}, \"l\"(columns), \"r\"(adds));\n}}",
        list(0, count),
        sums.join(", "),
    )
}

/// Copies by the device, products by its matrix units, and the ring of stages between them.
pub const MACHINE: &str = r#"
// Where a matrix is, as the device's copies take it.
struct alignas(128) Map { unsigned long long words[16]; };
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
// A stage is full when one thread has announced its bytes and they came, and empty when both groups say so. All threads of the
// block must meet before they go on.
FN Ring begin_ring(const unsigned char* stages, const unsigned long long (&barriers)[2 * STAGES]) {
    const Ring ring = {shared_address(stages), shared_address(barriers), shared_address(barriers + STAGES), 0, 0};
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            begin_barrier(ring.full + 8 * s, 1);
            begin_barrier(ring.empty + 8 * s, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    return ring;
}
"#;

const TILES: &str = r#"
static_assert(HELD * ROWS * PART * 4 <= STAGE_BYTES);
// The first row and column of a tile. Tiles that are computed at the same time are near each other, so that they need few
// of the operands' numbers: they go down so many rows, and then to the next columns.
constexpr int HIGH = 16;
struct Corner { int row, column; };
FN Corner corner_of(int tile, int down, int across) {
    const int strip = tile / (HIGH * across), rest = tile % (HIGH * across), high = min(HIGH, down - strip * HIGH);
    return {(strip * HIGH + rest % high) * ROWS, rest / high * COLUMNS};
}
"#;

const ENTRY: &str = r#"
extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ All all) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    __shared__ unsigned long long barriers[2 * STAGES];
    Ring ring = begin_ring(memory, barriers);
    BEGIN
    const Arguments& a = all.rest;
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
                COPY
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
    SAME
    OWN
    float sums[SUMS];
    for (int tile = blockIdx.x; tile < down * across; tile += gridDim.x) {
        const Corner corner = corner_of(tile, down, across);
        const int first_row = corner.row + own * (ROWS / 2), first_column = corner.column;
        SUM
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
            ADD
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
