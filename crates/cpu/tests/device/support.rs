//! Shared helpers of the device tests.
#![allow(dead_code, reason = "each test file uses a part of this")]

use inflight_backend::{
    Backend, Buffer, Command, Event, Fault, GemmLaunch, GemmOperand, Label, Memory, Priority,
    Stream, Timeline,
};
use inflight_cpu::{CpuBackend, Options};
use inflight_ir::plan::Work;
use inflight_ir::{DType, Element};
use smallvec::smallvec;
use std::sync::{Arc, mpsc};

/// A device with this many threads.
pub fn device(threads: usize) -> Arc<CpuBackend> {
    CpuBackend::new(Options { threads: Some(threads), path: None }).unwrap()
}

/// A stream with a timeline for its signals.
pub struct Queue {
    pub stream: Arc<dyn Stream>,
    pub timeline: Arc<Timeline>,
    last: u64,
}

impl Queue {
    pub fn new(backend: &CpuBackend) -> Queue {
        Queue { stream: backend.stream(Priority::Normal), timeline: Timeline::new(), last: 0 }
    }

    /// Enqueues a signal.
    pub fn signal(&mut self) -> Event {
        self.last += 1;
        let event = self.timeline.event(self.last);
        enqueue(&self.stream, Command::Signal(event.clone()));
        event
    }

    pub fn wait_for(&self, event: &Event) {
        enqueue(&self.stream, Command::Wait(event.clone()));
    }

    /// Enqueues a function.
    pub fn call(&self, function: impl FnOnce() + Send + 'static) {
        let source = Buffer::with_memory(Memory::adopt(Vec::<u8>::new()));
        let callback = Box::new(move |_: Result<&[u8], Fault>| function());
        enqueue(&self.stream, Command::Read { source, callback });
    }

    /// Flushes the stream and waits for all queued commands.
    pub fn finish(&mut self) {
        let event = self.signal();
        self.stream.flush();
        event.wait();
    }

    /// Enqueues a read, waits for it, and returns the elements.
    pub fn read<T: Element>(&mut self, source: &Arc<Buffer>) -> Result<Vec<T>, Fault> {
        let (sender, receiver) = mpsc::channel();
        let callback = Box::new(move |bytes: Result<&[u8], Fault>| {
            sender.send(bytes.map(elements)).unwrap();
        });
        enqueue(&self.stream, Command::Read { source: source.clone(), callback });
        self.finish();
        receiver.recv().unwrap()
    }
}

/// Converts bytes to elements.
pub fn elements<T: Element>(bytes: &[u8]) -> Vec<T> {
    let each = bytes.chunks_exact(T::DTYPE.size());
    each.map(|bytes| T::from_scalar(inflight_ir::Scalar::from_bytes(T::DTYPE, bytes))).collect()
}

/// A buffer with these elements.
pub fn buffer<T: Element>(elements: Vec<T>) -> Arc<Buffer> {
    Buffer::with_memory(Memory::adopt(elements))
}

/// The label of the tests' commands.
pub fn label() -> Label {
    let work = Arc::new(Work { bytes_read: 7, ..Work::default() });
    Label { segment: Arc::new([]), work }
}

/// A dense square `f32` GEMM, `c = a · b`.
pub fn square_gemm(n: usize, a: &Arc<Buffer>, b: &Arc<Buffer>, c: &Arc<Buffer>) -> Command {
    let operand = |buffer: &Arc<Buffer>| GemmOperand {
        buffer: buffer.clone(),
        offset: 0,
        batch_strides: smallvec![],
        row_stride: n as isize,
        column_stride: 1,
    };
    Command::Gemm(Box::new(GemmLaunch {
        dtype: DType::F32,
        batch: smallvec![],
        m: n,
        n,
        k: n,
        a: operand(a),
        b: operand(b),
        c: operand(c),
        prologue: None,
        epilogue: None,
        label: label(),
    }))
}

/// Enqueues a command.
pub fn enqueue(stream: &Arc<dyn Stream>, command: Command) {
    // SAFETY: the tests' commands stay within their buffers, and a test orders its streams with events.
    unsafe { stream.enqueue(command) };
}
