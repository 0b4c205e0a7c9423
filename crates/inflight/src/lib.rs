//! An asynchronous tensor runtime. Code reads like plain synchronous Rust; the work it describes is
//! recorded, fused, compiled and kept in flight on a device, and the host waits only where somebody
//! looks at a value.
//!
//! ```
//! use inflight::{Device, Tensor};
//!
//! # fn main() -> inflight::Result<()> {
//! let device = Device::cpu();
//! let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], [2, 2], &device)?;
//! let y = (&x * 2.0 + 1.0).softmax(1); // recorded, not run
//! println!("{}", y.sum_all().item::<f32>()?); // runs what is recorded, waits for this value alone
//! # Ok(())
//! # }
//! ```
//!
//! # What waits
//!
//! - Reading: [`Tensor::to_vec`], [`Tensor::item`], [`Tensor::to_bytes`], [`Tensor::to_ndarray`], printing a tensor's
//!   values with `{}`, [`io::save_npy`] and [`io::save_safetensors`] wait for those values alone, and
//!   [`Transaction::execute`] once for many.
//! - Waiting for work: [`Tensor::wait`], [`Device::wait`], [`Stream::wait`], [`DeviceOp::sync`],
//!   [`DeviceOp::sync_on`], [`Executable::execute_and_wait`] and [`Execution::wait`](program::Execution::wait), and [`Device::trim`] on a
//!   GPU.
//! - Promises: [`Pending::get`] and [`Pending::get_timeout`].
//! - When too much is in flight, whatever submits work, which recording does now and then.
//!
//! Nothing else waits for a device. [`SyncGuard`] finds waits that should not be there, and [`Stats::waits_for`] counts
//! them.
//!
//! # What this is not
//!
//! There is no automatic differentiation of Rust code, and there are no layers and no optimizers. Gradients are
//! written out, or come with a [`Program`] that JAX exported.
//!
//! # Errors travel with values
//!
//! Operators never return a `Result` and never panic. A mistake, such as shapes that do not fit, makes a
//! tensor that carries the [`Error`], with the op, the shapes and the caller's line. So does everything
//! computed from it, and whoever reads it gets that first cause as an `Err`. [`Tensor::check`] looks for a
//! recorded mistake without waiting.

// Without these features, runtime code that only programs and GPUs call is dead; CI checks the build with all features.
#![cfg_attr(not(all(feature = "cuda", feature = "hlo")), allow(dead_code))]

pub mod device_op;
mod error;
mod explain;
pub mod io;
mod lists;
pub mod pending;
mod profile;
#[cfg(feature = "hlo")]
pub mod program;
pub mod runtime;
mod tensor;
mod units;

pub use device_op::{DeviceFuture, DeviceOp, IntoDeviceOp, Policy, api};
pub use error::{Error, OpCause, OpError, Result};
pub use explain::{
    ExplainOutputs, ExplainedKernel, ExplainedOp, ExplainedValue, Explanation, explain,
};
pub use half::{bf16, f16};
pub use inflight_backend::{MemoryStats, Priority};
pub use inflight_ir::graph::{DotAxes, Transpose};
pub use inflight_ir::{DType, Element, Scalar, Shape};
pub use num_complex::Complex;
pub use profile::{
    Bound, DeviceLimits, LimitSource, Profile, ProfiledKernel, ProfiledKind, ProfiledWait, profile,
};
#[cfg(feature = "hlo")]
pub use program::{Executable, Program};
#[cfg(feature = "cuda")]
pub use runtime::CudaOptions;
pub use runtime::trace::trace;
pub use runtime::{
    CpuOptions, CpuPath, Device, DeviceInfo, Parallelism, Pending, Stats, Stream, SyncGuard,
    WaitReason, collect_stats, no_fuse, stats,
};
pub use tensor::{
    Axes, Axis, ConvOptions, Expected, Extents, Integer, Item, NestedArray, Operand, Padding,
    PerAxis, PoolOptions, Rng, Rows, Slice, SliceIndex, Slices, Tensor, TensorData, Transaction,
    TriangularOptions,
};
#[doc(hidden)]
pub use tensor::{difference, record_graph_node};

/// Compiles the examples of the README with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Compiles the examples of the page on async with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/async.md")]
struct AsyncPage;
