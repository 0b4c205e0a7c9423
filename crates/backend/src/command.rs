//! Commands: the entries of a stream's queue.

use crate::sync::Mutex;
use crate::{Buffer, Compiled, Event, Fault, FaultKind, Label};
use inflight_ir::kernel::{Kernel, LaunchShape};
use inflight_ir::plan::{Routine, Side};
use inflight_ir::{DType, Scalar};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;

/// Receives the bytes of a buffer, or the fault that prevented the read.
pub type ReadCallback = Box<dyn FnOnce(Result<&[u8], Fault>) + Send>;

/// Receives the bytes of a buffer, or a fault, and appends the commands to run next.
pub type ExpandCallback = Box<dyn FnOnce(Result<&[u8], Fault>, &mut Expansion) + Send>;

/// Receives the number of iterations that a loop ran, or the fault that stopped it, and appends the commands to run
/// next.
pub type LoopCallback = Box<dyn FnOnce(Result<u64, Fault>, &mut Expansion) + Send>;

/// Host function: reads the bytes of its inputs and fills the bytes of its outputs.
pub type HostFunction =
    Arc<dyn Fn(&[&[u8]], &mut [&mut [u8]]) -> Result<(), FaultKind> + Send + Sync>;

/// One entry of a stream.
pub enum Command {
    /// Runs a kernel.
    Launch(Launch),
    /// Runs mutually independent kernels, in any order or concurrently.
    Batch(Batch),
    /// Runs a matrix multiplication (GEMM).
    Gemm(Box<GemmLaunch>),
    /// Runs a library routine, such as a sort or an implicit-GEMM convolution.
    Routine(Box<RoutineCall>),
    /// Passes a buffer's bytes to a host callback.
    Read {
        /// The buffer to read.
        source: Arc<Buffer>,
        /// Called with its bytes.
        callback: ReadCallback,
    },
    /// Runs a host function.
    Host(HostCall),
    /// Control flow on the host: passes a buffer's bytes to a callback and runs the commands it returns before
    /// anything queued after this one. Loops use it to continue, conditionals to choose a branch.
    Expand {
        /// The buffer that holds the condition.
        source: Arc<Buffer>,
        /// Returns the commands to run.
        callback: ExpandCallback,
    },
    /// Runs a loop on the device, if [`Capabilities::device_loops`](crate::Capabilities::device_loops).
    Loop(Box<DeviceLoop>),
    /// Copies a host-visible buffer to a new device buffer (host-to-device copy).
    Upload {
        /// The host-visible buffer.
        source: Arc<Buffer>,
        /// The device buffer to fill.
        target: Arc<Buffer>,
    },
    /// Waits for an event of another stream.
    Wait(Event),
    /// Signals an event once all earlier commands have run. Values on one timeline must ascend.
    Signal(Event),
}

impl Command {
    /// Completes a command that will not run: marks its results as failed, calls read callbacks with the fault, and
    /// still signals events, so that no waiter hangs.
    pub fn abandon(self, fault: Fault) {
        match self {
            Command::Launch(launch) => launch.fail(&fault),
            Command::Batch(batch) => batch.launches.iter().for_each(|launch| launch.fail(&fault)),
            Command::Gemm(gemm) => gemm.fail(&fault),
            Command::Routine(routine) => routine.result.fail(fault),
            Command::Host(call) => call.fail(&fault),
            Command::Read { callback, .. } => callback(Err(fault)),
            Command::Expand { callback, .. } => {
                let mut expansion = Expansion { commands: Vec::new(), stream: 0, device: "" };
                callback(Err(fault.clone()), &mut expansion);
                expansion.commands.into_iter().for_each(|command| command.abandon(fault.clone()));
            }
            Command::Loop(device_loop) => {
                let mut expansion = Expansion { commands: Vec::new(), stream: 0, device: "" };
                (device_loop.callback)(Err(fault.clone()), &mut expansion);
                expansion.commands.into_iter().for_each(|command| command.abandon(fault.clone()));
            }
            Command::Upload { target, .. } => target.fail(fault),
            Command::Wait(_) => {}
            Command::Signal(event) => event.signal(),
        }
    }
}

/// Compiled kernel and launch shape, shared by all executions of a step.
pub struct PlannedLaunch {
    /// The kernel as compiled by this backend.
    pub compiled: Compiled,
    /// The kernel's tile IR.
    pub kernel: Arc<Kernel>,
    /// Extents and access maps of the launch.
    pub shape: Arc<LaunchShape>,
    /// Launch data that the backend caches for each stream.
    pub cache: StreamLocal,
}

impl PlannedLaunch {
    /// A launch with an empty cache.
    pub fn new(
        compiled: Compiled,
        kernel: Arc<Kernel>,
        shape: Arc<LaunchShape>,
    ) -> Arc<PlannedLaunch> {
        Arc::new(PlannedLaunch { compiled, kernel, shape, cache: StreamLocal::default() })
    }
}

/// Small per-stream cache, keyed by stream id. Evicts the oldest entry when it is full.
#[derive(Default)]
pub struct StreamLocal(Mutex<SmallVec<[(u64, Entry); 1]>>);

type Entry = Arc<dyn Any + Send + Sync>;

/// Capacity. More streams than this belong to short-lived threads.
const CAPACITY: usize = 64;

impl StreamLocal {
    /// The entry that this stream stored last.
    pub fn get<T: Any + Send + Sync>(&self, stream: u64) -> Option<Arc<T>> {
        let notes = self.0.lock();
        let (_, note) = notes.iter().find(|(noted_by, _)| *noted_by == stream)?;
        note.clone().downcast().ok()
    }

    /// Stores an entry for a stream, replacing its previous one.
    pub fn set(&self, stream: u64, note: Entry) {
        let mut notes = self.0.lock();
        match notes.iter_mut().find(|(noted_by, _)| *noted_by == stream) {
            Some((_, before)) => *before = note,
            None => {
                if notes.len() >= CAPACITY {
                    notes.remove(0);
                }
                notes.push((stream, note));
            }
        }
    }
}

/// A kernel launch with all of its arguments.
pub struct Launch {
    /// The compiled kernel and the launch shape.
    pub planned: Arc<PlannedLaunch>,
    /// The buffers, one for each kernel param. Written buffers without memory are allocated when the command runs.
    pub buffers: SmallVec<[Arc<Buffer>; 6]>,
    /// The values of the kernel's scalars.
    pub scalars: SmallVec<[Scalar; 2]>,
    /// The recorded ops it computes, for messages and traces.
    pub label: Label,
}

/// Independent launches: none accesses what another writes.
pub struct Batch {
    /// The launches.
    pub launches: Vec<Launch>,
    /// The recorded ops they compute, for traces.
    pub label: Label,
}

impl Launch {
    /// The buffers that the launch writes.
    pub fn results(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        let params = self.planned.kernel.params.iter().zip(&self.buffers);
        params.filter(|(param, _)| param.writes).map(|(_, buffer)| buffer)
    }

    /// Marks all written buffers as failed.
    pub fn fail(&self, fault: &Fault) {
        self.results().for_each(|buffer| buffer.fail(fault.clone()));
    }
}

/// `c[i.., m, n] = Σₖ a[i.., m, k] · b[i.., k, n]`, on strided operands.
pub struct GemmLaunch {
    /// The dtype of all three operands.
    pub dtype: DType,
    /// The extents of the batch axes.
    pub batch: SmallVec<[usize; 4]>,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of each sum.
    pub k: usize,
    /// The left operand; row is `m`, column is `k`.
    pub a: GemmOperand,
    /// The right operand; row is `k`, column is `n`.
    pub b: GemmOperand,
    /// The result; row is `m`, column is `n`.
    pub c: GemmOperand,
    /// Computes one operand block by block, as the GEMM needs it. That operand's buffer then gets no memory, since
    /// it has no other reader. `None` unless [`Capabilities::prologues`](crate::Capabilities::prologues).
    pub prologue: Option<Box<Prologue>>,
    /// Fused epilogue: consumes each tile of the result while it is in cache. The buffer of `c` then gets no
    /// memory, since it has no other reader.
    pub epilogue: Option<Box<Epilogue>>,
    /// The recorded ops it computes, for messages and traces.
    pub label: Label,
}

impl GemmLaunch {
    /// Marks all written buffers as failed.
    pub fn fail(&self, fault: &Fault) {
        match &self.epilogue {
            Some(epilogue) => epilogue.launch.fail(fault),
            None => self.c.buffer.fail(fault.clone()),
        }
    }
}

/// Computes a GEMM operand block by block, as the GEMM needs it.
pub struct Prologue {
    /// Which operand.
    pub side: Side,
    /// What produces its blocks.
    pub producer: Producer,
}

/// The producer of an operand.
pub enum Producer {
    /// An elementwise or reducing kernel.
    Kernel(BlockLaunch),
    /// Another GEMM with an epilogue.
    Gemm(ChainedGemmLaunch),
}

/// A launch that can compute a block of an operand's rows; see [`BlockKernel`](inflight_ir::plan::BlockKernel). The
/// launch as stored computes the whole operand, at the addresses given by the GEMM's strides.
pub struct BlockLaunch {
    /// The launch.
    pub launch: Launch,
    /// The kernel param that is the operand.
    pub operand_param: usize,
    /// For each domain axis, the number of operand rows that one step along it advances.
    pub rows: SmallVec<[usize; 6]>,
    /// For each domain axis, the number of operand columns that one step along it advances.
    pub columns: SmallVec<[usize; 6]>,
    /// Whether the elements of a row are contiguous; otherwise those of a column are.
    pub row_major: bool,
}

/// A GEMM whose rows, after its epilogue, are the rows of another GEMM's operand (back-to-back GEMM, as in
/// attention).
pub struct ChainedGemmLaunch {
    /// The GEMM. Its epilogue writes the operand densely, row by row.
    pub gemm: GemmLaunch,
    /// The param of the epilogue's kernel that is the operand.
    pub operand_param: usize,
}

/// A routine with all of its arguments.
pub struct RoutineCall {
    /// The routine to run.
    pub routine: Routine,
    /// Inputs, each row-major and contiguous.
    pub operands: SmallVec<[Arc<Buffer>; 4]>,
    /// The result, written completely. Allocated when the command runs, if it has no memory yet.
    pub result: Arc<Buffer>,
    /// The recorded ops it computes, for messages and traces.
    pub label: Label,
}

/// Fused epilogue of a GEMM: its flat grid index is the GEMM's row, counted over all batches; its vector axis runs
/// over the GEMM's columns; it has no reduce axes.
pub struct Epilogue {
    /// The launch. The buffer of its param `gemm_result` is the buffer of `c`.
    pub launch: Launch,
    /// The kernel param that is the GEMM's result.
    pub gemm_result: usize,
}

/// A batch of matrices in a buffer. Offsets and strides are in elements.
pub struct GemmOperand {
    /// The buffer.
    pub buffer: Arc<Buffer>,
    /// The index of the first element.
    pub offset: isize,
    /// The stride of each batch axis.
    pub batch_strides: SmallVec<[isize; 4]>,
    /// The distance to the next row.
    pub row_stride: isize,
    /// The distance to the next column.
    pub column_stride: isize,
}

/// A call of a host function, in stream order.
pub struct HostCall {
    /// The function.
    pub function: HostFunction,
    /// Buffers it reads.
    pub inputs: SmallVec<[Arc<Buffer>; 4]>,
    /// Buffers it writes, every byte of them. Those without memory are allocated when the command runs.
    pub outputs: SmallVec<[Arc<Buffer>; 2]>,
    /// Buffers that get the call's fault if it fails and are untouched otherwise: the values that depend on the
    /// call's side effect.
    pub witnesses: SmallVec<[Arc<Buffer>; 1]>,
    /// The recorded ops it computes, for messages and traces.
    pub label: Label,
}

impl HostCall {
    /// Marks all outputs and witnesses as failed.
    pub fn fail(&self, fault: &Fault) {
        self.outputs.iter().chain(&self.witnesses).for_each(|buffer| buffer.fail(fault.clone()));
    }
}

/// A loop that the stream runs without the host: an iteration queues, binds and allocates nothing.
pub struct DeviceLoop {
    /// The loop body, double-buffered: even iterations run the first list, odd iterations the second. Each reads
    /// what the other wrote, and each always writes the same buffers. May hold only launches, batches, GEMMs,
    /// routines, and uploads (as copies).
    pub bodies: [Vec<Command>; 2],
    /// For each body, the `bool` it writes last: whether to run another iteration.
    pub continue_flags: [Arc<Buffer>; 2],
    /// Number of iterations run so far.
    pub iterations: u64,
    /// Whether a handle to the results still exists. Polled now and then; the loop stops if it returns false.
    pub is_wanted: Box<dyn Fn() -> bool + Send>,
    /// Called when the loop has ended.
    pub callback: LoopCallback,
}

/// Collects the commands that a [`Command::Expand`] callback produces.
pub struct Expansion {
    /// The commands that replace the expanded one, in order. The caller that enqueued the expansion has promised
    /// that they meet the contract of [`Stream::enqueue`](crate::Stream::enqueue).
    pub commands: Vec<Command>,
    /// The stream's id, unique in this process.
    pub stream: u64,
    /// The device's short name.
    pub device: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_local_keeps_last_entry_of_each_stream() {
        let cache = StreamLocal::default();
        assert!(cache.get::<u32>(1).is_none());
        cache.set(1, Arc::new(10u32));
        cache.set(2, Arc::new(20u32));
        cache.set(1, Arc::new(11u32));
        assert_eq!(
            (cache.get::<u32>(1).as_deref(), cache.get::<u32>(2).as_deref()),
            (Some(&11), Some(&20))
        );
        // An entry of another type.
        assert!(cache.get::<u64>(1).is_none());
        for stream in 3..3 + CAPACITY as u64 {
            cache.set(stream, Arc::new(0u32));
        }
        assert!(cache.get::<u32>(1).is_none() && cache.get::<u32>(2).is_none());
        assert!(cache.get::<u32>(3).is_some());
    }
}
