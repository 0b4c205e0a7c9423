//! Combinators: promises derived from promises. Errors and panics propagate to all derived promises.

use super::Pending;
use super::task::{Operands, Resume, RunOn, flush_after, spawn_task};
use crate::lists::for_tuples;
use crate::pending::{Argument, Deferred};
use crate::runtime::Device;
use crate::{Error, Result};
use std::panic::Location;

impl<T: Clone + Send + 'static> Pending<T> {
    /// Applies a function to the value once it is available. The function runs on the device's pending-work thread,
    /// in the order in which such work was map_on_queue; the ops that it records are submitted afterwards. Returns at
    /// once, unless too much work is map_on_queue (back-pressure).
    ///
    /// An error of this promise is the result's error without a call of `f`; a panic in `f` is an
    /// [`Error::Panicked`].
    #[track_caller]
    pub fn map<U: Send + 'static>(self, f: impl FnOnce(T) -> U + Send + 'static) -> Pending<U> {
        self.map_on_queue(Location::caller(), move |value| Ok(f(value)))
    }

    /// Applies a function that can fail; otherwise as [`map`](Pending::map).
    #[track_caller]
    pub fn and_then<U: Send + 'static>(
        self,
        f: impl FnOnce(T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        self.map_on_queue(Location::caller(), f)
    }

    fn map_on_queue<U: Send + 'static>(
        self,
        location: &'static Location<'static>,
        f: impl FnOnce(T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        let device = self.device().cloned().unwrap_or_else(Device::cpu);
        let run_on = RunOn::Queue(device.clone());
        spawn_task(self, &device, run_on, location, flush_after(location, f))
    }

    /// Extracts a part of the value on the completing thread. `take` must be short and must not block.
    fn project<U: Send + 'static>(
        self,
        location: &'static Location<'static>,
        take: impl FnOnce(&T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        let device = self.device().cloned().unwrap_or_else(Device::cpu);
        // Clones only the part, not the whole value.
        let work = move |pending: Pending<T>| {
            let part =
                pending.shared.completion.peek(|value| take(value.as_ref().map_err(Clone::clone)?));
            part.expect("the task runs when the value is available")
        };
        spawn_task(BorrowedOperand(self), &device, RunOn::Inline, location, work)
    }
}

/// An operand whose value is borrowed in place instead of cloned.
struct BorrowedOperand<T>(Pending<T>);

impl<T: Clone + Send + 'static> Operands for BorrowedOperand<T> {
    type Value = Pending<T>;

    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        self.0.park(resume)
    }

    fn take(self) -> Result<Pending<T>> {
        Ok(self.0)
    }
}

impl Pending<()> {
    /// Combines promises into one, whose value holds all values in order. Takes a tuple, an array or a vector;
    /// plain tensors may be mixed in. Completes with the last value; if some fail, with the first error in order.
    ///
    /// ```
    /// use inflight::Pending;
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let many = Pending::join(vec![Pending::ready(1), Pending::ready(2)]);
    /// assert_eq!(many.get()?, [1, 2]);
    /// let both = Pending::join((Pending::ready("one"), Pending::ready(2.0)));
    /// assert_eq!(both.get()?, ("one", 2.0));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn join<A: Argument<Mode = Deferred>>(all: A) -> Pending<A::Value> {
        let location = Location::caller();
        let device = all.device().unwrap_or_else(Device::cpu);
        spawn_task(all.hold(), &device, RunOn::Inline, location, Ok)
    }
}

impl<T: Clone + Send + 'static> Pending<Vec<T>> {
    /// Returns the element at an index as its own promise. If there is none, its error is an [`Error::Invalid`].
    #[track_caller]
    pub fn at(&self, index: usize) -> Pending<T> {
        let location = Location::caller();
        self.clone().project(location, move |elements| {
            elements.get(index).cloned().ok_or_else(|| {
                let count = elements.len();
                Error::Invalid(format!(
                    "element {index} of a pending vector of {count} elements is out of range; at {location}"
                ))
            })
        })
    }

    /// Returns the first `count` elements as separate promises. The error of a missing element is an
    /// [`Error::Invalid`].
    #[track_caller]
    pub fn elements(&self, count: usize) -> Vec<Pending<T>> {
        (0..count).map(|index| self.at(index)).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: Clone + Send + 'static),+> Pending<($($name,)+)> {
            /// Returns the members of the tuple as separate promises.
            #[track_caller]
            pub fn unzip(self) -> ($(Pending<$name>,)+) {
                let location = Location::caller();
                ($(self.clone().project(location, |tuple| Ok(tuple.$position.clone())),)+)
            }
        }
    )*};
}

for_tuples!(tuples);
