//! CUDA streams: submission of commands to a driver stream, launch batches and stalls.
//!
//! Kernel launches are collected in a launch batch, which is flushed to the driver stream before anything else is
//! submitted there, as single launches or as the replay of a CUDA graph ([`replay`]). A completion thread per stream
//! ([`completion`]) retires batches when the device has passed them. A command that waits for an event the driver has
//! not recorded stalls the stream: the commands behind it are deferred until the host learns of the event
//! ([`waiters`]).

mod completion;
mod copy_threads;
mod gemm;
mod replay;
mod routine;
mod submit;
mod upload;
mod waiters;

use crate::background::EnqueueError;
use crate::device::Shared;
use crate::driver::{check, enter, is_shutting_down, shutdown_fault};
use crate::event::TimedEvent;
use completion::{Completion, CompletionThread, SubmittedBatch};
use cudarc::driver::sys::{self, CUstream_flags};
use inflight_backend::observe::{self, CommandTimer};
use inflight_backend::{Command, Event, Fault, Launch, Memory, Priority, Stream, Timeline};
use parking_lot::{Mutex, MutexGuard};
use replay::{GraphCache, LaunchBatch};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use copy_threads::CopyThreads;
pub use replay::{ReplayCounts, replay_counts};
pub(crate) use waiters::Waiters;

/// Pending commands beyond this count are submitted without waiting for a flush.
const MAX_PENDING: usize = 512;

/// A launch batch is flushed at this size, so that the device is not left idle.
const MAX_BATCHED_LAUNCHES: usize = 256;

/// A flush is deferred while this many batches are in flight and few commands are pending: launches cost less when
/// they are submitted together.
const ENOUGH_IN_FLIGHT: usize = 2;
const FEW_PENDING: usize = 64;

/// A command that touches at most this many bytes finishes on the device before the host has launched it.
const BRIEF_BYTES: usize = 16 << 20;

/// Whether a command gains from being launched in a batch with others.
fn is_brief(command: &Command) -> bool {
    let launch = |launch: &Launch| {
        launch.buffers.iter().map(|buffer| buffer.bytes()).sum::<usize>() <= BRIEF_BYTES
    };
    match command {
        Command::Launch(one) => launch(one),
        Command::Batch(batch) => batch.launches.iter().all(launch),
        Command::Gemm(gemm) => {
            let operands = [&gemm.a, &gemm.b, &gemm.c];
            operands.iter().map(|operand| operand.buffer.bytes()).sum::<usize>() <= BRIEF_BYTES
        }
        Command::Routine(_) | Command::Signal(_) => true,
        _ => false,
    }
}

/// Record an event after commands that move this many bytes, so that waiters need not wait for later work.
const POINT_BYTES: usize = 64 << 20;

/// Record an event after this many launches.
const POINT_LAUNCHES: usize = 16;

/// Handle of a stream. Commands queued when it is dropped still run.
pub struct CudaStream {
    core: Arc<Core>,
}

/// The stream itself, shared by its handle and by the callbacks that resume it.
struct Core {
    /// Identifies the stream in traces and to the pool.
    id: u64,
    shared: Arc<Shared>,
    raw: Result<Raw, Fault>,
    /// Reaches a batch's number when the batch has completed.
    progress: Arc<Timeline>,
    queue: Mutex<Queue>,
    completion_thread: Arc<CompletionThread>,
    /// Arrival counters of blocks that share columns, or a matrix to pack. All zero between launches.
    counters: OnceLock<Memory>,
    /// Whether to flush the stream when a batch completes.
    is_deferred: AtomicBool,
}

struct Raw(sys::CUstream);

// SAFETY: the driver allows any thread to use the handle.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

#[derive(Default)]
struct Queue {
    /// Commands not yet submitted. A flush submits them, so that by then the last command that uses a buffer is its
    /// only owner; so does the end of the stall that they are queued behind.
    pending: VecDeque<Command>,
    /// Whether the stream waits for a callback or a thread to resume it.
    is_stalled: bool,
    /// Launches to flush to the driver stream before anything else is submitted.
    launch_batch: LaunchBatch,
    /// CUDA graphs of earlier launch batches.
    graph_cache: GraphCache,
    /// Addresses that the memory of GEMMs had before.
    allocation_hints: gemm::AllocationHints,
    /// Completions of what was submitted since the last event.
    completions: Vec<Completion>,
    /// Launches since the last event.
    launch_count: usize,
    /// Lower bound of the bytes moved by commands since the last event.
    bytes_moved: usize,
    /// Batches so far.
    batches: u64,
    /// How often the next command was deferred for lack of memory.
    reclaims: usize,
    /// Start of the open batch, recorded only for tracing.
    batch_start: Option<TimedEvent>,
}

impl CudaStream {
    pub fn new(shared: Arc<Shared>, priority: Priority) -> CudaStream {
        let _entered = shared.context.enter();
        let mut raw = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the output locations are valid. Without stream priorities, both stay zero.
        let made = unsafe {
            sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest);
            // The driver's smaller numbers are more urgent.
            let urgency = match priority {
                Priority::High => greatest,
                Priority::Normal => (least + greatest) / 2,
                Priority::Low => least,
            };
            check(sys::cuStreamCreateWithPriority(&mut raw, flags, urgency), "creating a stream")
        };
        let progress = Timeline::new();
        let id = observe::next_stream_id();
        let core = Arc::new(Core {
            id,
            raw: made.map(|()| Raw(raw)),
            completion_thread: CompletionThread::new(shared.clone(), progress.clone(), id),
            progress,
            queue: Mutex::default(),
            counters: OnceLock::new(),
            is_deferred: AtomicBool::new(false),
            shared,
        });
        core.completion_thread.attach(&core);
        CudaStream { core }
    }
}

// SAFETY: commands go to one driver stream, in order. A launch or GEMM that is submitted writes every element of its
// results, and one that is not submitted fails them. A signal fires when the driver reports everything before it as
// done. Memory that a command uses is marked as in use until then; whatever else the command needs is retained.
unsafe impl Stream for CudaStream {
    fn id(&self) -> Option<u64> {
        Some(self.core.id)
    }

    unsafe fn enqueue(&self, command: Command) {
        let mut queue = self.core.queue.lock();
        queue.pending.push_back(command);
        if !queue.is_stalled && queue.pending.len() >= MAX_PENDING {
            drop(self.core.submit_pending(queue, 0));
            self.core.shared.waiters.resume();
        }
    }

    fn flush(&self) {
        self.core.flush();
    }

    fn assist(&self, _: &Event) {
        self.flush();
    }
}

impl Drop for CudaStream {
    fn drop(&mut self) {
        self.core.flush_all();
        self.core.completion_thread.shut_down();
    }
}

impl Core {
    /// Submits the pending commands, now or, while the device is busy, when a batch completes.
    fn flush(self: &Arc<Core>) {
        if self.can_defer() {
            self.is_deferred.store(true, Ordering::SeqCst);
            // A batch that completes now has either seen the flag or is still counted here.
            if self.completion_thread.in_flight() >= ENOUGH_IN_FLIGHT {
                return;
            }
        }
        let queue = self.queue.lock();
        // Leave commands after the last signal pending: they are a part of a longer sequence. Submitting them now
        // would split the sequence at a point that depends on timing, and its CUDA graphs would not be replayed.
        let is_signal = |command: &Command| matches!(command, Command::Signal(_));
        let rest = queue.pending.iter().rev().position(is_signal);
        let is_open =
            queue.completions.iter().any(|completion| matches!(completion, Completion::Signal(_)));
        match rest.is_some() || is_open {
            true => {
                let rest = rest.unwrap_or(queue.pending.len());
                self.submit_and_close(queue, rest);
            }
            // Unlock first: the streams resumed below may be this one, or wait for it.
            false => drop(queue),
        }
        self.shared.waiters.resume();
    }

    /// Whether to defer a flush: the device is busy, and only a few brief commands are pending.
    fn can_defer(&self) -> bool {
        if self.completion_thread.in_flight() < ENOUGH_IN_FLIGHT {
            return false;
        }
        let queue = self.queue.lock();
        !queue.is_stalled && queue.pending.len() < FEW_PENDING && queue.pending.iter().all(is_brief)
    }

    /// Flushes the stream if a flush was deferred.
    fn flush_deferred(self: &Arc<Core>) {
        if self.is_deferred.swap(false, Ordering::SeqCst) {
            self.flush();
        }
    }

    /// Submits all pending commands until one stalls the stream, and closes the batch.
    fn flush_all(self: &Arc<Core>) {
        self.submit_and_close(self.queue.lock(), 0);
        self.shared.waiters.resume();
    }

    /// Submits all but the last `rest` pending commands until one stalls the stream, and closes the batch.
    fn submit_and_close<'a>(self: &'a Arc<Core>, queue: MutexGuard<'a, Queue>, rest: usize) {
        if queue.is_stalled {
            return;
        }
        if let Some(mut queue) = self.submit_pending(queue, rest) {
            self.close_batch(&mut queue);
        }
    }

    /// Submits all but the last `rest` pending commands. `None` if one of them stalled the stream.
    fn submit_pending<'a>(
        self: &'a Arc<Core>,
        mut queue: MutexGuard<'a, Queue>,
        rest: usize,
    ) -> Option<MutexGuard<'a, Queue>> {
        // Shutdown waits until this is dropped, so that everything is submitted before the driver goes away.
        let _inside = enter();
        let _entered = self.shared.context.enter();
        while queue.pending.len() > rest {
            let mut command = queue.pending.pop_front();
            if let Some(stall) = self.submit(&mut queue, &mut command) {
                drop(queue);
                stall.resume(self);
                return None;
            }
            if queue.is_stalled {
                return None;
            }
        }
        Some(queue)
    }

    /// Continues after a stall.
    fn resume(self: &Arc<Core>) {
        self.resume_with(Vec::new());
    }

    /// Continues after a stall with `commands` first, and then resumes the streams that waited for them.
    fn resume_with(self: &Arc<Core>, commands: Vec<Command>) {
        self.continue_with(commands);
        self.shared.waiters.resume();
    }

    /// Submits `commands`, and then what was pending behind the stall.
    fn continue_with(self: &Arc<Core>, commands: Vec<Command>) {
        let mut queue = self.queue.lock();
        queue.is_stalled = false;
        for command in commands.into_iter().rev() {
            queue.pending.push_front(command);
        }
        if let Some(mut queue) = self.submit_pending(queue, 0) {
            self.close_batch(&mut queue);
        }
    }

    /// Submits a command. If it must wait, the stream is stalled; the returned stall, if any, resumes it.
    fn submit(self: &Arc<Core>, queue: &mut Queue, slot: &mut Option<Command>) -> Option<Stall> {
        // A command is large: take it out of its slot only where ownership is needed.
        let command = slot.as_mut()?;
        let observed = CommandTimer::begin(command);
        if observed.is_some() && queue.batch_start.is_none() {
            queue.batch_start =
                self.raw().ok().and_then(|raw| self.shared.events.record_timed(raw));
        }
        if !matches!(
            command,
            Command::Launch(_) | Command::Batch(_) | Command::Gemm(_) | Command::Signal(_)
        ) {
            self.flush_batch(queue);
        }
        let submitted = match command {
            Command::Launch(launch) => Some(self.launch(queue, launch)),
            Command::Batch(batch) => Some(self.batch(queue, batch)),
            Command::Gemm(gemm) => Some(self.gemm(queue, gemm)),
            Command::Routine(call) => Some(self.routine(queue, call)),
            Command::Upload { source, target } => match self.upload(queue, source, target) {
                Ok(None) => Some(Ok(())),
                Ok(Some(upload)) => {
                    (queue.is_stalled, queue.reclaims) = (true, 0);
                    return Some(Stall::Upload(upload));
                }
                Err(stop) => Some(Err(stop)),
            },
            _ => None,
        };
        match submitted {
            Some(Ok(())) => queue.reclaims = 0,
            Some(Err(stop)) => {
                let stall = self.stall_or_fail(queue, slot.take()?, stop);
                if queue.is_stalled {
                    return stall;
                }
            }
            None => {
                let stall = self.submit_other(queue, slot.take()?);
                if stall.is_some() {
                    return stall;
                }
            }
        }
        if let Some(observed) = observed {
            queue.completions.push(Completion::CommandTimer(observed));
            // A batch has one pair of timed events: a batch of its own gives the command its own time.
            self.close_batch(queue);
        }
        None
    }

    /// Stalls the stream on a command that cannot be submitted now. A command that never can be submitted fails.
    fn stall_or_fail(
        self: &Arc<Core>,
        queue: &mut Queue,
        mut command: Command,
        stop: EnqueueError,
    ) -> Option<Stall> {
        let mut stall = None;
        match stop {
            EnqueueError::NotReady(event) => stall = Some(Stall::UntilReached(event)),
            EnqueueError::Failed(fault) if self.may_reclaim(queue, &fault) => {
                queue.reclaims += 1;
                let core = self.clone();
                queue.completions.push(Completion::Callback(Box::new(move |_| core.reclaim())));
            }
            EnqueueError::Failed(fault) => {
                queue.reclaims = 0;
                match &mut command {
                    // The launches after it have not been tried.
                    Command::Batch(batch) if batch.launches.len() > 1 => {
                        batch.launches.remove(0).fail(&fault);
                        queue.pending.push_front(command);
                    }
                    _ => command.abandon(fault),
                }
                return None;
            }
        }
        // Keep the device busy during the stall.
        self.close_batch(queue);
        queue.pending.push_front(command);
        queue.is_stalled = true;
        stall
    }

    /// Submits a command that computes nothing.
    fn submit_other(self: &Arc<Core>, queue: &mut Queue, command: Command) -> Option<Stall> {
        match command {
            Command::Read { source, callback } => self.read(queue, source, callback),
            Command::Expand { source, callback } => self.expand(queue, source, callback),
            Command::Loop(_) => {
                let message = "device loops on CUDA".to_owned();
                command.abandon(inflight_backend::FaultKind::Unsupported(message).into());
            }
            Command::Host(call) => self.host_call(queue, call),
            Command::Signal(event) => {
                queue.completions.push(Completion::Signal(event));
                if queue.bytes_moved >= POINT_BYTES || queue.launch_count >= POINT_LAUNCHES {
                    self.close_batch(queue);
                }
            }
            Command::Wait(event) => {
                if event.is_reached() {
                    return None;
                }
                let recorded = self.shared.recorded_event(&event);
                let point = recorded.as_ref().zip(self.raw().ok());
                let waited = point.map(|(point, raw)| point.stream_wait(raw));
                if !matches!(waited, Some(Ok(()))) {
                    self.close_batch(queue);
                    queue.is_stalled = true;
                    return Some(match recorded {
                        Some(_) => Stall::UntilReached(event),
                        None => Stall::UntilRecorded(event),
                    });
                }
            }
            Command::Launch(_)
            | Command::Batch(_)
            | Command::Gemm(_)
            | Command::Routine(_)
            | Command::Upload { .. } => unreachable!("`submit` handles these"),
        }
        None
    }

    fn raw(&self) -> Result<sys::CUstream, Fault> {
        if let Some(fault) = self.shared.lost.get() {
            return Err(fault.clone());
        }
        if is_shutting_down() {
            return Err(shutdown_fault());
        }
        match &self.raw {
            Ok(raw) => Ok(raw.0),
            Err(fault) => Err(fault.clone()),
        }
    }

    /// Flushes the launch batch to the driver stream.
    fn flush_batch(&self, queue: &mut Queue) {
        if queue.launch_batch.len() == 0 {
            return;
        }
        let Queue { launch_batch, graph_cache, completions, .. } = queue;
        let mut raw = self.raw();
        loop {
            let rest = graph_cache.split_periodic(launch_batch);
            // SAFETY: `launch_on` batched the launches, with arguments laid out as the kernel sources declare them
            // and with memory marked as in use until the next event. The returned value is retained until then.
            let (in_flight, launched) =
                unsafe { graph_cache.launch(&self.shared.context, launch_batch, raw.clone()) };
            completions.push(Completion::Launches(in_flight));
            if let Err(fault) = launched {
                // Later launches may depend on the failed ones.
                raw = Err(self.record_fault(fault));
            }
            let Some(rest) = rest else { return };
            *launch_batch = rest;
        }
    }

    /// Closes the open batch: records an event behind it and hands it to the completion thread.
    fn close_batch(&self, queue: &mut Queue) {
        let _inside = enter();
        // The flushing thread may never have used CUDA, or used another device last.
        let _entered = self.shared.context.enter();
        self.flush_batch(queue);
        if queue.completions.is_empty() {
            return;
        }
        (queue.launch_count, queue.bytes_moved) = (0, 0);
        // Recorded before the event, so that it is reached when the event is.
        let shutdown_fault =
            |began| Some([began, self.shared.events.record_timed(self.raw().ok()?)?]);
        let times = queue.batch_start.take().and_then(shutdown_fault);
        let point = self.raw().and_then(|raw| self.shared.events.record(raw));
        let point = point.map(Arc::new);
        let work = std::mem::take(&mut queue.completions);
        // Observers hear of a command before the waiters of a later signal go on: only the completion thread signals.
        if let Ok(point) = &point
            && !observe::is_listening()
        {
            for completion in &work {
                if let Completion::Signal(event) = completion {
                    self.shared.record_signal(event, point);
                }
            }
        }
        queue.batches += 1;
        self.completion_thread.push(SubmittedBatch { number: queue.batches, point, work, times });
    }

    /// The event that fires when what is submitted now has completed.
    fn batch_event(&self, queue: &Queue) -> Event {
        self.progress.event(queue.batches + 1)
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if let Ok(Raw(raw)) = &self.raw
            && let Some(_inside) = enter()
        {
            let _entered = self.shared.context.enter();
            if let Some(counters) = self.counters.get() {
                let done = self.progress.event(self.queue.get_mut().batches);
                counters.use_until(self.id, &done);
            }
            // SAFETY: created in `new`. The driver finishes the work on the stream.
            unsafe { sys::cuStreamDestroy_v2(*raw) };
        }
    }
}

/// Why a stream is stalled, and what resumes it.
enum Stall {
    /// Until an event is reached.
    UntilReached(Event),
    /// Until an event is reached, or another stream of the device has recorded it.
    UntilRecorded(Event),
    /// Until a thread has handed a large upload to the driver, chunk by chunk.
    Upload(upload::Upload),
}

impl Stall {
    fn resume(self, core: &Arc<Core>) {
        let core = core.clone();
        match self {
            // The stream holds no reference to the event: if no handle is left that could signal it, everything is
            // dropped.
            Stall::UntilReached(event) => event.on_reached(Box::new(move || core.resume())),
            Stall::UntilRecorded(event) => Waiters::resume_at(&core, event),
            Stall::Upload(upload) => {
                let copy_threads = core.shared.copy_threads.clone();
                copy_threads.spawn(Box::new(move || {
                    let upload = Arc::new(upload);
                    let done = upload.copy_shared(&core);
                    core.queue.lock().completions.extend(done);
                    core.resume();
                    // Releasing the source may take a while, and no waiter needs it.
                    drop(upload);
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inflight_backend::{Batch, Buffer, Label, PlannedLaunch};
    use inflight_ir::kernel::{LaunchShape, parse};
    use smallvec::smallvec;

    /// A launch that touches `bytes` bytes.
    fn launch(bytes: usize) -> Launch {
        let kernel = "kernel grid 0 reduce 0 vector parallel\nparam p0: f32 writes\n\
            access a0: p0 reduce zero vector one\n%0 = load p0[a0] : f32\nstore p0[a0] %0 : f32\n";
        Launch {
            planned: PlannedLaunch::new(
                Arc::new(()),
                Arc::new(parse(kernel).expect("a kernel")),
                Arc::new(LaunchShape { extents: smallvec![1], accesses: Vec::new() }),
            ),
            buffers: smallvec![Buffer::declare(bytes)],
            scalars: smallvec![],
            label: Label { segment: Arc::new([]), work: Arc::default() },
        }
    }

    #[test]
    fn flush_is_deferred_only_for_brief_commands() {
        let one = |bytes| is_brief(&Command::Launch(launch(bytes)));
        assert_eq!((one(BRIEF_BYTES), one(BRIEF_BYTES + 1)), (true, false));
        let batch = |bytes: [usize; 2]| {
            let label = launch(0).label;
            is_brief(&Command::Batch(Batch { launches: bytes.map(launch).into(), label }))
        };
        assert_eq!((batch([BRIEF_BYTES; 2]), batch([64, BRIEF_BYTES + 1])), (true, false));
        let event = Timeline::new().event(1);
        assert!(is_brief(&Command::Signal(event.clone())));
        assert!(!is_brief(&Command::Wait(event)));
    }
}
