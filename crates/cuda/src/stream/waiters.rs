//! Streams that wait for an event of which the driver does not know yet.
//!
//! Such a stream holds its commands back until the host is told that the event is reached, or, if another stream
//! of the device comes to signal it before, until the driver knows where: from then on the driver can wait.

use super::Core;
use inflight_backend::{Command, Event};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Those of a device.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Vec<Waiting>>,
    /// Those that can go on, and what they wait for: the streams that announced it are locked meanwhile.
    ready: Mutex<Vec<(Arc<Held>, Event)>>,
    /// How many of these there are.
    count: AtomicUsize,
}

struct Waiting {
    timeline: usize,
    value: u64,
    held: Weak<Held>,
}

/// A stream that is held back, until one of those who would resume it does.
struct Held {
    core: Arc<Core>,
    is_resumed: AtomicBool,
}

impl Held {
    fn resume_with(&self, commands: Vec<Command>) {
        if !self.is_resumed.swap(true, Ordering::AcqRel) {
            self.core.go_on_with(commands);
        }
    }
}

impl Waiters {
    /// Has a stream resumed when it can go on. Nothing here keeps the event: if nobody is left who could signal
    /// it, the stream is dropped.
    pub(super) fn resume_at(core: &Arc<Core>, event: Event) {
        let held = Arc::new(Held { core: core.clone(), is_resumed: AtomicBool::new(false) });
        let shared = &core.shared;
        let (timeline, value) = (event.timeline_id(), event.value());
        let waiting = Waiting { timeline, value, held: Arc::downgrade(&held) };
        shared.waiters.waiting.lock().push(waiting);
        if shared.recorded_event(&event).is_some() {
            // It was announced meanwhile.
            held.resume_with(vec![Command::Wait(event)]);
        } else {
            event.on_reached(Box::new(move || {
                held.resume_with(Vec::new());
                held.core.shared.waiters.resume();
            }));
        }
    }

    /// A stream will signal this event at a point that is known now.
    pub fn announced(&self, event: &Event) {
        let mut waiting = self.waiting.lock();
        if waiting.is_empty() {
            return;
        }
        waiting.retain(|waiting| {
            let is_met = waiting.timeline == event.timeline_id() && waiting.value <= event.value();
            // Nobody else may have the stream any more, so it is not to be dropped here, where streams are locked.
            if is_met && let Some(held) = waiting.held.upgrade() {
                self.ready.lock().push((held, event.clone()));
                self.count.fetch_add(1, Ordering::Release);
            }
            !is_met && waiting.held.strong_count() > 0
        });
    }

    /// Resumes those that can go on, and those that can when these have gone on. To be called by whoever may have
    /// announced something, once it has no stream locked.
    pub(super) fn resume(&self) {
        while self.count.load(Ordering::Acquire) > 0 {
            let Some((held, event)) = self.ready.lock().pop() else { return };
            self.count.fetch_sub(1, Ordering::Release);
            held.resume_with(vec![Command::Wait(event)]);
        }
    }
}
