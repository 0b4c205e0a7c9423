//! Programs: StableHLO, compiled once for a device (as with PJRT) and executed many times.
//!
//! ```
//! use inflight::{Device, Program, Tensor};
//!
//! # fn main() -> inflight::Result<()> {
//! let device = Device::cpu();
//! let program = Program::parse(
//!     "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
//!        %0 = stablehlo.add %x, %x : tensor<4xf32>
//!        return %0 : tensor<4xf32>
//!      }",
//! )?;
//! let double = device.compile(&program)?;
//! let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], [4], &device)?;
//! let results = double.execute(&[&x])?; // returns at once
//! assert_eq!(results[0].to_vec::<f32>()?, [2.0, 4.0, 6.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! - [`Program`]: a parsed StableHLO module;
//! - `compile`: compiles a lowered program: plans, kernels and host functions; `merge`: merges adjacent graphs, so
//!   that a loop's body and condition are planned together;
//! - [`Executable`]: argument checks, buffer donation, asynchronous dispatch;
//! - `sequence`: command emission for an execution; `control`: control flow (`while`, `case`), decided on the
//!   stream when it gets there, so neither the caller nor the dispatcher waits; `device_loop`: small loops that the
//!   stream iterates by itself;
//! - [`CustomCalls`]: host functions that programs call (`custom_call`, host callbacks); `lapack`: the LAPACK ones
//!   that come with the crate;
//! - `executable_file`: saved executables; `explain`: the kernels of a program.

mod compile;
mod control;
mod custom_call;
mod device_loop;
mod executable;
mod executable_file;
mod explain;
mod lapack;
mod merge;
mod sequence;
mod source;

pub use custom_call::{CustomCalls, HostView, HostViewMut};
pub use executable::{ArgumentType, Executable, Execution, ResultType};
pub(crate) use sequence::ProgramRun;
pub use source::Program;
