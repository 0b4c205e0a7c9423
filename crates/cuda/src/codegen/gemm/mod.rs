//! GEMM kernels with fused epilogues on Hopper's tensor cores (`sm_90a`): TMA copies, mbarriers, wgmma, warp
//! specialization.
//!
//! Blocks are persistent: each computes one tile of the result after another. The producer, one thread of the first
//! warp group, issues TMA copies of the operands' tiles into a ring of pipeline stages in shared memory. Two consumer
//! warp groups wait on each stage's mbarrier and multiply it with wgmma, each for half of the tile's rows, and release
//! the stage. That is the main loop. The accumulators then go through shared memory, some columns at a time, to the
//! threads that compute the epilogue at those points. The epilogue's other matrix operands arrive in pipeline stages,
//! too, and the producer prefetches the first stages of the next tile meanwhile.
//!
//! The main loop exists for two precisions of `f32` operands: [`tf32`], also with scaled-f16 operands, and [`bf16x3`],
//! which has the precision of `f32`. `gemm::fused_epilogue` decides when such a kernel is used.

pub mod bf16x3;
mod tf32;

use super::address;
use super::body::{Body, Division, Passes};
use super::elementwise;
use super::{Variant, types};
use inflight_ir::DType;
use inflight_ir::elementwise::{BinaryOp, UnaryOp};
use inflight_ir::kernel::{AccessId, Kernel, Kind, Value};

/// The tiling of a GEMM whose epilogue is a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmTiling {
    /// The kernel's param that is the GEMM's result.
    pub gemm_param: u32,
    /// Whether the rows of a tile are columns of the result.
    pub transposed: bool,
    /// The precision of the main loop and the layout of its operands.
    pub precision: GemmPrecision,
    /// Bit set of the accesses whose tiles arrive in pipeline stages by TMA. At most [`MAX_STAGED_OPERANDS`].
    pub staged: u64,
    /// Bit set of the accesses that are the same element at every point.
    pub uniform: u64,
}

/// The precision of a main loop, and the layout of its operands: K-major (contiguous along K) or MN-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GemmPrecision {
    /// Operands rounded to TF32 by the TMA copies, or scaled f16.
    Tf32 {
        /// Whether the `f32` operand of a tile's rows is MN-major.
        mn_major: bool,
        /// With the scaled-f16 split, whether the f16 operands of a tile's rows and of its columns are MN-major.
        scaled_f16: Option<[bool; 2]>,
    },
    /// The bf16x3 split of both operands.
    Bf16x3 {
        /// Whether the split operands of a tile's rows and of its columns are MN-major.
        mn_major: [bool; 2],
        /// Columns of a tile.
        columns: u32,
    },
}

impl GemmTiling {
    /// The accesses whose tiles arrive in pipeline stages, in order.
    pub fn staged_accesses(&self) -> impl Iterator<Item = AccessId> + use<> {
        let bits = self.staged;
        (0..64).filter(move |access| bits >> access & 1 == 1)
    }
}

/// Rows of a tile.
pub const TILE_ROWS: usize = 128;

/// Columns of a tile of the TF32 main loop.
pub const TF32_TILE_COLUMNS: usize = 256;

/// Bytes along K that a stage of the TF32 main loop holds of each row and column.
pub const STAGE_K_BYTES: usize = 128;

/// Elements along K that a stage of the bf16x3 main loop holds of each row and column.
pub const BF16X3_STAGE_K: usize = 32;

/// Columns of a tile that the epilogue processes at once: the width of a subtile.
pub const EPILOGUE_COLUMNS: usize = 32;

/// The most epilogue operands that arrive in stages: so many subtiles of four-byte elements fit into a stage.
pub const MAX_STAGED_OPERANDS: usize = 3;

/// Threads of a block: the producer warp group and two consumer warp groups.
pub const THREADS: u32 = 384;

/// Bytes of shared memory for a consumer warp group's part of a subtile, padded against bank conflicts.
const SUBTILE_BYTES: usize = 9216;

/// A main loop: what a precision fills into the kernel's template [`ENTRY`].
struct MainLoop {
    /// Columns of a tile.
    columns: usize,
    /// The number of pipeline stages, and the bytes of each. Stages are aligned to 1,024 bytes, as the swizzle
    /// requires.
    stages: usize,
    stage_bytes: usize,
    /// Device functions, and `GemmArguments`, the kernel's argument struct.
    declarations: String,
    /// Code that all threads run first. Declares `steps`, the stages of a tile, and contains a block-wide barrier.
    init: &'static str,
    /// The producer's copies of one stage of the tile at `row` and `column`, `STAGE_BYTES` in total.
    load: &'static str,
    /// The consumers' setup: the two `rows` of its warp group's half tile that a thread's accumulators belong to.
    consumer: &'static str,
    /// The loop over K, which leaves a tile's sums in `accumulators`.
    accumulate: &'static str,
    /// Corrections of a subtile's sums in `subtile_sums`.
    fixup: &'static str,
}

/// Accumulator registers of each consumer thread.
pub fn accumulators(columns: usize) -> usize {
    TILE_ROWS / 2 * columns / 128
}

/// The text of a GEMM kernel with `kernel` as its fused epilogue.
pub fn text(kernel: &Kernel, variant: Variant, tiling: GemmTiling) -> String {
    let passes = Passes::new(kernel);
    let mut body = Body::new(kernel, &passes, variant.width, variant);
    body.division = Division::BranchFree;
    let staged: Vec<AccessId> = tiling.staged_accesses().collect();
    let main_loop = match tiling.precision {
        GemmPrecision::Tf32 { mn_major, scaled_f16 } => tf32::main_loop(mn_major, scaled_f16),
        GemmPrecision::Bf16x3 { mn_major, columns } => {
            bf16x3::main_loop(mn_major, columns as usize)
        }
    };
    let MainLoop { columns, stages, stage_bytes, .. } = main_loop;
    let shared_bytes = stages * stage_bytes + 2 * SUBTILE_BYTES + 1024;
    body.writer.line(format!(
        "constexpr int ROWS = {TILE_ROWS}, COLUMNS = {columns}, SUBTILE_COLUMNS = {EPILOGUE_COLUMNS}, STAGES = {stages};\n\
         constexpr int STAGED = {}, SUBTILE_BYTES = {SUBTILE_BYTES}, ACCUMULATORS = {};\n\
         constexpr unsigned STAGE_BYTES = {stage_bytes};\n\
         {SHARED_BYTES}{shared_bytes};\n\
         constexpr bool TRANSPOSED = {};",
        staged.len(),
        accumulators(columns),
        tiling.transposed,
    ));
    body.writer.line(TMA_AND_WGMMA);
    body.writer.line(TILE_ORDER);
    body.writer.line(&main_loop.declarations);
    let uniform = uniform_loads(&mut body, tiling);
    let entry = [
        ("    INIT\n", main_loop.init),
        ("                LOAD\n", main_loop.load),
        ("    CONSUMER\n", main_loop.consumer),
        ("    UNIFORM\n", &uniform),
        ("        ACCUMULATE\n", main_loop.accumulate),
        ("            FIXUP\n", main_loop.fixup),
    ];
    let entry = entry.iter().fold(ENTRY.to_owned(), |text, (slot, code)| text.replace(slot, code));
    body.writer.line(entry);
    emit_epilogue(&mut body, tiling, &staged);
    body.writer.line(END);
    body.writer.finish()
}

/// Emits the loads of uniform operands, once per thread.
fn uniform_loads(body: &mut Body, tiling: GemmTiling) -> String {
    let kernel = body.kernel;
    let mut lines = String::new();
    for value in 0..kernel.body.len() as Value {
        if let Some(access) = uniform_access(kernel, value, tiling) {
            let kind = types::name(kernel.body[value as usize].dtype);
            let param = kernel.accesses[access as usize].param.expect("a verified kernel");
            let name = format!("uniform{value}");
            lines += &format!(
                "    const {kind} {name} = (({kind}*)a.buffer[{param}])[a.offset[{access}]];\n"
            );
            body.names[value as usize] = name;
        }
    }
    lines
}

/// The access of a value that loads a uniform operand.
fn uniform_access(kernel: &Kernel, value: Value, tiling: GemmTiling) -> Option<AccessId> {
    match kernel.body[value as usize].kind {
        Kind::Load { access, index: None, mask: None }
            if access < 64 && tiling.uniform >> access & 1 == 1 =>
        {
            Some(access)
        }
        _ => None,
    }
}

/// Emits the epilogue of a subtile, whose sums are in `subtile_sums` and whose other operands are in `staged`.
fn emit_epilogue(body: &mut Body, tiling: GemmTiling, staged: &[AccessId]) {
    let (kernel, width) = (body.kernel, body.width as usize);
    let vector = kernel.rank() - 1;
    body.scalars();
    // A warp group's part of a subtile in the result's orientation: its columns, and its padded row in shared memory.
    let (columns, padded_columns) = match tiling.transposed {
        true => (TILE_ROWS / 2, TILE_ROWS / 2 + 4),
        false => (EPILOGUE_COLUMNS, EPILOGUE_COLUMNS + 4),
    };
    let lanes = columns / width;
    let items = TILE_ROWS / 2 * EPILOGUE_COLUMNS / width / 128;
    body.writer.line(format!("#pragma unroll {}", items.min(4)));
    body.writer.open(format!("for (int i = 0; i < {items}; i++)"));
    body.writer.line(format!(
        "const int item = i * 128 + thread, y = item / {lanes}, x = item % {lanes} * {width};"
    ));
    let subtile_column = "first_column + subtile * SUBTILE_COLUMNS";
    let (first, extents) = match tiling.transposed {
        false => (["first_row", subtile_column], ["(I)gemm.rows", "(I)gemm.columns"]),
        true => ([subtile_column, "first_row"], ["(I)gemm.columns", "(I)gemm.rows"]),
    };
    body.writer
        .line(format!("const I row = (I)({}) + y, c{vector} = (I)({}) + x;", first[0], first[1]));
    body.writer.open(format!("if (row < {} && c{vector} < {})", extents[0], extents[1]));
    address::unravel(&mut body.writer, "row", 0..vector);
    address::bases(&mut body.writer, kernel, 0..kernel.grid_rank);
    body.writer.line(format!("alignas(16) float sums[{width}];"));
    body.writer.line(format!("load_pack<{width}>(sums, subtile_sums + y * {padded_columns} + x);"));
    let mut available = Vec::new();
    for value in 0..kernel.body.len() as Value {
        let Kind::Load { access, .. } = kernel.body[value as usize].kind else { continue };
        if kernel.accesses[access as usize].param == Some(tiling.gemm_param) {
            body.names[value as usize] = "sums[j]".to_owned();
        } else if let Some(slot) = staged.iter().position(|&staged| staged == access) {
            let kind = types::name(kernel.body[value as usize].dtype);
            let element = match tiling.transposed {
                false => format!("(consumer * {} + y) * SUBTILE_COLUMNS + x", TILE_ROWS / 2),
                true => format!("y * ROWS + consumer * {} + x", TILE_ROWS / 2),
            };
            body.writer.line(format!("alignas(16) {kind} h{value}[{width}];"));
            body.writer.line(format!(
                "load_pack<{width}>(h{value}, (const {kind}*)staged + {slot} * ROWS * SUBTILE_COLUMNS + {element});"
            ));
            body.names[value as usize] = format!("h{value}[j]");
        } else if uniform_access(kernel, value, tiling).is_none() {
            continue;
        }
        available.push(value);
    }
    let vector = elementwise::VectorBody::new(body, &|value| available.contains(value));
    emit_vector(body, &vector);
    body.writer.close();
    body.writer.close();
}

/// Emits the epilogue of one vector. Divisions and square roots take the fast path; if an operand is irregular, the
/// vector is computed again without it. That keeps the common case free of branches.
fn emit_vector(body: &mut Body, vector: &elementwise::VectorBody) {
    let divides = body.kernel.body.iter().any(|instruction| {
        let kind = instruction.kind;
        matches!(kind, Kind::Binary(BinaryOp::Div, ..) | Kind::Unary(UnaryOp::Sqrt, _))
            && instruction.dtype == DType::F32
    });
    vector.begin(body);
    if divides && vector.stores_last(body) {
        body.writer.line("bool is_irregular = false;");
        body.division = Division::FastPath;
        vector.lanes(body);
        body.division = Division::BranchFree;
        body.writer.open("if (is_irregular)");
        vector.lanes(body);
        body.writer.close();
    } else {
        vector.lanes(body);
    }
    vector.store(body);
}

/// The declaration of a text's dynamic shared memory, up to the number of bytes.
pub const SHARED_BYTES: &str = "constexpr unsigned SHARED_BYTES = ";

/// Bytes of dynamic shared memory that a text's kernel must be launched with.
pub fn shared_bytes(text: &str) -> u32 {
    let declared = text.split_once(SHARED_BYTES).map(|(_, rest)| rest);
    let bytes = declared.and_then(|rest| rest.split_once(';')).map(|(bytes, _)| bytes);
    bytes.and_then(|bytes| bytes.parse().ok()).unwrap_or(0)
}

/// A device function with one wgmma instruction: multiplies 64 rows by 32 bytes along K with the columns of a tile,
/// into `accumulators`. `shape_and_types` is the end of the opcode, and `transposes` its immediate operands for the
/// major-ness of 16-bit operands. With `rows_in_registers`, the row operand is in registers; otherwise both are in
/// shared memory.
fn wgmma(
    function: &str,
    columns: usize,
    shape_and_types: &str,
    transposes: &str,
    rows_in_registers: bool,
) -> String {
    let count = accumulators(columns);
    let list = |from: usize, count: usize| {
        let names: Vec<String> =
            (from..from + count).map(|operand| format!("%{operand}")).collect();
        names.join(", ")
    };
    let outputs: Vec<String> =
        (0..count).map(|index| format!("\"+f\"(accumulators[{index}])")).collect();
    let (rows, row_operand, predicate, inputs) = match rows_in_registers {
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
        "FN void {function}(float (&accumulators)[ACCUMULATORS], {rows}, unsigned long long columns, int accumulates) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{predicate}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n{columns}{shape_and_types} {{{}}}, {row_operand}, p, 1, 1{transposes};\\n}}\\n\"\n\
         : {} : {inputs}, \"l\"(columns), \"r\"(accumulates));\n}}",
        list(0, count),
        outputs.join(", "),
    )
}

/// Device functions for TMA copies, mbarriers, wgmma, and the pipeline: the ring of stages between producer and
/// consumers.
pub const TMA_AND_WGMMA: &str = r#"
// A TMA tensor map (CUtensorMap).
struct alignas(128) TensorMap { unsigned long long words[16]; };
FN unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// An mbarrier completes a phase after `count` arrivals and all expected bytes.
FN void mbarrier_init(unsigned barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count));
}
FN void mbarrier_expect_bytes(unsigned barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(barrier), "r"(bytes) : "memory");
}
FN void mbarrier_arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
FN void mbarrier_wait(unsigned barrier, unsigned parity) {
    asm volatile("{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN;\n}"
        :: "r"(barrier), "r"(parity) : "memory");
}
// TMA copy of a box of a matrix to shared memory. Elements outside of the matrix are zero.
FN void tma_load_2d(unsigned to, const TensorMap& map, int column, int row, unsigned barrier) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
        :: "r"(to), "l"(&map), "r"(column), "r"(row), "r"(barrier) : "memory");
}
FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING> FN void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(PENDING) : "memory"); }
FN void sync_warp_group(int group) { asm volatile("bar.sync %0, 128;" :: "r"(group) : "memory"); }

// The pipeline: the stages, an mbarrier that completes when a stage is full and one when it is empty, and the current
// stage.
struct Pipeline {
    unsigned stages, full, empty, stage, parity;
    __device__ __forceinline__ void advance() { if (++stage == STAGES) { stage = 0; parity ^= 1; } }
    __device__ __forceinline__ unsigned address() const { return stages + stage * STAGE_BYTES; }
    __device__ __forceinline__ void wait_full() const { mbarrier_wait(full + 8 * stage, parity); }
    __device__ __forceinline__ void wait_empty() const { mbarrier_wait(empty + 8 * stage, parity ^ 1); }
};
// A stage is full when the producer's expected bytes have arrived, and empty when both consumer warp groups have
// arrived. The block must synchronize before it uses the pipeline.
FN Pipeline init_pipeline(const unsigned char* stages, const unsigned long long (&barriers)[2 * STAGES]) {
    const Pipeline pipeline = {shared_address(stages), shared_address(barriers), shared_address(barriers + STAGES), 0, 0};
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            mbarrier_init(pipeline.full + 8 * s, 1);
            mbarrier_init(pipeline.empty + 8 * s, 2);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    return pipeline;
}
"#;

const TILE_ORDER: &str = r#"
static_assert(STAGED * ROWS * SUBTILE_COLUMNS * 4 <= STAGE_BYTES);
// The first row and column of a tile. Rasterizes strips of so many tiles' rows, column by column: tiles that run at the
// same time are near each other and share operands in L2.
constexpr int STRIP_TILES = 16;
struct Origin { int row, column; };
FN Origin tile_origin(int tile, int tiles_y, int tiles_x) {
    const int strip = tile / (STRIP_TILES * tiles_x), rest = tile % (STRIP_TILES * tiles_x), height = min(STRIP_TILES, tiles_y - strip * STRIP_TILES);
    return {(strip * STRIP_TILES + rest % height) * ROWS, rest / height * COLUMNS};
}
"#;

/// The kernel up to the epilogue of a subtile. The words in capitals on lines of their own are filled in by [`text`].
const ENTRY: &str = r#"
extern "C" __global__ void __launch_bounds__(384, 1) entry(const __grid_constant__ GemmArguments gemm) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    __shared__ unsigned long long barriers[2 * STAGES];
    Pipeline pipeline = init_pipeline(memory, barriers);
    INIT
    const Arguments& a = gemm.epilogue;
    const int group = threadIdx.x / 128;
    const int tiles_y = (int)((gemm.rows + ROWS - 1) / ROWS), tiles_x = (int)((gemm.columns + COLUMNS - 1) / COLUMNS);
    // The producer warp group needs few registers; the consumers get the rest for accumulators.
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x != 0) return;
        for (int tile = blockIdx.x; tile < tiles_y * tiles_x; tile += gridDim.x) {
            const auto [row, column] = tile_origin(tile, tiles_y, tiles_x);
            for (int step = 0; step < steps; step++, pipeline.advance()) {
                const unsigned to = pipeline.address(), barrier = pipeline.full + 8 * pipeline.stage;
                pipeline.wait_empty();
                mbarrier_expect_bytes(barrier, STAGE_BYTES);
                LOAD
            }
            for (int subtile = 0; subtile < (STAGED ? COLUMNS / SUBTILE_COLUMNS : 0); subtile++, pipeline.advance()) {
                const unsigned to = pipeline.address(), barrier = pipeline.full + 8 * pipeline.stage;
                pipeline.wait_empty();
                mbarrier_expect_bytes(barrier, STAGED * ROWS * SUBTILE_COLUMNS * 4);
                for (int i = 0; i < STAGED; i++) {
                    const int x = TRANSPOSED ? row : column + subtile * SUBTILE_COLUMNS, y = TRANSPOSED ? column + subtile * SUBTILE_COLUMNS : row;
                    tma_load_2d(to + i * ROWS * SUBTILE_COLUMNS * 4, gemm.staged[i], x, y, barrier);
                }
            }
        }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = group - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
    // The position of the thread's accumulators in an 8 by 8 core matrix: a row and a pair of columns.
    const int core_row = lane / 4, core_pair = lane % 4;
    float* const subtile_sums = (float*)(memory + STAGES * STAGE_BYTES + consumer * SUBTILE_BYTES);
    UNIFORM
    CONSUMER
    float accumulators[ACCUMULATORS];
    for (int tile = blockIdx.x; tile < tiles_y * tiles_x; tile += gridDim.x) {
        const Origin origin = tile_origin(tile, tiles_y, tiles_x);
        const int first_row = origin.row + consumer * (ROWS / 2), first_column = origin.column;
        ACCUMULATE
        #pragma unroll 1
        for (int subtile = 0; subtile < COLUMNS / SUBTILE_COLUMNS; subtile++) {
            // Unrolled with a test: accumulators are registers and need constant indices.
            #pragma unroll
            for (int p = 0; p < COLUMNS / SUBTILE_COLUMNS; p++) if (p == subtile) {
                #pragma unroll
                for (int i = 0; i < 16; i += 2) {
                    const int y = rows[i / 2 % 2], x = i / 4 * 8 + core_pair * 2;
                    const float2 pair = {accumulators[16 * p + i], accumulators[16 * p + i + 1]};
                    if (TRANSPOSED) {
                        subtile_sums[x * (ROWS / 2 + 4) + y] = pair.x;
                        subtile_sums[(x + 1) * (ROWS / 2 + 4) + y] = pair.y;
                    } else {
                        *(float2*)&subtile_sums[y * (SUBTILE_COLUMNS + 4) + x] = pair;
                    }
                }
            }
            if (STAGED) pipeline.wait_full();
            const unsigned char* const staged = memory + pipeline.stage * STAGE_BYTES;
            sync_warp_group(group);
            FIXUP
"#;

const END: &str = r#"
            sync_warp_group(group);
            if (STAGED) {
                if (thread == 0) mbarrier_arrive(pipeline.empty + 8 * pipeline.stage);
                pipeline.advance();
            }
        }
    }
}
"#;
