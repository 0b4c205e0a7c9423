//! Asynchronous reads: copies out of a device, on a stream that does nothing else.

use inflight_backend::{Buffer, Command, Event, ReadCallback, Stream, Timeline};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A device's asynchronous reads.
///
/// A read is registered when it is asked for and enqueued when its value is there, so that no read waits
/// behind another whose value is not.
pub(crate) struct Reads {
    stream: Arc<dyn Stream>,
    registered: AtomicU64,
    /// How many were enqueued. Held while one is, so that the timelines ascend.
    count: Mutex<u64>,
    /// Reaches `n` when `n` reads were enqueued.
    enqueued: Arc<Timeline>,
    /// Reaches `n` when the first `n` of those are done.
    done: Arc<Timeline>,
}

impl Reads {
    pub fn new(stream: Arc<dyn Stream>) -> Reads {
        Reads {
            stream,
            registered: AtomicU64::new(0),
            count: Mutex::new(0),
            enqueued: Timeline::new(),
            done: Timeline::new(),
        }
    }

    /// Announces a read. [`enqueue`](Reads::enqueue) must follow.
    pub fn register(&self) {
        self.registered.fetch_add(1, Ordering::Relaxed);
    }

    /// Copies a buffer whose value is there.
    pub fn enqueue(&self, source: Arc<Buffer>, callback: ReadCallback) {
        let number = {
            let mut count = self.count.lock();
            *count += 1;
            // SAFETY: the buffer's value is there, so nobody writes it any more.
            unsafe {
                self.stream.enqueue(Command::Read { source, callback });
                self.stream.enqueue(Command::Signal(self.done.event(*count)));
            }
            *count
        };
        self.stream.flush();
        self.enqueued.signal(number);
    }

    /// Reached, one after the other, when every read registered so far is done.
    pub fn all(&self) -> [Event; 2] {
        let registered = self.registered.load(Ordering::Relaxed);
        [self.enqueued.event(registered), self.done.event(registered)]
    }
}
