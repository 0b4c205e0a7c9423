//! Routines: ops that are not loops over index maps, such as sorts and triangular solves. Each is a step of its own,
//! and reads and writes memory.

use super::{BufferId, Work};
use crate::graph::{
    Combine, ConvExtents, Graph, ImplicitGemm, NodeId, Op, ScalarFunction, SortOrder, SortResult,
    Transpose,
};
use crate::{DType, Shape};
use smallvec::SmallVec;

/// A routine bound to buffers, which are all row-major and contiguous.
#[derive(Clone, Debug)]
pub struct RoutineStep {
    /// The routine.
    pub routine: Routine,
    /// The buffers it reads.
    pub operands: SmallVec<[BufferId; 4]>,
    /// The buffer it writes, completely.
    pub result: BufferId,
    /// Nodes computed and bytes moved.
    pub work: Work,
}

/// A routine and its parameters.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Routine {
    /// Operands: the keys. Sorts each line.
    Sort {
        /// The lines of the keys.
        lines: Lines,
        /// The dtype of each key.
        keys: SmallVec<[DType; 2]>,
        /// The order to sort by.
        order: SortOrder,
        /// The requested result: values or positions.
        result: SortResult,
    },
    /// Operands: `x`, `index`, `update`. Copies `x`, and combines each line with its updates in order, by a user
    /// function.
    Scatter {
        /// The lines of `x` and of the result.
        lines: Lines,
        /// The number of updates of each line.
        updates: usize,
        /// The dtype of `x`, the updates and the result.
        dtype: DType,
        /// The dtype of the index.
        index: DType,
        /// The function of the current element and the update.
        combine: ScalarFunction,
    },
    /// Operand: a batch of contiguous matrices. Computes their triangular factors.
    Cholesky {
        /// The dtype.
        dtype: DType,
        /// The number of matrices.
        batch: usize,
        /// Rows and columns of each matrix.
        n: usize,
        /// Whether the lower triangle is read and written, or the upper one.
        lower: bool,
    },
    /// Implicit GEMM convolution. Operands: `x`, `[examples, space…, feature groups, features]`, and `kernels`,
    /// `[groups, outputs, window…, features]`; features are padded to [whole accesses](super::FEATURE_BYTES).
    ImplicitGemm(ImplicitGemmOperands),
    /// Operands: the triangular matrices `[batch, n, n]`, and the right-hand sides: `[batch, n, count]`, or `[batch,
    /// count, n]` if the matrix is on the right.
    TriangularSolve {
        /// The dtype.
        dtype: DType,
        /// The shape and kind of the systems.
        systems: TriangularSystems,
    },
}

/// The parameters of an implicit GEMM convolution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ImplicitGemmOperands {
    /// The dtype of both operands and the result.
    pub dtype: DType,
    /// The windows, and the order of the result's axes.
    pub gemm: ImplicitGemm,
    /// The extents.
    pub extents: ConvExtents,
}

/// A batch of triangular systems of equations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TriangularSystems {
    /// The number of matrices.
    pub batch: usize,
    /// Rows and columns of each matrix.
    pub n: usize,
    /// The number of right-hand sides of each matrix.
    pub count: usize,
    /// Whether the triangular matrix is on the left.
    pub left_side: bool,
    /// Whether the lower triangle is read, or the upper one.
    pub lower: bool,
    /// Whether the diagonal is taken as ones.
    pub unit_diagonal: bool,
    /// The transposition applied to the triangular matrix.
    pub transpose: Transpose,
}

/// The lines (one-dimensional slices) along one axis of a row-major tensor, seen as `[outer, extent, inner]`: element
/// `i` of line `(o, n)` is at `(o · extent + i) · inner + n`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lines {
    /// The product of the extents before the axis.
    pub outer: usize,
    /// The length of each line.
    pub extent: usize,
    /// The product of the extents after the axis, which is the stride along a line.
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

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.outer * self.inner
    }
}

impl Routine {
    /// The routine of an op that [is one](Op::is_routine); `None` for any other.
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
            Op::ImplicitGemm(gemm) => {
                let extents = gemm.extents(&operand(0).shape, &operand(1).shape)?;
                let (dtype, gemm) = (data.dtype, (**gemm).clone());
                Some(Routine::ImplicitGemm(ImplicitGemmOperands { dtype, gemm, extents }))
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
        (data.shape.element_count() * data.dtype.size()) as u64
    };
    RoutineStep {
        routine: Routine::of(graph, node).expect("the node is a routine"),
        operands: data.inputs.iter().map(|&input| buffer(input)).collect(),
        result: buffer(node),
        work: Work {
            nodes: vec![node],
            bytes_read: data.inputs.iter().map(|&input| bytes(input)).sum(),
            bytes_written: bytes(node),
            ..Work::default()
        },
    }
}
