//! What the execution of one op records.
//!
//! While a thread runs a step of a [`DeviceOp`](crate::DeviceOp), it records into that op's scope and not
//! into its own recorder. So an op that is awaited submits what it made, on the stream it was given, and
//! nothing else; and its steps may run on different threads.

use super::Device;
use super::device::DeviceStream;
use super::recorder::{self, Recorder};
use super::segment::Choice;
use super::value::Value;
use crate::Result;
use crate::tensor::Node;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

/// What one op recorded.
#[derive(Default)]
pub(crate) struct Scope {
    /// One for each of `devices`.
    recorders: Vec<Recorder>,
    devices: Vec<Device>,
    /// What was submitted on the way and was alive then, and values that the op was given.
    submitted: Vec<Weak<Node>>,
    /// Recorded mistakes, the first one first.
    failed: Vec<Weak<Node>>,
}

/// A value that an op made, and its device.
pub(crate) type DeviceValue = (Device, Arc<Value>);

thread_local! {
    /// Those of the ops that this thread is executing, the innermost last.
    static SCOPES: RefCell<Vec<Scope>> = const { RefCell::new(Vec::new()) };
}

impl Scope {
    /// Nothing recorded yet. What is recorded on the device goes to the stream; what is recorded on others,
    /// to the default stream of whichever thread does.
    pub fn new(device: &Device, stream: &Arc<DeviceStream>) -> Scope {
        let recorders = vec![Recorder::on_stream(device, stream.clone())];
        Scope { recorders, devices: vec![device.clone()], ..Scope::default() }
    }

    /// Runs `f` with this thread recording into the scope.
    pub fn enter<R>(&mut self, f: impl FnOnce() -> R) -> R {
        /// Takes the scope back from the thread, also when `f` panics.
        struct Entered<'a>(&'a mut Scope);
        impl Drop for Entered<'_> {
            fn drop(&mut self) {
                let scope = SCOPES.try_with(|scopes| scopes.borrow_mut().pop());
                *self.0 = scope.ok().flatten().unwrap_or_default();
            }
        }
        let mut scope = Some(std::mem::take(self));
        // A thread that is ending cannot record: then the scope stays empty.
        let _ = SCOPES.try_with(|scopes| scopes.borrow_mut().extend(scope.take()));
        let _entered = Entered(self);
        f()
    }

    /// The scope's recorder for a device.
    fn recorder(&mut self, device: &Device) -> &mut Recorder {
        let known = self.devices.iter().position(|known| known == device);
        let position = known.unwrap_or_else(|| {
            let stream = device.thread_stream(std::thread::current().id());
            self.recorders.push(Recorder::on_stream(device, stream));
            self.devices.push(device.clone());
            self.devices.len() - 1
        });
        &mut self.recorders[position]
    }
}

/// Runs `f` on the scope that this thread records into, if there is one.
fn current<R>(f: impl FnOnce(&mut Scope) -> R) -> Option<R> {
    SCOPES.try_with(|scopes| scopes.borrow_mut().last_mut().map(f)).ok().flatten()
}

/// Whether this thread executes an op.
pub(super) fn is_entered() -> bool {
    current(|_| ()).is_some()
}

/// Runs `f` on the recorder for a device of the scope that this thread records into, if there is one.
pub(super) fn with_recorder<R>(device: &Device, f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    current(|scope| f(scope.recorder(device)))
}

/// Notes what a submission has scheduled, for the op that this thread executes.
pub(super) fn note_submitted(nodes: &[Arc<Node>]) {
    current(|scope| {
        scope.submitted.retain(|node| node.upgrade().is_some_and(|node| node.is_live()));
        let scheduled = nodes.iter().filter(|node| node.value().is_some());
        scope.submitted.extend(scheduled.map(Arc::downgrade));
    });
}

/// Notes a mistake, for the op that this thread executes.
pub(crate) fn note_failed(node: &Arc<Node>) {
    current(|scope| scope.failed.push(Arc::downgrade(node)));
}

/// Makes a value that was recorded elsewhere part of what the op on this thread is to bring about.
pub(crate) fn include(node: &Arc<Node>) {
    if node.error().is_some() {
        note_failed(node);
    } else if node.value().is_some() {
        current(|scope| scope.submitted.push(Arc::downgrade(node)));
    } else if !node.is_constant() {
        with_recorder(node.device(), |recorder| recorder.push(node));
    }
}

/// Submits what is recorded in the scope of this thread and alive, all of it. Returns every value of the
/// scope that somebody can still ask for, or the first mistake among them. With `assisted`, the caller is
/// about to wait, and dispatches what it submits.
pub(crate) fn settle(assisted: bool) -> Result<Vec<DeviceValue>> {
    for device in current(|scope| scope.devices.clone()).unwrap_or_default() {
        recorder::submit_recorded(&device, &[], Choice::EveryLive, assisted);
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
