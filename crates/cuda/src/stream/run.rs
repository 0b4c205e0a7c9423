//! Putting commands on the driver's stream.

use super::finish::Done;
use super::replay;
use super::{Core, MOST_GATHERED, Queue};
use crate::background::{EnqueueError, with_label};
use crate::device::CudaKernel;
use crate::driver::{Function, check};
use crate::launch_config::{self, LaunchConfig, MAX_SPLIT_BLOCKS};
use crate::memory::StagingBuffer;
use cudarc::driver::sys;
use inflight_backend::{
    Batch, Buffer, Command, Event, ExpandCallback, Expansion, Fault, FaultKind, HostCall, Label,
    Launch, Memory, PlannedLaunch, ReadCallback,
};
use inflight_ir::Scalar;
use inflight_ir::kernel::{LaunchShape, is_copy};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// So often, with so long a pause in between, a command that lacks memory is tried again before there is none.
const RECLAIMS: usize = 20;
const RECLAIM_PAUSE: Duration = Duration::from_millis(1);

/// Most launches have no more words of arguments.
const USUAL_WORDS: usize = 48;

/// What was found out about a launch of a plan when it last ran.
struct Known {
    /// Where its operands and results were, and how many bytes they are.
    buffers: SmallVec<[(u64, usize); 8]>,
    scalars: SmallVec<[Scalar; 2]>,
    /// Of the buffers' addresses. The choice holds for the same alignments, and for the same sizes, which are a plan's.
    alignments: Option<u64>,
    choice: LaunchConfig,
    function: Arc<Function>,
    /// Its arguments, if they are the same with the same buffers and scalars: it needs no memory besides.
    words: Vec<u64>,
}

impl Known {
    /// Whether a launch is the same again.
    fn has_same(&self, buffers: &[(u64, usize)], scalars: &[Scalar]) -> bool {
        *self.buffers == *buffers && *self.scalars == *scalars
    }

    /// The arguments of a launch. `extra` is what it needs besides: memory for parts, and counters.
    fn arguments(&self, compiled: &CudaKernel, shape: &LaunchShape, extra: [u64; 2]) -> Vec<u64> {
        let mut words = Vec::with_capacity(USUAL_WORDS);
        let (kernel, Known { buffers, scalars, choice, .. }) = (&compiled.analyzed.kernel, self);
        launch_config::append_arguments(&mut words, kernel, shape, buffers, scalars, choice, extra);
        words
    }
}

impl Core {
    pub(super) fn launch(
        &self,
        queue: &mut Queue,
        launch: &mut Launch,
    ) -> Result<(), EnqueueError> {
        if self.take_over(launch) {
            return Ok(());
        }
        caught(&launch.label, || {
            check_faults(launch.buffers.iter())?;
            self.launch_on(queue, launch, None)
        })
    }

    /// Launches kernels that are independent of each other. If one has to wait, those that are launched are no part
    /// of the batch any more.
    pub(super) fn batch(&self, queue: &mut Queue, batch: &mut Batch) -> Result<(), EnqueueError> {
        for position in 0..batch.launches.len() {
            let Err(stop) = self.launch(queue, &mut batch.launches[position]) else {
                queue.reclaims = 0;
                continue;
            };
            match stop {
                EnqueueError::Failed(fault) if !self.may_reclaim(queue, &fault) => {
                    batch.launches[position].fail(&fault);
                }
                stop => {
                    batch.launches.drain(..position);
                    return Err(stop);
                }
            }
        }
        Ok(())
    }

    /// Gives results the memory of operands that nobody else needs. Says whether nothing is left to do.
    pub(super) fn take_over(&self, launch: &mut Launch) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.take_all_over(launch))).unwrap_or(false)
    }

    fn take_all_over(&self, launch: &mut Launch) -> bool {
        let reuses =
            launch.planned.compiled.downcast_ref().map(|compiled: &CudaKernel| &compiled.reuses);
        if reuses.is_none_or(|reuses| reuses.is_empty()) {
            return false;
        }
        let compiled = launch.planned.compiled.clone();
        let Some(compiled) = compiled.downcast_ref::<CudaKernel>() else { return false };
        let points: usize = launch.planned.shape.extents.iter().product();
        for reuse in &compiled.reuses {
            let (read, written) = (reuse.read as usize, reuse.written as usize);
            let params = &launch.planned.kernel.params;
            let (operand, result) = (&launch.buffers[read], &launch.buffers[written]);
            // Threads write at once: each element must have a point of its own. And the compiler takes it that
            // places of different types are different places.
            let elements = result.bytes() / params[written].dtype.size();
            if params[read].dtype != params[written].dtype
                || points != elements
                || !reuse.suits(&launch.planned.shape)
                || !result.take_over(operand, self.number)
            {
                continue;
            }
            launch.buffers[read] = launch.buffers[written].clone();
            if is_copy(&launch.planned.kernel, &launch.planned.shape, elements) {
                return true;
            }
        }
        false
    }

    /// Whether a fault is a lack of memory that may pass when what is in flight on the device is done.
    pub(super) fn may_reclaim(&self, queue: &Queue, fault: &Fault) -> bool {
        let is_first = queue.reclaims == 0;
        fault.is_short()
            && self.raw().is_ok()
            && (is_first || queue.reclaims < RECLAIMS && self.shared.pool.stats().cached > 0)
    }

    /// Gets the memory back that nobody uses, and goes on. The stream's own thread does this, when what is before the
    /// command that lacks memory is done: it may wait.
    pub(super) fn reclaim(self: &Arc<Core>) {
        // A failure shows in the calls that follow.
        let _ = self.shared.context.synchronize();
        // Other streams learn by themselves that their work is done.
        if self.shared.pool.trim() == 0 && self.queue.lock().reclaims > 1 {
            std::thread::sleep(RECLAIM_PAUSE);
        }
        self.resume();
    }

    /// Launches a kernel, together with others that come before and after it. `product` is the position of a
    /// param and the memory to be used for it.
    pub(super) fn launch_on(
        &self,
        queue: &mut Queue,
        launch: &Launch,
        product: Option<(usize, &Memory)>,
    ) -> Result<(), EnqueueError> {
        let raw = self.raw()?;
        let compiled = kernel_of(launch)?;
        let until = self.until(queue);
        let PlannedLaunch { kernel, shape, memo, .. } = &*launch.planned;
        let known = memo.get::<Known>(self.number);
        let mut places = known.iter().flat_map(|known| known.buffers.iter().copied());
        let mut buffers = SmallVec::<[(u64, usize); 8]>::new();
        for (position, param) in kernel.params.iter().enumerate() {
            let buffer = &launch.buffers[position];
            let place = places.next().filter(|_| param.writes).map(|(address, _)| address as usize);
            let address = match product {
                Some((at, memory)) if at == position => memory.ptr() as u64,
                _ => self.address(buffer, param.writes, place, &launch.label, &until)?,
            };
            buffers.push((address, buffer.bytes()));
            queue.moved += buffer.bytes();
        }
        let known = match known {
            Some(known) if known.has_same(&buffers, &launch.scalars) => known,
            known => {
                let alignments = launch_config::alignments(&buffers);
                let alike =
                    |known: &Arc<Known>| alignments.is_some() && known.alignments == alignments;
                let chosen = match known.filter(alike) {
                    Some(known) => Some((known.choice, known.function.clone())),
                    None => self
                        .choose(launch, compiled, &buffers)
                        .map_err(|stop| stop.with_label(&launch.label))?,
                };
                let Some((choice, function)) = chosen else { return Ok(()) };
                let (scalars, words) = (launch.scalars.clone(), Vec::new());
                let mut known = Known { buffers, scalars, alignments, choice, function, words };
                if choice.scratch == 0 {
                    known.words = known.arguments(compiled, shape, [0; 2]);
                }
                let known = Arc::new(known);
                memo.set(self.number, known.clone());
                known
            }
        };
        let Known { choice: LaunchConfig { grid, threads, scratch, .. }, function, .. } = &*known;
        let (function, results) = (function.clone(), launch.results());
        if *scratch == 0 {
            queue.gathered.push(function, *grid, *threads, &known.words, results);
        } else {
            let memory = self.temporary(*scratch, &launch.label, &until)?;
            let extra = [memory.ptr() as u64, self.counters(raw, &launch.label)?];
            let words = known.arguments(compiled, shape, extra);
            queue.gathered.push(function, *grid, *threads, &words, results);
        }
        queue.launched += 1;
        if queue.gathered.len() >= MOST_GATHERED {
            self.settle(queue);
        }
        Ok(())
    }

    /// How a launch runs, and by which machine code. `None` if it has nothing to do.
    fn choose(
        &self,
        launch: &Launch,
        compiled: &CudaKernel,
        buffers: &[(u64, usize)],
    ) -> Result<Option<(LaunchConfig, Arc<Function>)>, EnqueueError> {
        let choice =
            compiled.analyzed.configure(&launch.planned.shape, buffers, self.shared.processors);
        let choice = choice.map_err(|message| Fault::from(FaultKind::Unsupported(message)))?;
        let Some(choice) = choice else { return Ok(None) };
        let function = compiled.variant(&self.shared, choice.variant).poll()?;
        match replay::too_many_threads(&function, choice.threads) {
            Some(fault) => Err(fault.into()),
            None => Ok(Some((choice, function))),
        }
    }

    pub(super) fn read(&self, queue: &mut Queue, source: Arc<Buffer>, callback: ReadCallback) {
        let bytes = source.bytes();
        let copied = (|| {
            let address = source.readable()?.ptr() as u64;
            let raw = self.raw()?;
            if bytes == 0 {
                return Ok(None);
            }
            let staged = self.shared.staging.take(bytes)?;
            // SAFETY: both places have this many bytes, and both are kept until the copy is done.
            let copy =
                unsafe { sys::cuMemcpyDtoHAsync_v2(staged.ptr().cast(), address, bytes, raw) };
            check(copy, "copying to the host").map_err(|fault| self.noted(fault))?;
            Ok(Some(staged))
        })();
        // Whoever is shown the bytes may count on nothing here keeping the buffer any more.
        queue.open.push(Done::Release(Box::new(source)));
        queue.open.push(match copied {
            Ok(staged) => Done::Read { staged, bytes, callback },
            Err(fault) => Done::Refuse { fault, callback },
        });
    }

    /// Has the host look at a buffer and say how to go on. The stream is held until it has.
    pub(super) fn expand(
        self: &Arc<Core>,
        queue: &mut Queue,
        source: Arc<Buffer>,
        callback: ExpandCallback,
    ) {
        let core = self.clone();
        let decide = Box::new(move |bytes: Result<&[u8], Fault>| {
            let mut expansion =
                Expansion { commands: Vec::new(), stream: core.number, device: "cuda" };
            // Whatever becomes of the callback, the stream goes on.
            let called = catch_unwind(AssertUnwindSafe(|| callback(bytes, &mut expansion)));
            core.resume_with(expansion.commands);
            if let Err(panic) = called {
                resume_unwind(panic);
            }
        });
        self.read(queue, source, decide);
        self.close(queue);
        queue.is_held = true;
    }

    /// Calls a function of the host on copies of its inputs, and copies its outputs back. The stream is held
    /// meanwhile.
    pub(super) fn call(self: &Arc<Core>, queue: &mut Queue, call: HostCall) {
        let mut staged = Vec::new();
        let copied = (|| {
            check_faults(call.inputs.iter())?;
            let raw = self.raw()?;
            for input in &call.inputs {
                let (address, bytes) = (input.readable()?.ptr() as u64, input.bytes());
                let block = self.shared.staging.take(bytes)?;
                if bytes > 0 {
                    // SAFETY: both places have this many bytes, and both are kept until the copy is done.
                    let copy = unsafe {
                        sys::cuMemcpyDtoHAsync_v2(block.ptr().cast(), address, bytes, raw)
                    };
                    check(copy, "copying to the host").map_err(|fault| self.noted(fault))?;
                }
                staged.push(block);
            }
            Ok(())
        })();
        if let Err(fault) = copied {
            // Copies of inputs before the one that failed may be under way.
            queue.open.push(Done::Release(Box::new((staged, call.inputs.clone()))));
            return call.fail(&with_label(fault, &call.label));
        }
        let core = self.clone();
        queue.open.push(Done::Call(Box::new(move |done| {
            let result = done.and_then(|()| computed(&call, &staged));
            let uploads = match result {
                Ok(outputs) => call
                    .outputs
                    .iter()
                    .zip(outputs)
                    .map(|(target, source)| Command::Upload { source, target: target.clone() })
                    .collect(),
                Err(fault) => {
                    call.fail(&with_label(fault, &call.label));
                    Vec::new()
                }
            };
            core.resume_with(uploads);
        })));
        self.close(queue);
        queue.is_held = true;
    }

    /// The address of an operand, noted as used; if it is written and has no memory yet, it gets it now, at
    /// `place` if possible.
    pub(super) fn address(
        &self,
        buffer: &Buffer,
        writes: bool,
        place: Option<usize>,
        label: &Label,
        until: &Event,
    ) -> Result<u64, Fault> {
        if writes && buffer.memory().is_none() {
            let memory = self.shared.pool.allocate_at(Some(self.number), buffer.bytes(), place);
            let memory = memory.map_err(|fault| with_label(fault, label))?;
            // If another stream was faster, its memory is as good.
            let _ = buffer.provide(memory);
        }
        let memory = buffer.readable().map_err(|fault| with_label(fault, label))?;
        memory.use_until(self.number, until);
        Ok(memory.ptr() as u64)
    }

    /// Memory for this command alone.
    pub(super) fn temporary(
        &self,
        bytes: usize,
        label: &Label,
        until: &Event,
    ) -> Result<Memory, Fault> {
        self.temporary_at(bytes, None, label, until)
    }

    /// The same, at `place` if possible.
    pub(super) fn temporary_at(
        &self,
        bytes: usize,
        place: Option<usize>,
        label: &Label,
        until: &Event,
    ) -> Result<Memory, Fault> {
        let memory = self.shared.pool.allocate_at(Some(self.number), bytes, place);
        let memory = memory.map_err(|fault| with_label(fault, label))?;
        memory.use_until(self.number, until);
        Ok(memory)
    }

    /// The stream's counters, zeroed when they are first asked for.
    pub(super) fn counters(&self, raw: sys::CUstream, label: &Label) -> Result<u64, Fault> {
        if let Some(memory) = self.counters.get() {
            return Ok(memory.ptr() as u64);
        }
        let memory = self.shared.pool.allocate(4 * MAX_SPLIT_BLOCKS);
        let memory = memory.map_err(|fault| with_label(fault, label))?;
        let address = memory.ptr() as u64;
        // SAFETY: the memory has this many words.
        let cleared = unsafe { sys::cuMemsetD32Async(address, 0, MAX_SPLIT_BLOCKS, raw) };
        check(cleared, "clearing counters")?;
        let _ = self.counters.set(memory);
        Ok(address)
    }

    /// Notes a fault that the device does not get over.
    pub(super) fn noted(&self, fault: Fault) -> Fault {
        if fault.is_lost() {
            let _ = self.shared.lost.set(fault.clone());
        }
        fault
    }
}

/// What a function of the host makes of copies of its inputs, each in memory of the host.
fn computed(call: &HostCall, inputs: &[StagingBuffer]) -> Result<Vec<Arc<Buffer>>, Fault> {
    let inputs: Vec<&[u8]> = inputs
        .iter()
        .zip(&call.inputs)
        // SAFETY: the copy wrote this many bytes, and it is done.
        .map(|(staged, input)| unsafe { std::slice::from_raw_parts(staged.ptr(), input.bytes()) })
        .collect();
    let mut outputs: Vec<Vec<u8>> =
        call.outputs.iter().map(|output| vec![0; output.bytes()]).collect();
    caught(&call.label, || {
        let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        (call.function)(&inputs, &mut places).map_err(|kind| with_label(kind.into(), &call.label))
    })?;
    Ok(outputs.into_iter().map(|bytes| Buffer::with_memory(Memory::adopt(bytes))).collect())
}

/// The first fault among a command's operands. One that is to be written may have failed as well: an earlier
/// command wrote another part of it.
pub(super) fn check_faults<'a>(
    mut buffers: impl Iterator<Item = &'a Arc<Buffer>>,
) -> Result<(), Fault> {
    match buffers.find_map(|buffer| buffer.fault()) {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}

/// A launch's kernel, as this backend compiled it.
pub(super) fn kernel_of(launch: &Launch) -> Result<&CudaKernel, Fault> {
    launch.planned.compiled.downcast_ref::<CudaKernel>().ok_or_else(|| {
        let message = "a kernel that another backend compiled";
        with_label(FaultKind::Unsupported(message.into()).into(), &launch.label)
    })
}

/// Runs a command. A panic anywhere in it is its fault.
pub(super) fn caught<E: From<Fault>>(
    label: &Label,
    run: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(message), _) => (*message).to_owned(),
            (_, Some(message)) => message.clone(),
            _ => "a panic without a message".to_owned(),
        };
        Err(with_label(FaultKind::Panicked(message).into(), label).into())
    })
}
