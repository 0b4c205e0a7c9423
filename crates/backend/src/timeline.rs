//! Timelines and the points on them: how a host thread, a task or another stream learns that work is
//! done.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Condvar, MODEL_CHECKED, Mutex, hint};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Looks at the counter this often before a waiting thread lets others have its processor: a few microseconds.
const SPINS: usize = if MODEL_CHECKED { 0 } else { 64 };

/// For so long a waiting thread then only gives way to others, and looks again: to be woken from sleep takes as long.
const LOOKOUT: Duration = if MODEL_CHECKED { Duration::ZERO } else { Duration::from_micros(40) };

type Callback = Box<dyn FnOnce() + Send>;

/// A counter that ascends as a stream gets on with its work.
pub struct Timeline {
    /// The last value signalled. Written with `state` locked, so that whoever registers under the lock
    /// either sees a value or is seen by the one who signals it.
    completed: AtomicU64,
    state: Mutex<State>,
    /// Notified when `completed` ascends to `state.awaited`.
    ascended: Condvar,
}

#[derive(Default)]
struct State {
    /// The least value that a thread which sleeps on `ascended` waits for.
    awaited: Option<u64>,
    /// By the value they wait for, in the order they were registered. None is for a value reached.
    callbacks: BTreeMap<u64, Vec<Callback>>,
}

impl Timeline {
    /// A timeline at zero.
    pub fn new() -> Arc<Timeline> {
        Arc::new(Timeline {
            completed: AtomicU64::new(0),
            state: Mutex::new(State::default()),
            ascended: Condvar::new(),
        })
    }

    /// The last value signalled, zero at first. What happened before it was signalled is visible to the
    /// caller.
    pub fn completed(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Moves the timeline to `value`, wakes the threads that wait for it and runs, on this thread, the
    /// callbacks that do. Does nothing if the timeline is there already.
    ///
    /// A callback may use the timeline. If one panics, the others still run and the panic goes on.
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
            // Those who wait for more say so again before they go on sleeping.
            if state.awaited.take_if(|awaited| *awaited <= value).is_some() {
                self.ascended.notify_all();
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

    /// The point at which this timeline is at `value` or beyond.
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

    /// Sleeps until `value` is reached or the deadline has passed; says whether it is reached.
    fn sleep(&self, value: u64, deadline: Option<Instant>) -> bool {
        for _ in 0..SPINS {
            if self.completed() >= value {
                return true;
            }
            hint::spin_loop();
        }
        if !LOOKOUT.is_zero() {
            let began = Instant::now();
            while began.elapsed() < LOOKOUT {
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
                None => self.ascended.wait(&mut state),
                Some(deadline) => {
                    in_time = !self.ascended.wait_until(&mut state, deadline).timed_out();
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

/// A point on a [`Timeline`]. Reached once, it stays reached.
pub struct Event {
    /// `None` for the event that is always reached.
    timeline: Option<Arc<Timeline>>,
    value: u64,
}

impl Clone for Event {
    fn clone(&self) -> Event {
        Event { timeline: self.timeline.clone(), value: self.value }
    }

    /// From one point of a timeline to another, which is most often the case, nothing is counted.
    fn clone_from(&mut self, source: &Event) {
        if !self.same_timeline(source) {
            self.timeline.clone_from(&source.timeline);
        }
        self.value = source.value;
    }
}

impl Event {
    /// An event that is always reached.
    pub fn reached() -> Event {
        Event { timeline: None, value: 0 }
    }

    /// Whether the timeline has come this far: one atomic load, never waits. What happened before the
    /// signal is then visible to the caller.
    pub fn is_reached(&self) -> bool {
        self.timeline.as_ref().is_none_or(|timeline| timeline.completed() >= self.value)
    }

    /// Runs the callback once the event is reached: now, on this thread, if it already is; otherwise on
    /// the thread that signals it. It is dropped without having run if the timeline is dropped before.
    pub fn on_reached(&self, callback: Box<dyn FnOnce() + Send>) {
        match &self.timeline {
            Some(timeline) if !self.is_reached() => timeline.on_reached(self.value, callback),
            _ => callback(),
        }
    }

    /// Blocks this thread until the event is reached.
    pub fn wait(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.sleep(self.value, None);
        }
    }

    /// Blocks this thread until the event is reached, but no longer than `timeout`. Says whether it is
    /// reached.
    pub fn wait_timeout(&self, timeout: Duration) -> bool {
        match &self.timeline {
            // A deadline too far away to be represented is none.
            Some(timeline) => timeline.sleep(self.value, Instant::now().checked_add(timeout)),
            None => true,
        }
    }

    /// Moves the event's timeline to it, as [`Timeline::signal`] does.
    pub fn signal(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.signal(self.value);
        }
    }

    /// Whether both are points on one timeline, so that their values can be compared. Events that are
    /// always reached share one.
    pub fn same_timeline(&self, other: &Event) -> bool {
        match (&self.timeline, &other.timeline) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Which timeline it is on: a number that no other timeline has as long as the event exists.
    pub fn timeline_id(&self) -> usize {
        self.timeline.as_ref().map_or(0, |timeline| Arc::as_ptr(timeline) as usize)
    }

    /// Its place on the timeline.
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
