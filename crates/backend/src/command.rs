//! The commands a stream runs.

use crate::sync::Mutex;
use crate::{Buffer, Compiled, Event, Fault, FaultKind, Label};
use inflight_ir::kernel::{Kernel, LaunchShape};
use inflight_ir::plan::{Routine, Side};
use inflight_ir::{DType, Scalar};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;

/// Receives the bytes of a buffer, or why there are none.
pub type ReadCallback = Box<dyn FnOnce(Result<&[u8], Fault>) + Send>;

/// Receives the bytes of a buffer, or why there are none, and says what is to be done next.
pub type ExpandCallback = Box<dyn FnOnce(Result<&[u8], Fault>, &mut Expansion) + Send>;

/// Receives how many turns a loop has taken, or why it did not come to its end, and says what is to be done next.
pub type LoopCallback = Box<dyn FnOnce(Result<u64, Fault>, &mut Expansion) + Send>;

/// A function of the host: it is given the bytes of its inputs and fills those of its outputs.
pub type HostFunction =
    Arc<dyn Fn(&[&[u8]], &mut [&mut [u8]]) -> Result<(), FaultKind> + Send + Sync>;

/// One entry of a stream.
pub enum Command {
    /// Runs a kernel.
    Launch(Launch),
    /// Runs kernels that are independent of each other, in any order or at once.
    Batch(Batch),
    /// Runs a contraction.
    Gemm(Box<GemmLaunch>),
    /// Runs a routine.
    Routine(Box<RoutineCall>),
    /// Shows a buffer's bytes to the host, then goes on.
    Read {
        /// What is read.
        source: Arc<Buffer>,
        /// Who gets to see it.
        callback: ReadCallback,
    },
    /// Runs a function of the host.
    Host(HostCall),
    /// Shows a buffer's bytes to the host, then runs the commands it gets, before anything that is queued
    /// after this one: how a loop goes on, and how a branch is chosen.
    Expand {
        /// What decides.
        source: Arc<Buffer>,
        /// Who decides.
        callback: ExpandCallback,
    },
    /// Runs the turns of a loop, on devices whose [`Capabilities`](crate::Capabilities) say so.
    Loop(Box<DeviceLoop>),
    /// Copies the bytes of a buffer that the host can read to a new buffer of the device.
    Upload {
        /// What is copied.
        source: Arc<Buffer>,
        /// What is written.
        target: Arc<Buffer>,
    },
    /// Waits for a point in another stream.
    Wait(Event),
    /// Tells everybody that the stream has come this far. Values on one timeline ascend.
    Signal(Event),
}

impl Command {
    /// Ends a command that will not run: its results have the fault, whoever would read is told, and a signal
    /// is given. Whatever waits for it goes on.
    pub fn abandon(self, fault: Fault) {
        match self {
            Command::Launch(launch) => launch.fail(&fault),
            Command::Batch(batch) => batch.launches.iter().for_each(|launch| launch.fail(&fault)),
            Command::Gemm(contract) => contract.fail(&fault),
            Command::Routine(routine) => routine.result.fail(fault),
            Command::Host(call) => call.fail(&fault),
            Command::Read { callback, .. } => callback(Err(fault)),
            Command::Expand { callback, .. } => {
                let mut expansion = Expansion { commands: Vec::new(), stream: 0, device: "" };
                callback(Err(fault.clone()), &mut expansion);
                expansion.commands.into_iter().for_each(|command| command.abandon(fault.clone()));
            }
            Command::Loop(repeat) => {
                let mut expansion = Expansion { commands: Vec::new(), stream: 0, device: "" };
                (repeat.callback)(Err(fault.clone()), &mut expansion);
                expansion.commands.into_iter().for_each(|command| command.abandon(fault.clone()));
            }
            Command::Upload { target, .. } => target.fail(fault),
            Command::Wait(_) => {}
            Command::Signal(event) => event.signal(),
        }
    }
}

/// What is the same whenever a step of a plan launches a kernel.
pub struct PlannedLaunch {
    /// The kernel as compiled by the same backend.
    pub compiled: Compiled,
    /// The kernel itself.
    pub kernel: Arc<Kernel>,
    /// Extents and maps.
    pub shape: Arc<LaunchShape>,
    /// What the backend has found out about it.
    pub memo: StreamLocal,
}

impl PlannedLaunch {
    /// One that nothing is known of.
    pub fn new(
        compiled: Compiled,
        kernel: Arc<Kernel>,
        shape: Arc<LaunchShape>,
    ) -> Arc<PlannedLaunch> {
        Arc::new(PlannedLaunch { compiled, kernel, shape, memo: StreamLocal::default() })
    }
}

/// A note for each stream that has asked for one to be kept. Of many streams, the first are forgotten.
#[derive(Default)]
pub struct StreamLocal(Mutex<SmallVec<[(u64, Note); 1]>>);

type Note = Arc<dyn Any + Send + Sync>;

/// Streams of more than this many are those of threads that come and go.
const MOST_NOTES: usize = 64;

impl StreamLocal {
    /// What a stream, by its number, has noted last.
    pub fn get<T: Any + Send + Sync>(&self, stream: u64) -> Option<Arc<T>> {
        let notes = self.0.lock();
        let (_, note) = notes.iter().find(|(noted_by, _)| *noted_by == stream)?;
        note.clone().downcast().ok()
    }

    /// Notes something for a stream, in the place of what it has noted before.
    pub fn set(&self, stream: u64, note: Note) {
        let mut notes = self.0.lock();
        match notes.iter_mut().find(|(noted_by, _)| *noted_by == stream) {
            Some((_, before)) => *before = note,
            None => {
                if notes.len() >= MOST_NOTES {
                    notes.remove(0);
                }
                notes.push((stream, note));
            }
        }
    }
}

/// A kernel with everything it needs.
pub struct Launch {
    /// The kernel, and its extents and maps.
    pub planned: Arc<PlannedLaunch>,
    /// The buffers, one for each of the kernel's params. Those written get their memory, if they have
    /// none yet, when the command runs.
    pub buffers: SmallVec<[Arc<Buffer>; 6]>,
    /// The values of the kernel's scalars.
    pub scalars: SmallVec<[Scalar; 2]>,
    /// What it computes, for messages and traces.
    pub label: Label,
}

/// Launches none of which touches what another writes.
pub struct Batch {
    /// The launches.
    pub launches: Vec<Launch>,
    /// What all of them compute, for traces.
    pub label: Label,
}

impl Launch {
    /// The buffers it writes.
    pub fn results(&self) -> impl Iterator<Item = &Arc<Buffer>> {
        let params = self.planned.kernel.params.iter().zip(&self.buffers);
        params.filter(|(param, _)| param.writes).map(|(_, buffer)| buffer)
    }

    /// Marks all it should have written as failed.
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
    /// What computes an operand, block by block, as it is needed. The operand's buffer then gets no memory:
    /// nobody else reads it. `None` on devices whose [`Capabilities`](crate::Capabilities) say so.
    pub prologue: Option<Box<Prologue>>,
    /// What is done with each part of the result while it is in cache. The buffer of `c` then gets no
    /// memory: nobody else reads it.
    pub epilogue: Option<Box<Epilogue>>,
    /// What it computes, for messages and traces.
    pub label: Label,
}

impl GemmLaunch {
    /// Marks all it should have written as failed.
    pub fn fail(&self, fault: &Fault) {
        match &self.epilogue {
            Some(epilogue) => epilogue.launch.fail(fault),
            None => self.c.buffer.fail(fault.clone()),
        }
    }
}

/// What computes an operand of a product as the product needs it.
pub struct Prologue {
    /// The operand.
    pub side: Side,
    /// What computes it.
    pub producer: Producer,
}

/// What computes an operand.
pub enum Producer {
    /// A launch.
    Kernel(BlockLaunch),
    /// Another product with an epilogue.
    Product(ChainedGemmLaunch),
}

/// A launch that can be run on a block of an operand's rows, as
/// [`BlockKernel`](inflight_ir::plan::BlockKernel) says. As it stands it would write the whole operand, where
/// the contraction's strides lead to.
pub struct BlockLaunch {
    /// The launch.
    pub launch: Launch,
    /// The kernel's param that is the operand.
    pub value: usize,
    /// For each axis of the domain, how many rows a step along it is.
    pub rows: SmallVec<[usize; 6]>,
    /// For each axis of the domain, how many places within a row a step along it is.
    pub columns: SmallVec<[usize; 6]>,
    /// Whether the elements of a row are neighbours; otherwise, those of a column are.
    pub row_major: bool,
}

/// A product whose rows are, when its epilogue has taken them in, the rows of an operand of another product.
pub struct ChainedGemmLaunch {
    /// The product. It has an epilogue, which writes the operand row by row, densely.
    pub contract: GemmLaunch,
    /// The param of the epilogue's kernel that is the operand.
    pub value: usize,
}

/// A routine with everything it needs.
pub struct RoutineCall {
    /// What runs.
    pub routine: Routine,
    /// What it reads, each row-major and contiguous.
    pub operands: SmallVec<[Arc<Buffer>; 4]>,
    /// What it writes, all of it. It gets its memory, if it has none yet, when the command runs.
    pub result: Arc<Buffer>,
    /// What it computes, for messages and traces.
    pub label: Label,
}

/// A launch that takes a product in as it is computed: its flat grid index is the product's row, counted
/// over all batches, its vector axis runs over the product's columns, and it has no reduce axes.
pub struct Epilogue {
    /// The launch. The buffer of the param that is the product is the one of `c`.
    pub launch: Launch,
    /// The kernel's param that is the product.
    pub product: usize,
}

/// A batch of matrices in a buffer. Offsets and strides are in elements.
pub struct GemmOperand {
    /// The memory.
    pub buffer: Arc<Buffer>,
    /// The address of the first element.
    pub offset: isize,
    /// The distance along each batch axis.
    pub batch_strides: SmallVec<[isize; 4]>,
    /// The distance to the next row.
    pub row_stride: isize,
    /// The distance to the next column.
    pub column_stride: isize,
}

/// A call of a function of the host, in the stream's order.
pub struct HostCall {
    /// What is called.
    pub function: HostFunction,
    /// What it reads.
    pub inputs: SmallVec<[Arc<Buffer>; 4]>,
    /// What it writes, every byte of it. Those without memory get it when the command runs.
    pub outputs: SmallVec<[Arc<Buffer>; 2]>,
    /// Have the call's fault if it fails, and are not touched otherwise: what the call is made for.
    pub witnesses: SmallVec<[Arc<Buffer>; 1]>,
    /// What it computes, for messages and traces.
    pub label: Label,
}

impl HostCall {
    /// Marks all it should have written, and its witnesses, as failed.
    pub fn fail(&self, fault: &Fault) {
        self.outputs.iter().chain(&self.witnesses).for_each(|buffer| buffer.fail(fault.clone()));
    }
}

/// A loop whose turns the stream runs without asking anybody: nothing is queued, bound or allocated for a turn.
pub struct DeviceLoop {
    /// What the first turn does, and what the second does. Later turns take these in turns: each of the two reads
    /// what the other has written, and both write the same buffers whenever they run. Only launches, batches,
    /// contractions, routines and, as copies, uploads.
    pub turns: [Vec<Command>; 2],
    /// The `bool` that each of the two writes last: whether there is another turn after it.
    pub again: [Arc<Buffer>; 2],
    /// How many turns have been run.
    pub taken: u64,
    /// Whether somebody still wants what comes of it; asked now and then. If not, the loop ends.
    pub is_wanted: Box<dyn Fn() -> bool + Send>,
    /// Who is told when the loop has ended.
    pub callback: LoopCallback,
}

/// What the callback of a [`Command::Expand`] gives, and where it runs.
pub struct Expansion {
    /// The commands that take the place of the one that was expanded, in order. They are under the contract
    /// of [`Stream::enqueue`](crate::Stream::enqueue), which whoever enqueued the expansion has promised.
    pub commands: Vec<Command>,
    /// The stream, by its number in this process.
    pub stream: u64,
    /// The device's short name.
    pub device: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memo_has_the_last_note_of_each_stream() {
        let memo = StreamLocal::default();
        assert!(memo.get::<u32>(1).is_none());
        memo.set(1, Arc::new(10u32));
        memo.set(2, Arc::new(20u32));
        memo.set(1, Arc::new(11u32));
        assert_eq!(
            (memo.get::<u32>(1).as_deref(), memo.get::<u32>(2).as_deref()),
            (Some(&11), Some(&20))
        );
        // Another kind of note.
        assert!(memo.get::<u64>(1).is_none());
        for stream in 3..3 + MOST_NOTES as u64 {
            memo.set(stream, Arc::new(0u32));
        }
        assert!(memo.get::<u32>(1).is_none() && memo.get::<u32>(2).is_none());
        assert!(memo.get::<u32>(3).is_some());
    }
}
