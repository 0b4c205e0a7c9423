//! Arguments of pending ops: plain values and promises of values.

use crate::lists::{for_elements, for_tuples};
use crate::runtime::Device;
use crate::runtime::pending::task::{OperandList, Operands, Ready};
use crate::{Pending, Tensor};

/// Whether a call runs at once or later. There are two modes: [`Plain`] and [`Deferred`].
pub trait Mode: sealed::Sealed {
    /// The return type of a call whose result is an `R`.
    type Output<R>;

    /// The mode of a call that has an argument of this mode and one of another.
    type Or<M: Mode>: Mode;

    #[doc(hidden)]
    fn call<O, R>(
        call: Call<O>,
        work: impl FnOnce(O::Value) -> R + Send + 'static,
    ) -> Self::Output<R>
    where
        O: Operands,
        R: Send + 'static;
}

/// All arguments are plain: the call runs at once and returns its result.
pub enum Plain {}

/// An argument is pending: the call runs when the argument is ready, and returns a [`Pending`].
pub enum Deferred {}

/// The return type of a call with arguments `A` and result `R`: `R` if all are plain, `Pending<R>` otherwise.
pub type Mixed<A, R> = <<A as Argument>::Mode as Mode>::Output<R>;

/// The arguments of a call, before it runs.
#[doc(hidden)]
pub struct Call<O> {
    pub(super) operands: O,
    /// The device of the first pending argument.
    pub(super) device: Option<Device>,
    pub(super) location: &'static std::panic::Location<'static>,
}

impl Mode for Plain {
    type Output<R> = R;
    type Or<M: Mode> = M;

    fn call<O, R>(call: Call<O>, work: impl FnOnce(O::Value) -> R + Send + 'static) -> R
    where
        O: Operands,
        R: Send + 'static,
    {
        match call.operands.take() {
            Ok(values) => work(values),
            Err(_) => unreachable!("a plain argument is a value"),
        }
    }
}

impl Mode for Deferred {
    type Output<R> = Pending<R>;
    type Or<M: Mode> = Deferred;

    fn call<O, R>(call: Call<O>, work: impl FnOnce(O::Value) -> R + Send + 'static) -> Pending<R>
    where
        O: Operands,
        R: Send + 'static,
    {
        super::call::defer(call, work)
    }
}

/// An argument of an op: a tensor, a reference to one, a scalar, a [`Pending`] or a reference to one; an `Option`,
/// vector, array or tuple of arguments.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of an op",
    note = "arguments are `&Tensor`, `Tensor`, `&Pending<Tensor>`, `Pending<Tensor>` and scalars"
)]
pub trait Argument: sealed::Sealed {
    /// Whether it is plain or pending.
    type Mode: Mode;

    /// The value the op is called with.
    type Value: Send + 'static;

    #[doc(hidden)]
    type Held: Operands<Value = Self::Value>;

    #[doc(hidden)]
    fn hold(self) -> Self::Held;

    /// The device of the first pending argument.
    #[doc(hidden)]
    fn device(&self) -> Option<Device> {
        None
    }
}

mod sealed {
    /// Keeps [`Argument`](super::Argument) and [`Mode`](super::Mode) to the types of this crate.
    pub trait Sealed {}
    impl Sealed for super::Plain {}
    impl Sealed for super::Deferred {}
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        impl sealed::Sealed for $type {}
        impl Argument for $type {
            type Mode = Plain;
            type Value = $type;
            type Held = Ready<$type>;

            fn hold(self) -> Ready<$type> {
                Ready(self)
            }
        }
    )*};
}

plain!(Tensor);
for_elements!(plain);

impl sealed::Sealed for &Tensor {}
impl Argument for &Tensor {
    type Mode = Plain;
    type Value = Tensor;
    type Held = Ready<Tensor>;

    fn hold(self) -> Ready<Tensor> {
        Ready(self.clone())
    }
}

impl<T> sealed::Sealed for Pending<T> {}
impl<T: Clone + Send + 'static> Argument for Pending<T> {
    type Mode = Deferred;
    type Value = T;
    type Held = Pending<T>;

    fn hold(self) -> Pending<T> {
        self
    }

    fn device(&self) -> Option<Device> {
        Pending::device(self).cloned()
    }
}

impl<T> sealed::Sealed for &Pending<T> {}
impl<T: Clone + Send + 'static> Argument for &Pending<T> {
    type Mode = Deferred;
    type Value = T;
    type Held = Pending<T>;

    fn hold(self) -> Pending<T> {
        self.clone()
    }

    fn device(&self) -> Option<Device> {
        Pending::device(self).cloned()
    }
}

impl<A: Argument> sealed::Sealed for Option<A> {}
impl<A: Argument> Argument for Option<A> {
    type Mode = A::Mode;
    type Value = Option<A::Value>;
    type Held = Option<A::Held>;

    fn hold(self) -> Option<A::Held> {
        self.map(Argument::hold)
    }

    fn device(&self) -> Option<Device> {
        self.as_ref().and_then(Argument::device)
    }
}

impl<A: Argument> sealed::Sealed for Vec<A> {}
impl<A: Argument> Argument for Vec<A> {
    type Mode = A::Mode;
    type Value = Vec<A::Value>;
    type Held = OperandList<A::Held>;

    fn hold(self) -> OperandList<A::Held> {
        self.into_iter().map(Argument::hold).collect::<Vec<_>>().into()
    }

    fn device(&self) -> Option<Device> {
        self.iter().find_map(Argument::device)
    }
}

impl<A: Argument, const N: usize> sealed::Sealed for [A; N] {}
impl<A: Argument, const N: usize> Argument for [A; N] {
    type Mode = A::Mode;
    type Value = Vec<A::Value>;
    type Held = OperandList<A::Held>;

    fn hold(self) -> OperandList<A::Held> {
        self.into_iter().map(Argument::hold).collect::<Vec<_>>().into()
    }

    fn device(&self) -> Option<Device> {
        self.iter().find_map(Argument::device)
    }
}

impl<'a, T> sealed::Sealed for &'a [T] where &'a T: Argument {}
impl<'a, T> Argument for &'a [T]
where
    &'a T: Argument,
{
    type Mode = <&'a T as Argument>::Mode;
    type Value = Vec<<&'a T as Argument>::Value>;
    type Held = OperandList<<&'a T as Argument>::Held>;

    fn hold(self) -> Self::Held {
        self.iter().map(Argument::hold).collect::<Vec<_>>().into()
    }

    fn device(&self) -> Option<Device> {
        self.iter().find_map(|item| item.device())
    }
}

impl<'a, T> sealed::Sealed for &'a Vec<T> where &'a T: Argument {}
impl<'a, T> Argument for &'a Vec<T>
where
    &'a T: Argument,
{
    type Mode = <&'a T as Argument>::Mode;
    type Value = Vec<<&'a T as Argument>::Value>;
    type Held = OperandList<<&'a T as Argument>::Held>;

    fn hold(self) -> Self::Held {
        self.as_slice().hold()
    }

    fn device(&self) -> Option<Device> {
        self.as_slice().device()
    }
}

/// The mode of a call with arguments of these modes.
macro_rules! any {
    ($mode:ty) => { $mode };
    ($mode:ty, $($rest:ty),+) => { <$mode as Mode>::Or<any!($($rest),+)> };
}

macro_rules! tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: Argument),+> sealed::Sealed for ($($name,)+) {}
        impl<$($name: Argument),+> Argument for ($($name,)+) {
            type Mode = any!($($name::Mode),+);
            type Value = ($($name::Value,)+);
            type Held = ($($name::Held,)+);

            fn hold(self) -> Self::Held {
                ($(self.$position.hold(),)+)
            }

            fn device(&self) -> Option<Device> {
                None$(.or_else(|| self.$position.device()))+
            }
        }
    )*};
}

for_tuples!(tuples);
