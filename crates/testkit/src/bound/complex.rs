//! Error propagation through elementwise complex ops. An error bounds the deviation of each part.

use super::format::{Format, UNDECIDED, distance};
use inflight_ir::elementwise::{BinaryOp, UnaryOp};
use inflight_ir::interpret::{scalar_binary, scalar_unary};
use inflight_ir::{DType, Element, Scalar};
use num_complex::Complex;

/// A complex value with its error bound.
#[derive(Clone, Copy, Debug)]
pub struct Approximate {
    /// The reference value.
    pub value: Complex<f64>,
    /// The error bound: the largest deviation of each part.
    pub error: f64,
}

/// The error that a function adds, in ulp of the modulus. For `complex128` the reference is no more accurate than
/// the backends.
fn function_ulps(dtype: DType) -> f64 {
    if dtype == DType::C128 { 64.0 } else { 4.0 }
}

/// The error of a finite result.
fn rounded_error(dtype: DType, value: Complex<f64>, deviation: f64, ulps: f64) -> f64 {
    let format = Format::of(dtype);
    if !value.is_finite() || !deviation.is_finite() {
        return UNDECIDED;
    }
    let error = format.rounded_error(value.norm(), deviation, ulps);
    if error == UNDECIDED {
        return UNDECIDED;
    }
    [value.re, value.im].into_iter().fold(error, |error, part| format.flush_error(part, error))
}

/// The error of a unary op's result of dtype `dtype`, or of its part dtype.
pub fn unary(op: UnaryOp, dtype: DType, z: Approximate, result: Scalar) -> f64 {
    let Approximate { value: z, error } = z;
    if error == UNDECIDED {
        return UNDECIDED;
    }
    match op {
        UnaryOp::Neg | UnaryOp::Conj | UnaryOp::Real | UnaryOp::Imag => return error,
        UnaryOp::IsNan | UnaryOp::IsFinite => return 0.0,
        _ => {}
    }
    if !z.is_finite() {
        return UNDECIDED;
    }
    let format = Format::of(dtype);
    if op == UnaryOp::Abs {
        return format.rounded_error(
            result.to_f64(),
            1.5 * error,
            if error == 0.0 && z.im * z.re == 0.0 { 0.0 } else { 2.0 },
        );
    }
    // The sign of a zero part selects the side of a branch cut.
    if error > 0.0 && (z.re.abs() <= error || z.im.abs() <= error) {
        return UNDECIDED;
    }
    let at = |z: Complex<f64>| Complex::<f64>::from_scalar(scalar_unary(op, z.to_scalar()));
    let centre = at(z);
    let mut deviation = 0f64;
    if error > 0.0 {
        for step in [(error, 0.0), (-error, 0.0), (0.0, error), (0.0, -error)] {
            let beside = at(z + Complex::new(step.0, step.1));
            deviation = deviation.max((beside - centre).norm());
            if !beside.is_finite() {
                return UNDECIDED;
            }
        }
    }
    rounded_error(dtype, Complex::from_scalar(result), 3.0 * deviation, function_ulps(dtype))
}

/// The error of a binary op's result.
pub fn binary(op: BinaryOp, dtype: DType, a: Approximate, b: Approximate, result: Scalar) -> f64 {
    let (ea, eb) = (a.error, b.error);
    let (x, y) = (a.value.norm(), b.value.norm());
    let value = Complex::<f64>::from_scalar(result);
    let finite = a.value.is_finite() && b.value.is_finite();
    if ea == UNDECIDED || eb == UNDECIDED || !finite {
        return UNDECIDED;
    }
    let unit = Format::of(dtype).unit();
    match op {
        BinaryOp::Add | BinaryOp::Sub => rounded_error(dtype, value, ea + eb, 1.0),
        BinaryOp::Mul => {
            let deviation = 2.0 * (x * eb + y * ea + ea * eb) + 8.0 * unit * x * y;
            // The products in a part may overflow although the part does not.
            match 4.0 * x * y > Format::of(dtype).max {
                true => UNDECIDED,
                false => rounded_error(dtype, value, deviation, 1.0),
            }
        }
        BinaryOp::Div if y <= 2.0 * eb || y == 0.0 => UNDECIDED,
        BinaryOp::Div => {
            let deviation = 2.0 * (ea + x / y * eb) / (y - 1.5 * eb);
            rounded_error(dtype, value, deviation, function_ulps(dtype))
        }
        _ => {
            // The sign of a zero selects the side of the logarithm's branch cut; 0 has no logarithm.
            let open = |z: f64, error: f64| error > 0.0 && z.abs() <= error;
            if x == 0.0 || open(a.value.re, ea) || open(a.value.im, ea) {
                return UNDECIDED;
            }
            let centre = scalar_binary(op, a.value.to_scalar(), b.value.to_scalar());
            let centre = Complex::<f64>::from_scalar(centre).norm();
            let logarithm = a.value.ln().norm();
            // |d(aᵇ)| ≤ |aᵇ| (|b| |da| / |a| + |ln a| |db|), if that is small.
            let relative = 2.0 * (y * ea / (x - distance(ea)).max(0.0) + logarithm * eb);
            if relative.is_nan() || relative > 0.1 {
                return UNDECIDED;
            }
            let ulps = function_ulps(dtype) * (1.0 + y * logarithm);
            rounded_error(dtype, value, 2.0 * relative * centre, ulps)
        }
    }
}
