//! Printing of attributes, symbols and strings.

use super::dense::dense_text;
use super::structured_attributes::structured_text;
use super::types::{element_text, type_text};
use crate::module::{Attribute, Attributes, ElementType};
use inflight_ir::DType;

/// ` {…}`; the empty string if there are no attributes.
pub(super) fn optional_dictionary(attributes: &Attributes) -> String {
    if attributes.is_empty() { String::new() } else { format!(" {}", dictionary_text(attributes)) }
}

/// `{name = value, …}`
pub(super) fn dictionary_text(attributes: &Attributes) -> String {
    operation_dictionary("", attributes)
}

/// `{…}` for the attributes of an operation.
pub(super) fn operation_dictionary(operation: &str, attributes: &Attributes) -> String {
    let dialect = if operation.starts_with("chlo.") { "chlo" } else { "stablehlo" };
    let entries: Vec<String> = attributes
        .iter()
        .map(|(name, value)| {
            let label = if is_bare_identifier(name) { name.clone() } else { quoted(name) };
            match (name.as_str(), value) {
                (_, Attribute::Unit) => label,
                ("window_reversal", Attribute::Integers(items)) => {
                    format!("{label} = {}", flags_text(items))
                }
                _ => format!("{label} = {}", attribute_in(dialect, value)),
            }
        })
        .collect();
    format!("{{{}}}", entries.join(", "))
}

/// `array<i1: true, false>`
fn flags_text(items: &[i64]) -> String {
    let items: Vec<&str> =
        items.iter().map(|item| if *item == 0 { "false" } else { "true" }).collect();
    if items.is_empty() {
        "array<i1>".to_string()
    } else {
        format!("array<i1: {}>", items.join(", "))
    }
}

/// The text of an attribute of an operation of the given dialect.
pub(super) fn attribute_in(dialect: &str, value: &Attribute) -> String {
    match value {
        Attribute::Unit => "unit".to_string(),
        Attribute::Bool(value) => value.to_string(),
        Attribute::Integer(value, ty) => format!("{value} : {}", element_text(ty)),
        Attribute::Float(value, ty) => format!("{} : {}", float_text(*value, ty), element_text(ty)),
        Attribute::String(text) => quoted(text),
        Attribute::Symbol(name) => symbol_text(name),
        Attribute::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| attribute_in(dialect, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Attribute::Dictionary(entries) => dictionary_text(entries),
        Attribute::Integers(items) if items.is_empty() => "array<i64>".to_string(),
        Attribute::Integers(items) => format!("array<i64: {}>", comma_separated(items)),
        Attribute::Dense(dense) => dense_text(dense),
        Attribute::Enum(kind, name) => format!("#{dialect}<{kind} {name}>"),
        Attribute::Record(kind, fields) => structured_text(kind, fields),
        Attribute::Type(ty) => type_text(ty),
        Attribute::Other(text) => text.clone(),
    }
}

/// `1, 2, 3`
pub(super) fn comma_separated(items: &[i64]) -> String {
    items.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// A floating point value: decimal digits, or hexadecimal bits for infinities and NaNs.
pub(super) fn float_text(value: f64, ty: &ElementType) -> String {
    if value.is_finite() {
        return match ty {
            ElementType::Core(DType::F32) => decimal_text(value as f32),
            _ => decimal_text(value),
        };
    }
    match ty {
        ElementType::Core(DType::F16) => format!("{:#06X}", half::f16::from_f64(value).to_bits()),
        ElementType::Core(DType::BF16) => format!("{:#06X}", half::bf16::from_f64(value).to_bits()),
        ElementType::Core(DType::F32) => format!("{:#010X}", (value as f32).to_bits()),
        _ => format!("{:#018X}", value.to_bits()),
    }
    .replacen("0X", "0x", 1)
}

/// The shortest decimal that round-trips, with the decimal point that MLIR requires.
pub(super) fn decimal_text(value: impl std::fmt::LowerExp + std::fmt::Display) -> String {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let is_short = exponent.parse().is_ok_and(|exponent: i32| (-4..=6).contains(&exponent));
    let with_point = |digits: &str| match digits.contains('.') {
        true => digits.to_string(),
        false => format!("{digits}.0"),
    };
    match is_short {
        true => with_point(&value.to_string()),
        false => format!("{}e{exponent}", with_point(digits)),
    }
}

/// `@name`
pub(super) fn symbol_text(name: &str) -> String {
    if is_bare_identifier(name) { format!("@{name}") } else { format!("@{}", quoted(name)) }
}

/// Whether a name can be printed without quotes.
fn is_bare_identifier(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
    name.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name.bytes().all(is_part)
}

/// A string literal with escapes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_string();
    for byte in text.bytes() {
        match byte {
            b'\\' => quoted.push_str("\\\\"),
            b' '..=b'~' if byte != b'"' => quoted.push(byte as char),
            _ => quoted.push_str(&format!("\\{byte:02X}")),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_decimal_point() {
        assert_eq!(decimal_text(1.0f32), "1.0");
        assert_eq!(decimal_text(0.1f32), "0.1");
        assert_eq!(decimal_text(-1e-7f32), "-1.0e-7");
        assert_eq!(decimal_text(1234567.0f32), "1234567.0");
        assert_eq!(decimal_text(-1.5e30f64), "-1.5e30");
        assert_eq!(decimal_text(-0.0f64), "-0.0");
        assert_eq!(float_text(f64::INFINITY, &ElementType::Core(DType::F32)), "0x7F800000");
        assert_eq!(float_text(f64::NAN, &ElementType::Core(DType::F16)), "0x7E00");
    }

    #[test]
    fn names_that_are_not_identifiers_are_quoted() {
        assert_eq!(symbol_text("main"), "@main");
        assert_eq!(symbol_text("a b"), "@\"a b\"");
        assert_eq!(quoted("\"\\\né"), "\"\\22\\\\\\0A\\C3\\A9\"");
    }
}
