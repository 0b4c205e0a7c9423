//! Concurrent composition of ops: `zip!` and `join_all`.

use super::boxed::{BoxedOp, OpFuture};
use super::context::ExecutionContext;
use super::{DeviceOp, IntoDeviceOp};
use crate::Result;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

/// Combines two to eight ops, tensors or scalars into one op, whose output is the tuple of their outputs.
///
/// The members are independent. With a [`Policy`](crate::Policy) of several streams they run concurrently; on one
/// stream they are recorded together.
///
/// ```
/// use inflight::{DeviceOp, api, zip};
///
/// # fn main() -> inflight::Result<()> {
/// let (a, b, c) = zip!(api::ones::<f32>([4]), api::arange::<f32>(4), 2.0f32).sync()?;
/// assert_eq!((a + b * c).to_vec::<f32>()?, [1.0, 3.0, 5.0, 7.0]);
/// # Ok(())
/// # }
/// ```
#[macro_export]
macro_rules! zip {
    ($($member:expr),+ $(,)?) => {
        $crate::device_op::Zip::zip(($($member,)+))
    };
}

/// A tuple of two to eight inputs for [`zip!`](crate::zip!).
#[diagnostic::on_unimplemented(
    message = "`zip!` cannot combine `{Self}`",
    note = "it takes two to eight members: ops, tensors and scalars"
)]
pub trait Zip<'a> {
    /// The tuple of the members' outputs.
    type Output;

    /// Combines the members into one op.
    fn zip(self) -> BoxedOp<'a, Self::Output>;
}

/// A member op and its progress.
struct Member<'a, T> {
    state: State<'a, T>,
}

enum State<'a, T> {
    /// Never polled. The first member runs on the parent's stream, the others on streams of the policy.
    NotStarted {
        op: BoxedOp<'a, T>,
        first: bool,
    },
    Running(OpFuture<'a, T>),
    /// Complete; the output is not taken yet.
    Done(T),
    Taken,
}

impl<'a, T: Send + 'a> Member<'a, T> {
    fn new<I>(input: I, first: bool) -> Member<'a, T>
    where
        I: IntoDeviceOp<Output = T>,
        I::Op: 'a,
    {
        Member { state: State::NotStarted { op: input.into_op().boxed(), first } }
    }

    /// Polls the member. Ready when its output is stored.
    fn poll(&mut self, parent: &ExecutionContext, task: &mut Context<'_>) -> Poll<Result<()>> {
        if let State::NotStarted { .. } = self.state
            && let State::NotStarted { op, first } =
                std::mem::replace(&mut self.state, State::Taken)
        {
            let fork = if first { None } else { parent.fork() };
            self.state = State::Running(match fork {
                None => op.start(parent.clone()),
                Some(context) => {
                    let parent = parent.clone();
                    Box::pin(async move { context.run_child(op, &parent).await })
                }
            });
        }
        if let State::Running(steps) = &mut self.state {
            self.state = State::Done(ready!(steps.as_mut().poll(task))?);
        }
        Poll::Ready(Ok(()))
    }

    fn take(&mut self) -> T {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Done(output) => output,
            _ => unreachable!("outputs are taken once, when all are there"),
        }
    }
}

macro_rules! tuples {
    ($($($input:ident $member:ident $position:tt),+;)*) => {$(
        impl<'a, $($input),+> Zip<'a> for ($($input,)+)
        where
            $($input: IntoDeviceOp, $input::Op: 'a, $input::Output: 'a,)+
        {
            type Output = ($($input::Output,)+);

            fn zip(self) -> BoxedOp<'a, Self::Output> {
                let ($(mut $member,)+) = ($(Member::new(self.$position, $position == 0),)+);
                BoxedOp::new(async move |context| {
                    poll_fn(|task| {
                        let mut any_pending = false;
                        $(any_pending |= poll_member(&mut $member, &context, task)?;)+
                        match any_pending {
                            true => Poll::Pending,
                            false => Poll::Ready(Ok(($($member.take(),)+))),
                        }
                    })
                    .await
                })
            }
        }
    )*};
}

/// Polls a member and returns whether it is still pending.
fn poll_member<'a, T: Send + 'a>(
    member: &mut Member<'a, T>,
    parent: &ExecutionContext,
    task: &mut Context<'_>,
) -> Result<bool> {
    match member.poll(parent, task) {
        Poll::Pending => Ok(true),
        Poll::Ready(done) => done.map(|()| false),
    }
}

tuples! {
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, D d 3;
    A a 0, B b 1, C c 2, D d 3, E e 4;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6;
    A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7;
}

/// Combines any number of ops into one, whose output is the vector of their outputs, in order. They run
/// concurrently like the members of [`zip!`](crate::zip!).
///
/// ```
/// use inflight::device_op::join_all;
/// use inflight::{DeviceOp, Tensor, api};
///
/// # fn main() -> inflight::Result<()> {
/// let parts = join_all((0..4).map(|part| api::full(part as f32, [2]))).sync()?;
/// assert_eq!(Tensor::cat(&parts, 0).sum_all().item::<f32>()?, 12.0);
/// # Ok(())
/// # }
/// ```
pub fn join_all<'a, I>(inputs: I) -> BoxedOp<'a, Vec<<I::Item as IntoDeviceOp>::Output>>
where
    I: IntoIterator,
    I::Item: IntoDeviceOp,
    <I::Item as IntoDeviceOp>::Op: 'a,
    <I::Item as IntoDeviceOp>::Output: 'a,
{
    let members = inputs.into_iter().enumerate();
    let mut members: Vec<_> =
        members.map(|(position, input)| Member::new(input, position == 0)).collect();
    BoxedOp::new(async move |context| {
        poll_fn(|task| {
            let mut any_pending = false;
            for member in &mut members {
                any_pending |= poll_member(member, &context, task)?;
            }
            match any_pending {
                true => Poll::Pending,
                false => Poll::Ready(Ok(members.iter_mut().map(Member::take).collect())),
            }
        })
        .await
    })
}
