//! Many reads, one wait.

use super::Tensor;
use super::read::{copy_out, host_value, read_when_written};
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

/// Tensors that are read together: any number, any dtypes, any devices, and exactly one wait.
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
#[derive(Clone, Default, Debug)]
#[must_use = "nothing is read until the transaction is executed"]
pub struct Transaction {
    tensors: Vec<Tensor>,
}

/// A tensor's elements on the host.
#[derive(Clone)]
pub struct TensorData {
    shape: Shape,
    dtype: DType,
    value: Arc<Value>,
}

impl Transaction {
    /// Adds a tensor. Its elements come back at this place of the order.
    pub fn register(mut self, tensor: &Tensor) -> Transaction {
        self.tensors.push(tensor.clone());
        self
    }

    /// Reads all tensors, in the order they were registered. Waits once.
    ///
    /// The first failed tensor of that order is the error; the others can still be read.
    #[track_caller]
    pub fn execute(self) -> Result<Vec<TensorData>> {
        let location = Location::caller();
        let is_there = |tensor: &&Tensor| tensor.node().value().is_some_and(|v| v.is_ready());
        let missing = self.tensors.iter().find(|tensor| !is_there(tensor));
        let Some(device) = missing.or(self.tensors.first()).map(Tensor::device) else {
            return Ok(Vec::new());
        };
        let mut waiting = HostWait::new(device, WaitReason::Read, location);
        if missing.is_some()
            && let Err(denied) = waiting.begin()
        {
            // They were asked for: they are computed, if not waited for.
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

    /// As [`execute`](Transaction::execute), without waiting: the promise gives the elements of all tensors.
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
        let all = Arc::new(Outstanding {
            left: AtomicUsize::new(values.len()),
            results: Mutex::new(Some(Results { promise, all: results })),
        });
        for (tensor, value) in self.tensors.iter().zip(values) {
            let all = all.clone();
            match tensor.device().capabilities().host_visible {
                true => {
                    let callback = Box::new(move |_: std::result::Result<&[u8], Fault>| {
                        all.one_is_there();
                    });
                    read_when_written(tensor.device(), value, callback);
                }
                // The copy on the host is being read already.
                false => value.when_written(move |_| all.one_is_there()),
            }
        }
        pending
    }

    /// Submits what is not there yet.
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
            let wanted: Vec<_> = on_device.map(|tensor| tensor.node().clone()).collect();
            if wanted.iter().any(|node| node.value().is_none()) {
                recorder::submit(device, &wanted, Materialize::WorthStoring, assisted, location);
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

/// Reads that are under way, and what is to be done when the last is there.
struct Outstanding {
    left: AtomicUsize,
    /// Taken by the last.
    results: Mutex<Option<Results>>,
}

/// What was read, and who waits for it.
struct Results {
    promise: Promise<Vec<TensorData>>,
    all: Vec<TensorData>,
}

impl Outstanding {
    fn one_is_there(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        let results = self.results.lock().take();
        if let Some(Results { promise, all }) = results {
            let fault = all.iter().find_map(|data| data.value.buffer().fault().cloned());
            promise.complete(fault.map_or(Ok(all), |fault| Err(fault.into())));
        }
    }
}

impl TensorData {
    /// The extents, outermost first.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The elements in row-major order. Does not wait: they are there.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if self.dtype != T::DTYPE {
            let location = Location::caller();
            return Err(Error::ReadType { expected: T::DTYPE, found: self.dtype, location });
        }
        Ok(copy_out(&self.value.buffer(), self.shape.elements()))
    }

    /// The one element of data that has exactly one.
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
