//! The wgmma main loop of implicit GEMM (`sm_90a`): two warpgroups multiply `f16` or `bf16` tiles from shared memory,
//! with a ring of `cp.async` stages. A tile is as in [`tile_pipeline`](super::tile_pipeline); each warpgroup has half
//! of its rows.

/// Bytes of all stages of a block: they leave room for a second block on the multiprocessor.
const STAGES_BYTES: usize = 96 << 10;

/// The declarations for tiles of `columns` columns and elements of type `half` (`f16` or `bf16`).
pub fn declarations(columns: usize, half: &str) -> String {
    let list = |from: usize, count: usize| {
        let names: Vec<String> = (from..from + count).map(|at| format!("%{at}")).collect();
        names.join(", ")
    };
    let accumulators = columns / 2;
    let outputs: Vec<String> = (0..accumulators)
        .map(|at| format!("\"+f\"(accumulator[0][{}][{}])", at / 4, at % 4))
        .collect();
    format!(
        "constexpr unsigned SHARED_BYTES = {};\n\
         constexpr int M_FRAGMENTS = 1, N_FRAGMENTS = COLUMNS / 8;\n{PIPELINE}\
         FN void wgmma_m64(float (&accumulator)[M_FRAGMENTS][N_FRAGMENTS][4], unsigned long long left, unsigned long long right, int accumulates) {{\n\
         asm volatile(\"{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{accumulates}, 0;\\n\"\n\
         \"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.{half}.{half} {{{}}}, %{left}, %{right}, p, 1, 1, 0, 0;\\n}}\\n\"\n\
         : {} : \"l\"(left), \"l\"(right), \"r\"(accumulates));\n}}\n",
        STAGES_BYTES + 1024,
        list(0, accumulators),
        outputs.join(", "),
        left = accumulators,
        right = accumulators + 1,
        accumulates = accumulators + 2,
    )
}

const PIPELINE: &str = r#"
// A K-step is 128 bytes of each row; eight rows are swizzled together, in the 128-byte swizzle of wgmma.
constexpr int CHUNK = 16 / (int)sizeof(E), ROW_CHUNKS = 8, ROW_BYTES = 128, K_STEP = ROW_CHUNKS * CHUNK;
constexpr int STAGE_BYTES = (ROWS + COLUMNS) * ROW_BYTES, STAGES = (SHARED_BYTES - 1024) / STAGE_BYTES;
static_assert(sizeof(E) == 2 && ROWS == 128 && THREADS == 256 && STAGES >= 3);
FN int chunk_offset(int row, int chunk) { return row * ROW_BYTES + ((chunk ^ (row & 7)) << 4); }
FN unsigned long long smem_descriptor(unsigned address) {
    return (unsigned long long)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
FN void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
FN void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
FN void wgmma_wait() { asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory"); }

// Software pipeline: copies ahead, and multiplies each K-step once it has arrived.
template <class Copier, class Multiply>
FN void run_pipeline(Copier copier, int k_steps, unsigned char* memory, Multiply multiply) {
    start_pipeline<STAGES - 1, STAGE_BYTES>(copier, k_steps, memory);
    int stage = 0;
    for (int s = 0; s < k_steps; s++) {
        wait_for_copies<STAGES - 2>();
        // Make the generic-proxy writes of this thread's copies visible to wgmma.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        wgmma_wait();
        __syncthreads();
        multiply(stage, s);
        // The stage that was multiplied last is free.
        const int ahead = stage == 0 ? STAGES - 1 : stage - 1;
        if (s + STAGES - 1 < k_steps) copier.copy(memory + ahead * STAGE_BYTES);
        commit_copies();
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    wgmma_wait();
    wait_for_copies<0>();
    __syncthreads();
}
"#;

/// The kernel, up to its epilogue.
pub const GEMM: &str = r#"
extern "C" __global__ void __launch_bounds__(THREADS, 2) entry(const __grid_constant__ Arguments a) {
    extern __shared__ unsigned char raw[];
    unsigned char* const memory = raw + (-shared_address(raw) & 1023);
    const Tile t = tile_of(a, blockIdx.x);
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    // Warp-uniform: the shuffle proves it to the compiler.
    const int group = __shfl_sync(~0u, warp / 4, 0);
    float accumulator[M_FRAGMENTS][N_FRAGMENTS][4];
    const Im2colCopier copier(a, t.group, t.row, t.output, t.begin, memory);
    const unsigned long long left = smem_descriptor(shared_address(memory) + group * (ROWS / 2) * ROW_BYTES);
    const unsigned long long right = smem_descriptor(shared_address(memory) + ROWS * ROW_BYTES);
    run_pipeline(copier, (int)(t.end - t.begin), memory, [&](int stage, int step) {
        const unsigned at = stage * (STAGE_BYTES / 16);
        wgmma_fence();
        #pragma unroll
        for (int s = 0; s < K_STEP / 16; s++)
            wgmma_m64(accumulator, left + at + 2 * s, right + at + 2 * s, step + s > 0);
        wgmma_commit();
    });
    // Keep the accumulators from being read before wgmma has completed.
    #pragma unroll
    for (int j = 0; j < N_FRAGMENTS; j++)
        #pragma unroll
        for (int k = 0; k < 4; k++) asm volatile("" : "+f"(accumulator[0][j][k]) :: "memory");
    const int thread_row = warp * 16 + lane / 4, thread_column = lane % 4 * 2;
"#;
