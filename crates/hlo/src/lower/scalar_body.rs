//! Scalar bodies of operations: the combiner regions of reductions and scatters, and the comparator regions of sorts.

use super::builder::{Builder, Lowered, Source};
use super::context::Lowering;
use crate::module::Region;
use inflight_ir::elementwise::CombineOp;
use inflight_ir::graph::{Graph, NodeId, Op, ScalarFunction};
use inflight_ir::{BinaryOp, DType, Shape};
use rustc_hash::FxHashMap;

/// A region of scalar operations, lowered to nodes of its own.
pub(super) struct ScalarBody {
    pub builder: Builder,
    /// The block arguments, in order.
    pub arguments: Vec<NodeId>,
    /// The returned values.
    pub results: Vec<NodeId>,
}

/// Lowers a region with scalar block arguments of these dtypes.
pub(super) fn lower_body<'a>(
    lowering: &mut Lowering<'a>,
    region: &'a Region,
    dtypes: &[DType],
) -> Lowered<ScalarBody> {
    lowering.enter();
    let arguments: Vec<NodeId> = dtypes
        .iter()
        .enumerate()
        .map(|(i, &dtype)| lowering.builder().input(Source::Argument(i), Shape::scalar(), dtype))
        .collect();
    let results = lowering.apply_elementwise(region, &arguments, &Shape::scalar());
    let builder = lowering.leave();
    Ok(ScalarBody { builder, arguments, results: results? })
}

impl ScalarBody {
    /// The combine op, if the body applies just that to its two arguments.
    pub fn combine(&self) -> Option<CombineOp> {
        let ([a, b], [result]) = (&*self.arguments, &*self.results) else { return None };
        let entry = &self.builder.entries[*result as usize];
        let Op::Binary(op) = entry.op else { return None };
        if entry.inputs.as_slice() != [*a, *b] && entry.inputs.as_slice() != [*b, *a] {
            return None;
        }
        Some(match op {
            BinaryOp::Add => CombineOp::Sum,
            BinaryOp::Mul => CombineOp::Product,
            BinaryOp::Min => CombineOp::Min,
            BinaryOp::Max => CombineOp::Max,
            BinaryOp::And => CombineOp::And,
            BinaryOp::Or => CombineOp::Or,
            BinaryOp::Xor => CombineOp::Xor,
            _ => return None,
        })
    }

    /// Whether the body returns its second argument: an update replaces the old element.
    pub fn returns_update(&self) -> bool {
        self.arguments.len() == 2 && self.results == [self.arguments[1]]
    }

    /// The captured values that are not constant, as pairs of the body's node and the outer sequence's node.
    pub fn captured_values(&self) -> Vec<(NodeId, NodeId)> {
        let builder = &self.builder;
        let mut seen = vec![false; builder.entries.len()];
        let mut captured = Vec::new();
        let mut worklist = self.results.clone();
        while let Some(id) = worklist.pop() {
            if std::mem::replace(&mut seen[id as usize], true)
                || builder.constants.contains_key(&id)
            {
                continue;
            }
            let entry = &builder.entries[id as usize];
            if let Some(Source::Capture(number)) = entry.source {
                captured.push((id, builder.captures[number]));
            }
            worklist.extend(&entry.inputs);
        }
        captured.sort_unstable();
        captured
    }

    /// The body as a scalar function of an op. It may capture constants only.
    pub fn scalar_function(&self) -> Lowered<ScalarFunction> {
        let &[result] = &*self.results else {
            return Err(format!(
                "expected a body that returns one value, found {}",
                self.results.len()
            )
            .into());
        };
        let builder = &self.builder;
        let mut is_used = vec![false; builder.entries.len()];
        let mut worklist = vec![result];
        while let Some(id) = worklist.pop() {
            if !std::mem::replace(&mut is_used[id as usize], true)
                && !builder.constants.contains_key(&id)
            {
                worklist.extend(&builder.entries[id as usize].inputs);
            }
        }
        let mut graph = Graph::default();
        let mut nodes: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for &id in &self.arguments {
            let entry = &builder.entries[id as usize];
            nodes.insert(id, graph.input(entry.shape.clone(), entry.dtype));
        }
        for (id, entry) in builder.entries.iter().enumerate() {
            let id = id as NodeId;
            if !is_used[id as usize] || self.arguments.contains(&id) {
                continue;
            }
            let node = if let Some(value) = entry.scalar {
                graph.scalar(value)
            } else if let Some(value) = builder.constants.get(&id) {
                graph.scalar(value.get(0))
            } else if entry.op == Op::Input {
                return Err(
                    "its body captures a value that is not constant, which is not supported; \
                            make it an operand"
                        .into(),
                );
            } else {
                let operands: Vec<NodeId> = entry.inputs.iter().map(|id| nodes[id]).collect();
                graph.append(entry.op.clone(), &operands, entry.shape.clone(), entry.dtype)
            };
            nodes.insert(id, node);
        }
        graph.outputs.push(nodes[&result]);
        Ok(ScalarFunction::new(graph)?)
    }
}

/// Comparators: bodies with two arguments per operand.
impl ScalarBody {
    /// The index of an argument node.
    pub fn argument(&self, node: NodeId) -> Option<usize> {
        self.arguments.iter().position(|&argument| argument == node)
    }

    /// Adds an operand for a captured value. Both of its elements are equal, so the second argument is unused.
    pub fn add_operand(&mut self, node: NodeId) {
        let dtype = self.builder.dtype(node);
        let other = Source::Argument(self.arguments.len() + 1);
        let other = self.builder.input(other, Shape::scalar(), dtype);
        self.arguments.extend([node, other]);
    }

    /// The operands that the comparator reads, in order.
    pub fn read_operands(&self) -> Vec<usize> {
        let mut is_read = vec![false; self.arguments.len() / 2];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut worklist = self.results.clone();
        while let Some(id) = worklist.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(argument) = self.argument(id) {
                is_read[argument / 2] = true;
            }
            worklist.extend(&self.builder.entries[id as usize].inputs);
        }
        let read: Vec<usize> = (0..is_read.len()).filter(|&operand| is_read[operand]).collect();
        // A comparator that ignores its arguments still needs an operand.
        if read.is_empty() { vec![0] } else { read }
    }

    /// The comparator as a scalar function of an op that passes only these operands.
    pub fn with_operands(mut self, operands: &[usize]) -> Lowered<ScalarFunction> {
        self.arguments = operands
            .iter()
            .flat_map(|&operand| [self.arguments[2 * operand], self.arguments[2 * operand + 1]])
            .collect();
        self.scalar_function()
    }
}
