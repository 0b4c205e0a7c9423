//! New tensors: from host data, and from nothing.
//!
//! Host data becomes a value at once. Everything else is recorded, and costs no memory until it must be
//! written.

use super::axis::{Axis, axis as axis_of};
use super::method::method;
use super::operand::{fit, whole};
use super::record::{caller, constant, mistake, record_at, record_source};
use super::{Node, Tensor};
use crate::runtime::Device;
use crate::runtime::value::Value;
use crate::{DType, Element, Error, Result, Scalar, Shape};
use inflight_ir::graph::Op;
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
            device.value_of(data)
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
            device.value_of_copy(data)
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
            device.value_of_shared(data)
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
        dtype: DType,
        value: impl Into<Scalar>,
        shape: impl Into<Shape>,
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
        Tensor::zeros_with_dtype(T::DTYPE, shape, device)
    }

    /// A tensor of zeros of a run-time dtype.
    #[track_caller]
    pub fn zeros_with_dtype(dtype: DType, shape: impl Into<Shape>, device: &Device) -> Tensor {
        repeated(Scalar::zero(dtype), shape.into(), device)
    }

    /// A tensor of ones.
    #[track_caller]
    pub fn ones<T: Element>(shape: impl Into<Shape>, device: &Device) -> Tensor {
        Tensor::ones_with_dtype(T::DTYPE, shape, device)
    }

    /// A tensor of ones of a run-time dtype.
    #[track_caller]
    pub fn ones_with_dtype(dtype: DType, shape: impl Into<Shape>, device: &Device) -> Tensor {
        repeated(Scalar::one(dtype), shape.into(), device)
    }

    /// Zeros of this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn zeros_like(&self) -> Tensor {
        Tensor::zeros_with_dtype(self.dtype(), self.shape(), self.device())
    }

    /// Ones of this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn ones_like(&self) -> Tensor {
        Tensor::ones_with_dtype(self.dtype(), self.shape(), self.device())
    }

    /// One value in this tensor's shape and dtype, where it is.
    #[track_caller]
    pub fn full_like(&self, value: impl Into<Scalar>) -> Tensor {
        Tensor::full_with_dtype(self.dtype(), value, self.shape(), self.device())
    }

    /// 0, 1, 2, … along an axis, repeated along the others.
    #[track_caller]
    pub fn iota<T: Element>(shape: impl Into<Shape>, axis: impl Axis, device: &Device) -> Tensor {
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

    /// `start`, `start + step`, … up to but without `end`, on one axis.
    ///
    /// # Errors
    /// If `step` is zero or not finite, if the dtype is `bool` or complex, or if there would be more
    /// elements than can be addressed.
    #[track_caller]
    pub fn arange<T: Element>(start: T, end: T, step: T, device: &Device) -> Result<Tensor> {
        let location = caller(Location::caller());
        let [start, end, step] = [start, end, step].map(T::to_scalar);
        let invalid = |what: &str| {
            Err(Error::Invalid(format!("arange({start}, {end}, {step}) at {location}: {what}")))
        };
        let dtype = T::DTYPE;
        let count = match (whole(start), whole(end), whole(step)) {
            _ if !dtype.is_float() && !dtype.is_integer() => {
                return invalid("expected an integer or float dtype");
            }
            (_, _, Some(0)) => return invalid("the step is zero"),
            (Some(start), Some(end), Some(step)) => {
                let span = end - start;
                let partial = span % step != 0;
                usize::try_from(
                    (span / step + i128::from(partial && (span < 0) == (step < 0))).max(0),
                )
                .ok()
            }
            _ => {
                let count = (end.to_f64() - start.to_f64()) / step.to_f64();
                match count.is_finite() && step.to_f64().is_finite() {
                    true => Some(count.ceil().max(0.0) as usize),
                    false => return invalid("start, end and step must be finite"),
                }
            }
        };
        let Some(shape) =
            count.map(|count| Shape::from([count])).filter(|s| s.checked_elements().is_some())
        else {
            return invalid("more elements than can be addressed");
        };
        // Halves cannot count far.
        let wide = if dtype.is_half() { DType::F32 } else { dtype };
        let steps = counted(wide, shape, 0, device);
        let first = constant(start.cast(wide), device, location);
        let step = constant(step.cast(wide), device, location);
        Ok((steps * step + first).cast(dtype))
    }

    /// `count` numbers from `start` to `end`, both included, at equal distances, on one axis.
    ///
    /// # Errors
    /// If the dtype is not a float, or if there would be more elements than can be addressed.
    #[track_caller]
    pub fn linspace<T: Element>(start: T, end: T, count: usize, device: &Device) -> Result<Tensor> {
        let location = caller(Location::caller());
        let [start, end] = [start, end].map(T::to_scalar);
        let shape = Shape::from([count]);
        let invalid = |what: &str| {
            Err(Error::Invalid(format!("linspace({start}, {end}, {count}) at {location}: {what}")))
        };
        if !T::DTYPE.is_float() {
            return invalid("expected a float dtype");
        }
        if shape.checked_elements().is_none() {
            return invalid("more elements than can be addressed");
        }
        let wide = if T::DTYPE.is_half() { DType::F32 } else { T::DTYPE };
        let last = count.saturating_sub(1);
        let step = (end.to_f64() - start.to_f64()) / last.max(1) as f64;
        let index = counted(wide, shape, 0, device);
        // Both halves count from their own end, so that the last element is `end` itself.
        let rising = &index * step + start.to_f64();
        let falling = end.to_f64() - (last as f64 - &index) * step;
        let lower = index.lt((count as f64 / 2.0).max(1.0));
        Ok(lower.where_cond(rising, falling).cast(T::DTYPE))
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
