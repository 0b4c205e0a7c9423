//! The functions of complex numbers that kernels call. What is algebra in them is done with twice the digits, as
//! in the reference interpreter, so that each part of a result has few roundings, also where its terms cancel.

use super::prelude::Function;

/// Each with its name. A function uses only those before it.
pub const COMPLEX: &[Function] = &[
    ("complex_neg", "template <class C> FN C complex_neg(C z) { return C{-z.re, -z.im}; }\n"),
    ("complex_conj", "template <class C> FN C complex_conj(C z) { return C{z.re, -z.im}; }\n"),
    (
        "complex_abs",
        "FN float complex_abs(c64 z) { return (float)hypot((double)z.re, (double)z.im); }\n\
         FN double complex_abs(c128 z) { return hypot(z.re, z.im); }\n",
    ),
    (
        "complex_is_nan",
        "template <class C> FN bool complex_is_nan(C z) { return z.re != z.re || z.im != z.im; }\n",
    ),
    (
        "complex_is_finite",
        "template <class C> FN bool complex_is_finite(C z) { return isfinite(z.re) && isfinite(z.im); }\n",
    ),
    (
        "complex_equal",
        "template <class C> FN bool complex_equal(C a, C b) { return a.re == b.re && a.im == b.im; }\n",
    ),
    (
        "complex_add",
        "template <class C> FN C complex_add(C a, C b) { return C{a.re + b.re, a.im + b.im}; }\n",
    ),
    (
        "complex_sub",
        "template <class C> FN C complex_sub(C a, C b) { return C{a.re - b.re, a.im - b.im}; }\n",
    ),
    (
        "complex_mul",
        "template <class C> FN C complex_mul(C a, C b) {\n\
         return C{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }\n",
    ),
    (
        "wide_of",
        r"
// Numbers of twice the precision: the unrounded sum of two, a zero with the sign of the first. Products are never contracted: their rests count.
struct wide { double high, low; };
struct wide_complex { wide re, im; };
FN wide wide_of(double x) { return wide{x, 0.0}; }
FN wide wide_sum(double a, double b) {
    double high = a + b, rest = high - a;
    return wide{high, (a - (high - rest)) + (b - rest)};
}
FN wide wide_product(double a, double b) {
    double high = __dmul_rn(a, b);
    return wide{high, fma(a, b, -high)};
}
// A negative zero and a positive one are a positive one.
FN double wide_rounded(wide a) { return a.low == 0.0 ? a.high : a.high + a.low; }
FN wide wide_scaled(wide a, double factor) { return wide{__dmul_rn(a.high, factor), __dmul_rn(a.low, factor)}; }
FN wide operator-(wide a) { return wide{-a.high, -a.low}; }
FN wide operator+(wide a, wide b) {
    if (a.high == 0.0 && b.high == 0.0) return wide_of(a.high + b.high);
    wide sum = wide_sum(a.high, b.high), rest = wide_sum(a.low, b.low);
    sum = wide_sum(sum.high, sum.low + rest.high);
    return wide_sum(sum.high, sum.low + rest.low);
}
FN wide operator-(wide a, wide b) { return a + -b; }
FN wide operator*(wide a, wide b) {
    wide product = wide_product(a.high, b.high);
    if (product.high == 0.0) return wide_of(product.high);
    return wide_sum(product.high, product.low + fma(a.high, b.low, a.low * b.high));
}
FN wide operator/(wide a, wide b) {
    double first = a.high / b.high;
    if (first == 0.0 || !isfinite(first)) return wide_of(first);
    wide rest = a - b * wide_of(first);
    double second = rest.high / b.high;
    rest = rest - b * wide_of(second);
    return wide_sum(first, second) + wide_of(rest.high / b.high);
}
FN wide wide_sqrt(wide a) {
    double root = sqrt(a.high);
    if (root == 0.0) return wide_of(root);
    return wide_sum(root, (a - wide_product(root, root)).high / (2.0 * root));
}
FN double wide_atan2(wide y, wide x) {
    double angle = atan2(y.high, x.high), square = x.high * x.high + y.high * y.high;
    if (angle == 0.0 || (y.low == 0.0 && x.low == 0.0) || !(square > 1e-300 && square < 1e300)) return angle;
    return angle + (x.high * y.low - y.high * x.low) / square;
}
// A function of a number, corrected by its slope there.
FN double wide_corrected(double value, double low, double slope) {
    return low == 0.0 || !isfinite(value) ? value : value + low * slope;
}
FN double wide_log(wide a) { return wide_corrected(log(a.high), a.low, 1.0 / a.high); }
FN double wide_log1p(wide a) { return wide_corrected(log1p(a.high), a.low, 1.0 / (1.0 + a.high)); }
FN double wide_asinh(wide a) { return wide_corrected(asinh(a.high), a.low, 1.0 / hypot(a.high, 1.0)); }
FN bool is_infinite(c128 z) { return isinf(z.re) ? z.im == z.im : isinf(z.im) && z.re == z.re; }
FN wide_complex wide_part(c128 z) { return wide_complex{wide_of(z.re), wide_of(z.im)}; }
FN wide norm_squared(wide_complex z) { return z.re * z.re + z.im * z.im; }
// Whether squares neither overflow nor lose digits to underflow.
FN bool is_moderate(c128 z) {
    double size = fmax(fabs(z.re), fabs(z.im));
    return size >= 1e-140 && size < 1e140 && z.re == z.re && z.im == z.im;
}
// A number times a power of two, so that its squares neither overflow nor underflow, and half the exponent.
struct scaled_complex { c128 z; int half; };
FN scaled_complex scaled(c128 z) {
    double size = fmax(fabs(z.re), fabs(z.im));
    int half = size >= 1e140 ? -300 : size < 1e-140 ? 300 : 0;
    double factor = ldexp(1.0, 2 * half);
    return scaled_complex{c128{z.re * factor, z.im * factor}, half};
}
// The root of a finite number, with the signs of zeros kept.
FN wide_complex wide_root(wide re, wide im) {
    if (re.high == 0.0 && im.high == 0.0) return wide_complex{wide_of(0.0), im};
    double size = fmax(fabs(re.high), fabs(im.high)), factor = 1.0, root = 1.0;
    if (size > 1e150) { factor = exp2(-600.0); root = exp2(300.0); }
    if (size < 1e-150) { factor = exp2(600.0); root = exp2(-300.0); }
    wide x = wide_scaled(re, factor), y = wide_scaled(im, factor);
    wide modulus = wide_sqrt(norm_squared(wide_complex{x, y}));
    bool is_left = x.high < 0.0;
    wide large = wide_sqrt(wide_scaled(is_left ? modulus - x : modulus + x, 0.5));
    wide small = wide_scaled(y / wide_scaled(large, 2.0), root);
    large = wide_scaled(large, root);
    if (!is_left) return wide_complex{large, small};
    bool is_below = signbit(y.high);
    wide part = is_below ? -small : small;
    if (part.high == 0.0) part = wide_of(0.0);
    return wide_complex{part, is_below ? -large : large};
}
",
    ),
    (
        "complex_div",
        r"
FN c128 direction(c128 z) {
    return c128{copysign(isinf(z.re) ? 1.0 : 0.0, z.re), copysign(isinf(z.im) ? 1.0 : 0.0, z.im)};
}
// Infinities and zeros as C99 has them, where the formula gives no number.
FN c128 complex_div(c128 a, c128 b) {
    bool a_is_finite = isfinite(a.re) && isfinite(a.im), b_is_finite = isfinite(b.re) && isfinite(b.im);
    bool b_is_zero = b.re == 0.0 && b.im == 0.0;
    if (a_is_finite && b_is_finite && !b_is_zero) {
        scaled_complex up = scaled(a), down = scaled(b);
        a = up.z;
        b = down.z;
        wide n = norm_squared(wide_part(b));
        wide re = wide_of(a.re) * wide_of(b.re) - wide_of(a.im) * wide_of(-b.im);
        wide im = wide_of(a.re) * wide_of(-b.im) + wide_of(a.im) * wide_of(b.re);
        // In two steps: the power itself may be too large for a number.
        double step = ldexp(1.0, down.half - up.half);
        return c128{wide_rounded(re / n) * step * step, wide_rounded(im / n) * step * step};
    }
    double n = b.re * b.re + b.im * b.im;
    c128 quotient = c128{(a.re * b.re + a.im * b.im) / n, (a.im * b.re - a.re * b.im) / n};
    if (quotient.re == quotient.re || quotient.im == quotient.im) return quotient;
    double factor = 1.0;
    if (b_is_zero && (a.re == a.re || a.im == a.im)) {
        double infinity = copysign(__longlong_as_double(0x7ff0000000000000ll), b.re);
        return c128{infinity * a.re, infinity * a.im};
    } else if ((isinf(a.re) || isinf(a.im)) && b_is_finite) {
        a = direction(a);
        factor = __longlong_as_double(0x7ff0000000000000ll);
    } else if ((isinf(b.re) || isinf(b.im)) && a_is_finite) {
        b = direction(b);
        factor = 0.0;
    } else {
        return quotient;
    }
    return c128{factor * (a.re * b.re + a.im * b.im), factor * (a.im * b.re - a.re * b.im)};
}
",
    ),
    (
        "complex_exp",
        r"
FN c128 polar(double r, double angle) { return c128{r * cos(angle), r * sin(angle)}; }
FN c128 complex_exp(c128 z) {
    double r = exp(z.re);
    if (z.im == 0.0) return c128{r, z.im};
    if (isinf(z.re) && !isfinite(z.im)) return z.re < 0.0 ? c128{0.0, 0.0} : c128{r, z.im - z.im};
    return polar(r, z.im);
}
",
    ),
    (
        "complex_exp2",
        "FN c128 complex_exp2(c128 z) {\n\
         double r = exp2(z.re), angle = z.im * 0.6931471805599453;\n\
         if (z.im == 0.0) return c128{r, z.im};\n\
         return c128{r * cos(angle), r * sin(angle)}; }\n",
    ),
    (
        "complex_expm1",
        r"
FN c128 complex_expm1(c128 z) {
    if (z.im == 0.0) return c128{expm1(z.re), z.im};
    if (isinf(z.re)) {
        c128 power = complex_exp(z);
        return c128{power.re - 1.0, power.im};
    }
    double half = sin(z.im / 2.0);
    return c128{expm1(z.re) * cos(z.im) - 2.0 * half * half, exp(z.re) * sin(z.im)};
}
",
    ),
    (
        "complex_log",
        r"
FN c128 complex_log(c128 z) {
    double modulus = hypot(z.re, z.im), real = log(modulus);
    if (is_moderate(z)) {
        double large = fmax(fabs(z.re), fabs(z.im)), small = fmin(fabs(z.re), fabs(z.im));
        wide squares = wide_product(large, large), rest = wide_product(small, small);
        real = modulus >= 0.5 && modulus < 2.0 ? wide_log1p(squares - wide_of(1.0) + rest) / 2.0
                                               : wide_log(squares + rest) / 2.0;
    }
    return c128{real, atan2(z.im, z.re)};
}
",
    ),
    (
        "complex_log2",
        "FN c128 complex_log2(c128 z) { c128 y = complex_log(z);\n\
         return c128{y.re / 0.6931471805599453, y.im / 0.6931471805599453}; }\n",
    ),
    (
        "complex_log1p",
        r"
FN c128 complex_log1p(c128 z) {
    wide shifted = wide_sum(1.0, z.re);
    if (!(hypot(z.re, z.im) < 1e140 && shifted.high != 0.0)) return complex_log(c128{z.re + 1.0, z.im});
    wide excess = wide_of(z.re) * wide_sum(2.0, z.re) + wide_product(z.im, z.im);
    double re = excess.high >= -0.75 && excess.high < 3.0
        ? wide_log1p(excess) / 2.0
        : wide_log(norm_squared(wide_complex{shifted, wide_of(z.im)})) / 2.0;
    return c128{re, copysign(wide_atan2(wide_of(z.im), shifted), z.im)};
}
",
    ),
    (
        "complex_sqrt",
        r"
FN c128 complex_sqrt(c128 z) {
    if (isinf(z.im)) return c128{fabs(z.im), z.im};
    if (!isfinite(z.re) || !isfinite(z.im)) {
        double root = sqrt(hypot(z.re, z.im));
        if (z.re >= 0.0) return c128{root, z.im / root};
        return c128{fabs(z.im) / root, copysign(root, z.im)};
    }
    wide_complex root = wide_root(wide_of(z.re), wide_of(z.im));
    return c128{wide_rounded(root.re), copysign(wide_rounded(root.im), z.im)};
}
",
    ),
    (
        "complex_inverse",
        "FN c128 complex_inverse(c128 z) {\n\
         double n = z.re * z.re + z.im * z.im; return c128{z.re / n, -z.im / n}; }\n",
    ),
    (
        "complex_rsqrt",
        r"
FN c128 complex_rsqrt(c128 z) {
    if (!isfinite(z.re) || !isfinite(z.im) || (z.re == 0.0 && z.im == 0.0)) {
        return complex_div(c128{1.0, 0.0}, complex_sqrt(z));
    }
    scaled_complex s = scaled(z);
    wide_complex root = wide_root(wide_of(s.z.re), wide_of(s.z.im));
    wide modulus = wide_sqrt(norm_squared(wide_part(s.z)));
    double factor = ldexp(1.0, s.half);
    return c128{wide_rounded(root.re / modulus) * factor, wide_rounded(-root.im / modulus) * factor};
}
",
    ),
    (
        "complex_sinh",
        r"
// On the axes the part that is zero stays zero, also beside an infinity.
FN c128 complex_sinh(c128 z) {
    if (z.im == 0.0) return c128{sinh(z.re), z.im};
    if (z.re == 0.0) return c128{z.re, sin(z.im)};
    return c128{sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im)};
}
",
    ),
    (
        "complex_cosh",
        r"
// On the axes the part that is zero stays zero, also beside an infinity.
FN c128 complex_cosh(c128 z) {
    if (z.im == 0.0) return c128{cosh(z.re), z.im * copysign(1.0, z.re)};
    if (z.re == 0.0) return c128{cos(z.im), z.re * copysign(1.0, z.im)};
    return c128{cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im)};
}
",
    ),
    (
        "complex_sin",
        "FN c128 complex_sin(c128 z) { c128 t = complex_sinh(c128{-z.im, z.re}); return c128{t.im, -t.re}; }\n",
    ),
    ("complex_cos", "FN c128 complex_cos(c128 z) { return complex_cosh(c128{-z.im, z.re}); }\n"),
    (
        "complex_tanh",
        r"
FN c128 complex_tanh(c128 z) {
    if (isinf(z.re)) {
        double side = isfinite(z.im) ? sin(z.im + z.im) : z.im;
        return c128{copysign(1.0, z.re), copysign(0.0, side)};
    }
    if (z.im == 0.0) return c128{tanh(z.re), z.im};
    if (z.re == 0.0) return c128{z.re, tan(z.im)};
    if (fabs(z.re) > 20.0) {
        double im = 4.0 * sin(z.im) * cos(z.im) * exp(-2.0 * fabs(z.re));
        return c128{copysign(1.0, z.re), im};
    }
    double s = sinh(z.re), c = cos(z.im);
    wide n = wide_product(s, s) + wide_product(c, c);
    wide re = wide_of(sinh(z.re + z.re) / 2.0), im = wide_of(sin(z.im + z.im) / 2.0);
    return c128{wide_rounded(re / n), wide_rounded(im / n)};
}
",
    ),
    (
        "complex_tan",
        "FN c128 complex_tan(c128 z) { c128 t = complex_tanh(c128{-z.im, z.re}); return c128{t.im, -t.re}; }\n",
    ),
    (
        "complex_sigmoid",
        r"
FN c128 complex_sigmoid(c128 z) {
    if (z.re >= 0.0) {
        c128 p = complex_exp(c128{-z.re, -z.im});
        return complex_inverse(c128{1.0 + p.re, p.im});
    }
    c128 p = complex_exp(z);
    return complex_div(p, c128{p.re + 1.0, p.im});
}
",
    ),
    (
        "complex_sign",
        r"
FN c128 complex_sign(c128 z) {
    if (z.re == 0.0 && z.im == 0.0) return z;
    double n = hypot(z.re, z.im);
    if (!is_moderate(z)) return c128{z.re / n, z.im / n};
    wide modulus = wide_sqrt(norm_squared(wide_part(z)));
    return c128{wide_rounded(wide_of(z.re) / modulus), wide_rounded(wide_of(z.im) / modulus)};
}
",
    ),
    (
        "complex_asin",
        r"
FN c128 complex_asin(c128 z) {
    if (is_infinite(z)) {
        double angle = atan2(fabs(z.re), fabs(z.im));
        return c128{copysign(angle, z.re), copysign(fabs(z.re) + fabs(z.im), z.im)};
    }
    wide_complex minus = wide_root(wide_sum(1.0, -z.re), wide_of(-z.im));
    wide_complex plus = wide_root(wide_sum(1.0, z.re), wide_of(z.im));
    double re = wide_atan2(wide_of(z.re), minus.re * plus.re - minus.im * plus.im);
    return c128{copysign(re, z.re), copysign(wide_asinh(minus.re * plus.im - minus.im * plus.re), z.im)};
}
",
    ),
    (
        "complex_acos",
        r"
FN c128 complex_acos(c128 z) {
    if (is_infinite(z)) return c128{atan2(fabs(z.im), z.re), copysign(fabs(z.re) + fabs(z.im), -z.im)};
    wide_complex minus = wide_root(wide_sum(1.0, -z.re), wide_of(-z.im));
    wide_complex plus = wide_root(wide_sum(1.0, z.re), wide_of(z.im));
    double im = wide_asinh(plus.re * minus.im - plus.im * minus.re);
    return c128{2.0 * wide_atan2(minus.re, plus.re), copysign(im, -z.im)};
}
",
    ),
    (
        "complex_acosh",
        r"
FN c128 complex_acosh(c128 z) {
    if (is_infinite(z)) return c128{fabs(z.re) + fabs(z.im), atan2(z.im, z.re)};
    wide_complex minus = wide_root(wide_sum(z.re, -1.0), wide_of(z.im));
    wide_complex plus = wide_root(wide_sum(z.re, 1.0), wide_of(z.im));
    double re = wide_asinh(minus.re * plus.re + minus.im * plus.im);
    return c128{re, copysign(2.0 * wide_atan2(minus.im, plus.re), z.im)};
}
",
    ),
    (
        "complex_atanh",
        r"
FN c128 complex_atanh(c128 z) {
    double size = fabs(z.re);
    if (is_infinite(z)) return c128{copysign(0.0, z.re), copysign(1.5707963267948966, z.im)};
    if (fmax(size, fabs(z.im)) >= 1e140) {
        scaled_complex s = scaled(z);
        double inverse = wide_rounded(wide_of(s.z.re) / norm_squared(wide_part(s.z)));
        return c128{inverse * ldexp(1.0, 2 * s.half), copysign(1.5707963267948966, z.im)};
    }
    wide minus = wide_sum(1.0, -size), plus = wide_sum(1.0, size), square = wide_product(z.im, z.im);
    // The square of a small imaginary part is too small for a number.
    double re = size == 1.0 && fabs(z.im) < 1e-140
        ? (0.6931471805599453 - log(fabs(z.im))) / 2.0
        : wide_log1p(wide_of(4.0 * size) / (minus * minus + square)) / 4.0;
    double im = wide_atan2(wide_of(2.0 * z.im), minus * plus - square) / 2.0;
    return c128{copysign(re, z.re), copysign(im, z.im)};
}
",
    ),
    (
        "complex_asinh",
        "FN c128 complex_asinh(c128 z) { c128 t = complex_asin(c128{-z.im, z.re}); return c128{t.im, -t.re}; }\n",
    ),
    (
        "complex_atan",
        "FN c128 complex_atan(c128 z) { c128 t = complex_atanh(c128{-z.im, z.re}); return c128{t.im, -t.re}; }\n",
    ),
    (
        "complex_pow",
        r"
FN c128 complex_pow(c128 a, c128 b) {
    if (b.re == 0.0 && b.im == 0.0) return c128{1.0, 0.0};
    double modulus = hypot(a.re, a.im), angle = atan2(a.im, a.re), real = log(modulus);
    return complex_exp(c128{b.re * real - b.im * angle, b.re * angle + b.im * real});
}
",
    ),
];

#[cfg(test)]
mod tests;
