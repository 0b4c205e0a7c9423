//! The primitive ops of a graph. Everything else a tensor offers is built from these.

use super::{ImplicitGemm, ScalarFunction, SortOrder, SortResult};
use crate::elementwise::{ArgOp, BinaryOp, CombineOp, CompareOp, UnaryOp};
use crate::{Axes, DType, Shape};
use smallvec::SmallVec;

/// What a node computes. Operands are the node's inputs, in the order named here.
///
/// Elementwise ops broadcast their operands by NumPy's rule.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// No operand. A value bound when the graph runs.
    Input,
    /// No operand. A rank-0 constant, kept in [`Graph::scalars`](super::Graph::scalars).
    Scalar,
    /// No operand. Counts 0, 1, 2, … along `axis`.
    Iota {
        /// The axis that is counted along.
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
    /// `x`, the same bits seen as another dtype of the same size
    Bitcast(DType),

    /// `x`, the same elements in row-major order under another shape
    Reshape(Shape),
    /// `x`; axis `i` of the result is axis `axes[i]` of `x`
    Permute(Axes),
    /// `x`, repeated to a shape it broadcasts to
    Broadcast(Shape),
    /// `x`, one entry for each axis
    Slice(SmallVec<[SliceAxis; 4]>),
    /// `x`, one entry for each axis: every window of `x`. The result's axes are the positions of the window
    /// along each axis, then the places within it along each axis; element `[p…, w…]` is
    /// `x[p·stride + w·dilation …]`.
    Windows(SmallVec<[WindowAxis; 4]>),
    /// `x`, `fill` (rank 0): `x` surrounded and interleaved with `fill`, one entry for each axis
    Pad(SmallVec<[PadAxis; 4]>),
    /// one or more operands of one dtype, joined along an axis
    Concat {
        /// The axis the operands are joined along.
        axis: usize,
    },
    /// `x`, `update`: `x` with the elements that the slice selects replaced by `update`'s
    Assign(SmallVec<[SliceAxis; 4]>),
    /// `x`, `index` (integer, of the result's shape): element `i` of the result is `x` at `i`, with
    /// the coordinate along `axis` replaced by `index[i]`. Indices are clamped into range. `index`
    /// must agree with `x` on every other axis.
    Gather {
        /// The axis that is looked up.
        axis: usize,
    },
    /// `x`, `index` (integer), `update` (of index's shape): `x` with `update[i]` put, or combined, at
    /// `i` with the coordinate along `axis` replaced by `index[i]`. Updates whose index is out of
    /// range are dropped. Of several to one place, they are applied in row-major order.
    Scatter {
        /// The axis that is written through the index.
        axis: usize,
        /// How an update meets what is there; `None` replaces it.
        combine: Option<Combine>,
    },
    /// one or more keys of one shape: the elements along an axis in a stable order
    Sort {
        /// The axis that is sorted along.
        axis: usize,
        /// When one element comes before another.
        order: SortOrder,
        /// What is answered.
        result: SortResult,
    },

    /// `x`; the result drops `axes` (sorted, distinct)
    Reduce {
        /// How two elements are combined.
        op: CombineOp,
        /// The axes that are reduced.
        axes: Axes,
    },
    /// `x`; the index (`i64`) of an element along `axis`, which the result drops
    ArgReduce {
        /// Which element is looked for.
        op: ArgOp,
        /// The axis that is reduced.
        axis: usize,
    },
    /// `x`; each element combined with all before it along `axis`
    Scan {
        /// How two elements are combined.
        op: CombineOp,
        /// The axis that is scanned.
        axis: usize,
    },
    /// `a`, `b`, of one dtype; the result's axes are the batch axes, `a`'s free axes, `b`'s free axes
    Dot(DotAxes),
    /// `x`, `kernels`, of one dtype: all windows of `x`, multiplied with kernels. The planner writes convolutions
    /// so for devices that do not write windows.
    ImplicitGemm(Box<ImplicitGemm>),
    /// `x`, `[…, n, n]`, positive definite: the triangular factor of each matrix, zero in the other
    /// triangle. Only the triangle of `x` that the factor fills is looked at. Where a matrix is not positive
    /// definite, its factor has NaN.
    Cholesky {
        /// Whether the factor is lower triangular, and `x` is it times its adjoint; otherwise it is upper
        /// triangular, and `x` is its adjoint times it.
        lower: bool,
    },
    /// `a`, `[…, n, n]`, triangular; `b`, `[…, n, m]` or on the right side `[…, m, n]`, with the same leading
    /// axes: the `x` with `a·x = b`, or on the right side `x·a = b`. Only one triangle of `a` is looked at.
    TriangularSolve {
        /// Whether `a` stands on the left of `x`.
        left_side: bool,
        /// Whether it is the lower triangle of `a` that is looked at.
        lower: bool,
        /// Whether the diagonal of `a` counts as ones, and is not looked at.
        unit_diagonal: bool,
        /// What is done to `a` first.
        transpose: Transpose,
    },
}

/// How an update meets what is there.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Combine {
    /// By this op.
    With(CombineOp),
    /// By this function of what is there and the update.
    Function(ScalarFunction),
}

impl From<CombineOp> for Combine {
    fn from(op: CombineOp) -> Combine {
        Combine::With(op)
    }
}

/// What is done to a matrix before it is used.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Transpose {
    /// Nothing.
    #[default]
    No,
    /// Rows and columns change places.
    Transpose,
    /// Rows and columns change places, and complex elements are conjugated.
    Adjoint,
}

/// How a window moves along one axis. All three are at least 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct WindowAxis {
    /// How many elements it takes.
    pub size: usize,
    /// The distance between its positions.
    pub stride: usize,
    /// The distance between the elements it takes.
    pub dilation: usize,
}

impl WindowAxis {
    /// A window that moves by one element and takes neighbours.
    pub fn new(size: usize) -> WindowAxis {
        WindowAxis { size, stride: 1, dilation: 1 }
    }

    /// How many positions it has along an axis of this extent; none if it does not fit.
    pub fn positions(&self, extent: usize) -> usize {
        let span = self.size.saturating_sub(1).saturating_mul(self.dilation).saturating_add(1);
        match extent.checked_sub(span) {
            Some(rest) => rest / self.stride.max(1) + 1,
            None => 0,
        }
    }
}

/// What a slice takes of one axis: `start`, `start + step`, …, `len` elements in all.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SliceAxis {
    /// The first index taken.
    pub start: usize,
    /// The distance to the next; negative walks backwards; not zero.
    pub step: isize,
    /// How many are taken.
    pub len: usize,
}

/// How one axis is padded. Negative `low` and `high` cut elements off.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct PadAxis {
    /// Elements before the first.
    pub low: isize,
    /// Elements after the last.
    pub high: isize,
    /// Elements between each two.
    pub interior: usize,
}

/// The axes of a contraction, as in StableHLO's `dot_general`.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct DotAxes {
    /// Axes of `a` that are paired with `b_batch` and kept.
    pub a_batch: Axes,
    /// Axes of `b` that are paired with `a_batch` and kept.
    pub b_batch: Axes,
    /// Axes of `a` that are paired with `b_contract` and summed over.
    pub a_contract: Axes,
    /// Axes of `b` that are paired with `a_contract` and summed over.
    pub b_contract: Axes,
}

impl DotAxes {
    /// Axes of `a` that are neither batch nor contracting.
    pub fn a_free(&self, rank: usize) -> Axes {
        free(rank, &self.a_batch, &self.a_contract)
    }

    /// Axes of `b` that are neither batch nor contracting.
    pub fn b_free(&self, rank: usize) -> Axes {
        free(rank, &self.b_batch, &self.b_contract)
    }
}

fn free(rank: usize, batch: &[usize], contract: &[usize]) -> Axes {
    (0..rank).filter(|axis| !batch.contains(axis) && !contract.contains(axis)).collect()
}

impl SliceAxis {
    /// All of an axis of this extent.
    pub fn full(extent: usize) -> SliceAxis {
        SliceAxis { start: 0, step: 1, len: extent }
    }

    /// Whether every index taken is one of an axis of this extent.
    pub fn fits(&self, extent: usize) -> bool {
        if self.len == 0 {
            return true;
        }
        let last = (self.len as i128 - 1) * self.step as i128 + self.start as i128;
        self.step != 0 && self.start < extent && (0..extent as i128).contains(&last)
    }
}

impl PadAxis {
    /// The extent of an axis of `extent` after padding, if it is not negative and can be addressed.
    pub fn extent(&self, extent: usize) -> Option<usize> {
        // Beyond this, coordinates would overflow long before memory is there for them.
        const MOST: usize = isize::MAX as usize / 16;
        if self.low.unsigned_abs() > MOST || self.high.unsigned_abs() > MOST {
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

    /// Whether the op computes each element of its result from the same element of its operands.
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

    /// Whether the op only says where elements are, and computes none.
    pub fn is_view(&self) -> bool {
        matches!(
            self,
            Op::Reshape(_) | Op::Permute(_) | Op::Broadcast(_) | Op::Slice(_) | Op::Windows(_)
        )
    }

    /// Whether the op is no loop over index maps, but a routine of its own: its operands and its result are
    /// in memory.
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
