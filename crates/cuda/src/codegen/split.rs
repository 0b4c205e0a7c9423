//! Numbers of `f32` as sums of three of `bf16`, to be multiplied in their place.
//!
//! A number of `f32` has 24 bits, one of `bf16` has eight and the same exponents. So the nearest `bf16`, the nearest to what
//! is left, and the nearest to what is left then are the number. They are not if it is infinite, none, or so large that the
//! first of them is infinite; and of numbers below 2^-103 what is left may be too small to be a number. That is noted if
//! no number of a matrix is much larger.

use super::groups;
use std::sync::LazyLock;

/// What those who split and those who multiply have in common.
pub const NOTED: &str = r#"
// What is met in a matrix: what thirds do not stand for, something that is not zero, and something that is not very small.
constexpr unsigned ODD = 1, SOME = 2, USUAL = 4;
// Whether thirds do not stand for a matrix, of which so many blocks have noted something. All threads of a block must ask.
FN bool is_odd_matrix(const unsigned* noted, long long blocks, int threads) {
    unsigned met = 0;
    for (int i = threadIdx.x; i < blocks; i += threads) met |= noted[i];
    return __syncthreads_or(met & ODD) || (__syncthreads_or(met & SOME) && !__syncthreads_or(met & USUAL));
}
"#;

/// The kernel that splits a matrix.
pub static TEXT: LazyLock<String> =
    LazyLock::new(|| super::with_functions(&format!("{}{NOTED}{SPLIT}", groups::declarations())));

/// What the kernel takes.
pub struct Arguments {
    /// Where the numbers are, where their thirds come to be, and where blocks note what they have met.
    pub from: u64,
    pub to: u64,
    pub noted: u64,
    /// From one line to the next, and how many numbers a line has.
    pub leading: usize,
    pub columns: usize,
    /// Groups of numbers in a line, and in all.
    pub line_groups: usize,
    pub groups: usize,
    /// The address of a word that becomes zero, if it is not zero itself.
    pub cleared: u64,
}

impl Arguments {
    /// As the text declares them.
    pub fn words(&self) -> Vec<u64> {
        let Arguments { from, to, noted, leading, columns, line_groups, groups, cleared } = *self;
        let sizes = [leading, columns, line_groups, groups].map(|size| size as u64);
        [&[from, to, noted][..], &sizes, &[cleared]].concat()
    }
}

const SPLIT: &str = r#"
struct Arguments {
    const float* from;
    // The first thirds of all numbers, then the second ones, and the third ones.
    uint4* to;
    // One for each block, of what it has met.
    unsigned* noted;
    // The distance of lines, and their length.
    long long leading, columns;
    // Groups of a line, and of all. Those of lines that follow each other do so in what is written.
    long long line_groups, groups;
    // Becomes zero, if there is such a one.
    unsigned* cleared;
};
// The nearest to two numbers.
FN unsigned thirds_of(float x, float y) {
    unsigned thirds;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(thirds) : "f"(y), "f"(x));
    return thirds;
}

// Splits a group. `largest` is the magnitude of the largest number, and none if one is none.
FN void split_group(const Arguments& a, unsigned number, const Group& group, float& largest) {
    alignas(16) unsigned thirds[3][GROUP / 2];
    #pragma unroll
    for (int i = 0; i < GROUP; i += 2) {
        float x = group.x[i], y = group.x[i + 1];
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(x)));
        asm("max.NaN.f32 %0, %0, %1;" : "+f"(largest) : "f"(fabsf(y)));
        #pragma unroll
        for (int third = 0; third < 3; third++) {
            const unsigned two = thirds_of(x, y);
            thirds[third][i / 2] = two;
            x = __fsub_rn(x, __uint_as_float(two << 16));
            y = __fsub_rn(y, __uint_as_float(two & 0xffff0000));
        }
    }
    #pragma unroll
    for (int third = 0; third < 3; third++) a.to[third * a.groups + number] = *(const uint4*)thirds[third];
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    float largest = 0.0f;
    const unsigned step = gridDim.x * THREADS;
    for (unsigned number = blockIdx.x * THREADS + threadIdx.x; number < a.groups; number += 2 * step) {
        const bool has_next = number + step < a.groups;
        Group group, next;
        load_group(a, number, group);
        if (has_next) load_group(a, number + step, next);
        split_group(a, number, group, largest);
        if (has_next) split_group(a, number + step, next, largest);
    }
    // What is rounded to something infinite is odd, too.
    const bool odd = __syncthreads_or(!(largest < 0x1.ffp127f));
    const bool some = __syncthreads_or(largest > 0.0f), usual = __syncthreads_or(largest >= 0x1p-90f);
    if (threadIdx.x == 0 && blockIdx.x == 0 && a.cleared) *a.cleared = 0;
    if (threadIdx.x == 0) a.noted[blockIdx.x] = (odd ? ODD : 0) | (some ? SOME : 0) | (usual ? USUAL : 0);
}
"#;
