//! Ops whose types show what is asynchronous.
//!
//! Every op of [`Tensor`] is a function here. Its operands may be plain tensors, pending ones, or references to either,
//! in any mix. It returns a plain result if all operands are plain, and a [`Pending`] one if any is pending: the types
//! show which.
//!
//! ```
//! use inflight::{Device, Pending, Tensor, pending};
//!
//! # fn main() -> inflight::Result<()> {
//! let device = Device::cpu();
//! let activations = Tensor::ones::<f32>([4, 8], &device);
//! let weights = Tensor::ones::<f32>([8, 6], &device);
//!
//! let output: Tensor = pending::matmul(&activations, &weights);
//! let slices: (Tensor, Tensor) = pending::split2(&output, 1);
//!
//! let output: Pending<Tensor> = pending::matmul(activations.to_async(), &weights);
//! let slices: Pending<(Tensor, Tensor)> = pending::split2(&output, 1);
//! // … something else …
//! let (left, right) = slices.get()?; // the tensors exist
//! device.wait()?; // the device is done
//! # assert_eq!(left.shape(), right.shape());
//! # Ok(())
//! # }
//! ```
//!
//! A thread of the device runs pending work in submission order, so the caller never waits. Work whose operands are
//! not ready is set aside and does not block the work after it. [`call`] does the same for the caller's own functions,
//! which are written once, for plain tensors.

mod argument;
mod call;
mod table;

pub use argument::{Argument, Deferred, Mixed, Mode, Plain};
pub use call::{Composite, call};
pub use table::*;

use crate::{Axis, Pending, Tensor};
use std::panic::Location;

/// Splits a tensor along an axis into two parts; if the extent is odd, the first is the larger one.
#[track_caller]
pub fn split2<A: Argument<Value = Tensor>>(x: A, axis: impl Axis) -> Mixed<(A,), (Tensor, Tensor)> {
    let axis = axis.number();
    call::call_op((x,), Location::caller(), move |(x,)| {
        let mut parts = x.chunk(axis, 2);
        // An error gives fewer parts: it is the value of both.
        let second = parts.pop().unwrap_or_else(|| x.clone());
        (parts.pop().unwrap_or_else(|| second.clone()), second)
    })
}

impl Tensor {
    /// This tensor as a completed promise: values computed from it with [`pending`](crate::pending) are pending.
    pub fn to_async(&self) -> Pending<Tensor> {
        Pending::completed(Ok(self.clone()), Some(self.device().clone()))
    }
}
