//! A value that is in memory, or on its way there.

use inflight_backend::{Buffer, Event, Fault, Stream};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// The memory of a tensor's elements, row-major, and when they are there.
pub(crate) struct Value {
    /// The memory. It carries the fault if the value could not be computed, or was given up.
    buffer: Mutex<Arc<Buffer>>,
    /// Reached iff `written` is set.
    pub dispatched: Event,
    /// Reached iff the elements are in memory. Set by the dispatcher.
    pub written: OnceLock<Written>,
}

/// The point in a stream at which a value is in memory.
pub(crate) struct Written {
    pub event: Event,
    pub stream: Option<Arc<dyn Stream>>,
}

impl Value {
    /// A value whose elements are there.
    pub fn ready(buffer: Arc<Buffer>) -> Arc<Value> {
        let written = OnceLock::new();
        let _ = written.set(Written { event: Event::reached(), stream: None });
        Arc::new(Value { buffer: Mutex::new(buffer), dispatched: Event::reached(), written })
    }

    /// A value that is in memory when an event is reached.
    pub fn written_at(buffer: Arc<Buffer>, event: Event) -> Arc<Value> {
        let written = OnceLock::new();
        let _ = written.set(Written { event, stream: None });
        Arc::new(Value { buffer: Mutex::new(buffer), dispatched: Event::reached(), written })
    }

    /// A value that the dispatcher will see to.
    pub fn scheduled(bytes: usize, dispatched: Event) -> Arc<Value> {
        let buffer = Mutex::new(Buffer::declare(bytes));
        Arc::new(Value { buffer, dispatched, written: OnceLock::new() })
    }

    /// The memory.
    pub fn buffer(&self) -> Arc<Buffer> {
        self.buffer.lock().clone()
    }

    /// The memory, for the caller alone. The value has the fault from now on.
    pub fn give_up(&self, fault: Fault) -> Arc<Buffer> {
        let mut buffer = self.buffer.lock();
        let failed = Buffer::failed(buffer.bytes(), fault);
        std::mem::replace(&mut buffer, failed)
    }

    /// Calls `then` with the buffer once the elements are in memory, or never will be. Nothing else here keeps
    /// the buffer any more when it is called.
    pub fn when_written(self: &Arc<Value>, then: impl FnOnce(Arc<Buffer>) + Send + 'static) {
        let value = self.clone();
        let dispatched = value.dispatched.clone();
        dispatched.on_reached(Box::new(move || {
            let written = value.written.get().expect("a dispatched value has its event");
            let event = written.event.clone();
            event.on_reached(Box::new(move || {
                let buffer = value.buffer();
                drop(value);
                then(buffer);
            }));
        }));
    }

    /// Whether the elements are in memory, or never will be.
    pub fn is_ready(&self) -> bool {
        self.written.get().is_some_and(|written| written.event.is_reached())
    }
}
