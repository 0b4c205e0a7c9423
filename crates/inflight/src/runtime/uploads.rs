//! Copies into a device that has memory of its own, on a stream that does nothing else.

use super::value::Value;
use inflight_backend::{Buffer, Command, Event, Stream, Timeline};
use parking_lot::Mutex;
use std::sync::Arc;

/// A device's uploads.
pub(crate) struct Uploads {
    stream: Arc<dyn Stream>,
    /// Reached when all that were enqueued are done.
    last: Mutex<Event>,
}

impl Uploads {
    pub fn new(stream: Arc<dyn Stream>) -> Uploads {
        Uploads { stream, last: Mutex::new(Event::reached()) }
    }

    /// The value on the device of a value that the host can read. The copy begins when that is there.
    pub fn upload(self: &Arc<Uploads>, source: &Arc<Value>) -> Arc<Value> {
        let target = Buffer::declare(source.buffer().bytes());
        let event = Timeline::new().event(1);
        let value = Value::written_at(target.clone(), event.clone());
        let uploads = self.clone();
        source.when_written(move |source| uploads.enqueue(source, target, event));
        value
    }

    fn enqueue(&self, source: Arc<Buffer>, target: Arc<Buffer>, event: Event) {
        let mut last = self.last.lock();
        // SAFETY: the source's value is there, so nobody writes it any more; nobody reads the target before
        // the event.
        unsafe {
            self.stream.enqueue(Command::Upload { source, target });
            self.stream.enqueue(Command::Signal(event.clone()));
        }
        *last = event;
        drop(last);
        self.stream.flush();
    }

    /// Reached when every upload enqueued so far is done.
    pub fn last(&self) -> Event {
        self.last.lock().clone()
    }
}
