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

/// Internals that the tests of this crate reach. Not part of its interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::background::{BackgroundTask, EnqueueError};
    pub use crate::codegen::bf16x3_split::TEXT as BF16X3_SPLIT;
    pub use crate::codegen::gemm::shared_bytes as gemm_shared_bytes;
    pub use crate::codegen::operation::{binary, unary};
    pub use crate::codegen::scaled_f16_split::TEXT as SCALED_F16_SPLIT;
    pub use crate::codegen::types::name as type_name;
    pub use crate::gemm::fused_epilogue::{
        GemmConfig, OperandPacking, choose, store_kernel, store_launch_shape,
    };
    pub use crate::gemm::operand_split::{OperandMatrix, OperandSplit};
    pub use crate::gemm::simt_gemm_source;
    pub use crate::gemm::transpose::TEXT as TRANSPOSE;
}
