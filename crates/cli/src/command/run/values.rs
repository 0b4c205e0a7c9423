//! The elements of a tensor, as JSON.

use inflight::{Complex, DType, Result, Tensor};
use serde_json::{Value, json};

/// Results with more elements are not printed.
pub const MOST_ELEMENTS: usize = 10_000;

/// The elements in nested arrays: numbers, `true` and `false`; `[re, im]` for a complex number; `"NaN"`,
/// `"Infinity"` and `"-Infinity"` for non-finite floats. `null` if there are too many.
pub fn to_json(tensor: &Tensor) -> Result<Value> {
    if tensor.element_count() > MOST_ELEMENTS {
        return Ok(Value::Null);
    }
    let mut elements = elements(tensor)?.into_iter();
    Ok(nested(tensor.shape(), &mut elements))
}

fn elements(tensor: &Tensor) -> Result<Vec<Value>> {
    let all = |values: Vec<f64>| values.into_iter().map(number).collect();
    Ok(match tensor.dtype() {
        DType::Bool => tensor.to_vec::<bool>()?.into_iter().map(Value::from).collect(),
        DType::F64 => all(tensor.to_vec::<f64>()?),
        DType::F16 | DType::BF16 | DType::F32 => {
            let values = tensor.cast(DType::F32).to_vec::<f32>()?;
            all(values.into_iter().map(shortest).collect())
        }
        DType::C64 => {
            let pair = |value: Complex<f32>| {
                json!([number(shortest(value.re)), number(shortest(value.im))])
            };
            tensor.to_vec::<Complex<f32>>()?.into_iter().map(pair).collect()
        }
        DType::C128 => {
            let pair = |value: Complex<f64>| json!([number(value.re), number(value.im)]);
            tensor.to_vec::<Complex<f64>>()?.into_iter().map(pair).collect()
        }
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            tensor.cast(DType::U64).to_vec::<u64>()?.into_iter().map(Value::from).collect()
        }
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            tensor.cast(DType::I64).to_vec::<i64>()?.into_iter().map(Value::from).collect()
        }
    })
}

/// The shortest decimal that rounds to this `f32`: 0.1 and not 0.10000000149011612.
fn shortest(value: f32) -> f64 {
    let short = value.to_string().parse().unwrap_or(f64::NAN);
    if short as f32 == value { short } else { f64::from(value) }
}

fn number(value: f64) -> Value {
    match value {
        _ if value.is_finite() => json!(value),
        _ if value.is_nan() => json!("NaN"),
        _ if value > 0.0 => json!("Infinity"),
        _ => json!("-Infinity"),
    }
}

fn nested(extents: &[usize], elements: &mut impl Iterator<Item = Value>) -> Value {
    match extents {
        [] => elements.next().expect("there are as many elements as the shape has"),
        [extent, inner @ ..] => (0..*extent).map(|_| nested(inner, elements)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inflight::Device;

    fn json_of<T: inflight::Element>(values: &[T], shape: &[usize]) -> Value {
        to_json(&Tensor::from_slice(values, shape, &Device::cpu()).unwrap()).unwrap()
    }

    #[test]
    fn elements_become_json_of_their_dtype() {
        assert_eq!(json_of(&[0.1f32, -2.0, 1e30, 4.0], &[2, 2]), json!([[0.1, -2.0], [1e30, 4.0]]));
        assert_eq!(json_of(&[f32::NAN, f32::INFINITY], &[2]), json!(["NaN", "Infinity"]));
        assert_eq!(json_of(&[f64::NEG_INFINITY], &[]), json!("-Infinity"));
        assert_eq!(json_of(&[true, false], &[2, 1]), json!([[true], [false]]));
        assert_eq!(json_of(&[u64::MAX, 0], &[2]), json!([u64::MAX, 0]));
        assert_eq!(json_of(&[i64::MIN], &[1]), json!([i64::MIN]));
        assert_eq!(json_of(&[Complex::new(0.5f32, f32::NAN)], &[1]), json!([[0.5, "NaN"]]));
        assert_eq!(json_of::<f32>(&[], &[2, 0]), json!([[], []]));
        assert_eq!(json_of(&vec![0.0f32; MOST_ELEMENTS + 1], &[MOST_ELEMENTS + 1]), Value::Null);
    }
}
