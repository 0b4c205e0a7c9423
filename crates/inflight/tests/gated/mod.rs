//! A CPU device whose commands run only when the test lets them.

#![allow(dead_code, reason = "each test uses a part of this")]

use inflight::{CpuOptions, CpuPath, Device};
use inflight_backend::{
    Backend, Capabilities, Command, Compiled, Event, Fault, Pool, Priority, Stream,
};
use inflight_cpu::CpuBackend;
use inflight_ir::kernel::Kernel;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Holds the commands of all streams of one device back, until it is opened.
#[derive(Clone, Default)]
pub struct Gate(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    open: bool,
    streams: Vec<Arc<GatedStream>>,
}

struct GatedBackend {
    inner: Arc<CpuBackend>,
    gate: Gate,
}

struct GatedStream {
    inner: Arc<dyn Stream>,
    held: Mutex<VecDeque<Command>>,
    gate: Gate,
}

/// A device whose gate is shut.
pub fn gated_device() -> (Device, Gate) {
    let options = CpuOptions { threads: Some(1), path: Some(CpuPath::detect()) };
    let (inner, gate) = (CpuBackend::new(options).unwrap(), Gate::default());
    let device =
        Device::with_backend("gated", Arc::new(GatedBackend { inner, gate: gate.clone() }));
    (device, gate)
}

impl Gate {
    /// Lets everything run, from now on.
    pub fn open(&self) {
        let streams = {
            let mut state = self.0.lock().unwrap();
            state.open = true;
            std::mem::take(&mut state.streams)
        };
        streams.iter().for_each(|stream| stream.release());
    }

    /// How many commands are held back.
    pub fn held(&self) -> usize {
        let streams = self.0.lock().unwrap().streams.clone();
        streams.iter().map(|stream| stream.held.lock().unwrap().len()).sum()
    }

    fn is_open(&self) -> bool {
        self.0.lock().unwrap().open
    }
}

impl GatedStream {
    fn release(&self) {
        let mut held = self.held.lock().unwrap();
        // SAFETY: promised by those who enqueued them here.
        held.drain(..).for_each(|command| unsafe { self.inner.enqueue(command) });
        drop(held);
        self.inner.flush();
    }
}

// SAFETY: commands reach the CPU's stream in the order they came.
unsafe impl Stream for GatedStream {
    unsafe fn enqueue(&self, command: Command) {
        self.held.lock().unwrap().push_back(command);
        if self.gate.is_open() {
            self.release();
        }
    }

    fn flush(&self) {
        if self.gate.is_open() {
            self.release();
        }
    }

    fn assist(&self, event: &Event) {
        if self.gate.is_open() {
            self.release();
            self.inner.assist(event);
        }
    }
}

impl Backend for GatedBackend {
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        let held = Mutex::new(VecDeque::new());
        let stream = Arc::new(GatedStream {
            inner: self.inner.stream(priority),
            held,
            gate: self.gate.clone(),
        });
        self.gate.0.lock().unwrap().streams.push(stream.clone());
        stream
    }

    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}
