//! A device that says which stream each command was put on, and that holds its kernels back when it is told.

#![allow(dead_code, reason = "each test uses a part of this")]

use inflight::{CpuOptions, Device};
use inflight_backend::{
    Backend, Capabilities, Command, Compiled, Event, Fault, Pool, Priority, Stream, Timeline,
};
use inflight_cpu::CpuBackend;
use inflight_ir::kernel::Kernel;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// What the test sees and controls.
#[derive(Default)]
pub struct Control {
    streams: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The stream of each kernel, in the order they were enqueued.
    kernels: Vec<usize>,
    /// Kernels enqueued from now on wait for this.
    gate: Option<Event>,
    meeting: Option<Meeting>,
}

/// Two streams, neither of which goes on before the other has come as far.
struct Meeting {
    arrived: Vec<usize>,
    points: [Event; 2],
}

impl Control {
    /// The stream of each kernel so far.
    pub fn kernels(&self) -> Vec<usize> {
        self.state.lock().kernels.clone()
    }

    /// Kernels enqueued from now on wait until the event is signalled.
    pub fn hold(&self) -> Event {
        let gate = Timeline::new().event(1);
        self.state.lock().gate = Some(gate.clone());
        gate
    }

    /// The next two kernels run only if both can run at the same time, on two streams.
    pub fn meet(&self) {
        let points = [(); 2].map(|()| Timeline::new().event(1));
        self.state.lock().meeting = Some(Meeting { arrived: Vec::new(), points });
    }

    /// Which streams have met.
    pub fn met(&self) -> Vec<usize> {
        self.state
            .lock()
            .meeting
            .as_ref()
            .map(|meeting| meeting.arrived.clone())
            .unwrap_or_default()
    }
}

struct Watched {
    inner: Arc<CpuBackend>,
    control: Arc<Control>,
}

struct WatchedStream {
    number: usize,
    inner: Arc<dyn Stream>,
    control: Arc<Control>,
}

/// A CPU device under control.
pub fn watched() -> (Device, Arc<Control>) {
    let inner = CpuBackend::new(CpuOptions::from_env().unwrap()).unwrap();
    let control = Arc::new(Control::default());
    let backend = Watched { inner, control: control.clone() };
    (Device::with_backend("watched", Arc::new(backend)), control)
}

impl Backend for Watched {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        let number = self.control.streams.fetch_add(1, Ordering::Relaxed);
        let (inner, control) = (self.inner.stream(priority), self.control.clone());
        Arc::new(WatchedStream { number, inner, control })
    }

    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}

// SAFETY: commands reach the CPU's stream in the order they came; waits and signals of the test only come in
// between.
unsafe impl Stream for WatchedStream {
    unsafe fn enqueue(&self, command: Command) {
        let inner = |command| {
            // SAFETY: the command is the caller's, who vouches for it, or a wait or a signal, which touch
            // no buffer.
            unsafe { self.inner.enqueue(command) }
        };
        if !matches!(command, Command::Read { .. } | Command::Wait(_) | Command::Signal(_)) {
            let mut state = self.control.state.lock();
            state.kernels.push(self.number);
            if let Some(gate) = &state.gate {
                inner(Command::Wait(gate.clone()));
            }
            if let Some(Meeting { arrived, points: [first, second] }) = &mut state.meeting {
                match arrived[..] {
                    [] => {
                        inner(Command::Signal(first.clone()));
                        inner(Command::Wait(second.clone()));
                        arrived.push(self.number);
                    }
                    [other] if other != self.number => {
                        inner(Command::Signal(second.clone()));
                        inner(Command::Wait(first.clone()));
                        arrived.push(self.number);
                    }
                    // One after another on one stream: they never meet. Nobody is left to wait.
                    [_] => second.signal(),
                    _ => {}
                }
            }
        }
        inner(command);
    }

    fn flush(&self) {
        self.inner.flush();
    }

    fn assist(&self, event: &Event) {
        self.inner.assist(event);
    }
}

/// Counts how often it is woken.
#[derive(Default)]
pub struct Wakes {
    count: Mutex<usize>,
    woken: Condvar,
}

impl Wakes {
    pub fn new() -> (Arc<Wakes>, Waker) {
        let wakes = Arc::new(Wakes::default());
        (wakes.clone(), Waker::from(wakes))
    }

    pub fn count(&self) -> usize {
        *self.count.lock()
    }

    /// Blocks until it is woken for the first time.
    pub fn wait(&self) {
        self.woken.wait_while(&mut self.count.lock(), |count| *count == 0);
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        *self.count.lock() += 1;
        self.woken.notify_all();
    }
}
