//! Calls that lead to calls, one after another: a chain of promises may be longer than the stack is deep.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

type Call = Box<dyn FnOnce() + Send>;

thread_local! {
    /// `Some` iff a call of [`run`] is under way on this thread; what it has left to do.
    static LEFT: RefCell<Option<VecDeque<Call>>> = const { RefCell::new(None) };
}

/// Makes the call now, or, inside another such call of this thread, when that is over.
pub(super) fn run(call: Call) {
    let mut call = Some(call);
    // A thread that is ending has no place to put it.
    let first = LEFT.try_with(|left| {
        let mut left = left.borrow_mut();
        match &mut *left {
            Some(left) => {
                left.extend(call.take());
                false
            }
            None => {
                *left = Some(VecDeque::new());
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
            call = LEFT.with(|left| {
                let mut left = left.borrow_mut();
                let next = left.as_mut().and_then(VecDeque::pop_front);
                if next.is_none() {
                    *left = None;
                }
                next
            });
        }
    }
    if let Some(payload) = panic {
        resume_unwind(payload);
    }
}
