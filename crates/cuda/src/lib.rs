//! The CUDA backend: kernels as CUDA C++ text, streams of the driver, and its libraries, opened at run time.

mod background;
pub mod choose;
pub mod codegen;
pub mod compile;
mod device;
mod driver;
mod event;
mod gemm;
mod graph;
pub mod library;
mod memory;
mod options;
pub mod routine;
mod shutdown;
mod stream;
mod tensor_map;

pub use device::{CudaBackend, count};
pub use options::Options;
pub use stream::{ReplayCounts, replay_counts};
