//! Batch completion: waiting for the device to pass a point of a stream, and what to do then.

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

/// Polls of a point before the completion thread sleeps between polls. Together they take a fraction of a
/// millisecond.
const SPIN_POLLS: usize = 150;

/// How long the idle completion thread polls for the next batch before it sleeps.
const IDLE_POLLING: Duration = Duration::from_micros(50);

/// Attempts to start the completion thread, and the delay between two of them.
const SPAWN_ATTEMPTS: usize = 100;
const SPAWN_RETRY_DELAY: Duration = Duration::from_millis(10);

/// Spin-loop hints between two polls, about a microsecond.
const SPIN_HINTS: usize = 32;

/// Work between two points of a stream.
pub struct SubmittedBatch {
    /// The value that the stream's progress timeline reaches when the batch has completed.
    pub number: u64,
    /// The point behind the batch, or why it could not be recorded.
    pub point: Result<Arc<RecordedEvent>, Fault>,
    pub work: Vec<Completion>,
    /// When the device began and shutdown_fault the batch, if it is traced.
    pub times: Option<[TimedEvent; 2]>,
}

/// What to do when a batch has completed.
pub enum Completion {
    /// Signal an event.
    Signal(Event),
    /// Pass the bytes copied to the host to a callback.
    Read { staged: Option<StagingBuffer>, bytes: usize, callback: ReadCallback },
    /// Pass a fault to the callback of a read that was not submitted.
    ReadFault { fault: Fault, callback: ReadCallback },
    /// Call back, with the device's fault if there is one.
    Callback(Box<dyn FnOnce(Result<(), Fault>) + Send>),
    /// A written buffer. It fails if the device faults.
    Output(Weak<Buffer>),
    /// Submitted launches, with their kernels and results.
    Launches(InFlight),
    /// Release what the device needed.
    Release(#[expect(dead_code, reason = "it is dropped")] Box<dyn Any + Send>),
    /// Report the time that a command took.
    CommandTimer(CommandTimer),
}

/// The batches of a stream that are in flight, and the thread that retires them.
pub struct CompletionThread {
    shared: Arc<Shared>,
    progress: Arc<Timeline>,
    stream: u64,
    /// The stream, while it exists.
    core: OnceLock<Weak<Core>>,
    /// Batches in flight.
    in_flight: AtomicUsize,
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    batches: VecDeque<SubmittedBatch>,
    /// Whether the thread is running.
    is_running: bool,
    /// Whether the thread exits when no batch is left.
    is_closed: bool,
}

impl CompletionThread {
    pub fn new(shared: Arc<Shared>, progress: Arc<Timeline>, stream: u64) -> Arc<CompletionThread> {
        Arc::new(CompletionThread {
            shared,
            progress,
            stream,
            core: OnceLock::new(),
            in_flight: AtomicUsize::new(0),
            state: Mutex::default(),
            arrived: Condvar::new(),
        })
    }

    /// Sets the stream whose deferred flushes this thread runs.
    pub fn attach(&self, core: &Arc<Core>) {
        let _ = self.core.set(Arc::downgrade(core));
    }

    /// The number of batches in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }

    pub fn push(self: &Arc<CompletionThread>, batch: SubmittedBatch) {
        let mut state = self.state.lock();
        self.in_flight.fetch_add(1, Ordering::SeqCst);
        state.batches.push_back(batch);
        if state.is_running {
            self.arrived.notify_one();
            return;
        }
        // If the system refuses a thread for longer than this, the next batch tries again.
        for _ in 0..SPAWN_ATTEMPTS {
            let completion_thread = self.clone();
            let builder = std::thread::Builder::new().name("inflight-cuda".to_owned());
            state.is_running = builder.spawn(move || completion_thread.run()).is_ok();
            if state.is_running {
                return;
            }
            std::thread::sleep(SPAWN_RETRY_DELAY);
        }
    }

    /// Lets the thread exit once all batches have completed.
    pub fn shut_down(&self) {
        self.state.lock().is_closed = true;
        self.arrived.notify_one();
    }

    fn run(&self) {
        let _entered = enter().map(|_inside| self.shared.context.enter());
        lower_timer_slack();
        loop {
            // Poll before sleeping: waking this thread costs the submitting thread more than the batch itself.
            let idle = Instant::now();
            while self.in_flight() == 0 && idle.elapsed() < IDLE_POLLING {
                std::thread::yield_now();
            }
            let batch = {
                let mut state = self.state.lock();
                loop {
                    if let Some(batch) = state.batches.pop_front() {
                        break batch;
                    }
                    if state.is_closed {
                        state.is_running = false;
                        return;
                    }
                    self.arrived.wait(&mut state);
                }
            };
            self.finish(batch);
        }
    }

    fn finish(&self, batch: SubmittedBatch) {
        let outcome = match batch.point {
            Ok(point) => {
                // The host is waiting for reads; the rest is device-internal.
                let is_read = batch
                    .work
                    .iter()
                    .any(|completion| matches!(completion, Completion::Read { .. }));
                wait_for(&point, if is_read { PollInterval::Fine } else { PollInterval::Coarse })
            }
            Err(fault) if fault.is_lost() => Err(fault),
            // There is no point to wait for, but there may be work.
            Err(_) => self.shared.context.synchronize(),
        };
        // While this is held, shutdown waits until every observer has been notified.
        let alive = enter();
        let fault = outcome.err().or_else(|| alive.is_none().then(shutdown_fault));
        if let Some(fault) = &fault {
            if fault.is_lost() {
                let _ = self.shared.lost.set(fault.clone());
            }
            for completion in &batch.work {
                match completion {
                    Completion::Output(buffer) => {
                        if let Some(buffer) = buffer.upgrade() {
                            buffer.fail(fault.clone());
                        }
                    }
                    Completion::Launches(launches) => launches.fail(fault),
                    _ => {}
                }
            }
        }
        let times = batch.times.filter(|_| alive.is_some());
        let took = times.and_then(|[began, shutdown_fault]| began.elapsed_until(&shutdown_fault));
        let began = took.and_then(|took| Instant::now().checked_sub(took));
        // Release memory before any observer learns that it may continue.
        let _ = catch_unwind(AssertUnwindSafe(|| self.progress.signal(batch.number)));
        // An idle device gets its next work before the callbacks run.
        let has_more = self.in_flight.fetch_sub(1, Ordering::SeqCst) > 1;
        if !has_more {
            self.flush_deferred();
        }
        for completion in batch.work {
            // A panicking callback must not keep the others from running.
            let _ =
                catch_unwind(AssertUnwindSafe(|| self.complete(completion, fault.as_ref(), began)));
        }
        if has_more {
            self.flush_deferred();
        }
    }

    /// Flushes the stream if a flush was deferred until a batch completes.
    fn flush_deferred(&self) {
        if let Some(core) = self.core.get().and_then(Weak::upgrade) {
            let _ = catch_unwind(AssertUnwindSafe(|| core.flush_deferred()));
        }
    }

    /// Runs one completion. `began` is when the device began the batch, if known.
    fn complete(&self, completion: Completion, fault: Option<&Fault>, began: Option<Instant>) {
        match completion {
            Completion::Signal(event) => {
                self.shared.forget_signal(&event);
                event.signal();
            }
            Completion::Read { staged, bytes, callback } => match (fault, staged) {
                (Some(fault), _) => callback(Err(fault.clone())),
                (None, None) => callback(Ok(&[])),
                (None, Some(staged)) => {
                    // SAFETY: the copy wrote this many bytes, and it has completed.
                    callback(Ok(unsafe { std::slice::from_raw_parts(staged.ptr(), bytes) }));
                }
            },
            Completion::Callback(callback) => {
                callback(fault.map_or(Ok(()), |fault| Err(fault.clone())))
            }
            Completion::ReadFault { fault, callback } => callback(Err(fault)),
            Completion::CommandTimer(timer) => match began {
                Some(began) => timer.end_since(self.stream, "cuda", began),
                None => timer.end(self.stream, "cuda"),
            },
            Completion::Output(_) | Completion::Launches(_) | Completion::Release(_) => {}
        }
    }
}

/// Lowers this thread's timer slack. By default, the kernel may make a nap more than twice as long.
fn lower_timer_slack() {
    #[cfg(target_os = "linux")]
    // SAFETY: sets the timer slack of this thread, in nanoseconds.
    unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1000 as libc::c_ulong);
    }
}

/// Waits until the device has reached a point.
fn wait_for(point: &RecordedEvent, watch: PollInterval) -> Result<(), Fault> {
    for _ in 0..SPIN_POLLS {
        if point.is_reached()? {
            return Ok(());
        }
        // Back off between polls: other threads call the driver as well.
        (0..SPIN_HINTS).for_each(|_| std::hint::spin_loop());
    }
    point.wait(watch)
}
