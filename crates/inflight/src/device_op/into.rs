//! Conversion of ops, tensors, promises and scalars into ops.

use super::boxed::{BoxedOp, value};
use super::{DeviceOp, ExecutionContext};
use crate::lists::for_elements;
use crate::runtime::Pending;
use crate::{Result, Tensor};
use std::sync::Arc;

/// A value that can be an input of an op: another op, a tensor (owned, shared or borrowed), a promise, or a scalar.
///
/// A function that takes inputs of this type accepts any mix of them:
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
/// The output of `Tensor`, `Arc<Tensor>` and `&Tensor` inputs is a `Tensor`. An op made from a `&Tensor` borrows
/// the tensor until it has run.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an input of an op",
    note = "inputs are ops, `Tensor`, `Arc<Tensor>`, `&Tensor`, `Pending<…>` and scalars; \
            `device_op::value(…)` makes an op of any other value"
)]
pub trait IntoDeviceOp {
    /// The type of the input's value.
    type Output: Send;
    /// The op type.
    type Op: DeviceOp<Output = Self::Output>;

    /// Converts the input into an op. Runs nothing.
    fn into_op(self) -> Self::Op;
}

impl<O: DeviceOp> IntoDeviceOp for O {
    type Output = O::Output;
    type Op = O;

    fn into_op(self) -> O {
        self
    }
}

/// Includes an input tensor in the op's results, so that it is in memory when the op completes.
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

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl IntoDeviceOp for $scalar {
            type Output = $scalar;
            type Op = BoxedOp<'static, $scalar>;

            fn into_op(self) -> Self::Op {
                value(self)
            }
        }
    )*};
}

scalars!(usize);
for_elements!(scalars);
