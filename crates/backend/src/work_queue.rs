//! A queue whose items are handled in order by one thread at a time, whichever that is.

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Condvar, MODEL_CHECKED, Mutex, thread};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Items in order. A thread of its own [serves](WorkQueue::serve) the queue, and a thread that needs the
/// result at once may [help](WorkQueue::help) instead of waiting for it.
pub struct WorkQueue<T> {
    state: Mutex<State<T>>,
    /// Notified when there is something to serve, or when the queue is closed.
    arrived: Condvar,
    /// Held by whoever takes items out, so that they are handled in order.
    turn: Mutex<()>,
    /// Whether `state` has items, for those who look without a lock.
    has_items: AtomicBool,
    /// Items before those of `state`. Only whoever has the turn looks at them: who pushes is not in the way.
    taken: Mutex<VecDeque<T>>,
}

struct State<T> {
    items: VecDeque<T>,
    /// How many items were ever pushed.
    pushed: u64,
    /// True iff the serving thread should end when the queue is empty.
    closed: bool,
}

impl<T> WorkQueue<T> {
    /// An empty queue.
    pub fn new() -> WorkQueue<T> {
        WorkQueue {
            state: Mutex::new(State { items: VecDeque::new(), pushed: 0, closed: false }),
            arrived: Condvar::new(),
            has_items: AtomicBool::new(false),
            turn: Mutex::new(()),
            taken: Mutex::new(VecDeque::new()),
        }
    }

    /// Appends an item, made from its number (1 for the first) while the order is held still. Nobody is
    /// woken: [`notify`](WorkQueue::notify) or [`help`](WorkQueue::help) must follow.
    pub fn push(&self, make: impl FnOnce(u64) -> T) {
        let mut state = self.state.lock();
        state.pushed += 1;
        let item = make(state.pushed);
        state.items.push_back(item);
        self.has_items.store(true, Ordering::Release);
    }

    /// How many items were ever pushed.
    pub fn pushed(&self) -> u64 {
        self.state.lock().pushed
    }

    /// Whether nothing is queued behind the item that this thread handles; if so, it handles another next.
    pub fn is_empty(&self) -> bool {
        self.taken.lock().is_empty() && self.state.lock().items.is_empty()
    }

    /// Wakes the serving thread.
    pub fn notify(&self) {
        // The lock makes sure that the thread is either before its look at the queue or asleep.
        drop(self.state.lock());
        self.arrived.notify_one();
    }

    /// Handles what is queued on this thread. If another thread is at it, that one handles it, and this
    /// returns at once.
    pub fn help(&self, mut handle: impl FnMut(T)) {
        // Whoever has the turn looks once more after giving it up: an item whose pusher found the turn
        // taken is not left behind.
        while let Some(turn) = self.turn.try_lock() {
            self.drain(&mut handle);
            drop(turn);
            if self.state.lock().items.is_empty() {
                return;
            }
        }
    }

    /// Handles items until the queue is closed and empty.
    pub fn serve(&self, handle: impl FnMut(T)) {
        self.serve_patiently(Duration::ZERO, handle);
    }

    /// The same. When the queue is empty, it is looked at for so long before the thread sleeps: waking it costs
    /// whoever pushes more than pushing does. Others that have something to do may do it meanwhile.
    pub fn serve_patiently(&self, patience: Duration, mut handle: impl FnMut(T)) {
        loop {
            if !patience.is_zero() && !MODEL_CHECKED {
                let begun = Instant::now();
                while !self.has_items.load(Ordering::Acquire) && begun.elapsed() < patience {
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
            let _turn = self.turn.lock();
            self.drain(&mut handle);
        }
    }

    /// The next item, waited for. Only for the thread that is handling one: it must not wait for another that
    /// stands behind it. `None` iff the queue is closed and empty.
    pub fn next(&self) -> Option<T> {
        if let Some(item) = self.taken.lock().pop_front() {
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

    /// Lets the serving thread end once it has handled what is queued.
    pub fn close(&self) {
        self.state.lock().closed = true;
        self.arrived.notify_one();
    }

    fn drain(&self, mut handle: impl FnMut(T)) {
        while let Some(item) = self.take() {
            handle(item);
        }
    }

    fn take(&self) -> Option<T> {
        let mut taken = self.taken.lock();
        if taken.is_empty() {
            let mut state = self.state.lock();
            std::mem::swap(&mut *taken, &mut state.items);
            self.has_items.store(false, Ordering::Release);
        }
        taken.pop_front()
    }
}

impl<T> Default for WorkQueue<T> {
    fn default() -> WorkQueue<T> {
        WorkQueue::new()
    }
}
