//! Completion cell: the shared state of every promise. Threads block on it, tasks register wakers.

use crate::sync::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

type Callback = Box<dyn FnOnce() + Send>;

/// A value set once. Threads wait for it, tasks poll it, and any number of readers see it.
pub struct Completion<T> {
    state: Mutex<State<T>>,
    completed: Condvar,
}

enum State<T> {
    /// No value yet. Holds the wakers and callbacks to run when it is set.
    Waiting(Waiting),
    /// The value is set, and never changes back.
    Done(T),
}

#[derive(Default)]
struct Waiting {
    /// Next waker registration id.
    next: u64,
    /// Registered wakers, at most one for each [`WakerSlot`].
    wakers: Vec<(u64, Waker)>,
    callbacks: Vec<Callback>,
}

/// One future's waker registration with a [`Completion`]. A future that moves between tasks keeps one registration;
/// only its latest waker is kept.
#[derive(Debug, Default)]
pub struct WakerSlot(Option<u64>);

impl<T> Completion<T> {
    /// An incomplete cell.
    pub fn new() -> Completion<T> {
        let waiting = State::Waiting(Waiting::default());
        Completion { state: Mutex::new(waiting), completed: Condvar::new() }
    }

    /// Sets the value, wakes all waiters and runs all callbacks. Later values are dropped: the first one stays.
    ///
    /// If a waker or callback panics, the others still run and the panic is resumed afterwards.
    pub fn complete(&self, value: T) {
        let waiting = {
            let mut state = self.state.lock();
            match &mut *state {
                State::Done(_) => return,
                State::Waiting(waiting) => {
                    let waiting = std::mem::take(waiting);
                    *state = State::Done(value);
                    waiting
                }
            }
        };
        self.completed.notify_all();
        // Outside the lock: a waker may run its task on this thread.
        let wakers =
            waiting.wakers.into_iter().map(|(_, waker)| Box::new(|| waker.wake()) as Callback);
        let mut panic = None;
        for run in wakers.chain(waiting.callbacks) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
                panic.get_or_insert(payload);
            }
        }
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Whether the value is set. Never blocks.
    pub fn is_done(&self) -> bool {
        matches!(*self.state.lock(), State::Done(_))
    }

    /// Blocks the calling thread until the value is set.
    pub fn wait(&self) {
        let mut state = self.state.lock();
        while matches!(*state, State::Waiting(_)) {
            self.completed.wait(&mut state);
        }
    }

    /// Blocks the calling thread until the value is set or `timeout` has passed. Returns whether the value is set.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        // A deadline beyond `Instant`'s range means no deadline.
        let Some(deadline) = Instant::now().checked_add(timeout) else {
            self.wait();
            return true;
        };
        let mut state = self.state.lock();
        while matches!(*state, State::Waiting(_)) {
            if self.completed.wait_until(&mut state, deadline).timed_out() {
                return matches!(*state, State::Done(_));
            }
        }
        true
    }

    /// Registers a callback that runs on the completing thread when the value is set. Returns `false` and drops the
    /// callback if it already is.
    pub fn watch(&self, callback: Box<dyn FnOnce() + Send>) -> bool {
        match &mut *self.state.lock() {
            State::Done(_) => false,
            State::Waiting(waiting) => {
                waiting.callbacks.push(callback);
                true
            }
        }
    }

    /// Applies `read` to the value, if it is set.
    pub fn peek<R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        match &*self.state.lock() {
            State::Done(value) => Some(read(value)),
            State::Waiting(_) => None,
        }
    }

    /// Applies `change` to the value, if it is set.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        match &mut *self.state.lock() {
            State::Done(value) => Some(change(value)),
            State::Waiting(_) => None,
        }
    }

    /// Polls for the value. If it is not set, registers the task's waker under `slot`, replacing the waker of an
    /// earlier poll with the same slot.
    pub fn poll(&self, slot: &mut WakerSlot, context: &mut Context<'_>) -> Poll<T>
    where
        T: Clone,
    {
        let mut state = self.state.lock();
        let waiting = match &mut *state {
            State::Done(value) => return Poll::Ready(value.clone()),
            State::Waiting(waiting) => waiting,
        };
        let registered = waiting.wakers.iter_mut().find(|(id, _)| slot.0 == Some(*id));
        let replaced = match registered {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            Some((_, waker)) => Some(std::mem::replace(waker, context.waker().clone())),
            None => {
                slot.0 = Some(waiting.next);
                waiting.wakers.push((waiting.next, context.waker().clone()));
                waiting.next += 1;
                None
            }
        };
        // Outside the lock: dropping a task's last waker may drop the task, which may use this cell.
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Removes the slot's waker registration.
    pub fn forget(&self, slot: &mut WakerSlot) {
        let Some(slot) = slot.0.take() else { return };
        let forgotten = match &mut *self.state.lock() {
            State::Done(_) => None,
            State::Waiting(waiting) => {
                let position = waiting.wakers.iter().position(|(id, _)| *id == slot);
                position.map(|position| waiting.wakers.swap_remove(position))
            }
        };
        // Outside the lock: dropping a task's last waker may drop the task, which may use this cell.
        drop(forgotten);
    }
}

impl<T> Default for Completion<T> {
    fn default() -> Completion<T> {
        Completion::new()
    }
}
