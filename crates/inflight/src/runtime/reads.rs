//! Asynchronous device-to-host copies, on a dedicated stream.

use inflight_backend::{Buffer, Command, Event, ReadCallback, Stream, Timeline};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A device's asynchronous reads.
///
/// A read is registered when it is requested, and enqueued only when its value is written. So no read waits behind
/// another read whose value is not available yet.
pub(crate) struct Reads {
    stream: Arc<dyn Stream>,
    registered: AtomicU64,
    /// Number of enqueued reads. Locked while enqueueing, so that timeline values ascend.
    count: Mutex<u64>,
    /// Reaches `n` when `n` reads are enqueued.
    enqueued: Arc<Timeline>,
    /// Reaches `n` when the first `n` enqueued reads are done.
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

    /// Registers a read. [`enqueue`](Reads::enqueue) must follow.
    pub fn register(&self) {
        self.registered.fetch_add(1, Ordering::Relaxed);
    }

    /// Enqueues the copy of a buffer that is written.
    pub fn enqueue(&self, source: Arc<Buffer>, callback: ReadCallback) {
        let number = {
            let mut count = self.count.lock();
            *count += 1;
            // SAFETY: the value is written, so no command writes the buffer any more.
            unsafe {
                self.stream.enqueue(Command::Read { source, callback });
                self.stream.enqueue(Command::Signal(self.done.event(*count)));
            }
            *count
        };
        self.stream.flush();
        self.enqueued.signal(number);
    }

    /// Two events, to be waited for in order: all reads registered so far are enqueued, and then done.
    pub fn completion_events(&self) -> [Event; 2] {
        let registered = self.registered.load(Ordering::Relaxed);
        [self.enqueued.event(registered), self.done.event(registered)]
    }
}
