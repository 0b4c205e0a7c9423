//! Errors of shape and dtype inference.

use super::accepts::DTypeSet;
use crate::graph::{PadAxis, SliceAxis, WindowAxis};
use crate::{Axes, DType, Shape};

/// Why an op cannot be applied to its operands. The message omits the name of the op, which the caller knows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum InferError {
    /// An [`Op::Input`](crate::graph::Op::Input) or [`Op::Scalar`](crate::graph::Op::Scalar), which have an explicit
    /// shape and dtype.
    #[error(
        "inputs and constants have no operands to infer from; add them with Graph::input or \
         Graph::scalar"
    )]
    NotInferred,
    /// The wrong number of operands.
    #[error("expected {expected} operands, found {found}; pass exactly {expected}")]
    OperandCount { expected: usize, found: usize },
    /// No operand, where at least one is needed.
    #[error("expected at least one operand, found none; pass one or more")]
    NoOperand,
    /// Operands of different dtypes, where they must agree.
    #[error("expected operands of one dtype, found {first} and {other}; cast one of them")]
    DTypesDiffer { first: DType, other: DType },
    /// A dtype that the op does not accept.
    #[error("expected one of {accepted}, found {found}; cast the operand first")]
    DTypeNotAccepted { accepted: DTypeSet, found: DType },
    /// A select whose condition is not `bool`.
    #[error("expected a bool condition, found {found}; compare it with something, such as x != 0")]
    ConditionNotBool { found: DType },
    /// An index that is not an integer.
    #[error("expected an integer index, found {found}; cast the index to i64")]
    IndexNotInteger { found: DType },
    /// A bitcast between dtypes of different sizes.
    #[error(
        "expected a dtype of {} bytes as {from} has, found {to} of {} bytes; use a cast to convert \
         values", from.size(), to.size()
    )]
    BitcastSize { from: DType, to: DType },
    /// A bitcast to `bool`, whose bytes must be 0 or 1.
    #[error("expected a dtype other than bool, found bool from {from}; cast, or compare with zero")]
    BitcastToBool { from: DType },
    /// Shapes that do not broadcast with each other.
    #[error(
        "expected shapes that broadcast, found {first} and {other}; aligned at the last axis, \
         extents must be equal or 1"
    )]
    NotBroadcastable { first: Shape, other: Shape },
    /// A shape that does not broadcast to the target shape.
    #[error(
        "expected a shape that broadcasts to {to}, found {from}; aligned at the last axis, each \
         extent must be 1 or equal to that of the target"
    )]
    DoesNotBroadcastTo { from: Shape, to: Shape },
    /// An axis that the operand does not have.
    #[error(
        "expected an axis below {}, found {axis} for shape {shape}; use an axis of the operand",
        shape.rank()
    )]
    AxisOutOfRange { axis: usize, shape: Shape },
    /// Axes that are not in ascending order, or that repeat.
    #[error("expected sorted, distinct axes, found {axes:?}; sort them and drop repeats")]
    AxesNotSorted { axes: Axes },
    /// Axes that are not a permutation of the operand's axes.
    #[error(
        "expected a permutation of all {} axes of shape {shape}, found {axes:?}; name each axis once",
        shape.rank()
    )]
    NotAPermutation { axes: Axes, shape: Shape },
    /// The wrong number of slice, pad or window entries.
    #[error(
        "expected {} entries, one for each axis of shape {shape}, found {found}; give one per axis",
        shape.rank()
    )]
    EntryCount { found: usize, shape: Shape },
    /// A slice that is out of bounds, or has step 0.
    #[error(
        "expected a slice with a step other than 0 inside 0..{extent} on axis {axis}, found start \
         {}, step {}, length {}; shorten the slice", slice.start, slice.step, slice.len
    )]
    SliceOutOfRange { axis: usize, extent: usize, slice: SliceAxis },
    /// Padding that crops more elements than there are, or overflows.
    #[error(
        "expected padding that leaves an extent of at least 0 on axis {axis} of extent {extent}, \
         found low {}, high {}, interior {}; crop less", pad.low, pad.high, pad.interior
    )]
    PadOutOfRange { axis: usize, extent: usize, pad: PadAxis },
    /// A fill value that is not rank 0.
    #[error("expected a rank-0 fill value, found shape {found}; reshape it to []")]
    FillNotScalar { found: Shape },
    /// A reshape that changes the number of elements.
    #[error(
        "expected a shape of {} elements as {from} has, found {to} of {} elements; choose extents \
         with the same product", from.element_count(), to.element_count()
    )]
    ReshapeElements { from: Shape, to: Shape },
    /// A result that is too large to address.
    #[error(
        "expected a result whose size in bytes fits an isize, found shape {shape}; split the \
         computation into smaller ones"
    )]
    TooLarge { shape: Shape },
    /// Operands of a concatenation that differ on another axis.
    #[error(
        "expected shapes that differ only on axis {axis}, found {first} and {other}; slice, pad or \
         broadcast one of them"
    )]
    ConcatShapes { axis: usize, first: Shape, other: Shape },
    /// An update whose shape differs from the slice or index it updates.
    #[error(
        "expected an update of shape {expected}, found {found}; broadcast or reshape the update"
    )]
    UpdateShape { expected: Shape, found: Shape },
    /// An index that differs from the operand on another axis than the indexed one.
    #[error(
        "expected an index of shape {operand} except on axis {axis}, found {index}; broadcast the \
         index"
    )]
    IndexShape { axis: usize, operand: Shape, index: Shape },
    /// An empty axis, where an element is needed.
    #[error(
        "expected at least one element along axis {axis}, found shape {shape}; handle the \
         empty case separately"
    )]
    EmptyAxis { axis: usize, shape: Shape },
    /// Different numbers of batch or contracting axes in `a` and `b`.
    #[error(
        "expected as many {role} axes in both operands, found {a:?} and {b:?}; pair each axis of \
         one with an axis of the other"
    )]
    DotAxisCount { role: DotRole, a: Axes, b: Axes },
    /// An axis that occurs twice among an operand's batch and contracting axes.
    #[error(
        "expected each axis to be batch or contracting at most once, found axis {axis} twice in \
         batch {batch:?} and contracting {contract:?}; drop one"
    )]
    DotAxisRepeated { axis: usize, batch: Axes, contract: Axes },
    /// Paired axes of different extents.
    #[error(
        "expected equal extents of the paired {role} axes {a_axis} and {b_axis}, found {} and {} in \
         shapes {a} and {b}; transpose or reshape one operand", a[*a_axis], b[*b_axis]
    )]
    DotExtents { role: DotRole, a_axis: usize, b_axis: usize, a: Shape, b: Shape },
    /// A window with a size, stride or dilation of 0.
    #[error(
        "expected a window whose size, stride and dilation are at least 1 on axis {axis}, found size {}, \
         stride {}, dilation {}; use 1 as the default", window.size, window.stride, window.dilation
    )]
    WindowOutOfRange { axis: usize, window: WindowAxis },
    /// Sort keys of different shapes.
    #[error(
        "expected keys of one shape, found {first} and {other}; broadcast or reshape one of them"
    )]
    KeyShapes { first: Shape, other: Shape },
    /// The wrong number of sort orders.
    #[error("expected {keys} sort orders, one for each key, found {found}; give one per key")]
    KeyOrders { keys: usize, found: usize },
    /// Sorted values requested for several keys.
    #[error(
        "expected a single key to return sorted values, found {keys} keys; sort for positions and gather each key"
    )]
    SortedValues { keys: usize },
    /// Operands of an implicit GEMM whose shapes do not match.
    #[error(
        "expected shapes [examples, space…, feature groups, features] and [groups, outputs, window…, features] \
         that match the windows, found {x} and {kernels}; check the layouts of both operands"
    )]
    ImplicitGemmShapes { x: Shape, kernels: Shape },
    /// A top-k with `k` greater than the extent of the axis.
    #[error(
        "expected at most {extent} elements, the extent of the axis, found {count}; request fewer"
    )]
    TopKTooLarge { count: usize, extent: usize },
    /// A scalar function of the wrong type.
    #[error(
        "expected a function of {expected:?} to {result}, found one of {found:?} to {found_result}; change \
         the function or cast the operands"
    )]
    FunctionType { expected: Vec<DType>, result: DType, found: Vec<DType>, found_result: DType },
    /// A value in a scalar function that is not rank 0.
    #[error(
        "expected rank-0 values in a function of scalars, found shape {shape}; reshape it to []"
    )]
    FunctionNotScalar { shape: Shape },
    /// An op in a scalar function that is not elementwise.
    #[error("expected elementwise ops in a function of scalars, found {op}; express it with those")]
    FunctionNotElementwise { op: &'static str },
    /// A scalar function without a result, or with several.
    #[error("expected one result of a function of scalars, found {found}; choose one")]
    FunctionResults { found: usize },
    /// An operand that is not a batch of square matrices.
    #[error("expected square matrices, found shape {found}; the last two extents must be equal")]
    NotSquare { found: Shape },
    /// A right-hand side that does not match its triangular matrices.
    #[error(
        "expected a right-hand side with the leading axes of {a} and {} {}, found {b}; transpose or \
         broadcast it", a[a.rank() - 1], if *left_side { "rows" } else { "columns" }
    )]
    SolveShapes { a: Shape, b: Shape, left_side: bool },
}

/// The role of paired axes of a dot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DotRole {
    /// Batch axes, which the result keeps.
    Batch,
    /// Contracting axes, which are summed over.
    Contract,
}

impl std::fmt::Display for DotRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            DotRole::Batch => "batch",
            DotRole::Contract => "contracting",
        })
    }
}
