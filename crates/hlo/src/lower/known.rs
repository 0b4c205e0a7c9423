//! What can be said of a program before its shapes are known: which of its operations nobody knows.

use super::attributes::{self, Fields};
use super::error::{Failure, LowerError, Problem};
use super::lowering::is_return;
use super::operations::{is_known, plain_name, unsupported};
use super::{call, entry};
use crate::module::{Attribute, Function, Location, Module, Operation, Region, Type, attribute};
use rustc_hash::FxHashSet;

/// What a program that is executed uses and cannot be lowered, whatever its arguments are: operations and element
/// types, all of them.
///
/// # Errors
/// If there is any, or no function to execute.
pub fn check(module: &Module) -> Result<(), LowerError> {
    let mut problems = Vec::new();
    visit(module, &mut |operation| {
        let mut report = |message: String| {
            let problem = Problem {
                operation: operation.name.clone(),
                location: operation.location,
                message,
            };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        };
        let name = plain_name(&operation.name);
        if !is_known(name) {
            if let Failure::Wrong(message) = unsupported(name) {
                report(message);
            }
            return;
        }
        for result in &operation.results {
            if let Type::Tensor(tensor) = &result.ty
                && let Err(Failure::Wrong(message)) = attributes::dtype(&tensor.element)
            {
                report(message);
            }
        }
    })?;
    match problems.is_empty() {
        true => Ok(()),
        false => Err(LowerError { problems }),
    }
}

/// The targets of a program's `custom_call`s, and where each is called.
///
/// # Errors
/// If there is no function to execute.
pub fn called(module: &Module) -> Result<Vec<(String, Location)>, LowerError> {
    let mut targets = Vec::new();
    visit(module, &mut |operation| {
        if plain_name(&operation.name) == "custom_call"
            && let Ok(target) = Fields::of(operation).symbol("call_target_name")
        {
            targets.push((target.to_string(), operation.location));
        }
    })?;
    Ok(targets)
}

/// Whether a `custom_call` of this target may be another way of writing an operation, or an annotation: then nobody
/// is called.
pub fn is_written_out(target: &str) -> bool {
    matches!(
        target,
        "ApproxTopK"
            | "Sharding"
            | "SPMDFullToShardShape"
            | "SPMDShardToFullShape"
            | "shape_assertion"
    ) || target.starts_with("mhlo.")
        || target.starts_with("lapack_")
}

/// All operations of the function that is executed, and of those it calls.
fn visit<'a>(
    module: &'a Module,
    visitor: &mut impl FnMut(&'a Operation),
) -> Result<(), LowerError> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut open: Vec<&Function> = vec![entry(module)?];
    while let Some(function) = open.pop() {
        if !seen.insert(&function.name) {
            continue;
        }
        let mut regions: Vec<&Region> = vec![&function.body];
        while let Some(region) = regions.pop() {
            for operation in region.operations.iter().filter(|operation| !is_return(operation)) {
                visitor(operation);
                regions.extend(&operation.regions);
                let is_composite = plain_name(&operation.name) == "composite";
                if is_composite && call::is_operation(operation) {
                    continue;
                }
                for name in ["callee", "decomposition"] {
                    if let Some(Attribute::Symbol(called)) = attribute(&operation.attributes, name)
                    {
                        open.extend(module.functions.iter().find(|known| known.name == *called));
                    }
                }
            }
        }
    }
    Ok(())
}
