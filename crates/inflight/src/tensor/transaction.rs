//! Transactions: batched reads of several tensors with one wait.

use super::Tensor;
use super::read::{copy_elements, host_value, read_when_written};
use crate::runtime::segment::Materialize;
use crate::runtime::value::Value;
use crate::runtime::wait::{HostWait, WaitReason, wait_for_values};
use crate::runtime::{Device, Pending, Promise, recorder};
use crate::{DType, Element, Error, Result, Shape};
use inflight_backend::Fault;
use parking_lot::Mutex;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A batch of reads with one wait: any number of tensors, of any dtypes, on any devices.
///
/// All values are submitted together, so shared work runs once.
///
/// ```
/// use inflight::{Device, Tensor, Transaction};
///
/// # fn main() -> inflight::Result<()> {
/// let device = Device::cpu();
/// let output = Tensor::ones::<f32>([2, 3], &device).exp();
/// let loss = output.mean_all();
/// let targets = Tensor::zeros::<i64>([2], &device);
/// let [output, loss, targets] = Transaction::default()
///     .register(&output)
///     .register(&loss)
///     .register(&targets)
///     .execute()?
///     .try_into()
///     .expect("three tensors");
/// assert_eq!(targets.to_vec::<i64>()?, [0, 0]);
/// # let _ = (output, loss);
/// # Ok(())
/// # }
/// ```
#[doc(alias("device_get"))]
#[derive(Clone, Default, Debug)]
#[must_use = "nothing is read until the transaction is executed"]
pub struct Transaction {
    tensors: Vec<Tensor>,
}

/// The elements of one tensor of a [`Transaction`], in host memory.
#[derive(Clone)]
pub struct TensorData {
    shape: Shape,
    dtype: DType,
    value: Arc<Value>,
}

impl Transaction {
    /// Adds a tensor. The results have the order of registration.
    pub fn register(mut self, tensor: &Tensor) -> Transaction {
        self.tensors.push(tensor.clone());
        self
    }

    /// Reads all tensors, in the order of registration. Waits once, for all of them.
    ///
    /// # Errors
    /// The error of the first failed tensor in that order, or [`Error::WaitDenied`] under a
    /// [`SyncGuard`](crate::SyncGuard). The other tensors can still be read.
    #[track_caller]
    pub fn execute(self) -> Result<Vec<TensorData>> {
        let location = Location::caller();
        let is_ready = |tensor: &&Tensor| tensor.node().value().is_some_and(|v| v.is_ready());
        let missing = self.tensors.iter().find(|tensor| !is_ready(tensor));
        let Some(device) = missing.or(self.tensors.first()).map(Tensor::device) else {
            return Ok(Vec::new());
        };
        let mut waiting = HostWait::new(device, WaitReason::Read, location);
        if missing.is_some()
            && let Err(denied) = waiting.begin()
        {
            // A denied wait still submits the requested values.
            self.submit(false, location)?;
            return Err(denied);
        }
        let results = self.submit(true, location)?;
        let waited = self.tensors.iter().zip(&results);
        wait_for_values(
            waited.map(|(tensor, data)| (tensor.device(), &*data.value)),
            &mut waiting,
        )?;
        Ok(results)
    }

    /// Starts the reads of all tensors and returns a promise for their elements. Never waits.
    ///
    /// The promise has the errors of [`execute`](Transaction::execute).
    #[track_caller]
    pub fn execute_async(self) -> Pending<Vec<TensorData>> {
        let location = Location::caller();
        let device = self.tensors.first().map(|tensor| tensor.device().clone());
        let results = match self.submit(false, location) {
            Ok(results) => results,
            Err(error) => return Pending::completed(Err(error), device),
        };
        let Some(device) = device else { return Pending::ready(results) };
        let (promise, pending) = Promise::of("read", &device, location);
        let values: Vec<_> = results.iter().map(|data| data.value.clone()).collect();
        let reads = Arc::new(OutstandingReads {
            remaining: AtomicUsize::new(values.len()),
            completion: Mutex::new(Some(Completion { promise, results })),
        });
        for (tensor, value) in self.tensors.iter().zip(values) {
            let reads = reads.clone();
            match tensor.device().capabilities().host_visible {
                true => {
                    let callback = Box::new(move |_: std::result::Result<&[u8], Fault>| {
                        reads.complete_one();
                    });
                    read_when_written(tensor.device(), value, callback);
                }
                // `submit` has started the copy to host memory.
                false => value.when_written(move |_| reads.complete_one()),
            }
        }
        pending
    }

    /// Submits the values that are only recorded. The results refer to values that may still be in flight.
    fn submit(
        &self,
        assisted: bool,
        location: &'static Location<'static>,
    ) -> Result<Vec<TensorData>> {
        for tensor in &self.tensors {
            tensor.check()?;
        }
        let mut devices: Vec<Device> = Vec::new();
        for tensor in &self.tensors {
            if !devices.contains(tensor.device()) {
                devices.push(tensor.device().clone());
            }
        }
        for device in &devices {
            let on_device = self.tensors.iter().filter(|tensor| tensor.device() == device);
            let outputs: Vec<_> = on_device.map(|tensor| tensor.node().clone()).collect();
            if outputs.iter().any(|node| node.value().is_none()) {
                recorder::submit(device, &outputs, Materialize::WorthStoring, assisted, location);
            }
        }
        let results = self
            .tensors
            .iter()
            .map(|tensor| TensorData {
                shape: tensor.shape().clone(),
                dtype: tensor.dtype(),
                value: host_value(
                    tensor.device(),
                    tensor.node().value().expect("a scheduled node has a value"),
                ),
            })
            .collect();
        Ok(results)
    }
}

/// The reads in flight of one asynchronous transaction.
struct OutstandingReads {
    remaining: AtomicUsize,
    /// Taken by the read that completes last.
    completion: Mutex<Option<Completion>>,
}

/// The promise of a transaction and the results that complete it.
struct Completion {
    promise: Promise<Vec<TensorData>>,
    results: Vec<TensorData>,
}

impl OutstandingReads {
    /// Counts one completed read. The last one completes the promise.
    fn complete_one(&self) {
        if self.remaining.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let completion = self.completion.lock().take();
        if let Some(Completion { promise, results }) = completion {
            let fault = results.iter().find_map(|data| data.value.buffer().fault().cloned());
            promise.complete(fault.map_or(Ok(results), |fault| Err(fault.into())));
        }
    }
}

impl TensorData {
    /// The extents, outermost axis first.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Copies the elements in row-major order. Never waits: they are in host memory.
    ///
    /// # Errors
    /// [`Error::ReadType`] if `T` is not the dtype.
    #[doc(alias("numpy", "tolist"))]
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.dtype != T::DTYPE {
            let location = Location::caller();
            return Err(Error::ReadType { expected: T::DTYPE, found: self.dtype, location });
        }
        Ok(copy_elements(&self.value.buffer(), self.shape.element_count()))
    }

    /// Returns the element of data that has exactly one. Never waits.
    ///
    /// # Errors
    /// [`Error::NotOneElement`] if there is not exactly one element, [`Error::ReadType`] if `T` is not the dtype.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec::<T>()?.as_slice() {
            [element] => Ok(*element),
            _ => {
                let location = Location::caller();
                Err(Error::NotOneElement { shape: self.shape.clone(), location })
            }
        }
    }
}

impl std::fmt::Debug for TensorData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TensorData({}{})", self.dtype, self.shape)
    }
}
