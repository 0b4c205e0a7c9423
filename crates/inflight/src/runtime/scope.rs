//! Recording scope of a [`DeviceOp`](crate::DeviceOp).
//!
//! While a thread polls an op, recorded tensors go to the op's scope instead of the thread's recorder. So awaiting
//! an op submits exactly what that op recorded, on the op's stream, and successive polls may run on different
//! threads.

use super::Device;
use super::device::DeviceStream;
use super::recorder::{self, Recorder};
use super::segment::Materialize;
use super::value::Value;
use crate::Result;
use crate::tensor::Node;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// Recording state of one op.
#[derive(Default)]
pub(crate) struct Scope {
    /// One recorder per entry of `devices`.
    recorders: Vec<Recorder>,
    devices: Vec<Device>,
    /// Values submitted so far, and values that the op included.
    submitted: Vec<Weak<Node>>,
    /// Nodes of recording errors, in order.
    failed: Vec<Weak<Node>>,
}

/// A device and a value on it.
pub(crate) type DeviceValue = (Device, Arc<Value>);

thread_local! {
    /// Stack of the scopes that this thread is executing, innermost last.
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
}

impl Scope {
    /// An empty scope. Ops on `device` go to `stream`; ops on other devices go to the polling thread's default
    /// stream there.
    pub fn new(device: &Device, stream: &Arc<DeviceStream>) -> Scope {
        let recorders = vec![Recorder::on_stream(device, stream.clone())];
        Scope { recorders, devices: vec![device.clone()], ..Scope::default() }
    }

    /// Runs `f` with this thread recording into the scope.
    pub fn enter<R>(&mut self, f: impl FnOnce() -> R) -> R {
        /// Pops the scope off the thread's stack, also if `f` panics.
        struct Entered<'a>(&'a mut Scope);
        impl Drop for Entered<'_> {
            fn drop(&mut self) {
                let scope = SCOPES.try_with(|scopes| scopes.borrow_mut().pop());
                *self.0 = scope.ok().flatten().unwrap_or_default();
            }
        }
        let mut scope = Some(std::mem::take(self));
        // Thread-local storage is gone while a thread shuts down; the scope then stays empty.
        let _ = SCOPES.try_with(|scopes| scopes.borrow_mut().extend(scope.take()));
        let _entered = Entered(self);
        f()
    }

    /// The scope's recorder for a device.
    fn recorder(&mut self, device: &Device) -> &mut Recorder {
        let existing = self.devices.iter().position(|known| known == device);
        let position = existing.unwrap_or_else(|| {
            let stream = device.thread_stream(std::thread::current().id());
            self.recorders.push(Recorder::on_stream(device, stream));
            self.devices.push(device.clone());
            self.devices.len() - 1
        });
        &mut self.recorders[position]
    }
}

/// Runs `f` on this thread's innermost scope, if any.
fn current<R>(f: impl FnOnce(&mut Scope) -> R) -> Option<R> {
    SCOPES.try_with(|scopes| scopes.borrow_mut().last_mut().map(f)).ok().flatten()
}

/// Whether this thread is executing an op.
pub(super) fn is_entered() -> bool {
    current(|_| ()).is_some()
}

/// Runs `f` on the innermost scope's recorder for a device, if any.
pub(super) fn with_recorder<R>(device: &Device, f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    current(|scope| f(scope.recorder(device)))
}

/// Tracks the values of a submission in the current scope.
pub(super) fn track_submitted(nodes: &[Arc<Node>]) {
    current(|scope| {
        scope.submitted.retain(|node| node.upgrade().is_some_and(|node| node.is_live()));
        let scheduled = nodes.iter().filter(|node| node.value().is_some());
        scope.submitted.extend(scheduled.map(Arc::downgrade));
    });
}

/// Tracks a recording error in the current scope.
pub(crate) fn track_failed(node: &Arc<Node>) {
    current(|scope| scope.failed.push(Arc::downgrade(node)));
}

/// Makes a value that was recorded elsewhere part of the current op's results.
pub(crate) fn include(node: &Arc<Node>) {
    if node.error().is_some() {
        track_failed(node);
    } else if node.value().is_some() {
        current(|scope| scope.submitted.push(Arc::downgrade(node)));
    } else if !node.is_constant() {
        with_recorder(node.device(), |recorder| recorder.push(node));
    }
}

/// Submits all live values recorded in the current scope. Returns every live value of the scope, or its first
/// recording error. `assisted` means that the caller is about to wait, so it dispatches the segments itself.
pub(crate) fn flush(assisted: bool) -> Result<Vec<DeviceValue>> {
    for device in current(|scope| scope.devices.clone()).unwrap_or_default() {
        recorder::submit_recorded(&device, &[], Materialize::AllLive, assisted);
    }
    let (failed, submitted) =
        current(|scope| (std::mem::take(&mut scope.failed), std::mem::take(&mut scope.submitted)))
            .unwrap_or_default();
    let live = |node: Weak<Node>| node.upgrade().filter(|node| node.is_live());
    match failed.into_iter().find_map(live) {
        Some(node) => Err(node.error().expect("a failed node has its error").clone()),
        None => {
            let submitted = submitted.into_iter().filter_map(live);
            let value = |node: Arc<Node>| Some((node.device().clone(), node.value()?.clone()));
            Ok(submitted.filter_map(value).collect())
        }
    }
}
