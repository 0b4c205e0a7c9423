//! Asynchronous host-to-device copies, on a dedicated stream.

use super::value::Value;
use inflight_backend::{Buffer, Command, Event, Stream, Timeline};
use parking_lot::Mutex;
use std::sync::Arc;

/// A device's uploads.
pub(crate) struct Uploads {
    stream: Arc<dyn Stream>,
    /// Reached when all uploads enqueued so far are done.
    last: Mutex<Event>,
}

impl Uploads {
    pub fn new(stream: Arc<dyn Stream>) -> Uploads {
        Uploads { stream, last: Mutex::new(Event::reached()) }
    }

    /// Copies a host-visible value to the device, starting when the source is written. Returns the device value at
    /// once.
    pub fn upload(self: &Arc<Uploads>, source: &Arc<Value>) -> Arc<Value> {
        let target = Buffer::declare(source.buffer().bytes());
        let event = Timeline::new().event(1);
        let value = Value::ready_at(target.clone(), event.clone());
        let uploads = self.clone();
        source.when_written(move |source| uploads.enqueue(source, target, event));
        value
    }

    fn enqueue(&self, source: Arc<Buffer>, target: Arc<Buffer>, event: Event) {
        let mut last = self.last.lock();
        // SAFETY: the source is written, so no command writes it any more. The target is new, and readers wait for
        // the event.
        unsafe {
            self.stream.enqueue(Command::Upload { source, target });
            self.stream.enqueue(Command::Signal(event.clone()));
        }
        *last = event;
        drop(last);
        self.stream.flush();
    }

    /// Reached when all uploads enqueued so far are done.
    pub fn last_event(&self) -> Event {
        self.last.lock().clone()
    }
}
