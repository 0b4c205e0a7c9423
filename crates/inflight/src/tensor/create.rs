//! New tensors: from host data, and from nothing.
//!
//! Host data becomes a value at once. Everything else is recorded, and costs no memory until it must be
//! stored.
//!
//! Arguments come in one order: what the elements are, the shape, the dtype or the seed, the device. A constructor that
//! takes host data returns a `Result`, because the data may not fill the shape. All others return a [`Tensor`], which
//! carries the mistake if there is one.

use super::axis::{Axis, axis as axis_of};
use super::method::{method, naming};
use super::operand::{fit, whole};
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
    /// A tensor of these elements, in row-major order. The vector is taken over: not copied on a device
    /// that uses the host's memory, and copied in the background to one that has its own.
    ///
    /// # Errors
    /// If there are not as many elements as the shape has.
    #[track_caller]
    pub fn from_vec<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::of_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_vec(data)
        })
    }

    /// A tensor of a copy of these elements, in row-major order.
    ///
    /// # Errors
    /// If there are not as many elements as the shape has.
    #[track_caller]
    pub fn from_slice<T: Element>(
        data: &[T],
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::of_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_slice(data)
        })
    }

    /// A tensor of the elements of a vector that the caller keeps, in row-major order. They are copied at once
    /// on a device that uses the host's memory, and in the background to one that has its own.
    ///
    /// When the copy is done, the vector is the caller's alone again, and `Arc::get_mut` lets it be filled with
    /// the next batch: a large vector that is new for each batch costs the host more than the copy does.
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
    /// If there are not as many elements as the shape has.
    #[track_caller]
    pub fn from_shared<T: Element>(
        data: Arc<Vec<T>>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::of_data::<T>(data.len(), shape.into(), device, Location::caller(), || {
            device.value_from_shared(data)
        })
    }

    /// A tensor of so many elements, which are only taken or copied if the shape has as many.
    fn of_data<T: Element>(
        len: usize,
        shape: Shape,
        device: &Device,
        location: &'static Location<'static>,
        value: impl FnOnce() -> Arc<Value>,
    ) -> Result<Tensor> {
        let location = caller(location);
        if shape.checked_elements() != Some(len) {
            return Err(Error::Length { len, shape, location });
        }
        let node = Node::realized(value(), shape, T::DTYPE, device, location);
        Ok(Tensor::from_node(Arc::new(node)))
    }

    /// A tensor of these elements, in column-major order: the first axis varies fastest.
    ///
    /// # Errors
    /// If there are not as many elements as the shape has.
    #[track_caller]
    pub fn from_vec_column_major<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        let location = Location::caller();
        let shape = shape.into();
        if shape.checked_elements() != Some(data.len()) {
            return Err(Error::Length { len: data.len(), shape, location });
        }
        let reversed: Shape = shape.iter().rev().copied().collect();
        let stored = Tensor::from_vec(data, reversed, device)?;
        let axes = (0..shape.rank()).rev().collect();
        Ok(record_at(Op::Permute(axes), &[&stored], location))
    }

    /// A tensor of these elements converted to another dtype, such as `f64` data as `f32`. They are
    /// converted on the device, as [`cast`](Tensor::cast) does.
    ///
    /// # Errors
    /// If there are not as many elements as the shape has.
    #[track_caller]
    pub fn from_vec_as<T: Element>(
        data: Vec<T>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        Ok(Tensor::from_vec(data, shape, device)?.cast(dtype))
    }

    /// A tensor of rank 0.
    #[track_caller]
    pub fn scalar<T: Element>(value: T, device: &Device) -> Tensor {
        constant(value.to_scalar(), device, Location::caller())
    }

    /// A tensor of one value, repeated.
    #[track_caller]
    pub fn full<T: Element>(value: T, shape: impl Into<Shape>, device: &Device) -> Tensor {
        repeated(value.to_scalar(), shape.into(), device)
    }

    /// A tensor of one value of a run-time dtype, repeated. The value must be one that the dtype has.
    #[track_caller]
    pub fn full_with_dtype(
        value: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Tensor {
        let shape = shape.into();
        match fit(value.into(), dtype) {
            Ok(value) => repeated(value, shape, device),
            Err(message) => source_mistake("full", message, shape, dtype, device),
        }
    }

    /// A tensor of zeros.
    #[track_caller]
    pub fn zeros<T: Element>(shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::zeros_with_dtype(shape, T::DTYPE, device)
    }

    /// A tensor of zeros of a run-time dtype.
    #[track_caller]
    pub fn zeros_with_dtype(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Tensor {
        repeated(Scalar::zero(dtype), shape.into(), device)
    }

    /// A tensor of ones.
    #[track_caller]
    pub fn ones<T: Element>(shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::ones_with_dtype(shape, T::DTYPE, device)
    }

    /// A tensor of ones of a run-time dtype.
    #[track_caller]
    pub fn ones_with_dtype(shape: impl Into<Shape>, dtype: DType, device: &Device) -> Tensor {
        repeated(Scalar::one(dtype), shape.into(), device)
    }

    /// Zeros of this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        Tensor::zeros_with_dtype(self.shape(), self.dtype(), self.device())
    }

    /// Ones of this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        Tensor::ones_with_dtype(self.shape(), self.dtype(), self.device())
    }

    /// One value in this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Tensor {
        Tensor::full_with_dtype(value, self.shape(), self.dtype(), self.device())
    }

    /// 0, 1, 2, … along an axis, repeated along the others.
    #[track_caller]
    pub fn iota<T: Element>(axis: impl Axis, shape: impl Into<Shape>, device: &Device) -> Tensor {
        let shape = shape.into();
        if T::DTYPE == DType::Bool {
            let message =
                "expected a number dtype, found bool; count in an integer dtype".to_owned();
            return source_mistake("iota", message, shape, T::DTYPE, device);
        }
        match axis_of(axis.number(), shape.rank()) {
            Ok(axis) => counted(T::DTYPE, shape, axis, device),
            Err(message) => source_mistake("iota", message, shape, T::DTYPE, device),
        }
    }

    /// Consecutive integers or floats of a range, on one axis: `start`, `start + 1`, … below `end`.
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
    /// The result carries a mistake if the dtype is `bool` or complex, if a bound is not finite, or if there would
    /// be more elements than can be addressed.
    #[doc(alias = "range")]
    #[track_caller]
    pub fn arange<T: Element>(range: Range<T>, device: &Device) -> Tensor {
        arange("arange", range, Scalar::one(T::DTYPE), device)
    }

    /// Every `step`th value of a range, on one axis: `start`, `start + step`, … up to, but without, `end`. A negative step
    /// counts down.
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
    /// The result carries a mistake if the step is zero, and where that of [`arange`](Tensor::arange) does.
    #[track_caller]
    pub fn arange_step<T: Element>(range: Range<T>, step: T, device: &Device) -> Tensor {
        arange("arange_step", range, step.to_scalar(), device)
    }

    /// `count` values from `start` to `end`, both included, at equal distances, on one axis.
    ///
    /// The result carries a mistake if the dtype is not a float, or if there would be more elements than can be
    /// addressed.
    #[track_caller]
    pub fn linspace<T: Element>(start: T, end: T, count: usize, device: &Device) -> Tensor {
        let _naming = naming("linspace");
        let [start, end] = [start, end].map(T::to_scalar);
        let shape = Shape::from([count]);
        if !T::DTYPE.is_float() {
            let message = format!("expected a float dtype, found {}", T::DTYPE);
            return source_mistake("linspace", message, shape, T::DTYPE, device);
        }
        let wide = if T::DTYPE.is_half() { DType::F32 } else { T::DTYPE };
        let last = count.saturating_sub(1);
        let step = (end.to_f64() - start.to_f64()) / last.max(1) as f64;
        let index = counted(wide, shape, 0, device);
        // The first half counts from `start`, the second from `end`, so that the last element is `end` itself.
        let rising = &index * step + start.to_f64();
        let falling = end.to_f64() - (last as f64 - &index) * step;
        let lower = index.lt((count as f64 / 2.0).max(1.0));
        lower.where_cond(rising, falling).cast(T::DTYPE)
    }

    /// A tensor whose elements a function of their index computes, on the host.
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
    #[doc(alias = "fromfunction")]
    #[track_caller]
    pub fn from_fn<T: Element>(
        shape: impl Into<Shape>,
        mut element: impl FnMut(&[usize]) -> T,
        device: &Device,
    ) -> Tensor {
        let shape = shape.into();
        let Some(count) = shape.checked_elements() else {
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

    /// The `n` × `n` matrix with ones on its diagonal and zeros elsewhere.
    #[track_caller]
    pub fn eye<T: Element>(n: usize, device: &Device) -> Tensor {
        let method = method("eye");
        let dtype = if n <= i32::MAX as usize { DType::I32 } else { DType::I64 };
        let rows = counted(dtype, Shape::from([n, 1]), 0, device);
        let columns = counted(dtype, Shape::from([1, n]), 1, device);
        method.of(&[], rows.eq(columns).cast(T::DTYPE))
    }
}

/// The values of `range` at distances of `step`, or the mistake of the method `name`.
#[track_caller]
fn arange<T: Element>(
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
        source_mistake(name, message, Shape::from([0]), dtype, device)
    };
    let count = match (whole(start), whole(end), whole(step)) {
        _ if !dtype.is_float() && !dtype.is_integer() => {
            return invalid(format!("expected an integer or float dtype, found {dtype}"));
        }
        (_, _, Some(0)) => return invalid("the step is zero".to_owned()),
        (Some(start), Some(end), Some(step)) => {
            let span = end - start;
            let partial = span % step != 0;
            let count = span / step + i128::from(partial && (span < 0) == (step < 0));
            usize::try_from(count.max(0)).ok()
        }
        _ => {
            let count = (end.to_f64() - start.to_f64()) / step.to_f64();
            match count.is_finite() && step.to_f64().is_finite() {
                true => Some(count.ceil().max(0.0) as usize),
                false => return invalid("start, end and step must be finite".to_owned()),
            }
        }
    };
    let shape = count.map(|count| Shape::from([count]));
    let Some(shape) = shape.filter(|shape| shape.checked_elements().is_some()) else {
        return invalid("more elements than can be addressed".to_owned());
    };
    // 16-bit floats cannot count far.
    let wide = if dtype.is_half() { DType::F32 } else { dtype };
    let steps = counted(wide, shape, 0, device);
    let first = constant(start.cast(wide), device, location);
    let step = constant(step.cast(wide), device, location);
    (steps * step + first).cast(dtype)
}

/// A value repeated to a shape. One that is too large is a mistake of the result.
#[track_caller]
fn repeated(value: Scalar, shape: Shape, device: &Device) -> Tensor {
    let location = Location::caller();
    let value = constant(value, device, location);
    match shape.rank() {
        0 => value,
        _ => record_at(Op::Broadcast(shape), &[&value], location),
    }
}

/// 0, 1, 2, … along an axis of the shape, in a dtype other than `bool`. A shape that is too large is a
/// mistake of the result.
#[track_caller]
pub(super) fn counted(dtype: DType, shape: Shape, axis: usize, device: &Device) -> Tensor {
    if shape.checked_elements().is_none() {
        return repeated(Scalar::zero(dtype), shape, device);
    }
    let op = Op::Iota { axis, shape: shape.clone(), dtype };
    record_source(op, shape, dtype, device, Location::caller())
}

/// The mistake of a method that makes a tensor from nothing: its message names the dtype and shape asked
/// for.
#[track_caller]
pub(super) fn source_mistake(
    name: &'static str,
    message: String,
    shape: Shape,
    dtype: DType,
    device: &Device,
) -> Tensor {
    let asked = repeated(Scalar::zero(dtype), shape, device);
    let shape = asked.shape().clone();
    mistake(name, message, &[&asked], shape, dtype, Location::caller())
}
