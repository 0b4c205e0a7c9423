//! All blocking waits of the host: permission (`SyncGuard`), counting, tracing, and assisting with the awaited
//! work.

use super::Device;
use super::dispatcher::{Submission, UnflushedStream};
use super::pending::queue;
use super::stats::Counters;
use super::trace::{self, Span};
use super::value::{CompletionPoint, Value};
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

/// Reason for a host wait. Counted per reason in [`Stats::waits`](crate::Stats::waits).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum WaitReason {
    /// A read of values: `to_vec`, `item`, `to_bytes`, `to_ndarray`, `Transaction::execute`, printing, saving.
    Read,
    /// An explicit wait for work: `wait`, `sync`, `sync_on`, `execute_and_wait`, `trim` on a GPU.
    Sync,
    /// A wait for a promise: `get`, `get_timeout`.
    Get,
    /// Back-pressure: too much work is in flight, so the submitting thread waits.
    Backpressure,
}

impl WaitReason {
    /// Number of reasons.
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

/// Guard that sets whether this thread may block to wait for a device: allow, warn, or deny with an error.
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
/// The guard holds for this thread until it is dropped. Guards nest. Back-pressure is never denied; under
/// [`deny`](SyncGuard::deny) it is counted and printed as a warning.
#[must_use = "the guard holds until it is dropped"]
pub struct SyncGuard {
    before: WaitPolicy,
    // Not `Send`: the drop restores the previous policy of the same thread.
    not_send: std::marker::PhantomData<*const ()>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WaitPolicy {
    Allow,
    Warn,
    Deny,
}

thread_local! {
    static WAIT_POLICY: Cell<WaitPolicy> = const { Cell::new(WaitPolicy::Allow) };
}

impl SyncGuard {
    /// Permits waits, the default.
    pub fn allow() -> SyncGuard {
        SyncGuard::set(WaitPolicy::Allow)
    }

    /// Permits waits, and prints the reason and source location of each to standard error.
    pub fn warn() -> SyncGuard {
        SyncGuard::set(WaitPolicy::Warn)
    }

    /// Denies waits: a call that would have to wait returns [`Error::WaitDenied`].
    pub fn deny() -> SyncGuard {
        SyncGuard::set(WaitPolicy::Deny)
    }

    fn set(policy: WaitPolicy) -> SyncGuard {
        let before = WAIT_POLICY.with(|current| current.replace(policy));
        SyncGuard { before, not_send: std::marker::PhantomData }
    }
}

impl Drop for SyncGuard {
    fn drop(&mut self) {
        WAIT_POLICY.with(|current| current.set(self.before));
    }
}

/// Asks the guard whether this thread may wait, and counts the wait.
pub(crate) fn permit_wait(
    device: &Device,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    match WAIT_POLICY.with(Cell::get) {
        WaitPolicy::Allow => {}
        WaitPolicy::Deny if reason != WaitReason::Backpressure => {
            return Err(Error::WaitDenied { reason, location });
        }
        WaitPolicy::Warn | WaitPolicy::Deny => {
            eprintln!("inflight: waiting ({reason}) at {location}")
        }
    }
    Counters::add(&device.counters().waits[reason as usize], 1);
    spawner::enter_blocking();
    Ok(())
}

/// One host wait for any number of events. Permitted, counted and traced once, when the first event is not reached
/// yet.
pub(crate) struct HostWait<'a> {
    device: &'a Device,
    reason: WaitReason,
    location: &'static Location<'static>,
    begun: bool,
    /// This thread's stream, which it runs itself if that is the awaited stream.
    unflushed: Option<UnflushedStream>,
    span: Option<trace::SpanGuard>,
}

impl<'a> HostWait<'a> {
    pub fn new(
        device: &'a Device,
        reason: WaitReason,
        location: &'static Location<'static>,
    ) -> HostWait<'a> {
        HostWait { device, reason, location, begun: false, unflushed: None, span: None }
    }

    /// Begins the wait: asks for permission on the first call. Called before submitting the awaited work, so that
    /// permission does not depend on how fast the work runs.
    pub fn begin(&mut self) -> Result<()> {
        if !self.begun {
            permit_wait(self.device, self.reason, self.location)?;
            self.begun = true;
            self.span = trace::begin(|| Span::wait(self.device, self.reason, self.location));
        }
        Ok(())
    }

    /// Takes a stream whose worker was not notified.
    pub fn set_unflushed(&mut self, unflushed: Option<UnflushedStream>) {
        self.unflushed = unflushed;
    }

    /// Blocks until an event is reached, as a helping waiter: this thread runs the stream's work meanwhile.
    pub fn on(&mut self, event: &Event, stream: Option<&Arc<dyn Stream>>) -> Result<()> {
        if !event.is_reached() {
            self.begin()?;
            let is_assisted = |unflushed: &UnflushedStream| {
                stream.is_some_and(|stream| Arc::ptr_eq(stream, &unflushed.stream.stream))
            };
            // Flush a stream that this thread does not run itself.
            self.unflushed.take_if(|unflushed| !is_assisted(unflushed));
            if let Some(stream) = stream {
                stream.assist(event);
            }
            self.unflushed = None;
            event.wait();
        }
        Ok(())
    }

    /// Blocks until a future is ready. `assist` is called before each sleep to run some of the awaited work.
    pub fn on_future<F: Future>(&mut self, future: F, assist: impl Fn()) -> Result<F::Output> {
        let thread_waker =
            Arc::new(ThreadWaker { thread: thread::current(), woken: AtomicBool::new(false) });
        let waker = Waker::from(thread_waker.clone());
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return Ok(output);
            }
            self.begin()?;
            self.device.dispatcher().assist();
            assist();
            while !thread_waker.woken.swap(false, Ordering::Acquire) {
                thread::park();
            }
        }
    }

    /// Blocks until a promise is completed, at most for `timeout`.
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

    /// Blocks until a promise is completed.
    pub fn on_completion<T>(&mut self, completion: &Completion<T>) -> Result<()> {
        if !completion.is_done() {
            self.begin()?;
            queue::wait(completion);
        }
        Ok(())
    }
}

/// Waker that unparks a thread.
struct ThreadWaker {
    thread: Thread,
    /// Set by `wake`, cleared when the thread polls again.
    woken: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<ThreadWaker>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Waits for values, as one host wait. Returns the first fault among them.
pub(crate) fn wait_for_values<'a>(
    values: impl Iterator<Item = (&'a Device, &'a Value)> + Clone,
    waiting: &mut HostWait,
) -> Result<()> {
    if values.clone().any(|(_, value)| !value.is_ready()) {
        waiting.begin()?;
        // Dispatch all values before waiting for any.
        for (device, value) in values.clone() {
            if !value.dispatched.is_reached() {
                device.dispatcher().assist();
            }
        }
        let mut points = SmallVec::<[&CompletionPoint; 8]>::new();
        for (_, value) in values.clone() {
            waiting.on(&value.dispatched, None)?;
            points.push(value.written.get().expect("a dispatched value has its completion point"));
        }
        // Latest event of each stream first: a helping waiter then runs the stream to that point without stopping
        // at earlier ones.
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

/// Waits for an event.
pub(crate) fn wait_for_event(
    device: &Device,
    event: &Event,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    HostWait::new(device, reason, location).on(event, None)
}

/// Back-pressure: waits for an earlier segment to finish. `location` is the op or submission that is held back.
pub(crate) fn wait_for_backpressure(
    device: &Device,
    oldest: &Submission,
    location: &'static Location<'static>,
) {
    let mut waiting = HostWait::new(device, WaitReason::Backpressure, location);
    // Dispatch this thread's own segments first: another thread may need them before the oldest is done.
    device.dispatcher().assist();
    let waited = waiting.on(&oldest.dispatched, None).and_then(|()| {
        let finished =
            oldest.finished.get().expect("a dispatched segment has its completion point");
        waiting.on(&finished.event, finished.stream.as_ref())
    });
    debug_assert!(waited.is_ok(), "back-pressure is never denied");
}
