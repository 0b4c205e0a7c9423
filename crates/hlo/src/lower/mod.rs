//! Lowering of StableHLO modules to tensor graphs and steps.
//!
//! One pass over the entry function, for one set of argument shapes, with calls inlined and shapes inferred
//! along the way. Each operation becomes nodes of one list or, for control flow and host calls, a step.
//! The module `sequence` then partitions the nodes into the graphs between the steps.

mod attributes;
mod batch_norm;
mod builder;
mod call;
mod complex_functions;
mod constant_folding;
mod context;
mod contraction;
mod control_flow;
mod convolution;
mod dispatch;
mod elementwise;
mod error;
mod gather;
mod lapack;
mod linear_algebra;
mod random;
mod reduce;
mod reduce_precision;
mod reduce_window;
mod scalar_body;
mod scatter;
mod select_and_scatter;
mod sequence;
mod shape;
mod sort;
mod special;
mod verify;

pub use error::{LowerError, Problem};
pub use verify::{custom_call_targets, has_lowering, verify};

use crate::module::{Function, Module, Type, attribute};
use crate::program::{Argument, Program, ValueType};
use attributes::type_name;
use builder::{Lowered, Source};
use context::{Bound, Lowering, value_type};
use error::Failure;

/// Lowers the entry function for arguments of these types, or of the types that the function declares.
///
/// The argument types are required if the function declares dynamic dimensions (`?`).
///
/// # Errors
/// If operations cannot be lowered, with all of them.
pub fn lower(module: &Module, arguments: Option<&[ValueType]>) -> Result<Program, LowerError> {
    let function = entry(module)?;
    let function_error = |message: String| LowerError {
        problems: vec![Problem {
            operation: format!("func.func @{}", function.name),
            location: function.location,
            message,
        }],
    };
    let arguments = argument_types(function, arguments).map_err(&function_error)?;
    let mut lowering = Lowering::new(module);
    let bound: Vec<Bound> = arguments
        .iter()
        .enumerate()
        .map(|(i, ty)| {
            let source = Source::Argument(i);
            let node = lowering.builder().input(source, ty.shape.clone(), ty.dtype);
            lowering.bound(node)
        })
        .collect();
    let results = lowering.call(&function.name, bound).and_then(|results| {
        let mut nodes = Vec::new();
        for result in &results {
            flatten(&mut lowering, result, &mut nodes)?;
        }
        Ok(nodes)
    });
    let outputs = match results {
        Ok(outputs) if lowering.problems.is_empty() => outputs,
        Err(Failure::Invalid(message)) if lowering.problems.is_empty() => {
            return Err(function_error(message));
        }
        _ => return Err(LowerError { problems: lowering.problems }),
    };
    let constants = std::mem::take(&mut lowering.constants);
    let builder = lowering.leave();
    let results = outputs
        .iter()
        .map(|&node| ValueType { shape: builder.shape(node).clone(), dtype: builder.dtype(node) })
        .collect();
    let constant_types: Vec<ValueType> = constants.iter().map(|one| one.ty.clone()).collect();
    let body = sequence::build_sequence(builder, &outputs, &arguments, &constant_types, |source| {
        match source {
            Source::Constant(number) => Some(number),
            _ => None,
        }
    });
    let is_donated = |i: usize| {
        function.argument_attributes.get(i).is_some_and(|attributes| {
            attribute(attributes, "tf.aliasing_output").is_some()
                || attribute(attributes, "jax.buffer_donor").is_some()
        })
    };
    let arguments = arguments
        .into_iter()
        .enumerate()
        .map(|(i, ty)| Argument { name: function.argument_name(i), ty, is_donated: is_donated(i) })
        .collect();
    Ok(Program { name: function.name.clone(), arguments, results, constants, body })
}

/// The entry function: `main`, or else the only public function.
pub fn entry(module: &Module) -> Result<&Function, LowerError> {
    if let Some(main) = module.functions.iter().find(|function| function.name == "main") {
        return Ok(main);
    }
    let mut public = module.functions.iter().filter(|function| !function.is_private);
    match (public.next(), public.next()) {
        (Some(only), None) => Ok(only),
        (first, _) => Err(LowerError {
            problems: vec![Problem {
                operation: "module".into(),
                location: first.map(|first| first.location).unwrap_or_default(),
                message:
                    "expected a function @main or exactly one public function, found neither; \
                          name the function to run @main"
                        .into(),
            }],
        }),
    }
}

/// The types of the entry function's arguments, with dynamic dimensions resolved by the given types.
fn argument_types(
    function: &Function,
    given: Option<&[ValueType]>,
) -> Result<Vec<ValueType>, String> {
    let declared = &function.body.arguments;
    if let Some(given) = given
        && given.len() != declared.len()
    {
        return Err(format!("expected {} arguments, found {}", declared.len(), given.len()));
    }
    declared
        .iter()
        .enumerate()
        .map(|(i, argument)| {
            let known = value_type(&argument.ty).map_err(|failure| match failure {
                Failure::Invalid(message) => format!("argument {i}: {message}"),
                Failure::Propagated => format!("argument {i} is not known"),
            })?;
            match (known, given.map(|given| &given[i])) {
                (Some(known), None) => Ok(known),
                (None, None) => Err(format!(
                    "argument {i} is {}, which has dynamic dimensions; give the shapes of all \
                     arguments",
                    type_name(&argument.ty)
                )),
                (_, Some(given)) if fits(&argument.ty, given) => Ok(given.clone()),
                (_, Some(given)) => Err(format!(
                    "argument {i}: expected {}, found {}{}",
                    type_name(&argument.ty),
                    given.dtype,
                    given.shape
                )),
            }
        })
        .collect()
}

/// Whether an argument type matches its declaration, in which dynamic dimensions match any extent.
fn fits(declared: &Type, given: &ValueType) -> bool {
    let Type::Tensor(tensor) = declared else { return false };
    let dtype: Lowered<_> = attributes::dtype(&tensor.element);
    dtype == Ok(given.dtype)
        && tensor.dimensions.len() == given.shape.rank()
        && tensor
            .dimensions
            .iter()
            .zip(given.shape.iter())
            .all(|(known, &extent)| known.is_none_or(|known| known == extent as u64))
}

/// The tensors of a result; a tuple is flattened.
fn flatten(
    lowering: &mut Lowering<'_>,
    bound: &Bound,
    nodes: &mut Vec<inflight_ir::graph::NodeId>,
) -> Lowered<()> {
    match bound {
        Bound::Tuple(parts) => {
            parts.iter().try_for_each(|part| flatten(lowering, part, nodes))?;
        }
        Bound::Token => {}
        other => nodes.push(lowering.node(other)?),
    }
    Ok(())
}
