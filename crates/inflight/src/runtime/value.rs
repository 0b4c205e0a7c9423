//! Tensor values: a buffer, and the stream position at which it is written.

use inflight_backend::{Buffer, Event, Fault, Stream};
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};

/// A tensor's elements (row-major) and their completion point.
pub(crate) struct Value {
    /// Carries the fault if the value failed or was donated.
    buffer: Mutex<Arc<Buffer>>,
    /// Reached iff `written` is set.
    pub dispatched: Event,
    /// Its event is reached iff the elements are in memory. The dispatcher sets it.
    pub written: OnceLock<CompletionPoint>,
}

/// Event that signals a value or a segment, and the stream that signals it.
pub(crate) struct CompletionPoint {
    pub event: Event,
    pub stream: Option<Arc<dyn Stream>>,
}

impl Value {
    /// A value whose elements are in memory.
    pub fn ready(buffer: Arc<Buffer>) -> Arc<Value> {
        let written = OnceLock::new();
        let _ = written.set(CompletionPoint { event: Event::reached(), stream: None });
        Arc::new(Value { buffer: Mutex::new(buffer), dispatched: Event::reached(), written })
    }

    /// A value whose elements are in memory once `event` is reached.
    pub fn ready_at(buffer: Arc<Buffer>, event: Event) -> Arc<Value> {
        let written = OnceLock::new();
        let _ = written.set(CompletionPoint { event, stream: None });
        Arc::new(Value { buffer: Mutex::new(buffer), dispatched: Event::reached(), written })
    }

    /// A value that the dispatcher will compute.
    pub fn scheduled(bytes: usize, dispatched: Event) -> Arc<Value> {
        let buffer = Mutex::new(Buffer::declare(bytes));
        Arc::new(Value { buffer, dispatched, written: OnceLock::new() })
    }

    /// The value's buffer.
    pub fn buffer(&self) -> Arc<Buffer> {
        self.buffer.lock().clone()
    }

    /// Donates the buffer to the caller: returns it and leaves a failed buffer that carries `fault`.
    pub fn donate(&self, fault: Fault) -> Arc<Buffer> {
        let mut buffer = self.buffer.lock();
        let failed = Buffer::failed(buffer.bytes(), fault);
        std::mem::replace(&mut buffer, failed)
    }

    /// Calls `then` with the buffer when the value is written or has failed. By then this function no longer holds
    /// a reference to the value, so the buffer may be reused.
    pub fn when_written(self: &Arc<Value>, then: impl FnOnce(Arc<Buffer>) + Send + 'static) {
        let value = self.clone();
        let dispatched = value.dispatched.clone();
        dispatched.on_reached(Box::new(move || {
            let written = value.written.get().expect("a dispatched value has its completion point");
            let event = written.event.clone();
            event.on_reached(Box::new(move || {
                let buffer = value.buffer();
                drop(value);
                then(buffer);
            }));
        }));
    }

    /// Whether the value is written or has failed.
    pub fn is_ready(&self) -> bool {
        self.written.get().is_some_and(|written| written.event.is_reached())
    }
}
