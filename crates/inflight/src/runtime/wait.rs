//! The one place where the host waits.

use super::Device;
use super::dispatcher::{Held, Submission};
use super::pending::queue;
use super::stats::Counters;
use super::trace::{self, Span};
use super::value::{Value, Written};
use crate::device_op::spawner;
use crate::{Error, Result};
use inflight_backend::{Completion, Event, Stream};
use smallvec::SmallVec;
use std::cell::Cell;
use std::cmp::Reverse;
use std::fmt;
use std::panic::Location;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Why the host waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum WaitReason {
    /// Values were read: `to_vec`, `item`, `to_bytes`, `to_ndarray`, `Transaction::execute`, printing, saving.
    Read,
    /// Work was waited for: `wait`, `sync`, `sync_on`, `execute_and_wait`, `trim` on a GPU.
    Sync,
    /// A promise was asked for its value: `get`, `get_timeout`.
    Get,
    /// Too much is in flight: recording was held back.
    Backpressure,
}

impl WaitReason {
    /// The number of reasons.
    pub const COUNT: usize = 4;
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WaitReason::Read => "read",
            WaitReason::Sync => "sync",
            WaitReason::Get => "get",
            WaitReason::Backpressure => "back-pressure",
        })
    }
}

/// What this thread may do where it would have to wait.
///
/// ```
/// use inflight::{Device, Error, SyncGuard, Tensor};
///
/// let x = Tensor::ones::<f32>([4], &Device::cpu());
/// let _guard = SyncGuard::deny();
/// let y = (&x + 1.0).exp(); // recording never waits
/// assert!(matches!(y.to_vec::<f32>(), Err(Error::WaitDenied { .. })));
/// ```
///
/// The guard holds for this thread until it is dropped; guards nest. Back-pressure is never denied: it
/// is counted, and warned of.
#[must_use = "the guard holds until it is dropped"]
pub struct SyncGuard {
    before: Policy,
    // Guards restore what was there before: they must not leave the thread.
    not_send: std::marker::PhantomData<*const ()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Allow,
    Warn,
    Deny,
}

thread_local! {
    static POLICY: Cell<Policy> = const { Cell::new(Policy::Allow) };
}

impl SyncGuard {
    /// Waits are as they always are.
    pub fn allow() -> SyncGuard {
        SyncGuard::set(Policy::Allow)
    }

    /// Each wait prints its reason and the caller's line to standard error.
    pub fn warn() -> SyncGuard {
        SyncGuard::set(Policy::Warn)
    }

    /// A call that would have to wait is an [`Error::WaitDenied`] instead.
    pub fn deny() -> SyncGuard {
        SyncGuard::set(Policy::Deny)
    }

    fn set(policy: Policy) -> SyncGuard {
        let before = POLICY.with(|current| current.replace(policy));
        SyncGuard { before, not_send: std::marker::PhantomData }
    }
}

impl Drop for SyncGuard {
    fn drop(&mut self) {
        POLICY.with(|current| current.set(self.before));
    }
}

/// Asks the guard whether this thread may wait, and counts the wait.
pub(crate) fn permit(
    device: &Device,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    match POLICY.with(Cell::get) {
        Policy::Allow => {}
        Policy::Deny if reason != WaitReason::Backpressure => {
            return Err(Error::WaitDenied { reason, location });
        }
        Policy::Warn | Policy::Deny => eprintln!("inflight: waiting ({reason}) at {location}"),
    }
    Counters::add(&device.counters().waits[reason as usize], 1);
    spawner::about_to_wait();
    Ok(())
}

/// One wait of the host, however many things it waits for: permitted, counted and traced when the first of
/// them is not there yet.
pub(crate) struct Waiting<'a> {
    device: &'a Device,
    reason: WaitReason,
    location: &'static Location<'static>,
    begun: bool,
    /// A stream that this thread runs itself, if it is the one that is waited for.
    held: Option<Held>,
    span: Option<trace::Running>,
}

impl<'a> Waiting<'a> {
    pub fn new(
        device: &'a Device,
        reason: WaitReason,
        location: &'static Location<'static>,
    ) -> Waiting<'a> {
        Waiting { device, reason, location, begun: false, held: None, span: None }
    }

    /// Asks for permission, the first time. A caller that is about to submit what it waits for begins before
    /// that, so that how fast it is computed changes nothing.
    pub fn begin(&mut self) -> Result<()> {
        if !self.begun {
            permit(self.device, self.reason, self.location)?;
            self.begun = true;
            self.span = trace::begin(|| Span::wait(self.device, self.reason, self.location));
        }
        Ok(())
    }

    /// Takes a stream over that others were not told of.
    pub fn hold(&mut self, held: Option<Held>) {
        self.held = held;
    }

    /// Blocks this thread until a point of a stream is reached, helping the stream along.
    pub fn on(&mut self, event: &Event, stream: Option<&Arc<dyn Stream>>) -> Result<()> {
        if !event.is_reached() {
            self.begin()?;
            let is_assisted =
                |held: &Held| stream.is_some_and(|stream| Arc::ptr_eq(stream, &held.stream.stream));
            // What this thread does not run itself must not wait for it.
            self.held.take_if(|held| !is_assisted(held));
            if let Some(stream) = stream {
                stream.assist(event);
            }
            self.held = None;
            event.wait();
        }
        Ok(())
    }

    /// Blocks this thread until a future is done. Before it goes to sleep, `assist` may do some of what the
    /// future waits for.
    pub fn on_future<F: Future>(&mut self, future: F, assist: impl Fn()) -> Result<F::Output> {
        let sleeper =
            Arc::new(Sleeper { thread: thread::current(), woken: AtomicBool::new(false) });
        let waker = Waker::from(sleeper.clone());
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(output);
            }
            self.begin()?;
            self.device.dispatcher().assist();
            assist();
            while !sleeper.woken.swap(false, Ordering::Acquire) {
                thread::park();
            }
        }
    }

    /// Blocks this thread until a promise has its value, but no longer than `timeout`.
    pub fn on_completion_within<T>(
        &mut self,
        completion: &Completion<T>,
        timeout: Duration,
    ) -> Result<()> {
        if !completion.is_done() && !timeout.is_zero() {
            self.begin()?;
            completion.wait_timeout(timeout);
        }
        Ok(())
    }

    /// Blocks this thread until a promise has its value.
    pub fn on_completion<T>(&mut self, completion: &Completion<T>) -> Result<()> {
        if !completion.is_done() {
            self.begin()?;
            queue::wait(completion);
        }
        Ok(())
    }
}

/// The waker of a thread that waits for a future.
struct Sleeper {
    thread: Thread,
    /// True iff it was woken since its last look.
    woken: AtomicBool,
}

impl Wake for Sleeper {
    fn wake(self: Arc<Sleeper>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Waits until values are in memory: one wait, however many there are. The fault of the first that has one
/// is the error.
pub(crate) fn wait_for_values<'a>(
    values: impl Iterator<Item = (&'a Device, &'a Value)> + Clone,
    waiting: &mut Waiting,
) -> Result<()> {
    if values.clone().any(|(_, value)| !value.is_ready()) {
        waiting.begin()?;
        // All are set going before any is waited for.
        for (device, value) in values.clone() {
            if !value.dispatched.is_reached() {
                device.dispatcher().assist();
            }
        }
        let mut points = SmallVec::<[&Written; 8]>::new();
        for (_, value) in values.clone() {
            waiting.on(&value.dispatched, None)?;
            points.push(value.written.get().expect("a dispatched value has its event"));
        }
        // The last point of a stream first: a thread that helps the stream along to there does not let go of it at
        // each point before.
        points.sort_by_key(|point| Reverse((point.event.timeline_id(), point.event.value())));
        for point in points {
            waiting.on(&point.event, point.stream.as_ref())?;
        }
    }
    match values.into_iter().find_map(|(_, value)| value.buffer().fault().cloned()) {
        Some(fault) => Err(fault.into()),
        None => Ok(()),
    }
}

/// Waits for a point in a stream that the dispatcher has reached or will reach.
pub(crate) fn wait_for_event(
    device: &Device,
    event: &Event,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    Waiting::new(device, reason, location).on(event, None)
}

/// Waits for an old segment: too much is in flight. `location` is what was being recorded or submitted.
pub(crate) fn hold_back(
    device: &Device,
    oldest: &Submission,
    location: &'static Location<'static>,
) {
    let mut waiting = Waiting::new(device, WaitReason::Backpressure, location);
    // Also what this thread submitted last: somebody may be waiting for it before the oldest is done.
    device.dispatcher().assist();
    let waited = waiting.on(&oldest.dispatched, None).and_then(|()| {
        let finished = oldest.finished.get().expect("a dispatched segment has its end");
        waiting.on(&finished.event, finished.stream.as_ref())
    });
    debug_assert!(waited.is_ok(), "back-pressure is never denied");
}
