//! Descriptions of work: composed first, run later.
//!
//! A [`DeviceOp`] says what is to be done. Making one, or composing several, runs nothing. Then one and the
//! same op is run as the caller likes: [`sync`](DeviceOp::sync) and [`sync_on`](DeviceOp::sync_on) wait,
//! `.await` suspends the task, [`schedule`](DeviceOp::schedule) chooses the stream, and
//! [`spawn`](DeviceOp::spawn) needs no executor at all.
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
//! # What an op is when it is done
//!
//! The steps of an op record tensors, and what they record is fused as usual. When the last step is over,
//! every value that was made, or given to the op, and that somebody still holds, is submitted on the op's
//! stream. The op is done when all of these are in memory. If one of them could not be computed, that is
//! the op's error.
//!
//! # Dropping futures
//!
//! The runtime owns what work on a device reads and writes. So a future may be dropped, aborted or
//! forgotten at any moment: that returns at once. Steps that did not run yet then never run; what was
//! submitted goes on to its end, and its memory comes back.
//!
//! # Inputs
//!
//! Whatever takes an [`IntoDeviceOp`] takes ops, tensors and numbers alike. A borrowed tensor makes an op
//! that lives no longer than the borrow: it can be waited for and awaited, and the compiler refuses to
//! spawn it.

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
use context::Place;
use std::borrow::Borrow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

/// A description of work that has not started.
///
/// There is one method to write, and an `async fn` does: what it needs is in the context.
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
/// The combinators return [`BoxedOp`], which can be awaited; [`boxed`](DeviceOp::boxed) makes one of any op.
#[must_use = "an op is only a description: nothing runs until it is awaited, waited for or spawned"]
pub trait DeviceOp: Sized + Send {
    /// What there is when the work is done.
    type Output: Send;

    /// Does the work, in the context's place. Tensors that it records need not be submitted, or waited for.
    ///
    /// It must not block: where it needs a value on the host, it awaits it.
    fn execute(
        self,
        context: &ExecutionContext,
    ) -> impl Future<Output = Result<Self::Output>> + Send;

    /// Runs the op on this thread's stream on the CPU and waits until it is done.
    #[track_caller]
    fn sync(self) -> Result<Self::Output> {
        future::block_on(self, Place::Default, Location::caller())
    }

    /// Runs the op on a stream and waits until it is done.
    #[track_caller]
    fn sync_on(self, stream: &Stream) -> Result<Self::Output> {
        future::block_on(self, Place::Policy(stream.into()), Location::caller())
    }

    /// A future that runs the op on the streams of a policy, when it is first polled. A [`Stream`] is a
    /// policy too.
    #[track_caller]
    fn schedule<'a>(self, policy: impl Into<Policy>) -> DeviceFuture<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        DeviceFuture::new(self.boxed(), Place::Policy(policy.into()), Location::caller())
    }

    /// Starts the op on a thread of the runtime, without any executor, and returns at once.
    ///
    /// What is spawned must own all it needs.
    #[track_caller]
    fn spawn(self) -> Pending<Self::Output>
    where
        Self: 'static,
        Self::Output: 'static,
    {
        DeviceFuture::new(self.boxed(), Place::Default, Location::caller()).spawn()
    }

    /// The same op on another device: on this thread's stream there.
    fn on<'a>(self, device: &Device) -> BoxedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        let device = device.clone();
        BoxedOp::new(async move |context| match context.device() == &device {
            true => self.execute(&context).await,
            false => context.beside(&device).run(self, &context).await,
        })
    }

    /// A function of the output.
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
            guarded(location, || function(output))
        })
    }

    /// A function of the output that may fail.
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
            guarded(location, || function(output))?
        })
    }

    /// Follow-up work on the output: on the same stream, after this op.
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
            let next = guarded(location, || function(output))?;
            next.execute(&context).await
        })
    }

    /// Shows the output to a function and passes it on.
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
            guarded(location, || function(&output))?;
            Ok(output)
        })
    }

    /// The first member of a tuple.
    fn first<'a>(self) -> BoxedOp<'a, <Self::Output as Tuple>::First>
    where
        Self: 'a,
        Self::Output: Tuple,
        <Self::Output as Tuple>::First: Send + 'a,
    {
        self.map(Tuple::first)
    }

    /// The last member of a tuple.
    fn last<'a>(self) -> BoxedOp<'a, <Self::Output as Tuple>::Last>
    where
        Self: 'a,
        Self::Output: Tuple,
        <Self::Output as Tuple>::Last: Send + 'a,
    {
        self.map(Tuple::last)
    }

    /// An op for each member of a tuple. The work is done once, for whichever of them runs first.
    fn unzip<'a>(self) -> <Self::Output as Unzip<'a>>::Ops
    where
        Self: 'a,
        Self::Output: Unzip<'a>,
    {
        Unzip::unzip(self.boxed())
    }

    /// An op that can be cloned: it runs exactly once, and all clones have its output, or its error.
    fn shared<'a>(self) -> SharedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: Clone + 'a,
    {
        SharedOp::new(self.boxed())
    }

    /// The op as a type that depends on its output alone, and that can be awaited.
    fn boxed<'a>(self) -> BoxedOp<'a, Self::Output>
    where
        Self: 'a,
        Self::Output: 'a,
    {
        BoxedOp::new(async move |context| self.execute(&context).await)
    }

    /// The output tensor in another shape.
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

    /// A tensor of its own with the elements of the output tensor. Tensors never change, so both share
    /// their memory.
    fn dup<'a>(self) -> BoxedOp<'a, Tensor>
    where
        Self: 'a,
        Self::Output: Borrow<Tensor>,
    {
        self.map(|tensor| tensor.borrow().clone())
    }

    /// The elements of the output tensor, in row-major order, on the host. `T` must be its dtype.
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

/// Runs a caller's function. A panic is its error.
fn guarded<R>(location: &'static Location<'static>, function: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(function))
        .map_err(|panic| Error::Panicked { message: panic_message(&*panic).into(), location })
}
