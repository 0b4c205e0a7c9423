//! Printing of types.

use crate::module::{ElementType, TensorType, Type};
use inflight_ir::DType;

/// The text of a type.
pub(crate) fn type_text(ty: &Type) -> String {
    match ty {
        Type::Tensor(tensor) => tensor_text(tensor),
        Type::Token => "!stablehlo.token".to_string(),
        Type::Tuple(members) => format!("tuple<{}>", types_text(members)),
        Type::Function(operands, results) => function_text(operands, results),
        Type::Other(text) => text.clone(),
    }
}

/// The texts of types, separated by commas.
pub(super) fn types_text(types: &[Type]) -> String {
    types.iter().map(type_text).collect::<Vec<_>>().join(", ")
}

/// `(…) -> …`
pub(super) fn function_text(operands: &[Type], results: &[Type]) -> String {
    let results = match results {
        [one] if !matches!(one, Type::Function(..)) => type_text(one),
        _ => format!("({})", types_text(results)),
    };
    format!("({}) -> {results}", types_text(operands))
}

/// The text of a tensor type.
pub(super) fn tensor_text(ty: &TensorType) -> String {
    let mut text = "tensor<".to_string();
    for dimension in &ty.dimensions {
        match dimension {
            Some(extent) => text.push_str(&format!("{extent}x")),
            None => text.push_str("?x"),
        }
    }
    text.push_str(&element_text(&ty.element));
    text.push('>');
    text
}

/// The text of an element type.
pub(super) fn element_text(element: &ElementType) -> String {
    match element {
        ElementType::Core(dtype) => dtype_text(*dtype).to_string(),
        ElementType::Index => "index".to_string(),
        ElementType::Other(name) => name.clone(),
    }
}

fn dtype_text(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "i1",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::U8 => "ui8",
        DType::U16 => "ui16",
        DType::U32 => "ui32",
        DType::U64 => "ui64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "complex<f32>",
        DType::C128 => "complex<f64>",
    }
}
