//! Legalization of VHLO operations to StableHLO.
//!
//! VHLO stores the fields of StableHLO's structured attributes as separate attributes, writes every default, and has
//! strings where StableHLO has symbol references.

use crate::canonical::integers_of;
use crate::module::{
    Attribute, Attributes, Function, Location, Operation, Region, Type, attribute,
};
use crate::syntax::{dictionaries, insert, own_attributes};

/// A structured attribute of StableHLO whose fields are separate attributes in VHLO.
struct StructuredAttribute {
    /// The attribute's name in StableHLO.
    name: &'static str,
    /// The structured attribute's mnemonic.
    kind: &'static str,
    /// The fields; each is an attribute of the same name in VHLO.
    fields: &'static [&'static str],
}

const DOT: StructuredAttribute = StructuredAttribute {
    name: "dot_dimension_numbers",
    kind: "dot",
    fields: &[
        "lhs_batching_dimensions",
        "lhs_contracting_dimensions",
        "rhs_batching_dimensions",
        "rhs_contracting_dimensions",
    ],
};

const ALGORITHM: StructuredAttribute = StructuredAttribute {
    name: "algorithm",
    kind: "dot_algorithm",
    fields: &[
        "accumulation_type",
        "allow_imprecise_accumulation",
        "lhs_component_count",
        "lhs_precision_type",
        "num_primitive_operations",
        "rhs_component_count",
        "rhs_precision_type",
    ],
};

const CONVOLUTION: StructuredAttribute = StructuredAttribute {
    name: "dimension_numbers",
    kind: "conv",
    fields: &[
        "input_batch_dimension",
        "input_feature_dimension",
        "input_spatial_dimensions",
        "kernel_input_feature_dimension",
        "kernel_output_feature_dimension",
        "kernel_spatial_dimensions",
        "output_batch_dimension",
        "output_feature_dimension",
        "output_spatial_dimensions",
    ],
};

const GATHER: StructuredAttribute = StructuredAttribute {
    name: "dimension_numbers",
    kind: "gather",
    fields: &[
        "collapsed_slice_dims",
        "index_vector_dim",
        "offset_dims",
        "operand_batching_dims",
        "start_index_map",
        "start_indices_batching_dims",
    ],
};

const SCATTER: StructuredAttribute = StructuredAttribute {
    name: "scatter_dimension_numbers",
    kind: "scatter",
    fields: &[
        "index_vector_dim",
        "input_batching_dims",
        "inserted_window_dims",
        "scatter_dims_to_operand_dims",
        "scatter_indices_batching_dims",
        "update_window_dims",
    ],
};

/// Legalizes an operation to StableHLO. The error is what was expected and what was found.
pub(super) fn legalize(
    operation: &mut Operation,
    is_function: bool,
) -> Result<(), (String, String)> {
    let Some(short) = operation.name.strip_prefix("vhlo.").and_then(without_version) else {
        let expected = "an operation of the dialect `vhlo`".to_string();
        return Err((expected, format!("`{}`", operation.name)));
    };
    let short = short.to_string();
    let attributes = &mut operation.attributes;
    match short.as_str() {
        "dot_general" => {
            group_fields(attributes, &DOT)?;
            group_fields(attributes, &ALGORITHM)?;
        }
        "convolution" | "dynamic_conv" => group_fields(attributes, &CONVOLUTION)?,
        "gather" | "dynamic_gather" => group_fields(attributes, &GATHER)?,
        "scatter" => group_fields(attributes, &SCATTER)?,
        "call" => strings_to_symbols(attributes, "callee"),
        "composite" => strings_to_symbols(attributes, "decomposition"),
        "custom_call" => strings_to_symbols(attributes, "called_computations"),
        _ => {}
    }
    if attribute(attributes, "channel_id").is_some() {
        channel(attributes)?;
    }
    if let Some(Attribute::Bool(value)) = attribute(attributes, "use_global_device_ids") {
        match value {
            true => insert(attributes, "use_global_device_ids", Attribute::Unit),
            false => attributes.retain(|(name, _)| name != "use_global_device_ids"),
        }
    }
    operation.name = match short.as_str() {
        "call" => "func.call".to_string(),
        "return" if is_function => "func.return".to_string(),
        _ => format!("stablehlo.{short}"),
    };
    Ok(())
}

/// Strips the version suffix: `add` of `add_v1`.
fn without_version(name: &str) -> Option<&str> {
    let (short, version) = name.rsplit_once("_v")?;
    version.bytes().all(|byte| byte.is_ascii_digit()).then_some(short)
}

/// Groups attributes into the fields of a structured attribute. Fields of type `none` are dropped, and so is a
/// `dot_algorithm` without fields.
fn group_fields(
    attributes: &mut Attributes,
    record: &StructuredAttribute,
) -> Result<(), (String, String)> {
    let mut fields = Attributes::new();
    let mut wrong = None;
    attributes.retain_mut(|(name, value)| {
        if !record.fields.contains(&name.as_str()) {
            return true;
        }
        match &*value {
            Attribute::Type(Type::Other(text)) if text == "none" => {}
            Attribute::Integer(..) | Attribute::Bool(_) | Attribute::Type(_) => {
                fields.push((std::mem::take(name), value.clone()));
            }
            Attribute::Dense(dense) => match integers_of(dense) {
                Some(integers) => {
                    fields.push((std::mem::take(name), Attribute::Integers(integers)));
                }
                None => wrong = Some(name.clone()),
            },
            _ => wrong = Some(name.clone()),
        }
        false
    });
    if let Some(name) = wrong {
        return Err((
            format!("`{name}` to be a list of integers"),
            "another attribute".to_string(),
        ));
    }
    if !(fields.is_empty() && record.kind == "dot_algorithm") {
        insert(attributes, record.name, Attribute::Record(record.kind.to_string(), fields));
    }
    Ok(())
}

/// Converts the strings of an attribute to symbol references.
fn strings_to_symbols(attributes: &mut Attributes, name: &str) {
    for (known, value) in attributes {
        if known == name {
            *value = string_to_symbol(value);
        }
    }
}

fn string_to_symbol(value: &Attribute) -> Attribute {
    match value {
        Attribute::String(text) => Attribute::Symbol(text.clone()),
        Attribute::Array(items) => Attribute::Array(items.iter().map(string_to_symbol).collect()),
        other => other.clone(),
    }
}

/// Groups a channel's id and type into a `channel_handle`.
fn channel(attributes: &mut Attributes) -> Result<(), (String, String)> {
    let mut take = |name: &str| {
        let index = attributes.iter().position(|(known, _)| known == name)?;
        Some(attributes.remove(index).1)
    };
    let i64 = crate::module::ElementType::Core(inflight_ir::DType::I64);
    let handle = take("channel_id").unwrap_or(Attribute::Integer(0, i64.clone()));
    let kind = take("channel_type").unwrap_or(Attribute::Integer(0, i64));
    if !matches!((&handle, &kind), (Attribute::Integer(..), Attribute::Integer(..))) {
        let expected = "`channel_id` and `channel_type` to be integers".to_string();
        return Err((expected, "another attribute".to_string()));
    }
    let fields = vec![("handle".to_string(), handle), ("type".to_string(), kind)];
    insert(attributes, "channel_handle", Attribute::Record("channel_handle".to_string(), fields));
    Ok(())
}

/// The function that a `vhlo.func` operation defines. The error is what was expected.
pub(super) fn function(
    attributes: Attributes,
    argument_names: Vec<Option<String>>,
    body: Region,
    location: Location,
) -> Result<Function, &'static str> {
    let Some(Attribute::String(name)) = attribute(&attributes, "sym_name") else {
        return Err("a function with the string attribute `sym_name`");
    };
    let Some(Attribute::Type(Type::Function(arguments, results))) =
        attribute(&attributes, "function_type")
    else {
        return Err("a function with the type attribute `function_type`");
    };
    if !body.arguments.iter().map(|argument| &argument.ty).eq(arguments) {
        return Err("a function whose block arguments have the types of its `function_type`");
    }
    let is_private =
        attribute(&attributes, "sym_visibility") == Some(&Attribute::String("private".to_string()));
    let result_attributes = dictionaries(&attributes, "res_attrs", results.len());
    Ok(Function {
        name: name.clone(),
        is_private,
        attributes: own_attributes(&attributes),
        argument_names,
        argument_attributes: dictionaries(&attributes, "arg_attrs", arguments.len()),
        results: results.iter().cloned().zip(result_attributes).collect(),
        body,
        location,
    })
}
