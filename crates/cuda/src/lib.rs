//! The CUDA backend: kernels as CUDA C++ text, streams of the driver, and its libraries, opened at run time.

mod background;
pub mod choose;
pub mod compile;
mod contract;
mod device;
mod driver;
mod ending;
mod event;
mod graph;
pub mod library;
mod memory;
mod options;
pub mod routine;
mod stream;
mod tensor_map;
pub mod text;

pub use device::{CudaBackend, count};
pub use options::Options;
pub use stream::{ReplayCounts, replay_counts};
