//! The CPU backend.
//!
//! - `device`: the `Backend` implementation and its options;
//! - `stream`: in-order command queues, scheduled on the `workers` (a pool with chunked parallel loops);
//! - `launch`: kernel launches, partitioned among threads and run as machine code (`emit`) or by the block interpreter
//!   (`block`), both called through `call`;
//! - `gemm`: matrix multiplication (GEMM) with panels, split-K, and prologue and epilogue fusion;
//! - `routine`: sort, top-k, scatter, Cholesky and triangular solve, which are not kernels;
//! - `memory`: memory of the pool, with huge pages.

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
