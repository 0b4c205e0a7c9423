//! The graph: ops, shape and dtype inference, and the flat form of a recorded segment.
//!
//! Nodes are in topological order and refer to each other by index, so equal programs give equal graphs. Plans are
//! cached by this structure.

mod function;
mod implicit_gemm;
mod infer;
mod op;
mod order;

pub use function::ScalarFunction;

pub use implicit_gemm::{ConvExtents, ConvOutputLayout, ImplicitGemm};
pub use infer::{
    DTypeSet, DotRole, InferError, binary_accepts, binary_dtype, combine_accepts, compare_accepts,
    infer, plausible, unary_accepts, unary_dtype,
};
pub use op::{Combine, DotAxes, Op, PadAxis, SliceAxis, Transpose, WindowAxis};
pub use order::{FloatOrder, SortKey, SortOrder, SortResult};

use crate::{DType, Scalar, Shape};
use smallvec::SmallVec;

/// The index of a node in its graph.
pub type NodeId = u32;

/// An op applied to earlier nodes.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Node {
    /// The op.
    pub op: Op,
    /// The operands, in the op's order. Each is smaller than this node's own index.
    pub inputs: SmallVec<[NodeId; 3]>,
    /// The result's shape.
    pub shape: Shape,
    /// The result's dtype.
    pub dtype: DType,
}

/// A recorded computation in topological order.
///
/// The values of [`Op::Scalar`] nodes are stored separately, in `scalars`: graphs that differ only in them have the
/// same structure and share a plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Graph {
    /// The nodes, operands before their users.
    pub nodes: Vec<Node>,
    /// The nodes whose values are returned, in order.
    pub outputs: Vec<NodeId>,
    /// The values of the [`Op::Scalar`] nodes, in node order.
    pub scalars: Vec<Scalar>,
}

impl Graph {
    /// Appends a node after inferring its shape and dtype.
    pub fn push(&mut self, op: Op, inputs: &[NodeId]) -> Result<NodeId, InferError> {
        let operands: SmallVec<[(&Shape, DType); 3]> = inputs
            .iter()
            .map(|&input| {
                let node = &self.nodes[input as usize];
                (&node.shape, node.dtype)
            })
            .collect();
        let (shape, dtype) = infer(&op, &operands)?;
        drop(operands);
        Ok(self.append(op, inputs, shape, dtype))
    }

    /// Appends an input, a value that is bound when the graph runs.
    pub fn input(&mut self, shape: impl Into<Shape>, dtype: DType) -> NodeId {
        self.append(Op::Input, &[], shape.into(), dtype)
    }

    /// Appends a rank-0 constant.
    pub fn scalar(&mut self, value: impl Into<Scalar>) -> NodeId {
        let value = value.into();
        self.scalars.push(value);
        self.append(Op::Scalar, &[], Shape::scalar(), value.dtype())
    }

    /// Appends a node without inference: the shape and dtype must be right.
    pub fn append(&mut self, op: Op, inputs: &[NodeId], shape: Shape, dtype: DType) -> NodeId {
        self.nodes.push(Node { op, inputs: SmallVec::from_slice(inputs), shape, dtype });
        (self.nodes.len() - 1) as NodeId
    }

    /// The node with this index.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    /// The input nodes, in the order their values are bound.
    pub fn inputs(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.nodes.len() as NodeId).filter(|&id| self.node(id).op == Op::Input)
    }
}
