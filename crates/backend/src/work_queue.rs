//! Ordered work queue with one consumer at a time, where waiting threads help.

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, MODEL_CHECKED, Mutex, thread};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// FIFO queue. A dedicated thread [serves](WorkQueue::serve) it; a thread that needs a result at once may
/// [help](WorkQueue::help) instead of blocking.
pub struct WorkQueue<T> {
    state: Mutex<State<T>>,
    /// Notified when an item arrives or the queue is closed.
    arrived: Condvar,
    /// Held by the thread that consumes items, so that they are handled in order.
    consumer: Mutex<()>,
    /// Whether `state` has items, for checks without a lock.
    has_items: AtomicBool,
    /// Batch of items taken from `state`, handled before those left there. Accessed only by the thread that holds
    /// `consumer`, so that pushing threads do not contend with it.
    batch: Mutex<VecDeque<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    /// Number of items ever pushed.
    pushed: u64,
    /// True iff the serving thread should exit when the queue is empty.
    closed: bool,
}

impl<T> WorkQueue<T> {
    /// An empty queue.
    pub fn new() -> WorkQueue<T> {
        WorkQueue {
            state: Mutex::new(State { items: VecDeque::new(), pushed: 0, closed: false }),
            arrived: Condvar::new(),
            has_items: AtomicBool::new(false),
            consumer: Mutex::new(()),
            batch: Mutex::new(VecDeque::new()),
        }
    }

    /// Appends the item that `make` returns for its sequence number (1 for the first). `make` runs under the lock,
    /// so numbers and order agree. Does not wake the server: [`notify`](WorkQueue::notify) or
    /// [`help`](WorkQueue::help) must follow.
    pub fn push(&self, make: impl FnOnce(u64) -> T) {
        let mut state = self.state.lock();
        state.pushed += 1;
        let item = make(state.pushed);
        state.items.push_back(item);
        self.has_items.store(true, Ordering::Release);
    }

    /// Number of items ever pushed.
    pub fn pushed(&self) -> u64 {
        self.state.lock().pushed
    }

    /// For the thread that handles an item: whether no further item is queued. If false, it handles another
    /// item next.
    pub fn is_empty(&self) -> bool {
        self.batch.lock().is_empty() && self.state.lock().items.is_empty()
    }

    /// Wakes the serving thread.
    pub fn notify(&self) {
        // Acquiring the lock orders this call: the serving thread is either before its check of the queue or
        // asleep.
        drop(self.state.lock());
        self.arrived.notify_one();
    }

    /// Handles queued items on the calling thread. Returns at once if another thread is already handling items;
    /// that thread then handles them all.
    pub fn help(&self, mut handle: impl FnMut(T)) {
        // Check again after releasing `consumer`: a pusher whose `try_lock` failed relies on this thread to see its
        // item.
        while let Some(consumer) = self.consumer.try_lock() {
            self.drain(&mut handle);
            drop(consumer);
            if self.state.lock().items.is_empty() {
                return;
            }
        }
    }

    /// Handles items until the queue is closed and empty. Called by the serving thread.
    pub fn serve(&self, handle: impl FnMut(T)) {
        self.serve_spinning(Duration::ZERO, handle);
    }

    /// Like [`serve`](WorkQueue::serve), with a spin budget: an idle server yields and polls for `spin` before it
    /// sleeps, since waking a sleeping thread costs the pusher more than the push itself.
    pub fn serve_spinning(&self, spin: Duration, mut handle: impl FnMut(T)) {
        loop {
            if !spin.is_zero() && !MODEL_CHECKED {
                let started = Instant::now();
                while !self.has_items.load(Ordering::Acquire) && started.elapsed() < spin {
                    thread::yield_now();
                }
            }
            {
                let mut state = self.state.lock();
                while state.items.is_empty() {
                    if state.closed {
                        return;
                    }
                    self.arrived.wait(&mut state);
                }
            }
            let _consumer = self.consumer.lock();
            self.drain(&mut handle);
        }
    }

    /// Blocks until the next item. Only for the thread that is handling an item, which must not wait for an item
    /// queued behind it. `None` iff the queue is closed and empty.
    pub fn next(&self) -> Option<T> {
        if let Some(item) = self.batch.lock().pop_front() {
            return Some(item);
        }
        let mut state = self.state.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            self.arrived.wait(&mut state);
        }
    }

    /// Lets the serving thread exit once it has handled everything queued.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.arrived.notify_one();
    }

    fn drain(&self, mut handle: impl FnMut(T)) {
        while let Some(item) = self.pop() {
            handle(item);
        }
    }

    fn pop(&self) -> Option<T> {
        let mut batch = self.batch.lock();
        if batch.is_empty() {
            let mut state = self.state.lock();
            std::mem::swap(&mut *batch, &mut state.items);
            self.has_items.store(false, Ordering::Release);
        }
        batch.pop_front()
    }
}

impl<T> Default for WorkQueue<T> {
    fn default() -> WorkQueue<T> {
        WorkQueue::new()
    }
}
