//! Ops that are no loops over index maps: each is a step of its own, on operands and a result in memory.

use super::{BufferId, Work};
use crate::graph::{
    Combine, ConvExtents, Graph, ImplicitGemm, NodeId, Op, ScalarFunction, SortOrder, SortResult,
    Transpose,
};
use crate::{DType, Shape};
use smallvec::SmallVec;

/// A routine with its buffers, all of them row-major and contiguous.
#[derive(Clone, Debug)]
pub struct RoutineStep {
    /// What runs.
    pub routine: Routine,
    /// What it reads.
    pub operands: SmallVec<[BufferId; 4]>,
    /// What it writes, all of it.
    pub result: BufferId,
    /// The node computed, and the bytes moved.
    pub work: Work,
}

/// What a routine does.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Routine {
    /// Operands: the keys. Sorts the lines of all of them.
    Sort {
        /// The lines.
        lines: Lines,
        /// The dtype of each key.
        keys: SmallVec<[DType; 2]>,
        /// When one element comes before another.
        order: SortOrder,
        /// What is answered.
        result: SortResult,
    },
    /// Operands: `x`, `index`, `update`. Copies `x`, and combines the updates of each line with it, in order.
    Scatter {
        /// The lines of `x` and of the result.
        lines: Lines,
        /// How many updates each line has.
        updates: usize,
        /// The dtype of `x`, the updates and the result.
        dtype: DType,
        /// The dtype of the index.
        index: DType,
        /// What becomes of what is there and an update.
        combine: ScalarFunction,
    },
    /// Operand: the matrices, one after another. Writes their triangular factors.
    Cholesky {
        /// The dtype.
        dtype: DType,
        /// How many matrices.
        batch: usize,
        /// Rows and columns of each.
        n: usize,
        /// Which triangle is looked at and filled.
        lower: bool,
    },
    /// Operands: `x`, `[examples, space…, feature groups, features]`, and `kernels`, `[groups, outputs, window…,
    /// features]`; [features](super::FEATURE_BYTES) fill whole accesses.
    ImplicitGemm(ImplicitGemmOperands),
    /// Operands: the triangular matrices `[batch, n, n]`, and what they are solved for: `[batch, n, count]`,
    /// or on the right side `[batch, count, n]`.
    TriangularSolve {
        /// The dtype.
        dtype: DType,
        /// What is solved.
        systems: TriangularSystems,
    },
}

/// What a product of windows is of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImplicitGemmOperands {
    /// The dtype of both operands and the result.
    pub dtype: DType,
    /// How windows move, and the order of the result's axes.
    pub product: ImplicitGemm,
    /// The extents.
    pub extents: ConvExtents,
}

/// Systems of equations whose matrices are triangular.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TriangularSystems {
    /// How many matrices.
    pub batch: usize,
    /// Rows and columns of each.
    pub n: usize,
    /// How many systems are solved with each.
    pub count: usize,
    /// Whether the triangular matrix stands on the left.
    pub left_side: bool,
    /// Which triangle is looked at.
    pub lower: bool,
    /// Whether the diagonal counts as ones.
    pub unit_diagonal: bool,
    /// What is done to the triangular matrix first.
    pub transpose: Transpose,
}

/// The lines along one axis of a row-major tensor, seen as `[outer, extent, inner]`: element `i` of line
/// `(o, n)` is at `(o · extent + i) · inner + n`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lines {
    /// The product of the extents before the axis.
    pub outer: usize,
    /// The length of each line.
    pub extent: usize,
    /// The product of the extents after the axis: the distance between neighbours of a line.
    pub inner: usize,
}

impl Lines {
    /// The lines along an axis of a shape.
    pub fn along(shape: &Shape, axis: usize) -> Lines {
        Lines {
            outer: shape[..axis].iter().product(),
            extent: shape[axis],
            inner: shape[axis + 1..].iter().product(),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.outer * self.inner
    }
}

impl Routine {
    /// What an op that [is a routine](Op::is_routine) does; `None` for any other.
    pub fn of(graph: &Graph, node: NodeId) -> Option<Routine> {
        let data = graph.node(node);
        let operand = |i: usize| graph.node(data.inputs[i]);
        let matrices = |shape: &Shape| {
            let rank = shape.rank();
            (shape[..rank - 2].iter().product(), shape[rank - 2], shape[rank - 1])
        };
        match &data.op {
            Op::Sort { axis, order, result } => Some(Routine::Sort {
                lines: Lines::along(&operand(0).shape, *axis),
                keys: data.inputs.iter().map(|&key| graph.node(key).dtype).collect(),
                order: order.clone(),
                result: *result,
            }),
            Op::Scatter { axis, combine: Some(Combine::Function(function)) } => {
                Some(Routine::Scatter {
                    lines: Lines::along(&data.shape, *axis),
                    updates: operand(2).shape[*axis],
                    dtype: data.dtype,
                    index: operand(1).dtype,
                    combine: function.clone(),
                })
            }
            Op::ImplicitGemm(product) => {
                let extents = product.extents(&operand(0).shape, &operand(1).shape)?;
                let (dtype, product) = (data.dtype, (**product).clone());
                Some(Routine::ImplicitGemm(ImplicitGemmOperands { dtype, product, extents }))
            }
            Op::Cholesky { lower } => {
                let (batch, n, _) = matrices(&data.shape);
                Some(Routine::Cholesky { dtype: data.dtype, batch, n, lower: *lower })
            }
            Op::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
                let (batch, rows, columns) = matrices(&data.shape);
                let (n, count) = if *left_side { (rows, columns) } else { (columns, rows) };
                let systems = TriangularSystems {
                    batch,
                    n,
                    count,
                    left_side: *left_side,
                    lower: *lower,
                    unit_diagonal: *unit_diagonal,
                    transpose: *transpose,
                };
                Some(Routine::TriangularSolve { dtype: data.dtype, systems })
            }
            _ => None,
        }
    }

    /// A short name.
    pub fn name(&self) -> &'static str {
        match self {
            Routine::Sort { result: SortResult::Values, .. } => "sort",
            Routine::Sort { result: SortResult::Positions, .. } => "argsort",
            Routine::Sort { result: SortResult::FirstPositions(_), .. } => "top_k",
            Routine::Scatter { .. } => "scatter",
            Routine::ImplicitGemm(_) => "convolution",
            Routine::Cholesky { .. } => "cholesky",
            Routine::TriangularSolve { .. } => "triangular_solve",
        }
    }
}

/// The step of a node that is a routine.
pub fn routine_step(
    graph: &Graph,
    node: NodeId,
    buffer: impl Fn(NodeId) -> BufferId,
) -> RoutineStep {
    let data = graph.node(node);
    let bytes = |node: NodeId| {
        let data = graph.node(node);
        (data.shape.elements() * data.dtype.size()) as u64
    };
    RoutineStep {
        routine: Routine::of(graph, node).expect("the node is a routine"),
        operands: data.inputs.iter().map(|&input| buffer(input)).collect(),
        result: buffer(node),
        work: Work {
            nodes: vec![node],
            bytes_read: data.inputs.iter().map(|&input| bytes(input)).sum(),
            bytes_written: bytes(node),
        },
    }
}
