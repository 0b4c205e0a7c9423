//! Tile main loops shared by implicit GEMM and the Cholesky panel update: a `cp.async` software pipeline, `mma.sync`
//! warp tiles, and an FMA register tile (SIMT) for `f32`. A tile has `ROWS` rows of one matrix and `COLUMNS` rows of
//! the other, both K-major with elements of type `E`.

/// Asynchronous copies to shared memory (`cp.async`).
pub const ASYNC_COPIES: &str = r#"
FN unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }
// Copies 16 bytes, or zeros.
FN void copy_16(void* to, const void* from, bool is_valid) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
        :: "r"(shared_address(to)), "l"(from), "r"(is_valid ? 16 : 0) : "memory");
#else
    *(uint4*)to = is_valid ? *(const uint4*)from : uint4{0, 0, 0, 0};
#endif
}
FN void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int PENDING> FN void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(PENDING) : "memory");
#endif
}
// Pipeline prologue: copies the first K-steps, each to a stage of `BYTES` bytes.
template <int COUNT, int BYTES, class Copier> FN void start_pipeline(Copier& copier, int k_steps, unsigned char* memory) {
    #pragma unroll
    for (int s = 0; s < COUNT; s++) {
        if (s < k_steps) copier.copy(memory + s * BYTES);
        commit_copies();
    }
}
"#;

/// `ldmatrix` and `mma.sync` of a warp.
pub const MMA: &str = r#"
// Four 8 × 8 matrices with rows of 16 bytes; lane 8q + r has the address of row r of matrix q.
FN void ldmatrix_x4(unsigned* to, const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}
// A 16 × 8 × 16 multiply-accumulate.
FN void mma_m16n8k16(float* accumulator, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.HALF.HALF.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(accumulator[0]), "+f"(accumulator[1]), "+f"(accumulator[2]), "+f"(accumulator[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
"#;

/// The shared-memory layout of two tiles, and the software pipeline over their K-steps.
pub const PIPELINE: &str = r"
// A K-step is 64 bytes of each row: four 16-byte chunks, swizzled so that those of eight rows are in different banks.
constexpr int CHUNK = 16 / (int)sizeof(E), ROW_CHUNKS = 4, ROW_BYTES = 64, K_STEP = ROW_CHUNKS * CHUNK, STAGES = 3;
constexpr int STAGE_BYTES = (ROWS + COLUMNS) * ROW_BYTES;
FN int chunk_offset(int row, int chunk) { return row * 64 + ((chunk ^ (row >> 1 & 3)) << 4); }

// Software pipeline: copies ahead, and multiplies each K-step once it has arrived.
template <class Copier, class Multiply>
FN void run_pipeline(Copier copier, int k_steps, unsigned char* memory, Multiply multiply) {
    start_pipeline<STAGES - 1, STAGE_BYTES>(copier, k_steps, memory);
    int stage = 0;
    for (int s = 0; s < k_steps; s++) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        const int ahead = stage == 0 ? STAGES - 1 : stage - 1;
        if (s + STAGES - 1 < k_steps) copier.copy(memory + ahead * STAGE_BYTES);
        commit_copies();
        multiply(memory + stage * STAGE_BYTES);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    wait_for_copies<0>();
    __syncthreads();
}
";

/// An `f32` accumulator tile in the registers of a block (SIMT FMA).
pub const FMA_TILE: &str = r"
// A warp has 64 rows and a part of the columns; a lane has every eighth of the rows and every fourth of the columns.
constexpr int WARPS_N = THREADS / 32 / (ROWS / 64), N_FRAGMENTS = COLUMNS / WARPS_N / 4;
struct FmaTile {
    int row, column;
    float accumulator[8][N_FRAGMENTS];

    __device__ __forceinline__ FmaTile() {
        const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
        row = warp / WARPS_N * 64 + lane % 8;
        column = warp % WARPS_N * (COLUMNS / WARPS_N) + lane / 8;
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < N_FRAGMENTS; j++) accumulator[i][j] = 0;
    }

    __device__ __forceinline__ void multiply(const unsigned char* stage) {
        const unsigned char* other = stage + ROWS * 64;
        #pragma unroll 2
        for (int chunk = 0; chunk < 4; chunk++) {
            float4 left[8];
            #pragma unroll
            for (int i = 0; i < 8; i++) left[i] = *(const float4*)(stage + chunk_offset(row, chunk) + 8 * 64 * i);
            #pragma unroll
            for (int j = 0; j < N_FRAGMENTS; j++) {
                const float4 right = *(const float4*)(other + chunk_offset(column, chunk ^ (j & 1) * 2) + 4 * 64 * j);
                #pragma unroll
                for (int i = 0; i < 8; i++) accumulator[i][j] = __fmaf_rn(left[i].x, right.x, accumulator[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) accumulator[i][j] = __fmaf_rn(left[i].y, right.y, accumulator[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) accumulator[i][j] = __fmaf_rn(left[i].z, right.z, accumulator[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) accumulator[i][j] = __fmaf_rn(left[i].w, right.w, accumulator[i][j]);
            }
        }
    }
};
";
