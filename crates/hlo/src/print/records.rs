//! Records as text.

use super::attributes::{attribute_in, between_commas, float_text};
use super::types::type_text;
use crate::module::{Attribute, Attributes, attribute};

/// `#stablehlo.gather<…>`
pub(super) fn record_text(kind: &str, fields: &Attributes) -> String {
    if kind == "conv" {
        let text =
            convolution_text(fields).unwrap_or_else(|| format!("raw {}", fields_text(fields)));
        return format!("#stablehlo.conv<{text}>");
    }
    let dialect = if kind == "ragged_dot" { "chlo" } else { "stablehlo" };
    format!("#{dialect}.{kind}<{}>", fields_in_order(kind, fields))
}

/// The fields of a record in the order that MLIR reads them in.
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

/// The value of a field: its type is known, and left out.
fn field_text(value: &Attribute) -> String {
    match value {
        Attribute::Integers(items) => format!("[{}]", between_commas(items)),
        Attribute::Integer(value, _) => value.to_string(),
        // Bits without a type would be an integer.
        Attribute::Float(value, ty) if value.is_finite() => float_text(*value, ty),
        Attribute::Enum(kind, name) => format!("#stablehlo.{kind}<{name}>"),
        Attribute::Type(ty) => type_text(ty),
        other => attribute_in("stablehlo", other),
    }
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, if the fields are of such a kind.
pub(super) fn convolution_text(fields: &Attributes) -> Option<String> {
    let input = order_text(fields, "input", [("b", "batch"), ("f", "feature")])?;
    let kernel = order_text(fields, "kernel", [("i", "input_feature"), ("o", "output_feature")])?;
    let output = order_text(fields, "output", [("b", "batch"), ("f", "feature")])?;
    let is_complete = fields.len() == 9;
    is_complete.then(|| format!("{input}x{kernel}->{output}"))
}

/// Which dimension is which, in order.
fn order_text(fields: &Attributes, side: &str, letters: [(&str, &str); 2]) -> Option<String> {
    let Some(Attribute::Integers(spatial)) =
        attribute(fields, &format!("{side}_spatial_dimensions"))
    else {
        return None;
    };
    let mut order: Vec<Option<String>> = vec![None; spatial.len() + 2];
    let mut place = |position: i128, label: String| {
        let place = order.get_mut(usize::try_from(position).ok()?)?;
        if place.is_some() {
            return None;
        }
        *place = Some(label);
        Some(())
    };
    for (letter, name) in letters {
        match attribute(fields, &format!("{side}_{name}_dimension")) {
            Some(Attribute::Integer(position, _)) => place(*position, letter.to_string())?,
            _ => return None,
        }
    }
    for (number, position) in spatial.iter().enumerate() {
        place(i128::from(*position), number.to_string())?;
    }
    Some(format!("[{}]", order.into_iter().collect::<Option<Vec<_>>>()?.join(", ")))
}
