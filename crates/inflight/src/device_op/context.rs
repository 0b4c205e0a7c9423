//! Where an op runs.

use super::boxed::{BoxedOp, Steps};
use super::{DeviceOp, Policy};
use crate::runtime::scope::{self, DeviceValue, Scope};
use crate::runtime::{Device, Stream, panic_message};
use crate::{Error, Result, Tensor};
use parking_lot::Mutex;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Where an op runs: its device and its stream. A cheap handle.
#[derive(Clone, Debug)]
pub struct ExecutionContext {
    shared: Arc<Shared>,
}

struct Shared {
    stream: Stream,
    /// Chooses the streams of parts that may run beside each other; `None` if they run one after another.
    policy: Option<Policy>,
    location: &'static Location<'static>,
    /// What the op recorded. Taken out while a step of the op runs.
    scope: Mutex<Scope>,
    /// Values that parts of the op have submitted on their own.
    submitted: Mutex<Vec<DeviceValue>>,
}

/// Where to run an op whose place was not settled when it was described.
pub(super) enum Place {
    /// On the stream, on the CPU, of the thread that runs it.
    Default,
    /// Where the policy says.
    Policy(Policy),
}

impl Place {
    pub fn context(self, location: &'static Location<'static>) -> ExecutionContext {
        match self {
            Place::Default => ExecutionContext::on_default_stream(&Device::cpu(), location),
            Place::Policy(policy) => ExecutionContext::new(policy.choose(), Some(policy), location),
        }
    }

    /// The device, if it is known before a stream is chosen.
    pub fn device(&self) -> Device {
        match self {
            Place::Default => Device::cpu(),
            Place::Policy(policy) => policy.device(),
        }
    }
}

impl ExecutionContext {
    fn new(
        stream: Stream,
        policy: Option<Policy>,
        location: &'static Location<'static>,
    ) -> ExecutionContext {
        stream.inner().open();
        let scope = Mutex::new(Scope::new(stream.device(), stream.inner()));
        let submitted = Mutex::new(Vec::new());
        ExecutionContext { shared: Arc::new(Shared { stream, policy, location, scope, submitted }) }
    }

    fn on_default_stream(
        device: &Device,
        location: &'static Location<'static>,
    ) -> ExecutionContext {
        let stream = Stream::new(device.clone(), device.thread_stream(std::thread::current().id()));
        ExecutionContext::new(stream, None, location)
    }

    /// The device that the op runs on.
    pub fn device(&self) -> &Device {
        self.stream().device()
    }

    /// The stream that the op runs on.
    pub fn stream(&self) -> &Stream {
        &self.shared.stream
    }

    /// Makes a tensor that was recorded elsewhere part of the work: the op is not done before its value is
    /// in memory. A tensor that the op's own steps record is, without this.
    ///
    /// Called while the op executes.
    pub fn include(&self, tensor: &Tensor) {
        scope::include(tensor.node());
    }

    /// The context of a part that may run beside others: on another stream, if the policy has one.
    pub(super) fn fork(&self) -> Option<ExecutionContext> {
        let policy = self.shared.policy.as_ref()?;
        let stream = policy.choose();
        (stream != *self.stream())
            .then(|| ExecutionContext::new(stream, Some(policy.clone()), self.shared.location))
    }

    /// The context of a part that is submitted before this op is, on the same stream.
    pub(super) fn part(&self) -> ExecutionContext {
        let Shared { stream, policy, location, .. } = &*self.shared;
        ExecutionContext::new(stream.clone(), policy.clone(), location)
    }

    /// The context of a part on another device.
    pub(super) fn beside(&self, device: &Device) -> ExecutionContext {
        ExecutionContext::on_default_stream(device, self.shared.location)
    }

    /// Runs a part of an op in this context of its own.
    pub(super) async fn run<O: DeviceOp>(
        self,
        op: O,
        whole: &ExecutionContext,
    ) -> Result<O::Output> {
        let executed = Execution::new(op.boxed(), self, false).await?;
        whole.adopt(&executed.values);
        Ok(executed.output)
    }

    /// Makes values that a part has submitted part of this op's work.
    pub(super) fn adopt(&self, values: &[DeviceValue]) {
        self.shared.submitted.lock().extend_from_slice(values);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stream.inner().close();
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.stream)
    }
}

/// An op whose steps are run, and what they record submitted.
pub(super) struct Execution<'a, T> {
    context: ExecutionContext,
    steps: Steps<'a, T>,
    /// Whether the caller is about to wait: then it may as well dispatch what it submits.
    assisted: bool,
}

/// What an op has come to: all of it is submitted.
#[derive(Clone)]
pub(super) struct Executed<T> {
    pub output: T,
    /// The op is done when these are in memory.
    pub values: Vec<DeviceValue>,
}

impl<'a, T> Execution<'a, T> {
    pub fn new(op: BoxedOp<'a, T>, context: ExecutionContext, assisted: bool) -> Execution<'a, T> {
        Execution { steps: op.start(context.clone()), context, assisted }
    }
}

impl<T> Future for Execution<'_, T> {
    type Output = Result<Executed<T>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let Execution { context, steps, assisted } = &mut *self;
        let context = &*context.shared;
        let mut recorded = std::mem::take(&mut *context.scope.lock());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            recorded.enter(|| match steps.as_mut().poll(task) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Ready(Ok(output)) => {
                    Poll::Ready(scope::settle(*assisted).map(|values| (output, values)))
                }
            })
        }));
        *context.scope.lock() = recorded;
        let polled = polled.unwrap_or_else(|panic| {
            let message = panic_message(&*panic).into();
            Poll::Ready(Err(Error::Panicked { message, location: context.location }))
        });
        polled.map_ok(|(output, mut values)| {
            values.append(&mut context.submitted.lock());
            Executed { output, values }
        })
    }
}
