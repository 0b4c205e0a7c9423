//! The pending-work thread of a device and its work queue (FIFO), with back-pressure.

use super::task::{RunOn, TaskCell};
use crate::runtime::Device;
use crate::runtime::wait::{self, WaitReason};
use inflight_backend::{Completion, Timeline, WorkQueue};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Arc, Once};

/// Back-pressure limit: with more queued tasks, the thread that queues another waits.
const MAX_QUEUED: u64 = 1024;

/// A device's pending work.
pub(crate) struct PendingQueue {
    shared: Arc<Shared>,
}

struct Shared {
    items: WorkQueue<(u64, Item)>,
    /// Starts the thread on first use.
    thread: Once,
    /// Reaches an item's number when the item is handled.
    handled: Arc<Timeline>,
}

enum Item {
    /// A task. If an operand is missing, the task parks and is queued again when the operand completes.
    Task(Arc<TaskCell>, Device),
    /// Completed when all earlier items are handled.
    Marker(Arc<Completion<()>>),
    /// No work: wakes the thread to check again what it is waiting for.
    Recheck,
}

/// State of a pending-work thread.
struct WorkerState {
    shared: Arc<Shared>,
    /// Nesting depth of handled items; more than one if a task waits for other tasks of its own queue.
    depth: usize,
    /// Markers taken while handling an item; they complete after that item.
    markers: Vec<Arc<Completion<()>>>,
}

thread_local! {
    static WORKER: RefCell<Option<WorkerState>> = const { RefCell::new(None) };
}

impl PendingQueue {
    pub fn new() -> PendingQueue {
        PendingQueue {
            shared: Arc::new(Shared {
                items: WorkQueue::new(),
                thread: Once::new(),
                handled: Timeline::new(),
            }),
        }
    }

    /// Queues a task. Waits if too many are queued.
    pub fn push_with_backpressure(
        &self,
        task: Arc<TaskCell>,
        device: &Device,
        location: &'static Location<'static>,
    ) {
        let number = self.shared.push(Item::Task(task, device.clone()));
        // Never block a pending-work thread for back-pressure: two could wait for each other.
        let Some(oldest) = number.checked_sub(MAX_QUEUED).filter(|_| !is_worker_thread()) else {
            return;
        };
        let event = self.shared.handled.event(oldest);
        let waited = wait::wait_for_event(device, &event, WaitReason::Backpressure, location);
        debug_assert!(waited.is_ok(), "back-pressure is never denied");
    }

    /// Queues a task. Never waits.
    pub fn push(&self, task: Arc<TaskCell>, device: Device) {
        self.shared.push(Item::Task(task, device));
    }

    /// A completion that is reached when all queued items are handled. `None` if the queue is empty, or on the
    /// pending-work thread itself, which would deadlock.
    pub fn drain_marker(&self) -> Option<Arc<Completion<()>>> {
        if self.shared.handled.completed() >= self.shared.items.pushed() || is_worker_thread() {
            return None;
        }
        let marker = Arc::new(Completion::new());
        self.shared.push(Item::Marker(marker.clone()));
        Some(marker)
    }
}

impl Drop for PendingQueue {
    fn drop(&mut self) {
        // The thread exits after the queued items; the drop does not wait for it.
        self.shared.items.close();
    }
}

impl Shared {
    fn push(self: &Arc<Shared>, item: Item) -> u64 {
        let mut number = 0;
        self.items.push(|next| {
            number = next;
            (next, item)
        });
        self.thread.call_once(|| {
            let shared = self.clone();
            std::thread::Builder::new()
                .name("inflight-pending".to_owned())
                .spawn(move || shared.serve())
                .expect("the pending-work thread starts");
        });
        self.items.notify();
        number
    }

    fn serve(self: Arc<Shared>) {
        let worker = WorkerState { shared: self.clone(), depth: 0, markers: Vec::new() };
        WORKER.with(|current| *current.borrow_mut() = Some(worker));
        self.items.serve(|item| self.handle(item));
    }

    fn handle(&self, (number, item): (u64, Item)) {
        with_worker(|worker| worker.depth += 1);
        match item {
            Item::Task(cell, device) => {
                // A panic in the drop of a task's captures must not end the thread.
                let _ = catch_unwind(AssertUnwindSafe(|| cell.try_run(&RunOn::Queue(device))));
            }
            Item::Marker(marker) => with_worker(|worker| worker.markers.push(marker)),
            Item::Recheck => {}
        }
        let due = with_worker(|worker| {
            worker.depth -= 1;
            match worker.depth {
                0 => std::mem::take(&mut worker.markers),
                _ => Vec::new(),
            }
        });
        self.handled.signal(number);
        due.into_iter().for_each(|marker| marker.complete(()));
    }
}

fn with_worker<R>(change: impl FnOnce(&mut WorkerState) -> R) -> R {
    WORKER.with(|current| {
        change(current.borrow_mut().as_mut().expect("this is a pending-work thread"))
    })
}

fn is_worker_thread() -> bool {
    WORKER.try_with(|current| current.borrow().is_some()).unwrap_or(false)
}

/// Blocks this thread until the promise is completed. A pending-work thread handles its queue meanwhile, since the
/// value may come from there.
pub(crate) fn wait<T>(completion: &Completion<T>) {
    let worker = WORKER
        .try_with(|current| current.borrow().as_ref().map(|worker| worker.shared.clone()))
        .unwrap_or(None);
    if let Some(shared) = worker {
        let waker = shared.clone();
        let recheck = Box::new(move || {
            waker.push(Item::Recheck);
        });
        if !completion.watch(recheck) {
            return;
        }
        while !completion.is_done()
            && let Some(item) = shared.items.next()
        {
            shared.handle(item);
        }
    }
    completion.wait();
}
