//! The primitive ops of a graph. Every other tensor function is composed of these.

use super::{ImplicitGemm, ScalarFunction, SortOrder, SortResult};
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{Axes, DType, Shape};
use smallvec::SmallVec;

/// The op of a node. Operands are the node's inputs, in the order given here.
///
/// Elementwise ops broadcast their operands by NumPy's rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// No operand. A value bound when the graph runs.
    Input,
    /// No operand. A rank-0 constant, stored in [`Graph::scalars`](super::Graph::scalars).
    Scalar,
    /// No operand. The values 0, 1, 2, … along `axis`.
    Iota {
        /// The axis along which values increase.
        axis: usize,
        /// The result's shape.
        shape: Shape,
        /// The result's dtype; not `bool`.
        dtype: DType,
    },

    /// `x`
    Unary(UnaryOp),
    /// `a`, `b`, of one dtype
    Binary(BinaryOp),
    /// `a`, `b`, of one dtype; the result is `bool`
    Compare(CompareOp),
    /// `condition` (bool), `on_true`, `on_false`
    Select,
    /// `x`, converted as [`Scalar::cast`](crate::Scalar::cast) does
    Cast(DType),
    /// `x`, its bits reinterpreted as another dtype of the same size
    Bitcast(DType),

    /// `x`, the same elements in row-major order under another shape
    Reshape(Shape),
    /// `x`; axis `i` of the result is axis `axes[i]` of `x`
    Permute(Axes),
    /// `x`, broadcast to a shape
    Broadcast(Shape),
    /// `x`, one entry for each axis
    Slice(SmallVec<[SliceAxis; 4]>),
    /// `x`, one entry for each axis: every window of `x`, as a view. The result's axes are the window positions along
    /// each axis, then the offsets within the window along each axis; element `[p…, w…]` is `x[p·stride + w·dilation
    /// …]`.
    Windows(SmallVec<[WindowAxis; 4]>),
    /// `x`, `fill` (rank 0): `x` padded at the edges and in between with `fill`, one entry for each axis
    Pad(SmallVec<[PadAxis; 4]>),
    /// one or more operands of one dtype, concatenated along an axis
    Concat {
        /// The concatenated axis.
        axis: usize,
    },
    /// `x`, `update`: `x` with the elements that the slice selects replaced by those of `update`
    Assign(SmallVec<[SliceAxis; 4]>),
    /// `x`, `index` (integer, of the result's shape): element `i` of the result is `x` at `i`, with the coordinate
    /// along `axis` replaced by `index[i]`. Indices are clamped to the valid range. `index` must agree with `x` on
    /// every other axis.
    Gather {
        /// The gathered axis.
        axis: usize,
    },
    /// `x`, `index` (integer), `update` (of index's shape): `x` with `update[i]` stored, or combined, at `i` with the
    /// coordinate along `axis` replaced by `index[i]`. Updates with an out-of-range index are dropped. Several
    /// updates of one element apply in row-major order.
    Scatter {
        /// The scattered axis.
        axis: usize,
        /// How an update combines with the current element; `None` replaces it.
        combine: Option<Combine>,
    },
    /// one or more keys of one shape: a stable sort along an axis
    Sort {
        /// The sorted axis.
        axis: usize,
        /// The order.
        order: SortOrder,
        /// The result: values or positions.
        result: SortResult,
    },

    /// `x`; the result drops `axes` (sorted, distinct)
    Reduce {
        /// How two elements are combined.
        op: CombineOp,
        /// The reduced axes.
        axes: Axes,
    },
    /// `x`; the index (`i64`) of an element along `axis`, which the result drops
    ArgReduce {
        /// The element to find.
        op: ArgOp,
        /// The reduced axis.
        axis: usize,
    },
    /// `x`; a prefix scan: each element combined with all before it along `axis`
    Scan {
        /// How two elements are combined.
        op: CombineOp,
        /// The scanned axis.
        axis: usize,
    },
    /// `a`, `b`, of one dtype: a contraction (matmul). The result's axes are the batch axes, `a`'s free axes, `b`'s
    /// free axes
    Dot(DotAxes),
    /// `x`, `kernels`, of one dtype: convolution as an implicit GEMM. The planner rewrites convolutions to it for
    /// backends that compute them without im2col.
    ImplicitGemm(Box<ImplicitGemm>),
    /// `x`, `[…, n, n]`, positive definite: the triangular factor of each matrix, zero in the other triangle. Only
    /// the triangle of `x` that the factor fills is read. The factor of a matrix that is not positive definite
    /// contains NaN.
    Cholesky {
        /// Whether the factor `l` is lower triangular, with `x = l·lᴴ`; otherwise it is an upper triangular `u`, with
        /// `x = uᴴ·u`.
        lower: bool,
    },
    /// `a`, `[…, n, n]`, triangular; `b`, `[…, n, m]` or on the right side `[…, m, n]`, with the same leading axes:
    /// the `x` with `a·x = b`, or on the right side `x·a = b`. Only one triangle of `a` is read.
    TriangularSolve {
        /// Whether `a` is on the left of `x`.
        left_side: bool,
        /// Whether the lower triangle of `a` is read, or the upper one.
        lower: bool,
        /// Whether the diagonal of `a` is taken as ones and not read.
        unit_diagonal: bool,
        /// The transposition applied to `a`.
        transpose: Transpose,
    },
}

/// How a scatter combines an update with the current element.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// By an op.
    With(CombineOp),
    /// By a function of the current element and the update.
    Function(ScalarFunction),
}

impl From<CombineOp> for Combine {
    fn from(op: CombineOp) -> Combine {
        Combine::With(op)
    }
}

/// A transposition of a matrix operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Transpose {
    /// None.
    #[default]
    No,
    /// The transpose.
    Transpose,
    /// The conjugate transpose.
    Adjoint,
}

/// A sliding window along one axis. All fields are at least 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowAxis {
    /// The number of elements of the window.
    pub size: usize,
    /// The distance between window positions.
    pub stride: usize,
    /// The distance between elements of the window.
    pub dilation: usize,
}

impl WindowAxis {
    /// A window of adjacent elements, with stride 1.
    pub fn new(size: usize) -> WindowAxis {
        WindowAxis { size, stride: 1, dilation: 1 }
    }

    /// The number of window positions along an axis of this extent; 0 if the window does not fit.
    pub fn positions(&self, extent: usize) -> usize {
        let span = self.size.saturating_sub(1).saturating_mul(self.dilation).saturating_add(1);
        match extent.checked_sub(span) {
            Some(rest) => rest / self.stride.max(1) + 1,
            None => 0,
        }
    }
}

/// A slice of one axis: `start`, `start + step`, …, `len` elements in total.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SliceAxis {
    /// The first index.
    pub start: usize,
    /// The distance between indices; negative steps go backwards; not zero.
    pub step: isize,
    /// The number of elements.
    pub len: usize,
}

/// The padding of one axis. Negative `low` and `high` crop elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PadAxis {
    /// Elements before the first.
    pub low: isize,
    /// Elements after the last.
    pub high: isize,
    /// Elements between each two neighbours.
    pub interior: usize,
}

/// The axes of a dot, as in StableHLO's `dot_general`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DotAxes {
    /// Batch axes of `a`, paired with `b_batch`.
    pub a_batch: Axes,
    /// Batch axes of `b`, paired with `a_batch`.
    pub b_batch: Axes,
    /// Contracting axes of `a`, paired with `b_contract`.
    pub a_contract: Axes,
    /// Contracting axes of `b`, paired with `a_contract`.
    pub b_contract: Axes,
}

impl DotAxes {
    /// Free axes of `a`: neither batch nor contracting.
    pub fn a_free(&self, rank: usize) -> Axes {
        free(rank, &self.a_batch, &self.a_contract)
    }

    /// Free axes of `b`: neither batch nor contracting.
    pub fn b_free(&self, rank: usize) -> Axes {
        free(rank, &self.b_batch, &self.b_contract)
    }
}

fn free(rank: usize, batch: &[usize], contract: &[usize]) -> Axes {
    (0..rank).filter(|axis| !batch.contains(axis) && !contract.contains(axis)).collect()
}

impl SliceAxis {
    /// A whole axis of this extent.
    pub fn full(extent: usize) -> SliceAxis {
        SliceAxis { start: 0, step: 1, len: extent }
    }

    /// Whether every index is in bounds of an axis of this extent.
    pub fn fits(&self, extent: usize) -> bool {
        if self.len == 0 {
            return true;
        }
        let last = (self.len as i128 - 1) * self.step as i128 + self.start as i128;
        self.step != 0 && self.start < extent && (0..extent as i128).contains(&last)
    }
}

impl PadAxis {
    /// The extent of an axis of `extent` after padding; `None` if it is negative or too large to address.
    pub fn extent(&self, extent: usize) -> Option<usize> {
        // Coordinates overflow beyond this, and no memory is that large.
        const MAX_EXTENT: usize = isize::MAX as usize / 16;
        if self.low.unsigned_abs() > MAX_EXTENT || self.high.unsigned_abs() > MAX_EXTENT {
            return None;
        }
        let inner = extent.checked_add(extent.saturating_sub(1).checked_mul(self.interior)?)?;
        let padded = (inner as i128) + self.low as i128 + self.high as i128;
        usize::try_from(padded).ok()
    }
}

impl Op {
    /// The name in messages and in `explain`.
    pub fn name(&self) -> &'static str {
        match self {
            Op::Input => "input",
            Op::Scalar => "scalar",
            Op::Iota { .. } => "iota",
            Op::Unary(op) => op.name(),
            Op::Binary(op) => op.name(),
            Op::Compare(op) => op.name(),
            Op::Select => "select",
            Op::Cast(_) => "cast",
            Op::Bitcast(_) => "bitcast",
            Op::Reshape(_) => "reshape",
            Op::Permute(_) => "permute",
            Op::Broadcast(_) => "broadcast",
            Op::Slice(_) => "slice",
            Op::Pad(_) => "pad",
            Op::Concat { .. } => "concat",
            Op::Assign(_) => "slice_assign",
            Op::Gather { .. } => "gather",
            Op::Scatter { .. } => "scatter",
            Op::Reduce { op, .. } => op.reduce_name(),
            Op::ArgReduce { op: ArgOp::Min, .. } => "argmin",
            Op::ArgReduce { op: ArgOp::Max, .. } => "argmax",
            Op::Scan { op, .. } => op.scan_name(),
            Op::Dot(_) => "dot",
            Op::ImplicitGemm(_) => "convolution",
            Op::Windows(_) => "windows",
            Op::Sort { result: SortResult::Values, .. } => "sort",
            Op::Sort { result: SortResult::Positions, .. } => "argsort",
            Op::Sort { result: SortResult::FirstPositions(_), .. } => "top_k",
            Op::Cholesky { .. } => "cholesky",
            Op::TriangularSolve { .. } => "triangular_solve",
        }
    }

    /// Whether each element of the result depends only on the corresponding elements of the operands.
    pub fn is_elementwise(&self) -> bool {
        matches!(
            self,
            Op::Unary(_)
                | Op::Binary(_)
                | Op::Compare(_)
                | Op::Select
                | Op::Cast(_)
                | Op::Bitcast(_)
        )
    }

    /// Whether the op only rearranges, selects or repeats elements, which an index map expresses.
    pub fn is_view(&self) -> bool {
        matches!(
            self,
            Op::Reshape(_) | Op::Permute(_) | Op::Broadcast(_) | Op::Slice(_) | Op::Windows(_)
        )
    }

    /// Whether the op is a routine, with its operands and its result in memory, rather than a loop over index maps.
    pub fn is_routine(&self) -> bool {
        matches!(
            self,
            Op::Sort { .. }
                | Op::ImplicitGemm(_)
                | Op::Cholesky { .. }
                | Op::TriangularSolve { .. }
                | Op::Scatter { combine: Some(Combine::Function(_)), .. }
        )
    }
}
