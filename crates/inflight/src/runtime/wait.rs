//! The one place where the host waits.

use super::Device;
use super::stats::Counters;
use super::value::Value;
use crate::{Error, Result};
use inflight_backend::Event;
use std::cell::Cell;
use std::fmt;
use std::panic::Location;

/// Why the host waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(usize)]
pub enum WaitReason {
    /// A value was read: `to_vec`, `item`, printing, saving.
    Read,
    /// A value or a device was waited for: `wait`, `sync`.
    Sync,
    /// A promise was asked for its value: `get`.
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
    Ok(())
}

/// Waits until a value is in memory. A fault of the value is its error.
pub(crate) fn wait_for_value(
    device: &Device,
    value: &Value,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    wait_for_values(std::iter::once((device, value)), reason, location)
}

/// Waits until values are in memory: one wait, however many there are. The fault of the first that has one
/// is the error.
pub(crate) fn wait_for_values<'a>(
    values: impl Iterator<Item = (&'a Device, &'a Value)> + Clone,
    reason: WaitReason,
    location: &'static Location<'static>,
) -> Result<()> {
    if let Some((device, _)) = values.clone().find(|(_, value)| !value.is_ready()) {
        permit(device, reason, location)?;
        // All are set going before any is waited for.
        for (device, value) in values.clone() {
            if !value.dispatched.is_reached() {
                device.dispatcher().assist();
            }
        }
        for (_, value) in values.clone() {
            value.dispatched.wait();
            let written = value.written.get().expect("a dispatched value has its event");
            if !written.event.is_reached() {
                if let Some(stream) = &written.stream {
                    stream.assist(&written.event);
                }
                written.event.wait();
            }
        }
    }
    match values.into_iter().find_map(|(_, value)| value.buffer.fault()) {
        Some(fault) => Err(fault.clone().into()),
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
    if !event.is_reached() {
        permit(device, reason, location)?;
        event.wait();
    }
    Ok(())
}
