//! Printing of structured attributes: `#stablehlo.gather<…>`, dot and convolution dimension numbers, ….

use super::attributes::{attribute_in, comma_separated, float_text};
use super::types::type_text;
use crate::module::{Attribute, Attributes, attribute};

/// `#stablehlo.gather<…>`
pub(super) fn structured_text(kind: &str, fields: &Attributes) -> String {
    if kind == "conv" {
        let text =
            convolution_text(fields).unwrap_or_else(|| format!("raw {}", fields_text(fields)));
        return format!("#stablehlo.conv<{text}>");
    }
    let dialect = if kind == "ragged_dot" { "chlo" } else { "stablehlo" };
    format!("#{dialect}.{kind}<{}>", fields_in_order(kind, fields))
}

/// The fields of a structured attribute in the order that MLIR's parser requires.
pub(super) fn fields_in_order(kind: &str, fields: &Attributes) -> String {
    let order: &[&str] = match kind {
        "result_accuracy" => &["atol", "rtol", "ulps", "mode"],
        "channel_handle" => &["handle", "type"],
        "output_operand_alias" => {
            &["output_tuple_indices", "operand_index", "operand_tuple_indices"]
        }
        "dot_algorithm" => &[
            "lhs_precision_type",
            "rhs_precision_type",
            "accumulation_type",
            "lhs_component_count",
            "rhs_component_count",
            "num_primitive_operations",
            "allow_imprecise_accumulation",
        ],
        _ => &[],
    };
    let mut fields = fields.clone();
    fields.sort_by_key(|(name, _)| {
        order.iter().position(|known| known == name).unwrap_or(order.len())
    });
    fields_text(&fields)
}

fn fields_text(fields: &Attributes) -> String {
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{name} = {}", field_text(value))).collect();
    fields.join(", ")
}

/// The value of a field. Its type is implied, and omitted.
fn field_text(value: &Attribute) -> String {
    match value {
        Attribute::Integers(items) => format!("[{}]", comma_separated(items)),
        Attribute::Integer(value, _) => value.to_string(),
        // Hexadecimal bits without a type would parse as an integer, so only finite values omit it.
        Attribute::Float(value, ty) if value.is_finite() => float_text(*value, ty),
        Attribute::Enum(kind, name) => format!("#stablehlo.{kind}<{name}>"),
        Attribute::Type(ty) => type_text(ty),
        other => attribute_in("stablehlo", other),
    }
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`. `None` if the fields are not a valid permutation.
pub(super) fn convolution_text(fields: &Attributes) -> Option<String> {
    let input = order_text(fields, "input", [("b", "batch"), ("f", "feature")])?;
    let kernel = order_text(fields, "kernel", [("i", "input_feature"), ("o", "output_feature")])?;
    let output = order_text(fields, "output", [("b", "batch"), ("f", "feature")])?;
    let is_complete = fields.len() == 9;
    is_complete.then(|| format!("{input}x{kernel}->{output}"))
}

/// The dimension labels of one side, in order.
fn order_text(fields: &Attributes, side: &str, letters: [(&str, &str); 2]) -> Option<String> {
    let Some(Attribute::Integers(spatial)) =
        attribute(fields, &format!("{side}_spatial_dimensions"))
    else {
        return None;
    };
    let mut order: Vec<Option<String>> = vec![None; spatial.len() + 2];
    let mut set = |position: i128, label: String| {
        let slot = order.get_mut(usize::try_from(position).ok()?)?;
        if slot.is_some() {
            return None;
        }
        *slot = Some(label);
        Some(())
    };
    for (letter, name) in letters {
        match attribute(fields, &format!("{side}_{name}_dimension")) {
            Some(Attribute::Integer(position, _)) => set(*position, letter.to_string())?,
            _ => return None,
        }
    }
    for (number, position) in spatial.iter().enumerate() {
        set(i128::from(*position), number.to_string())?;
    }
    Some(format!("[{}]", order.into_iter().collect::<Option<Vec<_>>>()?.join(", ")))
}
