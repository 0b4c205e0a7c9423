use super::*;
use crate::graph::{binary_accepts, binary_dtype, compare_accepts, unary_accepts, unary_dtype};
use half::{bf16, f16};

fn unary<T: Element>(op: UnaryOp, x: T) -> T {
    let result = scalar_unary(op, x.to_scalar());
    assert_eq!(result.dtype(), T::DTYPE);
    T::from_scalar(result)
}

fn binary<T: Element>(op: BinaryOp, a: T, b: T) -> T {
    let result = scalar_binary(op, a.to_scalar(), b.to_scalar());
    assert_eq!(result.dtype(), T::DTYPE);
    T::from_scalar(result)
}

fn compare<T: Element>(op: CompareOp, a: T, b: T) -> bool {
    scalar_compare(op, a.to_scalar(), b.to_scalar())
}

#[test]
fn every_accepted_dtype_is_computed_and_has_the_inferred_dtype() {
    for dtype in DType::ALL {
        let one = Scalar::one(dtype);
        for op in UnaryOp::ALL.into_iter().filter(|&op| unary_accepts(op).contains(dtype)) {
            assert_eq!(scalar_unary(op, one).dtype(), unary_dtype(op, dtype), "{op:?} {dtype}");
        }
        for op in BinaryOp::ALL.into_iter().filter(|&op| binary_accepts(op).contains(dtype)) {
            let result = scalar_binary(op, one, one);
            assert_eq!(result.dtype(), binary_dtype(op, dtype), "{op:?} {dtype}");
        }
        for op in CompareOp::ALL.into_iter().filter(|&op| compare_accepts(op).contains(dtype)) {
            let holds = matches!(op, CompareOp::Eq | CompareOp::Le | CompareOp::Ge);
            assert_eq!(scalar_compare(op, one, one), holds, "{op:?} {dtype}");
        }
    }
}

#[test]
fn integer_division_by_zero_and_overflow() {
    use BinaryOp::{Div, Rem};
    assert_eq!(binary(Div, 7i32, 0), -1);
    assert_eq!(binary(Div, 7u16, 0), u16::MAX);
    assert_eq!(binary(Div, 7u64, 0), u64::MAX);
    assert_eq!(binary(Div, i8::MIN, -1), i8::MIN);
    assert_eq!(binary(Div, i64::MIN, -1), i64::MIN);
    assert_eq!(binary(Div, -7i32, 2), -3);
    assert_eq!(binary(Rem, -7i32, 2), -1);
    assert_eq!(binary(Rem, 7i32, -2), 1);
    assert_eq!(binary(Rem, -7i8, 0), -7);
    assert_eq!(binary(Rem, i64::MIN, -1), 0);
    assert_eq!(binary(Div, u64::MAX, 2), u64::MAX / 2);
}

#[test]
fn integers_wrap() {
    assert_eq!(binary(BinaryOp::Add, 100i8, 100), -56);
    assert_eq!(binary(BinaryOp::Sub, 0u32, 1), u32::MAX);
    assert_eq!(binary(BinaryOp::Mul, u64::MAX, u64::MAX), 1);
    assert_eq!(binary(BinaryOp::Mul, i64::MIN, -1), i64::MIN);
    assert_eq!(unary(UnaryOp::Neg, 1u8), 255);
    assert_eq!(unary(UnaryOp::Neg, i32::MIN), i32::MIN);
    assert_eq!(unary(UnaryOp::Abs, i16::MIN), i16::MIN);
    assert_eq!(unary(UnaryOp::Abs, -5i64), 5);
    assert_eq!(unary(UnaryOp::Sign, -5i64), -1);
    assert_eq!(unary(UnaryOp::Sign, 200u8), 1);
    assert_eq!(unary(UnaryOp::Round, -5i8), -5);
}

#[test]
fn integer_powers() {
    let power = |a: i32, b: i32| binary(BinaryOp::Pow, a, b);
    assert_eq!([power(3, 4), power(0, 0), power(-2, 3), power(2, 40)], [81, 1, -8, 0]);
    assert_eq!([power(2, -1), power(0, -1), power(1, -5)], [0, 0, 1]);
    assert_eq!([power(-1, -3), power(-1, -4)], [-1, 1]);
    assert_eq!(
        binary(BinaryOp::Pow, 3u64, u64::MAX),
        3u64.wrapping_pow(u32::MAX).wrapping_mul(
            // 3^(2^64 - 1) = 3^(2^32 - 1) · 3^(2^32 (2^32 - 1)); the second factor by squaring.
            (0..32).fold(3u64.wrapping_pow(u32::MAX), |square, _| square.wrapping_mul(square))
        )
    );
}

#[test]
fn bitwise_ops() {
    assert_eq!(binary(BinaryOp::And, -2i8, 7), 6);
    assert_eq!(binary(BinaryOp::Or, 1u16, 6), 7);
    assert_eq!(binary(BinaryOp::Xor, -1i64, 1), -2);
    assert_eq!(unary(UnaryOp::Not, 1u8), 254);
    assert_eq!(unary(UnaryOp::Not, 0i32), -1);
    assert_eq!(unary(UnaryOp::PopulationCount, -1i16), 16);
    assert_eq!(unary(UnaryOp::PopulationCount, 5u64), 2);
    assert_eq!(unary(UnaryOp::LeadingZeros, 1i8), 7);
    assert_eq!(unary(UnaryOp::LeadingZeros, 0u32), 32);
    assert_eq!(unary(UnaryOp::LeadingZeros, -1i64), 0);
}

#[test]
fn oversized_shifts_shift_out_all_bits() {
    use BinaryOp::{ShiftLeft, ShiftRight, ShiftRightLogical};
    assert_eq!(binary(ShiftLeft, 3i8, 6), -64);
    assert_eq!([binary(ShiftLeft, 3i8, 8), binary(ShiftLeft, 3i8, -1)], [0, 0]);
    assert_eq!(binary(ShiftLeft, 1u64, 63), 1 << 63);
    assert_eq!(binary(ShiftRight, -8i32, 1), -4);
    assert_eq!([binary(ShiftRight, -8i32, 32), binary(ShiftRight, -8i32, -1)], [-1, -1]);
    assert_eq!([binary(ShiftRight, 8i32, 32), binary(ShiftRight, 8i32, -1)], [0, 0]);
    assert_eq!(binary(ShiftRight, 128u8, 1), 64);
    assert_eq!(binary(ShiftRight, u64::MAX, 64), 0);
    assert_eq!(binary(ShiftRightLogical, -1i8, 1), 127);
    assert_eq!(binary(ShiftRightLogical, -1i64, 63), 1);
    assert_eq!(binary(ShiftRightLogical, -1i16, 16), 0);
}

#[test]
fn bool_ops() {
    use BinaryOp::*;
    for (op, table) in [
        (Add, [false, true, true, true]),
        (Or, [false, true, true, true]),
        (Max, [false, true, true, true]),
        (Mul, [false, false, false, true]),
        (And, [false, false, false, true]),
        (Min, [false, false, false, true]),
        (Xor, [false, true, true, false]),
    ] {
        let pairs = [(false, false), (false, true), (true, false), (true, true)];
        assert_eq!(pairs.map(|(a, b)| binary(op, a, b)), table, "{op:?}");
    }
    assert!(!unary(UnaryOp::Not, true));
    assert!(compare(CompareOp::Lt, false, true));
}

#[test]
fn min_and_max_propagate_nan_and_order_zeros() {
    use BinaryOp::{Max, Min};
    for op in [Min, Max] {
        assert!(binary(op, f32::NAN, 1.0).is_nan());
        assert!(binary(op, 1.0, f64::NAN).is_nan());
        assert!(binary(op, f16::NAN, f16::INFINITY).is_nan());
    }
    assert_eq!([binary(Min, 1.0f32, 2.0), binary(Max, 1.0f32, 2.0)], [1.0, 2.0]);
    assert!(binary(Min, 0.0f32, -0.0).is_sign_negative());
    assert!(binary(Min, -0.0f32, 0.0).is_sign_negative());
    assert!(binary(Max, 0.0f32, -0.0).is_sign_positive());
    assert!(binary(Max, -0.0f32, 0.0).is_sign_positive());
    assert_eq!(binary(Max, u64::MAX, 1), u64::MAX);
    assert_eq!(binary(Min, i64::MIN, 1), i64::MIN);
}

#[test]
fn comparisons() {
    use CompareOp::*;
    for op in CompareOp::ALL {
        assert_eq!(compare(op, f32::NAN, f32::NAN), op == Ne, "{op:?}");
        assert_eq!(compare(op, 1.0f64, f64::NAN), op == Ne, "{op:?}");
    }
    assert!(compare(Eq, 0.0f32, -0.0));
    assert!(compare(Gt, u64::MAX, 1) && compare(Lt, -1i8, 1) && compare(Ge, 2i32, 2));
    let (a, b) = (Complex::new(1.0f32, 2.0), Complex::new(1.0f32, 3.0));
    assert!(compare(Ne, a, b) && compare(Eq, a, a) && !compare(Eq, a, b));
    let nan = Complex::new(1.0, f64::NAN);
    assert!(compare(Ne, nan, nan));
}

#[test]
fn rounding_and_signs_of_floats() {
    let rounded = [0.5f32, 1.5, 2.5, -0.5, -1.5].map(|x| unary(UnaryOp::Round, x));
    assert_eq!(rounded, [0.0, 2.0, 2.0, -0.0, -2.0]);
    assert!(unary(UnaryOp::Round, -0.5f32).is_sign_negative());
    assert_eq!([unary(UnaryOp::Floor, -1.5f64), unary(UnaryOp::Ceil, -1.5f64)], [-2.0, -1.0]);
    assert_eq!([unary(UnaryOp::Sign, -3.0f32), unary(UnaryOp::Sign, f32::INFINITY)], [-1.0, 1.0]);
    assert!(unary(UnaryOp::Sign, -0.0f32).is_sign_negative());
    assert!(unary(UnaryOp::Sign, f32::NAN).is_nan());
    assert!(unary(UnaryOp::Neg, 0.0f64).is_sign_negative());
    assert_eq!(unary(UnaryOp::Abs, bf16::from_f32(-2.0)).to_f32(), 2.0);
    assert_eq!(
        [binary(BinaryOp::Rem, -7.5f32, 2.0), binary(BinaryOp::Rem, 7.5f32, -2.0)],
        [-1.5, 1.5]
    );
    assert!(binary(BinaryOp::Rem, 1.0f32, 0.0).is_nan());
    assert_eq!(binary(BinaryOp::Div, 1.0f32, -0.0), f32::NEG_INFINITY);
}

#[test]
fn is_nan_and_is_finite() {
    let is_nan = |x: Scalar| bool::from_scalar(scalar_unary(UnaryOp::IsNan, x));
    let is_finite = |x: Scalar| bool::from_scalar(scalar_unary(UnaryOp::IsFinite, x));
    assert!(is_nan(f16::NAN.to_scalar()) && !is_nan(f32::INFINITY.to_scalar()));
    assert!(is_nan(Complex::new(0.0, f32::NAN).to_scalar()) && !is_nan(3i32.to_scalar()));
    assert!(is_finite(1.0f64.to_scalar()) && is_finite(i8::MIN.to_scalar()));
    assert!(!is_finite(f64::NAN.to_scalar()) && !is_finite(bf16::INFINITY.to_scalar()));
    assert!(!is_finite(Complex::new(1.0, f64::INFINITY).to_scalar()));
}

#[test]
fn f16_and_bf16_round_after_every_op() {
    let x = f16::from_f32(2048.0);
    assert_eq!(binary(BinaryOp::Add, x, f16::ONE), x);
    assert_eq!(binary(BinaryOp::Mul, f16::MAX, f16::from_f32(2.0)), f16::INFINITY);
    let third = binary(BinaryOp::Div, bf16::ONE, bf16::from_f32(3.0));
    assert_eq!(third, bf16::from_f32(1.0 / 3.0));
    assert_eq!(unary(UnaryOp::Exp, f16::ONE), f16::from_f64(std::f64::consts::E));
}

/// Points in the domain of every function, with the value to full double precision.
#[test]
fn float_functions() {
    use UnaryOp::*;
    let table = [
        (Exp, 0.5, 1.6487212707001282),
        (Exp2, 0.5, std::f64::consts::SQRT_2),
        (Expm1, 1e-10, 1.00000000005e-10),
        (Log, 10.0, std::f64::consts::LN_10),
        (Log2, 10.0, std::f64::consts::LOG2_10),
        (Log1p, 1e-10, 9.9999999995e-11),
        (Sqrt, 2.0, std::f64::consts::SQRT_2),
        (Rsqrt, 4.0, 0.5),
        (Cbrt, -27.0, -3.0),
        (Sin, 1.0, 0.8414709848078965),
        (Cos, 1.0, 0.5403023058681398),
        (Tan, 1.0, 1.5574077246549023),
        (Asin, 0.5, std::f64::consts::FRAC_PI_6),
        (Acos, 0.5, std::f64::consts::FRAC_PI_3),
        (Atan, 1.0, std::f64::consts::FRAC_PI_4),
        (Sinh, 1.0, 1.1752011936438014),
        (Cosh, 1.0, 1.5430806348152437),
        (Tanh, 1.0, 0.7615941559557649),
        (Asinh, 1.0, 0.881373587019543),
        (Asinh, 1e-10, 1e-10),
        (Acosh, 2.0, 1.3169578969248166),
        (Acosh, 1.0 + 1e-10, 1.4142136208675862e-05),
        (Atanh, 0.5, 0.5493061443340549),
        (Sigmoid, 1.0, 0.7310585786300049),
        (Sigmoid, -740.0, (-740f64).exp()),
        (Erf, 0.5, 0.5204998778130465),
    ];
    for (op, x, expected) in table {
        let found = unary(op, x);
        assert!((found - expected).abs() <= 4e-16 * f64::abs(expected), "{op:?} {found}");
        let single = x as f32;
        let exact = f64::from_scalar(scalar_unary(op, (single as f64).to_scalar()));
        assert_eq!(unary(op, single), exact as f32, "{op:?}");
    }
    assert!(unary(Log, -1.0f32).is_nan() && unary(Acosh, 0.5f64).is_nan());
    assert_eq!(unary(Rsqrt, 0.0f32), f32::INFINITY);
    assert_eq!([unary(Sigmoid, 200.0f32), unary(Sigmoid, -200.0f32)], [1.0, 0.0]);
    assert!(unary(Sigmoid, f32::NAN).is_nan());
    assert_eq!(binary(BinaryOp::Pow, 2.0f32, 0.5), std::f32::consts::SQRT_2);
    assert_eq!(binary(BinaryOp::Atan2, 1.0f64, -1.0), 3.0 * std::f64::consts::FRAC_PI_4);
}

#[test]
fn complex_arithmetic() {
    let z = Complex::new(3.0f32, -4.0);
    let of = |op| scalar_unary(op, z.to_scalar());
    assert_eq!(of(UnaryOp::Abs), 5.0f32.to_scalar());
    assert_eq!(of(UnaryOp::Real), 3.0f32.to_scalar());
    assert_eq!(of(UnaryOp::Imag), (-4.0f32).to_scalar());
    assert_eq!(unary(UnaryOp::Conj, z), Complex::new(3.0, 4.0));
    assert_eq!(unary(UnaryOp::Neg, z), Complex::new(-3.0, 4.0));
    assert_eq!(unary(UnaryOp::Sign, z), Complex::new(0.6, -0.8));
    assert_eq!(unary(UnaryOp::Sqrt, z), Complex::new(2.0, -1.0));
    assert_eq!(unary(UnaryOp::Rsqrt, z), Complex::new(0.4, 0.2));
    assert_eq!(binary(BinaryOp::Mul, z, z), Complex::new(-7.0, -24.0));
    assert_eq!(binary(BinaryOp::Div, z, z), Complex::new(1.0, 0.0));
    assert_eq!(binary(BinaryOp::Sub, z, z), Complex::new(0.0, 0.0));
    assert_eq!(binary(BinaryOp::Pow, z, Complex::new(2.0, 0.0)), Complex::new(-7.0, -24.0));
    let made = scalar_binary(BinaryOp::Complex, 1.0f64.to_scalar(), 2.0f64.to_scalar());
    assert_eq!(made, Complex::new(1.0f64, 2.0).to_scalar());
    assert_eq!(unary(UnaryOp::Real, 2.5f32), 2.5);
    assert_eq!(unary(UnaryOp::Imag, 2.5f32), 0.0);
    assert_eq!(unary(UnaryOp::Conj, f16::ONE), f16::ONE);
}

/// Each complex function against its inverse or definition.
#[test]
fn complex_functions() {
    use UnaryOp::*;
    let z = Complex::new(0.3f64, 0.4);
    let close = |a: Complex<f64>, b: Complex<f64>| assert!((a - b).norm() < 1e-14, "{a} {b}");
    for (function, inverse) in [
        (Exp, Log),
        (Exp2, Log2),
        (Expm1, Log1p),
        (Sin, Asin),
        (Cos, Acos),
        (Tan, Atan),
        (Sinh, Asinh),
        (Cosh, Acosh),
        (Tanh, Atanh),
    ] {
        close(unary(function, unary(inverse, z)), z);
        // Neither is the identity.
        assert!((unary(inverse, z) - z).norm() > 1e-3, "{inverse:?}");
    }
    close(unary(Exp, Complex::new(0.0, std::f64::consts::PI)), Complex::new(-1.0, 0.0));
    close(unary(Sin, z), Complex::new(0.3f64.sin() * 0.4f64.cosh(), 0.3f64.cos() * 0.4f64.sinh()));
    close(unary(Sinh, z), Complex::new(0.3f64.sinh() * 0.4f64.cos(), 0.3f64.cosh() * 0.4f64.sin()));
    close(unary(Cos, z), Complex::new(0.3f64.cos() * 0.4f64.cosh(), -0.3f64.sin() * 0.4f64.sinh()));
    close(unary(Cosh, z), Complex::new(0.3f64.cosh() * 0.4f64.cos(), 0.3f64.sinh() * 0.4f64.sin()));
    let one = Complex::new(1.0, 0.0);
    close(unary(Sigmoid, z), one / (one + (-z).exp()));
}

#[test]
#[should_panic(expected = "sub does not accept bool")]
fn a_dtype_that_is_not_accepted_panics() {
    binary(BinaryOp::Sub, true, false);
}

#[test]
fn combine() {
    let combine = |op, a: i32, b: i32| i32::from_scalar(scalar_combine(op, a.into(), b.into()));
    assert_eq!(combine(CombineOp::Sum, 6, 3), 9);
    assert_eq!(combine(CombineOp::Product, 6, 3), 18);
    assert_eq!(combine(CombineOp::Min, 6, 3), 3);
    assert_eq!(combine(CombineOp::Max, 6, 3), 6);
    assert_eq!(combine(CombineOp::And, 6, 3), 2);
    assert_eq!(combine(CombineOp::Or, 6, 3), 7);
    assert_eq!(combine(CombineOp::Xor, 6, 3), 5);
}
