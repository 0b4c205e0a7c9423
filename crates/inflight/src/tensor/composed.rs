//! Composite methods: records on tensors the ops that a function of `ir::compose` appends to a graph.

use super::Tensor;
use super::method::method;
use super::record::{constant, mistake, record_at, record_source};
use crate::{DType, Shape};
use inflight_ir::compose::ComposeError;
use inflight_ir::graph::{Graph, NodeId, Op};
use std::panic::Location;

/// Records the ops that `compose` appends to a graph whose inputs are the operands, for the method `name`. All of them
/// carry the location of the method's caller. An error makes failed results of a plausible shape and dtype, and names
/// the method and its operands.
pub(super) fn composed<const N: usize>(
    name: &'static str,
    operands: &[&Tensor],
    plausible: impl Fn() -> (Shape, DType),
    location: &'static Location<'static>,
    compose: impl FnOnce(&mut Graph, &[NodeId]) -> Result<[NodeId; N], ComposeError>,
) -> [Tensor; N] {
    let mut graph = Graph::default();
    let inputs: Vec<NodeId> =
        operands.iter().map(|x| graph.input(x.shape().clone(), x.dtype())).collect();
    let outputs = match compose(&mut graph, &inputs) {
        Ok(outputs) => outputs,
        Err(error) => {
            let (shape, dtype) = plausible();
            let failed = mistake(name, error.to_string(), operands, shape, dtype, location);
            return std::array::from_fn(|_| failed.clone());
        }
    };
    let mut needed = vec![false; graph.nodes.len()];
    outputs.iter().for_each(|&output| needed[output as usize] = true);
    for id in (0..graph.nodes.len()).rev().filter(|&id| id >= inputs.len()) {
        if needed[id] {
            graph.nodes[id].inputs.iter().for_each(|&input| needed[input as usize] = true);
        }
    }
    let method = method(name);
    let device = operands[0].device();
    let mut scalars = graph.scalars.iter();
    let mut values: Vec<Option<Tensor>> = operands.iter().map(|&x| Some(x.clone())).collect();
    for (id, node) in graph.nodes.iter().enumerate().skip(inputs.len()) {
        let scalar = (node.op == Op::Scalar).then(|| *scalars.next().expect("a value for each"));
        values.push(needed[id].then(|| match (&node.op, scalar) {
            (_, Some(scalar)) => constant(scalar, device, location),
            (Op::Iota { shape, dtype, .. }, _) => {
                record_source(node.op.clone(), shape.clone(), *dtype, device, location)
            }
            (op, _) => {
                let at = |&input: &NodeId| values[input as usize].as_ref().expect("needed");
                let operands: Vec<&Tensor> = node.inputs.iter().map(at).collect();
                record_at(op.clone(), &operands, location)
            }
        }));
    }
    let outputs = outputs.map(|output| values[output as usize].clone().expect("needed"));
    method.of_each(operands, outputs)
}
