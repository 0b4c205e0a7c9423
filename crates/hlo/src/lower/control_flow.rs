//! Lowering of control flow: `while`, `if`, `case`, and `custom_call` of host functions.

use super::attributes::AttributeView;
use super::builder::{Builder, Lowered, Source};
use super::context::{Bound, Lowering};
use super::sequence::{build_sequence, live_captures};
use crate::module::{Attribute, Operation, Region, Type};
use crate::program::{Action, Call, Sequence, ValueType};
use inflight_ir::graph::{NodeId, Op};
use inflight_ir::{DType, Element, Shape};

/// Limits of unrolling a loop with a constant trip count: iterations, and nodes that they add.
const MAX_UNROLLED_ITERATIONS: usize = 32;
const MAX_UNROLLED_NODES: usize = 1024;

/// If-conversion limit: elementwise branches of at most this many nodes are all computed, and the result selected.
const MAX_SELECTED_NODES: usize = 48;

/// `while`
pub(super) fn while_loop<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let [condition, body] = regions::<2>(operation)?;
    let initial = lowering.values(operation)?;
    let returned = body.operations.last().map(|last| last.operands.as_slice()).unwrap_or_default();
    let counts = [condition.arguments.len(), body.arguments.len(), returned.len()];
    if counts.iter().any(|&count| count != initial.len()) {
        return Err(format!(
            "expected a condition and a body that take all {} carried values, and a body that \
             returns them; the condition takes {}, the body takes {} and returns {}",
            initial.len(),
            counts[0],
            counts[1],
            counts[2]
        )
        .into());
    }
    if let Some(results) = unroll(lowering, condition, body, &initial)? {
        return Ok(results);
    }
    if lowering.elementwise {
        return Err(
            "a loop without a constant trip count inside the body of another operation is \
                    not supported"
                .into(),
        );
    }

    // Values that the body returns unchanged are loop invariant.
    let changes: Vec<bool> = body
        .arguments
        .iter()
        .enumerate()
        .map(|(i, argument)| {
            returned.get(i) != Some(&argument.id) && !matches!(initial[i], Bound::Token)
        })
        .collect();
    let mut carried: Vec<NodeId> = Vec::new();
    for (value, _) in initial.iter().zip(&changes).filter(|(_, changes)| **changes) {
        carried.push(lowering.node(value)?);
    }
    let types = value_types(lowering.builder(), &carried);
    let condition = lower_region(lowering, condition, &initial, &changes, &types)?;
    let mut body = lower_region(lowering, body, &initial, &changes, &types)?;
    let tensors = initial.iter().zip(&changes).filter(|(value, _)| !matches!(value, Bound::Token));
    let mut changed = tensors.map(|(_, changes)| *changes);
    body.outputs.retain(|_| changed.next().unwrap_or(false));
    if value_types(&body.builder, &body.outputs) != types {
        return Err("the body returns values of other types than it takes".into());
    }
    let has_effect = condition.has_effect() || body.has_effect();
    let (inputs, sequences) = unify_captures(lowering.builder(), vec![condition, body], &types);
    let [condition, body] = <[Sequence; 2]>::try_from(sequences).expect("there are two regions");
    let action = Action::While { condition, body, carried: carried.len() };
    let results = types.into_iter().map(|ty| (ty.shape, ty.dtype)).collect();
    let inputs = carried.into_iter().chain(inputs).collect();
    let results = lowering.builder().step(action, inputs, results, operation.location, has_effect);
    let mut results = results.into_iter();
    Ok(initial
        .into_iter()
        .zip(changes)
        .map(|(initial, changes)| match changes {
            true => lowering.bound(results.next().expect("a result for each carried value")),
            false => initial,
        })
        .collect())
}

/// Builds a loop for an operation's expansion. Returns the final carried values.
pub(super) fn build_while<'a>(
    lowering: &mut Lowering<'a>,
    initial: Vec<NodeId>,
    condition: impl FnOnce(&mut Lowering<'a>, &[NodeId]) -> Lowered<NodeId>,
    body: impl FnOnce(&mut Lowering<'a>, &[NodeId]) -> Lowered<Vec<NodeId>>,
) -> Lowered<Vec<NodeId>> {
    let types = value_types(lowering.builder(), &initial);
    let origin = lowering.builder().origin.clone();
    let location = origin.as_ref().map(|origin| origin.location).unwrap_or_default();
    let condition = build_region(lowering, &types, |lowering, carried| {
        lowering.builder().origin.clone_from(&origin);
        Ok(vec![condition(lowering, carried)?])
    })?;
    let body = build_region(lowering, &types, |lowering, carried| {
        lowering.builder().origin.clone_from(&origin);
        body(lowering, carried)
    })?;
    let (inputs, sequences) = unify_captures(lowering.builder(), vec![condition, body], &types);
    let [condition, body] = <[Sequence; 2]>::try_from(sequences).expect("there are two sequences");
    let action = Action::While { condition, body, carried: initial.len() };
    let results = types.into_iter().map(|ty| (ty.shape, ty.dtype)).collect();
    let inputs = initial.into_iter().chain(inputs).collect();
    Ok(lowering.builder().step(action, inputs, results, location, false))
}

/// Builds a sequence with arguments of these types.
fn build_region<'a>(
    lowering: &mut Lowering<'a>,
    types: &[ValueType],
    lower: impl FnOnce(&mut Lowering<'a>, &[NodeId]) -> Lowered<Vec<NodeId>>,
) -> Lowered<LoweredRegion> {
    lowering.enter();
    let arguments: Vec<NodeId> = types
        .iter()
        .enumerate()
        .map(|(number, ty)| {
            let source = Source::Argument(number);
            lowering.builder().input(source, ty.shape.clone(), ty.dtype)
        })
        .collect();
    let outputs = lower(lowering, &arguments);
    let builder = lowering.leave();
    Ok(LoweredRegion { builder, outputs: outputs? })
}

/// Unrolls a loop with a small constant trip count. Returns its results, or `None` and leaves no nodes behind.
fn unroll<'a>(
    lowering: &mut Lowering<'a>,
    condition: &'a Region,
    body: &'a Region,
    initial: &[Bound],
) -> Lowered<Option<Vec<Bound>>> {
    let marks = lowering.mark();
    let nodes = lowering.builder().entries.len();
    let mut values = initial.to_vec();
    for _ in 0..=MAX_UNROLLED_ITERATIONS {
        let predicate = lowering.region(condition, values.clone())?;
        let [predicate] = predicate.as_slice() else {
            return Err("expected the condition of a loop to return one value".into());
        };
        let predicate = lowering.node(predicate)?;
        match lowering.builder().constant_scalar(predicate).map(bool::from_scalar) {
            Some(true) => values = lowering.region(body, values)?,
            Some(false) => return Ok(Some(values)),
            None => break,
        }
        if lowering.builder().entries.len() > nodes + MAX_UNROLLED_NODES {
            break;
        }
    }
    lowering.rewind(&marks);
    Ok(None)
}

/// `if` and `case`
pub(super) fn conditional<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let [index] = lowering.expect_operands(operation)?;
    let regions = &operation.regions;
    let Some(last) = regions.len().checked_sub(1) else {
        return Err("expected at least one branch, found none".into());
    };
    let is_condition = lowering.builder().dtype(index) == DType::Bool;
    // The first branch of an `if` is the true branch.
    let known = lowering.builder().constant_scalar(index).map(|value| match is_condition {
        true => 1 - value.to_i64(),
        false => value.to_i64(),
    });
    if let Some(known) = known {
        let branch = usize::try_from(known).ok().filter(|&known| known <= last).unwrap_or(last);
        return lowering.region(&regions[branch], Vec::new());
    }
    let index = match is_condition {
        true => {
            let (first, second) =
                (lowering.builder().scalar(0i32), lowering.builder().scalar(1i32));
            lowering.builder().select(index, first, second)?
        }
        false => lowering.builder().cast(index, DType::I32)?,
    };
    if let Some(results) = select_branches(lowering, operation, index)? {
        return Ok(results);
    }

    let mut lowered = Vec::new();
    for region in regions {
        lowered.push(lower_region(lowering, region, &[], &[], &[])?);
    }
    let types = value_types(&lowered[0].builder, &lowered[0].outputs);
    let agree = |branch: &LoweredRegion| value_types(&branch.builder, &branch.outputs) == types;
    if !lowered.iter().all(agree) {
        return Err("the branches return values of different types".into());
    }
    let has_effect = lowered.iter().any(LoweredRegion::has_effect);
    let (inputs, branches) = unify_captures(lowering.builder(), lowered, &[]);
    let results = types.into_iter().map(|ty| (ty.shape, ty.dtype)).collect();
    let inputs = std::iter::once(index).chain(inputs).collect();
    let action = Action::Case { branches };
    let nodes = lowering.builder().step(action, inputs, results, operation.location, has_effect);
    let mut nodes = nodes.into_iter();
    Ok(operation
        .results
        .iter()
        .map(|result| match result.ty {
            Type::Token => Bound::Token,
            _ => lowering.bound(nodes.next().expect("a result for each tensor")),
        })
        .collect())
}

/// If-conversion: computes all branches and selects between their results, if that is cheap.
fn select_branches<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
    index: NodeId,
) -> Lowered<Option<Vec<Bound>>> {
    let marks = lowering.mark();
    let mark = lowering.builder().mark();
    let mut branches: Vec<Vec<NodeId>> = Vec::new();
    let mut is_cheap = true;
    for region in &operation.regions {
        let results = lowering.region(region, Vec::new())?;
        if results.iter().any(|result| !matches!(result, Bound::Node { .. })) {
            is_cheap = false;
            break;
        }
        let nodes: Lowered<Vec<NodeId>> =
            results.iter().map(|result| lowering.node(result)).collect();
        branches.push(nodes?);
        let builder = lowering.builder();
        let added = &builder.entries[mark.nodes..];
        is_cheap = builder.steps.len() == mark.steps
            && added.len() <= MAX_SELECTED_NODES
            && added.iter().all(|entry| {
                let op = &entry.op;
                op.is_elementwise()
                    || op.is_view()
                    || matches!(op, Op::Scalar | Op::Iota { .. } | Op::Input)
            });
        if !is_cheap {
            break;
        }
    }
    if !is_cheap && !lowering.elementwise {
        lowering.rewind(&marks);
        return Ok(None);
    }
    let Some(mut results) = branches.pop() else { return Ok(None) };
    for (number, branch) in branches.iter().enumerate().rev() {
        if branch.len() != results.len() {
            return Err("the branches return different numbers of values".into());
        }
        let builder = lowering.builder();
        let number = builder.scalar(number as i32);
        let is_this = builder.compare(inflight_ir::CompareOp::Eq, index, number)?;
        for (result, &value) in results.iter_mut().zip(branch) {
            *result = builder.select(is_this, value, *result)?;
        }
    }
    Ok(Some(results.into_iter().map(|node| lowering.bound(node)).collect()))
}

/// A region lowered to nodes, before its captures are resolved.
struct LoweredRegion {
    builder: Builder,
    outputs: Vec<NodeId>,
}

impl LoweredRegion {
    fn has_effect(&self) -> bool {
        self.builder.steps.iter().any(|step| step.has_effect)
    }
}

/// Lowers a region. Block arguments that change are arguments of the sequence; the others are bound to the outer
/// values.
fn lower_region<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    values: &[Bound],
    changes: &[bool],
    types: &[ValueType],
) -> Lowered<LoweredRegion> {
    lowering.enter();
    let mut types = types.iter().enumerate();
    let mut arguments = Vec::new();
    for (value, changes) in values.iter().zip(changes) {
        arguments.push(match changes {
            true => {
                let (number, ty) = types.next().expect("a type for each carried value");
                let source = Source::Argument(number);
                let node = lowering.builder().input(source, ty.shape.clone(), ty.dtype);
                lowering.bound(node)
            }
            false => value.clone(),
        });
    }
    let outputs = lowering.region(region, arguments).and_then(|results| {
        let tensors = results.iter().filter(|result| !matches!(result, Bound::Token));
        tensors.map(|result| lowering.node(result)).collect::<Lowered<Vec<NodeId>>>()
    });
    let builder = lowering.leave();
    Ok(LoweredRegion { builder, outputs: outputs? })
}

/// Builds sequences with common inputs: `arguments`, then the union of their captures. Returns the captured nodes and
/// the sequences.
fn unify_captures(
    outer: &Builder,
    lowered: Vec<LoweredRegion>,
    arguments: &[ValueType],
) -> (Vec<NodeId>, Vec<Sequence>) {
    let mut captured: Vec<NodeId> = Vec::new();
    for LoweredRegion { builder, outputs } in &lowered {
        for capture in live_captures(builder, outputs) {
            let node = builder.captures[capture];
            if !captured.contains(&node) {
                captured.push(node);
            }
        }
    }
    let types = value_types(outer, &captured);
    let sequences = lowered
        .into_iter()
        .map(|LoweredRegion { builder, outputs }| {
            let captures = builder.captures.clone();
            build_sequence(builder, &outputs, arguments, &types, |source| match source {
                Source::Capture(capture) => {
                    captured.iter().position(|&node| node == captures[capture])
                }
                _ => None,
            })
        })
        .collect();
    (captured, sequences)
}

fn value_types(builder: &Builder, nodes: &[NodeId]) -> Vec<ValueType> {
    let ty = |&node: &NodeId| ValueType {
        shape: builder.shape(node).clone(),
        dtype: builder.dtype(node),
    };
    nodes.iter().map(ty).collect()
}

/// The regions of an operation, which must have exactly `N`.
pub(super) fn regions<const N: usize>(operation: &Operation) -> Lowered<[&Region; N]> {
    let regions: Vec<&Region> = operation.regions.iter().collect();
    regions
        .try_into()
        .map_err(|_| format!("expected {N} regions, found {}", operation.regions.len()).into())
}

/// `custom_call`
pub(super) fn custom_call<'a>(
    lowering: &mut Lowering<'a>,
    operation: &'a Operation,
) -> Lowered<Vec<Bound>> {
    let fields = AttributeView::of(operation);
    let target = fields.symbol("call_target_name")?;
    match target {
        // Sharding annotations have no effect on one device.
        "Sharding" | "SPMDFullToShardShape" | "SPMDShardToFullShape" => {
            return lowering.values(operation);
        }
        "shape_assertion" => return shape_assertion(lowering, operation),
        _ => {}
    }
    let mut inputs = Vec::new();
    for value in lowering.values(operation)? {
        if !matches!(value, Bound::Token) {
            inputs.push(lowering.node(&value)?);
        }
    }
    let mut results: Vec<(Shape, DType)> = Vec::new();
    for (index, result) in operation.results.iter().enumerate() {
        if result.ty != Type::Token {
            let dtype = lowering.declared_dtype(operation, index)?;
            results.push((lowering.declared_shape(operation, index)?, dtype));
        }
    }
    let has_effect = fields.boolean("has_side_effect")? || target.starts_with("check.");
    let call = Call { target: target.to_string(), attributes: operation.attributes.clone() };
    let action = Action::Call(call);
    let nodes = lowering.builder().step(action, inputs, results, operation.location, has_effect);
    let mut nodes = nodes.into_iter();
    Ok(operation
        .results
        .iter()
        .map(|result| match result.ty {
            Type::Token => Bound::Token,
            _ => lowering.bound(nodes.next().expect("a result for each tensor")),
        })
        .collect())
}

/// A constraint of the exporter on argument shapes, which is a constant at this point.
fn shape_assertion(lowering: &mut Lowering<'_>, operation: &Operation) -> Lowered<Vec<Bound>> {
    let holds = lowering.operand(operation, 0)?;
    match lowering.builder().constant_scalar(holds).map(bool::from_scalar) {
        Some(true) => Ok(Vec::new()),
        Some(false) => {
            let message = match AttributeView::of(operation).get("error_message") {
                Some(Attribute::String(message)) => message.clone(),
                _ => "the shapes of the arguments violate a constraint of the program".into(),
            };
            Err(message.into())
        }
        None => Err("expected a shape assertion that depends on shapes only".into()),
    }
}
