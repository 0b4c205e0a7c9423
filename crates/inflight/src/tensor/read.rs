//! Reads and synchronization: the methods that submit recorded work, copy values to the host, and wait.

use super::Tensor;
use crate::runtime::value::Value;
use crate::runtime::wait::{HostWait, WaitReason, wait_for_values};
use crate::runtime::{Device, Pending, Promise, recorder};
use crate::{Element, Error, Item, Result, Scalar};
use inflight_backend::{Buffer, Fault, Memory, ReadCallback, Timeline};
use std::future::IntoFuture;
use std::panic::Location;
use std::sync::Arc;

impl Tensor {
    /// Reads the elements in row-major order. Waits for this value.
    ///
    /// The read submits the recorded work that the value needs. Other work in flight is not waited for.
    /// [`Transaction`](crate::Transaction) reads several tensors with one wait.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_array([[1.0f32, 2.0], [3.0, 4.0]], &Device::cpu());
    /// assert_eq!(x.exp().log().round().to_vec::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`Error::ReadType`] if `T` is not the tensor's dtype; convert it with [`cast`](Tensor::cast) first.
    /// - [`Error::WaitDenied`] under a [`SyncGuard`](crate::SyncGuard) that denies waiting.
    /// - The first error of the value's computation.
    #[doc(alias("numpy", "tolist", "ravel", "asarray", "device_get"))]
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        let location = Location::caller();
        self.check_readable::<T>(location)?;
        let value = self.wait_for_value(WaitReason::Read, location)?;
        Ok(copy_elements(&value.buffer(), self.element_count()))
    }

    /// Reads the element of a tensor that has exactly one. Waits for this value.
    ///
    /// `T` is the tensor's dtype, or `usize` or `isize` for a tensor of any integer dtype, such as the result of
    /// [`argmax`](Tensor::argmax).
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_array([1.0f32, 5.0, 3.0], &Device::cpu());
    /// assert_eq!(x.sum_all().item::<f32>()?, 9.0);
    /// assert_eq!(x.argmax(0).item::<usize>()?, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - [`Error::NotOneElement`] if the tensor does not have exactly one element.
    /// - [`Error::ReadType`] if `T` is not the tensor's dtype.
    /// - [`Error::Invalid`] if `usize` or `isize` cannot represent the element.
    /// - The errors of [`to_vec`](Tensor::to_vec).
    #[doc(alias("as_scalar", "to_scalar"))]
    #[track_caller]
    pub fn item<T: Item>(&self) -> Result<T> {
        let location = Location::caller();
        self.check()?;
        if !T::reads(self.dtype()) {
            return Err(Error::ReadType { expected: T::EXPECTED, found: self.dtype(), location });
        }
        if self.element_count() != 1 {
            return Err(Error::NotOneElement { shape: self.shape().clone(), location });
        }
        let value = self.wait_for_value(WaitReason::Read, location)?;
        let bytes = copy_elements::<u8>(&value.buffer(), self.dtype().size());
        let element = Scalar::from_bytes(self.dtype(), &bytes);
        T::from_element(element).ok_or_else(|| {
            let name = std::any::type_name::<T>();
            let dtype = self.dtype();
            Error::Invalid(format!(
                "item: expected an element that {name} can represent, found {element}; read it as {dtype}; at {location}"
            ))
        })
    }

    /// Starts a read of the elements and returns a promise for them. Never waits.
    ///
    /// The promise has the errors of [`to_vec`](Tensor::to_vec).
    #[doc(alias("copy_to_host_async", "non_blocking"))]
    #[track_caller]
    pub fn to_vec_async<T: Element>(&self) -> Pending<Vec<T>> {
        self.read_async(Location::caller(), |elements| elements)
    }

    /// Starts a read of the single element and returns a promise for it. Never waits.
    ///
    /// `T` is the tensor's dtype. The promise has the errors of [`item`](Tensor::item).
    #[track_caller]
    pub fn item_async<T: Element>(&self) -> Pending<T> {
        let location = Location::caller();
        if self.element_count() != 1 && self.check().is_ok() {
            let (promise, pending) = Promise::of("read", self.device(), location);
            promise.complete(Err(Error::NotOneElement { shape: self.shape().clone(), location }));
            return pending;
        }
        self.read_async(location, |elements: Vec<T>| elements[0])
    }

    /// Submits the value and returns a promise that completes with this tensor when the value is in memory. Never waits.
    ///
    /// `.await` on a tensor does the same. The promise has the errors of the value's computation.
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

    /// Submits the recorded work that computes this value. Does not wait for the value.
    ///
    /// It has no effect if the value is submitted already or has failed.
    #[doc(alias("eval", "async_eval", "flush", "launch"))]
    pub fn submit(&self) {
        if !self.is_failed() {
            recorder::schedule(self.node());
        }
    }

    /// Submits the value and waits until it is in memory.
    ///
    /// # Errors
    /// The first error of the value's computation, or [`Error::WaitDenied`] under a [`SyncGuard`](crate::SyncGuard).
    #[doc(alias("block_until_ready", "synchronize", "eval"))]
    #[track_caller]
    pub fn wait(&self) -> Result<()> {
        let location = Location::caller();
        self.check()?;
        self.wait_for_value(WaitReason::Sync, location)?;
        Ok(())
    }

    /// Whether the value is in memory or has failed. Never waits.
    ///
    /// Submits the value if it was only recorded, so that polling ends.
    #[doc(alias("query", "done"))]
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

    /// Checks that the value has not failed and has the dtype of `T`.
    fn check_readable<T: Element>(&self, location: &'static Location<'static>) -> Result<()> {
        self.check()?;
        match self.dtype() == T::DTYPE {
            true => Ok(()),
            false => Err(Error::ReadType { expected: T::DTYPE, found: self.dtype(), location }),
        }
    }

    /// Submits the value and waits until it is in memory; for a read, in memory that the host can access.
    pub(crate) fn wait_for_value(
        &self,
        reason: WaitReason,
        location: &'static Location<'static>,
    ) -> Result<Arc<Value>> {
        self.check()?;
        let mut waiting = HostWait::new(self.device(), reason, location);
        if !self.node().value().is_some_and(|value| value.is_ready())
            && let Err(denied) = waiting.begin()
        {
            // A denied wait still submits the requested value.
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

    /// Starts a read and returns a promise for `convert` of the elements.
    pub(crate) fn read_async<T: Element, R: Send + 'static>(
        &self,
        location: &'static Location<'static>,
        convert: impl FnOnce(Vec<T>) -> R + Send + 'static,
    ) -> Pending<R> {
        let (promise, pending) = Promise::of("read", self.device(), location);
        if let Err(error) = self.check_readable::<T>(location) {
            promise.complete(Err(error));
            return pending;
        }
        recorder::schedule(self.node());
        let value = self.node().value().expect("a scheduled node has a value").clone();
        let callback = Box::new(move |bytes: std::result::Result<&[u8], Fault>| {
            let result = bytes.map(|bytes| convert(elements_from_bytes(bytes)));
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

/// Calls the callback with the bytes of a value once the value is in memory.
///
/// The value's event starts the copy on a stream of its own, which only reads. A read therefore neither waits for the
/// work queued behind the value nor delays it.
pub(super) fn read_when_written(device: &Device, value: Arc<Value>, callback: ReadCallback) {
    let reads = device.reads().clone();
    reads.register();
    value.when_written(move |source| reads.enqueue(source, callback));
}

/// Returns the value in host-visible memory: the value itself, or a copy that starts when the value is written.
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
                let _ = target.provide(copy_to_host_memory(bytes));
            }
            Err(fault) => target.fail(fault),
        }
        event.signal();
    });
    read_when_written(device, value.clone(), callback);
    copy
}

/// Copies bytes to host memory that is aligned for elements of any dtype.
fn copy_to_host_memory(bytes: &[u8]) -> Memory {
    let mut words = vec![0u64; bytes.len().div_ceil(size_of::<u64>())];
    bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
    Memory::adopt(words)
}

/// Copies the elements out of a buffer that is written and has no fault.
pub(crate) fn copy_elements<T: Element>(buffer: &Buffer, elements: usize) -> Vec<T> {
    let Some(memory) = buffer.memory().filter(|_| elements > 0) else { return Vec::new() };
    debug_assert!(memory.bytes() >= elements * size_of::<T>());
    let mut result: Vec<T> = Vec::with_capacity(elements);
    // SAFETY: the buffer was declared for `elements` elements of T's dtype. Its event was reached, so all of them are
    // written, and nothing writes them again. Every kernel writes bool bytes as 0 or 1.
    unsafe {
        std::ptr::copy_nonoverlapping(memory.ptr().cast::<T>(), result.as_mut_ptr(), elements);
        result.set_len(elements);
    }
    result
}

/// Copies the elements out of the bytes of a buffer.
fn elements_from_bytes<T: Element>(bytes: &[u8]) -> Vec<T> {
    let elements = bytes.len() / size_of::<T>();
    let mut result: Vec<T> = Vec::with_capacity(elements);
    // SAFETY: a buffer of T's dtype holds a whole number of elements, and every byte is written. Every kernel writes bool
    // bytes as 0 or 1. The new vector has the capacity, and no other reference to it exists.
    unsafe {
        let target = result.as_mut_ptr().cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, elements * size_of::<T>());
        result.set_len(elements);
    }
    result
}
