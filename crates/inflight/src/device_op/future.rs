//! Ops on their way.

use super::boxed::BoxedOp;
use super::context::{Execution, ExecutionContext, Place};
use super::{DeviceOp, spawner};
use crate::runtime::scope::DeviceValue;
use crate::runtime::wait::{WaitReason, Waiting, wait_for_values};
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

/// With so much in flight on its stream, an op waits, without a thread, before it starts.
const MOST_IN_FLIGHT: usize = 64;

/// The future of a [`DeviceOp`], for any executor. The op runs when the future is first polled, and its
/// completion wakes the task: nothing spins, and no thread is blocked.
///
/// It may be dropped or forgotten at any moment.
#[must_use = "futures do nothing unless they are polled"]
pub struct DeviceFuture<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    /// Never polled.
    Described { op: BoxedOp<'a, T>, place: Place, location: &'static Location<'static> },
    /// Polled, and not done.
    Running(Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>),
    /// The output was given out.
    Done,
}

impl<'a, T: Send + 'a> DeviceFuture<'a, T> {
    pub(super) fn new(
        op: BoxedOp<'a, T>,
        place: Place,
        location: &'static Location<'static>,
    ) -> DeviceFuture<'a, T> {
        DeviceFuture { state: State::Described { op, place, location } }
    }

    /// Runs the future on a thread of the runtime, without any executor, and returns at once.
    ///
    /// If every handle of the promise is dropped before, steps that did not run yet never run.
    #[track_caller]
    pub fn spawn(self) -> Pending<T>
    where
        'a: 'static,
        T: 'static,
    {
        let location = Location::caller();
        let (device, location) = match &self.state {
            State::Described { place, location, .. } => (place.device(), *location),
            State::Running(_) | State::Done => (crate::Device::cpu(), location),
        };
        let (promise, pending) = Promise::of("device op", &device, location);
        spawner::spawn(self, promise);
        pending
    }
}

impl<'a, T: Send + 'a> Future for DeviceFuture<'a, T> {
    type Output = Result<T>;

    /// # Panics
    /// If it is polled after it gave out its output.
    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<T>> {
        if let State::Described { .. } = &self.state
            && let State::Described { op, place, location } =
                std::mem::replace(&mut self.state, State::Done)
        {
            self.state = State::Running(Box::pin(drive(op, place.context(location), location)));
        }
        let State::Running(running) = &mut self.state else {
            panic!("a DeviceFuture was polled after it was done")
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
            State::Described { .. } => "DeviceFuture(described)",
            State::Running(_) => "DeviceFuture(running)",
            State::Done => "DeviceFuture(done)",
        })
    }
}

/// An op from its start to its end.
async fn drive<T: Send>(
    op: BoxedOp<'_, T>,
    context: ExecutionContext,
    location: &'static Location<'static>,
) -> Result<T> {
    if let Some(oldest) = context.stream().inner().excess(MOST_IN_FLIGHT) {
        let dispatched = oldest.dispatched.clone();
        let done = move || oldest.finished.get().map(|finished| finished.event.clone());
        let mut parts = Parts::default();
        parts.add(&dispatched, done);
        parts.reached().await;
    }
    let executed = Execution::new(op, context, false).await?;
    reached(&executed.values, location).await?;
    Ok(executed.output)
}

/// Runs an op on this thread and waits until it is done.
pub(super) fn block_on<O: DeviceOp>(
    op: O,
    place: Place,
    location: &'static Location<'static>,
) -> Result<O::Output> {
    let context = place.context(location);
    let stream = context.stream().clone();
    let execution = Execution::new(op.boxed(), context, true);
    let mut waiting = Waiting::new(stream.device(), WaitReason::Sync, location);
    let executed = waiting.on_future(execution, || stream.inner().assist())??;
    let values = executed.values.iter().map(|(device, value)| (device, &**value));
    wait_for_values(values, &mut waiting)?;
    Ok(executed.output)
}

/// Completes when values are in memory. The fault of the first that has one is the error.
async fn reached(values: &[DeviceValue], location: &'static Location<'static>) -> Result<()> {
    let mut parts = Parts::default();
    for (_, value) in values {
        if !value.is_ready() {
            let waited = value.clone();
            parts.add(&value.dispatched, move || {
                waited.written.get().map(|written| written.event.clone())
            });
        }
    }
    parts.reached().await;
    for (_, value) in values {
        if let Some(fault) = value.buffer().fault() {
            return Err(fault.clone().into());
        }
        if !value.is_ready() {
            // Its device was closed before it ran.
            return Err(Error::Abandoned { work: "device op", location });
        }
    }
    Ok(())
}

/// Points in streams that a task waits for.
#[derive(Default)]
struct Parts {
    shared: Arc<Points>,
}

#[derive(Default)]
struct Points {
    /// How many points were not reached.
    left: AtomicUsize,
    /// The task to wake when the last one is. Locked by the task while it looks at `left`, so that it either
    /// sees that none is left or is seen by the one who reaches it.
    waker: Mutex<Option<Waker>>,
}

/// One point. Dropped when it is reached, or when nobody is left who could reach it.
struct Part(Arc<Points>);

impl Parts {
    /// Adds the point that is known once `dispatched` is reached.
    fn add(&mut self, dispatched: &Event, point: impl FnOnce() -> Option<Event> + Send + 'static) {
        self.shared.left.fetch_add(1, Ordering::Relaxed);
        let part = Part(self.shared.clone());
        dispatched.on_reached(Box::new(move || {
            if let Some(event) = point() {
                event.on_reached(Box::new(move || drop(part)));
            }
        }));
    }

    /// Completes when all points are reached.
    async fn reached(&self) {
        std::future::poll_fn(|task| {
            let mut waker = self.shared.waker.lock();
            if self.shared.left.load(Ordering::Acquire) == 0 {
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

impl Drop for Part {
    fn drop(&mut self) {
        if self.0.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waker = self.0.waker.lock().take();
            // Outside of the lock: a waker may run its task here and now.
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}
