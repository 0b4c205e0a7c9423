//! Numbers of `f32` as halves, to be multiplied in their place.
//!
//! A half has the mantissa of TF32 and fewer exponents. A matrix whose numbers are not too far apart is packed into
//! halves, times a power of two that a sample of it suggests, without being rounded any more than TF32 would have it. Of
//! the few numbers that are too large or too small for that, what no half stands for is listed, and whoever multiplies
//! adds it. If they are many, the halves are of no use: the product is computed in TF32.

use super::groups::{self, MOST_BLOCKS};
use std::sync::LazyLock;

/// What a block lists at most.
const MOST_OF_BLOCK: usize = 4;

/// What may be listed of a matrix.
const MOST_LISTED: usize = 64;

const ENTRY_BYTES: usize = 16;

/// Bytes of what is known of a packed matrix besides its halves.
pub const HEADER_BYTES: usize =
    16 + 4 * MOST_BLOCKS + ENTRY_BYTES * (MOST_LISTED + MOST_OF_BLOCK * MOST_BLOCKS);

/// What those who pack and those who multiply have in common.
pub fn declarations() -> String {
    format!(
        "constexpr int PACKING_BLOCKS = {MOST_BLOCKS}, MOST_OF_BLOCK = {MOST_OF_BLOCK}, MOST_LISTED = {MOST_LISTED};\n\
         constexpr int HEADER_BYTES = {HEADER_BYTES};\n{HEADER}"
    )
}

/// The kernel that packs a matrix.
pub static TEXT: LazyLock<String> = LazyLock::new(|| {
    let groups = groups::declarations();
    super::with_functions(&format!("{groups}\n{}{PACK}", declarations()))
});

const HEADER: &str = r#"
// A number of a matrix, by its line and its place there, and what its half lacks, times the matrix's power of two.
struct alignas(16) Entry { unsigned line, place; float rest; unsigned operand; };
struct alignas(16) Header {
    // Of the power of two that numbers were multiplied by.
    int exponent;
    // How many numbers are listed, or would be. Whether there is one that is infinite or none.
    unsigned count, is_odd, unused;
    Entry list[MOST_LISTED];
    // Of each block, the same: the count, twice, and one more if it has met what is odd.
    unsigned counts[PACKING_BLOCKS];
    Entry entries[PACKING_BLOCKS][MOST_OF_BLOCK];
};
static_assert(sizeof(Header) == HEADER_BYTES);
// Whether the halves of two matrices can be multiplied in place of their numbers. What is odd must not meet a half that
// stands for nothing.
FN bool fit(const Header& a, const Header& b) {
    const uint4 of_a = *(const uint4*)&a, of_b = *(const uint4*)&b;
    return of_a.y <= MOST_LISTED && of_b.y <= MOST_LISTED && (of_a.y + of_b.y == 0 || !(of_a.z | of_b.z));
}
"#;

const PACK: &str = r#"
struct Arguments {
    const float* from;
    unsigned short* to;
    Header* header;
    // Zero before and after.
    unsigned* arrived;
    // That of the other matrix, if it is packed already.
    const Header* other;
    // The distance of lines, and extents.
    long long leading, lines, columns;
    // Groups of a line, of a block, and of all. Those of lines that follow each other do so in what is written.
    long long line_groups, block_groups, groups;
};
// The halves nearest to two numbers.
FN unsigned halves_of(float x, float y) {
    unsigned halves;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(halves) : "f"(y), "f"(x));
    return halves;
}
FN void numbers_of(unsigned halves, float& x, float& y) {
    asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %2;\ncvt.f32.f16 %0, low;\ncvt.f32.f16 %1, high;\n}"
        : "=f"(x), "=f"(y) : "r"(halves));
}
// Whether a half stands for `x`, which is a number times the factor, as well as TF32 does for the number. Of what is infinite
// or no number, it says no; so it does of a number that is too small to be multiplied.
FN bool stands_for(float half, float x, float number) {
    return fabsf(x - half) <= fabsf(x) * 0x1p-11f && (x != 0.0f || number == 0.0f);
}

// What others may be writing.
FN unsigned read_shared(const unsigned& of) {
    unsigned x;
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(x) : "r"((unsigned)__cvta_generic_to_shared(&of)));
    return x;
}

// Packs a group. `counted` is twice the count of what must be listed, and one more if something infinite or none was met.
FN void pack_group(const Arguments& a, unsigned number, const Group& group, float factor, unsigned& counted) {
    alignas(16) unsigned halves[GROUP / 2];
    bool all_stand = true;
    #pragma unroll
    for (int i = 0; i < GROUP; i += 2) {
        const float x = __fmul_rn(group.x[i], factor), y = __fmul_rn(group.x[i + 1], factor);
        halves[i / 2] = halves_of(x, y);
        float low, high;
        numbers_of(halves[i / 2], low, high);
        all_stand &= stands_for(low, x, group.x[i]) & stands_for(high, y, group.x[i + 1]);
    }
    if (!all_stand) {
        const float infinity = __int_as_float(0x7f800000);
        #pragma unroll
        for (int i = 0; i < GROUP; i++) {
            const float x = __fmul_rn(group.x[i], factor);
            float low, high;
            numbers_of(halves[i / 2], low, high);
            float half = i % 2 ? high : low;
            if (stands_for(half, x, group.x[i])) continue;
            if (!(fabsf(group.x[i]) < infinity)) {
                atomicOr(&counted, 1);
                continue;
            }
            if (fabsf(half) == infinity) {
                half = copysignf(65504.0f, x);
                const unsigned bits = halves_of(half, 0.0f) & 0xffff;
                halves[i / 2] = i % 2 ? (halves[i / 2] & 0xffff) | bits << 16 : (halves[i / 2] & 0xffff0000) | bits;
            }
            // What is far too small or large would not be listed exactly.
            const bool is_exact = fminf(fabsf(x), fabsf(group.x[i])) > 0x1p-100f && fabsf(x) < infinity;
            const unsigned at = atomicAdd(&counted, is_exact ? 2 : 4 * MOST_LISTED) >> 1;
            const unsigned line = number / (unsigned)a.line_groups, place = number % (unsigned)a.line_groups * GROUP + i;
            if (at < MOST_OF_BLOCK) a.header->entries[blockIdx.x][at] = {line, place, x - half, 0};
        }
    }
    *((uint4*)a.to + number) = {halves[0], halves[1], halves[2], halves[3]};
}

FN bool comes_before(const Entry& a, const Entry& b) { return a.line != b.line ? a.line < b.line : a.place < b.place; }

// Puts what all blocks have listed into one list, whose order does not depend on who was first.
FN void list_all(Header& header, unsigned& total, unsigned& is_odd) {
    if (threadIdx.x == 0) total = is_odd = 0;
    __syncthreads();
    for (int block = threadIdx.x; block < gridDim.x; block += THREADS) {
        const unsigned counted = __ldcg(&header.counts[block]), count = counted >> 1;
        if (counted & 1) atomicOr(&is_odd, 1);
        if (count == 0) continue;
        const unsigned at = atomicAdd(&total, count > MOST_OF_BLOCK ? 2 * MOST_LISTED : count);
        for (unsigned i = 0; i < count && at + i < MOST_LISTED && count <= MOST_OF_BLOCK; i++) {
            const uint4 words = __ldcg((const uint4*)&header.entries[block][i]);
            *(uint4*)&header.list[at + i] = words;
        }
    }
    __syncthreads();
    const bool has_one = threadIdx.x < total && total <= MOST_LISTED;
    Entry entry;
    unsigned before = 0;
    if (has_one) {
        entry = header.list[threadIdx.x];
        for (unsigned i = 0; i < total; i++) before += comes_before(header.list[i], entry);
    }
    __syncthreads();
    if (has_one) header.list[before] = entry;
    if (threadIdx.x == 0) {
        header.count = total;
        header.is_odd = is_odd;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) entry(const __grid_constant__ Arguments a) {
    __shared__ unsigned largest, counted, is_last;
    if (a.other && a.other->count > MOST_LISTED) return;
    if (threadIdx.x == 0) largest = counted = 0;
    const unsigned block_groups = a.block_groups;
    const unsigned begin = blockIdx.x * block_groups + threadIdx.x, end = min((unsigned)a.groups, (blockIdx.x + 1) * block_groups);
    // All blocks have the same sample.
    float sample[4];
    unsigned size = 0;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const unsigned long long number = threadIdx.x * 4 + i, place = (number * 0x9e3779b9 & 0xffffffff) * a.columns >> 32;
        sample[i] = a.from[(long long)(number * a.lines / (4 * THREADS)) * a.leading + place];
        const unsigned of = __float_as_uint(sample[i]) & 0x7fffffff;
        size = max(size, of < 0x7f800000 ? of : 0);
    }
    Group groups[2], next[2];
    #pragma unroll
    for (int i = 0; i < 2; i++) if (begin + i * THREADS < end) load_group(a, begin + i * THREADS, groups[i]);
    __syncthreads();
    const unsigned of_warp = __reduce_max_sync(0xffffffff, size);
    if (threadIdx.x % 32 == 0) atomicMax(&largest, of_warp);
    __syncthreads();
    // The largest of them becomes something from 2^14 to 2^15: others may be a little larger.
    const int exponent = largest ? min(127 + 14 - (int)(largest >> 23), 126) : 0;
    const float factor = __uint_as_float((unsigned)(127 + exponent) << 23);
    // If threads have two numbers of the sample that must be listed, there are, in all likelihood, more than there is room for.
    bool needs = false;
    #pragma unroll
    for (int i = 0; i < 4; i++) {
        const float x = __fmul_rn(sample[i], factor);
        float low, high;
        numbers_of(halves_of(x, 0.0f), low, high);
        needs |= !stands_for(low, x, sample[i]) && fabsf(sample[i]) < __int_as_float(0x7f800000);
    }
    if (__syncthreads_count(needs) > 1 && threadIdx.x == 0) counted = 4 * MOST_LISTED;
    __syncthreads();
    #pragma unroll 2
    for (unsigned number = begin; number < end; number += 2 * THREADS) {
        // Nobody will need the rest.
        if (read_shared(counted) >> 1 > MOST_OF_BLOCK) break;
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned after = number + (2 + i) * THREADS;
            if (after < end) load_group(a, after, next[i]);
        }
        #pragma unroll
        for (int i = 0; i < 2; i++) {
            if (number + i * THREADS < end) pack_group(a, number + i * THREADS, groups[i], factor, counted);
            groups[i] = next[i];
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        a.header->counts[blockIdx.x] = counted;
        if (blockIdx.x == 0) a.header->exponent = exponent;
        __threadfence();
        is_last = atomicInc(a.arrived, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last) list_all(*a.header, largest, counted);
}
"#;
