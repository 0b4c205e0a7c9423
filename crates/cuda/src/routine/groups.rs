//! Parts of kernels whose groups of four warps multiply matrices of halves from shared memory (`sm_90a`). A tile is as in
//! [`tiles`](super::tiles), each of two groups has half of its rows.

/// Bytes of a block's shared memory: as much as leaves room for another block.
const STAGES_BYTES: usize = 96 << 10;

/// The declarations for tiles of so many columns and these halves.
pub fn text(columns: usize, half: &str) -> String {
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%{at}")).collect();
        names.join(", ")
    };
    let sums = columns / 2;
    let places: Vec<String> =
        (0..sums).map(|at| format!("\"+f\"(sum[0][{}][{}])", at / 4, at % 4)).collect();
    format!(
        "constexpr unsigned SHARED_BYTES = {};\n\
         constexpr int HIGH = 1, WIDE = COLUMNS / 8;\n{STEPS}\
         FN void multiply_group(float (&sum)[HIGH][WIDE][4], unsigned long long left, unsigned long long right, int adds) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{adds}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{half}.{half} {{{}}}, %{left}, %{right}, p, 1, 1, 0, 0;\\n}}\\n\"\n\
         : {} : \"l\"(left), \"l\"(right), \"r\"(adds));\n}}\n",
        STAGES_BYTES + 1024,
        list(0, sums),
        places.join(", "),
        left = sums,
        right = sums + 1,
        adds = sums + 2,
    )
}

const STEPS: &str = r#"
// A step has 128 bytes of each row, eight rows swizzled together, as the units take them.
constexpr int PIECE = 16 / (int)sizeof(E), ROW_PIECES = 8, ROW_BYTES = 128, STEP = ROW_PIECES * PIECE;
constexpr int STAGE_BYTES = (ROWS + COLUMNS) * ROW_BYTES, STAGES = (SHARED_BYTES - 1024) / STAGE_BYTES;
static_assert(sizeof(E) == 2 && ROWS == 128 && THREADS == 256 && STAGES >= 3);
FN int piece_at(int row, int piece) { return row * ROW_BYTES + ((piece ^ (row & 7)) << 4); }
FN unsigned long long matrix_at(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
FN void begin_multiplying() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void end_multiplying() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
FN void multiplied() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

// Copies ahead, and has each step multiplied when it is there.
template <class Copier, class Multiply>
FN void all_steps(Copier copier, int steps, unsigned char* memory, Multiply multiply) {
    begin_copies<STAGES - 1, STAGE_BYTES>(copier, steps, memory);
    int stage = 0;
    for (int s = 0; s < steps; s++) {
        wait_for_copies<STAGES - 2>();
        // What threads have copied, the units see after this.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        multiplied();
        __syncthreads();
        multiply(stage, s);
        // Nobody needs what was multiplied before.
        const int ahead = stage == 0 ? STAGES - 1 : stage - 1;
        if (s + STAGES - 1 < steps) copier.copy(memory + ahead * STAGE_BYTES);
        end_copies();
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    multiplied();
    wait_for_copies<0>();
    __syncthreads();
}
"#;

/// The kernel, up to what is done with the sums.
pub const MULTIPLY: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    const Tile t = tile_of(a, blockIdx.x);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    // The same for all lanes, which the compiler is to know.
    const int group = __shfl_sync(~0u, warp / 4, 0);
    float sum[HIGH][WIDE][4];
    const WindowCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    const unsigned long long left = matrix_at(shared_address(memory) + group * (ROWS / 2) * ROW_BYTES);
    const unsigned long long right = matrix_at(shared_address(memory) + ROWS * ROW_BYTES);
    all_steps(copier, (int)(t.end - t.begin), memory, [&](int stage, int step) {
        const unsigned at = stage * (STAGE_BYTES / 16);
        begin_multiplying();
        #pragma unroll
        for (int s = 0; s < STEP / 16; s++)
            multiply_group(sum, left + at + 2 * s, right + at + 2 * s, step + s > 0);
        end_multiplying();
    });
    // No sum is read before.
    #pragma unroll
    for (int j = 0; j < WIDE; j++)
        #pragma unroll
        for (int k = 0; k < 4; k++) asm volatile("" : "+f"(sum[0][j][k]) :: "memory");
    const int own_row = warp * 16 + lane / 4, own_column = lane % 4 * 2;
"#;
