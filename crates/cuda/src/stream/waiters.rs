//! Cross-stream waits for an event that the driver does not know yet.
//!
//! The waiting stream is stalled until the host learns that the event is reached or, if another stream of the device
//! comes to signal the event first, until the driver has recorded it. From then on the driver itself can wait
//! (`cuStreamWaitEvent`).

use super::Core;
use inflight_backend::{Command, Event};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// The stalled streams of a device.
#[derive(Default)]
pub(crate) struct Waiters {
    waiting: Mutex<Vec<PendingWait>>,
    /// Streams that can be resumed, with the events they wait for. They are not resumed right away: the announcing
    /// stream is locked.
    ready: Mutex<Vec<(Arc<StalledStream>, Event)>>,
    /// The number of `ready` streams.
    count: AtomicUsize,
}

struct PendingWait {
    timeline: usize,
    value: u64,
    stream: Weak<StalledStream>,
}

/// A stalled stream. The first caller that resumes it wins.
struct StalledStream {
    core: Arc<Core>,
    is_resumed: AtomicBool,
}

impl StalledStream {
    fn resume_with(&self, commands: Vec<Command>) {
        if !self.is_resumed.swap(true, Ordering::AcqRel) {
            self.core.continue_with(commands);
        }
    }
}

impl Waiters {
    /// Resumes a stream when the event is reached or recorded. No reference to the event is kept: if no handle is
    /// left that could signal it, the stream is dropped.
    pub(super) fn resume_at(core: &Arc<Core>, event: Event) {
        let stream =
            Arc::new(StalledStream { core: core.clone(), is_resumed: AtomicBool::new(false) });
        let shared = &core.shared;
        let (timeline, value) = (event.timeline_id(), event.value());
        let waiting = PendingWait { timeline, value, stream: Arc::downgrade(&stream) };
        shared.waiters.waiting.lock().push(waiting);
        if shared.recorded_event(&event).is_some() {
            // Announced since the stream was stalled.
            stream.resume_with(vec![Command::Wait(event)]);
        } else {
            event.on_reached(Box::new(move || {
                stream.resume_with(Vec::new());
                stream.core.shared.waiters.resume();
            }));
        }
    }

    /// A stream has recorded the point at which it will signal this event.
    pub fn announced(&self, event: &Event) {
        let mut waiting = self.waiting.lock();
        if waiting.is_empty() {
            return;
        }
        waiting.retain(|waiting| {
            let is_met = waiting.timeline == event.timeline_id() && waiting.value <= event.value();
            // This may be the last reference to the stream. Move it: it must not be dropped here, where streams are
            // locked.
            if is_met && let Some(stream) = waiting.stream.upgrade() {
                self.ready.lock().push((stream, event.clone()));
                self.count.fetch_add(1, Ordering::Release);
            }
            !is_met && waiting.stream.strong_count() > 0
        });
    }

    /// Resumes the ready streams, and those that become ready by that. To be called after anything that may have
    /// announced an event, once the caller has no stream locked.
    pub(super) fn resume(&self) {
        while self.count.load(Ordering::Acquire) > 0 {
            let Some((stream, event)) = self.ready.lock().pop() else { return };
            self.count.fetch_sub(1, Ordering::Release);
            stream.resume_with(vec![Command::Wait(event)]);
        }
    }
}
