//! Device ops: lazy descriptions of work that are composed first and run later.
//!
//! A [`DeviceOp`] describes work. Creating or composing ops runs nothing. The caller chooses how to run an op:
//! [`sync`](DeviceOp::sync) and [`sync_on`](DeviceOp::sync_on) wait, `.await` suspends the task,
//! [`schedule`](DeviceOp::schedule) chooses the stream, and [`spawn`](DeviceOp::spawn) runs it in the background
//! without an executor.
//!
//! ```
//! use inflight::{DeviceOp, api, zip};
//!
//! # fn main() -> inflight::Result<()> {
//! # pollster::block_on(async {
//! let sum = zip!(api::ones::<f32>([2, 3]), api::full(2.0f32, [2, 3])).map(|(a, b)| a + b);
//! // Nothing has run yet.
//! let values: Vec<f32> = sum.to_host_vec().await?;
//! assert_eq!(values, [3.0; 6]);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Completion
//!
//! The steps of an op record tensors, which are fused as usual. After the last step, every live value that the op
//! recorded or was given is submitted on the op's stream. The op is complete when all these values are in memory.
//! If one of them fails, the op fails with its error.
//!
//! # Cancellation
//!
//! The runtime owns what device work reads and writes, so a future may be dropped, aborted or forgotten at any
//! moment, and that returns at once. Steps that have not run yet never run. Submitted work runs to completion, and
//! its memory is freed afterwards.
//!
//! # Inputs
//!
//! Functions that take an [`IntoDeviceOp`] accept ops, tensors and scalars alike. An op made from a borrowed tensor
//! lives no longer than the borrow: it can be waited for and awaited, and the compiler refuses to spawn it.

pub mod api;
mod boxed;
mod context;
mod future;
mod into;
mod policy;
mod shared;
pub(crate) mod spawner;
mod tuple;
mod zip;

pub use boxed::{BoxedOp, from_fn, value};
pub use context::ExecutionContext;
pub use future::DeviceFuture;
pub use into::IntoDeviceOp;
pub use policy::Policy;
pub use shared::SharedOp;
pub use tuple::{Tuple, Unzip};
pub use zip::{Zip, join_all};

use crate::runtime::{Device, Pending, Stream, panic_message};
use crate::{Element, Error, Result, Shape, Tensor};
use context::Placement;
use std::borrow::Borrow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// A lazy description of work.
///
/// Implementations provide one method, usually as an `async fn`, which gets its device and stream from the context:
///
/// ```
/// use inflight::device_op::ExecutionContext;
/// use inflight::{DeviceOp, Result, Tensor};
///
/// struct Ramp(usize);
///
/// impl DeviceOp for Ramp {
///     type Output = Tensor;
///
///     async fn execute(self, context: &ExecutionContext) -> Result<Tensor> {
///         Ok(Tensor::iota::<f32>(0, [self.0], context.device()))
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let doubled: Vec<f32> = Ramp(3).map(|x| x * 2.0).to_host_vec().sync()?;
/// assert_eq!(doubled, [0.0, 2.0, 4.0]);
/// # Ok(())
/// # }
/// ```
///
/// The combinators return [`BoxedOp`], which can be awaited; [`boxed`](DeviceOp::boxed) converts any op into one.
#[must_use = "an op is only a description: nothing runs until it is awaited, waited for or spawned"]
pub trait DeviceOp: Sized + Send {
    /// The type of the result.
    type Output: Send;

    /// Executes the op in a context. Tensors that it records are submitted when it returns.
    ///
    /// It must not block: where it needs a value on the host, it awaits it.
    fn execute(
        self,
        context: &ExecutionContext,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Runs the op on the CPU, on this thread's default stream, and waits until it is complete.
    #[track_caller]
    fn sync(self) -> Result<Self::Output> {
        future::block_on(self, Placement::ThreadDefault, Location::caller())
    }

    /// Runs the op on a stream and waits until it is complete.
    #[track_caller]
    fn sync_on(self, stream: &Stream) -> Result<Self::Output> {
        future::block_on(self, Placement::Policy(stream.into()), Location::caller())
    }

    /// Returns a future that runs the op on the policy's streams when first polled. A [`Stream`] is a policy too.
    #[track_caller]
    fn schedule<'a>(self, policy: impl Into<Policy>) -> DeviceFuture<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        DeviceFuture::new(self.boxed(), Placement::Policy(policy.into()), Location::caller())
    }

    /// Runs the op on a thread of the runtime, without an executor, and returns at once. The op must own everything
    /// it needs.
    #[track_caller]
    fn spawn(self) -> Pending<Self::Output>
    where
        Self: 'static,
        Self::Output: 'static,
    {
        DeviceFuture::new(self.boxed(), Placement::ThreadDefault, Location::caller()).spawn()
    }

    /// Moves the op to another device, where it runs on this thread's default stream.
    fn on<'a>(self, device: &Device) -> BoxedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        let device = device.clone();
        BoxedOp::new(async move |context| match context.device() == &device {
            true => self.execute(&context).await,
            false => context.on_device(&device).run_child(self, &context).await,
        })
    }

    /// Applies a function to the output. A panic in the function is an [`Error::Panicked`].
    #[track_caller]
    fn map<'a, R, F>(self, function: F) -> BoxedOp<'a, R>
    where
        Self: 'a,
        R: Send + 'a,
        F: FnOnce(Self::Output) -> R + Send + 'a,
    {
        let location = Location::caller();
        BoxedOp::new(async move |context| {
            let output = self.execute(&context).await?;
            catch_panic(location, || function(output))
        })
    }

    /// Applies a function that can fail to the output.
    #[track_caller]
    fn and_then<'a, R, F>(self, function: F) -> BoxedOp<'a, R>
    where
        Self: 'a,
        R: Send + 'a,
        F: FnOnce(Self::Output) -> Result<R> + Send + 'a,
    {
        let location = Location::caller();
        BoxedOp::new(async move |context| {
            let output = self.execute(&context).await?;
            catch_panic(location, || function(output))?
        })
    }

    /// Runs another op, made from the output, after this one on the same stream.
    #[track_caller]
    fn then<'a, N, F>(self, function: F) -> BoxedOp<'a, N::Output>
    where
        Self: 'a,
        N: DeviceOp + 'a,
        N::Output: 'a,
        F: FnOnce(Self::Output) -> N + Send + 'a,
    {
        let location = Location::caller();
        BoxedOp::new(async move |context| {
            let output = self.execute(&context).await?;
            let next = catch_panic(location, || function(output))?;
            next.execute(&context).await
        })
    }

    /// Calls a function with a reference to the output and passes the output on.
    #[track_caller]
    fn inspect<'a, F>(self, function: F) -> BoxedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
        F: FnOnce(&Self::Output) + Send + 'a,
    {
        let location = Location::caller();
        BoxedOp::new(async move |context| {
            let output = self.execute(&context).await?;
            catch_panic(location, || function(&output))?;
            Ok(output)
        })
    }

    /// Selects the first member of a tuple output.
    fn first<'a>(self) -> BoxedOp<'a, <Self::Output as Tuple>::First>
    where
        Self: 'a,
        Self::Output: Tuple,
        <Self::Output as Tuple>::First: Send + 'a,
    {
        self.map(Tuple::first)
    }

    /// Selects the last member of a tuple output.
    fn last<'a>(self) -> BoxedOp<'a, <Self::Output as Tuple>::Last>
    where
        Self: 'a,
        Self::Output: Tuple,
        <Self::Output as Tuple>::Last: Send + 'a,
    {
        self.map(Tuple::last)
    }

    /// Splits a tuple output into one op per member. The work runs once, when the first of them runs.
    fn unzip<'a>(self) -> <Self::Output as Unzip<'a>>::Ops
    where
        Self: 'a,
        Self::Output: Unzip<'a>,
    {
        Unzip::unzip(self.boxed())
    }

    /// Makes the op cloneable: it runs exactly once, and all clones get its output or its error.
    fn shared<'a>(self) -> SharedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: Clone + 'a,
    {
        SharedOp::new(self.boxed())
    }

    /// Erases the op's type down to its output. The result can be awaited.
    fn boxed<'a>(self) -> BoxedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        BoxedOp::new(async move |context| self.execute(&context).await)
    }

    /// Reshapes the output tensor.
    #[track_caller]
    fn reshape<'a>(self, shape: impl Into<Shape>) -> BoxedOp<'a, Tensor>
    where
        Self: 'a,
        Self::Output: Borrow<Tensor>,
    {
        let (location, shape) = (Location::caller(), shape.into());
        self.map(move |tensor| {
            crate::tensor::recorded_at(location, || tensor.borrow().reshape(shape))
        })
    }

    /// Clones the output tensor. Tensors are immutable, so both share their memory.
    fn dup<'a>(self) -> BoxedOp<'a, Tensor>
    where
        Self: 'a,
        Self::Output: Borrow<Tensor>,
    {
        self.map(|tensor| tensor.borrow().clone())
    }

    /// Copies the output tensor's elements to the host, in row-major order. `T` must match the tensor's dtype.
    #[track_caller]
    fn to_host_vec<'a, T: Element>(self) -> BoxedOp<'a, Vec<T>>
    where
        Self: 'a,
        Self::Output: Borrow<Tensor>,
    {
        let location = Location::caller();
        BoxedOp::new(async move |context| {
            let tensor = self.execute(&context).await?;
            let elements =
                Borrow::<Tensor>::borrow(&tensor).read_async(location, |elements| elements);
            // Only the copy is needed from here on.
            drop(tensor);
            elements.await
        })
    }
}

/// Calls a user's function and converts a panic into an error.
fn catch_panic<R>(location: &'static Location<'static>, function: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(function))
        .map_err(|panic| Error::Panicked { message: panic_message(&*panic).into(), location })
}
