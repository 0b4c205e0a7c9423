//! Device functions that generated kernels call: vectorized and streaming loads, shuffles, atomics, conversions, and math
//! that is not in the CUDA library. A kernel's text contains only the functions it needs, to keep NVRTC fast.
//!
//! Every kernel starts with [`BEGIN`], which implements programmatic dependent launch.

use super::complex::COMPLEX;

/// The first lines of every text: the types that CUDA C++ lacks without headers.
const HEAD: &str = "#define FN static __device__ __forceinline__\n\
    struct f16 { unsigned short bits; };\n\
    struct bf16 { unsigned short bits; };\n\
    struct alignas(8) c64 { float re, im; };\n\
    struct alignas(16) c128 { double re, im; };\n";

/// A function's name and its text. A function may call only functions that come before it in the list.
pub type Function = (&'static str, &'static str);

const FUNCTIONS: &[Function] = &[
    (
        "begin_kernel",
        r#"
// Programmatic dependent launch: lets the next kernel in the stream start as soon as SMs have room for it, then waits until
// all kernels before this one are done and their writes are visible. Arguments may be read before; memory may not.
FN void begin_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
"#,
    ),
    (
        "branch_free_divide",
        r#"
// x / y, correctly rounded and branch-free, for kernels with too few threads to hide the latency of a branch. Divides the
// mantissas, so that no intermediate result overflows or underflows, and rescales. NaN, zero, infinite and subnormal
// operands take a separate path, which is selected at the end.
FN float branch_free_divide(float x, float y) {
    const unsigned a = __float_as_uint(x), b = __float_as_uint(y);
    const int x_exponent = a >> 23 & 255, y_exponent = b >> 23 & 255, exponent = x_exponent - y_exponent;
    const float numerator = __uint_as_float((a & 0x807fffff) | 0x3f800000), denominator = __uint_as_float((b & 0x807fffff) | 0x3f800000);
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(denominator));
    // For the largest mantissas, the Newton step below converges only from the exact value.
    const unsigned mantissa = b & 0x7fffff;
    const unsigned exact = (b & 0x80000000) | (0x3f000000 + ((0x800001 - mantissa) >> 1));
    reciprocal = mantissa >= 0x7ffffd ? __uint_as_float(exact) : reciprocal;
    reciprocal = __fmaf_rn(__fmaf_rn(-denominator, reciprocal, 1.0f), reciprocal, reciprocal);
    float quotient = __fmul_rn(numerator, reciprocal);
    quotient = __fmaf_rn(__fmaf_rn(-denominator, quotient, numerator), reciprocal, quotient);
    const int half_exponent = exponent >> 1;
    quotient = __fmul_rn(quotient, __uint_as_float((unsigned)(127 + half_exponent) << 23));
    quotient = __fmul_rn(quotient, __uint_as_float((unsigned)(127 + exponent - half_exponent) << 23));
    float y_reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y_reciprocal) : "f"(y));
    const bool is_special_y = (unsigned)(y_exponent - 1) >= 254u, is_special_x = (unsigned)(x_exponent - 1) >= 254u;
    const float special = __fmul_rn(x, is_special_y ? y_reciprocal : denominator);
    return is_special_y || is_special_x ? special : quotient;
}
"#,
    ),
    (
        "branch_free_sqrt",
        r#"
// The square root, correctly rounded and branch-free.
FN float branch_free_sqrt(float x) {
    const bool is_tiny = x < 1e-30f;
    const float scaled = is_tiny ? __fmul_rn(x, 4294967296.0f) : x;
    float reciprocal_root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal_root) : "f"(scaled));
    float y = __fmul_rn(scaled, reciprocal_root), half = __fmul_rn(0.5f, reciprocal_root);
    const float error = __fmaf_rn(-y, half, 0.5f);
    y = __fmaf_rn(y, error, y);
    half = __fmaf_rn(half, error, half);
    y = __fmaf_rn(__fmaf_rn(-y, y, scaled), half, y);
    y = is_tiny ? __fmul_rn(y, 1.0f / 65536.0f) : y;
    y = x == __int_as_float(0x7f800000) ? x : y;
    // Subnormals flush to a zero of the same sign.
    return x == 0.0f ? __uint_as_float(__float_as_uint(x) & 0x80000000) : y;
}
"#,
    ),
    (
        "fast_path_divide",
        r#"
// x / y, correctly rounded if operands and quotient have moderate magnitude or x is zero; otherwise sets `is_irregular`.
// Scales x up, so that the residual is not subnormal; if that overflows, the result is NaN, which the check catches. The
// residual is negated such that a zero keeps its sign.
FN float fast_path_divide(float x, float y, bool& is_irregular) {
    float reciprocal;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(y));
    reciprocal = __fmaf_rn(__fmaf_rn(-y, reciprocal, 1.0f), reciprocal, reciprocal);
    const float numerator = __fmul_rn(x, 0x1p64f);
    float quotient = __fmul_rn(numerator, reciprocal);
    quotient = __fmaf_rn(-__fmaf_rn(y, quotient, -numerator), reciprocal, quotient);
    quotient = __fmul_rn(__fmaf_rn(-__fmaf_rn(y, quotient, -numerator), reciprocal, quotient), 0x1p-64f);
    is_irregular |= !(y >= 0x1p-42f) | !(y <= 0x1p22f) | (!(fabsf(quotient) >= 0x1p-125f) & x != 0.0f);
    return quotient;
}
"#,
    ),
    (
        "fast_path_sqrt",
        r#"
// The square root, with the same contract.
FN float fast_path_sqrt(float x, bool& is_irregular) {
    is_irregular |= !(x >= 0.0f) | !(x <= 0x1p60f);
    const float scaled = __fmul_rn(x, 0x1p64f);
    float reciprocal_root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(reciprocal_root) : "f"(fmaxf(scaled, 0x1p-100f)));
    float y = __fmul_rn(scaled, reciprocal_root), half = __fmul_rn(0.5f, reciprocal_root);
    const float error = __fmaf_rn(-y, half, 0.5f);
    y = __fmaf_rn(y, error, y);
    half = __fmaf_rn(half, error, half);
    return __fmul_rn(__fmaf_rn(__fmaf_rn(-y, y, scaled), half, y), 0x1p-32f);
}
"#,
    ),
    (
        "load_pack",
        r"
// Loads a vector of contiguous elements with the widest accesses that its size allows, up to 16 bytes.
template <int N, class T> FN void load_pack(T* to, const T* from) {
    constexpr int bytes = N * (int)sizeof(T);
    if constexpr (bytes % 16 == 0) {
        #pragma unroll
        for (int i = 0; i < bytes / 16; i++) ((uint4*)to)[i] = ((const uint4*)from)[i];
    } else if constexpr (bytes == 8) { *(uint2*)to = *(const uint2*)from;
    } else if constexpr (bytes == 4) { *(unsigned*)to = *(const unsigned*)from;
    } else if constexpr (bytes == 2) { *(unsigned short*)to = *(const unsigned short*)from;
    } else { *to = *from; }
}
",
    ),
    (
        "store_pack",
        r"
template <int N, class T> FN void store_pack(T* to, const T* from) { load_pack<N>(to, from); }
",
    ),
    (
        "streaming_load_pack",
        r"
// A vector load with the streaming cache hint (evict-first), for operands larger than the cache.
template <int N, class T> FN void streaming_load_pack(T* to, const T* from) {
    constexpr int bytes = N * (int)sizeof(T);
    if constexpr (bytes % 16 == 0) {
        #pragma unroll
        for (int i = 0; i < bytes / 16; i++) ((uint4*)to)[i] = __ldcs((const uint4*)from + i);
    } else if constexpr (bytes == 8) { *(uint2*)to = __ldcs((const uint2*)from);
    } else { load_pack<N>(to, from); }
}
",
    ),
    (
        "evict_last_load_pack",
        r#"
// A vector load with the L2 evict-last hint, for kernels that write as much as they read: written lines then leave the L2
// cache first and reach DRAM in larger bursts.
template <int N, class T> FN void evict_last_load_pack(T* to, const T* from) {
    constexpr int bytes = N * (int)sizeof(T);
#if __CUDA_ARCH__ >= 800
    if constexpr (bytes % 16 == 0) {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        #pragma unroll
        for (int i = 0; i < bytes / 16; i++) {
            uint4 quad;
            asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                : "=r"(quad.x), "=r"(quad.y), "=r"(quad.z), "=r"(quad.w) : "l"((const uint4*)from + i), "l"(policy));
            ((uint4*)to)[i] = quad;
        }
        return;
    }
#endif
    load_pack<N>(to, from);
}
"#,
    ),
    (
        "streaming_store_pack",
        r"
template <int N, class T> FN void streaming_store_pack(T* to, const T* from) {
    constexpr int bytes = N * (int)sizeof(T);
    if constexpr (bytes % 16 == 0) {
        #pragma unroll
        for (int i = 0; i < bytes / 16; i++) __stcs((uint4*)to + i, ((const uint4*)from)[i]);
    } else if constexpr (bytes == 8) { __stcs((uint2*)to, *(const uint2*)from);
    } else { store_pack<N>(to, from); }
}
",
    ),
    (
        "to_float",
        r#"
FN float to_float(f16 x) { float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return y; }
FN float to_float(bf16 x) { return __uint_as_float((unsigned)x.bits << 16); }
"#,
    ),
    (
        "to_f16",
        r#"
FN f16 to_f16(float x) { f16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y; }
"#,
    ),
    (
        "to_bf16",
        r#"
FN bf16 to_bf16(float x) {
#if __CUDA_ARCH__ >= 800
    bf16 y; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x)); return y;
#else
    unsigned bits = __float_as_uint(x);
    if (x != x) return bf16{(unsigned short)((bits >> 16) | 0x40u)};
    return bf16{(unsigned short)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
#endif
}
"#,
    ),
    (
        "round_to_odd_f32",
        r"
// Rounds to odd in f32: truncates towards zero with a sticky last bit. Rounding the result to a 16-bit float then gives the
// same as rounding the value itself, without double rounding.
FN float sticky(float truncated, bool inexact) {
    return inexact ? __uint_as_float(__float_as_uint(truncated) | 1u) : truncated;
}
FN float round_to_odd_f32(double x) {
    float truncated = __double2float_rz(x);
    return sticky(truncated, x == x && (double)truncated != x);
}
FN float round_to_odd_f32(int x) { float truncated = __int2float_rz(x); return sticky(truncated, (long long)truncated != x); }
FN float round_to_odd_f32(unsigned x) { float truncated = __uint2float_rz(x); return sticky(truncated, (long long)truncated != x); }
FN float round_to_odd_f32(long long x) {
    float truncated = __ll2float_rz(x);
    return sticky(truncated, __float2ll_rz(truncated) != x);
}
FN float round_to_odd_f32(unsigned long long x) {
    float truncated = __ull2float_rz(x);
    return sticky(truncated, __float2ull_rz(truncated) != x);
}
FN float round_to_odd_f32(short x) { return (float)x; }
FN float round_to_odd_f32(signed char x) { return (float)x; }
FN float round_to_odd_f32(unsigned short x) { return (float)x; }
FN float round_to_odd_f32(unsigned char x) { return (float)x; }
FN float round_to_odd_f32(bool x) { return (float)x; }
",
    ),
    (
        "to_integer",
        r"
// Truncating, saturating conversion; NaN becomes 0. `high` is the first float beyond the largest integer.
template <class T, class F> FN T to_integer(F x, float low, float high) {
    constexpr bool is_signed = (T)-1 < (T)0;
    constexpr T most = is_signed ? (T)(((unsigned long long)1 << (8 * sizeof(T) - 1)) - 1) : (T)~0ull;
    return x != x ? (T)0 : x < (F)low ? (T)(~most * is_signed) : x >= (F)high ? most : (T)x;
}
",
    ),
    (
        "bits_of",
        r"
template <class T> FN unsigned long long bits_of(T x) {
    return (unsigned long long)x & (~0ull >> (64 - 8 * sizeof(T)));
}
",
    ),
    (
        "bit_cast",
        r"
template <class To, class From> FN To bit_cast(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    memcpy(&to, &from, sizeof(To));
    return to;
}
",
    ),
    (
        "integer_div",
        r"
template <class T> FN T integer_div(T a, T b) {
    if (b == (T)0) return (T)~0ull;
    if ((T)-1 < (T)0 && b == (T)-1) return (T)(0ull - (unsigned long long)a);
    return (T)(a / b);
}
",
    ),
    (
        "integer_rem",
        r"
template <class T> FN T integer_rem(T a, T b) {
    if (b == (T)0) return a;
    if ((T)-1 < (T)0 && b == (T)-1) return (T)0;
    return (T)(a % b);
}
",
    ),
    (
        "integer_pow",
        r"
template <class T> FN T integer_pow(T a, T b) {
    if (b < (T)0) return a == (T)1 ? (T)1 : a == (T)-1 ? ((b & 1) ? a : (T)1) : (T)0;
    unsigned long long result = 1, base = (unsigned long long)a, power = (unsigned long long)b;
    for (; power > 0; power >>= 1) {
        if (power & 1) result *= base;
        base *= base;
    }
    return (T)result;
}
",
    ),
    (
        "smaller",
        r#"
FN float smaller(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y; asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y;
#else
    return a < b || a != a ? a : b;
#endif
}
template <class T> FN T smaller(T a, T b) { return a < b || a != a ? a : b; }
"#,
    ),
    (
        "negative",
        r#"
// Works around a bug of ptxas in CUDA 13.0 for sm_90: when it fuses integer min or max into a three-input instruction, it
// drops a negation, so that max(max(x, -y), z) becomes max(x, y, z). Hides the negation from ptxas.
FN unsigned negative(unsigned x) {
    unsigned y; asm("{\n.reg .b32 t;\nnot.b32 t, %1;\nadd.u32 %0, t, 1;\n}" : "=r"(y) : "r"(x)); return y;
}
"#,
    ),
    (
        "larger",
        r#"
FN float larger(float a, float b) {
#if __CUDA_ARCH__ >= 800
    float y; asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b)); return y;
#else
    return a > b || a != a ? a : b;
#endif
}
template <class T> FN T larger(T a, T b) { return a > b || a != a ? a : b; }
"#,
    ),
    (
        "shift_left",
        r"
template <class T> FN T shift_left(T a, T b) {
    unsigned long long n = (unsigned long long)b;
    return n < 8 * sizeof(T) ? (T)((unsigned long long)a << n) : (T)0;
}
",
    ),
    (
        "shift_right",
        r"
template <class T> FN T shift_right(T a, T b) {
    unsigned long long n = (unsigned long long)b;
    return n < 8 * sizeof(T) ? (T)(a >> n) : a < (T)0 ? (T)-1 : (T)0;
}
",
    ),
    (
        "shift_right_logical",
        r"
template <class T> FN T shift_right_logical(T a, T b) {
    unsigned long long n = (unsigned long long)b;
    unsigned long long bits = (unsigned long long)a & (~0ull >> (64 - 8 * sizeof(T)));
    return n < 8 * sizeof(T) ? (T)(bits >> n) : (T)0;
}
",
    ),
    (
        "approximate_divide",
        r#"
// a / b for |a| <= b and b between 1 and 2, accurate to about 1 ulp: multiplies by the approximate reciprocal and
// corrects by the residual.
FN float approximate_divide(float a, float b) {
    float reciprocal, quotient; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
    quotient = a * reciprocal;
    return __fmaf_rn(__fmaf_rn(-b, quotient, a), reciprocal, quotient);
}
"#,
    ),
    (
        "hyperbolic_tangent",
        r#"
// A polynomial below 0.65 and e^2x beyond, within 1.8 ulp everywhere. Both are computed, and the select is inline PTX: the
// compiler would turn it into a branch, and the warp would diverge.
FN float hyperbolic_tangent(float x) {
    const float m = fabsf(x), s = x * x;
    float p = __fmaf_rn(-0.00551516702f, s, 0.0204694234f);
    p = __fmaf_rn(p, s, -0.0536880232f);
    p = __fmaf_rn(p, s, 0.133308306f);
    p = __fmaf_rn(p, s, -0.333332598f);
    float power, reciprocal, y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(m * 2.88539008f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(power + 1.0f));
    asm("{ .reg .pred below; setp.lt.f32 below, %1, 0f3F266666; selp.f32 %0, %2, %3, below; }"
        : "=f"(y) : "f"(m), "f"(__fmaf_rn(p * s, m, m)), "f"(__fmaf_rn(-2.0f, reciprocal, 1.0f)));
    return copysignf(y, x);
}
FN double hyperbolic_tangent(double x) { return tanh(x); }
"#,
    ),
    (
        "sigmoid",
        r"
FN float sigmoid(float x) {
    const float power = expf(-fabsf(x));
    return approximate_divide(x >= 0.0f ? 1.0f : power, 1.0f + power);
}
FN double sigmoid(double x) {
    if (x >= 0.0) return 1.0 / (1.0 + exp(-x));
    double power = exp(x);
    return power / (1.0 + power);
}
",
    ),
    (
        "is_better_min",
        r"
template <class T> FN bool is_better_min(T a, long long i, T b, long long j) {
    if (i < 0 || j < 0) return i >= 0;
    bool a_is_nan = a != a, b_is_nan = b != b;
    if (a_is_nan != b_is_nan) return a_is_nan;
    return a_is_nan || a == b ? i < j : a < b;
}
",
    ),
    (
        "is_better_max",
        r"
template <class T> FN bool is_better_max(T a, long long i, T b, long long j) {
    if (i < 0 || j < 0) return i >= 0;
    bool a_is_nan = a != a, b_is_nan = b != b;
    if (a_is_nan != b_is_nan) return a_is_nan;
    return a_is_nan || a == b ? i < j : a > b;
}
",
    ),
    (
        "shuffle_xor",
        r"
// Warp shuffles of values of any size: from the lane whose id differs in these bits, from a lower lane, from lane 31.
template <class T> FN T shuffle_xor(T x, int bits) {
    constexpr int count = ((int)sizeof(T) + 3) / 4;
    unsigned parts[count] = {};
    memcpy(parts, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < count; i++) parts[i] = __shfl_xor_sync(~0u, parts[i], bits);
    memcpy(&x, parts, sizeof(T));
    return x;
}
",
    ),
    (
        "shuffle_up",
        r"
template <class T> FN T shuffle_up(T x, int lanes) {
    constexpr int count = ((int)sizeof(T) + 3) / 4;
    unsigned parts[count] = {};
    memcpy(parts, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < count; i++) parts[i] = __shfl_up_sync(~0u, parts[i], lanes);
    memcpy(&x, parts, sizeof(T));
    return x;
}
",
    ),
    (
        "broadcast_last_lane",
        r"
template <class T> FN T broadcast_last_lane(T x) {
    constexpr int count = ((int)sizeof(T) + 3) / 4;
    unsigned parts[count] = {};
    memcpy(parts, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < count; i++) parts[i] = __shfl_sync(~0u, parts[i], 31);
    memcpy(&x, parts, sizeof(T));
    return x;
}
",
    ),
    (
        "volatile_load",
        r"
// Loads the current value from memory, not from a register.
template <class T> FN T volatile_load(T* address) {
    T x;
    if constexpr (sizeof(T) == 8) { auto w = *(volatile unsigned long long*)address; memcpy(&x, &w, 8); }
    else if constexpr (sizeof(T) == 4) { auto w = *(volatile unsigned*)address; memcpy(&x, &w, 4); }
    else if constexpr (sizeof(T) == 2) { auto w = *(volatile unsigned short*)address; memcpy(&x, &w, 2); }
    else { auto w = *(volatile unsigned char*)address; memcpy(&x, &w, 1); }
    return x;
}
",
    ),
    (
        "compare_and_swap",
        r"
// Stores `desired` if memory still holds `expected`, and returns whether it did. 8-bit and 16-bit values go through the
// 32-bit word that contains them.
template <class T> FN bool compare_and_swap(T* pointer, T expected, T desired) {
    if constexpr (sizeof(T) == 8) {
        unsigned long long a, b;
        memcpy(&a, &expected, 8); memcpy(&b, &desired, 8);
        return atomicCAS((unsigned long long*)pointer, a, b) == a;
    } else if constexpr (sizeof(T) == 4) {
        unsigned a, b;
        memcpy(&a, &expected, 4); memcpy(&b, &desired, 4);
        return atomicCAS((unsigned*)pointer, a, b) == a;
    } else {
        unsigned long long address = (unsigned long long)pointer;
        unsigned* word = (unsigned*)(address & ~3ull);
        unsigned shift = 8 * (unsigned)(address & 3), mask = (sizeof(T) == 2 ? 0xffffu : 0xffu) << shift;
        unsigned a = 0, b = 0;
        memcpy(&a, &expected, sizeof(T)); memcpy(&b, &desired, sizeof(T));
        unsigned other_bits = *(volatile unsigned*)word & ~mask;
        unsigned old = other_bits | (a << shift);
        return atomicCAS(word, old, other_bits | (b << shift)) == old;
    }
}
",
    ),
    (
        "widen",
        r"
FN c128 widen(c64 z) { return c128{(double)z.re, (double)z.im}; }
",
    ),
    (
        "narrow",
        r"
FN c64 narrow(c128 z) { return c64{(float)z.re, (float)z.im}; }
",
    ),
];

/// Prepends the functions that a kernel calls to its text.
pub fn with_functions(kernel: &str) -> String {
    let kernel = &with_begin(kernel);
    let mut needed: Vec<&str> = Vec::new();
    let calls = |text: &str, name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back().unwrap_or(' ');
            let after = text[at + name.len()..].chars().next().unwrap_or(' ');
            !before.is_alphanumeric() && before != '_' && (after == '(' || after == '<')
        })
    };
    for &(name, text) in FUNCTIONS.iter().chain(COMPLEX).rev() {
        if calls(kernel, name) || needed.iter().any(|user| calls(user, name)) {
            needed.push(text);
        }
    }
    let mut all = String::from(HEAD);
    needed.iter().rev().for_each(|text| all.push_str(text));
    all.push_str(kernel);
    all
}

/// The first statement of every entry point: programmatic dependent launch.
const BEGIN: &str = "begin_kernel();";

/// Inserts [`BEGIN`] at the start of the entry point. Every thread of every kernel waits for its predecessors, so that
/// completion is transitive: when a kernel is done, all kernels before it are, and a dependent kernel need only wait for its
/// direct predecessor.
fn with_begin(kernel: &str) -> String {
    let entry = kernel.find("__global__");
    let start = entry.and_then(|at| kernel[at..].find('{').map(|brace| at + brace + 1));
    match start {
        Some(start) => format!("{}\n{BEGIN}\n{}", &kernel[..start], &kernel[start..]),
        None => kernel.to_owned(),
    }
}

/// Whether a text's kernel waits for its dependencies itself (programmatic dependent launch), so that it may be started
/// before they are done.
pub fn waits_for_dependencies(text: &str) -> bool {
    text.contains(BEGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_contain_called_functions_transitively() {
        let text = with_functions("x = complex_sigmoid(y);");
        for name in ["FN c128 complex_exp(", "FN c128 complex_div(", "FN c128 complex_inverse("] {
            assert!(text.contains(name), "{name} is missing");
        }
        assert!(!text.contains("complex_tanh"));
        assert!(text.find("complex_exp(c128 z)") < text.find("complex_sigmoid(c128 z)"));
    }

    #[test]
    fn entry_point_waits_for_dependencies_first() {
        let text = with_functions("struct A { int x; };\n__global__ void entry(A a) { f(a); }");
        assert!(text.contains("entry(A a) {\nbegin_kernel();\n f(a); }"), "{text}");
        assert!(
            waits_for_dependencies(&text)
                && !waits_for_dependencies("__global__ void entry(A a) { f(a); }")
        );
    }

    #[test]
    fn functions_call_only_earlier_functions() {
        let functions: Vec<Function> = FUNCTIONS.iter().chain(COMPLEX).copied().collect();
        for (position, &(_, text)) in functions.iter().enumerate() {
            for &(later, _) in &functions[position + 1..] {
                let call = format!("{later}(");
                let used = text.match_indices(&call).any(|(at, _)| {
                    !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                });
                assert!(!used, "{text} calls {later}, which comes after it");
            }
        }
    }
}
