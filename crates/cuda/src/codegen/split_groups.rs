//! Work partition of the operand split kernels ([`bf16x3_split`](super::bf16x3_split) and
//! [`scaled_f16_split`](super::scaled_f16_split)), which convert an `f32` matrix before a GEMM.
//!
//! A matrix is a sequence of lines: its rows or columns, whichever are contiguous in memory. Threads load groups of
//! eight consecutive elements of a line and store them as 16-bit floats with 16-byte stores.

/// Threads of a block.
pub const THREADS: u32 = 256;

/// The most blocks of a launch.
pub const MAX_BLOCKS: usize = 512;

/// Elements of a group.
pub const GROUP: usize = 8;

/// The CUDA declarations that both kernels begin with.
pub fn declarations() -> String {
    format!("constexpr int THREADS = {THREADS}, GROUP = {GROUP};\n{LOAD}")
}

const LOAD: &str = r#"
struct Group { float x[GROUP]; };

// Loads group `index` of a matrix with leading dimension `a.leading`. Elements beyond the end of a line are zero.
template <class Arguments> FN void load_group(const Arguments& a, unsigned index, Group& group) {
    const unsigned line = index / (unsigned)a.line_groups, column = index % (unsigned)a.line_groups * GROUP;
    const float* const from = a.from + line * a.leading + column;
    if (column + GROUP <= a.columns) {
        #pragma unroll
        for (int i = 0; i < GROUP; i += 4) {
            const float4 quad = *(const float4*)(from + i);
            group.x[i] = quad.x;
            group.x[i + 1] = quad.y;
            group.x[i + 2] = quad.z;
            group.x[i + 3] = quad.w;
        }
    } else {
        #pragma unroll
        for (int i = 0; i < GROUP; i++) group.x[i] = column + i < a.columns ? from[i] : 0.0f;
    }
}
"#;
