//! Public stream handles, and tracking of the segments in flight on a stream, for back-pressure and load.

use super::Device;
use super::device::DeviceStream;
use super::dispatcher::Submission;
use super::wait::{HostWait, WaitReason};
use crate::Result;
use std::collections::VecDeque;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A handle of an ordered work queue on a device. Cheap to clone, usable from any thread.
///
/// Each thread has a default stream per device, used unless another is given. [`Device::stream`] creates more;
/// [`DeviceOp::sync_on`](crate::DeviceOp::sync_on) and [`Policy`](crate::Policy) take them. Work on different
/// streams may run concurrently. If one stream reads a value that another computes, the reading stream waits, not
/// the host.
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

    /// The stream's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits until all work submitted to the stream so far is done. A failed computation is not an error here; the
    /// failed values carry it.
    ///
    /// # Errors
    /// [`Error::WaitDenied`](crate::Error::WaitDenied) if a [`SyncGuard`](crate::SyncGuard) denies the wait.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        let Some(last) = self.inner.last_submission() else { return Ok(()) };
        let mut waiting = HostWait::new(&self.device, WaitReason::Sync, location);
        if !last.dispatched.is_reached() {
            self.device.dispatcher().assist();
        }
        waiting.on(&last.dispatched, None)?;
        let finished = last.finished.get().expect("a dispatched segment has its completion point");
        waiting.on(&finished.event, finished.stream.as_ref())
    }

    /// Whether all work submitted to the stream is done. Never waits.
    pub fn is_idle(&self) -> bool {
        self.in_flight() == 0
    }

    /// Number of submitted segments that are not done. Never waits.
    pub fn in_flight(&self) -> usize {
        self.inner.unfinished()
    }

    pub(crate) fn inner(&self) -> &Arc<DeviceStream> {
        &self.inner
    }
}

impl PartialEq for Stream {
    /// Whether both are handles of the same queue.
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
    /// Tracks a submitted segment and drops finished ones. Called in dispatch order.
    pub fn track(&self, submission: Arc<Submission>) {
        let mut in_flight = self.in_flight.lock();
        in_flight.weight += submission.weight;
        in_flight.submissions.push_back(submission);
        in_flight.drop_finished();
    }

    /// The segment to wait for so that at most `most` segments of default weight are in flight, or `None` if that
    /// holds already. Light segments wait in bulk, for half of the limit.
    pub fn backpressure_point(&self, most: usize) -> Option<Arc<Submission>> {
        let mut in_flight = self.in_flight.lock();
        in_flight.drop_finished();
        let allowed = most * Submission::DEFAULT_WEIGHT;
        if in_flight.weight <= allowed {
            return None;
        }
        let is_light = in_flight.submissions.back()?.weight == Submission::LIGHT_WEIGHT;
        let target = if is_light { allowed / 2 } else { allowed };
        let mut remaining = in_flight.weight;
        let mut before = in_flight.submissions.iter().skip_while(|submission| {
            remaining -= submission.weight;
            remaining > target
        });
        before.next().cloned()
    }

    /// Runs queued commands on this thread, as far as possible without waiting.
    pub fn assist(&self) {
        let last = self.last_submission();
        if let Some(finished) = last.as_ref().and_then(|last| last.finished.get()) {
            self.stream.assist(&finished.event);
        }
    }

    /// A device op starts on the stream.
    pub fn op_started(&self) {
        self.running_ops.fetch_add(1, Ordering::Relaxed);
    }

    /// A device op has remaining the stream.
    pub fn op_finished(&self) {
        self.running_ops.fetch_sub(1, Ordering::Relaxed);
    }

    /// Load, for scheduling policies: running ops plus unfinished segments.
    pub fn load(&self) -> usize {
        self.running_ops.load(Ordering::Relaxed) + self.unfinished()
    }

    /// The last submitted segment, unless it is known to be finished.
    fn last_submission(&self) -> Option<Arc<Submission>> {
        self.in_flight.lock().submissions.back().cloned()
    }

    /// Number of unfinished segments.
    fn unfinished(&self) -> usize {
        let in_flight = &self.in_flight.lock().submissions;
        // Segments finish in stream order.
        in_flight.len() - in_flight.partition_point(|submission| submission.is_finished())
    }
}

/// Submitted segments not known to be finished, in stream order.
#[derive(Default)]
pub(crate) struct InFlight {
    submissions: VecDeque<Arc<Submission>>,
    /// Sum of their weights.
    weight: usize,
}

impl InFlight {
    fn drop_finished(&mut self) {
        while let Some(oldest) = self.submissions.pop_front_if(|oldest| oldest.is_finished()) {
            self.weight -= oldest.weight;
        }
    }
}
