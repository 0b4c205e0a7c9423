//! Ops of which only the output's type is known.

use super::context::{ExecutionContext, Place};
use super::{DeviceFuture, DeviceOp, guarded};
use crate::Result;
use crate::tensor::recorded_at;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;

/// The steps of an op on their way.
pub(super) type Steps<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A description of work whose output is a `T`, and which borrows nothing that ends before `'a`.
///
/// This is what the combinators of [`DeviceOp`] return, and what can be awaited:
///
/// ```
/// use inflight::device_op::BoxedOp;
/// use inflight::{DeviceOp, Tensor, api};
///
/// fn batch(number: u64) -> BoxedOp<'static, Tensor> {
///     api::rand::<f32>([4, 4], Some(number)).map(|x| x * 2.0 - 1.0)
/// }
///
/// # fn main() -> inflight::Result<()> {
/// # pollster::block_on(async {
/// let (first, second) = (batch(1).await?, batch(2).await?);
/// # let _ = (first, second);
/// # Ok(())
/// # })
/// # }
/// ```
#[must_use = "an op is only a description: nothing runs until it is awaited, waited for or spawned"]
pub struct BoxedOp<'a, T> {
    start: Box<dyn FnOnce(ExecutionContext) -> Steps<'a, T> + Send + 'a>,
}

impl<'a, T> BoxedOp<'a, T> {
    /// An op of these steps.
    pub(super) fn new<S, F>(steps: S) -> BoxedOp<'a, T>
    where
        S: FnOnce(ExecutionContext) -> F + Send + 'a,
        F: Future<Output = Result<T>> + Send + 'a,
    {
        BoxedOp { start: Box::new(|context| Box::pin(steps(context))) }
    }

    pub(super) fn start(self, context: ExecutionContext) -> Steps<'a, T> {
        (self.start)(context)
    }
}

impl<T: Send> DeviceOp for BoxedOp<'_, T> {
    type Output = T;

    fn execute(self, context: &ExecutionContext) -> impl Future<Output = Result<T>> + Send {
        self.start(context.clone())
    }
}

impl<'a, T: Send + 'a> IntoFuture for BoxedOp<'a, T> {
    type Output = Result<T>;
    type IntoFuture = DeviceFuture<'a, T>;

    /// A future that runs the op when it is first polled: on the stream of the thread that does, on the CPU.
    #[track_caller]
    fn into_future(self) -> DeviceFuture<'a, T> {
        DeviceFuture::new(self, Place::Default, Location::caller())
    }
}

impl<T> fmt::Debug for BoxedOp<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoxedOp<{}>", std::any::type_name::<T>())
    }
}

/// An op of one step: a function that is called when the op runs.
///
/// ```
/// use inflight::{DeviceOp, Tensor, device_op};
///
/// # fn main() -> inflight::Result<()> {
/// let weights = vec![0.5f32, 0.25];
/// let upload = device_op::from_fn(move |context| Tensor::from_vec(weights, [2], context.device()));
/// assert_eq!(upload.to_host_vec::<f32>().sync()?, [0.5, 0.25]);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn from_fn<'a, T, F>(function: F) -> BoxedOp<'a, T>
where
    T: Send + 'a,
    F: FnOnce(&ExecutionContext) -> Result<T> + Send + 'a,
{
    let location = Location::caller();
    BoxedOp::new(async move |context| guarded(location, || function(&context))?)
}

/// As [`from_fn`], with everything that is recorded laid to `location`.
pub(super) fn creation<'a, T, F>(
    location: &'static Location<'static>,
    function: F,
) -> BoxedOp<'a, T>
where
    T: Send + 'a,
    F: FnOnce(&ExecutionContext) -> Result<T> + Send + 'a,
{
    BoxedOp::new(async move |context| {
        guarded(location, || recorded_at(location, || function(&context)))?
    })
}

/// An op that has its output already.
pub fn value<'a, T: Send + 'a>(value: T) -> BoxedOp<'a, T> {
    BoxedOp::new(async move |_| Ok(value))
}
