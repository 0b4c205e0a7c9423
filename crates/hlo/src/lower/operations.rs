//! Which operation is lowered where.

use super::builder::Lowered;
use super::lowering::{Bound, Lowering, only};
use super::{
    call, contraction, control, convolution, elementwise, gather, linear, normalize, random,
    reduce, scatter, select_and_scatter, shape, sort, window,
};
use crate::module::Operation;

/// The values of an operation's results.
pub(super) fn lower<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let full_name = operation.name.as_str();
    let name = plain_name(full_name);
    if lowering.elementwise && !is_scalar_operation(name) && !elementwise::is_elementwise(name) {
        return Err(format!(
            "{full_name} inside a function of scalars that is applied to whole tensors is not supported"
        )
        .into());
    }
    let node = match name {
        "while" => return control::loops(lowering, operation),
        "if" | "case" => return control::branches(lowering, operation),
        "custom_call" => return call::custom_call(lowering, operation),
        "func.call" | "call" => return call::call(lowering, operation),
        "composite" => return call::composite(lowering, operation),
        "tuple" => return Ok(vec![Bound::Tuple(lowering.values(operation)?)]),
        "get_tuple_element" => return call::get_tuple_element(lowering, operation),
        "optimization_barrier" => return lowering.values(operation),
        "create_token" | "after_all" => return Ok(vec![Bound::Token]),
        "trace" | "cstr_reshapable" => return Ok(Vec::new()),

        "constant" | "chlo.constant" | "arith.constant" => shape::constant(lowering, operation)?,
        "chlo.constant_like" => shape::constant_like(lowering, operation)?,
        "iota" | "dynamic_iota" => shape::iota(lowering, operation)?,
        "reshape" | "dynamic_reshape" | "tensor.cast" => shape::reshape(lowering, operation)?,
        "broadcast_in_dim" | "dynamic_broadcast_in_dim" => {
            shape::broadcast_in_dim(lowering, operation)?
        }
        "broadcast" => shape::broadcast(lowering, operation)?,
        "transpose" => shape::transpose(lowering, operation)?,
        "slice" | "real_dynamic_slice" => shape::slice(lowering, operation)?,
        "pad" | "dynamic_pad" => shape::pad(lowering, operation)?,
        "concatenate" => shape::concatenate(lowering, operation)?,
        "reverse" => shape::reverse(lowering, operation)?,
        "get_dimension_size" => shape::get_dimension_size(lowering, operation)?,
        "set_dimension_size" => shape::set_dimension_size(lowering, operation)?,
        "bitcast_convert" => shape::bitcast_convert(lowering, operation)?,
        "partition_id" | "replica_id" => lowering.builder().scalar(0u32),

        "gather" | "dynamic_gather" => gather::gather(lowering, operation)?,
        "torch_index_select" => gather::index_select(lowering, operation)?,
        "dynamic_slice" => gather::dynamic_slice(lowering, operation)?,
        "dynamic_update_slice" => scatter::dynamic_update_slice(lowering, operation)?,
        "scatter" => return scatter::scatter(lowering, operation),
        "select_and_scatter" => {
            return select_and_scatter::select_and_scatter(lowering, operation);
        }
        "sort" => return sort::sort(lowering, operation),
        "chlo.top_k" => return sort::top_k(lowering, operation),

        "reduce" => return reduce::reduce(lowering, operation),
        "reduce_window" => return window::reduce_window(lowering, operation),
        "map" => return elementwise::map(lowering, operation),

        "dot_general" => contraction::dot_general(lowering, operation)?,
        "dot" => contraction::dot(lowering, operation)?,
        "convolution" | "dynamic_conv" => convolution::convolution(lowering, operation)?,
        "cholesky" => linear::cholesky(lowering, operation)?,
        "triangular_solve" => linear::triangular_solve(lowering, operation)?,
        "fft" => linear::fft(lowering, operation)?,

        "batch_norm_inference" => normalize::inference(lowering, operation)?,
        "batch_norm_training" => return normalize::training(lowering, operation),
        "batch_norm_grad" => return normalize::gradient(lowering, operation),

        "rng" => random::rng(lowering, operation)?,
        "rng_bit_generator" => return random::rng_bit_generator(lowering, operation),

        _ => match elementwise::lower(lowering, operation, name)? {
            Some(node) => node,
            None => return Err(unsupported(name)),
        },
    };
    debug_assert!(is_known(name), "{name} is not listed");
    Ok(only(lowering, node))
}

/// The name of an operation without its dialect, if that is StableHLO's. `mhlo` is what this dialect was before it
/// had a specification.
pub(super) fn plain_name(full_name: &str) -> &str {
    match full_name.split_once('.') {
        Some(("stablehlo" | "mhlo", name)) => name,
        _ => full_name,
    }
}

/// Whether an operation, by its plain name, is one that [`lower`] takes.
pub(super) fn is_known(name: &str) -> bool {
    OPERATIONS.contains(&name) || elementwise::is_elementwise(name)
}

/// The operations that [`lower`] takes, but for elementwise ones.
const OPERATIONS: &[&str] = &[
    "while",
    "if",
    "case",
    "custom_call",
    "func.call",
    "call",
    "composite",
    "tuple",
    "get_tuple_element",
    "optimization_barrier",
    "create_token",
    "after_all",
    "trace",
    "cstr_reshapable",
    "constant",
    "chlo.constant",
    "arith.constant",
    "chlo.constant_like",
    "iota",
    "dynamic_iota",
    "reshape",
    "dynamic_reshape",
    "tensor.cast",
    "broadcast_in_dim",
    "dynamic_broadcast_in_dim",
    "broadcast",
    "transpose",
    "slice",
    "real_dynamic_slice",
    "pad",
    "dynamic_pad",
    "concatenate",
    "reverse",
    "get_dimension_size",
    "set_dimension_size",
    "bitcast_convert",
    "partition_id",
    "replica_id",
    "gather",
    "dynamic_gather",
    "torch_index_select",
    "dynamic_slice",
    "dynamic_update_slice",
    "scatter",
    "select_and_scatter",
    "sort",
    "chlo.top_k",
    "reduce",
    "reduce_window",
    "map",
    "dot_general",
    "dot",
    "convolution",
    "dynamic_conv",
    "cholesky",
    "triangular_solve",
    "fft",
    "batch_norm_inference",
    "batch_norm_training",
    "batch_norm_grad",
    "rng",
    "rng_bit_generator",
];

/// What may stand in a function of scalars beside elementwise operations.
fn is_scalar_operation(name: &str) -> bool {
    matches!(
        name,
        "while"
            | "if"
            | "case"
            | "func.call"
            | "call"
            | "composite"
            | "tuple"
            | "get_tuple_element"
            | "optimization_barrier"
            | "constant"
            | "chlo.constant"
            | "reshape"
            | "broadcast_in_dim"
            | "transpose"
            | "map"
    )
}

pub(super) fn unsupported(name: &str) -> super::error::Failure {
    let reason = match name {
        "all_gather"
        | "all_reduce"
        | "all_to_all"
        | "collective_broadcast"
        | "collective_permute"
        | "cross-replica-sum"
        | "reduce_scatter" => {
            "collective operations are not supported; export the program for one device"
        }
        "send" | "recv" | "infeed" | "outfeed" => {
            "operations that exchange data with the host or other devices are not supported; make \
             the data an argument or a result"
        }
        "uniform_quantize" | "uniform_dequantize" => {
            "quantized types are not supported; dequantize when exporting"
        }
        _ => "this operation is not known",
    };
    reason.into()
}
