//! Futures of ops, and their waker path: stream event → `EventToken` → `Waker`.

use super::boxed::BoxedOp;
use super::context::{ExecutionContext, OpExecution, Placement};
use super::{DeviceOp, spawner};
use crate::runtime::scope::DeviceValue;
use crate::runtime::wait::{HostWait, WaitReason, wait_for_values};
use crate::runtime::{Pending, Promise};
use crate::{Error, Result};
use inflight_backend::Event;
use parking_lot::Mutex;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

/// Back-pressure limit: with more segments in flight on its stream, an op waits asynchronously before it starts.
const MAX_SEGMENTS_IN_FLIGHT: usize = 64;

/// The future of a [`DeviceOp`], for any executor. The op runs when the future is first polled; its completion
/// wakes the task. Nothing spins, and no thread is blocked.
///
/// It may be dropped or forgotten at any moment: steps that have not run yet are then cancelled.
#[must_use = "futures do nothing unless they are polled"]
pub struct DeviceFuture<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    /// Never polled.
    NotStarted { op: BoxedOp<'a, T>, placement: Placement, location: &'static Location<'static> },
    /// Polled, and not complete.
    Running(Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>),
    /// The output was returned.
    Done,
}

impl<'a, T: Send + 'a> DeviceFuture<'a, T> {
    pub(super) fn new(
        op: BoxedOp<'a, T>,
        placement: Placement,
        location: &'static Location<'static>,
    ) -> DeviceFuture<'a, T> {
        DeviceFuture { state: State::NotStarted { op, placement, location } }
    }

    /// Runs the future on a thread of the runtime, without an executor, and returns at once. Dropping every handle
    /// of the promise cancels steps that have not run yet.
    #[track_caller]
    pub fn spawn(self) -> Pending<T>
    where
        'a: 'static,
        T: 'static,
    {
        let location = Location::caller();
        let (device, location) = match &self.state {
            State::NotStarted { placement, location, .. } => (placement.device(), *location),
            State::Running(_) | State::Done => (crate::Device::cpu(), location),
        };
        let (promise, pending) = Promise::of("device op", &device, location);
        spawner::spawn(self, promise);
        pending
    }
}

impl<'a, T: Send + 'a> Future for DeviceFuture<'a, T> {
    type Output = Result<T>;

    /// Polls the op.
    ///
    /// # Panics
    /// If it is polled again after it returned its output.
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<T>> {
        if let State::NotStarted { .. } = &self.state
            && let State::NotStarted { op, placement, location } =
                std::mem::replace(&mut self.state, State::Done)
        {
            self.state =
                State::Running(Box::pin(run_op(op, placement.context(location), location)));
        }
        let State::Running(running) = &mut self.state else {
            panic!("a DeviceFuture was polled after completion")
        };
        let polled = running.as_mut().poll(task);
        if polled.is_ready() {
            self.state = State::Done;
        }
        polled
    }
}

impl<T> fmt::Debug for DeviceFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::NotStarted { .. } => "DeviceFuture(not started)",
            State::Running(_) => "DeviceFuture(running)",
            State::Done => "DeviceFuture(done)",
        })
    }
}

/// Runs an op to completion, with asynchronous back-pressure.
async fn run_op<T: Send>(
    op: BoxedOp<'_, T>,
    context: ExecutionContext,
    location: &'static Location<'static>,
) -> Result<T> {
    if let Some(oldest) = context.stream().inner().backpressure_point(MAX_SEGMENTS_IN_FLIGHT) {
        let dispatched = oldest.dispatched.clone();
        let done = move || oldest.finished.get().map(|finished| finished.event.clone());
        let mut events = EventGroup::default();
        events.add(&dispatched, done);
        events.reached().await;
    }
    let executed = OpExecution::new(op, context, false).await?;
    wait_until_written(&executed.values, location).await?;
    Ok(executed.output)
}

/// Runs an op on this thread and waits until it is complete.
pub(super) fn block_on<O: DeviceOp>(
    op: O,
    placement: Placement,
    location: &'static Location<'static>,
) -> Result<O::Output> {
    let context = placement.context(location);
    let stream = context.stream().clone();
    let execution = OpExecution::new(op.boxed(), context, true);
    let mut waiting = HostWait::new(stream.device(), WaitReason::Sync, location);
    let executed = waiting.on_future(execution, || stream.inner().assist())??;
    let values = executed.values.iter().map(|(device, value)| (device, &**value));
    wait_for_values(values, &mut waiting)?;
    Ok(executed.output)
}

/// Completes when all values are written. Returns the first fault among them.
async fn wait_until_written(
    values: &[DeviceValue],
    location: &'static Location<'static>,
) -> Result<()> {
    let mut events = EventGroup::default();
    for (_, value) in values {
        if !value.is_ready() {
            let waited = value.clone();
            events.add(&value.dispatched, move || {
                waited.written.get().map(|written| written.event.clone())
            });
        }
    }
    events.reached().await;
    for (_, value) in values {
        if let Some(fault) = value.buffer().fault() {
            return Err(fault.clone().into());
        }
        if !value.is_ready() {
            // The device was closed before it ran the op.
            return Err(Error::Abandoned { work: "device op", location });
        }
    }
    Ok(())
}

/// A group of events that a task waits for together.
#[derive(Default)]
struct EventGroup {
    shared: Arc<EventGroupState>,
}

#[derive(Default)]
struct EventGroupState {
    /// Number of events not reached yet.
    remaining: AtomicUsize,
    /// Waker for the last event. The task holds the lock while it checks `remaining`, so a wakeup cannot be lost:
    /// either the task sees zero, or the thread that reaches zero sees its waker.
    waker: Mutex<Option<Waker>>,
}

/// Token of one event: dropped when the event is reached, or when it can no longer be reached.
struct EventToken(Arc<EventGroupState>);

impl EventGroup {
    /// Adds an event, which becomes known when `dispatched` is reached.
    fn add(&mut self, dispatched: &Event, point: impl FnOnce() -> Option<Event> + Send + 'static) {
        self.shared.remaining.fetch_add(1, Ordering::Relaxed);
        let token = EventToken(self.shared.clone());
        dispatched.on_reached(Box::new(move || {
            if let Some(event) = point() {
                event.on_reached(Box::new(move || drop(token)));
            }
        }));
    }

    /// Completes when all events are reached.
    async fn reached(&self) {
        std::future::poll_fn(|task| {
            let mut waker = self.shared.waker.lock();
            if self.shared.remaining.load(Ordering::Acquire) == 0 {
                return Poll::Ready(());
            }
            match &mut *waker {
                Some(waker) => waker.clone_from(task.waker()),
                None => *waker = Some(task.waker().clone()),
            }
            Poll::Pending
        })
        .await;
    }
}

impl Drop for EventToken {
    fn drop(&mut self) {
        if self.0.remaining.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waker = self.0.waker.lock().take();
            // Wake outside of the lock: a waker may run its task inline.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}
