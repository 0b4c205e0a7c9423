//! An asynchronous tensor runtime. Code reads like plain synchronous Rust. The work it describes is recorded, fused,
//! compiled and run on a device while the program goes on, and the host waits only where it reads a value.
//!
//! ```
//! use inflight::{Device, Tensor};
//!
//! # fn main() -> inflight::Result<()> {
//! let device = Device::cpu();
//! let x = Tensor::from_array([[1.0f32, 2.0], [3.0, 4.0]], &device);
//! let y = (&x * 2.0 + 1.0).softmax(1); // recorded, not run
//! println!("{}", y.sum_all().item::<f32>()?); // runs what is recorded, waits for this value alone
//! # Ok(())
//! # }
//! ```
//!
//! # Front doors
//!
//! - [`Tensor`]: ops are methods; work starts when a value is read.
//! - [`pending`]: the same ops as functions of plain and [`Pending`] tensors; async is visible in the types.
//! - [`DeviceOp`] and [`api`]: work that is described first, then awaited, waited for or spawned.
//! - [`Program`] and [`Executable`]: StableHLO programs, compiled once and executed many times.
//!
//! The book in the repository's folder `docs` has a guide, tables from PyTorch and NumPy names, and the internals.
//!
//! # What waits
//!
//! - Reading: [`Tensor::to_vec`], [`Tensor::item`], [`Tensor::to_bytes`], [`Tensor::to_ndarray`], [`Tensor::all_close`],
//!   printing a tensor's values with `{}`, [`io::save_npy`] and [`io::save_safetensors`] wait for those values alone, and
//!   [`Transaction::execute`] once for many.
//! - Waiting for work: [`Tensor::wait`], [`Device::wait`], [`Stream::wait`], [`DeviceOp::sync`], [`DeviceOp::sync_on`],
//!   [`Executable::execute_and_wait`], [`Execution::wait`](program::Execution::wait), and [`Device::trim`] on a GPU.
//! - Promises: [`Pending::get`] and [`Pending::get_timeout`].
//! - Back-pressure: any call that submits work waits when too much is in flight. Recording submits now and then.
//!
//! Nothing else waits for a device. [`SyncGuard`] denies unwanted waits, and [`Stats::waits_for`] counts them.
//!
//! # What this is not
//!
//! There is no automatic differentiation of Rust code, and there are no layers and no optimizers. Gradients are
//! written out, or come with a [`Program`] that JAX exported.
//!
//! # Errors travel with values
//!
//! Operators never return a `Result` and never panic. A mistake, such as shapes that do not fit, makes a tensor that
//! carries the [`Error`], with the op, the shapes and the caller's line. So does everything computed from it, and every
//! reader gets that first cause as an `Err`. [`Tensor::check`] looks for a recorded mistake without waiting.

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
pub use inflight_ir::{DType, Element, Item, Scalar, Shape};
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
    Axes, Axis, ConvOptions, Expected, Extents, Integer, NestedArray, Operand, Padding, PerAxis,
    PoolOptions, Rng, Rows, Slice, SliceIndex, Slices, Tensor, TensorData, Transaction,
    TriangularOptions,
};
#[doc(hidden)]
pub use tensor::{difference, record_graph_node};

// The pages with Rust snippets, which are compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmePage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/getting-started.md")]
struct GettingStartedPage;
#[cfg(all(doctest, feature = "hlo"))]
#[doc = include_str!("../../../docs/which-front-door.md")]
struct WhichFrontDoorPage;
#[cfg(all(doctest, feature = "hlo"))]
#[doc = include_str!("../../../docs/programs.md")]
struct ProgramsPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tensors.md")]
struct TensorsPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/async.md")]
struct AsyncPage;
#[cfg(doctest)]
#[doc = include_str!("../../../docs/fusion-and-explain.md")]
struct FusionAndExplainPage;
