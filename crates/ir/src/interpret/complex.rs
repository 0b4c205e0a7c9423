//! Complex functions in double precision, for which the textbook formulas lose accuracy or overflow. Algebraic
//! steps use [`RealArithmetic`] of higher precision than the result (double-double for `complex128`), so each part
//! is rounded only a few times, even where terms cancel.

use super::double_double::{ComplexOf, RealArithmetic};
use num_complex::Complex;
use std::f64::consts::{FRAC_PI_2, LN_2};

type Complex64 = Complex<f64>;

/// eᶻ − 1, accurate near 0. A zero imaginary part stays zero, even if the real part is infinite.
pub fn exp_m1(z: Complex64) -> Complex64 {
    if z.im == 0.0 {
        return Complex::new(z.re.exp_m1(), z.im);
    }
    if z.re.is_infinite() {
        return exp(z) - 1.0;
    }
    let half_sine = (z.im / 2.0).sin();
    let real = z.re.exp_m1() * z.im.cos() - 2.0 * half_sine * half_sine;
    Complex::new(real, z.re.exp() * z.im.sin())
}

fn complex_of<T: RealArithmetic>(z: Complex64) -> ComplexOf<T> {
    ComplexOf { re: T::from(z.re), im: T::from(z.im) }
}

/// Whether the squares of the parts neither overflow nor lose precision to underflow.
fn squares_in_range(z: Complex64) -> bool {
    let magnitude = z.re.abs().max(z.im.abs());
    (1e-140..1e140).contains(&magnitude)
}

/// Scales by a power of two, so that squares of the parts neither overflow nor underflow. Returns the exponent as
/// well.
fn scale_into_range(z: Complex64) -> (Complex64, i32) {
    let exponent = match z.re.abs().max(z.im.abs()) {
        magnitude if magnitude >= 1e140 => -600,
        magnitude if magnitude < 1e-140 => 600,
        _ => 0,
    };
    (z * 2f64.powi(exponent), exponent)
}

/// ln |z|, where |z|² is 1 + `excess`.
fn ln_of_excess<T: RealArithmetic>(excess: T) -> f64 {
    excess.map(f64::ln_1p, |excess| 1.0 / (1.0 + excess)) / 2.0
}

/// ln z, accurate also for |z| near 1.
pub fn ln<T: RealArithmetic>(z: Complex64) -> Complex64 {
    let modulus = z.norm();
    let real = if !squares_in_range(z) {
        modulus.ln()
    } else if (0.5..2.0).contains(&modulus) {
        let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
        let (large, small) = (T::product(large, large), T::product(small, small));
        // The larger part first: that difference is exact.
        ln_of_excess(large - T::from(1.0) + small)
    } else {
        complex_of::<T>(z).norm_squared().map(f64::ln, |square| 1.0 / square) / 2.0
    };
    Complex::new(real, z.arg())
}

/// ln(1 + z), accurate near 0.
pub fn ln_1p<T: RealArithmetic>(z: Complex64) -> Complex64 {
    let shifted = T::sum(1.0, z.re);
    if !(z.norm() < 1e140 && shifted.high() != 0.0) {
        return ln::<T>(z + 1.0);
    }
    // |1 + z|² − 1
    let excess = T::from(z.re) * T::sum(2.0, z.re) + T::product(z.im, z.im);
    let real = match (-0.75..3.0).contains(&excess.high()) {
        true => ln_of_excess(excess),
        false => {
            let shifted = ComplexOf { re: shifted, im: T::from(z.im) };
            shifted.norm_squared().map(f64::ln, |square| 1.0 / square) / 2.0
        }
    };
    Complex::new(real, T::from(z.im).atan2(shifted).copysign(z.im))
}

/// The principal square root.
pub fn sqrt<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if z.im.is_infinite() {
        return Complex::new(f64::INFINITY, z.im);
    }
    if !z.is_finite() {
        let root = z.norm().sqrt();
        return match z.re >= 0.0 {
            true => Complex::new(root, z.im / root),
            false => Complex::new(z.im.abs() / root, root.copysign(z.im)),
        };
    }
    let root = complex_of::<T>(z).sqrt();
    Complex::new(root.re.round(), root.im.round().copysign(z.im))
}

/// 1 / √z
pub fn rsqrt<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if !z.is_finite() || (z.re == 0.0 && z.im == 0.0) {
        return divide::<T>(Complex::new(1.0, 0.0), sqrt::<T>(z));
    }
    let (z, exponent) = scale_into_range(z);
    let (root, modulus) = (complex_of::<T>(z).sqrt(), complex_of::<T>(z).norm_squared().sqrt());
    let part = |part: T| (part / modulus).round() * 2f64.powi(exponent / 2);
    Complex::new(part(root.re), part(-root.im))
}

/// eᶻ. A zero imaginary part stays zero, even if the real part is infinite.
pub fn exp(z: Complex64) -> Complex64 {
    if z.im == 0.0 { Complex::new(z.re.exp(), z.im) } else { z.exp() }
}

/// 2ᶻ. A zero imaginary part stays zero, even if the real part is infinite.
pub fn exp2(z: Complex64) -> Complex64 {
    if z.im == 0.0 { Complex::new(z.re.exp2(), z.im) } else { z.exp2() }
}

/// aᵇ, and 1 for b = 0.
pub fn pow(a: Complex64, b: Complex64) -> Complex64 {
    if b.re == 0.0 && b.im == 0.0 { Complex::new(1.0, 0.0) } else { exp(b * a.ln()) }
}

/// sinh z. On the axes the zero part stays zero, even beside an infinity.
pub fn sinh(z: Complex64) -> Complex64 {
    match z {
        z if z.im == 0.0 => Complex::new(z.re.sinh(), z.im),
        z if z.re == 0.0 => Complex::new(z.re, z.im.sin()),
        z => z.sinh(),
    }
}

/// cosh z. On the axes the zero part stays zero, even beside an infinity.
pub fn cosh(z: Complex64) -> Complex64 {
    match z {
        z if z.im == 0.0 => Complex::new(z.re.cosh(), z.im * 1f64.copysign(z.re)),
        z if z.re == 0.0 => Complex::new(z.im.cos(), z.re * 1f64.copysign(z.im)),
        z => z.cosh(),
    }
}

/// sin z = −i·sinh(i·z).
pub fn sin(z: Complex64) -> Complex64 {
    let rotated = sinh(Complex::new(-z.im, z.re));
    Complex::new(rotated.im, -rotated.re)
}

/// cos z = cosh(i·z).
pub fn cos(z: Complex64) -> Complex64 {
    cosh(Complex::new(-z.im, z.re))
}

/// a / b, with C99 semantics for infinities and zeros, where the formula gives NaN.
pub fn divide<T: RealArithmetic>(a: Complex64, b: Complex64) -> Complex64 {
    if a.is_finite() && b.is_finite() && (b.re != 0.0 || b.im != 0.0) {
        let ((a, up), (b, down)) = (scale_into_range(a), scale_into_range(b));
        let product = complex_of::<T>(a) * complex_of::<T>(b).conj();
        let square = complex_of::<T>(b).norm_squared();
        // In two steps, since the scale factor itself may overflow.
        let step = 2f64.powi((down - up) / 2);
        let part = |part: T| (part / square).round() * step * step;
        return Complex::new(part(product.re), part(product.im));
    }
    let quotient = a / b;
    if !(quotient.re.is_nan() && quotient.im.is_nan()) {
        return quotient;
    }
    let infinite = |z: Complex64| z.re.is_infinite() || z.im.is_infinite();
    // The direction of an infinite value: infinite parts count as 1, finite parts as 0.
    let direction = |z: Complex64| {
        let part = |x: f64| if x.is_infinite() { 1f64 } else { 0.0 }.copysign(x);
        Complex::new(part(z.re), part(z.im))
    };
    if b.re == 0.0 && b.im == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        Complex::new(infinity * a.re, infinity * a.im)
    } else if infinite(a) && b.is_finite() {
        let a = direction(a);
        let product = a * b.conj();
        Complex::new(f64::INFINITY * product.re, f64::INFINITY * product.im)
    } else if infinite(b) && a.is_finite() {
        let product = a * direction(b).conj();
        Complex::new(0.0 * product.re, 0.0 * product.im)
    } else {
        quotient
    }
}

/// Whether a part is infinite and none is NaN.
fn is_infinite(z: Complex64) -> bool {
    !z.is_finite() && !z.is_nan()
}

/// tanh z, without overflow of cosh.
pub fn tanh<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if z.re.is_infinite() {
        let side = if z.im.is_finite() { (2.0 * z.im).sin() } else { z.im };
        return Complex::new(1f64.copysign(z.re), 0f64.copysign(side));
    }
    if z.im == 0.0 {
        return Complex::new(z.re.tanh(), z.im);
    }
    if z.re == 0.0 {
        return Complex::new(z.re, z.im.tan());
    }
    if z.re.abs() > 20.0 {
        let imaginary = 4.0 * z.im.sin() * z.im.cos() * (-2.0 * z.re.abs()).exp();
        return Complex::new(1f64.copysign(z.re), imaginary);
    }
    // Free of cancellation: sinh 2x / 2 and sin 2y / 2, over sinh² x + cos² y.
    let (sinh, cosine) = (z.re.sinh(), z.im.cos());
    let divisor = T::product(sinh, sinh) + T::product(cosine, cosine);
    let part = |doubled: f64| (T::from(doubled / 2.0) / divisor).round();
    Complex::new(part((2.0 * z.re).sinh()), part((2.0 * z.im).sin()))
}

/// tan z = −i·tanh(i·z), without overflow of cosh.
pub fn tan<T: RealArithmetic>(z: Complex64) -> Complex64 {
    let rotated = tanh::<T>(Complex::new(-z.im, z.re));
    Complex::new(rotated.im, -rotated.re)
}

/// 1 / (1 + e⁻ᶻ), without overflow of e⁻ᶻ.
pub fn sigmoid(z: Complex64) -> Complex64 {
    if z.re >= 0.0 {
        (exp(-z) + 1.0).inv()
    } else {
        let power = exp(z);
        power / (power + 1.0)
    }
}

/// z / |z|; 0 for 0.
pub fn sign<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if z.re == 0.0 && z.im == 0.0 {
        return z;
    }
    if !squares_in_range(z) {
        return z / z.norm();
    }
    let modulus = complex_of::<T>(z).norm_squared().sqrt();
    let part = |part: f64| (T::from(part) / modulus).round();
    Complex::new(part(z.re), part(z.im))
}

/// √(1 − z) and √(1 + z). Preserves the signs of zeros, which select the side of a branch cut.
fn sqrt_one_minus_plus<T: RealArithmetic>(z: Complex64) -> (ComplexOf<T>, ComplexOf<T>) {
    let minus = ComplexOf { re: T::sum(1.0, -z.re), im: T::from(-z.im) };
    let plus = ComplexOf { re: T::sum(1.0, z.re), im: T::from(z.im) };
    (minus.sqrt(), plus.sqrt())
}

/// The inverse hyperbolic sine of a real number.
fn real_asinh<T: RealArithmetic>(x: T) -> f64 {
    x.map(libm::asinh, |x| 1.0 / x.hypot(1.0))
}

/// Inverse sine, by Kahan's cancellation-free formulas.
pub fn asin<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        let angle = z.re.abs().atan2(z.im.abs());
        return Complex::new(angle.copysign(z.re), f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = sqrt_one_minus_plus::<T>(z);
    let real = T::from(z.re).atan2((minus * plus).re);
    Complex::new(real.copysign(z.re), real_asinh((minus.conj() * plus).im).copysign(z.im))
}

/// Inverse cosine, by Kahan's cancellation-free formulas.
pub fn acos<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return Complex::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = sqrt_one_minus_plus::<T>(z);
    let real = 2.0 * minus.re.atan2(plus.re);
    Complex::new(real, real_asinh((plus.conj() * minus).im).copysign(-z.im))
}

/// Inverse hyperbolic cosine, by Kahan's cancellation-free formulas.
pub fn acosh<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return Complex::new(f64::INFINITY, z.im.atan2(z.re));
    }
    let part = |shift: f64| ComplexOf { re: T::sum(z.re, shift), im: T::from(z.im) };
    let (minus, plus) = (part(-1.0).sqrt(), part(1.0).sqrt());
    let real = real_asinh((minus.conj() * plus).re);
    Complex::new(real, 2.0 * minus.im.atan2(plus.re).copysign(z.im))
}

/// Inverse hyperbolic tangent: (ln(1 + z) − ln(1 − z)) / 2, without cancellation.
pub fn atanh<T: RealArithmetic>(z: Complex64) -> Complex64 {
    if is_infinite(z) {
        return Complex::new(0f64.copysign(z.re), FRAC_PI_2.copysign(z.im));
    }
    let magnitude = z.re.abs();
    if magnitude.max(z.im.abs()) >= 1e140 {
        // 1 / z, to full precision.
        let (scaled, exponent) = scale_into_range(z);
        let inverse = (T::from(scaled.re) / complex_of::<T>(scaled).norm_squared()).round();
        return Complex::new(inverse * 2f64.powi(exponent), FRAC_PI_2.copysign(z.im));
    }
    let (minus, plus) = (T::sum(1.0, -magnitude), T::sum(1.0, magnitude));
    let square = T::product(z.im, z.im);
    let real = match magnitude == 1.0 && z.im.abs() < 1e-140 {
        // The square underflows.
        true => (LN_2 - z.im.abs().ln()) / 2.0,
        false => {
            let quotient = T::from(4.0 * magnitude) / (minus.square() + square);
            quotient.map(f64::ln_1p, |quotient| 1.0 / (1.0 + quotient)) / 4.0
        }
    };
    let angle = T::from(2.0 * z.im).atan2(minus * plus - square);
    Complex::new(real.copysign(z.re), (angle / 2.0).copysign(z.im))
}

/// asinh z = −i·asin(i·z).
pub fn asinh<T: RealArithmetic>(z: Complex64) -> Complex64 {
    let rotated = asin::<T>(Complex::new(-z.im, z.re));
    Complex::new(rotated.im, -rotated.re)
}

/// atan z = −i·atanh(i·z).
pub fn atan<T: RealArithmetic>(z: Complex64) -> Complex64 {
    let rotated = atanh::<T>(Complex::new(-z.im, z.re));
    Complex::new(rotated.im, -rotated.re)
}

#[cfg(test)]
mod tests {
    use super::super::double_double::DoubleDouble;
    use super::*;

    fn close(a: Complex64, re: f64, im: f64) {
        let error = (a - Complex::new(re, im)).norm();
        assert!(error <= 1e-14 * Complex::new(re, im).norm(), "{a} is not ({re}, {im})");
    }

    #[test]
    fn small_arguments_keep_precision() {
        let tiny = Complex::new(1e-12, 2e-12);
        // z + z²/2 and z − z²/2.
        close(exp_m1(tiny), 1e-12 - 1.5e-24, 2e-12 + 2e-24);
        close(ln_1p::<DoubleDouble>(tiny), 1e-12 + 1.5e-24, 2e-12 - 2e-24);
        // All of these are z to within z³.
        for function in [
            asin::<DoubleDouble>,
            asinh::<DoubleDouble>,
            atan::<DoubleDouble>,
            atanh::<DoubleDouble>,
        ] {
            close(function(tiny), 1e-12, 2e-12);
        }
        // |(1, t)| = 1 + t²/2.
        assert!((ln::<DoubleDouble>(Complex::new(1.0, 1e-9)).re - 5e-19).abs() < 1e-32);
    }

    /// C99 values on both sides of each branch cut.
    #[test]
    fn sign_of_zero_selects_the_branch_cut_side() {
        use std::f64::consts::{LN_2, PI};
        let cosh = 2f64.acosh();
        for side in [0.0, -0.0f64] {
            let sign = 1f64.copysign(side);
            close(asin::<DoubleDouble>(Complex::new(2.0, side)), FRAC_PI_2, sign * cosh);
            close(acos::<DoubleDouble>(Complex::new(2.0, side)), 0.0, -sign * cosh);
            close(acos::<DoubleDouble>(Complex::new(-2.0, side)), PI, -sign * cosh);
            close(acosh::<DoubleDouble>(Complex::new(-2.0, side)), cosh, sign * PI);
            close(acosh::<DoubleDouble>(Complex::new(0.0, side)), 0.0, sign * FRAC_PI_2);
            close(asinh::<DoubleDouble>(Complex::new(side, 2.0)), sign * cosh, FRAC_PI_2);
            close(atanh::<DoubleDouble>(Complex::new(5.0 / 3.0, side)), LN_2, sign * FRAC_PI_2);
            close(atan::<DoubleDouble>(Complex::new(side, 5.0 / 3.0)), sign * FRAC_PI_2, LN_2);
        }
    }

    /// C99 values at infinities.
    #[test]
    fn infinities_follow_c99() {
        use std::f64::consts::{FRAC_PI_4, PI};
        let infinity = f64::INFINITY;
        let at = |re, im| Complex::new(re, im);
        assert_eq!(sinh(at(infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(cosh(at(-infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(exp(at(infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(sin(at(0.0, infinity)), at(0.0, infinity));
        assert_eq!(cos(at(0.0, infinity)), at(infinity, 0.0));
        assert_eq!(tanh::<DoubleDouble>(at(-infinity, infinity)), at(-1.0, 0.0));
        assert_eq!(asin::<DoubleDouble>(at(infinity, 1.0)), at(FRAC_PI_2, infinity));
        assert_eq!(acos::<DoubleDouble>(at(-infinity, infinity)), at(3.0 * FRAC_PI_4, -infinity));
        assert_eq!(acosh::<DoubleDouble>(at(-infinity, 1.0)), at(infinity, PI));
        assert_eq!(asinh::<DoubleDouble>(at(infinity, infinity)), at(infinity, FRAC_PI_4));
        assert_eq!(atanh::<DoubleDouble>(at(infinity, -1.0)), at(0.0, -FRAC_PI_2));
        assert_eq!(atan::<DoubleDouble>(at(1.0, infinity)), at(FRAC_PI_2, 0.0));
        assert_eq!(divide::<DoubleDouble>(at(1.0, 1.0), at(0.0, 0.0)), at(infinity, infinity));
        assert_eq!(divide::<DoubleDouble>(at(1.0, -1.0), at(infinity, infinity)), at(0.0, 0.0));
        assert_eq!(
            divide::<DoubleDouble>(at(infinity, infinity), at(1.0, 0.0)),
            at(infinity, infinity)
        );
        assert!(divide::<DoubleDouble>(at(0.0, 0.0), at(0.0, 0.0)).re.is_nan());
    }

    #[test]
    fn large_arguments_do_not_overflow() {
        close(tanh::<DoubleDouble>(Complex::new(800.0, 1.0)), 1.0, 0.0);
        close(tanh::<DoubleDouble>(Complex::new(-800.0, 1.0)), -1.0, 0.0);
        close(tan::<DoubleDouble>(Complex::new(1.0, 800.0)), 0.0, 1.0);
        close(sigmoid(Complex::new(-800.0, 1.0)) + 1.0, 1.0, 0.0);
        close(sigmoid(Complex::new(800.0, 1.0)), 1.0, 0.0);
    }

    /// Each case names the zero part and its sign.
    #[test]
    fn signs_of_zeros_are_preserved() {
        fn zero(of: &str, part: f64, is_negative: bool) {
            assert!(part == 0.0 && part.is_sign_negative() == is_negative, "{of}: {part}");
        }
        fn check_zero_signs<T: RealArithmetic>(digits: &str) {
            let at = |re: f64, im: f64| Complex::new(re, im);
            let cases = [
                ("asin(-0 + i)", asin::<T>(at(-0.0, 1.0)).re, true),
                ("asin(0 + i)", asin::<T>(at(0.0, 1.0)).re, false),
                ("asinh(-1 + 0i)", asinh::<T>(at(-1.0, 0.0)).im, false),
                ("asinh(-1 - 0i)", asinh::<T>(at(-1.0, -0.0)).im, true),
                ("ln_1p(1 - 0i)", ln_1p::<T>(at(1.0, -0.0)).im, true),
                ("ln_1p(1 + 0i)", ln_1p::<T>(at(1.0, 0.0)).im, false),
                ("sign(-0 + i)", sign::<T>(at(-0.0, 1.0)).re, true),
                ("sign(2 - 0i)", sign::<T>(at(2.0, -0.0)).im, true),
                ("rsqrt(4 + 0i)", rsqrt::<T>(at(4.0, 0.0)).im, true),
                ("rsqrt(4 - 0i)", rsqrt::<T>(at(4.0, -0.0)).im, false),
                ("rsqrt(1e200 + 0i)", rsqrt::<T>(at(1e200, 0.0)).im, true),
                ("(1 - 0i) / (1 + 0i)", divide::<T>(at(1.0, -0.0), at(1.0, 0.0)).im, true),
                ("(-1 + 0i) / (1 + 0i)", divide::<T>(at(-1.0, 0.0), at(1.0, 0.0)).im, false),
                ("tanh(-0 + i)", tanh::<T>(at(-0.0, 1.0)).re, true),
                ("tanh(1 - 0i)", tanh::<T>(at(1.0, -0.0)).im, true),
                ("sigmoid(1 + 0i)", sigmoid(at(1.0, 0.0)).im, false),
                ("acos(0.5 + 0i)", acos::<T>(at(0.5, 0.0)).im, true),
                ("acosh(2 - 0i)", acosh::<T>(at(2.0, -0.0)).im, true),
            ];
            for (of, part, is_negative) in cases {
                zero(&format!("{of} with {digits}"), part, is_negative);
            }
        }
        check_zero_signs::<f64>("f64");
        check_zero_signs::<DoubleDouble>("DoubleDouble");
    }

    #[test]
    fn nan_arguments_give_nan() {
        for im in [0.0, -0.0f64] {
            let z = Complex::new(f64::NAN, im);
            for value in
                [acos::<f64>(z), acos::<DoubleDouble>(z), acosh::<f64>(z), acosh::<DoubleDouble>(z)]
            {
                assert!(value.re.is_nan() && value.im.is_nan(), "{value}");
            }
            assert!(asin::<DoubleDouble>(z).re.is_nan() && asinh::<DoubleDouble>(z).re.is_nan());
            assert!(sqrt::<f64>(z).re.is_nan() && sqrt::<DoubleDouble>(z).re.is_nan());
        }
    }

    /// The imaginary part stays zero where e to the real part is infinite.
    #[test]
    fn real_arguments_give_real_results() {
        for re in [800.0, f64::INFINITY] {
            let z = Complex::new(re, -0.0);
            for value in [exp(z), exp_m1(z), exp2(z * 2.0), sinh(z), cosh(z)] {
                assert!(value.re == f64::INFINITY && value.im == 0.0, "{value}");
                assert!(value.im.is_sign_negative());
            }
        }
        assert_eq!(pow(Complex::new(1e300, 0.0), Complex::new(2.0, 0.0)).im, 0.0);
        let (below, infinity) = (Complex::new(f64::NEG_INFINITY, 1.0), f64::INFINITY);
        assert_eq!(exp_m1(below).re, -1.0);
        assert_eq!(sqrt::<DoubleDouble>(below), Complex::new(0.0, infinity));
        assert_eq!(sqrt::<DoubleDouble>(-below), Complex::new(infinity, 0.0));
    }

    /// No intermediate square or power of two overflows.
    #[test]
    fn division_does_not_overflow_internally() {
        fn check<T: RealArithmetic>() {
            for (a, b) in [(1e-300, 1e-300), (1e300, 1e300), (1e300, 1e10), (1e-10, 1e295)] {
                let quotient = divide::<T>(Complex::new(3.0 * a, a), Complex::new(b, b));
                close(quotient, 2.0 * (a / b), -(a / b));
            }
            assert_eq!(divide::<T>(Complex::ZERO, Complex::new(1e-300, 0.0)), Complex::ZERO);
            for magnitude in [1e-300, 1.0, 1e300] {
                let root = magnitude.sqrt();
                close(
                    rsqrt::<T>(Complex::new(-3.0 * magnitude, 4.0 * magnitude)),
                    0.2 / root,
                    -0.4 / root,
                );
            }
            // ln(2 / y) / 2, and 1 / z.
            close(
                atanh::<T>(Complex::new(1.0, 1e-170)),
                196.06630649477386,
                std::f64::consts::FRAC_PI_4,
            );
            assert_eq!(atanh::<T>(Complex::new(-1.0, 0.0)).re, f64::NEG_INFINITY);
            let real = atanh::<T>(Complex::new(-1e200, 1e200)).re;
            assert!((real / -5e-201 - 1.0).abs() < 1e-14, "{real}");
            let real = atanh::<T>(Complex::new(1e308, 0.0)).re;
            assert!((real / 1e-308 - 1.0).abs() < 1e-14, "{real}");
        }
        check::<f64>();
        check::<DoubleDouble>();
    }

    /// Near zeros of the cosine.
    #[test]
    fn tanh_is_tan_on_the_imaginary_axis() {
        let y = FRAC_PI_2 - 1e-10;
        assert_eq!(tanh::<DoubleDouble>(Complex::new(0.0, y)), Complex::new(0.0, y.tan()));
    }

    #[test]
    fn ordinary_arguments_agree_with_the_definitions() {
        let one = Complex::new(1.0, 0.0);
        for z in [Complex::new(0.7, -0.4), Complex::new(-1.5, 2.0), Complex::new(3.0, 0.25)] {
            let expect = |found: Complex64, z: Complex64| close(found, z.re, z.im);
            expect(exp_m1(z), z.exp() - one);
            expect(ln::<DoubleDouble>(z), z.ln());
            expect(ln_1p::<DoubleDouble>(z), (one + z).ln());
            expect(asin::<DoubleDouble>(z), z.asin());
            expect(acos::<DoubleDouble>(z), z.acos());
            expect(atan::<DoubleDouble>(z), z.atan());
            expect(asinh::<DoubleDouble>(z), z.asinh());
            expect(acosh::<DoubleDouble>(z), z.acosh());
            expect(atanh::<DoubleDouble>(z), z.atanh());
            expect(tan::<DoubleDouble>(z), z.sin() / z.cos());
            expect(tanh::<DoubleDouble>(z), z.sinh() / z.cosh());
            expect(sigmoid(z), one / (one + (-z).exp()));
            assert!((sign::<DoubleDouble>(z).norm() - 1.0).abs() < 1e-15);
        }
        assert_eq!(sign::<DoubleDouble>(Complex::new(0.0, 0.0)), Complex::new(0.0, 0.0));
    }

    /// Values to full precision, computed with 40 digits.
    #[test]
    fn each_part_is_within_two_ulp() {
        type Function = fn(Complex64) -> Complex64;
        let ulps = |a: f64, b: f64| (a.to_bits() as i64 - b.to_bits() as i64).abs();
        let cases: [(Function, f64, f64, f64, f64); 65] = [
            (sqrt::<DoubleDouble>, 0.123, -2.25, 1.0900365801106442, -1.0320754555648095),
            (sqrt::<DoubleDouble>, -1.75, 0.0625, 0.023619015276229085, 1.323086489192078),
            (sqrt::<DoubleDouble>, 3.5, 4.25, 2.1219895011976746, 1.0014187152201397),
            (sqrt::<DoubleDouble>, 0.9995, 0.03125, 0.9998720933656444, 0.01562699879682118),
            (sqrt::<DoubleDouble>, -0.75, -1e-05, 5.773502691767958e-06, -0.8660254038036836),
            (rsqrt::<DoubleDouble>, 0.123, -2.25, 0.48373842877737433, 0.4580163348315676),
            (rsqrt::<DoubleDouble>, -1.75, 0.0625, 0.013487980870474672, -0.7555677087929562),
            (rsqrt::<DoubleDouble>, 3.5, 4.25, 0.38541831897327683, -0.18188832583322484),
            (rsqrt::<DoubleDouble>, 0.9995, 0.03125, 0.9998836858343275, -0.015627179975489295),
            (rsqrt::<DoubleDouble>, -0.75, -1e-05, 7.698003588339678e-06, 1.1547005383022715),
            (ln::<DoubleDouble>, 0.123, -2.25, 0.8124222101767555, -1.5161840187915265),
            (ln::<DoubleDouble>, -1.75, 0.0625, 0.560253136651423, 3.1058935409104693),
            (ln::<DoubleDouble>, 3.5, 4.25, 1.705780084348851, 0.8818719385800352),
            (ln::<DoubleDouble>, 0.9995, 0.03125, -1.159388441706189e-05, 0.03125545098752487),
            (ln::<DoubleDouble>, -0.75, -1e-05, -0.28768207236289206, -3.1415793202564606),
            (ln_1p::<DoubleDouble>, 0.123, -2.25, 0.9221466261123495, -1.1078600817146458),
            (ln_1p::<DoubleDouble>, -1.75, 0.0625, -0.28422185102949404, 3.058451421701352),
            (ln_1p::<DoubleDouble>, 3.5, 4.25, 1.822888106848215, 0.7568345055586884),
            (ln_1p::<DoubleDouble>, 0.9995, 0.03125, 0.693019265761645, 0.01562763489336513),
            (ln_1p::<DoubleDouble>, -0.75, -1e-05, -1.3862943603198907, -3.999999997866667e-05),
            (asin::<DoubleDouble>, 0.123, -2.25, 0.049923776793922625, -1.5512973317065586),
            (asin::<DoubleDouble>, -1.75, 0.0625, -1.527324230090165, 1.1599618756113022),
            (asin::<DoubleDouble>, 3.5, 4.25, 0.6808699499871509, 2.400602205156416),
            (asin::<DoubleDouble>, 0.9995, 0.03125, 1.3930524059769938, 0.17583640652129745),
            (asin::<DoubleDouble>, -0.75, -1e-05, -0.8480620788518932, -1.511857891757164e-05),
            (acos::<DoubleDouble>, 0.123, -2.25, 1.520872550000974, 1.5512973317065586),
            (acos::<DoubleDouble>, -1.75, 0.0625, 3.098120556885062, -1.1599618756113022),
            (acos::<DoubleDouble>, 3.5, 4.25, 0.8899263768077458, -2.400602205156416),
            (acos::<DoubleDouble>, 0.9995, 0.03125, 0.1777439208179028, -0.17583640652129745),
            (acos::<DoubleDouble>, -0.75, -1e-05, 2.4188584056467897, 1.511857891757164e-05),
            (acosh::<DoubleDouble>, 0.123, -2.25, 1.5512973317065586, -1.520872550000974),
            (acosh::<DoubleDouble>, -1.75, 0.0625, 1.1599618756113022, 3.098120556885062),
            (acosh::<DoubleDouble>, 3.5, 4.25, 2.400602205156416, 0.8899263768077458),
            (acosh::<DoubleDouble>, 0.9995, 0.03125, 0.17583640652129745, 0.1777439208179028),
            (acosh::<DoubleDouble>, -0.75, -1e-05, 1.511857891757164e-05, -2.4188584056467897),
            (asinh::<DoubleDouble>, 0.123, -2.25, 1.452646900580916, -1.5098745415883679),
            (asinh::<DoubleDouble>, -1.75, 0.0625, -1.3263151142706062, 0.031002414831582958),
            (asinh::<DoubleDouble>, 3.5, 4.25, 2.397441320415925, 0.8737407509475162),
            (asinh::<DoubleDouble>, 0.9995, 0.03125, 0.8811926766284542, 0.02210171298814713),
            (asinh::<DoubleDouble>, -0.75, -1e-05, -0.6931471805791453, -7.999999999993174e-06),
            (atan::<DoubleDouble>, 0.123, -2.25, 1.5406682545661579, -0.47570455304647835),
            (atan::<DoubleDouble>, -1.75, 0.0625, -1.0520642115370515, 0.01537468056927238),
            (atan::<DoubleDouble>, 3.5, 4.25, 1.4535884889329913, 0.13921807549741796),
            (atan::<DoubleDouble>, 0.9995, 0.03125, 0.7853923636225612, 0.01563027057686113),
            (atan::<DoubleDouble>, -0.75, -1e-05, -0.6435011088240044, -6.399999999939926e-06),
            (atanh::<DoubleDouble>, 0.123, -2.25, 0.020249218520574784, -1.1534966168302545),
            (atanh::<DoubleDouble>, -1.75, 0.0625, -0.6480404802466053, 1.5405873912714965),
            (atanh::<DoubleDouble>, 3.5, 4.25, 0.11369639807944128, 1.4296774498061953),
            (atanh::<DoubleDouble>, 0.9995, 0.03125, 2.079313592471288, 0.78521266340596),
            (atanh::<DoubleDouble>, -0.75, -1e-05, -0.9729550741358199, -2.2857142846445093e-05),
            (sign::<DoubleDouble>, 0.123, -2.25, 0.0545851651451711, -0.9985091185092274),
            (sign::<DoubleDouble>, -1.75, 0.0625, -0.9993628543475496, 0.03569153051241249),
            (sign::<DoubleDouble>, 3.5, 4.25, 0.6357072528610997, 0.7719302356170497),
            (sign::<DoubleDouble>, 0.9995, 0.03125, 0.9995115881546507, 0.03125036231098832),
            (sign::<DoubleDouble>, -0.75, -1e-05, -0.9999999999111111, -1.333333333214815e-05),
            (tanh::<DoubleDouble>, 0.123, -2.25, 0.30317727719744125, 1.1926697274126088),
            (tanh::<DoubleDouble>, -1.75, 0.0625, -0.9417936948236539, 0.007097897798482898),
            (tanh::<DoubleDouble>, 3.5, 4.25, 1.0010974685652216, 0.0014578513984914799),
            (tanh::<DoubleDouble>, 0.9995, 0.03125, 0.7616966205741303, 0.013131034472182827),
            (tanh::<DoubleDouble>, -0.75, -1e-05, -0.6351489524251794, -5.965858082771506e-06),
            (tan::<DoubleDouble>, 0.123, -2.25, 0.005295891271803395, -0.9786664280560936),
            (tan::<DoubleDouble>, -1.75, 0.0625, 4.9152716169196236, 1.7560994291784136),
            (tan::<DoubleDouble>, 3.5, 4.25, 0.00026726997644534623, 0.9996932208067263),
            (tan::<DoubleDouble>, 0.9995, 0.03125, 1.550515841971911, 0.10659442089880833),
            (tan::<DoubleDouble>, -0.75, -1e-05, -0.9315964597700622, -1.8678719639559582e-05),
        ];
        for (index, (function, x, y, re, im)) in cases.into_iter().enumerate() {
            let found = function(Complex::new(x, y));
            let apart = ulps(found.re, re).max(ulps(found.im, im));
            assert!(apart <= 2, "case {index} at ({x}, {y}): {found} is not ({re}, {im})");
        }
    }
}
