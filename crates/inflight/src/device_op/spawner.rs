//! Threads of the runtime that run spawned ops.
//!
//! A task is polled when it was spawned or woken, by whichever thread is free. There are as many threads as
//! the machine has cores, started when they are needed. A thread whose task blocks does not count: another
//! takes its place, so that tasks may wait for each other.

use crate::Result;
use crate::runtime::Promise;
use parking_lot::{Condvar, Mutex};
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, Wake, Waker};

static SPAWNER: LazyLock<Spawner> = LazyLock::new(|| Spawner {
    state: Mutex::new(State::default()),
    arrived: Condvar::new(),
    threads: std::thread::available_parallelism().map_or(2, usize::from).max(2),
});

struct Spawner {
    state: Mutex<State>,
    /// Notified when there is a task and a thread that sleeps.
    arrived: Condvar,
    /// How many threads may run tasks that do not block.
    threads: usize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Arc<Task>>,
    /// All threads.
    threads: usize,
    /// Those that sleep.
    idle: usize,
    /// Those whose task has blocked.
    blocked: usize,
}

struct Task {
    /// `None` when it is done, or unwanted.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    /// True iff it is among the spawner's tasks.
    queued: AtomicBool,
    /// True iff nobody wants its output any more.
    unwanted: AtomicBool,
}

thread_local! {
    /// Whether this is a thread of the spawner, and its task has blocked.
    static BLOCKED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs a future. Its output completes the promise; if nobody wants it any more, the future is dropped.
pub(super) fn spawn<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
    promise: Promise<T>,
) {
    let task = Arc::new(Task {
        future: Mutex::new(None),
        queued: AtomicBool::new(true),
        unwanted: AtomicBool::new(false),
    });
    let unwanted = Arc::downgrade(&task);
    promise.on_unwanted(move || {
        if let Some(task) = unwanted.upgrade() {
            task.unwanted.store(true, Ordering::SeqCst);
            task.drop_unwanted();
        }
    });
    *task.future.lock() = Some(Box::pin(async move { promise.complete(future.await) }));
    SPAWNER.push(task);
}

/// Called by any thread that is about to wait.
pub(crate) fn about_to_wait() {
    if BLOCKED.try_with(Cell::get) == Ok(Some(false)) {
        BLOCKED.set(Some(true));
        let mut state = SPAWNER.state.lock();
        state.blocked += 1;
        if !state.tasks.is_empty() && state.idle == 0 {
            SPAWNER.start(&mut state);
        }
    }
}

impl Spawner {
    fn push(&'static self, task: Arc<Task>) {
        let mut state = self.state.lock();
        state.tasks.push_back(task);
        if state.idle > 0 {
            self.arrived.notify_one();
        } else if state.threads - state.blocked < self.threads {
            self.start(&mut state);
        }
    }

    fn start(&'static self, state: &mut State) {
        state.threads += 1;
        std::thread::Builder::new()
            .name("inflight-op".to_owned())
            .spawn(|| self.serve())
            .expect("a thread for spawned ops starts");
    }

    fn serve(&self) {
        BLOCKED.set(Some(false));
        let mut state = self.state.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                drop(state);
                task.run();
                state = self.state.lock();
                if BLOCKED.replace(Some(false)) == Some(true) {
                    state.blocked -= 1;
                }
                // Others have come while this one was blocked.
                if state.threads - state.blocked > self.threads {
                    state.threads -= 1;
                    return;
                }
            } else {
                state.idle += 1;
                self.arrived.wait(&mut state);
                state.idle -= 1;
            }
        }
    }
}

impl Task {
    fn run(self: Arc<Task>) {
        // Whoever wakes it from here on has it polled again.
        self.queued.store(false, Ordering::Release);
        let waker = Waker::from(self.clone());
        let mut slot = self.future.lock();
        let Some(future) = &mut *slot else { return };
        let unwanted = self.unwanted.load(Ordering::SeqCst);
        // What a future owns may panic when it is dropped. The thread goes on.
        let polled = catch_unwind(AssertUnwindSafe(|| match unwanted {
            true => Poll::Ready(()),
            false => future.as_mut().poll(&mut Context::from_waker(&waker)),
        }));
        let done = match polled {
            Ok(Poll::Pending) => None,
            _ => slot.take(),
        };
        drop(slot);
        let _ = catch_unwind(AssertUnwindSafe(|| {
            drop(done);
            self.drop_unwanted();
        }));
    }

    /// Lets go of the future, if nobody wants its output. If it is being polled, that is done after.
    fn drop_unwanted(&self) {
        if self.unwanted.load(Ordering::SeqCst) {
            let future = self.future.try_lock().and_then(|mut future| future.take());
            drop(future);
        }
    }
}

impl Wake for Task {
    fn wake(self: Arc<Task>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            SPAWNER.push(self);
        }
    }
}
