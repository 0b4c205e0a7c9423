//! Built-in `check.*` custom calls: comparisons with which test programs verify their own results.

use crate::module::{Attribute, Attributes, Dense, ElementType, attribute};
use crate::program::ValueType;
use inflight_ir::{DType, Scalar};

/// The call targets.
pub const NAMES: [&str; 6] = [
    "check.eq",
    "check.expect_almost_eq",
    "check.expect_almost_eq_const",
    "check.expect_close",
    "check.expect_eq",
    "check.expect_eq_const",
];

/// The accepted difference between two values.
#[derive(Clone, Copy, Debug)]
enum Tolerance {
    /// Equal values. Zeros of either sign are equal, and so are all NaNs.
    Equal,
    /// From `least` to `most` ulps: steps between representable values.
    Ulps { least: u64, most: u64 },
    /// The maximum absolute difference.
    Absolute(f64),
}

/// A resolved check of values of one type.
#[derive(Clone, Debug)]
pub struct Check {
    tolerance: Tolerance,
    ty: ValueType,
    /// The expected elements, if they are an attribute of the call and not its second operand.
    constant: Option<Vec<u8>>,
}

impl Check {
    /// Resolves a call target to a check of operands of these types. `None` if `target` is not a check.
    ///
    /// # Errors
    /// If the operands or attributes do not fit the check.
    pub fn resolve(
        target: &str,
        attributes: &Attributes,
        inputs: &[ValueType],
    ) -> Result<Option<Check>, String> {
        let numeric_attribute = |name: &str| match attribute(attributes, name) {
            Some(Attribute::Integer(value, _)) => Some(*value as f64),
            Some(Attribute::Float(value, _)) => Some(*value),
            _ => None,
        };
        let tolerance = match target {
            "check.expect_eq" | "check.expect_eq_const" | "check.eq" => Tolerance::Equal,
            "check.expect_close" => Tolerance::Ulps {
                least: numeric_attribute("min_ulp_difference").map_or(0, |least| least as u64),
                most: numeric_attribute("max_ulp_difference").map_or(3, |most| most as u64),
            },
            "check.expect_almost_eq" | "check.expect_almost_eq_const" => {
                Tolerance::Absolute(numeric_attribute("tolerance").unwrap_or(1e-3))
            }
            _ => return Ok(None),
        };
        let constant = match attribute(attributes, "value") {
            Some(Attribute::Dense(dense)) => Some(dense),
            _ => None,
        };
        let constant = match (inputs, constant) {
            ([actual, expected], None) if actual == expected => None,
            ([actual], Some(dense)) => Some(expand_constant(dense, actual)?),
            ([actual, expected], None) => {
                return Err(format!(
                    "{target}: expected two operands of one type, found {}{} and {}{}",
                    actual.dtype, actual.shape, expected.dtype, expected.shape
                ));
            }
            (_, None) => {
                return Err(format!(
                    "{target}: expected two operands, or one and the attribute `value`, found {} \
                     operands",
                    inputs.len()
                ));
            }
            (_, Some(_)) => {
                return Err(format!(
                    "{target}: expected one operand beside the attribute `value`, found {}",
                    inputs.len()
                ));
            }
        };
        Ok(Some(Check { tolerance, ty: inputs[0].clone(), constant }))
    }

    /// Compares all elements of the values, given as little-endian bytes in row-major order.
    ///
    /// # Errors
    /// If elements differ: names the first one, and the number of the others.
    pub fn compare(&self, values: &[&[u8]]) -> Result<(), String> {
        let Check { tolerance, ty: ValueType { shape, dtype }, constant } = self;
        let expected = match (constant, values) {
            (Some(constant), _) => &constant[..],
            (None, [_, expected]) => expected,
            (None, _) => return Err(format!("expected two operands, found {}", values.len())),
        };
        let size = dtype.size();
        let pairs = values[0].chunks_exact(size).zip(expected.chunks_exact(size));
        let mut differing =
            pairs.enumerate().filter(|(_, (a, b))| !agree(a, b, *dtype, *tolerance));
        let Some((position, (a, b))) = differing.next() else { return Ok(()) };
        let others = differing.count();
        let mut index = vec![0; shape.rank()];
        let mut rest = position;
        for (axis, &extent) in shape.iter().enumerate().rev() {
            index[axis] = rest % extent;
            rest /= extent;
        }
        let allowed = match tolerance {
            Tolerance::Equal => String::new(),
            Tolerance::Ulps { least: 0, most } => format!(", up to {most} ulps apart"),
            Tolerance::Ulps { least, most } => format!(", {least} to {most} ulps apart"),
            Tolerance::Absolute(most) => format!(", up to {most} apart"),
        };
        Err(format!(
            "element {index:?} of {dtype}{shape} is {}, expected {}{allowed}; {others} more differ",
            Scalar::from_bytes(*dtype, a),
            Scalar::from_bytes(*dtype, b),
        ))
    }
}

/// The bytes of all elements of a constant of the given type, with a splat expanded.
fn expand_constant(dense: &Dense, ty: &ValueType) -> Result<Vec<u8>, String> {
    let extents = ty.shape.iter().map(|&extent| Some(extent as u64));
    let is_same = dense.ty.element == ElementType::Core(ty.dtype)
        && dense.ty.dimensions.iter().copied().eq(extents);
    if !is_same {
        return Err(format!(
            "expected the attribute `value` to be {}{}, found a constant of another type",
            ty.dtype, ty.shape
        ));
    }
    Ok(match dense.is_splat {
        true => dense.bytes.repeat(ty.shape.element_count()),
        false => dense.bytes.to_vec(),
    })
}

fn agree(a: &[u8], b: &[u8], dtype: DType, tolerance: Tolerance) -> bool {
    match dtype {
        DType::C64 | DType::C128 => {
            let part = if dtype == DType::C64 { DType::F32 } else { DType::F64 };
            let (a, b) = (a.split_at(part.size()), b.split_at(part.size()));
            agree(a.0, b.0, part, tolerance) && agree(a.1, b.1, part, tolerance)
        }
        _ if dtype.is_float() => {
            let (x, y) =
                (Scalar::from_bytes(dtype, a).to_f64(), Scalar::from_bytes(dtype, b).to_f64());
            if x.is_nan() || y.is_nan() {
                return x.is_nan() && y.is_nan();
            }
            match tolerance {
                Tolerance::Equal => x == y,
                Tolerance::Absolute(most) => x == y || (x - y).abs() <= most,
                Tolerance::Ulps { least, most } => {
                    if x.is_infinite() || y.is_infinite() {
                        return x == y;
                    }
                    let apart = ordered_bits(a).abs_diff(ordered_bits(b));
                    (least..=most).contains(&apart)
                }
            }
        }
        _ => match tolerance {
            Tolerance::Absolute(most) => {
                (Scalar::from_bytes(dtype, a).to_f64() - Scalar::from_bytes(dtype, b).to_f64())
                    .abs()
                    <= most
            }
            _ => a == b,
        },
    }
}

/// Order-preserving mapping of a float, given by its bytes, to an integer; both zeros map to 0. Differences are ulps.
fn ordered_bits(bytes: &[u8]) -> i64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    let sign = 1 << (8 * bytes.len() - 1);
    let magnitude = (bits & (sign - 1)) as i64;
    if bits & sign == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inflight_ir::Shape;

    fn check(actual: &[f32], expected: &[f32], tolerance: Tolerance) -> Result<(), String> {
        let ty = ValueType { shape: Shape::from([actual.len() / 2, 2]), dtype: DType::F32 };
        let bytes = |elements: &[f32]| -> Vec<u8> {
            elements.iter().flat_map(|element| element.to_le_bytes()).collect()
        };
        let check = Check { tolerance, ty, constant: None };
        check.compare(&[&bytes(actual), &bytes(expected)])
    }

    #[test]
    fn error_names_the_first_difference() {
        let message = check(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.5, 5.0], Tolerance::Equal);
        assert_eq!(
            message.unwrap_err(),
            "element [1, 0] of f32[2, 2] is 3.0, expected 3.5; 1 more differ"
        );
    }

    #[test]
    fn nans_agree_and_zeros_agree() {
        let values = [f32::NAN, 0.0];
        assert!(check(&values, &[-f32::NAN, -0.0], Tolerance::Equal).is_ok());
        assert!(check(&values, &[0.0, 0.0], Tolerance::Equal).is_err());
    }

    #[test]
    fn ulps_are_counted_across_zero() {
        let ulps = |most| Tolerance::Ulps { least: 0, most };
        let tiny = f32::from_bits(1);
        assert!(check(&[tiny, 1.0], &[-tiny, 1.0], ulps(2)).is_ok());
        assert!(check(&[tiny, 1.0], &[-tiny, 1.0], ulps(1)).is_err());
        let next = f32::from_bits(1.0f32.to_bits() + 3);
        assert!(check(&[1.0, 1.0], &[1.0, next], ulps(3)).is_ok());
        assert!(check(&[1.0, f32::INFINITY], &[1.0, f32::MAX], ulps(3)).is_err());
        assert!(check(&[1.0, 1.0], &[1.0, next], Tolerance::Ulps { least: 4, most: 9 }).is_err());
    }

    #[test]
    fn tolerance_is_absolute() {
        assert!(check(&[1.0, 2.0], &[1.0005, 2.0], Tolerance::Absolute(1e-3)).is_ok());
        assert!(check(&[1.0, 2.0], &[1.0, 2.002], Tolerance::Absolute(1e-3)).is_err());
    }
}
