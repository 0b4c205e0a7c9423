//! Work that is done when its operands are there, or never, if nobody wants it any more.

use super::{Pending, Promise, flat};
use crate::lists::for_tuples;
use crate::runtime::Device;
use crate::runtime::dispatcher::panic_message;
use crate::runtime::recorder;
use crate::runtime::stats::Counters;
use crate::runtime::trace::{self, Span};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

/// Makes the call that goes on with a task.
pub type Resume<'a> = dyn FnMut() -> Box<dyn FnOnce() + Send> + 'a;

/// What work needs: values, some of which may not be there yet.
pub trait Operands: Send + 'static {
    /// What the work gets to see.
    type Value;

    /// Looks for a value that is not there, sees to it that what `resume` makes is called when it is, and
    /// returns `true`. If all are there, returns `false`.
    fn park(&mut self, resume: &mut Resume<'_>) -> bool;

    /// The values; the first error if one of them is none. All must be there.
    fn take(self) -> Result<Self::Value>;
}

/// A value that is there.
pub struct Now<T>(pub T);

impl<T: Send + 'static> Operands for Now<T> {
    type Value = T;

    fn park(&mut self, _: &mut Resume<'_>) -> bool {
        false
    }

    fn take(self) -> Result<T> {
        Ok(self.0)
    }
}

impl<T: Clone + Send + 'static> Operands for Pending<T> {
    type Value = T;

    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        !self.is_ready() && self.shared.completion.watch(resume())
    }

    fn take(self) -> Result<T> {
        Pending::take(self)
    }
}

impl<O: Operands> Operands for Option<O> {
    type Value = Option<O::Value>;

    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        self.as_mut().is_some_and(|operands| operands.park(resume))
    }

    fn take(self) -> Result<Option<O::Value>> {
        self.map(Operands::take).transpose()
    }
}

/// Many operands.
pub struct List<O> {
    items: Vec<O>,
    /// All before this one are known to be there.
    next: usize,
}

impl<O> From<Vec<O>> for List<O> {
    fn from(items: Vec<O>) -> List<O> {
        List { items, next: 0 }
    }
}

impl<O: Operands> Operands for List<O> {
    type Value = Vec<O::Value>;

    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        while let Some(item) = self.items.get_mut(self.next) {
            if item.park(resume) {
                return true;
            }
            self.next += 1;
        }
        false
    }

    fn take(self) -> Result<Vec<O::Value>> {
        self.items.into_iter().map(Operands::take).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: Operands),+> Operands for ($($name,)+) {
            type Value = ($($name::Value,)+);

            fn park(&mut self, resume: &mut Resume<'_>) -> bool {
                $(self.$position.park(resume))||+
            }

            fn take(self) -> Result<Self::Value> {
                Ok(($(self.$position.take()?,)+))
            }
        }
    )*};
}

for_tuples!(tuples);

/// Where a task is done.
#[derive(Clone)]
pub(crate) enum Place {
    /// On the thread that completes the last operand, at once. For what is short and cannot block.
    Inline,
    /// On the thread of the device's queue, after what was queued before. What it records is submitted.
    Queue(Device),
}

/// A task that waits. Empty when it has begun, or when nobody wanted it any more.
pub(crate) struct Cell(Mutex<Option<Box<dyn Task>>>);

trait Task: Send {
    fn park(&mut self, resume: &mut Resume<'_>) -> bool;
    fn run(self: Box<Self>);
}

struct Job<O, F, R> {
    operands: O,
    work: F,
    promise: Promise<R>,
    location: &'static Location<'static>,
}

impl<O, F, R> Task for Job<O, F, R>
where
    O: Operands,
    F: FnOnce(O::Value) -> Result<R> + Send,
    R: Send,
{
    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        self.operands.park(resume)
    }

    fn run(self: Box<Self>) {
        let Job { operands, work, promise, location } = *self;
        let outcome = catch_unwind(AssertUnwindSafe(|| operands.take().and_then(work)));
        promise.complete(outcome.unwrap_or_else(|panic| {
            Err(Error::Panicked { message: panic_message(&*panic).into(), location })
        }));
    }
}

/// Has `work` done on the operands' values once they are there. An error among them, or a panic of `work`, is
/// the promise's error.
pub(crate) fn start<O, R>(
    operands: O,
    device: &Device,
    place: Place,
    location: &'static Location<'static>,
    work: impl FnOnce(O::Value) -> Result<R> + Send + 'static,
) -> Pending<R>
where
    O: Operands,
    R: Send + 'static,
{
    let (promise, pending) = Promise::of("pending op", device, location);
    let cell = Arc::new(Cell(Mutex::new(None)));
    {
        let (cell, place) = (cell.clone(), place.clone());
        promise.on_unwanted(move || cell.skip(&place));
    }
    *cell.0.lock() = Some(Box::new(Job { operands, work, promise, location }));
    match &place {
        Place::Inline => cell.attempt(&place),
        Place::Queue(device) => device.queue().push_held_back(cell, device, location),
    }
    pending
}

impl Cell {
    /// Does the work, or, if an operand is not there, sees to it that this is called again when it is.
    pub fn attempt(self: &Arc<Cell>, place: &Place) {
        let mut waiting = self.0.lock();
        let Some(task) = waiting.as_mut() else { return };
        let parked = task.park(&mut || {
            let (cell, place) = (self.clone(), place.clone());
            Box::new(move || match place {
                Place::Inline => flat::run(Box::new(move || cell.attempt(&Place::Inline))),
                Place::Queue(device) => device.queue().push(cell, device.clone()),
            })
        });
        if parked {
            return;
        }
        let task = waiting.take().expect("it was there, and the lock is held");
        drop(waiting);
        task.run();
    }

    /// Lets go of the task: nobody wants its result.
    fn skip(&self, place: &Place) {
        let task = self.0.lock().take();
        if let (Some(_), Place::Queue(device)) = (&task, place) {
            Counters::add(&device.counters().skipped, 1);
        }
    }
}

/// `work`, followed by the submission of what it recorded, on whichever devices.
pub(crate) fn submitted<V, R>(
    location: &'static Location<'static>,
    work: impl FnOnce(V) -> Result<R> + Send + 'static,
) -> impl FnOnce(V) -> Result<R> + Send + 'static {
    move |value| {
        let _span = trace::begin(|| Span::Work { location });
        let result = work(value);
        recorder::flush_all(location);
        result
    }
}
