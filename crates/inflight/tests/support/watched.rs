//! A CPU device that records the stream of each kernel and holds kernels back on request, and a waker that counts.

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

/// Observes and controls a watched device.
#[derive(Default)]
pub struct Control {
    streams: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The stream of each kernel, in the order of `enqueue`.
    kernels: Vec<usize>,
    /// Kernels wait for this event.
    gate: Option<Event>,
    meeting: Option<Meeting>,
}

/// A rendezvous of two streams: neither runs its kernel before the other has reached its own.
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

    /// The streams that have met.
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

/// A CPU device, and its control.
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

// SAFETY: commands reach the CPU's stream in the order of `enqueue`; the test inserts only waits and signals.
unsafe impl Stream for WatchedStream {
    unsafe fn enqueue(&self, command: Command) {
        let inner = |command| {
            // SAFETY: the caller guarantees it for its command; a wait or a signal touches no buffer.
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
                    // Both kernels are on one stream and cannot meet: release the first.
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

/// A waker that counts its wake-ups.
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

    /// Blocks until the first wake-up.
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
