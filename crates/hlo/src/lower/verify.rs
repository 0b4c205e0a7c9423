//! Verification that does not need argument shapes: unsupported operations, element types and custom call targets.

use super::attributes::{self, AttributeView};
use super::context::is_return;
use super::dispatch::{is_supported, plain_name, unsupported};
use super::error::{Failure, LowerError, Problem};
use super::{call, entry};
use crate::module::{Attribute, Function, Location, Module, Operation, Region, Type, attribute};
use rustc_hash::FxHashSet;

/// Verifies that the operations and element types of the entry function, and of the functions it calls, are supported.
///
/// # Errors
/// If some are not, with all of them, or if there is no entry function.
pub fn verify(module: &Module) -> Result<(), LowerError> {
    let mut problems = Vec::new();
    visit_reachable(module, &mut |operation| {
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
        if !is_supported(name) {
            if let Failure::Invalid(message) = unsupported(name) {
                report(message);
            }
            return;
        }
        for result in &operation.results {
            if let Type::Tensor(tensor) = &result.ty
                && let Err(Failure::Invalid(message)) = attributes::dtype(&tensor.element)
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

/// The targets of the `custom_call` operations, and their source locations.
///
/// # Errors
/// If there is no entry function.
pub fn custom_call_targets(module: &Module) -> Result<Vec<(String, Location)>, LowerError> {
    let mut targets = Vec::new();
    visit_reachable(module, &mut |operation| {
        if plain_name(&operation.name) == "custom_call"
            && let Ok(target) = AttributeView::of(operation).symbol("call_target_name")
        {
            targets.push((target.to_string(), operation.location));
        }
    })?;
    Ok(targets)
}

/// Whether lowering may expand a `custom_call` of this target to an operation, or drop it as an annotation. Such a
/// call needs no registered host function.
pub fn has_lowering(target: &str) -> bool {
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

/// Visits all operations of the entry function and of the functions it calls.
fn visit_reachable<'a>(
    module: &'a Module,
    visitor: &mut impl FnMut(&'a Operation),
) -> Result<(), LowerError> {
    let mut seen: FxHashSet<&str> = FxHashSet::default();
    let mut worklist: Vec<&Function> = vec![entry(module)?];
    while let Some(function) = worklist.pop() {
        if !seen.insert(&function.name) {
            continue;
        }
        let mut regions: Vec<&Region> = vec![&function.body];
        while let Some(region) = regions.pop() {
            for operation in region.operations.iter().filter(|operation| !is_return(operation)) {
                visitor(operation);
                regions.extend(&operation.regions);
                let is_composite = plain_name(&operation.name) == "composite";
                if is_composite && call::has_direct_lowering(operation) {
                    continue;
                }
                for name in ["callee", "decomposition"] {
                    if let Some(Attribute::Symbol(called)) = attribute(&operation.attributes, name)
                    {
                        worklist
                            .extend(module.functions.iter().find(|known| known.name == *called));
                    }
                }
            }
        }
    }
    Ok(())
}
