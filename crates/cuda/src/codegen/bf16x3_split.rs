//! The bf16x3 split: an `f32` operand as the sum of three `bf16` matrices, for [`gemm::bf16x3`](super::gemm::bf16x3).
//!
//! `f32` has a 24-bit mantissa, `bf16` an 8-bit one and the same exponent range. So an element is exactly the sum of
//! its nearest `bf16`, the `bf16` nearest to the residual, and the `bf16` nearest to the residual of that. This fails
//! for infinities, NaN, and elements so large that the first part rounds to infinity; and below 2^-103 a residual may
//! be subnormal and flushed to zero. The kernel sets flags for these cases; tiny elements matter only if the matrix has
//! no much larger ones.

use super::split_groups;
use std::sync::LazyLock;

/// The flags, and the test of them, which the split kernel and the GEMM kernels share.
pub const FLAGS: &str = r#"
// Properties of a matrix: has elements that the split cannot represent; has nonzero elements; has elements that are not
// tiny.
constexpr unsigned UNREPRESENTABLE = 1, NONZERO = 2, NOT_TINY = 4;
// Whether the bf16x3 split of a matrix is inexact, given the flags of each block that split it. All threads of a block
// must call this.
FN bool is_split_inexact(const unsigned* flags, long long blocks, int threads) {
    unsigned found = 0;
    for (int i = threadIdx.x; i < blocks; i += threads) found |= flags[i];
    return __syncthreads_or(found & UNREPRESENTABLE) || (__syncthreads_or(found & NONZERO) && !__syncthreads_or(found & NOT_TINY));
}
"#;

/// The split kernel.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    super::with_functions(&format!("{}{FLAGS}{SPLIT}", split_groups::declarations()))
});

/// The arguments of the split kernel.
pub struct Arguments {
    /// Addresses of the matrix, of its three parts, and of the flags, a word for each block.
    pub from: u64,
    pub to: u64,
    pub flags: u64,
    /// The leading dimension, and the elements of a line.
    pub leading: usize,
    pub columns: usize,
    /// Groups of a line, and of the matrix.
    pub line_groups: usize,
    pub groups: usize,
    /// The address of a word that the kernel sets to zero, or zero.
    pub clear: u64,
}

impl Arguments {
    /// The argument words, in the order of the declaration in the text.
    pub fn words(&self) -> Vec<u64> {
        let Arguments { from, to, flags, leading, columns, line_groups, groups, clear } = *self;
        let sizes = [leading, columns, line_groups, groups].map(|size| size as u64);
        [&[from, to, flags][..], &sizes, &[clear]].concat()
    }
}

const SPLIT: &str = r#"
struct Arguments {
    const float* from;
    // The first parts of all elements, then the second ones, then the third ones.
    uint4* to;
    // The flags of each block.
    unsigned* flags;
    // The leading dimension, and the length of a line.
    long long leading, columns;
    // Groups of a line, and of the matrix. The output has no padding between the groups of consecutive lines.
    long long line_groups, groups;
    // Set to zero, if not null.
    unsigned* clear;
};
// Rounds two floats to a pair of bf16.
FN unsigned to_bf16x2(float x, float y) {
    unsigned pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
}

// Splits a group. Updates the largest magnitude, which becomes NaN if an element is NaN.
FN void split_group(const Arguments& a, unsigned index, const Group& group, float& largest) {
    alignas(16) unsigned parts[3][GROUP / 2];
    #pragma unroll
    for (int i = 0; i < GROUP; i += 2) {
        float x = group.x[i], y = group.x[i + 1];
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(x)));
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(y)));
        #pragma unroll
        for (int part = 0; part < 3; part++) {
            const unsigned pair = to_bf16x2(x, y);
            parts[part][i / 2] = pair;
            x = __fsub_rn(x, __uint_as_float(pair << 16));
            y = __fsub_rn(y, __uint_as_float(pair & 0xffff0000));
        }
    }
    #pragma unroll
    for (int part = 0; part < 3; part++) a.to[part * a.groups + index] = *(const uint4*)parts[part];
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    float largest = 0.0f;
    const unsigned stride = gridDim.x * THREADS;
    for (unsigned index = blockIdx.x * THREADS + threadIdx.x; index < a.groups; index += 2 * stride) {
        const bool has_next = index + stride < a.groups;
        Group group, next;
        load_group(a, index, group);
        if (has_next) load_group(a, index + stride, next);
        split_group(a, index, group, largest);
        if (has_next) split_group(a, index + stride, next, largest);
    }
    // Elements that round to infinity are unrepresentable, too.
    const bool is_unrepresentable = __syncthreads_or(!(largest < 0x1.ffp127f));
    const bool is_nonzero = __syncthreads_or(largest > 0.0f), is_not_tiny = __syncthreads_or(largest >= 0x1p-90f);
    if (threadIdx.x == 0 && blockIdx.x == 0 && a.clear) *a.clear = 0;
    if (threadIdx.x == 0) a.flags[blockIdx.x] = (is_unrepresentable ? UNREPRESENTABLE : 0) | (is_nonzero ? NONZERO : 0) | (is_not_tiny ? NOT_TINY : 0);
}
"#;
