//! Execution contexts: the device, stream and scheduling policy that an op runs with.

use super::boxed::{BoxedOp, OpFuture};
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

/// The device and stream that an op runs on. A cheap handle.
#[derive(Clone, Debug)]
pub struct ExecutionContext {
    shared: Arc<Shared>,
}

struct Shared {
    stream: Stream,
    /// Chooses streams for concurrent parts; `None` runs them in sequence.
    policy: Option<Policy>,
    location: &'static Location<'static>,
    /// Recording scope of the op. Taken while the op is polled.
    scope: Mutex<Scope>,
    /// Values that child ops submitted separately.
    submitted: Mutex<Vec<DeviceValue>>,
}

/// Where an op will run, before a stream is chosen.
pub(super) enum Placement {
    /// On the CPU, on the default stream of the thread that runs the op.
    ThreadDefault,
    /// On a stream that the policy chooses.
    Policy(Policy),
}

impl Placement {
    pub fn context(self, location: &'static Location<'static>) -> ExecutionContext {
        match self {
            Placement::ThreadDefault => {
                ExecutionContext::on_default_stream(&Device::cpu(), location)
            }
            Placement::Policy(policy) => {
                ExecutionContext::new(policy.choose(), Some(policy), location)
            }
        }
    }

    /// The device, which is known before a stream is chosen.
    pub fn device(&self) -> Device {
        match self {
            Placement::ThreadDefault => Device::cpu(),
            Placement::Policy(policy) => policy.device(),
        }
    }
}

impl ExecutionContext {
    fn new(
        stream: Stream,
        policy: Option<Policy>,
        location: &'static Location<'static>,
    ) -> ExecutionContext {
        stream.inner().op_started();
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

    /// Makes a tensor that was recorded outside of the op part of its results: the op then completes only when the
    /// tensor is in memory. Tensors that the op itself records are included automatically.
    ///
    /// Call it while the op executes.
    pub fn include(&self, tensor: &Tensor) {
        scope::include(tensor.node());
    }

    /// A context for a concurrent child: on another stream, if the policy chooses one.
    pub(super) fn fork(&self) -> Option<ExecutionContext> {
        let policy = self.shared.policy.as_ref()?;
        let stream = policy.choose();
        (stream != *self.stream())
            .then(|| ExecutionContext::new(stream, Some(policy.clone()), self.shared.location))
    }

    /// A context for a child that is submitted before this op, on the same stream.
    pub(super) fn same_stream_child(&self) -> ExecutionContext {
        let Shared { stream, policy, location, .. } = &*self.shared;
        ExecutionContext::new(stream.clone(), policy.clone(), location)
    }

    /// A context for a child on another device.
    pub(super) fn on_device(&self, device: &Device) -> ExecutionContext {
        ExecutionContext::on_default_stream(device, self.shared.location)
    }

    /// Runs a child op in this context.
    pub(super) async fn run_child<O: DeviceOp>(
        self,
        op: O,
        parent: &ExecutionContext,
    ) -> Result<O::Output> {
        let executed = OpExecution::new(op.boxed(), self, false).await?;
        parent.add_submitted(&executed.values);
        Ok(executed.output)
    }

    /// Adds a child's submitted values to this op's results.
    pub(super) fn add_submitted(&self, values: &[DeviceValue]) {
        self.shared.submitted.lock().extend_from_slice(values);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.stream.inner().op_finished();
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.stream)
    }
}

/// Polls an op's future inside its recording scope, and submits what it recorded when it is done.
pub(super) struct OpExecution<'a, T> {
    context: ExecutionContext,
    steps: OpFuture<'a, T>,
    /// Whether the caller is about to wait, so it dispatches the segments itself.
    assisted: bool,
}

/// The outcome of an op whose steps are done: everything is submitted.
#[derive(Clone)]
pub(super) struct SubmittedOp<T> {
    pub output: T,
    /// The op is complete when these values are in memory.
    pub values: Vec<DeviceValue>,
}

impl<'a, T> OpExecution<'a, T> {
    pub fn new(
        op: BoxedOp<'a, T>,
        context: ExecutionContext,
        assisted: bool,
    ) -> OpExecution<'a, T> {
        OpExecution { steps: op.start(context.clone()), context, assisted }
    }
}

impl<T> Future for OpExecution<'_, T> {
    type Output = Result<SubmittedOp<T>>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let OpExecution { context, steps, assisted } = &mut *self;
        let context = &*context.shared;
        let mut recorded = std::mem::take(&mut *context.scope.lock());
        let polled = catch_unwind(AssertUnwindSafe(|| {
            recorded.enter(|| match steps.as_mut().poll(task) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Ready(Ok(output)) => {
                    Poll::Ready(scope::flush(*assisted).map(|values| (output, values)))
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
            SubmittedOp { output, values }
        })
    }
}
