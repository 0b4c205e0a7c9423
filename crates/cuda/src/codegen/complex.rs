//! Device functions for complex arithmetic. Algebraic steps use double-double arithmetic, as the reference interpreter
//! does, so that the real and imaginary parts stay accurate under cancellation.

use super::prelude::Function;

/// The functions with their names. A function may call only functions that come before it.
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
        "to_dd",
        r"
// Double-double arithmetic: a value is the unevaluated sum of two doubles, and a zero has the sign of the high one.
// Products must not be contracted to FMAs: their rounding errors are used.
struct dd { double high, low; };
struct dd_complex { dd re, im; };
FN dd to_dd(double x) { return dd{x, 0.0}; }
FN dd two_sum(double a, double b) {
    double high = a + b, error = high - a;
    return dd{high, (a - (high - error)) + (b - error)};
}
FN dd two_product(double a, double b) {
    double high = __dmul_rn(a, b);
    return dd{high, fma(a, b, -high)};
}
// A zero low part must not be added: -0.0 + 0.0 is 0.0.
FN double dd_round(dd a) { return a.low == 0.0 ? a.high : a.high + a.low; }
FN dd dd_scale(dd a, double factor) { return dd{__dmul_rn(a.high, factor), __dmul_rn(a.low, factor)}; }
FN dd operator-(dd a) { return dd{-a.high, -a.low}; }
FN dd operator+(dd a, dd b) {
    if (a.high == 0.0 && b.high == 0.0) return to_dd(a.high + b.high);
    dd sum = two_sum(a.high, b.high), error = two_sum(a.low, b.low);
    sum = two_sum(sum.high, sum.low + error.high);
    return two_sum(sum.high, sum.low + error.low);
}
FN dd operator-(dd a, dd b) { return a + -b; }
FN dd operator*(dd a, dd b) {
    dd product = two_product(a.high, b.high);
    if (product.high == 0.0) return to_dd(product.high);
    return two_sum(product.high, product.low + fma(a.high, b.low, a.low * b.high));
}
FN dd operator/(dd a, dd b) {
    double first = a.high / b.high;
    if (first == 0.0 || !isfinite(first)) return to_dd(first);
    dd error = a - b * to_dd(first);
    double second = error.high / b.high;
    error = error - b * to_dd(second);
    return two_sum(first, second) + to_dd(error.high / b.high);
}
FN dd dd_sqrt(dd a) {
    double root = sqrt(a.high);
    if (root == 0.0) return to_dd(root);
    return two_sum(root, (a - two_product(root, root)).high / (2.0 * root));
}
FN double dd_atan2(dd y, dd x) {
    double angle = atan2(y.high, x.high), square = x.high * x.high + y.high * y.high;
    if (angle == 0.0 || (y.low == 0.0 && x.low == 0.0) || !(square > 1e-300 && square < 1e300)) return angle;
    return angle + (x.high * y.low - y.high * x.low) / square;
}
// A function's value at a.high, corrected by its derivative times a.low.
FN double dd_correct(double value, double low, double slope) {
    return low == 0.0 || !isfinite(value) ? value : value + low * slope;
}
FN double dd_log(dd a) { return dd_correct(log(a.high), a.low, 1.0 / a.high); }
FN double dd_log1p(dd a) { return dd_correct(log1p(a.high), a.low, 1.0 / (1.0 + a.high)); }
FN double dd_asinh(dd a) { return dd_correct(asinh(a.high), a.low, 1.0 / hypot(a.high, 1.0)); }
FN bool is_infinite(c128 z) { return isinf(z.re) ? z.im == z.im : isinf(z.im) && z.re == z.re; }
FN dd_complex to_dd_complex(c128 z) { return dd_complex{to_dd(z.re), to_dd(z.im)}; }
FN dd norm_squared(dd_complex z) { return z.re * z.re + z.im * z.im; }
// Whether squares neither overflow nor lose precision to underflow.
FN bool is_moderate(c128 z) {
    double size = fmax(fabs(z.re), fabs(z.im));
    return size >= 1e-140 && size < 1e140 && z.re == z.re && z.im == z.im;
}
// A value scaled by a power of two, so that its squares neither overflow nor underflow, and half the exponent.
struct scaled_complex { c128 z; int half; };
FN scaled_complex scaled(c128 z) {
    double size = fmax(fabs(z.re), fabs(z.im));
    int half = size >= 1e140 ? -300 : size < 1e-140 ? 300 : 0;
    double factor = ldexp(1.0, 2 * half);
    return scaled_complex{c128{z.re * factor, z.im * factor}, half};
}
// The square root of a finite value. Preserves the signs of zeros.
FN dd_complex dd_complex_sqrt(dd re, dd im) {
    if (re.high == 0.0 && im.high == 0.0) return dd_complex{to_dd(0.0), im};
    double size = fmax(fabs(re.high), fabs(im.high)), factor = 1.0, root = 1.0;
    if (size > 1e150) { factor = exp2(-600.0); root = exp2(300.0); }
    if (size < 1e-150) { factor = exp2(600.0); root = exp2(-300.0); }
    dd x = dd_scale(re, factor), y = dd_scale(im, factor);
    dd modulus = dd_sqrt(norm_squared(dd_complex{x, y}));
    bool is_negative = x.high < 0.0;
    dd large = dd_sqrt(dd_scale(is_negative ? modulus - x : modulus + x, 0.5));
    dd small = dd_scale(y / dd_scale(large, 2.0), root);
    large = dd_scale(large, root);
    if (!is_negative) return dd_complex{large, small};
    bool is_im_negative = signbit(y.high);
    dd part = is_im_negative ? -small : small;
    if (part.high == 0.0) part = to_dd(0.0);
    return dd_complex{part, is_im_negative ? -large : large};
}
",
    ),
    (
        "complex_div",
        r"
FN c128 direction(c128 z) {
    return c128{copysign(isinf(z.re) ? 1.0 : 0.0, z.re), copysign(isinf(z.im) ? 1.0 : 0.0, z.im)};
}
// Where the formula gives NaN, infinities and zeros follow C99 Annex G.
FN c128 complex_div(c128 a, c128 b) {
    bool a_is_finite = isfinite(a.re) && isfinite(a.im), b_is_finite = isfinite(b.re) && isfinite(b.im);
    bool b_is_zero = b.re == 0.0 && b.im == 0.0;
    if (a_is_finite && b_is_finite && !b_is_zero) {
        scaled_complex up = scaled(a), down = scaled(b);
        a = up.z;
        b = down.z;
        dd n = norm_squared(to_dd_complex(b));
        dd re = to_dd(a.re) * to_dd(b.re) - to_dd(a.im) * to_dd(-b.im);
        dd im = to_dd(a.re) * to_dd(-b.im) + to_dd(a.im) * to_dd(b.re);
        // In two steps: the power of two itself may overflow.
        double step = ldexp(1.0, down.half - up.half);
        return c128{dd_round(re / n) * step * step, dd_round(im / n) * step * step};
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
        dd squares = two_product(large, large), error = two_product(small, small);
        real = modulus >= 0.5 && modulus < 2.0 ? dd_log1p(squares - to_dd(1.0) + error) / 2.0
                                               : dd_log(squares + error) / 2.0;
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
    dd shifted = two_sum(1.0, z.re);
    if (!(hypot(z.re, z.im) < 1e140 && shifted.high != 0.0)) return complex_log(c128{z.re + 1.0, z.im});
    dd excess = to_dd(z.re) * two_sum(2.0, z.re) + two_product(z.im, z.im);
    double re = excess.high >= -0.75 && excess.high < 3.0
        ? dd_log1p(excess) / 2.0
        : dd_log(norm_squared(dd_complex{shifted, to_dd(z.im)})) / 2.0;
    return c128{re, copysign(dd_atan2(to_dd(z.im), shifted), z.im)};
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
    dd_complex root = dd_complex_sqrt(to_dd(z.re), to_dd(z.im));
    return c128{dd_round(root.re), copysign(dd_round(root.im), z.im)};
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
    dd_complex root = dd_complex_sqrt(to_dd(s.z.re), to_dd(s.z.im));
    dd modulus = dd_sqrt(norm_squared(to_dd_complex(s.z)));
    double factor = ldexp(1.0, s.half);
    return c128{dd_round(root.re / modulus) * factor, dd_round(-root.im / modulus) * factor};
}
",
    ),
    (
        "complex_sinh",
        r"
// On the axes the zero part stays zero, also beside an infinity.
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
// On the axes the zero part stays zero, also beside an infinity.
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
    dd n = two_product(s, s) + two_product(c, c);
    dd re = to_dd(sinh(z.re + z.re) / 2.0), im = to_dd(sin(z.im + z.im) / 2.0);
    return c128{dd_round(re / n), dd_round(im / n)};
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
    dd modulus = dd_sqrt(norm_squared(to_dd_complex(z)));
    return c128{dd_round(to_dd(z.re) / modulus), dd_round(to_dd(z.im) / modulus)};
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
    dd_complex minus = dd_complex_sqrt(two_sum(1.0, -z.re), to_dd(-z.im));
    dd_complex plus = dd_complex_sqrt(two_sum(1.0, z.re), to_dd(z.im));
    double re = dd_atan2(to_dd(z.re), minus.re * plus.re - minus.im * plus.im);
    return c128{copysign(re, z.re), copysign(dd_asinh(minus.re * plus.im - minus.im * plus.re), z.im)};
}
",
    ),
    (
        "complex_acos",
        r"
FN c128 complex_acos(c128 z) {
    if (is_infinite(z)) return c128{atan2(fabs(z.im), z.re), copysign(fabs(z.re) + fabs(z.im), -z.im)};
    dd_complex minus = dd_complex_sqrt(two_sum(1.0, -z.re), to_dd(-z.im));
    dd_complex plus = dd_complex_sqrt(two_sum(1.0, z.re), to_dd(z.im));
    double im = dd_asinh(plus.re * minus.im - plus.im * minus.re);
    return c128{2.0 * dd_atan2(minus.re, plus.re), copysign(im, -z.im)};
}
",
    ),
    (
        "complex_acosh",
        r"
FN c128 complex_acosh(c128 z) {
    if (is_infinite(z)) return c128{fabs(z.re) + fabs(z.im), atan2(z.im, z.re)};
    dd_complex minus = dd_complex_sqrt(two_sum(z.re, -1.0), to_dd(z.im));
    dd_complex plus = dd_complex_sqrt(two_sum(z.re, 1.0), to_dd(z.im));
    double re = dd_asinh(minus.re * plus.re + minus.im * plus.im);
    return c128{re, copysign(2.0 * dd_atan2(minus.im, plus.re), z.im)};
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
        double inverse = dd_round(to_dd(s.z.re) / norm_squared(to_dd_complex(s.z)));
        return c128{inverse * ldexp(1.0, 2 * s.half), copysign(1.5707963267948966, z.im)};
    }
    dd minus = two_sum(1.0, -size), plus = two_sum(1.0, size), square = two_product(z.im, z.im);
    // The square of a small imaginary part underflows.
    double re = size == 1.0 && fabs(z.im) < 1e-140
        ? (0.6931471805599453 - log(fabs(z.im))) / 2.0
        : dd_log1p(to_dd(4.0 * size) / (minus * minus + square)) / 4.0;
    double im = dd_atan2(to_dd(2.0 * z.im), minus * plus - square) / 2.0;
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
