//! CUDA events: a pool that reuses them, and host waits that poll with an adaptive interval.

use crate::driver::{Context, check, enter, shutdown_fault};
use cudarc::driver::sys::{self, CUevent_flags, CUresult};
use inflight_backend::Fault;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The shortest and the longest sleep between two polls.
const MIN_SLEEP: Duration = Duration::from_micros(20);
const MAX_SLEEP: Duration = Duration::from_millis(1);

/// How often a host wait polls: the divisor of the time waited so far that gives the next sleep.
#[derive(Clone, Copy)]
pub enum PollInterval {
    Fine = 512,
    Coarse = 128,
}

/// A pool of CUDA events.
pub struct EventPool {
    context: Arc<Context>,
    free: Mutex<Vec<RawEvent>>,
}

struct RawEvent(sys::CUevent);

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for RawEvent {}

/// An event recorded on a stream. Dropping it returns it to the pool.
pub struct RecordedEvent {
    pool: Arc<EventPool>,
    raw: sys::CUevent,
}

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for RecordedEvent {}
// SAFETY: as above.
unsafe impl Sync for RecordedEvent {}

impl EventPool {
    pub fn new(context: &Arc<Context>) -> Arc<EventPool> {
        Arc::new(EventPool { context: context.clone(), free: Default::default() })
    }

    /// Records an event on a stream, which is reached when all work enqueued so far is done. The event does not
    /// interrupt the host: blocking synchronization costs the device some microseconds each time and wakes the host 0.1
    /// ms late, so that host waits poll.
    pub fn record(self: &Arc<EventPool>, stream: sys::CUstream) -> Result<RecordedEvent, Fault> {
        let free = self.free.lock().pop();
        let event = match free {
            Some(RawEvent(raw)) => RecordedEvent { pool: self.clone(), raw },
            None => {
                let mut raw = std::ptr::null_mut();
                let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
                // SAFETY: the pointer is valid for a write.
                check(unsafe { sys::cuEventCreate(&mut raw, flags) }, "creating an event")?;
                RecordedEvent { pool: self.clone(), raw }
            }
        };
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuEventRecord(event.raw, stream) }, "recording an event")?;
        Ok(event)
    }

    /// Records an event with a timestamp, for traces. It is not pooled.
    pub fn record_timed(self: &Arc<EventPool>, stream: sys::CUstream) -> Option<TimedEvent> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write, and the stream is valid.
        unsafe {
            check(sys::cuEventCreate(&mut raw, 0), "creating an event").ok()?;
            let timed = TimedEvent { pool: self.clone(), raw };
            check(sys::cuEventRecord(raw, stream), "recording an event").ok()?;
            Some(timed)
        }
    }
}

/// A recorded event with a timestamp.
pub struct TimedEvent {
    pool: Arc<EventPool>,
    raw: sys::CUevent,
}

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for TimedEvent {}

impl TimedEvent {
    /// The time from this event to a later one, if both are reached.
    pub fn elapsed_until(&self, later: &TimedEvent) -> Option<Duration> {
        let mut milliseconds = 0f32;
        // SAFETY: the handles are valid, and the pointer is valid for a write.
        let timed = unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, self.raw, later.raw) };
        check(timed, "timing events").ok()?;
        Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).ok()
    }
}

impl Drop for TimedEvent {
    fn drop(&mut self) {
        let Some(_guard) = enter() else { return };
        let _entered = self.pool.context.enter();
        // SAFETY: created by `record_timed`, destroyed once.
        unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

impl RecordedEvent {
    /// Whether the event is reached, or the fault of work before it.
    pub fn is_reached(&self) -> Result<bool, Fault> {
        let Some(_guard) = enter() else { return Err(shutdown_fault()) };
        // SAFETY: the handle is valid.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "running a stream").map(|()| true),
        }
    }

    /// Sleeps until the event is reached. The sleeps between polls grow with the time waited, so that the delay stays a
    /// small fraction of the wait.
    pub fn wait(&self, interval: PollInterval) -> Result<(), Fault> {
        let started = Instant::now();
        while !self.is_reached()? {
            std::thread::sleep((started.elapsed() / interval as u32).clamp(MIN_SLEEP, MAX_SLEEP));
        }
        Ok(())
    }

    /// Makes a stream wait for the event.
    pub fn stream_wait(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuStreamWaitEvent(stream, self.raw, 0) }, "waiting for an event")
    }
}

impl Drop for RecordedEvent {
    fn drop(&mut self) {
        // Reuse is safe: recording it again does not affect streams that were already told to wait for it.
        self.pool.free.lock().push(RawEvent(self.raw));
    }
}

impl Drop for EventPool {
    fn drop(&mut self) {
        let Some(_guard) = enter() else { return };
        let _entered = self.context.enter();
        for RawEvent(raw) in self.free.get_mut().drain(..) {
            // SAFETY: created by `record`; free events have no other owner.
            unsafe { sys::cuEventDestroy_v2(raw) };
        }
    }
}
