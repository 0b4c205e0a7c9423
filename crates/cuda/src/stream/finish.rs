//! Seeing work through: what happens when the device has come to a point of a stream.

use super::Core;
use super::replay::InFlight;
use crate::device::Shared;
use crate::driver::{enter, shutdown_fault};
use crate::event::{PollInterval, RecordedEvent, TimedEvent};
use crate::memory::StagingBuffer;
use inflight_backend::observe::CommandTimer;
use inflight_backend::{Buffer, Event, Fault, ReadCallback, Timeline};
use parking_lot::{Condvar, Mutex};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// Looks at a point this often, for a fraction of a millisecond, before it sleeps between two looks.
const LOOKS: usize = 150;

/// So long it looks for a batch before it sleeps until there is one.
const PATIENCE: Duration = Duration::from_micros(50);

/// So often a thread is tried to be started, and so long after the last time.
const TRIES: usize = 100;
const RETRY: Duration = Duration::from_millis(10);

/// So many idle turns are between two looks, about a microsecond.
const PAUSE: usize = 32;

/// Work between two points of a stream.
pub struct Batch {
    /// The stream's progress when it is done.
    pub number: u64,
    /// The point at its end, or why there is none.
    pub point: Result<Arc<RecordedEvent>, Fault>,
    pub work: Vec<Done>,
    /// Where the device began and ended it, if somebody wants to know.
    pub times: Option<[TimedEvent; 2]>,
}

/// What is to be done when a batch is.
pub enum Done {
    /// Tell everybody.
    Signal(Event),
    /// Show what was copied to the host.
    Read { staged: Option<StagingBuffer>, bytes: usize, callback: ReadCallback },
    /// Say why nothing was.
    Refuse { fault: Fault, callback: ReadCallback },
    /// Call back, with the device's fault if it has one.
    Call(Box<dyn FnOnce(Result<(), Fault>) + Send>),
    /// A result: if the device faults, it fails.
    Written(Weak<Buffer>),
    /// Launches that were put on the stream together, with their kernels and their results.
    Launched(InFlight),
    /// Let go of what the device needed.
    Release(#[expect(dead_code, reason = "it is dropped")] Box<dyn Any + Send>),
    /// Say how long it took.
    CommandTimer(CommandTimer),
}

/// The batches of a stream that are not done, and the thread that sees to them.
pub struct Finisher {
    shared: Arc<Shared>,
    progress: Arc<Timeline>,
    stream: u64,
    /// The stream itself, while there is one.
    core: OnceLock<Weak<Core>>,
    /// How many batches are not done.
    under_way: AtomicUsize,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<Batch>,
    /// Whether there is a thread.
    is_served: bool,
    /// Whether the thread ends when there is nothing to do.
    is_closed: bool,
}

impl Finisher {
    pub fn new(shared: Arc<Shared>, progress: Arc<Timeline>, stream: u64) -> Arc<Finisher> {
        Arc::new(Finisher {
            shared,
            progress,
            stream,
            core: OnceLock::new(),
            under_way: AtomicUsize::new(0),
            state: Mutex::default(),
            arrived: Condvar::new(),
        })
    }

    /// Says whose batches these are.
    pub fn see_to(&self, core: &Arc<Core>) {
        let _ = self.core.set(Arc::downgrade(core));
    }

    /// How many batches are not done.
    pub fn under_way(&self) -> usize {
        self.under_way.load(Ordering::SeqCst)
    }

    pub fn push(self: &Arc<Finisher>, batch: Batch) {
        let mut state = self.state.lock();
        self.under_way.fetch_add(1, Ordering::SeqCst);
        state.batches.push_back(batch);
        if state.is_served {
            self.arrived.notify_one();
            return;
        }
        // Where there can be no thread for a while, the next batch tries again.
        for _ in 0..TRIES {
            let finisher = self.clone();
            let thread = std::thread::Builder::new().name("inflight-cuda".to_owned());
            state.is_served = thread.spawn(move || finisher.serve()).is_ok();
            if state.is_served {
                return;
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Lets the thread end when all is done.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.arrived.notify_one();
    }

    fn serve(&self) {
        let _entered = enter().map(|_inside| self.shared.context.enter());
        sleep_exactly();
        loop {
            // Being woken costs whoever wakes it more than the batch does.
            let idle = Instant::now();
            while self.under_way() == 0 && idle.elapsed() < PATIENCE {
                std::thread::yield_now();
            }
            let batch = {
                let mut state = self.state.lock();
                loop {
                    if let Some(batch) = state.batches.pop_front() {
                        break batch;
                    }
                    if state.is_closed {
                        state.is_served = false;
                        return;
                    }
                    self.arrived.wait(&mut state);
                }
            };
            self.finish(batch);
        }
    }

    fn finish(&self, batch: Batch) {
        let outcome = match batch.point {
            Ok(point) => {
                // What is read, the host has come to need; the rest is the device's own.
                let is_read = batch.work.iter().any(|done| matches!(done, Done::Read { .. }));
                come_to(&point, if is_read { PollInterval::Fine } else { PollInterval::Coarse })
            }
            Err(fault) if fault.is_lost() => Err(fault),
            // There is no point to wait for, but there may be work.
            Err(_) => self.shared.context.synchronize(),
        };
        // If the process ends meanwhile, that waits until all have been told.
        let inside = enter();
        let fault = outcome.err().or_else(|| inside.is_none().then(shutdown_fault));
        if let Some(fault) = &fault {
            if fault.is_lost() {
                let _ = self.shared.lost.set(fault.clone());
            }
            for done in &batch.work {
                match done {
                    Done::Written(buffer) => {
                        if let Some(buffer) = buffer.upgrade() {
                            buffer.fail(fault.clone());
                        }
                    }
                    Done::Launched(launches) => launches.fail(fault),
                    _ => {}
                }
            }
        }
        let times = batch.times.filter(|_| inside.is_some());
        let took = times.and_then(|[began, ended]| began.elapsed_until(&ended));
        let began = took.and_then(|took| Instant::now().checked_sub(took));
        // Memory is free before anybody learns that they may go on.
        let _ = catch_unwind(AssertUnwindSafe(|| self.progress.signal(batch.number)));
        // If the device has nothing to do any more, that comes first.
        let is_rest = self.under_way.fetch_sub(1, Ordering::SeqCst) > 1;
        if !is_rest {
            self.flush();
        }
        for done in batch.work {
            // A callback that panics must not keep the others from being told.
            let _ = catch_unwind(AssertUnwindSafe(|| self.done(done, fault.as_ref(), began)));
        }
        if is_rest {
            self.flush();
        }
    }

    /// Flushes the stream, if that was put off until a batch is done.
    fn flush(&self) {
        if let Some(core) = self.core.get().and_then(Weak::upgrade) {
            let _ = catch_unwind(AssertUnwindSafe(|| core.flush_deferred()));
        }
    }

    /// Sees to one thing. `began` is when the device began the batch, as far as that is known.
    fn done(&self, done: Done, fault: Option<&Fault>, began: Option<Instant>) {
        match done {
            Done::Signal(event) => {
                self.shared.forget_signal(&event);
                event.signal();
            }
            Done::Read { staged, bytes, callback } => match (fault, staged) {
                (Some(fault), _) => callback(Err(fault.clone())),
                (None, None) => callback(Ok(&[])),
                (None, Some(staged)) => {
                    // SAFETY: the copy wrote this many bytes, and it is done.
                    callback(Ok(unsafe { std::slice::from_raw_parts(staged.ptr(), bytes) }));
                }
            },
            Done::Call(callback) => callback(fault.map_or(Ok(()), |fault| Err(fault.clone()))),
            Done::Refuse { fault, callback } => callback(Err(fault)),
            Done::CommandTimer(observed) => match began {
                Some(began) => observed.end_since(self.stream, "cuda", began),
                None => observed.end(self.stream, "cuda"),
            },
            Done::Written(_) | Done::Launched(_) | Done::Release(_) => {}
        }
    }
}

/// Has this thread's sleep end when it should: by default, the system may add more than twice a nap.
fn sleep_exactly() {
    #[cfg(target_os = "linux")]
    // SAFETY: it sets a number of this thread, in nanoseconds.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1000 as libc::c_ulong);
    }
}

/// Waits until the device has come to a point.
fn come_to(point: &RecordedEvent, watch: PollInterval) -> Result<(), Fault> {
    for _ in 0..LOOKS {
        if point.is_reached()? {
            return Ok(());
        }
        // The driver has other callers as well.
        (0..PAUSE).for_each(|_| std::hint::spin_loop());
    }
    point.wait(watch)
}
