//! The CPU as a device.
//!
//! - `device`: what there is, and how it is set up;
//! - `stream`: queues of commands, which the `workers` drain;
//! - `launch`: a kernel's parts, run as machine code (`emit`) or by the block interpreter (`block`), both
//!   called through `call`;
//! - `contract`: matrix products;
//! - `routine`: sorts, triangular factors and the like, which are no kernels;
//! - `memory`: where buffers come from.

mod block;
mod call;
mod device;
mod emit;
mod gemm;
mod launch;
mod memory;
mod routine;
mod stream;
mod workers;

pub use device::{CpuBackend, Options, Path};
