//! Calls on plain and pending arguments.

use super::argument::{Argument, Call, Mixed, Mode};
use crate::Pending;
use crate::runtime::Device;
use crate::runtime::pending::task::{Operands, RunOn, flush_after, spawn_task};
use crate::tensor::recorded_at;
use std::panic::Location;

/// Calls a function of plain values with arguments of which some may be pending.
///
/// Returns the function's result if all arguments are plain, and a [`Pending`] of it otherwise. In that case the
/// function runs on the device's thread for pending work, once its arguments are ready, and the ops it records are
/// submitted. A panic becomes the promise's error.
///
/// ```
/// use inflight::{Device, Pending, Tensor, pending};
///
/// fn block(x: &Tensor, w: &Tensor) -> Tensor {
///     x.matmul(w).relu()
/// }
///
/// # fn main() -> inflight::Result<()> {
/// let device = Device::cpu();
/// let (x, w) = (Tensor::ones::<f32>([2, 3], &device), Tensor::ones::<f32>([3, 2], &device));
/// let plain: Tensor = pending::call(block, (&x, &w));
/// let pending: Pending<Tensor> = pending::call(block, (x.to_async(), &w));
/// assert_eq!(plain.to_vec::<f32>()?, pending.get()?.to_vec::<f32>()?);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn call<A, F>(function: F, arguments: A) -> Mixed<A, F::Output>
where
    A: Argument,
    F: Composite<A::Value>,
{
    with_location(arguments, Location::caller(), move |values| function.run(values))
}

/// A function of references to the values of a tuple: `fn(&Tensor, &Tensor) -> Tensor` and the like, with up to
/// eight parameters.
pub trait Composite<Values>: Send + 'static {
    /// The function's result.
    type Output: Send + 'static;

    #[doc(hidden)]
    fn run(self, values: Values) -> Self::Output;
}

macro_rules! composites {
    ($($($name:ident $value:ident),+;)*) => {$(
        impl<Function, Output, $($name),+> Composite<($($name,)+)> for Function
        where
            Function: FnOnce($(&$name),+) -> Output + Send + 'static,
            Output: Send + 'static,
        {
            type Output = Output;

            fn run(self, ($($value,)+): ($($name,)+)) -> Output {
                self($(&$value),+)
            }
        }
    )*};
}

composites! {
    A a;
    A a, B b;
    A a, B b, C c;
    A a, B b, C c, D d;
    A a, B b, C c, D d, E e;
    A a, B b, C c, D d, E e, F f;
    A a, B b, C c, D d, E e, F f, G g;
    A a, B b, C c, D d, E e, F f, G g, H h;
}

/// As [`call`], for one op: what it records carries the caller's location, on whichever thread it runs.
pub(super) fn call_op<A, R>(
    arguments: A,
    location: &'static Location<'static>,
    op: impl FnOnce(A::Value) -> R + Send + 'static,
) -> Mixed<A, R>
where
    A: Argument,
    R: Send + 'static,
{
    with_location(arguments, location, move |values| recorded_at(location, || op(values)))
}

fn with_location<A, R>(
    arguments: A,
    location: &'static Location<'static>,
    work: impl FnOnce(A::Value) -> R + Send + 'static,
) -> Mixed<A, R>
where
    A: Argument,
    R: Send + 'static,
{
    let device = arguments.device();
    let call = Call { operands: arguments.hold(), device, location };
    A::Mode::call(call, work)
}

/// Queues a call on the device's thread for pending work.
pub(super) fn defer<O, R>(
    call: Call<O>,
    work: impl FnOnce(O::Value) -> R + Send + 'static,
) -> Pending<R>
where
    O: Operands,
    R: Send + 'static,
{
    let device = call.device.unwrap_or_else(Device::cpu);
    let work = flush_after(call.location, move |values| Ok(work(values)));
    spawn_task(call.operands, &device, RunOn::Queue(device.clone()), call.location, work)
}
