//! Tasks: work that runs once its operands are available, and is cancelled if all handles of its result are dropped
//! first.

use super::{Pending, Promise, trampoline};
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

/// Creates the callback that resumes a parked task.
pub type Resume<'a> = dyn FnMut() -> Box<dyn FnOnce() + Send> + 'a;

/// Operands of a task, some of which may not be available yet.
pub trait Operands: Send + 'static {
    /// The operands' values, as the task's function gets them.
    type Value;

    /// If an operand is missing, registers a callback from `resume` for its completion and returns `true`. Returns
    /// `false` if all operands are available.
    fn park(&mut self, resume: &mut Resume<'_>) -> bool;

    /// Takes the values, or the first error. All operands must be available.
    fn take(self) -> Result<Self::Value>;
}

/// An operand that is available.
pub struct Ready<T>(pub T);

impl<T: Send + 'static> Operands for Ready<T> {
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

/// A list of operands.
pub struct OperandList<O> {
    items: Vec<O>,
    /// Operands before this index are known to be available.
    next: usize,
}

impl<O> From<Vec<O>> for OperandList<O> {
    fn from(items: Vec<O>) -> OperandList<O> {
        OperandList { items, next: 0 }
    }
}

impl<O: Operands> Operands for OperandList<O> {
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

/// Where a task runs.
#[derive(Clone)]
pub(crate) enum RunOn {
    /// On the thread that completes the last operand. For short, non-blocking work.
    Inline,
    /// On the device's pending-work thread, in queue order.
    Queue(Device),
}

/// A task that has not started. Empty once it has started or was cancelled.
pub(crate) struct TaskCell(Mutex<Option<Box<dyn Task>>>);

trait Task: Send {
    fn park(&mut self, resume: &mut Resume<'_>) -> bool;
    fn run(self: Box<Self>);
}

struct ParkedJob<O, F, R> {
    operands: O,
    work: F,
    promise: Promise<R>,
    location: &'static Location<'static>,
}

impl<O, F, R> Task for ParkedJob<O, F, R>
where
    O: Operands,
    F: FnOnce(O::Value) -> Result<R> + Send,
    R: Send,
{
    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        self.operands.park(resume)
    }

    fn run(self: Box<Self>) {
        let ParkedJob { operands, work, promise, location } = *self;
        let outcome = catch_unwind(AssertUnwindSafe(|| operands.take().and_then(work)));
        promise.complete(outcome.unwrap_or_else(|panic| {
            Err(Error::Panicked { message: panic_message(&*panic).into(), location })
        }));
    }
}

/// Runs `work` on the operands' values once they are available. An operand's error, or a panic in `work`, becomes
/// the promise's error.
pub(crate) fn spawn_task<O, R>(
    operands: O,
    device: &Device,
    run_on: RunOn,
    location: &'static Location<'static>,
    work: impl FnOnce(O::Value) -> Result<R> + Send + 'static,
) -> Pending<R>
where
    O: Operands,
    R: Send + 'static,
{
    let (promise, pending) = Promise::of("pending op", device, location);
    let cell = Arc::new(TaskCell(Mutex::new(None)));
    {
        let (cell, run_on) = (cell.clone(), run_on.clone());
        promise.on_unwanted(move || cell.cancel(&run_on));
    }
    *cell.0.lock() = Some(Box::new(ParkedJob { operands, work, promise, location }));
    match &run_on {
        RunOn::Inline => cell.try_run(&run_on),
        RunOn::Queue(device) => {
            device.pending_queue().push_with_backpressure(cell, device, location)
        }
    }
    pending
}

impl TaskCell {
    /// Runs the task, or parks it until a missing operand is available.
    pub fn try_run(self: &Arc<TaskCell>, run_on: &RunOn) {
        let mut waiting = self.0.lock();
        let Some(task) = waiting.as_mut() else { return };
        let parked = task.park(&mut || {
            let (cell, run_on) = (self.clone(), run_on.clone());
            Box::new(move || match run_on {
                RunOn::Inline => trampoline::run(Box::new(move || cell.try_run(&RunOn::Inline))),
                RunOn::Queue(device) => device.pending_queue().push(cell, device.clone()),
            })
        });
        if parked {
            return;
        }
        let task = waiting.take().expect("checked above under the same lock");
        drop(waiting);
        task.run();
    }

    /// Cancels the task and drops its operands: no handle of its result is left.
    fn cancel(&self, run_on: &RunOn) {
        let task = self.0.lock().take();
        if let (Some(_), RunOn::Queue(device)) = (&task, run_on) {
            Counters::add(&device.counters().skipped, 1);
        }
    }
}

/// Wraps `work` to submit what it recorded, on all devices, when it returns.
pub(crate) fn flush_after<V, R>(
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
