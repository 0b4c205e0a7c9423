//! Looking at values: the only methods of a tensor that wait.

use super::Tensor;
use crate::lists::for_elements;
use crate::runtime::value::Value;
use crate::runtime::wait::{HostWait, WaitReason, wait_for_values};
use crate::runtime::{Device, Pending, Promise, recorder};
use crate::{DType, Element, Error, Result};
use inflight_backend::{Buffer, Fault, Memory, ReadCallback, Timeline};
use std::future::IntoFuture;
use std::panic::Location;
use std::sync::Arc;

impl Tensor {
    /// The elements in row-major order. Submits what this thread recorded, and waits for this value alone.
    ///
    /// `T` must be the tensor's dtype; [`cast`](Tensor::cast) first otherwise.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let location = Location::caller();
        self.readable::<T>(location)?;
        let value = self.waited_for(WaitReason::Read, location)?;
        Ok(copy_out(&value.buffer(), self.elements()))
    }

    /// The one element of a tensor that has exactly one. Waits as [`to_vec`](Tensor::to_vec) does.
    ///
    /// `T` must be the tensor's dtype, or `usize` or `isize` for a tensor of any integer dtype, such as the result of
    /// [`argmax`](Tensor::argmax).
    ///
    /// # Errors
    /// If there is not exactly one element, if it has another dtype, or if `usize` or `isize` has no such value.
    #[track_caller]
    pub fn item<T: Item>(&self) -> Result<T> {
        let location = Location::caller();
        self.check()?;
        if !T::reads(self.dtype()) {
            return Err(Error::ReadType { expected: T::EXPECTED, found: self.dtype(), location });
        }
        if self.elements() != 1 {
            return Err(Error::NotOneElement { shape: self.shape().clone(), location });
        }
        let value = self.waited_for(WaitReason::Read, location)?;
        T::from_buffer(&value.buffer(), self.dtype(), location)
    }

    /// As [`to_vec`](Tensor::to_vec), without waiting: the promise gives the elements.
    #[track_caller]
    pub fn to_vec_async<T: Element>(&self) -> Pending<Vec<T>> {
        self.read_async(Location::caller(), |elements| elements)
    }

    /// As [`item`](Tensor::item), without waiting: the promise gives the element.
    #[track_caller]
    pub fn item_async<T: Element>(&self) -> Pending<T> {
        let location = Location::caller();
        if self.elements() != 1 && self.check().is_ok() {
            let (promise, pending) = Promise::of("read", self.device(), location);
            promise.complete(Err(Error::NotOneElement { shape: self.shape().clone(), location }));
            return pending;
        }
        self.read_async(location, |elements: Vec<T>| elements[0])
    }

    /// As [`wait`](Tensor::wait), without waiting: the promise gives the tensor once its value is in memory. `.await` on a
    /// tensor does the same.
    #[track_caller]
    pub fn wait_async(&self) -> Pending<Tensor> {
        let location = Location::caller();
        let (promise, pending) = Promise::of("computation", self.device(), location);
        if let Err(error) = self.check() {
            promise.complete(Err(error));
            return pending;
        }
        self.submit();
        let value = self.node().value().expect("a scheduled node has a value").clone();
        let tensor = self.clone();
        value.when_written(move |buffer| {
            promise.complete(match buffer.fault() {
                Some(fault) => Err(fault.clone().into()),
                None => Ok(tensor),
            });
        });
        pending
    }

    /// Starts the computation of the value, if it was only recorded. Does not wait for it.
    pub fn submit(&self) {
        if !self.is_failed() {
            recorder::schedule(self.node());
        }
    }

    /// Waits until the value is in memory.
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        self.check()?;
        self.waited_for(WaitReason::Sync, location)?;
        Ok(())
    }

    /// Whether the value is in memory. Does not wait for it; submits it if it was only recorded, so that it will be.
    pub fn is_ready(&self) -> bool {
        if self.node().error().is_some() {
            return true;
        }
        match self.node().value() {
            Some(value) => value.is_ready(),
            None => {
                recorder::schedule(self.node());
                self.node().value().is_some_and(|value| value.is_ready())
            }
        }
    }

    fn readable<T: Element>(&self, location: &'static Location<'static>) -> Result<()> {
        self.check()?;
        match self.dtype() == T::DTYPE {
            true => Ok(()),
            false => Err(Error::ReadType { expected: T::DTYPE, found: self.dtype(), location }),
        }
    }

    /// The value in memory, waited for.
    pub(crate) fn waited_for(
        &self,
        reason: WaitReason,
        location: &'static Location<'static>,
    ) -> Result<Arc<Value>> {
        self.check()?;
        let mut waiting = HostWait::new(self.device(), reason, location);
        if !self.node().value().is_some_and(|value| value.is_ready())
            && let Err(denied) = waiting.begin()
        {
            // It was asked for: it is computed, if not waited for.
            recorder::schedule(self.node());
            return Err(denied);
        }
        waiting.set_unflushed(recorder::schedule_and_assist(self.node()));
        let value = self.node().value().expect("a scheduled node has a value");
        let value = match reason {
            WaitReason::Read => host_value(self.device(), value),
            _ => value.clone(),
        };
        wait_for_values(std::iter::once((self.device(), &*value)), &mut waiting)?;
        Ok(value)
    }

    pub(crate) fn read_async<T: Element, R: Send + 'static>(
        &self,
        location: &'static Location<'static>,
        take: impl FnOnce(Vec<T>) -> R + Send + 'static,
    ) -> Pending<R> {
        let (promise, pending) = Promise::of("read", self.device(), location);
        if let Err(error) = self.readable::<T>(location) {
            promise.complete(Err(error));
            return pending;
        }
        recorder::schedule(self.node());
        let value = self.node().value().expect("a scheduled node has a value").clone();
        let callback = Box::new(move |bytes: std::result::Result<&[u8], Fault>| {
            let result = bytes.map(|bytes| take(elements_of(bytes)));
            promise.complete(result.map_err(Error::from));
        });
        read_when_written(self.device(), value, callback);
        pending
    }
}

impl IntoFuture for Tensor {
    type Output = Result<Tensor>;
    type IntoFuture = Pending<Tensor>;

    /// Suspends until the value is in memory, as [`wait_async`](Tensor::wait_async).
    #[track_caller]
    fn into_future(self) -> Pending<Tensor> {
        self.wait_async()
    }
}

impl IntoFuture for &Tensor {
    type Output = Result<Tensor>;
    type IntoFuture = Pending<Tensor>;

    /// Suspends until the value is in memory, as [`wait_async`](Tensor::wait_async).
    #[track_caller]
    fn into_future(self) -> Pending<Tensor> {
        self.wait_async()
    }
}

/// What [`Tensor::item`] can read: every [`Element`] type, and `usize` and `isize` of any integer dtype.
#[diagnostic::on_unimplemented(
    message = "a tensor's element cannot be read as `{Self}`",
    note = "expected `bool`, an integer, `f16`, `bf16`, `f32`, `f64` or a complex type"
)]
pub trait Item: sealed::Sealed {}

mod sealed {
    use crate::{DType, Result};
    use inflight_backend::Buffer;
    use std::panic::Location;

    /// Keeps [`Item`](super::Item) to the types of this crate.
    pub trait Sealed: Sized {
        /// The dtype that an error asks for.
        const EXPECTED: DType;

        /// Whether an element of this dtype can be read.
        fn reads(dtype: DType) -> bool;

        /// The first element of a buffer of this dtype that is written and has no fault.
        fn from_buffer(
            buffer: &Buffer,
            dtype: DType,
            location: &'static Location<'static>,
        ) -> Result<Self>;
    }
}

macro_rules! items {
    ($($type:ty),*) => {$(
        impl Item for $type {}
        impl sealed::Sealed for $type {
            const EXPECTED: DType = <$type as Element>::DTYPE;

            fn reads(dtype: DType) -> bool {
                dtype == Self::EXPECTED
            }

            fn from_buffer(
                buffer: &Buffer,
                _: DType,
                _: &'static Location<'static>,
            ) -> Result<$type> {
                Ok(copy_out::<$type>(buffer, 1)[0])
            }
        }
    )*};
}

for_elements!(items);

macro_rules! sizes {
    ($($type:ty: $dtype:ident),*) => {$(
        impl Item for $type {}
        impl sealed::Sealed for $type {
            const EXPECTED: DType = DType::$dtype;

            fn reads(dtype: DType) -> bool {
                dtype.is_integer()
            }

            fn from_buffer(
                buffer: &Buffer,
                dtype: DType,
                location: &'static Location<'static>,
            ) -> Result<$type> {
                let value = match dtype {
                    DType::I8 => copy_out::<i8>(buffer, 1)[0].into(),
                    DType::I16 => copy_out::<i16>(buffer, 1)[0].into(),
                    DType::I32 => copy_out::<i32>(buffer, 1)[0].into(),
                    DType::I64 => copy_out::<i64>(buffer, 1)[0].into(),
                    DType::U8 => copy_out::<u8>(buffer, 1)[0].into(),
                    DType::U16 => copy_out::<u16>(buffer, 1)[0].into(),
                    DType::U32 => copy_out::<u32>(buffer, 1)[0].into(),
                    _ => i128::from(copy_out::<u64>(buffer, 1)[0]),
                };
                value.try_into().map_err(|_| {
                    let name = stringify!($type);
                    Error::Invalid(format!("item: {name} has no value {value}; at {location}"))
                })
            }
        }
    )*};
}

sizes!(usize: U64, isize: I64);

/// Shows a value to the callback once it is in memory.
///
/// The value's own event starts the copy, on a stream that only reads: what is queued behind the value does not
/// hold its reader up, nor the other way round.
pub(super) fn read_when_written(device: &Device, value: Arc<Value>, callback: ReadCallback) {
    let reads = device.reads().clone();
    reads.register();
    value.when_written(move |source| reads.enqueue(source, callback));
}

/// The value in memory that the host can read: itself, or a copy that is made when it is written.
pub(crate) fn host_value(device: &Device, value: &Arc<Value>) -> Arc<Value> {
    if device.capabilities().host_visible {
        return value.clone();
    }
    let target = Buffer::declare(value.buffer().bytes());
    let event = Timeline::new().event(1);
    let copy = Value::ready_at(target.clone(), event.clone());
    let callback = Box::new(move |bytes: std::result::Result<&[u8], Fault>| {
        match bytes {
            Ok(bytes) => {
                let _ = target.provide(host_memory(bytes));
            }
            Err(fault) => target.fail(fault),
        }
        event.signal();
    });
    read_when_written(device, value.clone(), callback);
    copy
}

/// A copy of bytes, aligned for elements of any dtype.
fn host_memory(bytes: &[u8]) -> Memory {
    let mut words = vec![0u64; bytes.len().div_ceil(size_of::<u64>())];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Memory::adopt(words)
}

/// The elements of a buffer that is written and has no fault.
pub(crate) fn copy_out<T: Element>(buffer: &Buffer, elements: usize) -> Vec<T> {
    let Some(memory) = buffer.memory().filter(|_| elements > 0) else { return Vec::new() };
    debug_assert!(memory.bytes() >= elements * size_of::<T>());
    let mut result: Vec<T> = Vec::with_capacity(elements);
    // SAFETY: the buffer was declared for this many elements of T's dtype, its event was reached, so it
    // was written, and nothing writes it again. Bool bytes are 0 or 1, as every kernel writes them.
    unsafe {
        std::ptr::copy_nonoverlapping(memory.ptr().cast::<T>(), result.as_mut_ptr(), elements);
        result.set_len(elements);
    }
    result
}

/// The elements in the bytes of a buffer.
fn elements_of<T: Element>(bytes: &[u8]) -> Vec<T> {
    let elements = bytes.len() / size_of::<T>();
    let mut result: Vec<T> = Vec::with_capacity(elements);
    // SAFETY: a buffer of this dtype has whole elements, every byte of which is written. Bool bytes are 0 or 1,
    // as every kernel writes them. The new vector has room for them, and nothing else knows it.
    unsafe {
        let target = result.as_mut_ptr().cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, elements * size_of::<T>());
        result.set_len(elements);
    }
    result
}
