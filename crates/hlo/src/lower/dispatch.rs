//! Dispatch table from operation names to lowering functions.

use super::builder::Lowered;
use super::context::{Bound, Lowering, only};
use super::{
    batch_norm, call, contraction, control_flow, convolution, elementwise, gather, linear_algebra,
    random, reduce, reduce_window, scatter, select_and_scatter, shape, sort,
};
use crate::module::Operation;
use inflight_ir::graph::NodeId;

/// Lowers one operation to the values of its results.
pub(super) fn lower<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let full_name = operation.name.as_str();
    let name = plain_name(full_name);
    if lowering.elementwise && !is_scalar_operation(name) && !elementwise::is_elementwise(name) {
        return Err(format!(
            "{full_name} inside the body of another operation is not supported; expected scalar \
             elementwise operations"
        )
        .into());
    }
    let known = OPERATIONS.iter().find(|(names, _)| names.contains(&name));
    match known.map(|(_, lower)| lower) {
        Some(Lower::Value(lower)) => {
            let node = lower(lowering, operation)?;
            Ok(only(lowering, node))
        }
        Some(Lower::Values(lower)) => lower(lowering, operation),
        None => match elementwise::lower(lowering, operation, name)? {
            Some(node) => Ok(only(lowering, node)),
            None => Err(unsupported(name)),
        },
    }
}

/// Strips the StableHLO dialect prefix, or that of MHLO, its predecessor, from an operation's name.
pub(super) fn plain_name(full_name: &str) -> &str {
    match full_name.split_once('.') {
        Some(("stablehlo" | "mhlo", name)) => name,
        _ => full_name,
    }
}

/// Whether [`lower`] supports an operation, by its plain name.
pub(super) fn is_supported(name: &str) -> bool {
    OPERATIONS.iter().any(|(names, _)| names.contains(&name)) || elementwise::is_elementwise(name)
}

/// A lowering function.
enum Lower {
    /// Of an operation with one result.
    Value(for<'a> fn(&mut Lowering<'a>, &'a Operation) -> Lowered<NodeId>),
    /// Of an operation with any number of results.
    Values(for<'a> fn(&mut Lowering<'a>, &'a Operation) -> Lowered<Vec<Bound>>),
}

use Lower::{Value, Values};

/// Lowering functions by plain operation name, except for elementwise operations.
const OPERATIONS: &[(&[&str], Lower)] = &[
    (&["while"], Values(control_flow::while_loop)),
    (&["if", "case"], Values(control_flow::conditional)),
    (&["custom_call"], Values(call::custom_call)),
    (&["func.call", "call"], Values(call::call)),
    (&["composite"], Values(call::composite)),
    (&["tuple"], Values(|lowering, operation| Ok(vec![Bound::Tuple(lowering.values(operation)?)]))),
    (&["get_tuple_element"], Values(call::get_tuple_element)),
    (&["optimization_barrier"], Values(|lowering, operation| lowering.values(operation))),
    (&["create_token", "after_all"], Values(|_, _| Ok(vec![Bound::Token]))),
    (&["trace", "cstr_reshapable"], Values(|_, _| Ok(Vec::new()))),
    // Shapes.
    (&["constant", "chlo.constant", "arith.constant"], Value(shape::constant)),
    (&["chlo.constant_like"], Value(shape::constant_like)),
    (&["iota", "dynamic_iota"], Value(shape::iota)),
    (&["reshape", "dynamic_reshape", "tensor.cast"], Value(shape::reshape)),
    (&["broadcast_in_dim", "dynamic_broadcast_in_dim"], Value(shape::broadcast_in_dim)),
    (&["broadcast"], Value(shape::broadcast)),
    (&["transpose"], Value(shape::transpose)),
    (&["slice", "real_dynamic_slice"], Value(shape::slice)),
    (&["pad", "dynamic_pad"], Value(shape::pad)),
    (&["concatenate"], Value(shape::concatenate)),
    (&["reverse"], Value(shape::reverse)),
    (&["get_dimension_size"], Value(shape::get_dimension_size)),
    (&["set_dimension_size"], Value(shape::set_dimension_size)),
    (&["bitcast_convert"], Value(shape::bitcast_convert)),
    (&["partition_id", "replica_id"], Value(|lowering, _| Ok(lowering.builder().scalar(0u32)))),
    // Indexing.
    (&["gather", "dynamic_gather"], Value(gather::gather)),
    (&["torch_index_select"], Value(gather::index_select)),
    (&["dynamic_slice"], Value(gather::dynamic_slice)),
    (&["dynamic_update_slice"], Value(scatter::dynamic_update_slice)),
    (&["scatter"], Values(scatter::scatter)),
    (&["select_and_scatter"], Values(select_and_scatter::select_and_scatter)),
    (&["sort"], Values(sort::sort)),
    (&["chlo.top_k"], Values(sort::top_k)),
    // Reductions and maps.
    (&["reduce"], Values(reduce::reduce)),
    (&["reduce_window"], Values(reduce_window::reduce_window)),
    (&["map"], Values(elementwise::map)),
    // Linear algebra.
    (&["dot_general"], Value(contraction::dot_general)),
    (&["dot"], Value(contraction::dot)),
    (&["convolution", "dynamic_conv"], Value(convolution::convolution)),
    (&["cholesky"], Value(linear_algebra::cholesky)),
    (&["triangular_solve"], Value(linear_algebra::triangular_solve)),
    (&["fft"], Value(linear_algebra::fft)),
    (&["batch_norm_inference"], Value(batch_norm::inference)),
    (&["batch_norm_training"], Values(batch_norm::training)),
    (&["batch_norm_grad"], Values(batch_norm::gradient)),
    // Random numbers.
    (&["rng"], Value(random::rng)),
    (&["rng_bit_generator"], Values(random::rng_bit_generator)),
];

/// Operations that are supported in scalar bodies beside elementwise ones.
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
        _ => "the operation is not supported",
    };
    reason.into()
}
