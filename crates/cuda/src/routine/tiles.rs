//! Parts of kernels that multiply matrices: copies to shared memory ahead of their use, and products of tiles in
//! registers. A tile has `ROWS` rows of one matrix and `COLUMNS` rows of the other, both of elements `E` whose sum's
//! terms are next to each other.

/// Copies to shared memory that go on while others are multiplied.
pub const COPIES: &str = r#"
FN unsigned shared_address(const void* at) { return (unsigned)__cvta_generic_to_shared(at); }
// Sixteen bytes, or zeros.
FN void copy_16(void* to, const void* from, bool is_there) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
        :: "r"(shared_address(to)), "l"(from), "r"(is_there ? 16 : 0) : "memory");
#else
    *(uint4*)to = is_there ? *(const uint4*)from : uint4{0, 0, 0, 0};
#endif
}
FN void end_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int LEFT> FN void wait_for_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" :: "n"(LEFT) : "memory");
#endif
}
// Copies the first steps, each to a stage of so many bytes.
template <int COUNT, int BYTES, class Copier> FN void begin_copies(Copier& copier, int steps, unsigned char* memory) {
    #pragma unroll
    for (int s = 0; s < COUNT; s++) {
        if (s < steps) copier.copy(memory + s * BYTES);
        end_copies();
    }
}
"#;

/// Products of small matrices by a warp.
pub const MATRICES: &str = r#"
// Four matrices of 8 rows of 16 bytes; lane 8q + r says where row r of matrix q is.
FN void load_matrices(unsigned* to, const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "r"(shared_address(row)) : "memory");
}
// 16 rows and 8 columns, a sum of 16 products each.
FN void multiply_matrices(float* sum, const unsigned* a, const unsigned* b) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.HALF.HALF.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
"#;

/// Tiles of two matrices in shared memory, and the order in which their steps are copied and multiplied.
pub const PIECES: &str = r"
// A step has 64 bytes of each row: four pieces, which are put so that eight rows' are in different banks.
constexpr int PIECE = 16 / (int)sizeof(E), ROW_PIECES = 4, ROW_BYTES = 64, STEP = ROW_PIECES * PIECE, STAGES = 3;
constexpr int STAGE_BYTES = (ROWS + COLUMNS) * ROW_BYTES;
FN int piece_at(int row, int piece) { return row * 64 + ((piece ^ (row >> 1 & 3)) << 4); }

// Copies ahead, and has each step multiplied when it is there.
template <class Copier, class Multiply>
FN void all_steps(Copier copier, int steps, unsigned char* memory, Multiply multiply) {
    begin_copies<STAGES - 1, STAGE_BYTES>(copier, steps, memory);
    int stage = 0;
    for (int s = 0; s < steps; s++) {
        wait_for_copies<STAGES - 2>();
        __syncthreads();
        const int ahead = stage == 0 ? STAGES - 1 : stage - 1;
        if (s + STAGES - 1 < steps) copier.copy(memory + ahead * STAGE_BYTES);
        end_copies();
        multiply(memory + stage * STAGE_BYTES);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    wait_for_copies<0>();
    __syncthreads();
}
";

/// A tile of sums of products of floats, in the registers of a block.
pub const NUMBER_TILE: &str = r"
// A warp has 64 rows, every eighth of them a lane's, and of its columns every fourth.
constexpr int ACROSS = THREADS / 32 / (ROWS / 64), WIDE = COLUMNS / ACROSS / 4;
struct NumberTile {
    int row, column;
    float sum[8][WIDE];

    __device__ __forceinline__ NumberTile() {
        const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
        row = warp / ACROSS * 64 + lane % 8;
        column = warp % ACROSS * (COLUMNS / ACROSS) + lane / 8;
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < WIDE; j++) sum[i][j] = 0;
    }

    __device__ __forceinline__ void multiply(const unsigned char* stage) {
        const unsigned char* other = stage + ROWS * 64;
        #pragma unroll 2
        for (int piece = 0; piece < 4; piece++) {
            float4 left[8];
            #pragma unroll
            for (int i = 0; i < 8; i++) left[i] = *(const float4*)(stage + piece_at(row, piece) + 8 * 64 * i);
            #pragma unroll
            for (int j = 0; j < WIDE; j++) {
                const float4 right = *(const float4*)(other + piece_at(column, piece ^ (j & 1) * 2) + 4 * 64 * j);
                #pragma unroll
                for (int i = 0; i < 8; i++) sum[i][j] = __fmaf_rn(left[i].x, right.x, sum[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) sum[i][j] = __fmaf_rn(left[i].y, right.y, sum[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) sum[i][j] = __fmaf_rn(left[i].z, right.z, sum[i][j]);
                #pragma unroll
                for (int i = 0; i < 8; i++) sum[i][j] = __fmaf_rn(left[i].w, right.w, sum[i][j]);
            }
        }
    }
};
";
