//! Typed access to the attributes of operations, and element types as dtypes.

use super::builder::Lowered;
use super::error::Failure;
use crate::module::{Attribute, Attributes, Dense, ElementType, Operation, Type, attribute};
use inflight_ir::{DType, Scalar};

/// A list of integers in any of its encodings: array, dense constant, or a single integer.
pub(super) fn integer_list(value: &Attribute) -> Option<Vec<i64>> {
    match value {
        Attribute::Integers(values) => Some(values.clone()),
        Attribute::Dense(dense) => dense_integers(dense),
        Attribute::Array(values) => values
            .iter()
            .map(|value| match value {
                Attribute::Integer(value, _) => i64::try_from(*value).ok(),
                Attribute::Bool(value) => Some(*value as i64),
                _ => None,
            })
            .collect(),
        Attribute::Integer(value, _) => Some(vec![i64::try_from(*value).ok()?]),
        _ => None,
    }
}

fn dense_integers(dense: &Dense) -> Option<Vec<i64>> {
    let dtype = match dense.ty.element {
        ElementType::Core(dtype) if dtype.is_integer() || dtype == DType::Bool => dtype,
        ElementType::Index => DType::I64,
        _ => return None,
    };
    let count = dense_elements(dense)?;
    let size = dtype.size();
    let expected = if dense.is_splat { 1 } else { count };
    if dense.bytes.len() < expected * size {
        return None;
    }
    let element = |i: usize| {
        let i = if dense.is_splat { 0 } else { i };
        Scalar::from_bytes(dtype, &dense.bytes[i * size..]).to_i64()
    };
    Some((0..count).map(element).collect())
}

/// The number of elements of a constant. `None` if it overflows or a dimension is dynamic.
pub(super) fn dense_elements(dense: &Dense) -> Option<usize> {
    dense
        .ty
        .dimensions
        .iter()
        .try_fold(1usize, |count, extent| count.checked_mul(usize::try_from((*extent)?).ok()?))
}

/// A view of an operation's attributes, or of a structured attribute's fields, by name.
#[derive(Clone, Copy)]
pub(super) struct AttributeView<'a> {
    attributes: &'a Attributes,
}

impl<'a> AttributeView<'a> {
    pub fn of(operation: &'a Operation) -> AttributeView<'a> {
        AttributeView { attributes: &operation.attributes }
    }

    pub fn get(&self, name: &str) -> Option<&'a Attribute> {
        attribute(self.attributes, name)
    }

    /// The fields of a structured or dictionary attribute.
    pub fn structured(&self, name: &str) -> Lowered<AttributeView<'a>> {
        match self.get(name) {
            Some(Attribute::Record(_, attributes) | Attribute::Dictionary(attributes)) => {
                Ok(AttributeView { attributes })
            }
            Some(_) => Err(mismatch(name, "a structured attribute or a dictionary")),
            None => Err(missing(name)),
        }
    }

    pub fn integers(&self, name: &str) -> Lowered<Option<Vec<i64>>> {
        self.get(name)
            .map(|value| integer_list(value).ok_or_else(|| mismatch(name, "a list of integers")))
            .transpose()
    }

    /// A list of non-negative integers: axes or extents. Empty by default.
    pub fn axes(&self, name: &str) -> Lowered<Vec<usize>> {
        let values = self.integers(name)?.unwrap_or_default();
        values
            .into_iter()
            .map(|value| {
                usize::try_from(value)
                    .map_err(|_| mismatch(name, "a list of non-negative integers"))
            })
            .collect()
    }

    /// A list of one integer per axis, all `default` by default.
    pub fn per_axis(&self, name: &str, rank: usize, default: i64) -> Lowered<Vec<i64>> {
        match self.integers(name)? {
            None => Ok(vec![default; rank]),
            Some(values) if values.len() == rank => Ok(values),
            Some(values) => Err(Failure::Invalid(format!(
                "expected {rank} entries in `{name}`, one per axis, found {}",
                values.len()
            ))),
        }
    }

    pub fn integer(&self, name: &str) -> Lowered<Option<i64>> {
        match self.integers(name)?.as_deref() {
            None => Ok(None),
            Some([value]) => Ok(Some(*value)),
            Some(_) => Err(mismatch(name, "one integer")),
        }
    }

    /// An axis index.
    pub fn axis(&self, name: &str) -> Lowered<usize> {
        let value = self.integer(name)?.ok_or_else(|| missing(name))?;
        usize::try_from(value).map_err(|_| mismatch(name, "a non-negative integer"))
    }

    pub fn boolean(&self, name: &str) -> Lowered<bool> {
        match self.get(name) {
            None => Ok(false),
            Some(Attribute::Unit) => Ok(true),
            Some(Attribute::Bool(value)) => Ok(*value),
            Some(Attribute::Integer(value, _)) => Ok(*value != 0),
            Some(_) => Err(mismatch(name, "a boolean")),
        }
    }

    pub fn float(&self, name: &str) -> Lowered<f64> {
        match self.get(name) {
            Some(Attribute::Float(value, _)) => Ok(*value),
            Some(Attribute::Integer(value, _)) => Ok(*value as f64),
            Some(_) => Err(mismatch(name, "a float or an integer")),
            None => Err(missing(name)),
        }
    }

    /// An enum or string attribute.
    pub fn enum_case(&self, name: &str) -> Lowered<Option<&'a str>> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Enum(_, value) | Attribute::String(value)) => Ok(Some(value)),
            Some(_) => Err(mismatch(name, "an enum or a string")),
        }
    }

    pub fn symbol(&self, name: &str) -> Lowered<&'a str> {
        match self.get(name) {
            Some(Attribute::Symbol(value) | Attribute::String(value)) => Ok(value),
            Some(_) => Err(mismatch(name, "a symbol reference or a string")),
            None => Err(missing(name)),
        }
    }
}

pub(super) fn missing(name: &str) -> Failure {
    Failure::Invalid(format!("the attribute `{name}` is missing"))
}

pub(super) fn mismatch(name: &str, expected: &str) -> Failure {
    Failure::Invalid(format!(
        "expected the attribute `{name}` to be {expected}, found another kind"
    ))
}

/// The core dtype of an element type.
pub(super) fn dtype(element: &ElementType) -> Lowered<DType> {
    match element {
        ElementType::Core(dtype) => Ok(*dtype),
        ElementType::Index => Ok(DType::I64),
        ElementType::Other(name) if name.contains("quant") => Err(Failure::Invalid(format!(
            "quantized type {name}: quantized types are not supported; dequantize when exporting"
        ))),
        ElementType::Other(name) => Err(Failure::Invalid(format!(
            "element type {name} is not supported; export with one of i1, i8 to i64, ui8 to ui64, \
             f16, bf16, f32, f64, complex<f32>, complex<f64>"
        ))),
    }
}

/// The text of a type in messages.
pub(super) fn type_name(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => {
            let mut name = String::from("tensor<");
            for extent in &tensor.dimensions {
                match extent {
                    Some(extent) => name.push_str(&format!("{extent}x")),
                    None => name.push_str("?x"),
                }
            }
            match &tensor.element {
                ElementType::Core(dtype) => name.push_str(dtype.name()),
                ElementType::Index => name.push_str("index"),
                ElementType::Other(other) => name.push_str(other),
            }
            name + ">"
        }
        Type::Token => "!stablehlo.token".into(),
        Type::Tuple(parts) => {
            format!("tuple<{}>", parts.iter().map(type_name).collect::<Vec<_>>().join(", "))
        }
        Type::Function(..) => "a function".into(),
        Type::Other(name) => name.clone(),
    }
}
