//! Streams: in-order queues of commands, and their scheduling on the worker pool.
//!
//! A flushed stream becomes a task of the pool; the thread that takes it runs commands for one time slice. A thread that
//! waits for an event runs its stream's commands itself (`assist`), or helps with the loops of the thread that
//! does.

use crate::gemm::{self, BoundGemm, EpilogueRunner, GemmTarget, OperandSource, PrologueRunner};
use crate::launch::{self, CompiledKernel, PreparedLaunch};
use crate::routine;
use crate::workers::{Workers, panic_fault};
use inflight_backend::observe::{self, CommandTimer};
use inflight_backend::sync::thread::{self, ThreadId};
use inflight_backend::sync::{MODEL_CHECKED, Mutex, MutexGuard, hint};
use inflight_backend::{
    Buffer, Command, Event, ExpandCallback, Expansion, Fault, FaultKind, GemmLaunch, GemmOperand,
    HostCall, Label, Launch, Pool, Priority, Producer, ReadCallback, RoutineCall, Stream,
};
use inflight_ir::kernel::is_copy;
use inflight_ir::plan::Side;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

mod device_loop;

/// Commands that a stream runs before it yields its thread to tasks that wait for one.
const TIME_SLICE: usize = 32;

/// How long a worker waits before it takes a stream that was just flushed. If the flushing thread waits for the stream
/// right away, it runs the stream itself, with the workers' help, and need not be woken at the end, which takes longer
/// than this delay.
const STEAL_DELAY: Duration = Duration::from_micros(20);

/// A handle to a stream. Commands that are queued when it is dropped still run.
pub struct CpuStream {
    core: Arc<Core>,
}

/// The stream itself, owned by its handle, by the thread or task that runs it, and by the event callback it waits for.
struct Core {
    /// The stream id in traces.
    id: u64,
    priority: Priority,
    workers: Arc<Workers>,
    pool: Arc<Pool>,
    queue: Mutex<Queue>,
}

struct Queue {
    commands: VecDeque<Command>,
    state: State,
    /// Time of the last flush that scheduled the stream.
    flushed_at: Option<Instant>,
    /// The thread that runs the stream; its loops are those a helping waiter helps with.
    runner: Option<ThreadId>,
}

/// The scheduling state of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No thread runs it, until the next `flush` or `assist`.
    Idle,
    /// A task of the worker pool has not begun yet. An assisting thread may begin before it.
    Scheduled,
    /// A thread runs it. The thread leaves this state in the same critical section in which it decides to stop.
    Running,
    /// It waits for an event. The event's callback owns the stream, and the stream does not own the event: if no handle
    /// is left that could signal the event, both are dropped.
    Blocked,
}

impl Queue {
    /// Makes the current thread the one that runs the stream.
    fn start_running(&mut self) {
        self.state = State::Running;
        self.runner = Some(thread::current().id());
    }

    /// Enters a state in which no thread runs the stream.
    fn stop_running(&mut self, state: State) {
        self.state = state;
        self.runner = None;
    }
}

impl CpuStream {
    /// An empty stream.
    pub fn new(workers: Arc<Workers>, pool: Arc<Pool>, priority: Priority) -> CpuStream {
        let queue = Mutex::new(Queue {
            commands: VecDeque::new(),
            state: State::Idle,
            flushed_at: None,
            runner: None,
        });
        let id = observe::next_stream_id();
        CpuStream { core: Arc::new(Core { id, priority, workers, pool, queue }) }
    }
}

// SAFETY: one thread at a time runs the queue, from front to back; a launch, a GEMM or a routine writes every element of
// its results or fails them, before the next signal; commands are dropped when they have run.
unsafe impl Stream for CpuStream {
    fn id(&self) -> Option<u64> {
        Some(self.core.id)
    }

    unsafe fn enqueue(&self, command: Command) {
        self.core.queue.lock().commands.push_back(command);
    }

    fn flush(&self) {
        let mut queue = self.core.queue.lock();
        if queue.state == State::Idle && !queue.commands.is_empty() {
            queue.flushed_at = Some(Instant::now());
            self.core.schedule(queue);
        }
    }

    fn assist(&self, event: &Event) {
        let core = &self.core;
        if core.try_begin_assisting() {
            core.run(!core.workers.owns_current_thread(), |_| event.is_reached());
        }
        // Help the thread that runs the stream now or will.
        let is_active = || matches!(core.queue.lock().state, State::Scheduled | State::Running);
        if !event.is_reached() && is_active() {
            core.workers.help_until(|| event.is_reached(), || core.queue.lock().runner);
        }
    }
}

impl Drop for CpuStream {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Core {
    /// Submits the stream to the worker pool.
    fn schedule(self: &Arc<Core>, mut queue: MutexGuard<'_, Queue>) {
        queue.stop_running(State::Scheduled);
        drop(queue);
        let core = self.clone();
        self.workers.spawn(self.priority, Box::new(move || core.run_time_slice()));
    }

    /// The task of a worker: runs the stream for one time slice.
    fn run_time_slice(self: &Arc<Core>) {
        loop {
            let mut queue = self.queue.lock();
            // An assisting thread may have begun, and even finished, in the meantime.
            if queue.state != State::Scheduled {
                return;
            }
            let is_recent = |flushed_at: Instant| flushed_at.elapsed() < STEAL_DELAY;
            if MODEL_CHECKED
                || self.workers.thread_count() == 1
                || !queue.flushed_at.is_some_and(is_recent)
            {
                queue.start_running();
                break;
            }
            drop(queue);
            // Poll rarely: threads that enqueue commands need the lock.
            (0..100).for_each(|_| hint::spin_loop());
        }
        self.run(false, |commands| {
            self.workers.has_tasks_above(self.priority)
                || commands >= TIME_SLICE && self.workers.has_tasks_at_or_above(self.priority)
        });
    }

    /// Makes the current thread the one that runs the stream, if no other thread does and there are commands to run.
    fn try_begin_assisting(&self) -> bool {
        let mut queue = self.queue.lock();
        let free =
            matches!(queue.state, State::Idle | State::Scheduled) && !queue.commands.is_empty();
        if free {
            queue.start_running();
        }
        free
    }

    /// Runs commands on the current thread, which is the one of [`State::Running`], until the queue is empty, a command
    /// must wait, or `done`, given the number of commands run, returns true. Schedules the remaining commands.
    ///
    /// A thread outside the pool (`is_waiter`) leaves host functions to the workers: if this stream is the thread's own,
    /// the operations that a host function records would be enqueued on it, and the function would wait for itself.
    fn run(self: &Arc<Core>, is_waiter: bool, done: impl Fn(usize) -> bool) {
        let mut commands = 0;
        loop {
            if done(commands) {
                return self.release();
            }
            let mut queue = self.queue.lock();
            if is_waiter && matches!(queue.commands.front(), Some(Command::Host(_))) {
                queue.flushed_at = None;
                return self.schedule(queue);
            }
            let command = match queue.commands.pop_front() {
                None => {
                    queue.stop_running(State::Idle);
                    return;
                }
                Some(Command::Wait(event)) => {
                    if event.is_reached() {
                        continue;
                    }
                    queue.stop_running(State::Blocked);
                    drop(queue);
                    let core = self.clone();
                    event.on_reached(Box::new(move || core.release()));
                    return;
                }
                Some(command) => command,
            };
            drop(queue);
            // A device loop runs many iterations: it counts as a whole time slice.
            commands += if matches!(command, Command::Loop(_)) { TIME_SLICE } else { 1 };
            // Values that a command owns may panic as well, when they are dropped. The stream continues.
            let _ = catch_unwind(AssertUnwindSafe(|| self.execute(command)));
        }
    }

    /// Gives up the stream, and schedules it if commands are left. Called by the thread that runs it or by the callback
    /// of the event it waited for.
    fn release(self: &Arc<Core>) {
        let mut queue = self.queue.lock();
        if queue.commands.is_empty() {
            queue.stop_running(State::Idle);
        } else {
            self.schedule(queue);
        }
    }

    fn execute(&self, command: Command) {
        let timer = CommandTimer::begin(&command);
        match command {
            Command::Launch(launch) => self.launch(launch),
            Command::Batch(mut batch) => self.launches(&mut batch.launches),
            Command::Gemm(launch) => self.gemm(&launch),
            Command::Routine(call) => self.routine(&call),
            Command::Host(call) => self.call_host(&call),
            Command::Read { source, callback } => read(&source, callback),
            Command::Expand { source, callback } => self.expand(&source, callback),
            Command::Loop(device_loop) => self.run_device_loop(device_loop),
            Command::Upload { source, target } => self.upload(&source, &target),
            Command::Signal(event) => event.signal(),
            // Handled by `run`, which can stop.
            Command::Wait(_) => {}
        }
        if let Some(timer) = timer {
            timer.end(self.id, "cpu");
        }
    }

    fn launch(&self, launch: Launch) {
        self.launches(&mut [launch]);
    }

    /// Runs a batch of independent launches in one parallel loop.
    fn launches(&self, launches: &mut [Launch]) {
        // A launch malformed enough to panic here fails again, and reports it, when it runs.
        let done: SmallVec<[bool; 1]> = launches
            .iter_mut()
            .map(|launch| {
                catch_unwind(AssertUnwindSafe(|| reuse_in_place(launch))).unwrap_or(false)
            })
            .collect();
        let mut prepared = SmallVec::<[PreparedLaunch<'_>; 1]>::new();
        let mut running = SmallVec::<[&Launch; 1]>::new();
        for (launch, done) in launches.iter().zip(done) {
            if done {
                self.pool
                    .count_reused_in_place(launch.results().map(|result| result.bytes()).sum());
                continue;
            }
            let mut ready = None;
            let result = catch_panic(&launch.label, || {
                ready = Some(self.prepare(launch)?);
                Ok(())
            });
            match (result, ready) {
                (Ok(()), Some(ready)) => {
                    prepared.push(ready);
                    running.push(launch);
                }
                (Err(fault), _) => launch.fail(&fault),
                (Ok(()), None) => unreachable!("prepared without a fault"),
            }
        }
        // SAFETY: the addresses are those of the launches' buffers, which they keep alive, and whose sizes the planner
        // derived from the same shapes. The stream's order, and events between streams, prevent access by other
        // commands to the results meanwhile; launches of a batch are independent.
        let run =
            catch_unwind(AssertUnwindSafe(|| unsafe { launch::run(&self.workers, &prepared) }));
        let failed = run.unwrap_or_else(|panic| {
            let fault = panic_fault(panic);
            (0..running.len()).map(|launch| (launch, fault.clone())).collect()
        });
        for (launch, fault) in failed {
            let launch = running[launch];
            launch.fail(&labelled_fault(fault, &launch.label));
        }
    }

    /// Looks up a launch's kernel and the addresses of its buffers; allocates its results.
    fn prepare<'a>(&self, launch: &'a Launch) -> Result<PreparedLaunch<'a>, Fault> {
        let compiled = compiled_kernel(launch)?;
        check_operands(launch.buffers.iter())?;
        let mut buffers = SmallVec::new();
        for (param, buffer) in launch.planned.kernel.params.iter().zip(&launch.buffers) {
            buffers.push(self.address(buffer, param.writes, &launch.label)?);
        }
        let (scalars, shape) = (&launch.scalars[..], &*launch.planned.shape);
        Ok(PreparedLaunch { compiled, buffers, scalars, shape })
    }

    fn gemm(&self, launch: &GemmLaunch) {
        let label = &launch.label;
        let result = catch_panic(label, || {
            let bound = self.bind_gemm(launch, None)?;
            // SAFETY: as for a launch.
            let run = unsafe { gemm::run(&self.workers, &bound) };
            run.map_err(|fault| labelled_fault(fault, label))
        });
        if let Err(fault) = result {
            launch.fail(&fault);
        }
    }

    /// Binds a GEMM to its memory. Values that fusion keeps in cache have none: operands with a prologue, results with
    /// an epilogue, and for the first of two chained GEMMs the epilogue's param that is the second's operand
    /// (`chained_operand`).
    fn bind_gemm<'a>(
        &self,
        gemm: &'a GemmLaunch,
        chained_operand: Option<usize>,
    ) -> Result<BoundGemm<'a>, Fault> {
        let label = &gemm.label;
        check_operands([&gemm.a.buffer, &gemm.b.buffer, &gemm.c.buffer].into_iter())?;
        let source = |side: Side, operand: &GemmOperand| -> Result<OperandSource<'a>, Fault> {
            match gemm.prologue.as_ref().filter(|prologue| prologue.side == side) {
                None => Ok(OperandSource::Memory(self.address(&operand.buffer, false, label)?)),
                Some(prologue) => match &prologue.producer {
                    Producer::Kernel(block) => {
                        let compiled = compiled_kernel(&block.launch)?;
                        let addresses = self.addresses(&block.launch, &[block.operand_param])?;
                        // SAFETY: as for a launch.
                        let runner = unsafe { PrologueRunner::new(compiled, block, addresses) };
                        Ok(OperandSource::Prologue(runner))
                    }
                    Producer::Gemm(chained) => {
                        let first = self.bind_gemm(&chained.gemm, Some(chained.operand_param))?;
                        Ok(OperandSource::ChainedGemm(Box::new(first), chained.operand_param))
                    }
                },
            }
        };
        let (a, b) = (source(Side::A, &gemm.a)?, source(Side::B, &gemm.b)?);
        let c = match &gemm.epilogue {
            None => GemmTarget::Memory(self.address(&gemm.c.buffer, true, label)?),
            Some(epilogue) => {
                let compiled = compiled_kernel(&epilogue.launch)?;
                let without: SmallVec<[usize; 2]> =
                    chained_operand.into_iter().chain([epilogue.gemm_result]).collect();
                let addresses = self.addresses(&epilogue.launch, &without)?;
                // SAFETY: as for a launch.
                GemmTarget::Epilogue(unsafe { EpilogueRunner::new(compiled, epilogue, addresses) })
            }
        };
        Ok(BoundGemm { launch: gemm, a, b, c })
    }

    /// The addresses of a launch's buffers; null for the params in `without`, which have no memory.
    fn addresses(
        &self,
        launch: &Launch,
        without: &[usize],
    ) -> Result<SmallVec<[*mut u8; 8]>, Fault> {
        check_operands(launch.buffers.iter())?;
        let params = launch.planned.kernel.params.iter().zip(&launch.buffers).enumerate();
        params
            .map(|(position, (param, buffer))| match without.contains(&position) {
                true => Ok(std::ptr::null_mut()),
                false => self.address(buffer, param.writes, &launch.label),
            })
            .collect()
    }

    fn routine(&self, call: &RoutineCall) {
        let result = catch_panic(&call.label, || {
            let label = &call.label;
            check_operands(call.operands.iter().chain([&call.result]))?;
            let mut operands = SmallVec::<[*mut u8; 4]>::new();
            for operand in &call.operands {
                operands.push(self.address(operand, false, label)?);
            }
            let result = self.address(&call.result, true, label)?;
            let device = routine::Device { workers: &self.workers, pool: &self.pool };
            // SAFETY: as for a launch.
            let run = unsafe { routine::run(&device, &call.routine, &operands, result) };
            run.map_err(|fault| add_label(fault, label))
        });
        if let Err(fault) = result {
            call.result.fail(fault);
        }
    }

    fn call_host(&self, call: &HostCall) {
        let label = &call.label;
        let result = catch_panic(label, || {
            check_operands(call.inputs.iter())?;
            let mut inputs = SmallVec::<[&[u8]; 4]>::new();
            for buffer in &call.inputs {
                // SAFETY: as for a read.
                let bytes = unsafe { buffer_bytes(buffer) };
                inputs.push(bytes.map_err(|fault| add_label(fault, label))?);
            }
            let mut outputs = SmallVec::<[&mut [u8]; 2]>::new();
            for buffer in &call.outputs {
                let address = self.address(buffer, true, label)?;
                // SAFETY: the memory has this many bytes, and no other command uses it now: this one writes it, and the
                // outputs are distinct buffers. It may be uninitialized, so it is zeroed before there is a reference
                // to it.
                outputs.push(unsafe {
                    std::ptr::write_bytes(address, 0, buffer.bytes());
                    std::slice::from_raw_parts_mut(address, buffer.bytes())
                });
            }
            (call.function)(&inputs, &mut outputs).map_err(|kind| labelled_fault(kind, label))
        });
        if let Err(fault) = result {
            call.fail(&fault);
        }
    }

    /// Runs an expansion's callback and puts the commands it returns at the front of the queue.
    fn expand(&self, source: &Buffer, callback: ExpandCallback) {
        let mut expansion = Expansion { commands: Vec::new(), stream: self.id, device: "cpu" };
        // SAFETY: as for a read.
        callback(unsafe { buffer_bytes(source) }, &mut expansion);
        self.push_front(expansion.commands);
    }

    /// Puts commands at the front of the queue, in order.
    fn push_front(&self, commands: Vec<Command>) {
        let mut queue = self.queue.lock();
        for command in commands.into_iter().rev() {
            queue.commands.push_front(command);
        }
    }

    fn upload(&self, source: &Buffer, target: &Buffer) {
        let copied = source.readable().and_then(|from| {
            let memory = self.pool.allocate(target.bytes())?;
            let bytes = target.bytes().min(source.bytes());
            // SAFETY: both have this many bytes. The target is new, and the source has been written, by the stream's
            // order and the events it waited for.
            unsafe { std::ptr::copy_nonoverlapping(from.ptr(), memory.ptr(), bytes) };
            let _ = target.provide(memory);
            Ok(())
        });
        if let Err(fault) = copied {
            target.fail(fault);
        }
    }

    /// The address of a buffer. A result without memory is allocated.
    fn address(&self, buffer: &Buffer, writes: bool, label: &Label) -> Result<*mut u8, Fault> {
        if writes && buffer.memory().is_none() {
            let memory = self.pool.allocate(buffer.bytes());
            let memory = memory.map_err(|fault| labelled_fault(fault.kind, label))?;
            // If another stream has just allocated it, use that memory.
            let _ = buffer.provide(memory);
        }
        let memory = buffer.readable().map_err(|fault| add_label(fault, label))?;
        Ok(memory.ptr())
    }
}

/// Returns the first fault among a command's operands and results. A result may have failed before: an earlier command
/// wrote another part of it.
fn check_operands<'a>(mut buffers: impl Iterator<Item = &'a Arc<Buffer>>) -> Result<(), Fault> {
    match buffers.find_map(|buffer| buffer.fault()) {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}

/// In-place reuse: moves an operand's memory to a result if this launch is the operand's last reader and reads each
/// element only to write the result's element at the same index. Returns whether nothing is left to run, because the
/// launch only copied such an operand.
fn reuse_in_place(launch: &mut Launch) -> bool {
    let compiled = launch.planned.compiled.clone();
    let Some(compiled) = compiled.downcast_ref::<CompiledKernel>() else { return false };
    for pair in compiled.in_place_pairs() {
        let (read, written) = (pair.read as usize, pair.written as usize);
        let (operand, result) = (&launch.buffers[read], &launch.buffers[written]);
        if result.memory().is_some()
            || operand.bytes() != result.bytes()
            || operand.fault().is_some()
            || !pair.suits(&launch.planned.shape)
        {
            continue;
        }
        let operand = Arc::get_mut(&mut launch.buffers[read]);
        let Some(memory) = operand.and_then(Buffer::take_memory) else { continue };
        if let Err(memory) = launch.buffers[written].provide(memory) {
            // Another stream has just allocated the result.
            let _ = launch.buffers[read].provide(memory);
            continue;
        }
        launch.buffers[read] = launch.buffers[written].clone();
        let elements =
            launch.buffers[written].bytes() / launch.planned.kernel.params[written].dtype.size();
        if is_copy(&launch.planned.kernel, &launch.planned.shape, elements) {
            return true;
        }
    }
    false
}

/// The kernel of a launch, as this backend compiled it.
fn compiled_kernel(launch: &Launch) -> Result<&CompiledKernel, Fault> {
    launch.planned.compiled.downcast_ref::<CompiledKernel>().ok_or_else(|| {
        let message = "expected a kernel that the CPU backend compiled, got one of another backend";
        labelled_fault(FaultKind::Unsupported(message.into()), &launch.label)
    })
}

/// Runs a command and converts a panic to a fault.
fn catch_panic(label: &Label, run: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(labelled_fault(panic_fault(panic), label)))
}

fn labelled_fault(kind: FaultKind, label: &Label) -> Fault {
    Fault { kind, label: Some(label.clone()) }
}

/// Labels a fault that has no label yet.
fn add_label(fault: Fault, label: &Label) -> Fault {
    Fault { label: fault.label.or_else(|| Some(label.clone())), ..fault }
}

fn read(source: &Buffer, callback: ReadCallback) {
    // SAFETY: the commands that write the bytes are done, by the stream's order and the events it waited for, and none
    // that overwrites them runs before this one is done. Every command writes its results completely.
    callback(unsafe { buffer_bytes(source) });
}

/// The bytes of a buffer, or the fault of the command that should have written it.
///
/// # Safety
/// The bytes have been written, and no command writes them again as long as the reference lives.
unsafe fn buffer_bytes(buffer: &Buffer) -> Result<&[u8], Fault> {
    let memory = buffer.readable()?;
    // SAFETY: the memory has this many bytes; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(memory.ptr(), buffer.bytes()) })
}
