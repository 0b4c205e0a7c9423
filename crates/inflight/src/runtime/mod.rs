//! From recorded nodes to commands on a device, and back to values.
//!
//! - [`device`](Device): a handle, its caches and its streams;
//! - [`stream`](Stream): a handle of a queue of work;
//! - `recorder`: what each thread has recorded and not submitted; `scope`: what an op has;
//! - `segment`: takes a submitted part out of the recorded graph;
//! - `dispatcher`: plans, compiles and enqueues segments, in order; `commands`: a plan's commands;
//! - `wait`: the one place where the host waits;
//! - `pending`: promises, and the thread that does pending work; `reads`: copies out of a device that
//!   complete them; `uploads`: copies into a device with memory of its own;
//! - [`trace`]: what ran when, for people to look at.

pub(crate) mod cache;
pub(crate) mod commands;
pub(crate) mod device;
pub(crate) mod dispatcher;
pub(crate) mod pending;
mod reads;
pub(crate) mod recorder;
pub(crate) mod scope;
pub(crate) mod segment;
pub(crate) mod stats;
mod stream;
pub mod trace;
mod uploads;
pub(crate) mod value;
pub(crate) mod wait;

#[cfg(feature = "cuda")]
pub use device::CudaOptions;
pub use device::{CpuOptions, CpuPath, Device};
pub(crate) use dispatcher::panic_message;
pub use pending::{Pending, Promise};
pub use recorder::no_fuse;
pub use stats::{Stats, counted, stats};
pub use stream::Stream;
pub use wait::{SyncGuard, WaitReason};
