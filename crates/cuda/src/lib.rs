//! The CUDA backend: code generation for NVRTC, GEMM on cuBLASLt and on kernels of our own, and CUDA streams and
//! graphs. All CUDA libraries are opened at run time (`dlopen`), so that a build needs no toolkit.
//!
//! | what | where |
//! |---|---|
//! | kernels as CUDA C++ text; reductions, transposes; GEMM main loop with TMA, mbarrier and wgmma; fused epilogue; bf16x3 split | [`codegen`] |
//! | launch configuration: mapping, vector width, grid, occupancy | [`launch_config`] |
//! | GEMM: cuBLASLt, autotune, which epilogues fuse, operand splits | `gemm` |
//! | convolution as implicit GEMM, split-K, sort, scatter, triangular solve | [`routine`] |
//! | streams, launch batches, CUDA graph replay, uploads | `stream`, `graph` |
//! | compilation with NVRTC, disk cache, background compilation | [`compile`], `background` |

mod background;
pub mod codegen;
pub mod compile;
mod device;
mod driver;
mod event;
mod gemm;
mod graph;
pub mod launch_config;
pub mod library;
mod memory;
mod options;
mod peak;
pub mod routine;
mod shutdown;
mod stream;
mod tensor_map;

pub use device::{CudaBackend, count};
pub use options::Options;
pub use stream::{ReplayCounts, replay_counts};
