//! New tensors, as ops: made on the device that the op runs on.
//!
//! ```
//! use inflight::{Device, DeviceOp, api};
//!
//! # fn main() -> inflight::Result<()> {
//! let ones = api::ones::<f32>([1024, 1024]); // nothing has happened yet
//! let tensor = ones.sync_on(&Device::cpu().stream())?; // now it has
//! assert_eq!(tensor.sum_all().item::<f32>()?, 1024.0 * 1024.0);
//! # Ok(())
//! # }
//! ```

use super::BoxedOp;
use super::boxed::creation;
use crate::{Element, Shape, Tensor};
use std::hash::{BuildHasher, RandomState};
use std::panic::Location;

/// A tensor of zeros.
#[track_caller]
pub fn zeros<T: Element>(shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), |context| Ok(Tensor::zeros::<T>(shape, context.device())))
}

/// A tensor of ones.
#[track_caller]
pub fn ones<T: Element>(shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), |context| Ok(Tensor::ones::<T>(shape, context.device())))
}

/// A tensor of one value, repeated.
#[track_caller]
pub fn full<T: Element>(value: T, shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), move |context| Ok(Tensor::full(value, shape, context.device())))
}

/// The numbers 0, 1, 2, … on one axis, `count` of them.
#[track_caller]
pub fn arange<T: Element>(count: usize) -> BoxedOp<'static, Tensor> {
    creation(Location::caller(), move |context| Ok(Tensor::iota::<T>(0, [count], context.device())))
}

/// `count` numbers from `start` to `end`, both included, at equal distances, on one axis.
#[track_caller]
pub fn linspace<T: Element>(start: T, end: T, count: usize) -> BoxedOp<'static, Tensor> {
    creation(Location::caller(), move |context| {
        Ok(Tensor::linspace(start, end, count, context.device()))
    })
}

/// The `n` × `n` matrix with ones on its diagonal and zeros elsewhere.
#[track_caller]
pub fn eye<T: Element>(n: usize) -> BoxedOp<'static, Tensor> {
    creation(Location::caller(), move |context| Ok(Tensor::eye::<T>(n, context.device())))
}

/// Uniform random floats in [0, 1). The same seed gives the same bits on every device; without one, they are
/// others each time.
#[track_caller]
pub fn rand<T: Element>(shape: impl Into<Shape>, seed: Option<u64>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), move |context| {
        Ok(Tensor::rand::<T>(shape, seed.unwrap_or_else(fresh_seed), context.device()))
    })
}

/// Normally distributed random floats. The same seed gives the same bits on every device; without one, they
/// are others each time.
#[track_caller]
pub fn randn<T: Element>(
    mean: f64,
    deviation: f64,
    shape: impl Into<Shape>,
    seed: Option<u64>,
) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), move |context| {
        let seed = seed.unwrap_or_else(fresh_seed);
        Ok(Tensor::randn::<T>(mean, deviation, shape, seed, context.device()))
    })
}

/// A tensor of these elements, in row-major order. A wrong number of them is the op's error.
#[track_caller]
pub fn from_vec<T: Element>(data: Vec<T>, shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    creation(Location::caller(), |context| Tensor::from_vec(data, shape, context.device()))
}

/// A seed that was not there before: each standard hasher has random keys of its own.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(0)
}
