//! Executor of spawned ops: a thread pool with a shared FIFO queue.
//!
//! A free thread polls a task when it is spawned or woken. Threads are started on demand, up to the number of
//! cores. A thread whose task blocks is not counted, and a replacement is started, so that tasks may block on each
//! other (compare tokio's `block_in_place`).

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
    task_ready: Condvar::new(),
    threads: std::thread::available_parallelism().map_or(2, usize::from).max(2),
});

struct Spawner {
    state: Mutex<State>,
    /// Notified when a task is queued and a thread is idle.
    task_ready: Condvar,
    /// Maximum number of non-blocked threads.
    threads: usize,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Arc<Task>>,
    /// All threads.
    threads: usize,
    /// Sleeping threads.
    idle: usize,
    /// Threads whose task is blocked.
    blocked: usize,
}

struct Task {
    /// `None` once the task is complete or cancelled.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    /// True iff the task is in the queue.
    queued: AtomicBool,
    /// True iff all handles of the output are dropped.
    cancelled: AtomicBool,
}

thread_local! {
    /// On threads of the spawner: whether the current task has blocked.
    static BLOCKED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Runs a future and completes the promise with its output. Drops the future if all handles of the promise are
/// dropped.
pub(super) fn spawn<T: Send + 'static>(
    future: impl Future<Output = Result<T>> + Send + 'static,
    promise: Promise<T>,
) {
    let task = Arc::new(Task {
        future: Mutex::new(None),
        queued: AtomicBool::new(true),
        cancelled: AtomicBool::new(false),
    });
    let weak_task = Arc::downgrade(&task);
    promise.on_unwanted(move || {
        if let Some(task) = weak_task.upgrade() {
            task.cancelled.store(true, Ordering::SeqCst);
            task.drop_if_cancelled();
        }
    });
    *task.future.lock() = Some(Box::pin(async move { promise.complete(future.await) }));
    SPAWNER.push(task);
}

/// Called before a thread blocks, to keep the pool at full concurrency.
pub(crate) fn enter_blocking() {
    if BLOCKED.try_with(Cell::get) == Ok(Some(false)) {
        BLOCKED.set(Some(true));
        let mut state = SPAWNER.state.lock();
        state.blocked += 1;
        if !state.tasks.is_empty() && state.idle == 0 {
            SPAWNER.start_thread(&mut state);
        }
    }
}

impl Spawner {
    fn push(&'static self, task: Arc<Task>) {
        let mut state = self.state.lock();
        state.tasks.push_back(task);
        if state.idle > 0 {
            self.task_ready.notify_one();
        } else if state.threads - state.blocked < self.threads {
            self.start_thread(&mut state);
        }
    }

    fn start_thread(&'static self, state: &mut State) {
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
                // Replacements were started while this thread was blocked.
                if state.threads - state.blocked > self.threads {
                    state.threads -= 1;
                    return;
                }
            } else {
                state.idle += 1;
                self.task_ready.wait(&mut state);
                state.idle -= 1;
            }
        }
    }
}

impl Task {
    fn run(self: Arc<Task>) {
        // From here on, a wakeup queues the task again.
        self.queued.store(false, Ordering::Release);
        let waker = Waker::from(self.clone());
        let mut slot = self.future.lock();
        let Some(future) = &mut *slot else { return };
        let cancelled = self.cancelled.load(Ordering::SeqCst);
        // Futures and their captures may panic when they are dropped; the thread survives.
        let polled = catch_unwind(AssertUnwindSafe(|| match cancelled {
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
            self.drop_if_cancelled();
        }));
    }

    /// Drops a cancelled future, unless it is being polled, in which case `run` drops it afterwards.
    fn drop_if_cancelled(&self) {
        if self.cancelled.load(Ordering::SeqCst) {
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
