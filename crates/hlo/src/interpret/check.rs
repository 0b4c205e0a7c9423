//! The calls with which programs check themselves.

use crate::module::{Attribute, Dense, ElementType, attribute};
use crate::program::Call;
use inflight_ir::interpret::Array;
use inflight_ir::{DType, Scalar, UnaryOp};

/// How far apart two values may be.
#[derive(Clone, Copy)]
enum Distance {
    /// Equal; zeros of either sign are, and all NaN are.
    Nothing,
    /// At most so many floats further.
    Steps(u64),
    /// At most this difference.
    Difference(f64),
}

/// Does one of the calls `check.…`; the error names the first element that differs.
pub fn check(call: &Call, inputs: &[&Array]) -> Result<Vec<Array>, String> {
    let number = |name: &str| match attribute(&call.attributes, name) {
        Some(Attribute::Float(value, _)) => Some(*value),
        Some(Attribute::Integer(value, _)) => Some(*value as f64),
        _ => None,
    };
    let distance = match call.target.as_str() {
        "check.expect_eq" | "check.expect_eq_const" | "check.eq" => Distance::Nothing,
        "check.expect_close" => {
            Distance::Steps(number("max_ulp_difference").map_or(3, |steps| steps as u64))
        }
        "check.expect_almost_eq" | "check.expect_almost_eq_const" => {
            Distance::Difference(number("tolerance").unwrap_or(1e-3))
        }
        _ => return Err("there is no such function".into()),
    };
    let constant = match (inputs, attribute(&call.attributes, "value")) {
        ([found], Some(Attribute::Dense(dense))) => Some(spread(dense, found)?),
        _ => None,
    };
    let (found, expected) = match (inputs, &constant) {
        ([found], Some(expected)) => (*found, expected),
        ([found, expected], None) => (*found, *expected),
        _ => return Err("two values, or one and a constant `value`, are expected".into()),
    };
    if found.shape != expected.shape || found.dtype != expected.dtype {
        return Err(format!(
            "{}{} is compared with {}{}",
            found.dtype, found.shape, expected.dtype, expected.shape
        ));
    }
    let mut wrong =
        (0..found.elements()).filter(|&i| !is_close(found.get(i), expected.get(i), distance));
    let Some(first) = wrong.next() else { return Ok(Vec::new()) };
    let mut index = Vec::new();
    let mut rest = first;
    for &extent in found.shape.iter().rev() {
        index.insert(0, rest % extent);
        rest /= extent;
    }
    Err(format!(
        "element {index:?} of {}{} is {}, expected {}; {} more differ",
        found.dtype,
        found.shape,
        found.get(first),
        expected.get(first),
        wrong.count()
    ))
}

/// A constant with all its elements, to be compared with a value.
fn spread(dense: &Dense, found: &Array) -> Result<Array, String> {
    let dtype = match dense.ty.element {
        ElementType::Core(dtype) if dtype == found.dtype => dtype,
        _ => return Err(format!("{} is compared with a constant of another type", found.dtype)),
    };
    let extents = found.shape.iter().map(|&extent| Some(extent as u64));
    if !dense.ty.dimensions.iter().copied().eq(extents) {
        return Err(format!(
            "{}{} is compared with a constant of another shape",
            dtype, found.shape
        ));
    }
    let bytes = match dense.is_splat {
        true => dense.bytes.repeat(found.elements()),
        false => dense.bytes.to_vec(),
    };
    Ok(Array { shape: found.shape.clone(), dtype, bytes })
}

fn is_close(a: Scalar, b: Scalar, distance: Distance) -> bool {
    let dtype = a.dtype();
    if dtype.is_complex() {
        let part = |op, x| inflight_ir::interpret::scalar_unary(op, x);
        return is_close(part(UnaryOp::Real, a), part(UnaryOp::Real, b), distance)
            && is_close(part(UnaryOp::Imag, a), part(UnaryOp::Imag, b), distance);
    }
    if !dtype.is_float() {
        return a == b;
    }
    let (x, y) = (a.to_f64(), b.to_f64());
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    match distance {
        _ if x == y => true,
        Distance::Nothing => false,
        Distance::Difference(most) => (x - y).abs() <= most,
        _ if x.is_infinite() || y.is_infinite() => false,
        Distance::Steps(most) => place(a).abs_diff(place(b)) <= most,
    }
}

/// The number of a float in the order of all of its dtype; both zeros have number 0.
fn place(x: Scalar) -> i64 {
    let bits = x.bits()[0];
    let sign = 1u64 << (8 * x.dtype().size() - 1);
    let size = (bits & (sign - 1)) as i64;
    debug_assert_ne!(x.dtype(), DType::Bool);
    if bits & sign == 0 { size } else { -size }
}
