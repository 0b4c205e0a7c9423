//! The runtime core: from recorded nodes to commands on a device, and back to values.
//!
//! - [`device`](Device): device handle, with its caches and streams; [`device_info`](DeviceInfo): its properties;
//! - [`stream`](Stream): public handle of an ordered work queue;
//! - `recorder`: ops that a thread has recorded and not submitted, and back-pressure; `scope`: the same for a
//!   device op;
//! - `segment`: segment submission and materialization choice;
//! - `dispatcher`: the dispatcher thread: plans, compiles and enqueues segments in order;
//! - `compilation_cache`: plan cache, kernel cache in memory and on disk; `commands`: command emission for a plan;
//! - `wait`: all blocking waits of the host, and `SyncGuard`;
//! - `pending`: promises, wakers, and the pending-work thread; `reads`: asynchronous device-to-host copies;
//!   `uploads`: host-to-device copies;
//! - `stats`: counters; [`trace`]: execution traces for `chrome://tracing` and Perfetto.

pub(crate) mod commands;
pub(crate) mod compilation_cache;
pub(crate) mod device;
mod device_info;
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
pub use device_info::{DeviceInfo, Parallelism};
pub(crate) use dispatcher::panic_message;
pub use pending::{Pending, Promise};
pub use recorder::no_fuse;
pub use stats::{Stats, collect_stats, stats};
pub use stream::Stream;
pub use wait::{SyncGuard, WaitReason};
