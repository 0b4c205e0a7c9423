//! Constant folding: evaluates small nodes that depend on constants only, on the reference interpreter.

use super::builder::Builder;
use inflight_ir::graph::{Graph, NodeId, Op};
use inflight_ir::interpret::{Array, interpret};
use inflight_ir::{DTypeClass, Scalar, Shape};
use std::sync::Arc;

/// Larger values are not folded: the values that determine shapes and control flow are small.
const MAX_FOLDED_ELEMENTS: usize = 4096;

impl Builder {
    /// The value of a node, if it is small and depends on constants only.
    pub fn constant_value(&mut self, id: NodeId) -> Option<Arc<Array>> {
        if let Some(known) = self.constants.get(&id) {
            return Some(known.clone());
        }
        let mut stack = vec![(id, false)];
        // Post-order traversal: fold operands first. A node with a non-constant operand is not constant.
        while let Some((id, is_ready)) = stack.pop() {
            if self.constants.contains_key(&id) || self.not_constant.contains(&id) {
                continue;
            }
            let entry = &self.entries[id as usize];
            let is_large = |shape: &Shape| shape.element_count() > MAX_FOLDED_ELEMENTS;
            let reads_large = entry.inputs.iter().any(|&input| is_large(self.shape(input)));
            if entry.op == Op::Input || is_large(&entry.shape) || reads_large {
                self.not_constant.insert(id);
            } else if !is_ready {
                stack.push((id, true));
                stack.extend(entry.inputs.iter().map(|&input| (input, false)));
            } else if entry.inputs.iter().any(|input| self.not_constant.contains(input)) {
                self.not_constant.insert(id);
            } else {
                self.evaluate(id);
            }
        }
        self.constants.get(&id).cloned()
    }

    fn evaluate(&mut self, id: NodeId) {
        let entry = &self.entries[id as usize];
        let mut graph = Graph::default();
        let value = if let Some(value) = entry.scalar {
            Array::full((), value)
        } else {
            let inputs: Vec<NodeId> = entry
                .inputs
                .iter()
                .map(|input| {
                    let entry = &self.entries[*input as usize];
                    graph.input(entry.shape.clone(), entry.dtype)
                })
                .collect();
            let (shape, dtype) = (entry.shape.clone(), entry.dtype);
            let output = graph.append(entry.op.clone(), &inputs, shape, dtype);
            graph.outputs.push(output);
            let values: Vec<Array> =
                entry.inputs.iter().map(|input| (*self.constants[input]).clone()).collect();
            interpret(&graph, &values).remove(0)
        };
        self.constants.insert(id, Arc::new(value));
    }

    /// The value of a single-element node, if it is constant.
    pub fn constant_scalar(&mut self, id: NodeId) -> Option<Scalar> {
        let value = self.constant_value(id)?;
        (value.element_count() == 1).then(|| value.get(0))
    }

    /// Whether a node is a broadcast scalar constant.
    pub fn is_splat(&self, mut id: NodeId) -> bool {
        while self.entries[id as usize].op.is_view() {
            id = self.entries[id as usize].inputs[0];
        }
        self.entries[id as usize].op == Op::Scalar
    }

    /// The elements of an integer node, if it is constant.
    pub fn constant_integers(&mut self, id: NodeId) -> Option<Vec<i64>> {
        let class = self.dtype(id).class();
        if !matches!(class, DTypeClass::Signed | DTypeClass::Unsigned) {
            return None;
        }
        Some(self.constant_value(id)?.to_vec())
    }
}
