//! Composed functions: convolutions, FFTs, window reductions and top-k, which append primitive ops to a [`Graph`].
//! Tensors and programs share them.
//!
//! Each function validates its arguments. The planner sees only the ops.

mod convolution;
mod error;
mod fft;
mod order;
mod reduce_window;

pub use convolution::{Convolution, ConvolutionAxes, ConvolutionWindow, KernelAxes, convolution};
pub use error::ComposeError;
pub use fft::{FftKind, fft};
pub use order::{gather_sorted, top_k};
pub use reduce_window::{ReduceWindow, reduce_window, reduce_window_with};

use crate::elementwise::{BinaryOp, UnaryOp};
use crate::graph::{Graph, InferError, NodeId, Op, PadAxis, SliceAxis, WindowAxis};
use crate::{Axes, DType, Scalar, Shape};
use smallvec::SmallVec;

/// Shorthand for appending ops to a graph. Identity ops append nothing.
struct GraphBuilder<'a>(&'a mut Graph);

impl GraphBuilder<'_> {
    fn shape(&self, x: NodeId) -> Shape {
        self.0.node(x).shape.clone()
    }

    fn dtype(&self, x: NodeId) -> DType {
        self.0.node(x).dtype
    }

    fn unary(&mut self, op: UnaryOp, x: NodeId) -> Result<NodeId, InferError> {
        self.0.push(Op::Unary(op), &[x])
    }

    fn binary(&mut self, op: BinaryOp, a: NodeId, b: NodeId) -> Result<NodeId, InferError> {
        self.0.push(Op::Binary(op), &[a, b])
    }

    fn scalar(&mut self, value: impl Into<Scalar>, dtype: DType) -> NodeId {
        self.0.scalar(value.into().cast(dtype))
    }

    fn cast(&mut self, x: NodeId, dtype: DType) -> Result<NodeId, InferError> {
        if self.dtype(x) == dtype { Ok(x) } else { self.0.push(Op::Cast(dtype), &[x]) }
    }

    fn reshape(&mut self, x: NodeId, shape: Shape) -> Result<NodeId, InferError> {
        match self.0.node(x).shape == shape {
            true => Ok(x),
            false => self.0.push(Op::Reshape(shape), &[x]),
        }
    }

    fn broadcast(&mut self, x: NodeId, shape: Shape) -> Result<NodeId, InferError> {
        match self.0.node(x).shape == shape {
            true => Ok(x),
            false => self.0.push(Op::Broadcast(shape), &[x]),
        }
    }

    fn permute(&mut self, x: NodeId, axes: Axes) -> Result<NodeId, InferError> {
        match axes.iter().enumerate().all(|(to, &from)| to == from) {
            true => Ok(x),
            false => self.0.push(Op::Permute(axes), &[x]),
        }
    }

    /// `x` with axis `from` moved to `to`, and the other axes in order.
    fn move_axis(&mut self, x: NodeId, from: usize, to: usize) -> Result<NodeId, InferError> {
        let mut axes: Axes = (0..self.0.node(x).shape.rank()).collect();
        let axis = axes.remove(from);
        axes.insert(to, axis);
        self.permute(x, axes)
    }

    fn slice(&mut self, x: NodeId, axis: usize, slice: SliceAxis) -> Result<NodeId, InferError> {
        let shape = self.shape(x);
        if slice == SliceAxis::full(shape[axis]) {
            return Ok(x);
        }
        let mut slices: SmallVec<[SliceAxis; 4]> =
            shape.iter().map(|&extent| SliceAxis::full(extent)).collect();
        slices[axis] = slice;
        self.0.push(Op::Slice(slices), &[x])
    }

    fn flip(&mut self, x: NodeId, axis: usize) -> Result<NodeId, InferError> {
        let extent = self.0.node(x).shape[axis];
        match extent {
            0 | 1 => Ok(x),
            _ => self.slice(x, axis, SliceAxis { start: extent - 1, step: -1, len: extent }),
        }
    }

    fn pad(
        &mut self,
        x: NodeId,
        fill: NodeId,
        pads: SmallVec<[PadAxis; 4]>,
    ) -> Result<NodeId, InferError> {
        match pads.iter().all(|pad| *pad == PadAxis::default()) {
            true => Ok(x),
            false => self.0.push(Op::Pad(pads), &[x, fill]),
        }
    }

    fn windows(
        &mut self,
        x: NodeId,
        windows: SmallVec<[WindowAxis; 4]>,
    ) -> Result<NodeId, InferError> {
        self.0.push(Op::Windows(windows), &[x])
    }

    /// The indices along one axis of a shape.
    fn iota(&mut self, shape: Shape, axis: usize, dtype: DType) -> Result<NodeId, InferError> {
        self.0.push(Op::Iota { axis, shape, dtype }, &[])
    }
}

#[cfg(test)]
mod tests;
