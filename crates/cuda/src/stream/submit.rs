//! Submission of kernel launches, reads, host callbacks and data-dependent expansions to a driver stream.

use super::completion::Completion;
use super::replay;
use super::{Core, MAX_BATCHED_LAUNCHES, Queue};
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

/// Retries of a command that ran out of memory, and the pause between two of them.
const MAX_RECLAIMS: usize = 20;
const RECLAIM_PAUSE: Duration = Duration::from_millis(1);

/// Capacity of an argument block. Most launches need no more words.
const ARGUMENT_WORDS: usize = 48;

/// Cached launch parameters of a planned launch, from its last execution on the stream. A repeated launch reuses the
/// packed argument block.
struct CachedLaunch {
    /// The addresses and sizes of its operands and results.
    buffers: SmallVec<[(u64, usize); 8]>,
    scalars: SmallVec<[Scalar; 2]>,
    /// The alignments of the buffers. The choice of a variant holds as long as they are the same; the sizes belong to
    /// the plan.
    alignments: Option<u64>,
    choice: LaunchConfig,
    function: Arc<Function>,
    /// The packed argument block, if it depends on nothing but buffers and scalars: the launch needs no scratch
    /// memory.
    words: Vec<u64>,
}

impl CachedLaunch {
    /// Whether buffers and scalars are unchanged.
    fn matches(&self, buffers: &[(u64, usize)], scalars: &[Scalar]) -> bool {
        *self.buffers == *buffers && *self.scalars == *scalars
    }

    /// Packs the arguments of the launch. `extra` are the addresses of its scratch memory and of the stream's
    /// counters.
    fn arguments(&self, compiled: &CudaKernel, shape: &LaunchShape, extra: [u64; 2]) -> Vec<u64> {
        let mut words = Vec::with_capacity(ARGUMENT_WORDS);
        let (kernel, CachedLaunch { buffers, scalars, choice, .. }) =
            (&compiled.analyzed.kernel, self);
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
        if self.reuse_in_place(launch) {
            return Ok(());
        }
        catch_panics(&launch.label, || {
            check_faults(launch.buffers.iter())?;
            self.launch_on(queue, launch, None)
        })
    }

    /// Submits independent launches. If one of them must wait, the batch keeps it and those after it.
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

    /// Moves the memory of dead operands to results (in-place reuse). Returns whether nothing is left to compute.
    pub(super) fn reuse_in_place(&self, launch: &mut Launch) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.try_reuse_in_place(launch))).unwrap_or(false)
    }

    fn try_reuse_in_place(&self, launch: &mut Launch) -> bool {
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
            // Threads write concurrently, so each element must have a point of its own. And the compiler assumes that
            // pointers to different types do not alias.
            let elements = result.bytes() / params[written].dtype.size();
            if params[read].dtype != params[written].dtype
                || points != elements
                || !reuse.suits(&launch.planned.shape)
                || !result.reuse_in_place(operand, self.id)
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

    /// Whether a fault is an out-of-memory that may pass when the work in flight has completed.
    pub(super) fn may_reclaim(&self, queue: &Queue, fault: &Fault) -> bool {
        let is_first = queue.reclaims == 0;
        fault.is_out_of_memory()
            && self.raw().is_ok()
            && (is_first || queue.reclaims < MAX_RECLAIMS && self.shared.pool.stats().cached > 0)
    }

    /// Frees cached memory and resumes. Runs on the completion thread, once everything before the command that ran
    /// out of memory has completed, so it may block.
    pub(super) fn reclaim(self: &Arc<Core>) {
        // A failure shows in the calls below.
        let _ = self.shared.context.synchronize();
        // Other streams retire their own work.
        if self.shared.pool.trim() == 0 && self.queue.lock().reclaims > 1 {
            std::thread::sleep(RECLAIM_PAUSE);
        }
        self.resume();
    }

    /// Adds a kernel launch to the launch batch. `gemm_result` is the memory to use for the param at a position.
    pub(super) fn launch_on(
        &self,
        queue: &mut Queue,
        launch: &Launch,
        gemm_result: Option<(usize, &Memory)>,
    ) -> Result<(), EnqueueError> {
        let raw = self.raw()?;
        let compiled = kernel_of(launch)?;
        let until = self.batch_event(queue);
        let PlannedLaunch { kernel, shape, cache, .. } = &*launch.planned;
        let cached = cache.get::<CachedLaunch>(self.id);
        let mut hints = cached.iter().flat_map(|cached| cached.buffers.iter().copied());
        let mut buffers = SmallVec::<[(u64, usize); 8]>::new();
        for (position, param) in kernel.params.iter().enumerate() {
            let buffer = &launch.buffers[position];
            let hint = hints.next().filter(|_| param.writes).map(|(address, _)| address as usize);
            let address = match gemm_result {
                Some((at, memory)) if at == position => memory.ptr() as u64,
                _ => self.address(buffer, param.writes, hint, &launch.label, &until)?,
            };
            buffers.push((address, buffer.bytes()));
            queue.bytes_moved += buffer.bytes();
        }
        let cached = match cached {
            Some(cached) if cached.matches(&buffers, &launch.scalars) => cached,
            cached => {
                let alignments = launch_config::alignments(&buffers);
                let is_aligned_alike = |cached: &Arc<CachedLaunch>| {
                    alignments.is_some() && cached.alignments == alignments
                };
                let chosen = match cached.filter(is_aligned_alike) {
                    Some(cached) => Some((cached.choice, cached.function.clone())),
                    None => self
                        .choose(launch, compiled, &buffers)
                        .map_err(|stop| stop.with_label(&launch.label))?,
                };
                let Some((choice, function)) = chosen else { return Ok(()) };
                let (scalars, words) = (launch.scalars.clone(), Vec::new());
                let mut cached =
                    CachedLaunch { buffers, scalars, alignments, choice, function, words };
                if choice.scratch == 0 {
                    cached.words = cached.arguments(compiled, shape, [0; 2]);
                }
                let cached = Arc::new(cached);
                cache.set(self.id, cached.clone());
                cached
            }
        };
        let CachedLaunch { choice: LaunchConfig { grid, threads, scratch, .. }, function, .. } =
            &*cached;
        let (function, results) = (function.clone(), launch.results());
        if *scratch == 0 {
            queue.launch_batch.push(function, *grid, *threads, &cached.words, results);
        } else {
            let memory = self.allocate_scratch(*scratch, &launch.label, &until)?;
            let extra = [memory.ptr() as u64, self.counters(raw, &launch.label)?];
            let words = cached.arguments(compiled, shape, extra);
            queue.launch_batch.push(function, *grid, *threads, &words, results);
        }
        queue.launch_count += 1;
        if queue.launch_batch.len() >= MAX_BATCHED_LAUNCHES {
            self.flush_batch(queue);
        }
        Ok(())
    }

    /// The variant that a launch runs, and its function. `None` if there is nothing to compute.
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
            // SAFETY: both sides have this many bytes, and both are retained until the copy is done.
            let copy =
                unsafe { sys::cuMemcpyDtoHAsync_v2(staged.ptr().cast(), address, bytes, raw) };
            check(copy, "copying to the host").map_err(|fault| self.record_fault(fault))?;
            Ok(Some(staged))
        })();
        // Released before the callback runs, which may rely on the stream holding no reference to the buffer.
        queue.completions.push(Completion::Release(Box::new(source)));
        queue.completions.push(match copied {
            Ok(staged) => Completion::Read { staged, bytes, callback },
            Err(fault) => Completion::ReadFault { fault, callback },
        });
    }

    /// Passes the bytes of a buffer to a callback, which returns the commands to continue with. Stalls the stream
    /// until then.
    pub(super) fn expand(
        self: &Arc<Core>,
        queue: &mut Queue,
        source: Arc<Buffer>,
        callback: ExpandCallback,
    ) {
        let core = self.clone();
        let continuation = Box::new(move |bytes: Result<&[u8], Fault>| {
            let mut expansion = Expansion { commands: Vec::new(), stream: core.id, device: "cuda" };
            // The stream resumes even if the callback panics.
            let called = catch_unwind(AssertUnwindSafe(|| callback(bytes, &mut expansion)));
            core.resume_with(expansion.commands);
            if let Err(panic) = called {
                resume_unwind(panic);
            }
        });
        self.read(queue, source, continuation);
        self.close_batch(queue);
        queue.is_stalled = true;
    }

    /// Calls a host function on copies of its inputs and uploads its outputs. Stalls the stream until then.
    pub(super) fn host_call(self: &Arc<Core>, queue: &mut Queue, call: HostCall) {
        let mut staged = Vec::new();
        let copied = (|| {
            check_faults(call.inputs.iter())?;
            let raw = self.raw()?;
            for input in &call.inputs {
                let (address, bytes) = (input.readable()?.ptr() as u64, input.bytes());
                let block = self.shared.staging.take(bytes)?;
                if bytes > 0 {
                    // SAFETY: both sides have this many bytes, and both are retained until the copy is done.
                    let copy = unsafe {
                        sys::cuMemcpyDtoHAsync_v2(block.ptr().cast(), address, bytes, raw)
                    };
                    check(copy, "copying to the host").map_err(|fault| self.record_fault(fault))?;
                }
                staged.push(block);
            }
            Ok(())
        })();
        if let Err(fault) = copied {
            // Copies of earlier inputs may be in flight.
            queue.completions.push(Completion::Release(Box::new((staged, call.inputs.clone()))));
            return call.fail(&with_label(fault, &call.label));
        }
        let core = self.clone();
        queue.completions.push(Completion::Callback(Box::new(move |done| {
            let result = done.and_then(|()| call_on_host(&call, &staged));
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
        self.close_batch(queue);
        queue.is_stalled = true;
    }

    /// The address of an operand, marked as in use. A written buffer without memory is allocated, at the address
    /// `hint` if possible.
    pub(super) fn address(
        &self,
        buffer: &Buffer,
        writes: bool,
        hint: Option<usize>,
        label: &Label,
        until: &Event,
    ) -> Result<u64, Fault> {
        if writes && buffer.memory().is_none() {
            let memory = self.shared.pool.allocate_at(Some(self.id), buffer.bytes(), hint);
            let memory = memory.map_err(|fault| with_label(fault, label))?;
            // If another stream has allocated it first, that memory is as good.
            let _ = buffer.provide(memory);
        }
        let memory = buffer.readable().map_err(|fault| with_label(fault, label))?;
        memory.use_until(self.id, until);
        Ok(memory.ptr() as u64)
    }

    /// Scratch memory of one command.
    pub(super) fn allocate_scratch(
        &self,
        bytes: usize,
        label: &Label,
        until: &Event,
    ) -> Result<Memory, Fault> {
        self.allocate_scratch_at(bytes, None, label, until)
    }

    /// Scratch memory of one command, at the address `hint` if possible.
    pub(super) fn allocate_scratch_at(
        &self,
        bytes: usize,
        hint: Option<usize>,
        label: &Label,
        until: &Event,
    ) -> Result<Memory, Fault> {
        let memory = self.shared.pool.allocate_at(Some(self.id), bytes, hint);
        let memory = memory.map_err(|fault| with_label(fault, label))?;
        memory.use_until(self.id, until);
        Ok(memory)
    }

    /// The arrival counters of the stream, zeroed on first use.
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

    /// Records a fault that the device does not recover from.
    pub(super) fn record_fault(&self, fault: Fault) -> Fault {
        if fault.is_lost() {
            let _ = self.shared.lost.set(fault.clone());
        }
        fault
    }
}

/// Calls a host function on staged copies of its inputs. Returns its outputs in host memory.
fn call_on_host(call: &HostCall, inputs: &[StagingBuffer]) -> Result<Vec<Arc<Buffer>>, Fault> {
    let inputs: Vec<&[u8]> = inputs
        .iter()
        .zip(&call.inputs)
        // SAFETY: the copy wrote this many bytes, and it has completed.
        .map(|(staged, input)| unsafe { std::slice::from_raw_parts(staged.ptr(), input.bytes()) })
        .collect();
    let mut outputs: Vec<Vec<u8>> =
        call.outputs.iter().map(|output| vec![0; output.bytes()]).collect();
    catch_panics(&call.label, || {
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
        (call.function)(&inputs, &mut slices).map_err(|kind| with_label(kind.into(), &call.label))
    })?;
    Ok(outputs.into_iter().map(|bytes| Buffer::with_memory(Memory::adopt(bytes))).collect())
}

/// The first fault among a command's buffers. A buffer to be written may have failed as well: an earlier command
/// wrote another part of it.
pub(super) fn check_faults<'a>(
    mut buffers: impl Iterator<Item = &'a Arc<Buffer>>,
) -> Result<(), Fault> {
    match buffers.find_map(|buffer| buffer.fault()) {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}

/// The compiled kernel of a launch.
pub(super) fn kernel_of(launch: &Launch) -> Result<&CudaKernel, Fault> {
    launch.planned.compiled.downcast_ref::<CudaKernel>().ok_or_else(|| {
        let message = "a kernel compiled by another backend";
        with_label(FaultKind::Unsupported(message.into()).into(), &launch.label)
    })
}

/// Runs a command and turns a panic into its fault.
pub(super) fn catch_panics<E: From<Fault>>(
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
