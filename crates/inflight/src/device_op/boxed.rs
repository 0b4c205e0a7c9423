//! Type-erased ops ([`BoxedOp`]), and ops from functions and values.

use super::context::{ExecutionContext, Placement};
use super::{DeviceFuture, DeviceOp, catch_panic};
use crate::Result;
use crate::tensor::recorded_at;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::panic::Location;
use std::pin::Pin;

/// The future of an op's steps.
pub(super) type OpFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

/// A type-erased op with output `T`, which borrows nothing shorter than `'a`. The combinators of [`DeviceOp`]
/// return it. Unlike a plain `DeviceOp`, it can be awaited:
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
    start: Box<dyn FnOnce(ExecutionContext) -> OpFuture<'a, T> + Send + 'a>,
}

impl<'a, T> BoxedOp<'a, T> {
    /// Creates an op from an async function of its context.
    pub(super) fn new<S, F>(steps: S) -> BoxedOp<'a, T>
    where
        S: FnOnce(ExecutionContext) -> F + Send + 'a,
        F: Future<Output = Result<T>> + Send + 'a,
    {
        BoxedOp { start: Box::new(|context| Box::pin(steps(context))) }
    }

    pub(super) fn start(self, context: ExecutionContext) -> OpFuture<'a, T> {
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

    /// Converts the op into a future, which runs it on the CPU, on the default stream of the thread that first
    /// polls it.
    #[track_caller]
    fn into_future(self) -> DeviceFuture<'a, T> {
        DeviceFuture::new(self, Placement::ThreadDefault, Location::caller())
    }
}

impl<T> fmt::Debug for BoxedOp<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BoxedOp<{}>", std::any::type_name::<T>())
    }
}

/// Creates an op from a function that is called when the op runs. A panic in the function is an
/// [`Error::Panicked`](crate::Error::Panicked).
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
    BoxedOp::new(async move |context| catch_panic(location, || function(&context))?)
}

/// As [`from_fn`], but attributes everything that is recorded to `location`.
pub(super) fn constructor<'a, T, F>(
    location: &'static Location<'static>,
    function: F,
) -> BoxedOp<'a, T>
where
    T: Send + 'a,
    F: FnOnce(&ExecutionContext) -> Result<T> + Send + 'a,
{
    BoxedOp::new(async move |context| {
        catch_panic(location, || recorded_at(location, || function(&context)))?
    })
}

/// Creates an op whose output is an existing value.
pub fn value<'a, T: Send + 'a>(value: T) -> BoxedOp<'a, T> {
    BoxedOp::new(async move |_| Ok(value))
}
