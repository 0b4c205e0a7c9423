//! From a program as it was written to one that is executed.
//!
//! The functions are walked once, for one set of argument shapes, with calls inlined and shapes inferred
//! on the way. Each operation becomes nodes of one list, or, where there is control flow, a step; in the
//! end the nodes are dealt out to graphs between the steps.

mod attributes;
mod body;
mod builder;
mod call;
mod complex;
mod contraction;
mod control;
mod convolution;
mod elementwise;
mod error;
mod fold;
mod gather;
mod known;
mod lapack;
mod linear;
mod lowering;
mod normalize;
mod operations;
mod precision;
mod random;
mod reduce;
mod scatter;
mod select_and_scatter;
mod sequence;
mod shape;
mod sort;
mod special;
mod window;

pub use error::{LowerError, Problem};
pub use known::{called, check, is_written_out};

use crate::module::{Function, Module, Type, attribute};
use crate::program::{Argument, Program, ValueType};
use attributes::type_name;
use builder::{Lowered, Source};
use error::Failure;
use lowering::{Bound, Lowering, value_type};

/// The program for arguments of these types, or of the types that the module itself gives.
///
/// Everything that cannot be lowered is reported at once. Arguments must be given where the module
/// leaves dimensions of its own open (`?`).
pub fn lower(module: &Module, arguments: Option<&[ValueType]>) -> Result<Program, LowerError> {
    let function = entry(module)?;
    let wrong = |message: String| LowerError {
        problems: vec![Problem {
            operation: format!("func.func @{}", function.name),
            location: function.location,
            message,
        }],
    };
    let arguments = argument_types(function, arguments).map_err(&wrong)?;
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
        Err(Failure::Wrong(message)) if lowering.problems.is_empty() => return Err(wrong(message)),
        _ => return Err(LowerError { problems: lowering.problems }),
    };
    let constants = std::mem::take(&mut lowering.constants);
    let builder = lowering.leave();
    let results = outputs
        .iter()
        .map(|&node| ValueType { shape: builder.shape(node).clone(), dtype: builder.dtype(node) })
        .collect();
    let constant_types: Vec<ValueType> = constants.iter().map(|one| one.ty.clone()).collect();
    let body =
        sequence::finish(builder, &outputs, &arguments, &constant_types, |source| match source {
            Source::Constant(number) => Some(number),
            _ => None,
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

/// `main`, or the only function that is public: what is executed.
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
                    "there is no function @main, and not exactly one public function; name the \
                          function to run @main"
                        .into(),
            }],
        }),
    }
}

/// The types of the entry's arguments, those given where the function leaves dimensions open.
fn argument_types(
    function: &Function,
    given: Option<&[ValueType]>,
) -> Result<Vec<ValueType>, String> {
    let declared = &function.body.arguments;
    if let Some(given) = given
        && given.len() != declared.len()
    {
        return Err(format!(
            "it takes {} arguments, but {} are given",
            declared.len(),
            given.len()
        ));
    }
    declared
        .iter()
        .enumerate()
        .map(|(i, argument)| {
            let known = value_type(&argument.ty).map_err(|failure| match failure {
                Failure::Wrong(message) => format!("argument {i}: {message}"),
                Failure::Spread => format!("argument {i} is not known"),
            })?;
            match (known, given.map(|given| &given[i])) {
                (Some(known), None) => Ok(known),
                (None, None) => Err(format!(
                    "argument {i} is {}: give the shapes of all arguments",
                    type_name(&argument.ty)
                )),
                (_, Some(given)) if fits(&argument.ty, given) => Ok(given.clone()),
                (_, Some(given)) => Err(format!(
                    "argument {i} is {}, but {}{} is given",
                    type_name(&argument.ty),
                    given.dtype,
                    given.shape
                )),
            }
        })
        .collect()
}

/// Whether a type is one of those that a declaration allows.
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

/// The tensors of a result, of which a tuple may have several.
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
