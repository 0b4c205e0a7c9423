//! The thread of a device that does pending work, in the order it was asked for.

use super::task::{Cell, Place};
use crate::runtime::Device;
use crate::runtime::wait::{self, WaitReason};
use inflight_backend::{Completion, Timeline, WorkQueue};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::{Arc, Once};

/// With so much pending work queued, whoever asks for more waits until there is less.
const MOST_QUEUED: u64 = 1024;

/// A device's pending work.
pub(crate) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    items: WorkQueue<(u64, Item)>,
    /// Starts the thread when it is first needed.
    thread: Once,
    /// Reaches an item's number when the item was handled.
    handled: Arc<Timeline>,
}

enum Item {
    /// Work. If an operand is not there, it goes back to the end of the queue when it is.
    Task(Arc<Cell>, Device),
    /// Completed when everything before it was handled.
    Marker(Arc<Completion<()>>),
    /// Nothing: makes the thread look whether what it waits for is there.
    Look,
}

/// The queue whose thread this is.
struct Serving {
    shared: Arc<Shared>,
    /// How many items are being handled: more than one if work waits for other work of its own queue.
    depth: usize,
    /// Markers met inside of an item: they come after it.
    markers: Vec<Arc<Completion<()>>>,
}

thread_local! {
    static SERVING: RefCell<Option<Serving>> = const { RefCell::new(None) };
}

impl Queue {
    pub fn new() -> Queue {
        Queue {
            shared: Arc::new(Shared {
                items: WorkQueue::new(),
                thread: Once::new(),
                handled: Timeline::new(),
            }),
        }
    }

    /// Queues a task, and waits if too many are queued.
    pub fn push_held_back(
        &self,
        task: Arc<Cell>,
        device: &Device,
        location: &'static Location<'static>,
    ) {
        let number = self.shared.push(Item::Task(task, device.clone()));
        // The threads of queues are never held back: two could wait for each other.
        let Some(oldest) = number.checked_sub(MOST_QUEUED).filter(|_| !is_serving()) else {
            return;
        };
        let event = self.shared.handled.event(oldest);
        let waited = wait::wait_for_event(device, &event, WaitReason::Backpressure, location);
        debug_assert!(waited.is_ok(), "back-pressure is never denied");
    }

    /// Queues a task. Never waits.
    pub fn push(&self, task: Arc<Cell>, device: Device) {
        self.shared.push(Item::Task(task, device));
    }

    /// Completed when everything that is queued was handled. `None` if nothing is, or on the thread that
    /// would have to do it.
    pub fn drained(&self) -> Option<Arc<Completion<()>>> {
        if self.shared.handled.completed() >= self.shared.items.pushed() || is_serving() {
            return None;
        }
        let marker = Arc::new(Completion::new());
        self.shared.push(Item::Marker(marker.clone()));
        Some(marker)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // The thread ends when it has handled what is queued. Nobody waits for it.
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
                .expect("the thread of pending work starts");
        });
        self.items.notify();
        number
    }

    fn serve(self: Arc<Shared>) {
        let serving = Serving { shared: self.clone(), depth: 0, markers: Vec::new() };
        SERVING.with(|current| *current.borrow_mut() = Some(serving));
        self.items.serve(|item| self.handle(item));
    }

    fn handle(&self, (number, item): (u64, Item)) {
        change_serving(|serving| serving.depth += 1);
        match item {
            Item::Task(cell, device) => {
                // What work owns may panic when it is dropped. The thread goes on.
                let _ = catch_unwind(AssertUnwindSafe(|| cell.attempt(&Place::Queue(device))));
            }
            Item::Marker(marker) => change_serving(|serving| serving.markers.push(marker)),
            Item::Look => {}
        }
        let due = change_serving(|serving| {
            serving.depth -= 1;
            match serving.depth {
                0 => std::mem::take(&mut serving.markers),
                _ => Vec::new(),
            }
        });
        self.handled.signal(number);
        due.into_iter().for_each(|marker| marker.complete(()));
    }
}

fn change_serving<R>(change: impl FnOnce(&mut Serving) -> R) -> R {
    SERVING.with(|current| change(current.borrow_mut().as_mut().expect("the thread of a queue")))
}

fn is_serving() -> bool {
    SERVING.try_with(|current| current.borrow().is_some()).unwrap_or(false)
}

/// Blocks this thread until the value is there. The thread of a queue does what is queued meanwhile: the
/// value may come from there.
pub(crate) fn wait<T>(completion: &Completion<T>) {
    let serving = SERVING
        .try_with(|current| current.borrow().as_ref().map(|serving| serving.shared.clone()))
        .unwrap_or(None);
    if let Some(shared) = serving {
        let waker = shared.clone();
        let look = Box::new(move || {
            waker.push(Item::Look);
        });
        if !completion.watch(look) {
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
