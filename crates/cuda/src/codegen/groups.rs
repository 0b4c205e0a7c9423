//! How a matrix of `f32` is gone through by the kernels that make something else of its numbers, before they are multiplied.

/// Threads of a block.
pub const THREADS: u32 = 256;

/// A matrix is shared by so many blocks at most.
pub const MOST_BLOCKS: usize = 512;

/// So many numbers are taken by a thread at a time.
pub const GROUP: usize = 8;

/// What such a text begins with.
pub fn declarations() -> String {
    format!("constexpr int THREADS = {THREADS}, GROUP = {GROUP};\n{LOAD}")
}

const LOAD: &str = r#"
struct Group { float x[GROUP]; };

// Loads a group of numbers, from lines that are `a.leading` apart and have so many columns and groups.
template <class Arguments> FN void load_group(const Arguments& a, unsigned number, Group& group) {
    const unsigned line = number / (unsigned)a.line_groups, place = number % (unsigned)a.line_groups * GROUP;
    const float* const from = a.from + line * a.leading + place;
    if (place + GROUP <= a.columns) {
        #pragma unroll
        for (int i = 0; i < GROUP; i += 4) {
            const float4 four = *(const float4*)(from + i);
            group.x[i] = four.x;
            group.x[i + 1] = four.y;
            group.x[i + 2] = four.z;
            group.x[i + 3] = four.w;
        }
    } else {
        #pragma unroll
        for (int i = 0; i < GROUP; i++) group.x[i] = place + i < a.columns ? from[i] : 0.0f;
    }
}
"#;
