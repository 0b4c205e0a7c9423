//! Timeline semaphores ([`Timeline`]) and the points on them ([`Event`]): how host threads, tasks and other streams
//! learn that work is done.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, MODEL_CHECKED, Mutex, hint};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Iterations that a waiting thread busy-polls the counter before it yields: a few microseconds.
const BUSY_POLLS: usize = if MODEL_CHECKED { 0 } else { 64 };

/// Spin budget: how long a waiting thread then polls and yields before it sleeps. Waking a sleeping thread takes
/// about as long.
const SPIN_BUDGET: Duration =
    if MODEL_CHECKED { Duration::ZERO } else { Duration::from_micros(40) };

type Callback = Box<dyn FnOnce() + Send>;

/// Timeline semaphore: a monotonic counter that a stream advances as its work completes.
pub struct Timeline {
    /// Last value signaled. Written with `state` locked, so a thread that registers under the lock either sees the
    /// new value or is seen by the signaling thread.
    completed: AtomicU64,
    state: Mutex<State>,
    /// Notified when `completed` reaches `state.awaited`.
    advanced: Condvar,
}

#[derive(Default)]
struct State {
    /// Smallest value that a thread sleeping on `advanced` waits for.
    awaited: Option<u64>,
    /// Callbacks by the value they wait for, in registration order. Holds no value that is already reached.
    callbacks: BTreeMap<u64, Vec<Callback>>,
}

impl Timeline {
    /// Creates a timeline at zero.
    pub fn new() -> Arc<Timeline> {
        Arc::new(Timeline {
            completed: AtomicU64::new(0),
            state: Mutex::new(State::default()),
            advanced: Condvar::new(),
        })
    }

    /// Last value signaled, initially zero. Acquire: what happened before the signal is visible to the caller.
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Advances the timeline to `value`, wakes the waiting threads and runs the due callbacks on this thread. No-op
    /// if the timeline has already reached `value`.
    ///
    /// A callback may use the timeline. If one panics, the others still run and the panic is resumed afterwards.
    pub fn signal(&self, value: u64) {
        let mut due = Vec::new();
        {
            let mut state = self.state.lock();
            if self.completed.load(Ordering::Relaxed) >= value {
                return;
            }
            self.completed.store(value, Ordering::Release);
            while let Some(first) = state.callbacks.first_entry()
                && *first.key() <= value
            {
                due.extend(first.remove());
            }
            // Threads that wait for larger values set `awaited` again before they go back to sleep.
            if state.awaited.take_if(|awaited| *awaited <= value).is_some() {
                self.advanced.notify_all();
            }
        }
        let mut panic: Option<Box<dyn Any + Send>> = None;
        for callback in due {
            if let Err(payload) = catch_unwind(AssertUnwindSafe(callback)) {
                panic.get_or_insert(payload);
            }
        }
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// The event at which this timeline reaches `value`.
    pub fn event(self: &Arc<Timeline>, value: u64) -> Event {
        Event { timeline: Some(self.clone()), value }
    }

    fn on_reached(&self, value: u64, callback: Callback) {
        {
            let mut state = self.state.lock();
            if self.completed.load(Ordering::Acquire) < value {
                state.callbacks.entry(value).or_default().push(callback);
                return;
            }
        }
        callback();
    }

    /// Blocks until `value` is reached or the deadline has passed: spins, then yields, then sleeps. Returns whether
    /// the value is reached.
    fn sleep(&self, value: u64, deadline: Option<Instant>) -> bool {
        for _ in 0..BUSY_POLLS {
            if self.completed() >= value {
                return true;
            }
            hint::spin_loop();
        }
        if !SPIN_BUDGET.is_zero() {
            let began = Instant::now();
            while began.elapsed() < SPIN_BUDGET {
                if self.completed() >= value {
                    return true;
                }
                std::thread::yield_now();
            }
        }
        let mut state = self.state.lock();
        let mut in_time = true;
        while self.completed.load(Ordering::Acquire) < value && in_time {
            state.awaited = Some(state.awaited.map_or(value, |least| least.min(value)));
            match deadline {
                None => self.advanced.wait(&mut state),
                Some(deadline) => {
                    in_time = !self.advanced.wait_until(&mut state, deadline).timed_out();
                }
            }
        }
        self.completed.load(Ordering::Acquire) >= value
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timeline").field("completed", &self.completed()).finish_non_exhaustive()
    }
}

/// A point on a [`Timeline`]. Once reached, it stays reached.
pub struct Event {
    /// `None` for an event that is always reached.
    timeline: Option<Arc<Timeline>>,
    value: u64,
}

impl Clone for Event {
    fn clone(&self) -> Event {
        Event { timeline: self.timeline.clone(), value: self.value }
    }

    /// Skips the reference count if both events are on the same timeline, the common case.
    fn clone_from(&mut self, source: &Event) {
        if !self.same_timeline(source) {
            self.timeline.clone_from(&source.timeline);
        }
        self.value = source.value;
    }
}

impl Event {
    /// Creates an event that is always reached.
    pub fn reached() -> Event {
        Event { timeline: None, value: 0 }
    }

    /// Whether the timeline has reached this event: one atomic load, never blocks. If true, what happened before
    /// the signal is visible to the caller.
    pub fn is_reached(&self) -> bool {
        self.timeline.as_ref().is_none_or(|timeline| timeline.completed() >= self.value)
    }

    /// Runs the callback when the event is reached: at once on this thread if it already is, otherwise on the
    /// signaling thread. The callback is dropped without running if the timeline is dropped first.
    pub fn on_reached(&self, callback: Box<dyn FnOnce() + Send>) {
        match &self.timeline {
            Some(timeline) if !self.is_reached() => timeline.on_reached(self.value, callback),
            _ => callback(),
        }
    }

    /// Blocks the calling thread until the event is reached.
    pub fn wait(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.sleep(self.value, None);
        }
    }

    /// Blocks the calling thread until the event is reached or `timeout` has passed. Returns whether the event is
    /// reached.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        match &self.timeline {
            // A deadline beyond `Instant`'s range means no deadline.
            Some(timeline) => timeline.sleep(self.value, Instant::now().checked_add(timeout)),
            None => true,
        }
    }

    /// Advances the event's timeline to it; see [`Timeline::signal`].
    pub fn signal(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.signal(self.value);
        }
    }

    /// Whether both events are on the same timeline, so that their values can be compared. Events that are always
    /// reached count as one timeline.
    pub fn same_timeline(&self, other: &Event) -> bool {
        match (&self.timeline, &other.timeline) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Identifier of the timeline, unique as long as the event exists.
    pub fn timeline_id(&self) -> usize {
        self.timeline.as_ref().map_or(0, |timeline| Arc::as_ptr(timeline) as usize)
    }

    /// The value on the timeline.
    pub fn value(&self) -> u64 {
        self.value
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("value", &self.value)
            .field("reached", &self.is_reached())
            .finish()
    }
}
