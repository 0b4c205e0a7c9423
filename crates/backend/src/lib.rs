//! Device backend interface: commands, streams, events, buffers and the memory pool.
//!
//! A [`Backend`] compiles kernels and creates [`Stream`]s. A stream queues [`Command`]s and runs them in order,
//! asynchronously. Every command owns the [`Buffer`]s it touches until the device has finished with them, so a
//! caller that drops, aborts or forgets a handle cannot free memory in use.
//!
//! Faults propagate along data dependencies: a command that fails marks its result buffers with a [`Fault`], and a
//! command that reads a failed buffer is skipped and passes the fault on.
//!
//! [`Timeline`] is a timeline semaphore. An [`Event`] is a point on one, which the host, tasks and other streams
//! wait for.

mod buffer;
mod command;
mod completion;
mod disk;
mod fault;
pub mod observe;
mod pool;
pub mod sync;
mod timeline;
mod variable;
mod work_queue;

pub use buffer::{Buffer, Memory};
pub use command::{
    Batch, BlockLaunch, ChainedGemmLaunch, Command, DeviceLoop, Epilogue, ExpandCallback,
    Expansion, GemmLaunch, GemmOperand, HostCall, HostFunction, Launch, LoopCallback,
    PlannedLaunch, Producer, Prologue, ReadCallback, RoutineCall, StreamLocal,
};
pub use completion::{Completion, WakerSlot};
pub use disk::DiskCache;
pub use fault::{Fault, FaultKind, Label, LabelCall, LabelOp, SourceLocation};
pub use pool::{MemoryStats, Pool};
pub use timeline::{Event, Timeline};
pub use variable::{InvalidVariable, read_variable};
pub use work_queue::WorkQueue;

use inflight_ir::DType;
use inflight_ir::kernel::Kernel;
use inflight_ir::plan::{Plan, Step};
use std::any::Any;
use std::sync::Arc;

/// A kernel compiled by one backend, opaque to everything else.
pub type Compiled = Arc<dyn Any + Send + Sync>;

/// Static properties of a device. The planner derives its plan target from them.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// Human-readable name, such as the processor's model.
    pub name: String,
    /// Instruction set or compute capability that kernels are compiled for.
    pub target: String,
    /// Number of hardware units that run blocks of a launch concurrently: CPU worker threads or GPU multiprocessors
    /// (SMs).
    pub parallelism: usize,
    /// Width in bytes of a vector register (CPU) or of a warp-wide access (GPU).
    pub vector_bytes: usize,
    /// Size of the device's memory in bytes.
    pub memory_bytes: u64,
    /// Whether the host can access buffers in place, without a copy (unified memory).
    pub host_visible: bool,
    /// Whether a GEMM may have a prologue that computes an operand block by block.
    pub prologues: bool,
    /// Whether streams run loops on the device, without the host ([`Command::Loop`]).
    pub device_loops: bool,
    /// Whether an argmin or argmax is at most as expensive as two separate reductions.
    pub arg_reductions: bool,
    /// Whether convolutions run as implicit GEMM (im2col without materialized windows).
    pub implicit_gemm: bool,
    /// Number of partial sums (split reduction) for a reduction of many elements to one result.
    pub reduction_splits: usize,
    /// Longest chain of sequential additions in a sum. Longer sums are split into partial sums to bound rounding
    /// error. `None` on devices that already sum in parallel.
    pub max_sum_chain: Option<usize>,
}

/// Scheduling priority among streams that have work. It affects when work runs, never its results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Priority {
    /// Background work that no thread waits for yet. Runs after all other work.
    Low,
    /// Default.
    #[default]
    Normal,
    /// Work that a thread is waiting for. Runs before all other work.
    High,
}

impl Priority {
    /// All priorities, most urgent first.
    pub const URGENT_FIRST: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];
}

/// Peak rates of a device: upper bounds that no kernel exceeds for long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeakRates {
    /// Memory bandwidth in bytes per second.
    pub bytes_per_second: Option<f64>,
    /// `f32` operations per second outside of GEMMs; a fused multiply-add is two.
    pub flops: Option<f64>,
    /// Operations per second of a GEMM, for each dtype with matrix units.
    pub gemm_flops: Vec<(DType, f64)>,
}

/// A device.
pub trait Backend: Send + Sync + 'static {
    /// The device's properties.
    fn capabilities(&self) -> &Capabilities;

    /// Compiles a verified kernel to machine code.
    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault>;

    /// Exact identity of the compiler. It is part of the disk cache key: kernels saved under another identity are
    /// not loaded. `None` disables the disk cache.
    fn compiler(&self) -> Option<String> {
        None
    }

    /// Serializes a compiled kernel, for [`load`](Backend::load) in another process.
    fn save(&self, compiled: &Compiled) -> Option<Vec<u8>> {
        let _ = compiled;
        None
    }

    /// Restores a kernel from bytes that a compiler of the same identity saved. `None` makes the caller compile the
    /// kernel.
    fn load(&self, kernel: &Kernel, saved: &[u8]) -> Option<Compiled> {
        let _ = (kernel, saved);
        None
    }

    /// Precompiles a plan step that is likely to run soon: starts slow work such as compilation or autotuning in
    /// the background. Never blocks. `kernels` are the compiled kernels of the step's launches, in order.
    fn precompile(&self, plan: &Plan, step: &Step, kernels: &[Result<Compiled, Fault>]) {
        let _ = (plan, step, kernels);
    }

    /// Creates an empty stream. A device without stream priorities ignores `priority`.
    fn stream(&self, priority: Priority) -> Arc<dyn Stream>;

    /// Optional libraries: `Ok` is the version found; `Err` says what is unavailable without the library and how to
    /// install it.
    fn libraries(&self) -> Vec<(&'static str, Result<String, String>)> {
        Vec::new()
    }

    /// Peak rates computed from the device's attributes, for profiles. `None` if they cannot be computed.
    fn peak_rates(&self) -> Option<PeakRates> {
        None
    }

    /// The caching allocator that the device's buffers come from.
    fn pool(&self) -> &Arc<Pool>;
}

/// An ordered queue of work on a device.
///
/// # Safety
/// A stream runs commands in order. Once it has passed a [`Command::Signal`], every buffer written by an earlier
/// command either has memory with all bytes written, or has a fault. It does not touch the buffers of a command
/// that it has passed.
pub unsafe trait Stream: Send + Sync {
    /// The id under which the stream reports its commands to [observers](observe). `None` for a stream that reports
    /// under no id of its own.
    fn id(&self) -> Option<u64> {
        None
    }

    /// Appends a command to the queue. Never blocks. The command may stay queued until [`flush`](Stream::flush) or
    /// [`assist`](Stream::assist).
    ///
    /// # Safety
    /// Every address that the command's offsets, strides, extents and index values form must be an element, of the
    /// command's dtype, within its buffers. Until the command has run, no other code may write what it reads or
    /// access what it writes, except commands ordered against it by streams and events. The commands that a
    /// [`Command::Expand`] produces are under the same contract.
    unsafe fn enqueue(&self, command: Command);

    /// Submits everything queued, at least up to the last [`Command::Signal`], so that it runs without further
    /// calls. Commands after that signal may stay batched: the thread that is still queueing them flushes when it
    /// is done.
    fn flush(&self);

    /// Helping wait: called by a thread that is about to block on `event`. Runs queued commands on the calling
    /// thread while that brings the event closer, and submits the rest. May return before the event is reached, and
    /// does not block on other threads.
    fn assist(&self, event: &Event);
}
