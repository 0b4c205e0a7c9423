//! Printing of dense constants.

use super::attributes::{decimal_text, float_text};
use super::types::tensor_text;
use crate::elements;
use crate::module::{Dense, ElementType};
use half::{bf16, f16};
use inflight_ir::{DType, DTypeClass};

/// Constants with more elements are printed as hexadecimal bytes.
const MAX_LIST_ELEMENTS: u64 = 100;

/// `dense<…> : tensor<…>`
pub(super) fn dense_text(dense: &Dense) -> String {
    format!("dense<{}> : {}", literal(dense), tensor_text(&dense.ty))
}

fn literal(dense: &Dense) -> String {
    let Some(size) = elements::size(&dense.ty.element) else { return String::new() };
    if dense.bytes.is_empty() {
        return String::new();
    }
    let is_number = match &dense.ty.element {
        ElementType::Other(name) => name.starts_with(['i', 'u', 's']),
        _ => true,
    };
    let is_bool = dense.ty.element == ElementType::Core(DType::Bool);
    let is_long = elements::count(&dense.ty).is_none_or(|count| count > MAX_LIST_ELEMENTS);
    if !is_number || (is_long && !dense.is_splat && !is_bool) {
        let digits: String = dense.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        return format!("\"0x{digits}\"");
    }
    if dense.is_splat {
        return element_text(&dense.bytes, &dense.ty.element);
    }
    let mut elements = dense.bytes.chunks_exact(size);
    let mut text = String::new();
    list(&dense.ty.dimensions, &mut elements, &dense.ty.element, &mut text);
    text
}

/// Prints nested lists for the remaining dimensions.
fn list<'a>(
    dimensions: &[Option<u64>],
    elements: &mut impl Iterator<Item = &'a [u8]>,
    ty: &ElementType,
    text: &mut String,
) {
    let Some((extent, inner)) = dimensions.split_first() else {
        if let Some(element) = elements.next() {
            text.push_str(&element_text(element, ty));
        }
        return;
    };
    text.push('[');
    for index in 0..extent.unwrap_or(0) {
        if index > 0 {
            text.push_str(", ");
        }
        list(inner, elements, ty, text);
    }
    text.push(']');
}

fn element_text(bytes: &[u8], ty: &ElementType) -> String {
    match ty {
        ElementType::Core(dtype) if dtype.is_complex() => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            let part = dtype.real();
            format!("({}, {})", scalar_text(real, part), scalar_text(imaginary, part))
        }
        ElementType::Core(dtype) => scalar_text(bytes, *dtype),
        ElementType::Index => integer(bytes, true).to_string(),
        ElementType::Other(name) => integer(bytes, !name.starts_with('u')).to_string(),
    }
}

fn scalar_text(bytes: &[u8], dtype: DType) -> String {
    match dtype.class() {
        DTypeClass::Bool => (bytes[0] != 0).to_string(),
        DTypeClass::Signed => integer(bytes, true).to_string(),
        DTypeClass::Unsigned => integer(bytes, false).to_string(),
        DTypeClass::Float | DTypeClass::Complex => {
            let bits = integer(bytes, false) as u64;
            let (value, is_nan) = match dtype {
                DType::F16 => {
                    (f16::from_bits(bits as u16).to_f64(), f16::from_bits(bits as u16).is_nan())
                }
                DType::BF16 => {
                    (bf16::from_bits(bits as u16).to_f64(), bf16::from_bits(bits as u16).is_nan())
                }
                DType::F32 => {
                    (f64::from(f32::from_bits(bits as u32)), f32::from_bits(bits as u32).is_nan())
                }
                _ => (f64::from_bits(bits), f64::from_bits(bits).is_nan()),
            };
            // Hexadecimal bits preserve the payload of a NaN.
            if is_nan {
                return format!("0x{bits:0width$X}", width = 2 * bytes.len());
            }
            match dtype {
                DType::F16 | DType::BF16 if value.is_finite() => decimal_text(value as f32),
                _ => float_text(value, &ElementType::Core(dtype)),
            }
        }
    }
}

/// Decodes a little-endian integer.
fn integer(bytes: &[u8], is_signed: bool) -> i128 {
    let is_negative = is_signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    let start = if is_negative { -1 } else { 0 };
    bytes.iter().rev().fold(start, |value, byte| value << 8 | i128::from(*byte))
}
