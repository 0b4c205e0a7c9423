//! Canonicalization of attributes and value numbers, so that equivalent sources give equal modules.
//!
//! Text may omit an attribute that has its default value, bytecode always writes it, and older text has
//! `dense<1> : tensor<2xi64>` where newer text has `array<i64: 1, 1>`. A canonical [`Module`] uses the newer
//! encoding and omits defaults.

use crate::elements;
use crate::module::{
    Attribute, Attributes, Dense, ElementType, Function, Module, Operation, Region, ValueId,
};
use inflight_ir::DType;
use std::collections::HashMap;

/// Canonicalizes every operation, and numbers the values of each function from 0 in definition order, an
/// operation's results before the values of its regions.
pub(crate) fn canonicalize(module: &mut Module) {
    for function in &mut module.functions {
        canonicalize_region(&mut function.body);
        // Sources may terminate a function with either name.
        for operation in &mut function.body.operations {
            if operation.name == "stablehlo.return" {
                operation.name = "func.return".to_string();
            }
        }
        renumber(function);
    }
}

fn canonicalize_region(region: &mut Region) {
    for operation in &mut region.operations {
        canonicalize_operation(operation);
        for inner in &mut operation.regions {
            canonicalize_region(inner);
        }
    }
}

fn canonicalize_operation(operation: &mut Operation) {
    for (name, value) in &mut operation.attributes {
        if is_list_of_integers(name)
            && let Attribute::Dense(dense) = value
            && let Some(integers) = integers_of(dense)
        {
            *value = Attribute::Integers(integers);
        }
        if let Attribute::Record(kind, fields) = value {
            fields.retain(|(field, value)| !is_default_field(kind, field, value));
        }
    }
    let name = operation.name.as_str();
    operation.attributes.retain(|(attribute, value)| !is_default(name, attribute, value));
}

/// Attributes that are lists of integers or booleans in the current specification.
fn is_list_of_integers(name: &str) -> bool {
    matches!(
        name,
        "broadcast_dimensions"
            | "broadcast_sizes"
            | "permutation"
            | "dimensions"
            | "slice_sizes"
            | "start_indices"
            | "limit_indices"
            | "strides"
            | "edge_padding_low"
            | "edge_padding_high"
            | "interior_padding"
            | "fft_length"
            | "window_dimensions"
            | "window_strides"
            | "base_dilations"
            | "window_dilations"
            | "lhs_dilation"
            | "rhs_dilation"
            | "window_reversal"
            | "known_expanding_dimensions"
            | "known_nonexpanding_dimensions"
    )
}

/// The values of a rank-1 constant of `i64` or booleans.
pub(crate) fn integers_of(dense: &Dense) -> Option<Vec<i64>> {
    let [Some(length)] = dense.ty.dimensions[..] else { return None };
    let read: fn(&[u8]) -> i64 = match dense.ty.element {
        ElementType::Core(DType::Bool) => |bytes| i64::from(bytes[0] != 0),
        ElementType::Core(DType::I64) => {
            |bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | i64::from(*byte))
        }
        _ => return None,
    };
    let size = elements::size(&dense.ty.element)?;
    if dense.is_splat {
        // No operation has this many dimensions: do not materialize a huge splat; the verifier reports it.
        let length = usize::try_from(length).ok().filter(|length| *length <= 128)?;
        return Some(vec![read(&dense.bytes); length]);
    }
    Some(dense.bytes.chunks_exact(size).map(read).collect())
}

/// Whether a field of a structured attribute has its default value.
fn is_default_field(kind: &str, field: &str, value: &Attribute) -> bool {
    match (kind, field, value) {
        ("gather" | "scatter" | "dot" | "ragged_dot", _, Attribute::Integers(items)) => {
            items.is_empty()
        }
        ("gather" | "scatter", "index_vector_dim", Attribute::Integer(0, _)) => true,
        _ => false,
    }
}

/// Whether an attribute of an operation has its default value.
fn is_default(operation: &str, name: &str, value: &Attribute) -> bool {
    let short = operation.split_once('.').map_or(operation, |(_, short)| short);
    match (short, name, value) {
        (_, "result_accuracy", Attribute::Record(_, fields)) => is_default_accuracy(fields),
        (_, "precision_config", Attribute::Array(items)) => {
            items.iter().all(|item| matches!(item, Attribute::Enum(_, value) if value == "DEFAULT"))
        }
        ("compare", "compare_type", Attribute::Enum(_, value)) => value == "NOTYPE",
        ("gather" | "dynamic_gather" | "scatter", "indices_are_sorted", value)
        | ("scatter", "unique_indices", value)
        | ("sort", "is_stable", value)
        | ("cholesky", "lower", value)
        | ("custom_call", "has_side_effect", value)
        | ("send" | "recv", "is_host_transfer", value) => *value == Attribute::Bool(false),
        ("sort", "dimension", Attribute::Integer(-1, _)) => true,
        (
            "convolution" | "dynamic_conv" | "reduce_window" | "select_and_scatter",
            "window_strides" | "base_dilations" | "window_dilations" | "lhs_dilation"
            | "rhs_dilation",
            Attribute::Integers(items),
        ) => items.iter().all(|item| *item == 1),
        ("convolution" | "dynamic_conv", "window_reversal", Attribute::Integers(items)) => {
            items.iter().all(|item| *item == 0)
        }
        (
            "convolution" | "dynamic_conv" | "reduce_window" | "select_and_scatter",
            "padding",
            Attribute::Dense(dense),
        ) => dense.bytes.iter().all(|byte| *byte == 0),
        ("custom_call", "backend_config", Attribute::String(text)) => text.is_empty(),
        ("custom_call", "api_version", Attribute::Integer(1, _)) => true,
        (
            "custom_call",
            "called_computations" | "operand_layouts" | "result_layouts" | "output_operand_aliases",
            Attribute::Array(items),
        ) => items.is_empty(),
        ("infeed", "infeed_config", Attribute::String(text))
        | ("outfeed", "outfeed_config", Attribute::String(text)) => text.is_empty(),
        ("infeed", "layout", Attribute::Array(items)) => items.is_empty(),
        (
            "dynamic_broadcast_in_dim",
            "known_expanding_dimensions" | "known_nonexpanding_dimensions",
            Attribute::Integers(items),
        ) => items.is_empty(),
        (
            "all_gather"
            | "all_reduce"
            | "all_to_all"
            | "collective_broadcast"
            | "collective_permute"
            | "reduce_scatter",
            "channel_handle",
            Attribute::Record(_, fields),
        ) => fields.iter().all(|(_, value)| matches!(value, Attribute::Integer(0, _))),
        ("composite", "version", Attribute::Integer(0, _)) => true,
        ("composite", "composite_attributes", Attribute::Dictionary(items)) => items.is_empty(),
        _ => false,
    }
}

fn is_default_accuracy(fields: &Attributes) -> bool {
    fields.iter().all(|(_, value)| match value {
        Attribute::Float(value, _) => *value == 0.0,
        Attribute::Integer(value, _) => *value == 0,
        Attribute::Enum(_, mode) => mode == "DEFAULT",
        _ => false,
    })
}

fn renumber(function: &mut Function) {
    let mut ids = HashMap::new();
    assign_ids(&mut function.body, &mut ids);
    replace_ids(&mut function.body, &ids);
}

fn assign_ids(region: &mut Region, ids: &mut HashMap<ValueId, ValueId>) {
    let define = |id: &mut ValueId, ids: &mut HashMap<ValueId, ValueId>| {
        let new = ids.len() as ValueId;
        ids.insert(*id, new);
        *id = new;
    };
    for argument in &mut region.arguments {
        define(&mut argument.id, ids);
    }
    for operation in &mut region.operations {
        for result in &mut operation.results {
            define(&mut result.id, ids);
        }
        for inner in &mut operation.regions {
            assign_ids(inner, ids);
        }
    }
}

fn replace_ids(region: &mut Region, ids: &HashMap<ValueId, ValueId>) {
    for operation in &mut region.operations {
        for operand in &mut operation.operands {
            *operand = ids[operand];
        }
        for inner in &mut operation.regions {
            replace_ids(inner, ids);
        }
    }
}
