//! Promises: work that has started, and its future value ([`Promise`] is the producer, [`Pending`] the consumer).
//!
//! Waker path: [`Promise::complete`] stores the value in a `Completion` of the backend crate, which then wakes the
//! registered wakers of awaiting tasks, unparks blocked threads and calls the callbacks of dependent tasks.
//!
//! - `task`: tasks that run when their operands are available, and cancellation of unwanted work;
//! - `queue`: a device's pending-work thread, its work queue and back-pressure;
//! - `combine`: promises derived from promises (`map`, `join`, …);
//! - `trampoline`: runs chains of completions without recursion.

mod combine;
pub(crate) mod queue;
pub(crate) mod task;
mod trampoline;

use super::Device;
use super::wait::{HostWait, WaitReason};
use crate::{Error, Result};
use inflight_backend::{Completion, WakerSlot};
use parking_lot::Mutex;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// A handle of a value that is being computed. [`get`](Pending::get) blocks until it is available, `.await`
/// suspends the task, and [`is_ready`](Pending::is_ready) never waits. Clones share the value.
///
/// Dropping a handle returns at once, at any moment: the runtime owns what running work needs. Dropping the last
/// clone cancels the work: if it has not started, it is skipped and its operands are released.
#[must_use = "dropping the last handle of pending work cancels it: wait with .get(), .await it or keep it"]
pub struct Pending<T> {
    shared: Arc<Shared<T>>,
    slot: WakerSlot,
}

/// The producer of a [`Pending`]'s value. If it is dropped without completing, readers get [`Error::Abandoned`]
/// with the kind of work and the source location that started it.
pub struct Promise<T> {
    shared: Option<Arc<Shared<T>>>,
    work: &'static str,
    location: &'static Location<'static>,
}

struct Shared<T> {
    completion: Completion<Result<T>>,
    /// Device on which waits are counted. `None` only if the value was available from the start.
    device: Option<Device>,
    /// Number of [`Pending`] handles. Never rises again from zero.
    consumers: AtomicUsize,
    /// Cancellation callback, called when `consumers` reaches zero.
    on_cancel: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl<T> Shared<T> {
    fn new(device: Option<Device>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            completion: Completion::new(),
            device,
            consumers: AtomicUsize::new(1),
            on_cancel: Mutex::new(None),
        })
    }
}

impl<T> Promise<T> {
    /// Creates a promise and its pending value. Host waits for the value are counted on `device`.
    #[track_caller]
    pub fn new(device: &Device) -> (Promise<T>, Pending<T>) {
        Promise::of("work", device, Location::caller())
    }

    /// A promise for the given kind of work, started at `location`, and its pending value.
    pub(crate) fn of(
        work: &'static str,
        device: &Device,
        location: &'static Location<'static>,
    ) -> (Promise<T>, Pending<T>) {
        let shared = Shared::new(Some(device.clone()));
        let pending = Pending { shared: shared.clone(), slot: WakerSlot::default() };
        (Promise { shared: Some(shared), work, location }, pending)
    }

    /// Completes the promise with a value or an error, and wakes all waiting threads and tasks.
    pub fn complete(mut self, value: Result<T>) {
        if let Some(shared) = self.shared.take() {
            shared.completion.complete(value);
        }
    }

    /// Whether a handle of the value exists. Once `false`, it stays `false`; the producer may then stop.
    pub fn is_wanted(&self) -> bool {
        let shared = self.shared.as_ref();
        shared.is_some_and(|shared| shared.consumers.load(Ordering::Acquire) > 0)
    }

    /// Sets the cancellation callback. It is called when the last [`Pending`] is dropped, on the thread that drops
    /// it.
    pub fn on_unwanted(&self, callback: impl FnOnce() + Send + 'static) {
        if let Some(shared) = &self.shared {
            *shared.on_cancel.lock() = Some(Box::new(callback));
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            let (work, location) = (self.work, self.location);
            shared.completion.complete(Err(Error::Abandoned { work, location }));
        }
    }
}

impl<T> Pending<T> {
    /// Creates a pending value that is already available.
    pub fn ready(value: T) -> Pending<T> {
        Pending::completed(Ok(value), None)
    }

    /// A completed promise.
    pub(crate) fn completed(value: Result<T>, device: Option<Device>) -> Pending<T> {
        let shared = Shared::new(device);
        shared.completion.complete(value);
        Pending { shared, slot: WakerSlot::default() }
    }

    /// Whether the value is available. Never waits.
    pub fn is_ready(&self) -> bool {
        self.shared.completion.is_done()
    }

    /// Device on which waits are counted.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.shared.device.as_ref()
    }
}

impl<T: Clone> Pending<T> {
    /// Waits until the value is available and returns it. The last handle moves the value out, other handles clone
    /// it.
    ///
    /// # Errors
    /// The work's error, or [`Error::WaitDenied`] if it would have to wait and a [`SyncGuard`](crate::SyncGuard)
    /// denies that.
    #[track_caller]
    pub fn get(self) -> Result<T> {
        let location = Location::caller();
        if let Some(device) = self.device() {
            let mut waiting = HostWait::new(device, WaitReason::Get, location);
            waiting.on_completion(&self.shared.completion)?;
        }
        self.take()
    }

    /// Waits at most `timeout` and returns the value, or `None` if it is not available by then. Never waits if
    /// `timeout` is zero.
    #[track_caller]
    pub fn get_timeout(&self, timeout: Duration) -> Option<Result<T>> {
        let location = Location::caller();
        let completion = &self.shared.completion;
        if let Some(device) = self.device() {
            let mut waiting = HostWait::new(device, WaitReason::Get, location);
            if let Err(denied) = waiting.on_completion_within(completion, timeout) {
                return Some(Err(denied));
            }
        }
        completion.peek(Clone::clone)
    }

    /// The value of a completed promise.
    fn take(self) -> Result<T> {
        let completion = &self.shared.completion;
        let value = match self.shared.consumers.load(Ordering::Acquire) {
            // No other handle exists, so none can appear: move the value out.
            1 => completion.update(|value| {
                let location = Location::caller();
                let tombstone =
                    Err(Error::Abandoned { work: "value moved out by its last handle", location });
                std::mem::replace(value, tombstone)
            }),
            _ => completion.peek(Clone::clone),
        };
        value.expect("a completed promise keeps its value")
    }
}

impl<T> Clone for Pending<T> {
    fn clone(&self) -> Pending<T> {
        self.shared.consumers.fetch_add(1, Ordering::Relaxed);
        Pending { shared: self.shared.clone(), slot: WakerSlot::default() }
    }
}

impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.shared.completion.forget(&mut self.slot);
        if self.shared.consumers.fetch_sub(1, Ordering::AcqRel) == 1 {
            let on_cancel = self.shared.on_cancel.lock().take();
            if let Some(on_cancel) = on_cancel {
                trampoline::run(on_cancel);
            }
        }
    }
}

impl<T: Clone> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        let Pending { shared, slot } = self.get_mut();
        shared.completion.poll(slot, context)
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({})", if self.is_ready() { "ready" } else { "in flight" })
    }
}
