//! Shared ops: one execution with many consumers.

use super::boxed::BoxedOp;
use super::context::{ExecutionContext, OpExecution, Placement, SubmittedOp};
use super::{DeviceFuture, DeviceOp};
use crate::Result;
use parking_lot::Mutex;
use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// An op that runs exactly once. All clones get its output or its error, wherever they run.
///
/// It runs in the context of the first clone that is polled. If that clone is dropped before completion, another
/// one continues.
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
    shared: Arc<SharedCell<'a, T>>,
}

struct SharedCell<'a, T> {
    /// Locked by the consumer that polls the op; others use `try_lock` and never block.
    state: Mutex<State<'a, T>>,
    wakers: Arc<WakerList>,
    /// Set by a consumer that found `state` locked. The lock's holder then wakes all consumers.
    contended: AtomicBool,
}

enum State<'a, T> {
    /// No consumer has polled the op.
    NotStarted(BoxedOp<'a, T>),
    /// Started. Any consumer's poll drives it.
    Running(OpExecution<'a, T>),
    /// Submitted or failed.
    Done(Result<SubmittedOp<T>>),
    /// Temporary, during a transition by the lock's holder.
    Transitioning,
}

/// Wakers of all waiting consumers.
#[derive(Default)]
struct WakerList(Mutex<Vec<Waker>>);

impl WakerList {
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

impl Wake for WakerList {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

impl<'a, T> SharedOp<'a, T> {
    pub(super) fn new(op: BoxedOp<'a, T>) -> SharedOp<'a, T> {
        let state = Mutex::new(State::NotStarted(op));
        let (wakers, contended) = (Arc::default(), AtomicBool::new(false));
        SharedOp { shared: Arc::new(SharedCell { state, wakers, contended }) }
    }
}

impl<T: Clone> SharedCell<'_, T> {
    fn poll(
        &self,
        context: &ExecutionContext,
        task: &mut Context<'_>,
    ) -> Poll<Result<SubmittedOp<T>>> {
        // Register before trying the lock, so that progress by another consumer cannot be missed.
        self.wakers.add(task.waker());
        let Some(mut state) = self.state.try_lock().or_else(|| {
            // Another consumer holds the lock. It checks this flag after releasing the lock, in case the second try
            // fails too.
            self.contended.store(true, Ordering::SeqCst);
            self.state.try_lock()
        }) else {
            return Poll::Pending;
        };
        if let State::NotStarted(_) = &*state
            && let State::NotStarted(op) = std::mem::replace(&mut *state, State::Transitioning)
        {
            *state = State::Running(OpExecution::new(op, context.same_stream_child(), false));
        }
        if let State::Running(execution) = &mut *state {
            let waker = Waker::from(self.wakers.clone());
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
            self.wakers.wake_all();
        }
        polled
    }
}

impl<'a, T: Clone + Send + 'a> DeviceOp for SharedOp<'a, T> {
    type Output = T;

    async fn execute(self, context: &ExecutionContext) -> Result<T> {
        let executed = poll_fn(|task| self.shared.poll(context, task)).await?;
        context.add_submitted(&executed.values);
        Ok(executed.output)
    }
}

impl<T> Clone for SharedOp<'_, T> {
    fn clone(&self) -> Self {
        SharedOp { shared: self.shared.clone() }
    }
}

impl<'a, T: Clone + Send + 'a> IntoFuture for SharedOp<'a, T> {
    type Output = Result<T>;
    type IntoFuture = DeviceFuture<'a, T>;

    #[track_caller]
    fn into_future(self) -> DeviceFuture<'a, T> {
        DeviceFuture::new(self.boxed(), Placement::ThreadDefault, Location::caller())
    }
}

impl<T> fmt::Debug for SharedOp<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedOp<{}>", std::any::type_name::<T>())
    }
}
