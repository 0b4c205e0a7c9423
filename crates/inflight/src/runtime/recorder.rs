//! What each thread has recorded and not submitted.
//!
//! A thread has a stream of its own on each device, so one thread's wait does not stall another's work.

use super::Device;
use super::device::DeviceStream;
use super::dispatcher::Submission;
use super::segment::{self, Choice};
use super::stats::Counters;
use super::wait::{self, WaitReason};
use crate::tensor::Node;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// After this many recorded ops, or so many bytes of their results, what is recorded is submitted, and
/// every live value is written: nothing grows in a loop that never reads.
const MOST_OPS: usize = 512;
const MOST_BYTES: usize = 1 << 30;

/// With so many segments of one thread in flight, recording waits for the oldest.
const MOST_IN_FLIGHT: usize = 16;

/// One thread's recording for one device.
struct Recorder {
    device: u64,
    stream: Arc<DeviceStream>,
    /// What was recorded since the last submission, and live values that stayed recorded then.
    nodes: Vec<Weak<Node>>,
    /// Bytes of the results of `nodes`, if they were all written.
    bytes: usize,
    in_flight: VecDeque<Arc<Submission>>,
}

thread_local! {
    static RECORDERS: RefCell<Vec<Recorder>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` on this thread's recorder for a device. `None` while the thread is ending.
fn with<R>(device: &Device, f: impl FnOnce(&mut Recorder) -> R) -> Option<R> {
    RECORDERS
        .try_with(|recorders| {
            let mut recorders = recorders.borrow_mut();
            let known = recorders.iter().position(|recorder| recorder.device == device.id());
            let position = known.unwrap_or_else(|| {
                recorders.push(Recorder {
                    device: device.id(),
                    stream: device.new_stream(),
                    nodes: Vec::new(),
                    bytes: 0,
                    in_flight: VecDeque::new(),
                });
                recorders.len() - 1
            });
            f(&mut recorders[position])
        })
        .ok()
}

/// Notes a new node. Submits when there is enough.
pub(crate) fn note(node: &Arc<Node>) {
    let device = node.device();
    Counters::add(&device.counters().recorded, 1);
    let full = with(device, |recorder| {
        recorder.nodes.push(Arc::downgrade(node));
        recorder.bytes = recorder.bytes.saturating_add(node.bytes());
        recorder.nodes.len() >= MOST_OPS || recorder.bytes >= MOST_BYTES
    });
    if full == Some(true) {
        submit(device, &[], Choice::EveryLive, false);
    }
}

/// Submits what this thread recorded on a device, without waiting.
pub(crate) fn flush(device: &Device) {
    submit(device, &[], Choice::WorthStoring, false);
}

/// Sees to it that a node is scheduled. With `assisted`, the caller is about to wait for it.
pub(crate) fn schedule(node: &Arc<Node>, assisted: bool) {
    if node.value().is_none() {
        submit(node.device(), std::slice::from_ref(node), Choice::WorthStoring, assisted);
    }
}

/// Submits `wanted` and what this thread recorded.
pub(crate) fn submit(device: &Device, wanted: &[Arc<Node>], choice: Choice, assisted: bool) {
    let Some((stream, recorded)) = with(device, |recorder| {
        recorder.bytes = 0;
        (recorder.stream.clone(), std::mem::take(&mut recorder.nodes))
    }) else {
        return;
    };
    let mut live: Vec<Arc<Node>> = Vec::new();
    live.extend(recorded.iter().filter_map(Weak::upgrade).filter(|node| node.is_live()));
    let submitted = segment::submit(device, &stream, wanted, &live, choice, assisted);
    // What stayed recorded is looked at again next time.
    let mut kept: Vec<Weak<Node>> = Vec::new();
    kept.extend(live.iter().filter(|node| node.value().is_none()).map(Arc::downgrade));
    drop(live);
    let oldest = with(device, |recorder| {
        recorder.bytes +=
            kept.iter().filter_map(Weak::upgrade).map(|node| node.bytes()).sum::<usize>();
        recorder.nodes.append(&mut kept);
        recorder.in_flight.extend(submitted);
        while recorder.in_flight.front().is_some_and(|oldest| oldest.is_finished()) {
            recorder.in_flight.pop_front();
        }
        match recorder.in_flight.len() > MOST_IN_FLIGHT {
            true => recorder.in_flight.pop_front(),
            false => None,
        }
    });
    if let Some(Some(oldest)) = oldest {
        hold_back(device, &oldest);
    }
}

/// Waits for an old segment: too much is in flight.
#[track_caller]
fn hold_back(device: &Device, oldest: &Submission) {
    let location = Location::caller();
    let permitted = wait::permit(device, WaitReason::Backpressure, location);
    debug_assert!(permitted.is_ok(), "back-pressure is never denied");
    if !oldest.dispatched.is_reached() {
        device.dispatcher().assist();
        oldest.dispatched.wait();
    }
    if let Some(finished) = oldest.finished.get() {
        if let Some(stream) = &finished.stream {
            stream.assist(&finished.event);
        }
        finished.event.wait();
    }
}
