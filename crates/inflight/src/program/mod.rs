//! Programs: StableHLO compiled once for a device, executed many times.
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
//! - [`Program`]: the program as it was written;
//! - `compile`: plans and kernels for everything it computes; `join`: steps that are better one;
//! - [`Executable`]: checks arguments, gives up what is donated, and submits;
//! - `sequence`, `control`: from a compiled program and its buffers to commands. Loops and branches are decided
//!   on the stream, when it comes to them: neither the caller nor the dispatcher waits. `repeat`: loops of small
//!   turns, all of which the stream runs;
//! - [`CustomCalls`]: functions of the host that programs call; `check`: those that come with the crate;
//! - `store`: executables in files; `explain`: what a program would run.

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
