//! The functions that kernels call. Each kernel's text has those it needs, and no others: what is not there
//! need not be compiled.

use super::complex::COMPLEX;

/// What every kernel begins with.
const HEAD: &str = "#define FN static __device__ __forceinline__\n\
    struct f16 { unsigned short bits; };\n\
    struct bf16 { unsigned short bits; };\n\
    struct alignas(8) c64 { float re, im; };\n\
    struct alignas(16) c128 { double re, im; };\n";

/// A function's name and its text. A function uses only those before it.
pub type Function = (&'static str, &'static str);

const FUNCTIONS: &[Function] = &[
    (
        "begin_kernel",
        r#"
// Lets the next kernel come as soon as there is room for it, and waits until those before are done and what they
// wrote can be read. Arguments may be read before; memory may not.
FN void begin_kernel() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
"#,
    ),
    (
        "straight_divide",
        r#"
// x / y, rounded as it should be, without a branch: for kernels whose threads are too few to wait for each other.
// Mantissas are divided, so that nothing leaves the range in between; a number that is none, zero or infinite goes by
// another way.
FN float straight_divide(float x, float y) {
    const unsigned a = __float_as_uint(x), b = __float_as_uint(y);
    const int up = a >> 23 & 255, down = b >> 23 & 255, exponent = up - down;
    const float top = __uint_as_float((a & 0x807fffff) | 0x3f800000), bottom = __uint_as_float((b & 0x807fffff) | 0x3f800000);
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(bottom));
    // Of the largest mantissas, the step below finds the inverse only from the right one.
    const unsigned mantissa = b & 0x7fffff;
    const unsigned right = (b & 0x80000000) | (0x3f000000 + ((0x800001 - mantissa) >> 1));
    inverse = mantissa >= 0x7ffffd ? __uint_as_float(right) : inverse;
    inverse = __fmaf_rn(__fmaf_rn(-bottom, inverse, 1.0f), inverse, inverse);
    float quotient = __fmul_rn(top, inverse);
    quotient = __fmaf_rn(__fmaf_rn(-bottom, quotient, top), inverse, quotient);
    const int half = exponent >> 1;
    quotient = __fmul_rn(quotient, __uint_as_float((unsigned)(127 + half) << 23));
    quotient = __fmul_rn(quotient, __uint_as_float((unsigned)(127 + exponent - half) << 23));
    float whole;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(whole) : "f"(y));
    const bool odd_bottom = (unsigned)(down - 1) >= 254u, odd_top = (unsigned)(up - 1) >= 254u;
    const float odd = __fmul_rn(x, odd_bottom ? whole : bottom);
    return odd_bottom || odd_top ? odd : quotient;
}
"#,
    ),
    (
        "straight_root",
        r#"
// The square root, likewise.
FN float straight_root(float x) {
    const bool tiny = x < 1e-30f;
    const float of = tiny ? __fmul_rn(x, 4294967296.0f) : x;
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(of));
    float y = __fmul_rn(of, inverse), half = __fmul_rn(0.5f, inverse);
    const float error = __fmaf_rn(-y, half, 0.5f);
    y = __fmaf_rn(y, error, y);
    half = __fmaf_rn(half, error, half);
    y = __fmaf_rn(__fmaf_rn(-y, y, of), half, y);
    y = tiny ? __fmul_rn(y, 1.0f / 65536.0f) : y;
    y = x == __int_as_float(0x7f800000) ? x : y;
    // What is too small to be a number is zero, of the same sign.
    return x == 0.0f ? __uint_as_float(__float_as_uint(x) & 0x80000000) : y;
}
"#,
    ),
    (
        "usual_divide",
        r#"
// x / y, rounded as it should be, of numbers that neither are nor lead to something very large or small, but for zero.
// Of all others, `odd` becomes true. It is computed of a larger x, so that what is left over is a number; what becomes too
// large then is none in the end. What is left over is taken with the sign that leaves a zero its own.
FN float usual_divide(float x, float y, bool& odd) {
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(y));
    inverse = __fmaf_rn(__fmaf_rn(-y, inverse, 1.0f), inverse, inverse);
    const float top = __fmul_rn(x, 0x1p64f);
    float quotient = __fmul_rn(top, inverse);
    quotient = __fmaf_rn(-__fmaf_rn(y, quotient, -top), inverse, quotient);
    quotient = __fmul_rn(__fmaf_rn(-__fmaf_rn(y, quotient, -top), inverse, quotient), 0x1p-64f);
    odd |= !(y >= 0x1p-42f) | !(y <= 0x1p22f) | (!(fabsf(quotient) >= 0x1p-125f) & x != 0.0f);
    return quotient;
}
"#,
    ),
    (
        "usual_root",
        r#"
// The square root, likewise.
FN float usual_root(float x, bool& odd) {
    odd |= !(x >= 0.0f) | !(x <= 0x1p60f);
    const float of = __fmul_rn(x, 0x1p64f);
    float inverse;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(fmaxf(of, 0x1p-100f)));
    float y = __fmul_rn(of, inverse), half = __fmul_rn(0.5f, inverse);
    const float error = __fmaf_rn(-y, half, 0.5f);
    y = __fmaf_rn(y, error, y);
    half = __fmaf_rn(half, error, half);
    return __fmul_rn(__fmaf_rn(__fmaf_rn(-y, y, of), half, y), 0x1p-32f);
}
"#,
    ),
    (
        "load_pack",
        r"
// Elements next to each other, in accesses as wide as they allow.
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
        "stream_in_pack",
        r"
// The same, of what need not stay in a cache.
template <int N, class T> FN void stream_in_pack(T* to, const T* from) {
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
        "last_in_pack",
        r#"
// The same, where as much is written: what was read leaves the second cache after what is written, which is so handed to
// the memory in larger parts.
template <int N, class T> FN void last_in_pack(T* to, const T* from) {
    constexpr int bytes = N * (int)sizeof(T);
#if __CUDA_ARCH__ >= 800
    if constexpr (bytes % 16 == 0) {
        unsigned long long policy;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        #pragma unroll
        for (int i = 0; i < bytes / 16; i++) {
            uint4 v;
            asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"((const uint4*)from + i), "l"(policy));
            ((uint4*)to)[i] = v;
        }
        return;
    }
#endif
    load_pack<N>(to, from);
}
"#,
    ),
    (
        "stream_out_pack",
        r"
template <int N, class T> FN void stream_out_pack(T* to, const T* from) {
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
        "to_odd",
        r"
// A single that rounds to a half the way the value itself does: cut towards zero, with a sticky last bit.
FN float sticky(float cut, bool inexact) {
    return inexact ? __uint_as_float(__float_as_uint(cut) | 1u) : cut;
}
FN float to_odd(double x) {
    float cut = __double2float_rz(x);
    return sticky(cut, x == x && (double)cut != x);
}
FN float to_odd(int x) { float cut = __int2float_rz(x); return sticky(cut, (long long)cut != x); }
FN float to_odd(unsigned x) { float cut = __uint2float_rz(x); return sticky(cut, (long long)cut != x); }
FN float to_odd(long long x) {
    float cut = __ll2float_rz(x);
    return sticky(cut, __float2ll_rz(cut) != x);
}
FN float to_odd(unsigned long long x) {
    float cut = __ull2float_rz(x);
    return sticky(cut, __float2ull_rz(cut) != x);
}
FN float to_odd(short x) { return (float)x; }
FN float to_odd(signed char x) { return (float)x; }
FN float to_odd(unsigned short x) { return (float)x; }
FN float to_odd(unsigned char x) { return (float)x; }
FN float to_odd(bool x) { return (float)x; }
",
    ),
    (
        "to_integer",
        r"
// Truncated and saturated; 0 of what is not a number. `high` is the first number beyond the largest integer.
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
// The assembler of CUDA 13.0 takes a negation into the larger or smaller of three numbers and loses it, for sm_90: of
// max(max(x, -y), z) it makes max(x, y, z). So it is not to see one.
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
        "near_quotient",
        r#"
// A quotient of what is at most as large as a divisor between 1 and 2, to its last place but one: the divisor's
// reciprocal is near, and the rest of the division is made up for.
FN float near_quotient(float a, float b) {
    float r, q; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    q = a * r;
    return __fmaf_rn(__fmaf_rn(-b, q, a), r, q);
}
"#,
    ),
    (
        "hyperbolic_tangent",
        r#"
// By a polynomial below 0.65, and by e^2x beyond: within 1.8 ulp of all numbers. Both are computed, and the compiler is
// not told what is chosen: it would branch, and neighbours would wait for each other.
FN float hyperbolic_tangent(float x) {
    const float m = fabsf(x), s = x * x;
    float p = __fmaf_rn(-0.00551516702f, s, 0.0204694234f);
    p = __fmaf_rn(p, s, -0.0536880232f);
    p = __fmaf_rn(p, s, 0.133308306f);
    p = __fmaf_rn(p, s, -0.333332598f);
    float power, part, y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(m * 2.88539008f));
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(part) : "f"(power + 1.0f));
    asm("{ .reg .pred below; setp.lt.f32 below, %1, 0f3F266666; selp.f32 %0, %2, %3, below; }"
        : "=f"(y) : "f"(m), "f"(__fmaf_rn(p * s, m, m)), "f"(__fmaf_rn(-2.0f, part, 1.0f)));
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
    return near_quotient(x >= 0.0f ? 1.0f : power, 1.0f + power);
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
    bool odd_a = a != a, odd_b = b != b;
    if (odd_a != odd_b) return odd_a;
    return odd_a || a == b ? i < j : a < b;
}
",
    ),
    (
        "is_better_max",
        r"
template <class T> FN bool is_better_max(T a, long long i, T b, long long j) {
    if (i < 0 || j < 0) return i >= 0;
    bool odd_a = a != a, odd_b = b != b;
    if (odd_a != odd_b) return odd_a;
    return odd_a || a == b ? i < j : a > b;
}
",
    ),
    (
        "exchange",
        r"
// The value of the lane whose number differs in these bits, or of the one this many below.
template <class T> FN T exchange(T x, int bits) {
    constexpr int words = ((int)sizeof(T) + 3) / 4;
    unsigned w[words] = {};
    memcpy(w, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < words; i++) w[i] = __shfl_xor_sync(~0u, w[i], bits);
    memcpy(&x, w, sizeof(T));
    return x;
}
",
    ),
    (
        "from_below",
        r"
template <class T> FN T from_below(T x, int lanes) {
    constexpr int words = ((int)sizeof(T) + 3) / 4;
    unsigned w[words] = {};
    memcpy(w, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < words; i++) w[i] = __shfl_up_sync(~0u, w[i], lanes);
    memcpy(&x, w, sizeof(T));
    return x;
}
",
    ),
    (
        "from_last",
        r"
template <class T> FN T from_last(T x) {
    constexpr int words = ((int)sizeof(T) + 3) / 4;
    unsigned w[words] = {};
    memcpy(w, &x, sizeof(T));
    #pragma unroll
    for (int i = 0; i < words; i++) w[i] = __shfl_sync(~0u, w[i], 31);
    memcpy(&x, w, sizeof(T));
    return x;
}
",
    ),
    (
        "read_now",
        r"
// What is in memory at this moment.
template <class T> FN T read_now(T* at) {
    T x;
    if constexpr (sizeof(T) == 8) { auto w = *(volatile unsigned long long*)at; memcpy(&x, &w, 8); }
    else if constexpr (sizeof(T) == 4) { auto w = *(volatile unsigned*)at; memcpy(&x, &w, 4); }
    else if constexpr (sizeof(T) == 2) { auto w = *(volatile unsigned short*)at; memcpy(&x, &w, 2); }
    else { auto w = *(volatile unsigned char*)at; memcpy(&x, &w, 1); }
    return x;
}
",
    ),
    (
        "swap_if_same",
        r"
// Puts `next` where `seen` is, if it still is; says whether it was. Bytes and halves go through their word.
template <class T> FN bool swap_if_same(T* at, T seen, T next) {
    if constexpr (sizeof(T) == 8) {
        unsigned long long a, b;
        memcpy(&a, &seen, 8); memcpy(&b, &next, 8);
        return atomicCAS((unsigned long long*)at, a, b) == a;
    } else if constexpr (sizeof(T) == 4) {
        unsigned a, b;
        memcpy(&a, &seen, 4); memcpy(&b, &next, 4);
        return atomicCAS((unsigned*)at, a, b) == a;
    } else {
        unsigned long long address = (unsigned long long)at;
        unsigned* word = (unsigned*)(address & ~3ull);
        unsigned shift = 8 * (unsigned)(address & 3), mask = (sizeof(T) == 2 ? 0xffffu : 0xffu) << shift;
        unsigned a = 0, b = 0;
        memcpy(&a, &seen, sizeof(T)); memcpy(&b, &next, sizeof(T));
        unsigned around = *(volatile unsigned*)word & ~mask;
        unsigned old = around | (a << shift);
        return atomicCAS(word, old, around | (b << shift)) == old;
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

/// The text of a kernel with every function it calls before it.
pub fn with_functions(kernel: &str) -> String {
    let kernel = &begun(kernel);
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

/// The call that every entry begins with.
const BEGIN: &str = "begin_kernel();";

/// A kernel whose entry first waits for the kernels before it. Every thread does: only then is all that came
/// before done when this one is, and a kernel that waits for this one need not know of those.
fn begun(kernel: &str) -> String {
    let entry = kernel.find("__global__");
    let start = entry.and_then(|at| kernel[at..].find('{').map(|brace| at + brace + 1));
    match start {
        Some(start) => format!("{}\n{BEGIN}\n{}", &kernel[..start], &kernel[start..]),
        None => kernel.to_owned(),
    }
}

/// Whether a text's kernel waits by itself for those before it, where the device can: then it may be started
/// before they are done.
pub fn waits(text: &str) -> bool {
    text.contains(BEGIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_gets_the_functions_it_calls_and_those_they_call() {
        let text = with_functions("x = complex_sigmoid(y);");
        for name in ["FN c128 complex_exp(", "FN c128 complex_div(", "FN c128 complex_inverse("] {
            assert!(text.contains(name), "{name} is missing");
        }
        assert!(!text.contains("complex_tanh"));
        assert!(text.find("complex_exp(c128 z)") < text.find("complex_sigmoid(c128 z)"));
    }

    #[test]
    fn an_entry_waits_before_it_does_anything() {
        let text = with_functions("struct A { int x; };\n__global__ void entry(A a) { f(a); }");
        assert!(text.contains("entry(A a) {\nbegin_kernel();\n f(a); }"), "{text}");
        assert!(waits(&text) && !waits("__global__ void entry(A a) { f(a); }"));
    }

    #[test]
    fn functions_use_only_those_before_them() {
        let functions: Vec<Function> = FUNCTIONS.iter().chain(COMPLEX).copied().collect();
        for (position, &(_, text)) in functions.iter().enumerate() {
            for &(later, _) in &functions[position + 1..] {
                let call = format!("{later}(");
                let used = text.match_indices(&call).any(|(at, _)| {
                    !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                });
                assert!(!used, "{text} uses {later}, which comes after it");
            }
        }
    }
}
