//! A device whose progress the test controls, command by command.
//!
//! Nothing runs before the test says so, with [`Control::step`] or [`Control::open`]; what runs, runs on a CPU.
//! Memory that is freed is filled with [`POISON`] and never used again: whoever still reads it sees that, and
//! [`Control::check_freed`] sees who still writes it.

#![allow(dead_code, reason = "each test uses a part of this")]

use inflight::{CpuOptions, CpuPath, Device};
use inflight_backend::{
    Backend, Capabilities, Command, Compiled, Event, ExpandCallback, Fault, FaultKind, Pool,
    Priority, Stream, Timeline,
};
use inflight_cpu::CpuBackend;
use inflight_ir::kernel::Kernel;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// What freed memory is filled with. As a float it is a number that no test computes.
pub const POISON: u8 = 0xA5;

/// What the test sees of a device, and what it does with it.
#[derive(Clone)]
pub struct Control(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Held by whoever runs a command, so that they run one at a time, and in order.
    running: Mutex<()>,
    /// Ascends with each request to run what can run.
    requests: AtomicU64,
    freed: Arc<Mutex<Freed>>,
}

#[derive(Default)]
struct State {
    /// Commands run as soon as they come.
    open: bool,
    /// Why no command runs any more.
    lost: Option<Fault>,
    /// Of the launches and contractions still to come, the one that fails.
    failing: Option<(usize, Fault)>,
    /// The number of the next command.
    next: u64,
    streams: Vec<Arc<SteppedStream>>,
}

struct SteppedStream {
    inner: Arc<dyn Stream>,
    /// Not run yet, with their numbers.
    held: Mutex<VecDeque<(u64, Command)>>,
    /// The one who holds the stream.
    control: Weak<Shared>,
}

struct SteppedBackend {
    inner: Arc<CpuBackend>,
    capabilities: Capabilities,
    control: Control,
}

/// Blocks that were freed. They go back to the system with the device.
#[derive(Default)]
struct Freed(Vec<(NonNull<u8>, usize)>);

// SAFETY: nobody else knows the blocks any more.
unsafe impl Send for Freed {}

/// A device on which nothing runs until the test says so.
pub fn stepped_device() -> (Device, Control) {
    let freed = Arc::new(Mutex::new(Freed::default()));
    let poison = freed.clone();
    // SAFETY: blocks are apart from each other, aligned, and stay valid after they are freed, until the
    // last holder of `freed` is gone, which is the pool itself or a test that looks at it.
    let pool = unsafe {
        let allocate = |bytes| NonNull::new(alloc(layout(bytes)));
        Pool::new(1 << 30, allocate, move |block, bytes| {
            block.as_ptr().write_bytes(POISON, bytes);
            poison.lock().unwrap().0.push((block, bytes));
        })
    };
    pool.set_cache_limit(Some(0));
    let options = CpuOptions { threads: Some(1), path: Some(CpuPath::detect()) };
    let inner = CpuBackend::with_pool(options, pool).unwrap();
    let control = Control(Arc::new(Shared {
        state: Mutex::default(),
        running: Mutex::default(),
        requests: AtomicU64::new(0),
        freed,
    }));
    // A loop's turns are commands of their own, so that they can be held.
    let capabilities = Capabilities { device_loops: false, ..inner.capabilities().clone() };
    let backend = SteppedBackend { inner, capabilities, control: control.clone() };
    (Device::with_backend("stepped", Arc::new(backend)), control)
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 64).unwrap()
}

impl Drop for Freed {
    fn drop(&mut self) {
        for (block, bytes) in self.0.drain(..) {
            // SAFETY: allocated with this layout, and known to nobody else.
            unsafe { dealloc(block.as_ptr(), layout(bytes)) };
        }
    }
}

impl Control {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    /// Runs the oldest command that can run, to its end. Says whether there was one.
    pub fn step(&self) -> bool {
        let _running = self.0.running.lock().unwrap();
        self.step_once()
    }

    fn step_once(&self) -> bool {
        let streams = self.state().streams.clone();
        let ready = streams.iter().filter_map(|stream| {
            let held = stream.held.lock().unwrap();
            match held.front()? {
                (_, Command::Wait(event)) if !event.is_reached() => None,
                (number, _) => Some((*number, stream)),
            }
        });
        let Some((_, stream)) = ready.min_by_key(|(number, _)| *number) else { return false };
        let (number, command) = stream.held.lock().unwrap().pop_front().expect("just seen");
        self.run(stream, number, command);
        true
    }

    /// Runs commands until none can run; returns how many did.
    pub fn step_through(&self) -> usize {
        std::iter::from_fn(|| self.step().then_some(())).count()
    }

    /// Lets everything run, from now on.
    pub fn open(&self) {
        self.state().open = true;
        self.follow();
    }

    /// How many commands are held back.
    pub fn held(&self) -> usize {
        let streams = self.state().streams.clone();
        streams.iter().map(|stream| stream.held.lock().unwrap().len()).sum()
    }

    /// The device answers no more: what is held back, and what comes, ends with this fault.
    pub fn lose(&self, why: &str) {
        self.state().lost = Some(FaultKind::DeviceLost(why.to_owned()).into());
        self.open();
    }

    /// After `count` more launches and contractions, one fails.
    pub fn fail_after(&self, count: usize, why: &str) {
        self.state().failing = Some((count, FaultKind::Panicked(why.to_owned()).into()));
    }

    /// Sees to it that nobody wrote memory that had been freed. Returns how many blocks were.
    pub fn check_freed(&self) -> usize {
        let freed = self.0.freed.lock().unwrap();
        for &(block, bytes) in &freed.0 {
            // SAFETY: freed blocks stay valid until `Freed` is dropped, and nothing may write them.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) };
            assert!(bytes.iter().all(|&byte| byte == POISON), "freed memory was written");
        }
        freed.0.len()
    }

    /// Why the next command does not run, if it does not.
    fn fault(&self, computes: bool) -> Option<Fault> {
        let mut state = self.state();
        if let Some(lost) = &state.lost {
            return Some(lost.clone());
        }
        let (left, _) = state.failing.as_mut().filter(|_| computes)?;
        match left.checked_sub(1) {
            Some(fewer) => {
                *left = fewer;
                None
            }
            None => state.failing.take().map(|(_, fault)| fault),
        }
    }

    /// If the device is open, runs what can run, or leaves that to whoever is at it.
    fn follow(&self) {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        while self.state().open {
            let seen = self.0.requests.load(Ordering::SeqCst);
            let Ok(running) = self.0.running.try_lock() else { return };
            while self.step_once() {}
            drop(running);
            // Whoever came meanwhile could not get in.
            if self.0.requests.load(Ordering::SeqCst) == seen {
                return;
            }
        }
    }

    fn run(&self, stream: &SteppedStream, number: u64, command: Command) {
        let computes = matches!(
            command,
            Command::Launch(_) | Command::Batch(_) | Command::Gemm(_) | Command::Routine(_)
        );
        if let Some(fault) = self.fault(computes) {
            return command.abandon(fault);
        }
        // What comes out of an expansion is held back like everything else.
        let expanded = Arc::new(Mutex::new(Vec::new()));
        let command = match command {
            Command::Expand { source, callback } => {
                let expanded = expanded.clone();
                let callback: ExpandCallback = Box::new(move |bytes, expansion| {
                    callback(bytes, expansion);
                    *expanded.lock().unwrap() = std::mem::take(&mut expansion.commands);
                });
                Command::Expand { source, callback }
            }
            command => command,
        };
        let done = Timeline::new().event(1);
        // SAFETY: promised by the one who enqueued it here; a signal touches no buffer.
        unsafe {
            stream.inner.enqueue(command);
            stream.inner.enqueue(Command::Signal(done.clone()));
        }
        stream.inner.flush();
        done.wait();
        let expanded = std::mem::take(&mut *expanded.lock().unwrap());
        let mut held = stream.held.lock().unwrap();
        expanded.into_iter().rev().for_each(|command| held.push_front((number, command)));
    }
}

// SAFETY: commands reach the CPU's stream in the order they came, or are abandoned in that order.
unsafe impl Stream for SteppedStream {
    unsafe fn enqueue(&self, command: Command) {
        let Some(control) = self.control.upgrade().map(Control) else {
            return command.abandon(FaultKind::DeviceLost("nobody steps it".into()).into());
        };
        let number = {
            let mut state = control.state();
            state.next += 1;
            state.next
        };
        self.held.lock().unwrap().push_back((number, command));
    }

    fn flush(&self) {
        if let Some(control) = self.control.upgrade().map(Control) {
            control.follow();
        }
    }

    fn assist(&self, _: &Event) {
        self.flush();
    }
}

impl Backend for SteppedBackend {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault> {
        self.inner.compile(kernel)
    }

    fn stream(&self, priority: Priority) -> Arc<dyn Stream> {
        let stream = Arc::new(SteppedStream {
            inner: self.inner.stream(priority),
            held: Mutex::default(),
            control: Arc::downgrade(&self.control.0),
        });
        self.control.state().streams.push(stream.clone());
        stream
    }

    fn pool(&self) -> &Arc<Pool> {
        self.inner.pool()
    }
}
