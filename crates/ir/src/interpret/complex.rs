//! Functions of complex numbers in double precision, where the textbook formula loses digits or
//! overflows.

use num_complex::Complex;
use std::f64::consts::FRAC_PI_2;

type Number = Complex<f64>;

/// eᶻ − 1, accurate near 0.
pub fn exp_m1(z: Number) -> Number {
    let half_sine = (z.im / 2.0).sin();
    let real = z.re.exp_m1() * z.im.cos() - 2.0 * half_sine * half_sine;
    Complex::new(real, z.re.exp() * z.im.sin())
}

/// ln z, also where |z| is close to 1.
pub fn ln(z: Number) -> Number {
    let modulus = z.norm();
    let real = if (0.5..2.0).contains(&modulus) {
        // ln |z| = ln(|z|²) / 2, and |z|² − 1 is formed without first rounding |z|².
        let (large, small) = (z.re.abs().max(z.im.abs()), z.re.abs().min(z.im.abs()));
        small.mul_add(small, (large - 1.0) * (large + 1.0)).ln_1p() / 2.0
    } else {
        modulus.ln()
    };
    Complex::new(real, z.arg())
}

/// ln(1 + z), accurate near 0.
pub fn ln_1p(z: Number) -> Number {
    if z.norm() < 0.5 {
        let square = z.re * (2.0 + z.re) + z.im * z.im;
        Complex::new(square.ln_1p() / 2.0, z.im.atan2(1.0 + z.re))
    } else {
        ln(z + 1.0)
    }
}

/// eᶻ. A zero imaginary part stays one, also where the real part is infinite.
pub fn exp(z: Number) -> Number {
    if z.im == 0.0 { Complex::new(z.re.exp(), z.im) } else { z.exp() }
}

/// sinh z. On the axes the part that is zero stays zero, also beside an infinity.
pub fn sinh(z: Number) -> Number {
    match z {
        z if z.im == 0.0 => Complex::new(z.re.sinh(), z.im),
        z if z.re == 0.0 => Complex::new(z.re, z.im.sin()),
        z => z.sinh(),
    }
}

/// cosh z. On the axes the part that is zero stays zero, also beside an infinity.
pub fn cosh(z: Number) -> Number {
    match z {
        z if z.im == 0.0 => Complex::new(z.re.cosh(), z.im * 1f64.copysign(z.re)),
        z if z.re == 0.0 => Complex::new(z.im.cos(), z.re * 1f64.copysign(z.im)),
        z => z.cosh(),
    }
}

/// sin z: sinh of z turned by a quarter, turned back.
pub fn sin(z: Number) -> Number {
    let turned = sinh(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}

/// cos z: cosh of z turned by a quarter.
pub fn cos(z: Number) -> Number {
    cosh(Complex::new(-z.im, z.re))
}

/// a / b, with infinities and zeros as C99 has them, where the formula gives NaN.
pub fn divide(a: Number, b: Number) -> Number {
    let quotient = a / b;
    if !(quotient.re.is_nan() && quotient.im.is_nan()) {
        return quotient;
    }
    let infinite = |z: Number| z.re.is_infinite() || z.im.is_infinite();
    // The direction of an infinite number: its infinite parts count one, its finite parts nothing.
    let direction = |z: Number| {
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

/// Whether one part is infinite and none is NaN.
fn is_infinite(z: Number) -> bool {
    !z.is_finite() && !z.is_nan()
}

/// tanh z, also where cosh overflows.
pub fn tanh(z: Number) -> Number {
    if z.re.is_infinite() {
        let side = if z.im.is_finite() { (2.0 * z.im).sin() } else { z.im };
        return Complex::new(1f64.copysign(z.re), 0f64.copysign(side));
    }
    if z.re.abs() > 20.0 {
        let imaginary = 4.0 * z.im.sin() * z.im.cos() * (-2.0 * z.re.abs()).exp();
        return Complex::new(1f64.copysign(z.re), imaginary);
    }
    z.tanh()
}

/// tan z, also where cosh overflows.
pub fn tan(z: Number) -> Number {
    let turned = tanh(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}

/// 1 / (1 + e⁻ᶻ), also where e⁻ᶻ overflows.
pub fn sigmoid(z: Number) -> Number {
    if z.re >= 0.0 {
        (Complex::new(1.0, 0.0) + (-z).exp()).inv()
    } else {
        let power = z.exp();
        power / (power + 1.0)
    }
}

/// z / |z|, and 0 of 0.
pub fn sign(z: Number) -> Number {
    if z.re == 0.0 && z.im == 0.0 { z } else { z / z.norm() }
}

/// √(1 − z) and √(1 + z), with the signs of zeros kept, so that branch cuts are on their side.
fn roots(z: Number) -> (Number, Number) {
    (Complex::new(1.0 - z.re, -z.im).sqrt(), Complex::new(1.0 + z.re, z.im).sqrt())
}

/// The inverse sine, by Kahan's formulas, which do not cancel.
pub fn asin(z: Number) -> Number {
    if is_infinite(z) {
        let angle = z.re.abs().atan2(z.im.abs());
        return Complex::new(angle.copysign(z.re), f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = roots(z);
    let real = z.re.atan2((minus * plus).re);
    Complex::new(real, libm::asinh((minus.conj() * plus).im))
}

/// The inverse cosine, by Kahan's formulas, which do not cancel.
pub fn acos(z: Number) -> Number {
    if is_infinite(z) {
        return Complex::new(z.im.abs().atan2(z.re), -f64::INFINITY.copysign(z.im));
    }
    let (minus, plus) = roots(z);
    let real = 2.0 * minus.re.atan2(plus.re);
    Complex::new(real, libm::asinh((plus.conj() * minus).im))
}

/// The inverse hyperbolic cosine, by Kahan's formulas, which do not cancel.
pub fn acosh(z: Number) -> Number {
    if is_infinite(z) {
        return Complex::new(f64::INFINITY, z.im.atan2(z.re));
    }
    let minus = Complex::new(z.re - 1.0, z.im).sqrt();
    let plus = Complex::new(z.re + 1.0, z.im).sqrt();
    let real = libm::asinh((minus.conj() * plus).re);
    Complex::new(real, 2.0 * minus.im.atan2(plus.re))
}

/// The inverse hyperbolic tangent: (ln(1 + z) − ln(1 − z)) / 2 without cancelling.
pub fn atanh(z: Number) -> Number {
    if is_infinite(z) {
        return Complex::new(0f64.copysign(z.re), FRAC_PI_2.copysign(z.im));
    }
    let (minus, plus) = (1.0 - z.re, 1.0 + z.re);
    let real = (4.0 * z.re / (minus * minus + z.im * z.im)).ln_1p() / 4.0;
    Complex::new(real, (z.im.atan2(plus) - (-z.im).atan2(minus)) / 2.0)
}

/// The inverse hyperbolic sine: asin of z turned by a quarter, turned back.
pub fn asinh(z: Number) -> Number {
    let turned = asin(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}

/// The inverse tangent: atanh of z turned by a quarter, turned back.
pub fn atan(z: Number) -> Number {
    let turned = atanh(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Number, re: f64, im: f64) {
        let error = (a - Complex::new(re, im)).norm();
        assert!(error <= 1e-14 * Complex::new(re, im).norm(), "{a} is not ({re}, {im})");
    }

    #[test]
    fn small_arguments_keep_their_digits() {
        let tiny = Complex::new(1e-12, 2e-12);
        // z + z²/2 and z − z²/2.
        close(exp_m1(tiny), 1e-12 - 1.5e-24, 2e-12 + 2e-24);
        close(ln_1p(tiny), 1e-12 + 1.5e-24, 2e-12 - 2e-24);
        // All of these are z to within z³.
        for function in [asin, asinh, atan, atanh] {
            close(function(tiny), 1e-12, 2e-12);
        }
        // |(1, t)| = 1 + t²/2.
        assert!((ln(Complex::new(1.0, 1e-9)).re - 5e-19).abs() < 1e-32);
    }

    /// C99's values on the two sides of each cut.
    #[test]
    fn branch_cuts_are_on_the_side_of_the_zero() {
        use std::f64::consts::{LN_2, PI};
        let cosh = 2f64.acosh();
        for side in [0.0, -0.0f64] {
            let sign = 1f64.copysign(side);
            close(asin(Complex::new(2.0, side)), FRAC_PI_2, sign * cosh);
            close(acos(Complex::new(2.0, side)), 0.0, -sign * cosh);
            close(acos(Complex::new(-2.0, side)), PI, -sign * cosh);
            close(acosh(Complex::new(-2.0, side)), cosh, sign * PI);
            close(acosh(Complex::new(0.0, side)), 0.0, sign * FRAC_PI_2);
            close(asinh(Complex::new(side, 2.0)), sign * cosh, FRAC_PI_2);
            close(atanh(Complex::new(5.0 / 3.0, side)), LN_2, sign * FRAC_PI_2);
            close(atan(Complex::new(side, 5.0 / 3.0)), sign * FRAC_PI_2, LN_2);
        }
    }

    /// C99's values at infinities.
    #[test]
    fn infinities_have_their_places() {
        use std::f64::consts::{FRAC_PI_4, PI};
        let infinity = f64::INFINITY;
        let at = |re, im| Complex::new(re, im);
        assert_eq!(sinh(at(infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(cosh(at(-infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(exp(at(infinity, 0.0)), at(infinity, 0.0));
        assert_eq!(sin(at(0.0, infinity)), at(0.0, infinity));
        assert_eq!(cos(at(0.0, infinity)), at(infinity, 0.0));
        assert_eq!(tanh(at(-infinity, infinity)), at(-1.0, 0.0));
        assert_eq!(asin(at(infinity, 1.0)), at(FRAC_PI_2, infinity));
        assert_eq!(acos(at(-infinity, infinity)), at(3.0 * FRAC_PI_4, -infinity));
        assert_eq!(acosh(at(-infinity, 1.0)), at(infinity, PI));
        assert_eq!(asinh(at(infinity, infinity)), at(infinity, FRAC_PI_4));
        assert_eq!(atanh(at(infinity, -1.0)), at(0.0, -FRAC_PI_2));
        assert_eq!(atan(at(1.0, infinity)), at(FRAC_PI_2, 0.0));
        assert_eq!(divide(at(1.0, 1.0), at(0.0, 0.0)), at(infinity, infinity));
        assert_eq!(divide(at(1.0, -1.0), at(infinity, infinity)), at(0.0, 0.0));
        assert_eq!(divide(at(infinity, infinity), at(1.0, 0.0)), at(infinity, infinity));
        assert!(divide(at(0.0, 0.0), at(0.0, 0.0)).re.is_nan());
    }

    #[test]
    fn large_arguments_do_not_overflow() {
        close(tanh(Complex::new(800.0, 1.0)), 1.0, 0.0);
        close(tanh(Complex::new(-800.0, 1.0)), -1.0, 0.0);
        close(tan(Complex::new(1.0, 800.0)), 0.0, 1.0);
        close(sigmoid(Complex::new(-800.0, 1.0)) + 1.0, 1.0, 0.0);
        close(sigmoid(Complex::new(800.0, 1.0)), 1.0, 0.0);
    }

    #[test]
    fn ordinary_arguments_agree_with_the_definitions() {
        let one = Complex::new(1.0, 0.0);
        for z in [Complex::new(0.7, -0.4), Complex::new(-1.5, 2.0), Complex::new(3.0, 0.25)] {
            let expect = |found: Number, z: Number| close(found, z.re, z.im);
            expect(exp_m1(z), z.exp() - one);
            expect(ln(z), z.ln());
            expect(ln_1p(z), (one + z).ln());
            expect(asin(z), z.asin());
            expect(acos(z), z.acos());
            expect(atan(z), z.atan());
            expect(asinh(z), z.asinh());
            expect(acosh(z), z.acosh());
            expect(atanh(z), z.atanh());
            expect(tan(z), z.sin() / z.cos());
            expect(tanh(z), z.sinh() / z.cosh());
            expect(sigmoid(z), one / (one + (-z).exp()));
            assert!((sign(z).norm() - 1.0).abs() < 1e-15);
        }
        assert_eq!(sign(Complex::new(0.0, 0.0)), Complex::new(0.0, 0.0));
    }
}
