//! Lowering of canonical dots to GEMMs on strided operands. Operands are read in place: transposes, slices and
//! broadcasts of a value in memory become strides.

use super::index::{self, Coordinate, IndexMap, UnflattenError};
use super::materialize::{MaterializedSet, is_alias};
use super::prologue::{OperandLayout, Side};
use super::work::distinct_elements;
use super::{BufferId, Epilogue, GemmStep, MatrixOperand, Work};
use crate::graph::{Graph, NodeId, Op};
use smallvec::SmallVec;

/// A GEMM before buffer assignment.
pub struct RawGemm {
    node: NodeId,
    a: StridedOperand,
    b: StridedOperand,
}

/// A value in memory, viewed with one stride for each axis of the operand.
struct StridedOperand {
    base: NodeId,
    offset: isize,
    strides: SmallVec<[isize; 6]>,
}

/// Lowers a canonical dot (`[batch…, m, k] · [batch…, k, n]`) to a GEMM, or returns the operand that must be
/// materialized first.
pub fn lower_gemm(
    graph: &Graph,
    materialized: &MaterializedSet,
    node: NodeId,
) -> Result<RawGemm, NodeId> {
    let inputs = &graph.node(node).inputs;
    let a = strided_view(graph, materialized, inputs[0])?;
    let b = strided_view(graph, materialized, inputs[1])?;
    Ok(RawGemm { node, a, b })
}

/// The value that owns the memory of a chain of aliases.
pub fn resolve_alias(graph: &Graph, mut node: NodeId) -> NodeId {
    while is_alias(graph, node) {
        node = graph.node(node).inputs[0];
    }
    node
}

/// Composes the views from an operand down to a value in memory into strides.
///
/// Where a reshape divides an axis of the operand, the axis is split, as the domain of a kernel is; the parts must
/// merge back into one stride.
fn strided_view(
    graph: &Graph,
    materialized: &MaterializedSet,
    operand: NodeId,
) -> Result<StridedOperand, NodeId> {
    let shape = &graph.node(operand).shape;
    // The factors that each axis of the operand is split into.
    let mut factors: Vec<SmallVec<[usize; 4]>> =
        shape.iter().map(|&extent| SmallVec::from_slice(&[extent])).collect();
    loop {
        let extents: SmallVec<[usize; 6]> = factors.iter().flatten().copied().collect();
        match trace_views(graph, materialized, operand, &factors, &extents)? {
            ViewTrace::SplitAxis { axis, inner } => {
                let mut first = 0;
                let parts = factors.iter_mut().find(|parts| {
                    first += parts.len();
                    axis < first
                });
                let parts = parts.expect("the axis is one of the operand's");
                let position = axis - (first - parts.len());
                parts[position] /= inner;
                parts.insert(position + 1, inner);
            }
            ViewTrace::Base { base, offset, strides } => {
                let mut merged = SmallVec::new();
                let mut rest = &strides[..];
                for parts in &factors {
                    let (own, others) = rest.split_at(parts.len());
                    merged.push(merged_stride(parts, own).ok_or(resolve_alias(graph, operand))?);
                    rest = others;
                }
                return Ok(StridedOperand { base, offset, strides: merged });
            }
        }
    }
}

/// The end of a chain of views.
enum ViewTrace {
    /// Reached a value in memory; strides are those of the split axes.
    Base { base: NodeId, offset: isize, strides: SmallVec<[isize; 6]> },
    /// Blocked: this axis, counted over all split axes, must be split so that its inner part has this extent.
    SplitAxis { axis: usize, inner: usize },
}

fn trace_views(
    graph: &Graph,
    materialized: &MaterializedSet,
    operand: NodeId,
    factors: &[SmallVec<[usize; 4]>],
    extents: &[usize],
) -> Result<ViewTrace, NodeId> {
    let rank = extents.len();
    let mut map = IndexMap::new();
    let mut next = 0;
    for parts in factors {
        let mut coordinate = Coordinate::default();
        let mut stride: usize = parts.iter().product();
        for &extent in parts {
            stride /= extent.max(1);
            coordinate.add_axis(next, stride as isize);
            next += 1;
        }
        map.push(coordinate);
    }
    let mut node = operand;
    loop {
        let data = graph.node(node);
        if materialized[node as usize] && !is_alias(graph, node) {
            let (offset, strides, _) = index::flatten(&map, &data.shape, rank).ok_or(operand)?;
            return Ok(ViewTrace::Base { base: node, offset, strides });
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
                // A value in memory is contiguous under any shape.
                Err(_) if materialized[resolve_alias(graph, inner) as usize] => {
                    let base = resolve_alias(graph, inner);
                    let (offset, strides, _) = index::flatten(&map, to, rank).ok_or(operand)?;
                    return Ok(ViewTrace::Base { base, offset, strides });
                }
                Err(UnflattenError::SplitAxis { axis, inner }) => {
                    return Ok(ViewTrace::SplitAxis { axis, inner });
                }
                Err(_) if node == operand => return Err(inner),
                Err(_) => return Err(resolve_alias(graph, operand)),
            },
            _ => return Err(node),
        };
        node = inner;
    }
}

/// The stride of an axis that was split into these parts, if the parts are contiguous.
fn merged_stride(extents: &[usize], strides: &[isize]) -> Option<isize> {
    let mut parts = extents.iter().zip(strides).filter(|(extent, _)| **extent != 1).rev();
    let Some((&extent, &stride)) = parts.next() else { return Some(0) };
    let mut expected = stride * extent as isize;
    for (&extent, &outer) in parts {
        if outer != expected {
            return None;
        }
        expected *= extent as isize;
    }
    Some(stride)
}

/// Whether a GEMM can read an operand in place, given the set of materialized values.
pub fn reads_in_place(graph: &Graph, materialized: &MaterializedSet, operand: NodeId) -> bool {
    strided_view(graph, materialized, operand).is_ok()
}

impl RawGemm {
    /// The node it computes.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// The bytes of one left matrix of the batch.
    pub fn a_bytes(&self, graph: &Graph) -> usize {
        let operand = graph.node(graph.node(self.node).inputs[0]);
        let matrix = &operand.shape[operand.shape.rank() - 2..];
        matrix.iter().product::<usize>() * operand.dtype.size()
    }

    /// The value that an operand is a view of, and the layout of its rows, if the view covers the whole value. Rows
    /// are those of the left operand or the columns of the right one.
    pub fn operand_layout(&self, graph: &Graph, side: Side) -> Option<(NodeId, OperandLayout)> {
        let (operand, input) = match side {
            Side::A => (&self.a, 0),
            Side::B => (&self.b, 1),
        };
        let extents = &graph.node(graph.node(self.node).inputs[input]).shape;
        let mut axes: SmallVec<[(usize, isize); 6]> =
            extents.iter().copied().zip(operand.strides.iter().copied()).collect();
        let (last, before) = (axes.pop()?, axes.pop()?);
        let (row, column) = match side {
            Side::A => (before, last),
            Side::B => (last, before),
        };
        let layout = OperandLayout::new(&axes, row, column)?;
        let elements = graph.node(operand.base).shape.element_count();
        let is_all = operand.offset == 0 && layout.rows() * layout.columns() == elements;
        is_all.then_some((operand.base, layout))
    }

    /// The values in memory that it reads or writes.
    pub fn operands(&self) -> [NodeId; 3] {
        [self.a.base, self.b.base, self.node]
    }

    /// The step, bound to its buffers.
    pub fn bind(&self, graph: &Graph, buffer: impl Fn(NodeId) -> BufferId) -> GemmStep {
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
        // An operand may be broadcast, and windows overlap: each element is read once.
        let read = |operand: &StridedOperand, input: usize| {
            let extents = graph.node(node.inputs[input]).shape.extents();
            let axes = extents.iter().copied().zip(operand.strides.iter().copied());
            bytes(distinct_elements(axes).min(graph.node(operand.base).shape.element_count()))
        };
        GemmStep {
            dtype: node.dtype,
            batch,
            m,
            n,
            k,
            a: operand(self.a.base, self.a.offset, &self.a.strides),
            b: operand(self.b.base, self.b.offset, &self.b.strides),
            c: operand(self.node, 0, &strides),
            prologue: None,
            epilogue: None,
            work: Work {
                nodes: vec![self.node],
                bytes_read: read(&self.a, 0) + read(&self.b, 1),
                bytes_written: bytes(node.shape.element_count()),
                ..Work::default()
            },
        }
    }
}

impl GemmStep {
    /// This step with a fused epilogue.
    pub fn with_epilogue(mut self, epilogue: Epilogue) -> GemmStep {
        let launch = &epilogue.launch.work;
        let gemm_bytes = self.work.bytes_written;
        self.work.nodes.extend(&launch.nodes);
        // The GEMM result stays in cache, so its store and its load do not count.
        self.work.bytes_read += launch.bytes_read - gemm_bytes;
        self.work.bytes_written = launch.bytes_written;
        self.epilogue = Some(Box::new(epilogue));
        self
    }
}
