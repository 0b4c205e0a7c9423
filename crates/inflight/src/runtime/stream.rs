//! Streams as users see them.

use super::Device;
use super::device::DeviceStream;
use super::dispatcher::Submission;
use super::wait::{WaitReason, Waiting};
use crate::Result;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An ordered queue of work on a device: a cheap handle, usable from any thread.
///
/// Every thread has a stream of its own, which is used unless another is named.
/// [`Device::stream`] makes more; [`DeviceOp::sync_on`](crate::DeviceOp::sync_on) and
/// [`Policy`](crate::Policy) use them. Work on different streams may run at the same time. A value that one
/// stream computes and another reads is waited for by that stream, not by the host.
///
/// ```
/// use inflight::{Device, DeviceOp, api};
///
/// # fn main() -> inflight::Result<()> {
/// let stream = Device::cpu().stream();
/// let ones: Vec<f32> = api::ones::<f32>([2, 2]).to_host_vec().sync_on(&stream)?;
/// assert_eq!(ones, [1.0; 4]);
/// assert!(stream.is_idle());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    inner: Arc<DeviceStream>,
}

impl Stream {
    pub(crate) fn new(device: Device, inner: Arc<DeviceStream>) -> Stream {
        Stream { device, inner }
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until everything submitted to the stream so far is done. A failure is not an error here: it
    /// is the error of the values that could not be computed.
    ///
    /// # Errors
    /// If a [`SyncGuard`](crate::SyncGuard) forbids to wait.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        let Some(last) = self.inner.last_submission() else { return Ok(()) };
        let mut waiting = Waiting::new(&self.device, WaitReason::Sync, location);
        if !last.dispatched.is_reached() {
            self.device.dispatcher().assist();
        }
        waiting.on(&last.dispatched, None)?;
        let finished = last.finished.get().expect("a dispatched segment has its end");
        waiting.on(&finished.event, finished.stream.as_ref())
    }

    /// Whether everything submitted to the stream is done. Never waits.
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// How many submitted pieces of work are not done. Never waits.
    pub fn in_flight(&self) -> usize {
        self.inner.unfinished()
    }

    pub(crate) fn inner(&self) -> &Arc<DeviceStream> {
        &self.inner
    }
}

impl PartialEq for Stream {
    /// Whether both are handles of one queue.
    fn eq(&self, other: &Stream) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Stream {}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({:?}, {} in flight)", self.device, self.in_flight())
    }
}

impl DeviceStream {
    /// Notes a segment submitted to the stream, and forgets those that are done. Called in the order in
    /// which they are dispatched.
    pub fn note(&self, submission: Arc<Submission>) {
        let mut in_flight = self.in_flight.lock();
        in_flight.weight += submission.weight;
        in_flight.submissions.push_back(submission);
        in_flight.forget_finished();
    }

    /// The segment that must be done before no more than `most` are in flight, if there are more. Of light ones
    /// there may be more, and then many are waited for at once.
    pub fn excess(&self, most: usize) -> Option<Arc<Submission>> {
        let mut in_flight = self.in_flight.lock();
        in_flight.forget_finished();
        let allowed = most * Submission::WEIGHT;
        if in_flight.weight <= allowed {
            return None;
        }
        let is_light = in_flight.submissions.back()?.weight == Submission::LIGHT;
        let wanted = if is_light { allowed / 2 } else { allowed };
        let mut left = in_flight.weight;
        let mut before = in_flight.submissions.iter().skip_while(|submission| {
            left -= submission.weight;
            left > wanted
        });
        before.next().cloned()
    }

    /// Runs what is queued on this thread, as far as that is possible without waiting.
    pub fn assist(&self) {
        let last = self.last_submission();
        if let Some(finished) = last.as_ref().and_then(|last| last.finished.get()) {
            self.stream.assist(&finished.event);
        }
    }

    /// Notes an op that runs on the stream.
    pub fn open(&self) {
        self.open.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that an op does not run on the stream any more.
    pub fn close(&self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    /// How much the stream has to do: ops that run on it, and segments that are not done.
    pub fn load(&self) -> usize {
        self.open.load(Ordering::Relaxed) + self.unfinished()
    }

    /// The last segment submitted to the stream, unless it is known to be done.
    fn last_submission(&self) -> Option<Arc<Submission>> {
        self.in_flight.lock().submissions.back().cloned()
    }

    /// How many segments are not done.
    fn unfinished(&self) -> usize {
        let in_flight = &self.in_flight.lock().submissions;
        // In the stream's order: those that are done come first.
        in_flight.len() - in_flight.partition_point(|submission| submission.is_finished())
    }
}

/// Segments of a stream that are not known to be done, in its order.
#[derive(Default)]
pub(crate) struct InFlight {
    submissions: VecDeque<Arc<Submission>>,
    /// What they weigh.
    weight: usize,
}

impl InFlight {
    fn forget_finished(&mut self) {
        while let Some(oldest) = self.submissions.pop_front_if(|oldest| oldest.is_finished()) {
            self.weight -= oldest.weight;
        }
    }
}
