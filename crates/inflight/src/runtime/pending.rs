//! Promises: work that has started, and a value that will be there.
//!
//! - `task`: work that is done when its operands are there, or never, if nobody wants it any more;
//! - `queue`: the thread of a device that does such work in order;
//! - `combine`: promises made from promises;
//! - `flat`: chains of promises without recursion.

mod combine;
mod flat;
pub(crate) mod queue;
pub(crate) mod task;

use super::Device;
use super::wait::{WaitReason, Waiting};
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

/// Work that has started. [`get`](Pending::get) waits for its value, [`is_ready`](Pending::is_ready) never
/// waits, `.await` suspends the task, and clones share the value.
///
/// Dropping it, at any moment, returns at once: what running work needs is kept by the runtime, not by this.
/// Dropping the last of its clones says that the value is unwanted: work that has not begun is then skipped,
/// and lets go of its operands.
#[must_use = "dropping the last handle of pending work cancels it: wait with .get(), .await it or keep it"]
pub struct Pending<T> {
    shared: Arc<Shared<T>>,
    slot: WakerSlot,
}

/// The side of a [`Pending`] that gives the value. If it is dropped without a value, readers get
/// [`Error::Abandoned`], which names the work and the line that started it.
pub struct Promise<T> {
    shared: Option<Arc<Shared<T>>>,
    work: &'static str,
    location: &'static Location<'static>,
}

struct Shared<T> {
    completion: Completion<Result<T>>,
    /// Where waits are counted. `None` only if the value is there from the start.
    device: Option<Device>,
    /// How many [`Pending`]s there are. From zero it never ascends again.
    consumers: AtomicUsize,
    /// Called when `consumers` reaches zero.
    unwanted: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl<T> Shared<T> {
    fn new(device: Option<Device>) -> Arc<Shared<T>> {
        Arc::new(Shared {
            completion: Completion::new(),
            device,
            consumers: AtomicUsize::new(1),
            unwanted: Mutex::new(None),
        })
    }
}

impl<T> Promise<T> {
    /// A promise and its pending value.
    #[track_caller]
    pub fn new(device: &Device) -> (Promise<T>, Pending<T>) {
        Promise::of("work", device, Location::caller())
    }

    /// A promise for work of this kind, started at `location`, and its pending value.
    pub(crate) fn of(
        work: &'static str,
        device: &Device,
        location: &'static Location<'static>,
    ) -> (Promise<T>, Pending<T>) {
        let shared = Shared::new(Some(device.clone()));
        let pending = Pending { shared: shared.clone(), slot: WakerSlot::default() };
        (Promise { shared: Some(shared), work, location }, pending)
    }

    /// Gives the value and wakes everybody.
    pub fn complete(mut self, value: Result<T>) {
        if let Some(shared) = self.shared.take() {
            shared.completion.complete(value);
        }
    }

    /// Whether anybody can still ask for the value. Once `false`, it stays so.
    pub fn is_wanted(&self) -> bool {
        let shared = self.shared.as_ref();
        shared.is_some_and(|shared| shared.consumers.load(Ordering::Acquire) > 0)
    }

    /// Calls this, on the thread that drops it, when the last [`Pending`] is gone.
    pub fn on_unwanted(&self, callback: impl FnOnce() + Send + 'static) {
        if let Some(shared) = &self.shared {
            *shared.unwanted.lock() = Some(Box::new(callback));
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
    /// A promise whose value is there.
    pub fn ready(value: T) -> Pending<T> {
        Pending::settled(Ok(value), None)
    }

    /// A promise that is kept or broken already.
    pub(crate) fn settled(value: Result<T>, device: Option<Device>) -> Pending<T> {
        let shared = Shared::new(device);
        shared.completion.complete(value);
        Pending { shared, slot: WakerSlot::default() }
    }

    /// Whether the value is there. Never waits.
    pub fn is_ready(&self) -> bool {
        self.shared.completion.is_done()
    }

    /// Where waits for it are counted.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.shared.device.as_ref()
    }
}

impl<T: Clone> Pending<T> {
    /// The value, waited for. The last handle moves it out, others clone it.
    #[track_caller]
    pub fn get(self) -> Result<T> {
        let location = Location::caller();
        if let Some(device) = self.device() {
            let mut waiting = Waiting::new(device, WaitReason::Get, location);
            waiting.on_completion(&self.shared.completion)?;
        }
        self.take()
    }

    /// The value, if it is there in time. With no time at all, this never waits.
    #[track_caller]
    pub fn get_timeout(&self, timeout: Duration) -> Option<Result<T>> {
        let location = Location::caller();
        let completion = &self.shared.completion;
        if let Some(device) = self.device() {
            let mut waiting = Waiting::new(device, WaitReason::Get, location);
            if let Err(denied) = waiting.on_completion_within(completion, timeout) {
                return Some(Err(denied));
            }
        }
        completion.peek(Clone::clone)
    }

    /// The value of a promise that is ready.
    fn take(self) -> Result<T> {
        let completion = &self.shared.completion;
        let value = match self.shared.consumers.load(Ordering::Acquire) {
            // Nobody else can ask, now or later.
            1 => completion.update(|value| {
                let location = Location::caller();
                let taken =
                    Err(Error::Abandoned { work: "value taken by its last handle", location });
                std::mem::replace(value, taken)
            }),
            _ => completion.peek(Clone::clone),
        };
        value.expect("a value that is there stays")
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
            let unwanted = self.shared.unwanted.lock().take();
            if let Some(unwanted) = unwanted {
                flat::run(unwanted);
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
