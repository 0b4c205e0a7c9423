//! Streams: queues of commands, each run in order by whichever thread is free.

use crate::gemm::{Blocks, EpilogueRunner, Product, Source, Target, contract};
use crate::launch::{self, CompiledKernel, Prepared};
use crate::routine;
use crate::workers::{Workers, panic_message};
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

mod repeat;

/// After this many commands a stream lets others have its thread, if there are any that wait for one.
const TURN: usize = 32;

/// So long a worker leaves a stream that was just flushed to whoever flushed it. Who goes on to wait for it at once
/// runs it then, with the workers' help, and need not be woken in the end, which takes longer than this.
const GRACE: Duration = Duration::from_micros(20);

/// A handle of a stream. What is queued when it is dropped still runs.
pub struct CpuStream {
    core: Arc<Core>,
}

/// The stream itself, held by its handle and by whoever runs it or will.
struct Core {
    /// Tells streams apart in traces.
    number: u64,
    priority: Priority,
    workers: Arc<Workers>,
    pool: Arc<Pool>,
    queue: Mutex<Queue>,
}

struct Queue {
    commands: VecDeque<Command>,
    phase: Phase,
    /// When it was last flushed while nobody saw to it.
    flushed: Option<Instant>,
    /// The thread that runs it.
    runner: Option<ThreadId>,
}

/// Who sees to a stream's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody, until the next `flush` or `assist`.
    Idle,
    /// A task among the workers' that has not begun. An assisting thread may begin before it.
    Scheduled,
    /// A thread that runs them. It leaves this phase under the lock under which it sees that it stops.
    Running,
    /// A callback at an event that the stream waits for. The callback holds the stream, and the stream
    /// does not hold the event: if nobody is left who could signal it, all of it is dropped.
    Blocked,
}

impl Queue {
    /// This thread runs the stream from now on.
    fn begin(&mut self) {
        self.phase = Phase::Running;
        self.runner = Some(thread::current().id());
    }

    /// No thread does.
    fn leave(&mut self, phase: Phase) {
        self.phase = phase;
        self.runner = None;
    }
}

impl CpuStream {
    /// A stream with nothing in it.
    pub fn new(workers: Arc<Workers>, pool: Arc<Pool>, priority: Priority) -> CpuStream {
        let queue = Mutex::new(Queue {
            commands: VecDeque::new(),
            phase: Phase::Idle,
            flushed: None,
            runner: None,
        });
        let number = observe::next_stream_id();
        CpuStream { core: Arc::new(Core { number, priority, workers, pool, queue }) }
    }
}

// SAFETY: one thread at a time runs the queue, from front to back; a launch, a contraction or a routine writes every
// element of its results or fails them, before the signal after it is passed; commands are dropped when they
// have run.
unsafe impl Stream for CpuStream {
    unsafe fn enqueue(&self, command: Command) {
        self.core.queue.lock().commands.push_back(command);
    }

    fn flush(&self) {
        let mut queue = self.core.queue.lock();
        if queue.phase == Phase::Idle && !queue.commands.is_empty() {
            queue.flushed = Some(Instant::now());
            self.core.schedule(queue);
        }
    }

    fn assist(&self, event: &Event) {
        let core = &self.core;
        if core.begin_assisting() {
            core.run(!core.workers.are_here(), |_| event.is_reached());
        }
        // Whoever runs it now, or goes on with it, is helped.
        let is_taken = || matches!(core.queue.lock().phase, Phase::Scheduled | Phase::Running);
        if !event.is_reached() && is_taken() {
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
    /// Hands the stream to the workers.
    fn schedule(self: &Arc<Core>, mut queue: MutexGuard<'_, Queue>) {
        queue.leave(Phase::Scheduled);
        drop(queue);
        let core = self.clone();
        self.workers.spawn(self.priority, Box::new(move || core.take_turn()));
    }

    /// What the workers run.
    fn take_turn(self: &Arc<Core>) {
        loop {
            let mut queue = self.queue.lock();
            // An assisting thread may have begun, and even ended, in the meantime.
            if queue.phase != Phase::Scheduled {
                return;
            }
            let is_fresh = |flushed: Instant| flushed.elapsed() < GRACE;
            if MODEL_CHECKED || self.workers.width() == 1 || !queue.flushed.is_some_and(is_fresh) {
                queue.begin();
                break;
            }
            drop(queue);
            // Seldom: those who put commands on the stream need its lock.
            (0..100).for_each(|_| hint::spin_loop());
        }
        self.run(false, |commands| {
            self.workers.are_urged(self.priority)
                || commands >= TURN && self.workers.are_behind(self.priority)
        });
    }

    /// Makes this thread the one that runs the stream, if nobody does and something can be done.
    fn begin_assisting(&self) -> bool {
        let mut queue = self.queue.lock();
        let free =
            matches!(queue.phase, Phase::Idle | Phase::Scheduled) && !queue.commands.is_empty();
        if free {
            queue.begin();
        }
        free
    }

    /// Runs commands on this thread, which is the one of [`Phase::Running`], until there are none, one has
    /// to wait, or `done`, told how many have run, says so. Then sees to it that what is left will run.
    ///
    /// A `guest` leaves functions of the host to the workers: what they record would come on this very stream if
    /// it is this thread's, and wait for themselves.
    fn run(self: &Arc<Core>, guest: bool, done: impl Fn(usize) -> bool) {
        let mut commands = 0;
        loop {
            if done(commands) {
                return self.hand_on();
            }
            let mut queue = self.queue.lock();
            if guest && matches!(queue.commands.front(), Some(Command::Host(_))) {
                queue.flushed = None;
                return self.schedule(queue);
            }
            let command = match queue.commands.pop_front() {
                None => {
                    queue.leave(Phase::Idle);
                    return;
                }
                Some(Command::Wait(event)) => {
                    if event.is_reached() {
                        continue;
                    }
                    queue.leave(Phase::Blocked);
                    drop(queue);
                    let core = self.clone();
                    event.on_reached(Box::new(move || core.hand_on()));
                    return;
                }
                Some(command) => command,
            };
            drop(queue);
            // A loop's turns are as good as many commands.
            commands += if matches!(command, Command::Loop(_)) { TURN } else { 1 };
            // Also what a command owns may panic when it is dropped. The stream goes on.
            let _ = catch_unwind(AssertUnwindSafe(|| self.execute(command)));
        }
    }

    /// Called by the one who has the stream in its hands, a thread or an event's callback, and lets go.
    fn hand_on(self: &Arc<Core>) {
        let mut queue = self.queue.lock();
        if queue.commands.is_empty() {
            queue.leave(Phase::Idle);
        } else {
            self.schedule(queue);
        }
    }

    fn execute(&self, command: Command) {
        let observed = CommandTimer::begin(&command);
        match command {
            Command::Launch(launch) => self.launch(launch),
            Command::Batch(mut batch) => self.launches(&mut batch.launches),
            Command::Gemm(contract) => self.contract(&contract),
            Command::Routine(call) => self.routine(&call),
            Command::Host(call) => self.call(&call),
            Command::Read { source, callback } => read(&source, callback),
            Command::Expand { source, callback } => self.expand(&source, callback),
            Command::Loop(repeat) => self.repeat(repeat),
            Command::Upload { source, target } => self.upload(&source, &target),
            Command::Signal(event) => event.signal(),
            // Handled by `run`, which can stop.
            Command::Wait(_) => {}
        }
        if let Some(observed) = observed {
            observed.end(self.number, "cpu");
        }
    }

    fn launch(&self, launch: Launch) {
        self.launches(&mut [launch]);
    }

    /// Runs launches that are independent of each other, all at once.
    fn launches(&self, launches: &mut [Launch]) {
        // If a launch is so wrong that this panics, running it fails as well, and its results with it.
        let done: SmallVec<[bool; 1]> = launches
            .iter_mut()
            .map(|launch| {
                catch_unwind(AssertUnwindSafe(|| reuse_in_place(launch))).unwrap_or(false)
            })
            .collect();
        let mut prepared = SmallVec::<[Prepared<'_>; 1]>::new();
        let mut running = SmallVec::<[&Launch; 1]>::new();
        for (launch, done) in launches.iter().zip(done) {
            if done {
                self.pool
                    .count_reused_in_place(launch.results().map(|result| result.bytes()).sum());
                continue;
            }
            let mut ready = None;
            let result = caught(&launch.label, || {
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
        // SAFETY: the addresses are those of the launches' buffers, which they keep alive, and whose
        // sizes the planner derived from the same shapes. The stream's order, and events between
        // streams, keep every other command off what is written; launches that run together are independent.
        let run =
            catch_unwind(AssertUnwindSafe(|| unsafe { launch::run(&self.workers, &prepared) }));
        let failed = run.unwrap_or_else(|panic| {
            let message = panic_message(&*panic);
            (0..running.len()).map(|launch| (launch, message.clone())).collect()
        });
        for (launch, message) in failed {
            let launch = running[launch];
            launch.fail(&labelled(FaultKind::Panicked(message), &launch.label));
        }
    }

    /// Finds a launch's kernel and the addresses of its buffers.
    fn prepare<'a>(&self, launch: &'a Launch) -> Result<Prepared<'a>, Fault> {
        let compiled = kernel_of(launch)?;
        check(launch.buffers.iter())?;
        let mut buffers = SmallVec::new();
        for (param, buffer) in launch.planned.kernel.params.iter().zip(&launch.buffers) {
            buffers.push(self.address(buffer, param.writes, &launch.label)?);
        }
        Ok(Prepared { compiled, buffers, scalars: &launch.scalars, shape: &launch.planned.shape })
    }

    fn contract(&self, command: &GemmLaunch) {
        let label = &command.label;
        let result = caught(label, || {
            let product = self.product(command, None)?;
            // SAFETY: as for a launch.
            let run = unsafe { contract(&self.workers, &product) };
            run.map_err(|message| labelled(FaultKind::Panicked(message), label))
        });
        if let Err(fault) = result {
            command.fail(&fault);
        }
    }

    /// A contraction with its memory. What is computed and used part by part has none: operands and products,
    /// and of a chain's first product the param of the epilogue that is the second's operand.
    fn product<'a>(
        &self,
        command: &'a GemmLaunch,
        operand: Option<usize>,
    ) -> Result<Product<'a>, Fault> {
        let label = &command.label;
        check([&command.a.buffer, &command.b.buffer, &command.c.buffer].into_iter())?;
        let source = |side: Side, operand: &GemmOperand| -> Result<Source<'a>, Fault> {
            match command.prologue.as_ref().filter(|prologue| prologue.side == side) {
                None => Ok(Source::Memory(self.address(&operand.buffer, false, label)?)),
                Some(prologue) => match &prologue.producer {
                    Producer::Kernel(block) => {
                        let compiled = kernel_of(&block.launch)?;
                        let addresses = self.addresses(&block.launch, &[block.operand_param])?;
                        // SAFETY: as for a launch.
                        Ok(Source::Blocks(unsafe { Blocks::new(compiled, block, addresses) }))
                    }
                    Producer::Gemm(chained) => {
                        let first = self.product(&chained.gemm, Some(chained.operand_param))?;
                        Ok(Source::Product(Box::new(first), chained.operand_param))
                    }
                },
            }
        };
        let (a, b) = (source(Side::A, &command.a)?, source(Side::B, &command.b)?);
        let c = match &command.epilogue {
            None => Target::Memory(self.address(&command.c.buffer, true, label)?),
            Some(epilogue) => {
                let compiled = kernel_of(&epilogue.launch)?;
                let without: SmallVec<[usize; 2]> =
                    operand.into_iter().chain([epilogue.gemm_result]).collect();
                let addresses = self.addresses(&epilogue.launch, &without)?;
                // SAFETY: as for a launch.
                Target::EpilogueRunner(unsafe {
                    EpilogueRunner::new(compiled, epilogue, addresses)
                })
            }
        };
        Ok(Product { contract: command, a, b, c })
    }

    /// The addresses of a launch's buffers, but for those of params that have no memory.
    fn addresses(
        &self,
        launch: &Launch,
        without: &[usize],
    ) -> Result<SmallVec<[*mut u8; 8]>, Fault> {
        check(launch.buffers.iter())?;
        let params = launch.planned.kernel.params.iter().zip(&launch.buffers).enumerate();
        params
            .map(|(position, (param, buffer))| match without.contains(&position) {
                true => Ok(std::ptr::null_mut()),
                false => self.address(buffer, param.writes, &launch.label),
            })
            .collect()
    }

    fn routine(&self, call: &RoutineCall) {
        let result = caught(&call.label, || {
            let label = &call.label;
            check(call.operands.iter().chain([&call.result]))?;
            let mut operands = SmallVec::<[*mut u8; 4]>::new();
            for operand in &call.operands {
                operands.push(self.address(operand, false, label)?);
            }
            let result = self.address(&call.result, true, label)?;
            let device = routine::Device { workers: &self.workers, pool: &self.pool };
            // SAFETY: as for a launch.
            let run = unsafe { routine::run(&device, &call.routine, &operands, result) };
            run.map_err(|fault| with_label(fault, label))
        });
        if let Err(fault) = result {
            call.result.fail(fault);
        }
    }

    fn call(&self, call: &HostCall) {
        let label = &call.label;
        let result = caught(label, || {
            check(call.inputs.iter())?;
            let mut inputs = SmallVec::<[&[u8]; 4]>::new();
            for buffer in &call.inputs {
                // SAFETY: as for a read.
                inputs.push(unsafe { bytes_of(buffer) }.map_err(|fault| with_label(fault, label))?);
            }
            let mut outputs = SmallVec::<[&mut [u8]; 2]>::new();
            for buffer in &call.outputs {
                let address = self.address(buffer, true, label)?;
                // SAFETY: the memory has this many bytes, and nobody else uses it now: it is this command
                // that writes it, and the outputs are distinct buffers. It may be uninitialized, so it is
                // zeroed before there is a reference to it.
                outputs.push(unsafe {
                    std::ptr::write_bytes(address, 0, buffer.bytes());
                    std::slice::from_raw_parts_mut(address, buffer.bytes())
                });
            }
            (call.function)(&inputs, &mut outputs).map_err(|kind| labelled(kind, label))
        });
        if let Err(fault) = result {
            call.fail(&fault);
        }
    }

    /// Puts what an expansion gives before everything else. This thread goes on with it.
    fn expand(&self, source: &Buffer, callback: ExpandCallback) {
        let mut expansion = Expansion { commands: Vec::new(), stream: self.number, device: "cpu" };
        // SAFETY: as for a read.
        callback(unsafe { bytes_of(source) }, &mut expansion);
        self.put_first(expansion.commands);
    }

    /// Puts commands before everything that is queued.
    fn put_first(&self, commands: Vec<Command>) {
        let mut queue = self.queue.lock();
        for command in commands.into_iter().rev() {
            queue.commands.push_front(command);
        }
    }

    fn upload(&self, source: &Buffer, target: &Buffer) {
        let copied = source.readable().and_then(|from| {
            let memory = self.pool.allocate(target.bytes())?;
            let bytes = target.bytes().min(source.bytes());
            // SAFETY: both have this many bytes. The target's are new, and the source's are written, by the
            // stream's order and the events it waited for.
            unsafe { std::ptr::copy_nonoverlapping(from.ptr(), memory.ptr(), bytes) };
            let _ = target.provide(memory);
            Ok(())
        });
        if let Err(fault) = copied {
            target.fail(fault);
        }
    }

    /// The address of an operand; if it is written and has no memory yet, it gets it now.
    fn address(&self, buffer: &Buffer, writes: bool, label: &Label) -> Result<*mut u8, Fault> {
        if writes && buffer.memory().is_none() {
            let memory = self.pool.allocate(buffer.bytes());
            let memory = memory.map_err(|fault| labelled(fault.kind, label))?;
            // If another stream was faster, its memory is as good.
            let _ = buffer.provide(memory);
        }
        let memory = buffer.readable().map_err(|fault| with_label(fault, label))?;
        Ok(memory.ptr())
    }
}

/// The first fault among a command's operands. One that is to be written may have failed as well: an
/// earlier command wrote another part of it.
fn check<'a>(mut buffers: impl Iterator<Item = &'a Arc<Buffer>>) -> Result<(), Fault> {
    match buffers.find_map(|buffer| buffer.fault()) {
        Some(fault) => Err(fault.clone()),
        None => Ok(()),
    }
}

/// Gives results the memory of operands that this launch is the last to need, where it reads them only at the places
/// that it writes. Says whether there is nothing left to do: the launch only copied such an operand.
fn reuse_in_place(launch: &mut Launch) -> bool {
    let compiled = launch.planned.compiled.clone();
    let Some(compiled) = compiled.downcast_ref::<CompiledKernel>() else { return false };
    for reuse in compiled.in_place_pairs() {
        let (read, written) = (reuse.read as usize, reuse.written as usize);
        let (operand, result) = (&launch.buffers[read], &launch.buffers[written]);
        if result.memory().is_some()
            || operand.bytes() != result.bytes()
            || operand.fault().is_some()
            || !reuse.suits(&launch.planned.shape)
        {
            continue;
        }
        let operand = Arc::get_mut(&mut launch.buffers[read]);
        let Some(memory) = operand.and_then(Buffer::take_memory) else { continue };
        if let Err(memory) = launch.buffers[written].provide(memory) {
            // Another stream was faster.
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

/// A launch's kernel, as this backend compiled it.
fn kernel_of(launch: &Launch) -> Result<&CompiledKernel, Fault> {
    launch.planned.compiled.downcast_ref::<CompiledKernel>().ok_or_else(|| {
        let message = "a kernel that another backend compiled";
        labelled(FaultKind::Unsupported(message.into()), &launch.label)
    })
}

/// Runs a command. A panic anywhere in it is its fault.
fn caught(label: &Label, run: impl FnOnce() -> Result<(), Fault>) -> Result<(), Fault> {
    catch_unwind(AssertUnwindSafe(run))
        .unwrap_or_else(|panic| Err(labelled(FaultKind::Panicked(panic_message(&*panic)), label)))
}

fn labelled(kind: FaultKind, label: &Label) -> Fault {
    Fault { kind, label: Some(label.clone()) }
}

/// The fault, with this label if it has none of its own.
fn with_label(fault: Fault, label: &Label) -> Fault {
    Fault { label: fault.label.or_else(|| Some(label.clone())), ..fault }
}

fn read(source: &Buffer, callback: ReadCallback) {
    // SAFETY: the commands that write the bytes are done, by the stream's order and the events it waited for,
    // and none that overwrites them runs before this one is done. Every command writes all it was meant to
    // write.
    callback(unsafe { bytes_of(source) });
}

/// A buffer's bytes, or why there are none.
///
/// # Safety
/// They are written, and nobody writes them again as long as the reference lives.
unsafe fn bytes_of(buffer: &Buffer) -> Result<&[u8], Fault> {
    let memory = buffer.readable()?;
    // SAFETY: the memory has this many bytes; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(memory.ptr(), buffer.bytes()) })
}
