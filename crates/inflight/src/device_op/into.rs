//! What can be an input.

use super::boxed::{BoxedOp, value};
use super::{DeviceOp, ExecutionContext};
use crate::lists::for_elements;
use crate::runtime::Pending;
use crate::{Result, Tensor};
use std::sync::Arc;

/// What can be an input of an op: another op, a tensor in any form, a promise, or a number.
///
/// A function that takes inputs this way takes them mixed:
///
/// ```
/// use inflight::device_op::BoxedOp;
/// use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, zip};
///
/// fn saxpy<'a>(
///     a: impl IntoDeviceOp<Output = f32> + 'a,
///     x: impl IntoDeviceOp<Output = Tensor> + 'a,
///     y: impl IntoDeviceOp<Output = Tensor> + 'a,
/// ) -> BoxedOp<'a, Tensor> {
///     zip!(a, x, y).map(|(a, x, y)| x * a + y)
/// }
///
/// # fn main() -> inflight::Result<()> {
/// let y = Tensor::ones::<f32>([4], &Device::cpu());
/// let z: Vec<f32> = saxpy(2.0f32, api::full(3.0f32, [4]), &y).to_host_vec().sync()?;
/// assert_eq!(z, [7.0; 4]);
/// # Ok(())
/// # }
/// ```
///
/// `Tensor`, `Arc<Tensor>` and `&Tensor` all are inputs whose output is a `Tensor`. With `&Tensor` the op
/// borrows the tensor until it has run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of an op",
    note = "inputs are ops, `Tensor`, `Arc<Tensor>`, `&Tensor`, `Pending<…>` and numbers; \
            `device_op::value(…)` makes an op of any other value"
)]
pub trait IntoDeviceOp {
    /// What the op sees.
    type Output: Send;
    /// The input as an op.
    type Op: DeviceOp<Output = Self::Output>;

    /// The input as an op. Runs nothing.
    fn into_op(self) -> Self::Op;
}

impl<O: DeviceOp> IntoDeviceOp for O {
    type Output = O::Output;
    type Op = O;

    fn into_op(self) -> O {
        self
    }
}

/// The output of an op is in memory when the op is done, also if it is one of its inputs.
fn included(tensor: Tensor, context: &ExecutionContext) -> Result<Tensor> {
    context.include(&tensor);
    Ok(tensor)
}

impl IntoDeviceOp for Tensor {
    type Output = Tensor;
    type Op = BoxedOp<'static, Tensor>;

    fn into_op(self) -> Self::Op {
        BoxedOp::new(async move |context| included(self, &context))
    }
}

impl<'a> IntoDeviceOp for &'a Tensor {
    type Output = Tensor;
    type Op = BoxedOp<'a, Tensor>;

    fn into_op(self) -> Self::Op {
        BoxedOp::new(async move |context| included(self.clone(), &context))
    }
}

impl IntoDeviceOp for Arc<Tensor> {
    type Output = Tensor;
    type Op = BoxedOp<'static, Tensor>;

    fn into_op(self) -> Self::Op {
        BoxedOp::new(async move |context| included(Arc::unwrap_or_clone(self), &context))
    }
}

impl<'a> IntoDeviceOp for &'a Arc<Tensor> {
    type Output = Tensor;
    type Op = BoxedOp<'a, Tensor>;

    fn into_op(self) -> Self::Op {
        <&Tensor>::into_op(self)
    }
}

impl<T: Clone + Send + 'static> IntoDeviceOp for Pending<T> {
    type Output = T;
    type Op = BoxedOp<'static, T>;

    fn into_op(self) -> Self::Op {
        BoxedOp::new(|_| self)
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl IntoDeviceOp for $number {
            type Output = $number;
            type Op = BoxedOp<'static, $number>;

            fn into_op(self) -> Self::Op {
                value(self)
            }
        }
    )*};
}

numbers!(usize);
for_elements!(numbers);
