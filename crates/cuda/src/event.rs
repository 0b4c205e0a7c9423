//! The driver's events, reused.

use crate::driver::{Context, check, ended, enter};
use cudarc::driver::sys::{self, CUevent_flags, CUresult};
use inflight_backend::Fault;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a nap is, at least and at most.
const NAP: Duration = Duration::from_micros(20);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// How closely somebody watches for a point: a nap is this part of the time that was waited so far.
#[derive(Clone, Copy)]
pub enum Watch {
    Closely = 512,
    Loosely = 128,
}

/// Events that nobody uses.
pub struct Events {
    context: Arc<Context>,
    free: Mutex<Vec<Raw>>,
}

struct Raw(sys::CUevent);

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for Raw {}

/// A point of a stream, as the driver knows it.
pub struct Point {
    events: Arc<Events>,
    raw: sys::CUevent,
}

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for Point {}
// SAFETY: as above.
unsafe impl Sync for Point {}

impl Events {
    pub fn new(context: &Arc<Context>) -> Arc<Events> {
        Arc::new(Events { context: context.clone(), free: Default::default() })
    }

    /// The point that a stream has come to when all that was put on it so far is done. It wakes nobody: that
    /// costs the device some microseconds each time, and whoever is woken is a tenth of a millisecond late.
    pub fn record(self: &Arc<Events>, stream: sys::CUstream) -> Result<Point, Fault> {
        let known = self.free.lock().pop();
        let point = match known {
            Some(Raw(raw)) => Point { events: self.clone(), raw },
            None => {
                let mut raw = std::ptr::null_mut();
                let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
                // SAFETY: the place is there to be written.
                check(unsafe { sys::cuEventCreate(&mut raw, flags) }, "making an event")?;
                Point { events: self.clone(), raw }
            }
        };
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuEventRecord(point.raw, stream) }, "recording an event")?;
        Ok(point)
    }

    /// A point that knows when it was reached. For traces: such a one is made each time.
    pub fn timed(self: &Arc<Events>, stream: sys::CUstream) -> Option<Timed> {
        let mut raw = std::ptr::null_mut();
        // SAFETY: the place is there to be written, and the stream is valid.
        unsafe {
            check(sys::cuEventCreate(&mut raw, 0), "making an event").ok()?;
            let timed = Timed { events: self.clone(), raw };
            check(sys::cuEventRecord(raw, stream), "recording an event").ok()?;
            Some(timed)
        }
    }
}

/// A point of a stream that knows when it was reached.
pub struct Timed {
    events: Arc<Events>,
    raw: sys::CUevent,
}

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for Timed {}

impl Timed {
    /// The time from this point to one that comes after it, if both are reached.
    pub fn until(&self, later: &Timed) -> Option<Duration> {
        let mut milliseconds = 0f32;
        // SAFETY: the handles are valid; the place is there to be written.
        let timed = unsafe { sys::cuEventElapsedTime_v2(&mut milliseconds, self.raw, later.raw) };
        check(timed, "timing").ok()?;
        Duration::try_from_secs_f64(f64::from(milliseconds) / 1e3).ok()
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        let _entered = self.events.context.enter();
        // SAFETY: made by `timed`, once.
        unsafe { sys::cuEventDestroy_v2(self.raw) };
    }
}

impl Point {
    /// Whether it is reached, or why that will not be.
    pub fn is_reached(&self) -> Result<bool, Fault> {
        let Some(_inside) = enter() else { return Err(ended()) };
        // SAFETY: the handle is valid.
        match unsafe { sys::cuEventQuery(self.raw) } {
            CUresult::CUDA_ERROR_NOT_READY => Ok(false),
            result => check(result, "running").map(|()| true),
        }
    }

    /// Sleeps until it is reached, in naps that are short beside the time that it takes.
    pub fn wait(&self, watch: Watch) -> Result<(), Fault> {
        let begun = Instant::now();
        while !self.is_reached()? {
            std::thread::sleep((begun.elapsed() / watch as u32).clamp(NAP, LONGEST_NAP));
        }
        Ok(())
    }

    /// Makes a stream wait for it.
    pub fn hold(&self, stream: sys::CUstream) -> Result<(), Fault> {
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuStreamWaitEvent(stream, self.raw, 0) }, "waiting for an event")
    }
}

impl Drop for Point {
    fn drop(&mut self) {
        // Recording it again starts it anew: those who wait for it by now have been told.
        self.events.free.lock().push(Raw(self.raw));
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        let Some(_inside) = enter() else { return };
        let _entered = self.context.enter();
        for Raw(raw) in self.free.get_mut().drain(..) {
            // SAFETY: made by `record`, used by nobody.
            unsafe { sys::cuEventDestroy_v2(raw) };
        }
    }
}
