//! Errors of composed functions.

use crate::graph::InferError;
use crate::{DType, Shape};

/// Why a function cannot be composed. The message omits the name of the function, which the caller knows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ComposeError {
    /// One of its ops is invalid.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// Axis roles that are not a permutation of the axes.
    #[error(
        "expected each axis of the {operand} of shape {shape} to have one role, found {axes:?}; name each \
         axis once"
    )]
    ConvolutionAxes { operand: &'static str, axes: Vec<usize>, shape: Shape },
    /// The wrong number of windows.
    #[error(
        "expected {spatial} windows, one for each spatial axis, found {found}; give one per axis"
    )]
    ConvolutionRank { spatial: usize, found: usize },
    /// A number of groups that does not divide the grouped extent.
    #[error(
        "expected the number of {what} to be a multiple of {groups} groups, found {found}; change the groups or the operands"
    )]
    Groups { what: &'static str, groups: usize, found: usize },
    /// Both feature and batch groups, or a group count of 0.
    #[error(
        "expected feature or batch groups to be 1 and the other at least 1, found {feature} and {batch}; use \
         one kind of groups"
    )]
    BothGroups { feature: usize, batch: usize },
    /// A kernel with the wrong number of input features.
    #[error(
        "expected a kernel of {expected} input features ({features} in {groups} groups), found {found}; check \
         the layouts of both operands"
    )]
    KernelFeatures { expected: usize, features: usize, groups: usize, found: usize },
    /// A stride or dilation of 0, or an empty window.
    #[error("expected sizes, strides and dilations of at least 1, found 0 on axis {axis}; use 1")]
    ZeroWindow { axis: usize },
    /// A window body whose result differs from its operand in shape or dtype.
    #[error(
        "expected a body whose results are as its operands, {expected} of {dtype}, found {found} of \
         {found_dtype}; cast or broadcast them"
    )]
    BodyResult { expected: Shape, dtype: DType, found: Shape, found_dtype: DType },
    /// No values, or another number of initial values than values.
    #[error(
        "expected as many initial values as values, and at least one, found {inits} and {values}; pass \
         one per value"
    )]
    InitialValues { values: usize, inits: usize },
    /// An initial value that is not rank 0.
    #[error("expected a rank-0 initial value, found shape {found}; reshape it to []")]
    InitialNotScalar { found: Shape },
    /// An FFT of no axes, or of more axes than the operand has.
    #[error("expected 1 to {} lengths for shape {shape}, found {found}; give one per axis", shape.rank())]
    FftRank { shape: Shape, found: usize },
    /// FFT lengths that differ from the operand's extents.
    #[error(
        "expected an axis {axis} of extent {expected}, found {found}; pad or slice the operand"
    )]
    FftExtent { axis: usize, expected: usize, found: usize },
    /// An FFT of an unsupported dtype.
    #[error("expected {expected}, found {found}; cast the operand")]
    FftDType { expected: &'static str, found: DType },
    /// A top-k with `k` greater than the extent of the axis.
    #[error(
        "expected at most {extent} elements, the extent of the last axis, found {k}; request fewer"
    )]
    TopK { k: usize, extent: usize },
    /// A scalar, where an axis is needed.
    #[error("expected at least one axis, found a scalar; reshape it to [1]")]
    NoAxis,
}
