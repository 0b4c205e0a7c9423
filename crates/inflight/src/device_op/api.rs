//! Constructors of tensors as ops: the tensor is created on the device that the op runs on. Each constructor
//! returns at once; nothing runs until the op is awaited, waited for or spawned.
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
use super::boxed::constructor;
use crate::{Element, Shape, Tensor};
use std::hash::{BuildHasher, RandomState};
use std::panic::Location;

/// Returns an op that creates a tensor of zeros.
#[track_caller]
pub fn zeros<T: Element>(shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), |context| Ok(Tensor::zeros::<T>(shape, context.device())))
}

/// Returns an op that creates a tensor of ones.
#[track_caller]
pub fn ones<T: Element>(shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), |context| Ok(Tensor::ones::<T>(shape, context.device())))
}

/// Returns an op that creates a tensor filled with one value.
#[track_caller]
pub fn full<T: Element>(value: T, shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), move |context| Ok(Tensor::full(value, shape, context.device())))
}

/// Returns an op that creates the sequence 0, 1, 2, … of `count` elements on one axis.
#[track_caller]
pub fn arange<T: Element>(count: usize) -> BoxedOp<'static, Tensor> {
    constructor(Location::caller(), move |context| {
        Ok(Tensor::iota::<T>(0, [count], context.device()))
    })
}

/// Returns an op that creates `count` evenly spaced elements from `start` to `end`, both included, on one axis.
#[track_caller]
pub fn linspace<T: Element>(start: T, end: T, count: usize) -> BoxedOp<'static, Tensor> {
    constructor(Location::caller(), move |context| {
        Ok(Tensor::linspace(start, end, count, context.device()))
    })
}

/// Returns an op that creates the `n` × `n` identity matrix.
#[track_caller]
pub fn eye<T: Element>(n: usize) -> BoxedOp<'static, Tensor> {
    constructor(Location::caller(), move |context| Ok(Tensor::eye::<T>(n, context.device())))
}

/// Returns an op that creates uniform random floats in [0, 1). The same seed gives the same bits on every device;
/// without a seed, each run differs.
#[track_caller]
pub fn rand<T: Element>(shape: impl Into<Shape>, seed: Option<u64>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), move |context| {
        Ok(Tensor::rand::<T>(shape, seed.unwrap_or_else(fresh_seed), context.device()))
    })
}

/// Returns an op that creates normally distributed random floats. The same seed gives the same bits on every
/// device; without a seed, each run differs.
#[track_caller]
pub fn randn<T: Element>(
    mean: f64,
    deviation: f64,
    shape: impl Into<Shape>,
    seed: Option<u64>,
) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), move |context| {
        let seed = seed.unwrap_or_else(fresh_seed);
        Ok(Tensor::randn::<T>(mean, deviation, shape, seed, context.device()))
    })
}

/// Returns an op that creates a tensor from elements in row-major order. If their count does not match the shape,
/// the op fails with [`Error::Length`](crate::Error::Length).
#[track_caller]
pub fn from_vec<T: Element>(data: Vec<T>, shape: impl Into<Shape>) -> BoxedOp<'static, Tensor> {
    let shape = shape.into();
    constructor(Location::caller(), |context| Tensor::from_vec(data, shape, context.device()))
}

/// A random seed: each standard hasher has its own random keys.
fn fresh_seed() -> u64 {
    RandomState::new().hash_one(0)
}
