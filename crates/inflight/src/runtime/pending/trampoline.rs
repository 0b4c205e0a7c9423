//! Trampoline: runs callbacks that trigger further callbacks in a loop instead of recursively, so that chains of
//! promises cannot overflow the stack.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Call = Box<dyn FnOnce() + Send>;

thread_local! {
    /// `Some` iff [`run`] is active on this thread; holds the deferred calls.
    static DEFERRED: RefCell<Option<VecDeque<Call>>> = const { RefCell::new(None) };
}

/// Makes the call now, or defers it to the active [`run`] of this thread.
pub(super) fn run(call: Call) {
    let mut call = Some(call);
    // Thread-local storage is gone while a thread shuts down; then call recursively.
    let first = DEFERRED.try_with(|deferred| {
        let mut deferred = deferred.borrow_mut();
        match &mut *deferred {
            Some(deferred) => {
                deferred.extend(call.take());
                false
            }
            None => {
                *deferred = Some(VecDeque::new());
                true
            }
        }
    });
    let mut panic: Option<Box<dyn Any + Send>> = None;
    while let Some(next) = call.take() {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(next)) {
            panic.get_or_insert(payload);
        }
        if first == Ok(true) {
            call = DEFERRED.with(|deferred| {
                let mut deferred = deferred.borrow_mut();
                let next = deferred.as_mut().and_then(VecDeque::pop_front);
                if next.is_none() {
                    *deferred = None;
                }
                next
            });
        }
    }
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}
