//! A value that will be there: the core of every promise.

use crate::sync::{Condvar, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

type Callback = Box<dyn FnOnce() + Send>;

/// A cell that is completed once, waited for by threads and tasks alike, and read by many.
pub struct Completion<T> {
    state: Mutex<State<T>>,
    completed: Condvar,
}

enum State<T> {
    /// The value is not there. All of these are told when it is.
    Waiting(Waiting),
    /// The value is there, and stays.
    Done(T),
}

#[derive(Default)]
struct Waiting {
    /// The number of the next slot.
    next: u64,
    /// At most one for each [`WakerSlot`].
    wakers: Vec<(u64, Waker)>,
    callbacks: Vec<Callback>,
}

/// The place of one future among those that a [`Completion`] wakes. However often the future moves from one
/// task to another, only its latest waker is kept.
#[derive(Debug, Default)]
pub struct WakerSlot(Option<u64>);

impl<T> Completion<T> {
    /// A cell without a value.
    pub fn new() -> Completion<T> {
        let waiting = State::Waiting(Waiting::default());
        Completion { state: Mutex::new(waiting), completed: Condvar::new() }
    }

    /// Gives the value and tells everybody. A second value is dropped: the first stays.
    ///
    /// If a waker or a callback panics, the others are still told and the panic goes on.
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
        // Outside of the lock: a waker may run its task here and now.
        let wakers =
            waiting.wakers.into_iter().map(|(_, waker)| Box::new(|| waker.wake()) as Callback);
        let mut panic = None;
        for tell in wakers.chain(waiting.callbacks) {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(tell)) {
                panic.get_or_insert(payload);
            }
        }
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Whether the value is there. Never waits.
    pub fn is_done(&self) -> bool {
        matches!(*self.state.lock(), State::Done(_))
    }

    /// Blocks this thread until the value is there.
    pub fn wait(&self) {
        let mut state = self.state.lock();
        while matches!(*state, State::Waiting(_)) {
            self.completed.wait(&mut state);
        }
    }

    /// Blocks this thread until the value is there, but no longer than `timeout`. Says whether it is there.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        // A deadline too far away to be represented is none.
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

    /// Runs the callback, on the thread that gives the value, once it is there. Says `false`, and drops the
    /// callback, if it already is.
    pub fn watch(&self, callback: Box<dyn FnOnce() + Send>) -> bool {
        match &mut *self.state.lock() {
            State::Done(_) => false,
            State::Waiting(waiting) => {
                waiting.callbacks.push(callback);
                true
            }
        }
    }

    /// Looks at the value, if it is there.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        match &*self.state.lock() {
            State::Done(value) => Some(look(value)),
            State::Waiting(_) => None,
        }
    }

    /// Changes the value, if it is there.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> Option<R> {
        match &mut *self.state.lock() {
            State::Done(value) => Some(change(value)),
            State::Waiting(_) => None,
        }
    }

    /// The value, if it is there; otherwise the task is woken when it is, and not any more the one that was
    /// to be woken by an earlier call with this slot.
    pub fn poll(&self, slot: &mut WakerSlot, context: &mut Context<'_>) -> Poll<T>
    where
        T: Clone,
    {
        let mut state = self.state.lock();
        let waiting = match &mut *state {
            State::Done(value) => return Poll::Ready(value.clone()),
            State::Waiting(waiting) => waiting,
        };
        let known = waiting.wakers.iter_mut().find(|(number, _)| slot.0 == Some(*number));
        let replaced = match known {
            Some((_, waker)) if waker.will_wake(context.waker()) => None,
            Some((_, waker)) => Some(std::mem::replace(waker, context.waker().clone())),
            None => {
                slot.0 = Some(waiting.next);
                waiting.wakers.push((waiting.next, context.waker().clone()));
                waiting.next += 1;
                None
            }
        };
        // Outside of the lock: the last waker of a task may drop the task, and that this cell's other users.
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Wakes nobody for this slot any more.
    pub fn forget(&self, slot: &mut WakerSlot) {
        let Some(slot) = slot.0.take() else { return };
        let forgotten = match &mut *self.state.lock() {
            State::Done(_) => None,
            State::Waiting(waiting) => {
                let position = waiting.wakers.iter().position(|(number, _)| *number == slot);
                position.map(|position| waiting.wakers.swap_remove(position))
            }
        };
        // Outside of the lock: the last waker of a task may drop the task, and that this cell's other users.
        drop(forgotten);
    }
}

impl<T> Default for Completion<T> {
    fn default() -> Completion<T> {
        Completion::new()
    }
}
