//! A test device whose progress the test controls, command by command.
//!
//! A command runs, on the CPU, only when the test calls [`Control::step`] or [`Control::open`]. Freed memory is filled
//! with [`POISON`] and never reused: a read after free returns poison, and [`Control::check_freed`] detects a write.

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

/// The byte that freed memory is filled with. Read as a float, it is a value that no test computes.
pub const POISON: u8 = 0xA5;

/// Observes and controls a stepped device.
#[derive(Clone)]
pub struct Control(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Locked while a command runs: commands run one at a time, in order.
    running: Mutex<()>,
    /// Counts the requests to run commands.
    requests: AtomicU64,
    freed: Arc<Mutex<Freed>>,
}

#[derive(Default)]
struct State {
    /// Whether commands run as soon as they are enqueued.
    open: bool,
    /// The fault of every command, if the device is lost.
    lost: Option<Fault>,
    /// The number of computing commands to run before one fails, and its fault.
    failing: Option<(usize, Fault)>,
    /// The number of the next command.
    next: u64,
    streams: Vec<Arc<SteppedStream>>,
}

struct SteppedStream {
    inner: Arc<dyn Stream>,
    /// The commands that have not run, with their numbers.
    held: Mutex<VecDeque<(u64, Command)>>,
    /// The control, unless the test has dropped it.
    control: Weak<Shared>,
}

struct SteppedBackend {
    inner: Arc<CpuBackend>,
    capabilities: Capabilities,
    control: Control,
}

/// Freed blocks. The system gets them back when the device is dropped.
#[derive(Default)]
struct Freed(Vec<(NonNull<u8>, usize)>);

// SAFETY: the blocks are freed: no other reference to them exists.
unsafe impl Send for Freed {}

/// A device that runs nothing until the test tells its control to.
pub fn stepped_device() -> (Device, Control) {
    let freed = Arc::new(Mutex::new(Freed::default()));
    let poison = freed.clone();
    // SAFETY: blocks are disjoint and aligned, and stay valid after they are freed: until the last reference to `freed`
    // is dropped, by the pool or by a control.
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
    // Each iteration of a loop is enqueued as commands of its own, so that it can be held back.
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
            // SAFETY: allocated with this layout, and no other reference exists.
            unsafe { dealloc(block.as_ptr(), layout(bytes)) };
        }
    }
}

impl Control {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    /// Runs the oldest command that can run, to its end. Returns whether there was one.
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

    /// Runs the commands that are held back, and from now on every command at once.
    pub fn open(&self) {
        self.state().open = true;
        self.drain();
    }

    /// The number of commands that are held back.
    pub fn held(&self) -> usize {
        let streams = self.state().streams.clone();
        streams.iter().map(|stream| stream.held.lock().unwrap().len()).sum()
    }

    /// Loses the device: commands that are held back and later ones fail with this fault.
    pub fn lose(&self, why: &str) {
        self.state().lost = Some(FaultKind::DeviceLost(why.to_owned()).into());
        self.open();
    }

    /// Makes one computing command fail, after `count` more of them have run.
    pub fn fail_after(&self, count: usize, why: &str) {
        self.state().failing = Some((count, FaultKind::Panicked(why.to_owned()).into()));
    }

    /// Asserts that no freed block was written. Returns the number of freed blocks.
    pub fn check_freed(&self) -> usize {
        let freed = self.0.freed.lock().unwrap();
        for &(block, bytes) in &freed.0 {
            // SAFETY: freed blocks stay valid until `Freed` is dropped, and nothing may write them.
            let bytes = unsafe { std::slice::from_raw_parts(block.as_ptr(), bytes) };
            assert!(bytes.iter().all(|&byte| byte == POISON), "freed memory was written");
        }
        freed.0.len()
    }

    /// The fault of the next command, if it must fail.
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

    /// Runs the commands that can run if the device is open, unless another thread is already running them.
    fn drain(&self) {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        while self.state().open {
            let seen = self.0.requests.load(Ordering::SeqCst);
            let Ok(running) = self.0.running.try_lock() else { return };
            while self.step_once() {}
            drop(running);
            // A request that came while this thread ran commands could not take the lock: look again.
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
        // Commands that an expansion produces are held back, too.
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
        // SAFETY: the caller of `enqueue` guarantees it for the command; a signal touches no buffer.
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

// SAFETY: commands reach the CPU's stream in the order of `enqueue`, or are abandoned in that order.
unsafe impl Stream for SteppedStream {
    unsafe fn enqueue(&self, command: Command) {
        let Some(control) = self.control.upgrade().map(Control) else {
            return command.abandon(
                FaultKind::DeviceLost("the control of the stepped device is dropped".into()).into(),
            );
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
            control.drain();
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
