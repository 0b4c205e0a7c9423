//! Promises: work that has started, and a value that will be there.

use super::Device;
use super::wait::{self, WaitReason};
use crate::{Error, Result};
use inflight_backend::Completion;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Work that has started. [`get`](Pending::get) waits for its value, [`is_ready`](Pending::is_ready) never
/// waits, `.await` suspends the task, and clones share the value.
///
/// Dropping it, at any moment, returns at once: what the work needs is kept by the runtime, not by this.
pub struct Pending<T> {
    shared: Arc<Shared<T>>,
}

/// The side of a [`Pending`] that gives the value. Dropped without having done so, the value is
/// [`Error::Abandoned`].
pub struct Promise<T> {
    shared: Option<Arc<Shared<T>>>,
}

struct Shared<T> {
    completion: Completion<Result<T>>,
    device: Device,
}

impl<T> Promise<T> {
    /// A promise, and what is handed to those who wait for it.
    pub fn new(device: &Device) -> (Promise<T>, Pending<T>) {
        let shared = Arc::new(Shared { completion: Completion::new(), device: device.clone() });
        (Promise { shared: Some(shared.clone()) }, Pending { shared })
    }

    /// Gives the value and wakes everybody.
    pub fn complete(mut self, value: Result<T>) {
        if let Some(shared) = self.shared.take() {
            shared.completion.complete(value);
        }
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.take() {
            shared.completion.complete(Err(Error::Abandoned));
        }
    }
}

impl<T> Pending<T> {
    /// Whether the value is there. Never waits.
    pub fn is_ready(&self) -> bool {
        self.shared.completion.is_done()
    }
}

impl<T: Clone> Pending<T> {
    /// The value, waited for. The last handle moves it out, others clone it.
    #[track_caller]
    pub fn get(self) -> Result<T> {
        let location = Location::caller();
        if !self.is_ready() {
            wait::permit(&self.shared.device, WaitReason::Get, location)?;
            self.shared.completion.wait();
        }
        let value = match Arc::try_unwrap(self.shared) {
            Ok(shared) => shared.completion.into_value(),
            Err(shared) => shared.completion.peek(Clone::clone),
        };
        value.expect("a value that is there stays")
    }
}

impl<T> Clone for Pending<T> {
    fn clone(&self) -> Pending<T> {
        Pending { shared: self.shared.clone() }
    }
}

impl<T: Clone> Future for Pending<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<T>> {
        self.shared.completion.poll(context)
    }
}

impl<T> std::fmt::Debug for Pending<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pending({})", if self.is_ready() { "ready" } else { "in flight" })
    }
}
