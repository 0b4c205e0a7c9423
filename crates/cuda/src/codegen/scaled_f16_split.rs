//! The scaled-f16 split: an `f32` operand as `f16` times a power of two, so that a TF32 GEMM runs at the rate of `f16`.
//!
//! `f16` has the mantissa of TF32 and a smaller exponent range. The kernel scales a matrix by a power of two that a
//! sample of it suggests and rounds it to `f16`, which loses no more precision than TF32 does if the magnitudes are
//! close enough. For the few elements outside of the range (outliers), the residual is listed, and the GEMM kernel
//! ([`gemm`](super::gemm), its TF32 main loop) adds its contribution. If there are too many outliers, or an operand
//! with outliers meets one with infinities or NaN, the GEMM runs in TF32 instead.

use super::split_groups::{self, MAX_BLOCKS};
use std::sync::LazyLock;

/// The most outliers that a block may list.
const MAX_BLOCK_OUTLIERS: usize = 4;

/// The most outliers of a matrix.
const MAX_OUTLIERS: usize = 64;

const OUTLIER_BYTES: usize = 16;

/// Bytes of the header of a packed matrix: its scale and its outliers.
pub const HEADER_BYTES: usize =
    16 + 4 * MAX_BLOCKS + OUTLIER_BYTES * (MAX_OUTLIERS + MAX_BLOCK_OUTLIERS * MAX_BLOCKS);

/// The CUDA declarations that the packing kernel and the GEMM kernels share.
pub fn declarations() -> String {
    format!(
        "constexpr int PACKING_BLOCKS = {MAX_BLOCKS}, MAX_BLOCK_OUTLIERS = {MAX_BLOCK_OUTLIERS}, MAX_OUTLIERS = {MAX_OUTLIERS};\n\
         constexpr int HEADER_BYTES = {HEADER_BYTES};\n{HEADER}"
    )
}

/// The packing kernel.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let groups = split_groups::declarations();
    super::with_functions(&format!("{groups}\n{}{PACK}", declarations()))
});

const HEADER: &str = r#"
// An element that f16 cannot represent: its line and column, and the residual after rounding, scaled as the matrix is.
struct alignas(16) Outlier { unsigned line, column; float residual; unsigned operand; };
struct alignas(16) Header {
    // The exponent of the scale.
    int exponent;
    // The number of outliers, listed or not, and whether an element is infinite or NaN.
    unsigned count, is_nonfinite, unused;
    Outlier outliers[MAX_OUTLIERS];
    // Of each block: twice its count of outliers, plus one if it has found an infinity or NaN, and its outliers.
    unsigned block_counts[PACKING_BLOCKS];
    Outlier block_outliers[PACKING_BLOCKS][MAX_BLOCK_OUTLIERS];
};
static_assert(sizeof(Header) == HEADER_BYTES);
// Whether a GEMM may use the scaled f16 of both operands. Infinities and NaN must not meet the rounded value of an
// outlier.
FN bool can_use_f16(const Header& a, const Header& b) {
    const uint4 a_words = *(const uint4*)&a, b_words = *(const uint4*)&b;
    return a_words.y <= MAX_OUTLIERS && b_words.y <= MAX_OUTLIERS && (a_words.y + b_words.y == 0 || !(a_words.z | b_words.z));
}
"#;

const PACK: &str = r#"
struct Arguments {
    const float* from;
    unsigned short* to;
    Header* header;
    // Counts arriving blocks. Zero before and after the launch.
    unsigned* arrivals;
    // The header of the other operand, if that is packed already.
    const Header* other;
    // The leading dimension, and the extents.
    long long leading, lines, columns;
    // Groups of a line, of a block, and of the matrix. The output has no padding between the groups of consecutive
    // lines.
    long long line_groups, block_groups, groups;
};
// Rounds two floats to a pair of f16.
FN unsigned to_f16x2(float x, float y) {
    unsigned pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(y), "f"(x));
    return pair;
}
FN void from_f16x2(unsigned pair, float& x, float& y) {
    asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
        : "=f"(x), "=f"(y) : "r"(pair));
}
// Whether f16 represents the scaled element `x` as precisely as TF32 represents `element`. False for infinities and
// NaN, and for elements that underflow when scaled.
FN bool is_representable(float rounded, float x, float element) {
    return fabsf(x - rounded) <= fabsf(x) * 0x1p-11f && (x != 0.0f || element == 0.0f);
}

// A relaxed load of a shared variable that other threads may be updating.
FN unsigned relaxed_load(const unsigned& variable) {
    unsigned x;
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(&variable)));
    return x;
}

// Packs a group. `counted` is twice the block's count of outliers, plus one if an element is infinite or NaN.
FN void pack_group(const Arguments& a, unsigned index, const Group& group, float scale, unsigned& counted) {
    alignas(16) unsigned pairs[GROUP / 2];
    bool all_representable = true;
    #pragma unroll
    for (int i = 0; i < GROUP; i += 2) {
        const float x = __fmul_rn(group.x[i], scale), y = __fmul_rn(group.x[i + 1], scale);
        pairs[i / 2] = to_f16x2(x, y);
        float low, high;
        from_f16x2(pairs[i / 2], low, high);
        all_representable &= is_representable(low, x, group.x[i]) & is_representable(high, y, group.x[i + 1]);
    }
    if (!all_representable) {
        const float infinity = __int_as_float(0x7f800000);
        #pragma unroll
        for (int i = 0; i < GROUP; i++) {
            const float x = __fmul_rn(group.x[i], scale);
            float low, high;
            from_f16x2(pairs[i / 2], low, high);
            float rounded = i % 2 ? high : low;
            if (is_representable(rounded, x, group.x[i])) continue;
            if (!(fabsf(group.x[i]) < infinity)) {
                atomicOr(&counted, 1);
                continue;
            }
            if (fabsf(rounded) == infinity) {
                rounded = copysignf(65504.0f, x);
                const unsigned bits = to_f16x2(rounded, 0.0f) & 0xffff;
                pairs[i / 2] = i % 2 ? (pairs[i / 2] & 0xffff) | bits << 16 : (pairs[i / 2] & 0xffff0000) | bits;
            }
            // The residual of an extremely small or large element would be inexact: exceed the limit of outliers
            // instead.
            const bool is_exact = fminf(fabsf(x), fabsf(group.x[i])) > 0x1p-100f && fabsf(x) < infinity;
            const unsigned slot = atomicAdd(&counted, is_exact ? 2 : 4 * MAX_OUTLIERS) >> 1;
            const unsigned line = index / (unsigned)a.line_groups, column = index % (unsigned)a.line_groups * GROUP + i;
            if (slot < MAX_BLOCK_OUTLIERS) a.header->block_outliers[blockIdx.x][slot] = {line, column, x - rounded, 0};
        }
    }
    *((uint4*)a.to + index) = {pairs[0], pairs[1], pairs[2], pairs[3]};
}

FN bool comes_before(const Outlier& a, const Outlier& b) { return a.line != b.line ? a.line < b.line : a.column < b.column; }

// Merges the outliers of all blocks into one sorted list: its order must not depend on the order of blocks.
FN void merge_outliers(Header& header, unsigned& total, unsigned& is_nonfinite) {
    if (threadIdx.x == 0) total = is_nonfinite = 0;
    __syncthreads();
    for (int block = threadIdx.x; block < gridDim.x; block += THREADS) {
        const unsigned counted = __ldcg(&header.block_counts[block]), count = counted >> 1;
        if (counted & 1) atomicOr(&is_nonfinite, 1);
        if (count == 0) continue;
        const unsigned slot = atomicAdd(&total, count > MAX_BLOCK_OUTLIERS ? 2 * MAX_OUTLIERS : count);
        for (unsigned i = 0; i < count && slot + i < MAX_OUTLIERS && count <= MAX_BLOCK_OUTLIERS; i++) {
            const uint4 words = __ldcg((const uint4*)&header.block_outliers[block][i]);
            *(uint4*)&header.outliers[slot + i] = words;
        }
    }
    __syncthreads();
    const bool has_outlier = threadIdx.x < total && total <= MAX_OUTLIERS;
    Outlier outlier;
    unsigned rank = 0;
    if (has_outlier) {
        outlier = header.outliers[threadIdx.x];
        for (unsigned i = 0; i < total; i++) rank += comes_before(header.outliers[i], outlier);
    }
    __syncthreads();
    if (has_outlier) header.outliers[rank] = outlier;
    if (threadIdx.x == 0) {
        header.count = total;
        header.is_nonfinite = is_nonfinite;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ unsigned largest, counted, is_last;
    if (a.other && a.other->count > MAX_OUTLIERS) return;
    if (threadIdx.x == 0) largest = counted = 0;
    const unsigned block_groups = a.block_groups;
    const unsigned begin = blockIdx.x * block_groups + threadIdx.x, end = min((unsigned)a.groups, (blockIdx.x + 1) * block_groups);
    // All blocks take the same sample, so that they agree on the scale.
    float sample[4];
    unsigned magnitude = 0;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned long long index = threadIdx.x * 4 + i, column = (index * 0x9e3779b9 & 0xffffffff) * a.columns >> 32;
        sample[i] = a.from[(long long)(index * a.lines / (4 * THREADS)) * a.leading + column];
        const unsigned bits = __float_as_uint(sample[i]) & 0x7fffffff;
        magnitude = max(magnitude, bits < 0x7f800000 ? bits : 0);
    }
    Group groups[2], next[2];
    #pragma unroll
    for (int i = 0; i < 2; i++) if (begin + i * THREADS < end) load_group(a, begin + i * THREADS, groups[i]);
    __syncthreads();
    const unsigned warp_largest = __reduce_max_sync(0xffffffff, magnitude);
    if (threadIdx.x % 32 == 0) atomicMax(&largest, warp_largest);
    __syncthreads();
    // Scale the largest sampled magnitude to between 2^14 and 2^15: elements outside of the sample may be a little
    // larger.
    const int exponent = largest ? min(127 + 14 - (int)(largest >> 23), 126) : 0;
    const float scale = __uint_as_float((unsigned)(127 + exponent) << 23);
    // If two threads have an outlier in their sample, the matrix in all likelihood has more than the limit.
    bool has_outlier = false;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const float x = __fmul_rn(sample[i], scale);
        float low, high;
        from_f16x2(to_f16x2(x, 0.0f), low, high);
        has_outlier |= !is_representable(low, x, sample[i]) && fabsf(sample[i]) < __int_as_float(0x7f800000);
    }
    if (__syncthreads_count(has_outlier) > 1 && threadIdx.x == 0) counted = 4 * MAX_OUTLIERS;
    __syncthreads();
    #pragma unroll 2
    for (unsigned index = begin; index < end; index += 2 * THREADS) {
        // Too many outliers: the packed matrix will not be used.
        if (relaxed_load(counted) >> 1 > MAX_BLOCK_OUTLIERS) break;
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned ahead = index + (2 + i) * THREADS;
            if (ahead < end) load_group(a, ahead, next[i]);
        }
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            if (index + i * THREADS < end) pack_group(a, index + i * THREADS, groups[i], scale, counted);
            groups[i] = next[i];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.header->block_counts[blockIdx.x] = counted;
        if (blockIdx.x == 0) a.header->exponent = exponent;
        __threadfence();
        is_last = atomicInc(a.arrivals, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last) merge_outliers(*a.header, largest, counted);
}
"#;
