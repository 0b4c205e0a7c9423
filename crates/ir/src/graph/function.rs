//! Scalar functions, as parameters of ops such as a sort with a comparator.

use super::{Graph, InferError, Op};
use crate::DType;
use std::sync::Arc;

/// A function of scalars to one scalar: a graph of elementwise ops on rank-0 values.
///
/// Two functions are equal if they are built alike from bit-identical constants. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ScalarFunction(Arc<Graph>);

impl ScalarFunction {
    /// The function that a graph computes: its inputs are the parameters, and its only output the result.
    ///
    /// Fails if a value is not rank 0, an op is not elementwise, or the graph does not have exactly one output.
    pub fn new(graph: Graph) -> Result<ScalarFunction, InferError> {
        for node in &graph.nodes {
            if node.shape.rank() != 0 {
                return Err(InferError::FunctionNotScalar { shape: node.shape.clone() });
            }
            if !node.op.is_elementwise() && !matches!(node.op, Op::Input | Op::Scalar) {
                return Err(InferError::FunctionNotElementwise { op: node.op.name() });
            }
        }
        match graph.outputs.len() {
            1 => Ok(ScalarFunction(Arc::new(graph))),
            found => Err(InferError::FunctionResults { found }),
        }
    }

    /// The graph of the function.
    pub fn graph(&self) -> &Graph {
        &self.0
    }

    /// The dtypes of the parameters.
    pub fn parameters(&self) -> impl Iterator<Item = DType> + '_ {
        self.0.inputs().map(|input| self.0.node(input).dtype)
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> DType {
        self.0.node(self.0.outputs[0]).dtype
    }
}
