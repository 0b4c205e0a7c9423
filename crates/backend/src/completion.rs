//! A value that will be there: the core of every promise.

use crate::sync::{Condvar, Mutex};
use std::task::{Context, Poll, Waker};

/// A cell that is completed once, waited for by threads and tasks alike, and read by many.
pub struct Completion<T> {
    state: Mutex<State<T>>,
    completed: Condvar,
}

enum State<T> {
    /// The value is not there. These tasks are woken when it is.
    Waiting(Vec<Waker>),
    /// The value is there, and stays.
    Done(T),
}

impl<T> Completion<T> {
    /// A cell without a value.
    pub fn new() -> Completion<T> {
        Completion { state: Mutex::new(State::Waiting(Vec::new())), completed: Condvar::new() }
    }

    /// Gives the value and wakes everybody. A second value is dropped: the first stays.
    pub fn complete(&self, value: T) {
        let wakers = {
            let mut state = self.state.lock();
            match &mut *state {
                State::Done(_) => return,
                State::Waiting(wakers) => {
                    let wakers = std::mem::take(wakers);
                    *state = State::Done(value);
                    wakers
                }
            }
        };
        self.completed.notify_all();
        // Outside of the lock: a waker may run its task here and now.
        wakers.into_iter().for_each(Waker::wake);
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

    /// Looks at the value, if it is there.
    pub fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> Option<R> {
        match &*self.state.lock() {
            State::Done(value) => Some(look(value)),
            State::Waiting(_) => None,
        }
    }

    /// The value, if it is there; otherwise the task is woken when it is.
    pub fn poll(&self, context: &mut Context<'_>) -> Poll<T>
    where
        T: Clone,
    {
        match &mut *self.state.lock() {
            State::Done(value) => Poll::Ready(value.clone()),
            State::Waiting(wakers) => {
                if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
                    wakers.push(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// The value, if it is there.
    pub fn into_value(self) -> Option<T> {
        match self.state.into_inner() {
            State::Done(value) => Some(value),
            State::Waiting(_) => None,
        }
    }
}

impl<T> Default for Completion<T> {
    fn default() -> Completion<T> {
        Completion::new()
    }
}
