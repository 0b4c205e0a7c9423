//! The CPU as a device.
//!
//! - `device`: what there is, and how it is set up;
//! - `stream`: queues of commands, which the `workers` drain;
//! - `launch`: a kernel's parts, run as machine code (`emit`) or by the block interpreter (`block`), both
//!   called through `call`;
//! - `contract`: matrix products;
//! - `memory`: where buffers come from.

mod block;
mod call;
mod contract;
mod device;
mod emit;
mod launch;
mod memory;
mod stream;
mod workers;

pub use device::{CpuBackend, Options, Path};
