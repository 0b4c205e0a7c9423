//! Tensor creation: from host data, constant fills, ranges and the identity matrix.
//!
//! Host data is uploaded at once. The other constructors record an op, which is fused into its readers and takes no
//! memory unless its result is materialized.
//!
//! The order of arguments is: elements, shape, dtype or seed, device. A constructor from host data returns a `Result`,
//! because the data may not have as many elements as the shape. The others return a [`Tensor`], which carries the
//! error if there is one.

use super::axis::{Axis, axis as axis_of};
use super::method::{method, naming};
use super::operand::{convert_scalar, integer_value};
use super::record::{caller, constant, mistake, record_at, record_source};
use super::{Node, Tensor};
use crate::runtime::Device;
use crate::runtime::value::Value;
use crate::{DType, Element, Error, Result, Scalar, Shape};
use inflight_ir::graph::Op;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;

impl Tensor {
    /// Creates a tensor that owns the elements of a vector, in row-major order. Never waits.
    ///
    /// A device that uses host memory adopts the vector without a copy. A device with its own memory copies it in the
    /// background.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], &Device::cpu())?;
    /// assert_eq!(x.shape().extents(), [2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is not that of the shape.
    #[doc(alias("tensor", "array", "asarray", "from_numpy"))]
    #[track_caller]
    pub fn from_vec<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::from_host_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_vec(data)
        })
    }

    /// Creates a tensor from a copy of a slice, in row-major order. Never waits.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is not that of the shape.
    #[doc(alias("tensor", "array"))]
    #[track_caller]
    pub fn from_slice<T: Element>(
        data: &[T],
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::from_host_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_slice(data)
        })
    }

    /// Creates a tensor from a copy of a shared vector, in row-major order, so that the caller can reuse the vector as
    /// a staging buffer. Never waits.
    ///
    /// The copy is made at once on a device that uses host memory, and in the background on a device with its own
    /// memory. After the copy the device releases its reference, and `Arc::get_mut` gives the vector back for the next
    /// batch. Allocating a large vector for each batch costs the host more than the copy.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    /// use std::sync::Arc;
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// let mut batch = Arc::new(vec![1.0f32, 2.0]);
    /// let x = Tensor::from_shared(batch.clone(), [2], &device)?;
    /// x.wait()?;
    /// if let Some(batch) = Arc::get_mut(&mut batch) {
    ///     batch.fill(3.0);
    /// }
    /// assert_eq!(x.to_vec::<f32>()?, [1.0, 2.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is not that of the shape.
    #[doc(alias("from_numpy", "as_tensor", "pin_memory"))]
    #[track_caller]
    pub fn from_shared<T: Element>(
        data: Arc<Vec<T>>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::from_host_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_shared(data)
        })
    }

    /// Creates a tensor from `len` host elements. Calls `value` only if the shape has as many.
    fn from_host_data<T: Element>(
        len: usize,
        shape: Shape,
        device: &Device,
        location: &'static Location<'static>,
        value: impl FnOnce() -> Arc<Value>,
    ) -> Result<Tensor> {
        let location = caller(location);
        if shape.checked_element_count() != Some(len) {
            return Err(Error::Length { len, shape, location });
        }
        let node = Node::realized(value(), shape, T::DTYPE, device, location);
        Ok(Tensor::from_node(Arc::new(node)))
    }

    /// Creates a tensor from elements in column-major (Fortran) order: the first axis varies fastest. Never waits.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is not that of the shape.
    #[doc(alias("asfortranarray", "fortran"))]
    #[track_caller]
    pub fn from_vec_column_major<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        let location = Location::caller();
        let shape = shape.into();
        if shape.checked_element_count() != Some(data.len()) {
            return Err(Error::Length { len: data.len(), shape, location });
        }
        let reversed: Shape = shape.iter().rev().copied().collect();
        let stored = Tensor::from_vec(data, reversed, device)?;
        let axes = (0..shape.rank()).rev().collect();
        Ok(record_at(Op::Permute(axes), &[&stored], location))
    }

    /// Creates a tensor from a vector and casts it to `dtype`, for example `f64` data to `f32`. Never waits.
    ///
    /// The device converts the elements, as [`cast`](Tensor::cast) does.
    ///
    /// # Errors
    /// [`Error::Length`] if the number of elements is not that of the shape.
    #[doc(alias("tensor", "array", "asarray"))]
    #[track_caller]
    pub fn from_vec_as<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        Ok(Tensor::from_vec(data, shape, device)?.cast(dtype))
    }

    /// Creates a tensor of rank 0.
    #[doc(alias("scalar_tensor"))]
    #[track_caller]
    pub fn scalar<T: Element>(value: T, device: &Device) -> Tensor {
        constant(value.to_scalar(), device, Location::caller())
    }

    /// Creates a tensor filled with one value.
    #[doc(alias("fill", "broadcast"))]
    #[track_caller]
    pub fn full<T: Element>(value: T, shape: impl Into<Shape>, device: &Device) -> Tensor {
        record_full(value.to_scalar(), shape.into(), device)
    }

    /// Creates a tensor of a run-time dtype filled with one value.
    ///
    /// Floats are rounded. The result carries an error if an integer dtype or `bool` cannot represent the value.
    #[doc(alias("full", "fill"))]
    #[track_caller]
    pub fn full_with_dtype(
        value: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Tensor {
        let shape = shape.into();
        match convert_scalar(value.into(), dtype) {
            Ok(value) => record_full(value, shape, device),
            Err(message) => creation_error("full", message, shape, dtype, device),
        }
    }

    /// Creates a tensor of zeros.
    #[doc(alias("empty"))]
    #[track_caller]
    pub fn zeros<T: Element>(shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::zeros_with_dtype(shape, T::DTYPE, device)
    }

    /// Creates a tensor of zeros of a run-time dtype.
    #[doc(alias("zeros", "empty"))]
    #[track_caller]
    pub fn zeros_with_dtype(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Tensor {
        record_full(Scalar::zero(dtype), shape.into(), device)
    }

    /// Creates a tensor of ones.
    #[track_caller]
    pub fn ones<T: Element>(shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::ones_with_dtype(shape, T::DTYPE, device)
    }

    /// Creates a tensor of ones of a run-time dtype.
    #[doc(alias("ones"))]
    #[track_caller]
    pub fn ones_with_dtype(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Tensor {
        record_full(Scalar::one(dtype), shape.into(), device)
    }

    /// Creates a tensor of zeros with this tensor's shape, dtype and device.
    #[doc(alias("new_zeros", "empty_like"))]
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        Tensor::zeros_with_dtype(self.shape(), self.dtype(), self.device())
    }

    /// Creates a tensor of ones with this tensor's shape, dtype and device.
    #[doc(alias("new_ones"))]
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        Tensor::ones_with_dtype(self.shape(), self.dtype(), self.device())
    }

    /// Creates a tensor filled with one value, with this tensor's shape, dtype and device.
    ///
    /// The result carries an error if an integer dtype or `bool` cannot represent the value.
    #[doc(alias("new_full", "fill_like"))]
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Tensor {
        Tensor::full_with_dtype(value, self.shape(), self.dtype(), self.device())
    }

    /// Creates a tensor whose elements are their index along one axis: 0, 1, 2, …, repeated along the other axes.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let columns = Tensor::iota::<i32>(-1, [2, 3], &Device::cpu());
    /// assert_eq!(columns.to_vec::<i32>()?, [0, 1, 2, 0, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The result carries an error if the axis is out of range or the dtype is `bool`.
    #[doc(alias("arange", "indices", "broadcasted_iota", "mgrid"))]
    #[track_caller]
    pub fn iota<T: Element>(axis: impl Axis, shape: impl Into<Shape>, device: &Device) -> Tensor {
        let shape = shape.into();
        if T::DTYPE == DType::Bool {
            let message =
                "expected a numeric dtype, found bool; use an integer dtype and cast the result"
                    .to_owned();
            return creation_error("iota", message, shape, T::DTYPE, device);
        }
        match axis_of(axis.number(), shape.rank()) {
            Ok(axis) => record_iota(T::DTYPE, shape, axis, device),
            Err(message) => creation_error("iota", message, shape, T::DTYPE, device),
        }
    }

    /// Creates a rank-1 tensor of the consecutive values of a range: `start`, `start + 1`, … below `end`.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// assert_eq!(Tensor::arange(0..4, &device).to_vec::<i32>()?, [0, 1, 2, 3]);
    /// assert_eq!(Tensor::arange(0.5f32..3.0, &device).to_vec::<f32>()?, [0.5, 1.5, 2.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The result carries an error if the dtype is `bool` or complex, if a bound is not finite, or if there are more
    /// elements than can be addressed.
    #[doc(alias("range"))]
    #[track_caller]
    pub fn arange<T: Element>(range: Range<T>, device: &Device) -> Tensor {
        record_arange("arange", range, Scalar::one(T::DTYPE), device)
    }

    /// Creates a rank-1 tensor of the values of a range at a distance of `step`: `start`, `start + step`, … up to, but
    /// excluding, `end`. A negative step counts down.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let device = Device::cpu();
    /// assert_eq!(Tensor::arange_step(0.0..1.0, 0.25, &device).to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.75]);
    /// assert_eq!(Tensor::arange_step(5..0, -2, &device).to_vec::<i32>()?, [5, 3, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The result carries an error if the step is zero, and in the cases of [`arange`](Tensor::arange).
    #[doc(alias("arange", "range"))]
    #[track_caller]
    pub fn arange_step<T: Element>(range: Range<T>, step: T, device: &Device) -> Tensor {
        record_arange("arange_step", range, step.to_scalar(), device)
    }

    /// Creates a rank-1 tensor of `count` equally spaced values from `start` to `end`, both included.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::linspace(0.0, 1.0, 5, &Device::cpu());
    /// assert_eq!(x.to_vec::<f64>()?, [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The result carries an error if the dtype is not a float, or if there are more elements than can be addressed.
    #[track_caller]
    pub fn linspace<T: Element>(start: T, end: T, count: usize, device: &Device) -> Tensor {
        let _naming = naming("linspace");
        let [start, end] = [start, end].map(T::to_scalar);
        let shape = Shape::from([count]);
        if !T::DTYPE.is_float() {
            return float_dtype_error("linspace", shape, T::DTYPE, device);
        }
        let compute_dtype = if T::DTYPE.is_half() { DType::F32 } else { T::DTYPE };
        let last = count.saturating_sub(1);
        let step = (end.to_f64() - start.to_f64()) / last.max(1) as f64;
        let index = record_iota(compute_dtype, shape, 0, device);
        // The first half counts up from `start`, the second down from `end`: both end points are exact.
        let rising = &index * step + start.to_f64();
        let falling = end.to_f64() - (last as f64 - &index) * step;
        let lower = index.lt((count as f64 / 2.0).max(1.0));
        lower.where_cond(rising, falling).cast(T::DTYPE)
    }

    /// Creates a tensor from a function of the index, which the host calls for each element in row-major order.
    ///
    /// ```
    /// use inflight::{Device, Tensor};
    ///
    /// # fn main() -> inflight::Result<()> {
    /// let table = Tensor::from_fn([2, 3], |index| (10 * index[0] + index[1]) as f32, &Device::cpu());
    /// assert_eq!(table.to_vec::<f32>()?, [0.0, 1.0, 2.0, 10.0, 11.0, 12.0]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("fromfunction"))]
    #[track_caller]
    pub fn from_fn<T: Element>(
        shape: impl Into<Shape>,
        mut element: impl FnMut(&[usize]) -> T,
        device: &Device,
    ) -> Tensor {
        let shape = shape.into();
        let Some(count) = shape.checked_element_count() else {
            return Tensor::zeros::<T>(shape, device);
        };
        let mut data = Vec::with_capacity(count);
        let mut index: Vec<usize> = vec![0; shape.rank()];
        for _ in 0..count {
            data.push(element(&index));
            for axis in (0..shape.rank()).rev() {
                index[axis] += 1;
                if index[axis] < shape[axis] {
                    break;
                }
                index[axis] = 0;
            }
        }
        Tensor::from_vec(data, shape, device).expect("one element for each index")
    }

    /// Creates the `n` × `n` identity matrix: ones on the diagonal, zeros elsewhere.
    #[doc(alias("identity"))]
    #[track_caller]
    pub fn eye<T: Element>(n: usize, device: &Device) -> Tensor {
        let method = method("eye");
        let dtype = if n <= i32::MAX as usize { DType::I32 } else { DType::I64 };
        let rows = record_iota(dtype, Shape::from([n, 1]), 0, device);
        let columns = record_iota(dtype, Shape::from([1, n]), 1, device);
        method.of(&[], rows.eq(columns).cast(T::DTYPE))
    }
}

/// Records the values of `range` at a distance of `step`. `name` is the method that errors name.
#[track_caller]
fn record_arange<T: Element>(
    name: &'static str,
    range: Range<T>,
    step: Scalar,
    device: &Device,
) -> Tensor {
    let _naming = naming(name);
    let location = Location::caller();
    let dtype = T::DTYPE;
    let [start, end] = [range.start, range.end].map(T::to_scalar);
    let invalid = |message: String| {
        let message = format!("{message}, in {start}..{end} by {step}");
        creation_error(name, message, Shape::from([0]), dtype, device)
    };
    let count = match (integer_value(start), integer_value(end), integer_value(step)) {
        _ if !dtype.is_float() && !dtype.is_integer() => {
            return invalid(format!("expected an integer or float dtype, found {dtype}"));
        }
        (_, _, Some(0)) => return invalid("expected a nonzero step, found 0".to_owned()),
        (Some(start), Some(end), Some(step)) => {
            let span = end - start;
            let has_remainder = span % step != 0;
            let count = span / step + i128::from(has_remainder && (span < 0) == (step < 0));
            usize::try_from(count.max(0)).ok()
        }
        _ => {
            let count = (end.to_f64() - start.to_f64()) / step.to_f64();
            match count.is_finite() && step.to_f64().is_finite() {
                true => Some(count.ceil().max(0.0) as usize),
                false => return invalid("expected a finite start, end and step".to_owned()),
            }
        }
    };
    let shape = count.map(|count| Shape::from([count]));
    let Some(shape) = shape.filter(|shape| shape.checked_element_count().is_some()) else {
        return invalid("the range has more elements than can be addressed".to_owned());
    };
    // 16-bit floats cannot represent the indices of longer ranges: f16 is exact up to 2048, bf16 up to 256.
    let compute_dtype = if dtype.is_half() { DType::F32 } else { dtype };
    let steps = record_iota(compute_dtype, shape, 0, device);
    let first = constant(start.cast(compute_dtype), device, location);
    let step = constant(step.cast(compute_dtype), device, location);
    (steps * step + first).cast(dtype)
}

/// Records a constant broadcast to a shape. The result carries an error if the shape is too large.
#[track_caller]
fn record_full(value: Scalar, shape: Shape, device: &Device) -> Tensor {
    let location = Location::caller();
    let value = constant(value, device, location);
    match shape.rank() {
        0 => value,
        _ => record_at(Op::Broadcast(shape), &[&value], location),
    }
}

/// Records 0, 1, 2, … along an axis of the shape, in a dtype other than `bool`. The result carries an error if the shape
/// is too large.
#[track_caller]
pub(super) fn record_iota(dtype: DType, shape: Shape, axis: usize, device: &Device) -> Tensor {
    if shape.checked_element_count().is_none() {
        return record_full(Scalar::zero(dtype), shape, device);
    }
    let op = Op::Iota { axis, shape: shape.clone(), dtype };
    record_source(op, shape, dtype, device, Location::caller())
}

/// The failed result of a creation method of the wrong dtype.
#[track_caller]
pub(super) fn float_dtype_error(
    name: &'static str,
    shape: Shape,
    dtype: DType,
    device: &Device,
) -> Tensor {
    creation_error(name, format!("expected a float dtype, found {dtype}"), shape, dtype, device)
}

/// The failed result of a creation method. The error names the requested dtype and shape in place of operands.
#[track_caller]
pub(super) fn creation_error(
    name: &'static str,
    message: String,
    shape: Shape,
    dtype: DType,
    device: &Device,
) -> Tensor {
    let requested = record_full(Scalar::zero(dtype), shape, device);
    let shape = requested.shape().clone();
    mistake(name, message, &[&requested], shape, dtype, Location::caller())
}
