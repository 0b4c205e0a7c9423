//! Promises made from promises.
//!
//! An error, or a panic, of one is that of all that are made from it.

use super::Pending;
use super::task::{Operands, Place, Resume, start, submitted};
use crate::lists::for_tuples;
use crate::pending::{Argument, Deferred};
use crate::runtime::Device;
use crate::{Error, Result};
use std::panic::Location;

impl<T: Clone + Send + 'static> Pending<T> {
    /// What `f` makes of the value. It runs on the device's thread for pending work, in the order in which
    /// such work was asked for; ops that it records are submitted.
    #[track_caller]
    pub fn map<U: Send + 'static>(self, f: impl FnOnce(T) -> U + Send + 'static) -> Pending<U> {
        self.queued(Location::caller(), move |value| Ok(f(value)))
    }

    /// As [`map`](Pending::map), with a function that can fail.
    #[track_caller]
    pub fn and_then<U: Send + 'static>(
        self,
        f: impl FnOnce(T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        self.queued(Location::caller(), f)
    }

    fn queued<U: Send + 'static>(
        self,
        location: &'static Location<'static>,
        f: impl FnOnce(T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        let device = self.device().cloned().unwrap_or_else(Device::cpu);
        let place = Place::Queue(device.clone());
        start(self, &device, place, location, submitted(location, f))
    }

    /// A part of the value, taken on the thread that completes it: `take` must be short and must not block.
    fn part<U: Send + 'static>(
        self,
        location: &'static Location<'static>,
        take: impl FnOnce(&T) -> Result<U> + Send + 'static,
    ) -> Pending<U> {
        let device = self.device().cloned().unwrap_or_else(Device::cpu);
        // Only the part is cloned, not all of the value.
        let work = move |whole: Pending<T>| {
            let part =
                whole.shared.completion.peek(|value| take(value.as_ref().map_err(Clone::clone)?));
            part.expect("a part is taken when the value is there")
        };
        start(Unlooked(self), &device, Place::Inline, location, work)
    }
}

/// A promise whose value is waited for and then looked at in place.
struct Unlooked<T>(Pending<T>);

impl<T: Clone + Send + 'static> Operands for Unlooked<T> {
    type Value = Pending<T>;

    fn park(&mut self, resume: &mut Resume<'_>) -> bool {
        self.0.park(resume)
    }

    fn take(self) -> Result<Pending<T>> {
        Ok(self.0)
    }
}

impl Pending<()> {
    /// All values together, in their order, once the last of them is there; the first error in their order, if
    /// there is one. Takes a tuple, an array or a vector, also with plain tensors in between.
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
        start(all.hold(), &device, Place::Inline, location, Ok)
    }
}

impl<T: Clone + Send + 'static> Pending<Vec<T>> {
    /// The element at this index. [`Error::Invalid`] if there is none.
    #[track_caller]
    pub fn at(&self, index: usize) -> Pending<T> {
        let location = Location::caller();
        self.clone().part(location, move |elements| {
            elements.get(index).cloned().ok_or_else(|| {
                let count = elements.len();
                Error::Invalid(format!(
                    "element {index} of a pending vector of {count} at {location}"
                ))
            })
        })
    }

    /// The first `count` elements, each on its own. One that does not exist is an [`Error::Invalid`].
    #[track_caller]
    pub fn elements(&self, count: usize) -> Vec<Pending<T>> {
        (0..count).map(|index| self.at(index)).collect()
    }
}

macro_rules! tuples {
    ($($($name:ident $position:tt),+;)*) => {$(
        impl<$($name: Clone + Send + 'static),+> Pending<($($name,)+)> {
            /// The values of the tuple, each on its own.
            #[track_caller]
            pub fn unzip(self) -> ($(Pending<$name>,)+) {
                let location = Location::caller();
                ($(self.clone().part(location, |tuple| Ok(tuple.$position.clone())),)+)
            }
        }
    )*};
}

for_tuples!(tuples);
