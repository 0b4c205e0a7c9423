//! What can be wrong with what is composed.

use crate::graph::InferError;
use crate::{DType, Shape};

/// Why something cannot be composed. The message leaves out what, which the caller knows.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what its fields are")]
pub enum ComposeError {
    /// One of the ops cannot be applied.
    #[error(transparent)]
    Infer(#[from] InferError),
    /// Axes of an operand of a convolution that are not all of its axes.
    #[error(
        "expected each axis of the {operand} of shape {shape} to have one role, found {axes:?}; name each \
         axis once"
    )]
    ConvolutionAxes { operand: &'static str, axes: Vec<usize>, shape: Shape },
    /// A convolution whose parts do not have one entry for each spatial axis.
    #[error(
        "expected {spatial} windows, one for each spatial axis, found {found}; give one per axis"
    )]
    ConvolutionRank { spatial: usize, found: usize },
    /// Groups that do not divide what they group.
    #[error(
        "expected {what} that {groups} groups divide, found {found}; change the groups or the operands"
    )]
    Groups { what: &'static str, groups: usize, found: usize },
    /// Feature groups and batch groups at once, or none.
    #[error(
        "expected feature or batch groups to be 1 and the other at least 1, found {feature} and {batch}; use \
         one kind of groups"
    )]
    BothGroups { feature: usize, batch: usize },
    /// A kernel for another number of features.
    #[error(
        "expected a kernel of {expected} input features ({features} in {groups} groups), found {found}; check \
         the layouts of both operands"
    )]
    KernelFeatures { expected: usize, features: usize, groups: usize, found: usize },
    /// A stride or dilation of zero, or a window without elements.
    #[error("expected sizes, strides and dilations of at least 1, found 0 on axis {axis}; use 1")]
    ZeroWindow { axis: usize },
    /// A result of a window body that is not of its operand's shape and dtype.
    #[error(
        "expected a body whose results are as its operands, {expected} of {dtype}, found {found} of \
         {found_dtype}; cast or broadcast them"
    )]
    BodyResult { expected: Shape, dtype: DType, found: Shape, found_dtype: DType },
    /// Not as many values as initial values, or none.
    #[error(
        "expected as many initial values as values, and at least one, found {inits} and {values}"
    )]
    InitialValues { values: usize, inits: usize },
    /// An initial value that is not rank 0.
    #[error("expected a rank-0 initial value, found shape {found}; reshape it to []")]
    InitialNotScalar { found: Shape },
    /// A Fourier transform of more axes than there are, or of none.
    #[error("expected 1 to {} lengths for shape {shape}, found {found}; give one per axis", shape.rank())]
    FftRank { shape: Shape, found: usize },
    /// Lengths of a Fourier transform that are not those of the operand.
    #[error(
        "expected an axis {axis} of extent {expected}, found {found}; pad or slice the operand"
    )]
    FftExtent { axis: usize, expected: usize, found: usize },
    /// A Fourier transform of another dtype.
    #[error("expected {expected}, found {found}; cast the operand")]
    FftDType { expected: &'static str, found: DType },
    /// More elements asked for than there are.
    #[error(
        "expected at most {extent} elements, the extent of the last axis, found {k}; ask for fewer"
    )]
    TopK { k: usize, extent: usize },
    /// A scalar where an axis is needed.
    #[error("expected at least one axis, found a scalar; reshape it to [1]")]
    NoAxis,
}
