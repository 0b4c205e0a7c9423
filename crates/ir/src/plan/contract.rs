//! Contractions on operands that are read in place: transposes, slices and broadcasts are strides.

use super::choose::{Written, is_alias};
use super::index::{self, Map};
use super::{BufferId, ContractStep, Epilogue, MatrixOperand, Work};
use crate::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;

/// A contraction before its buffers are known.
pub struct RawContract {
    node: NodeId,
    a: StridedOperand,
    b: StridedOperand,
}

/// A value in memory seen with these strides, one for each axis of the operand.
struct StridedOperand {
    base: NodeId,
    offset: isize,
    strides: SmallVec<[isize; 6]>,
}

/// The contraction of a canonical dot node (`[batch…, m, k] · [batch…, k, n]`), or the operand that must
/// be written first.
pub fn contract(graph: &Graph, written: &Written, node: NodeId) -> Result<RawContract, NodeId> {
    let inputs = &graph.node(node).inputs;
    let a = strided(graph, written, inputs[0])?;
    let b = strided(graph, written, inputs[1])?;
    Ok(RawContract { node, a, b })
}

/// The value whose memory a chain of aliases shares.
fn without_aliases(graph: &Graph, mut node: NodeId) -> NodeId {
    while is_alias(graph, node) {
        node = graph.node(node).inputs[0];
    }
    node
}

/// Follows views from an operand down to a value in memory.
fn strided(graph: &Graph, written: &Written, operand: NodeId) -> Result<StridedOperand, NodeId> {
    let extents = graph.node(operand).shape.extents();
    let mut map: Map = index::identity(extents.len());
    let mut node = operand;
    loop {
        let data = graph.node(node);
        if written[node as usize] && !is_alias(graph, node) {
            let (offset, strides, _) =
                index::flatten(&map, &data.shape, extents.len()).ok_or(operand)?;
            return Ok(StridedOperand { base: node, offset, strides });
        }
        let Some(&inner) = data.inputs.first() else { return Err(node) };
        let shape = &graph.node(inner).shape;
        map = match &data.op {
            Op::Permute(axes) => index::permute(&map, axes),
            Op::Slice(axes) => index::slice(&map, axes),
            Op::Windows(axes) => index::windows(&map, axes).ok_or(node)?,
            Op::Broadcast(_) => index::broadcast(&map, shape),
            Op::Reshape(to) => match index::reshape(&map, to, shape, extents) {
                Ok(map) => map,
                // A value in memory, under a name of its own or another's, is as contiguous under one
                // shape as under another.
                Err(_) if written[inner as usize] => {
                    let (offset, strides, _) =
                        index::flatten(&map, to, extents.len()).ok_or(operand)?;
                    return Ok(StridedOperand { base: inner, offset, strides });
                }
                Err(_) if node == operand => return Err(inner),
                Err(_) => return Err(without_aliases(graph, operand)),
            },
            _ => return Err(node),
        };
        node = inner;
    }
}

impl RawContract {
    /// The value it computes.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The values in memory that it reads or writes.
    pub fn operands(&self) -> [NodeId; 3] {
        [self.a.base, self.b.base, self.node]
    }

    /// The step, once buffers are known.
    pub fn bind(&self, graph: &Graph, buffer: impl Fn(NodeId) -> BufferId) -> ContractStep {
        let node = graph.node(self.node);
        let rank = node.shape.rank();
        let a_shape = &graph.node(node.inputs[0]).shape;
        let (m, n, k) = (node.shape[rank - 2], node.shape[rank - 1], a_shape[rank - 1]);
        let batch = SmallVec::from_slice(&node.shape[..rank - 2]);
        let operand = |base: NodeId, offset: isize, strides: &[isize]| MatrixOperand {
            buffer: buffer(base),
            offset,
            batch_strides: SmallVec::from_slice(&strides[..rank - 2]),
            row_stride: strides[rank - 2],
            column_stride: strides[rank - 1],
        };
        let strides: SmallVec<[isize; 6]> =
            node.shape.strides().iter().map(|&stride| stride as isize).collect();
        let bytes = |elements: usize| (elements * node.dtype.size()) as u64;
        // An axis with stride zero is read once.
        let read = |operand: &StridedOperand, input: usize| {
            let extents = graph.node(node.inputs[input]).shape.extents();
            let distinct = extents.iter().zip(&operand.strides);
            bytes(distinct.filter(|(_, stride)| **stride != 0).map(|(extent, _)| extent).product())
        };
        ContractStep {
            dtype: node.dtype,
            batch,
            m,
            n,
            k,
            a: operand(self.a.base, self.a.offset, &self.a.strides),
            b: operand(self.b.base, self.b.offset, &self.b.strides),
            c: operand(self.node, 0, &strides),
            epilogue: None,
            work: Work {
                nodes: vec![self.node],
                bytes_read: read(&self.a, 0) + read(&self.b, 1),
                bytes_written: bytes(node.shape.elements()),
            },
        }
    }
}

impl ContractStep {
    /// This step with a kernel that follows it part by part.
    pub fn followed_by(mut self, epilogue: Epilogue) -> ContractStep {
        let launch = &epilogue.launch.work;
        let product = self.work.bytes_written;
        self.work.nodes.extend(&launch.nodes);
        // The product stays in cache: neither its writing nor its reading counts.
        self.work.bytes_read += launch.bytes_read - product;
        self.work.bytes_written = launch.bytes_written;
        self.epilogue = Some(Box::new(epilogue));
        self
    }
}
