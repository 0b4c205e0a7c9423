//! What the runtime asks of a device.
//!
//! A [`Backend`] compiles kernels and makes [`Stream`]s. A stream takes [`Command`]s and runs them in
//! order, some time later. Every command owns the [`Buffer`]s it touches until the device is done with
//! them, so nothing a caller drops, aborts or forgets can free memory in use. A command that fails marks
//! the buffers it should have written with its [`Fault`]; a command that reads a failed buffer does not
//! run and passes the fault on.
//!
//! [`Timeline`] and [`Event`] are the points in streams that hosts, tasks and other streams wait for.

mod buffer;
mod command;
mod completion;
mod disk;
mod fault;
pub mod observe;
mod pool;
pub mod sync;
mod timeline;
mod work_queue;

pub use buffer::{Buffer, Memory};
pub use command::{
    Batch, BlockLaunch, ChainedGemmLaunch, Command, DeviceLoop, Epilogue, ExpandCallback,
    Expansion, GemmLaunch, GemmOperand, HostCall, HostFunction, Launch, LoopCallback,
    PlannedLaunch, Producer, Prologue, ReadCallback, RoutineCall, StreamLocal,
};
pub use completion::{Completion, WakerSlot};
pub use disk::DiskCache;
pub use fault::{Fault, FaultKind, Label, LabelOp, SourceLocation};
pub use pool::{MemoryStats, Pool};
pub use timeline::{Event, Timeline};
pub use work_queue::WorkQueue;

use inflight_ir::kernel::Kernel;
use inflight_ir::plan::{Plan, Step};
use std::any::Any;
use std::sync::Arc;

/// A kernel compiled for one backend. Only that backend can look inside.
pub type Compiled = Arc<dyn Any + Send + Sync>;

/// What a device is.
#[derive(Clone, Debug)]
pub struct Capabilities {
    /// A person's name for it, such as the processor's model.
    pub name: String,
    /// The instruction set or compute capability that kernels are compiled for.
    pub target: String,
    /// How many kernels' worth of work run side by side: worker threads, multiprocessors.
    pub parallelism: usize,
    /// Bytes in one vector register, or in one warp-wide access.
    pub vector_bytes: usize,
    /// Bytes of memory the device has.
    pub memory_bytes: u64,
    /// Whether the host can read buffers in place.
    pub host_visible: bool,
    /// Whether contractions may have prologues.
    pub prologues: bool,
    /// Whether streams run loops themselves ([`Command::Loop`]).
    pub repeats: bool,
    /// Whether arg-reductions are no slower than two reductions.
    pub arg_reductions: bool,
    /// Whether convolutions are products of windows that are not written.
    pub implicit_gemm: bool,
    /// How many pieces a reduction of many elements to one result is cut into.
    pub reduction_splits: usize,
    /// Of how many elements a piece of a long sum is at most, if its elements are added one after another.
    pub max_sum_chain: Option<usize>,
}

/// Which of several streams that have work goes on first. It changes when work is done, never what comes of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Priority {
    /// After all others: work that nobody waits for yet.
    Low,
    /// As most work is done.
    #[default]
    Normal,
    /// Before all others: what somebody waits for.
    High,
}

impl Priority {
    /// All of them, the most urgent first.
    pub const URGENT_FIRST: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];
}

/// A device.
pub trait Backend: Send + Sync + 'static {
    /// What it is.
    fn capabilities(&self) -> &Capabilities;

    /// Machine code for a kernel. The kernel has been verified.
    fn compile(&self, kernel: &Kernel) -> Result<Compiled, Fault>;

    /// The compiler's exact name: what one has saved, no other may load. `None` if compiled kernels are not kept.
    fn compiler(&self) -> Option<String> {
        None
    }

    /// A compiled kernel as bytes, for [`load`](Backend::load) in another process.
    fn save(&self, compiled: &Compiled) -> Option<Vec<u8>> {
        let _ = compiled;
        None
    }

    /// A kernel from what a compiler of the same name has saved of it. `None` if that cannot be: it is then
    /// compiled.
    fn load(&self, kernel: &Kernel, saved: &[u8]) -> Option<Compiled> {
        let _ = (kernel, saved);
        None
    }

    /// Says that a step of a plan will run, soon and perhaps often, so that what takes a while can begin. Never
    /// waits. `kernels` are those of the step's launches, in order.
    fn precompile(&self, plan: &Plan, step: &Step, kernels: &[Result<Compiled, Fault>]) {
        let _ = (plan, step, kernels);
    }

    /// A new stream, with nothing in it. A device without priorities takes all as the same.
    fn stream(&self, priority: Priority) -> Arc<dyn Stream>;

    /// The libraries that it uses beyond what it needs, each with its version, or with what it does without it and how to
    /// get it.
    fn libraries(&self) -> Vec<(&'static str, Result<String, String>)> {
        Vec::new()
    }

    /// The memory the device's buffers come from: its limit, its use, and giving it back.
    fn pool(&self) -> &Arc<Pool>;
}

/// An ordered queue of work on a device.
///
/// # Safety
/// A stream runs commands in order. When it has passed a [`Command::Signal`], every buffer that the commands
/// before it write has memory with all its bytes written, or a fault; and it does not touch the buffers of a
/// command that it has passed.
pub unsafe trait Stream: Send + Sync {
    /// Puts a command at the end of the queue. Never waits. It may stay there until
    /// [`flush`](Stream::flush) or [`assist`](Stream::assist).
    ///
    /// # Safety
    /// Wherever the command's offsets, strides, extents and index values lead within its buffers, there is
    /// an element of the dtype the command takes it for. Until the command has run, nobody else writes what
    /// it reads, or reads what it writes, but for commands that the order of streams and events keeps apart.
    /// What comes out of a [`Command::Expand`] keeps to the same.
    unsafe fn enqueue(&self, command: Command);

    /// Sees to it that all that is queued, up to the last [`Command::Signal`] at least, will run without further calls.
    /// What comes after that is somebody's who is still queueing, and flushes when it is done.
    fn flush(&self);

    /// Called by a thread that is about to wait for `event`: runs queued commands on this thread as long
    /// as that brings the event nearer, and sees to it that the rest will run. It may return before the
    /// event is reached, and does not wait for other threads.
    fn assist(&self, event: &Event);
}
