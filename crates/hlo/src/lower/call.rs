//! Lowering of `call`, `composite`, expandable `custom_call`s, and tuples.

use super::attributes::AttributeView;
use super::builder::Lowered;
use super::context::{Bound, Lowering, only};
use super::{control_flow, elementwise, lapack, sort};
use crate::module::Operation;

/// `func.call`
pub(super) fn call<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let callee = AttributeView::of(operation).symbol("callee")?;
    let arguments = lowering.values(operation)?;
    lowering.call(callee, arguments)
}

/// Whether a `composite` is lowered to a known operation, so that its decomposition is not used.
pub(super) fn has_direct_lowering(operation: &Operation) -> bool {
    let name = AttributeView::of(operation).symbol("name").unwrap_or_default();
    name == "chlo.top_k" || name.starts_with("chlo.") && elementwise::is_elementwise(name)
}

/// `composite`: lowered to a known operation, or by its decomposition.
pub(super) fn composite<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let fields = AttributeView::of(operation);
    let name = fields.symbol("name")?;
    if name.starts_with("chlo.")
        && let Some(node) = elementwise::lower(lowering, operation, name)?
    {
        return Ok(only(lowering, node));
    }
    if name == "chlo.top_k"
        && let Ok(attributes) = fields.structured("composite_attributes")
        && let Some(count) = attributes.integer("k")?
    {
        return sort::largest(lowering, operation, count);
    }
    let arguments = lowering.values(operation)?;
    lowering.call(fields.symbol("decomposition")?, arguments)
}

/// `custom_call`: targets that denote an operation are expanded, others are host calls.
pub(super) fn custom_call<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let fields = AttributeView::of(operation);
    let target = fields.symbol("call_target_name")?;
    if let Some(name) = target.strip_prefix("mhlo.") {
        if name == "topk"
            && let Ok(attributes) = fields.structured("mhlo.attributes")
            && let Some(count) = attributes.integer("k")?
        {
            return sort::largest(lowering, operation, count);
        }
        if let Some(node) = elementwise::lower(lowering, operation, &format!("chlo.{name}"))? {
            return Ok(only(lowering, node));
        }
    }
    if target == "ApproxTopK" {
        return sort::approximate_top_k(lowering, operation);
    }
    if let Some(results) = lapack::lower(lowering, operation, target)? {
        return Ok(results);
    }
    control_flow::custom_call(lowering, operation)
}

/// `get_tuple_element`
pub(super) fn get_tuple_element(
    lowering: &mut Lowering<'_>,
    operation: &Operation,
) -> Lowered<Vec<Bound>> {
    let index = AttributeView::of(operation).axis("index")?;
    let [tuple] = operation.operands[..] else { return Err("expected one operand".into()) };
    match lowering.value(tuple)? {
        Bound::Tuple(parts) => match parts.get(index) {
            Some(part) => Ok(vec![part.clone()]),
            None => Err(format!(
                "expected an index below {}, the tuple's size, found {index}",
                parts.len()
            )
            .into()),
        },
        _ => Err("expected a tuple operand".into()),
    }
}
