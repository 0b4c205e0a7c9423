//! Ops with many consumers.

use super::boxed::BoxedOp;
use super::context::{Executed, Execution, ExecutionContext, Place};
use super::{DeviceFuture, DeviceOp};
use crate::Result;
use parking_lot::Mutex;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// An op that runs exactly once, however many clones of it run, and wherever. All of them have its output,
/// or its error.
///
/// It runs where the first of them does. If that one is dropped on the way, another goes on.
///
/// ```
/// use inflight::{DeviceOp, api, zip};
///
/// # fn main() -> inflight::Result<()> {
/// let weights = api::randn::<f32>(0.0, 1.0, [8, 8], None).shared();
/// let (sum, difference) = zip!(
///     zip!(weights.clone(), weights.clone()).map(|(a, b)| a + b),
///     zip!(weights.clone(), weights).map(|(a, b)| a - b),
/// )
/// .sync()?;
/// assert_eq!(difference.to_vec::<f32>()?, [0.0; 64]);
/// # let _ = sum;
/// # Ok(())
/// # }
/// ```
#[must_use = "an op is only a description: nothing runs until it is awaited, waited for or spawned"]
pub struct SharedOp<'a, T> {
    cell: Arc<Cell<'a, T>>,
}

struct Cell<'a, T> {
    /// Locked by the consumer that gets on with the op. Nobody waits for the lock.
    state: Mutex<State<'a, T>>,
    consumers: Arc<Consumers>,
    /// True iff a consumer found `state` locked and was not woken since.
    contended: AtomicBool,
}

enum State<'a, T> {
    /// No consumer has begun.
    Described(BoxedOp<'a, T>),
    /// A consumer has begun. Whichever of them is polled goes on.
    Running(Execution<'a, T>),
    /// It is submitted, or it failed.
    Done(Result<Executed<T>>),
    /// Only while a consumer moves it from one state to the next.
    Moving,
}

/// The tasks of all consumers that wait.
#[derive(Default)]
struct Consumers(Mutex<Vec<Waker>>);

impl Consumers {
    fn add(&self, waker: &Waker) {
        let mut wakers = self.0.lock();
        if !wakers.iter().any(|known| known.will_wake(waker)) {
            wakers.push(waker.clone());
        }
    }

    fn wake_all(&self) {
        let wakers = std::mem::take(&mut *self.0.lock());
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Wake for Consumers {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

impl<'a, T> SharedOp<'a, T> {
    pub(super) fn new(op: BoxedOp<'a, T>) -> SharedOp<'a, T> {
        let state = Mutex::new(State::Described(op));
        let (consumers, contended) = (Arc::default(), AtomicBool::new(false));
        SharedOp { cell: Arc::new(Cell { state, consumers, contended }) }
    }
}

impl<T: Clone> Cell<'_, T> {
    fn poll(
        &self,
        context: &ExecutionContext,
        task: &mut Context<'_>,
    ) -> Poll<Result<Executed<T>>> {
        // First of all, so that it cannot be missed when the op gets on.
        self.consumers.add(task.waker());
        let Some(mut state) = self.state.try_lock().or_else(|| {
            // Another consumer has the lock. It looks at this after giving it back, if the second try
            // fails as well.
            self.contended.store(true, Ordering::SeqCst);
            self.state.try_lock()
        }) else {
            return Poll::Pending;
        };
        if let State::Described(_) = &*state
            && let State::Described(op) = std::mem::replace(&mut *state, State::Moving)
        {
            *state = State::Running(Execution::new(op, context.part(), false));
        }
        if let State::Running(execution) = &mut *state {
            let waker = Waker::from(self.consumers.clone());
            let execution = std::pin::Pin::new(execution);
            match execution.poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => {}
                Poll::Ready(executed) => *state = State::Done(executed),
            }
        }
        let polled = match &*state {
            State::Done(executed) => Poll::Ready(executed.clone()),
            _ => Poll::Pending,
        };
        drop(state);
        if self.contended.swap(false, Ordering::SeqCst) || polled.is_ready() {
            self.consumers.wake_all();
        }
        polled
    }
}

impl<'a, T: Clone + Send + 'a> DeviceOp for SharedOp<'a, T> {
    type Output = T;

    async fn execute(self, context: &ExecutionContext) -> Result<T> {
        let executed = poll_fn(|task| self.cell.poll(context, task)).await?;
        context.adopt(&executed.values);
        Ok(executed.output)
    }
}

impl<T> Clone for SharedOp<'_, T> {
    fn clone(&self) -> Self {
        SharedOp { cell: self.cell.clone() }
    }
}

impl<'a, T: Clone + Send + 'a> IntoFuture for SharedOp<'a, T> {
    type Output = Result<T>;
    type IntoFuture = DeviceFuture<'a, T>;

    #[track_caller]
    fn into_future(self) -> DeviceFuture<'a, T> {
        DeviceFuture::new(self.boxed(), Place::Default, Location::caller())
    }
}

impl<T> fmt::Debug for SharedOp<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedOp<{}>", std::any::type_name::<T>())
    }
}
