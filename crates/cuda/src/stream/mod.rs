//! Streams: commands go to the driver as they come, and are seen through to their end by a thread of their own.
//!
//! A command's kernels are gathered, and put on one of the driver's streams together, before anything else that
//! is put there. A command that waits for something that the driver does not know of holds those after it back
//! until the host is told.

mod copy_threads;
mod finish;
mod gemm;
mod replay;
mod routine;
mod run;
mod upload;
mod waiters;

use crate::background::EnqueueError;
use crate::device::Shared;
use crate::driver::{check, enter, is_shutting_down, shutdown_fault};
use crate::event::TimedEvent;
use cudarc::driver::sys::{self, CUstream_flags};
use finish::{Batch, Done, Finisher};
use inflight_backend::observe::{self, CommandTimer};
use inflight_backend::{Command, Event, Fault, Launch, Memory, Priority, Stream, Timeline};
use parking_lot::{Mutex, MutexGuard};
use replay::{LaunchBatch, Replays};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use copy_threads::CopyThreads;
pub use replay::{ReplayCounts, replay_counts};
pub(crate) use waiters::Waiters;

/// So many commands are kept for the next flush at most.
const MOST_HELD: usize = 512;

/// So many launches are gathered at most: the device is to have something to do.
const MOST_GATHERED: usize = 256;

/// While so many batches are under way, and few commands are held, a flush can wait until one of them is done:
/// launches that are put on the driver's stream together cost less.
const ENOUGH_UNDER_WAY: usize = 2;
const FEW_HELD: usize = 64;

/// A command that touches no more bytes is done sooner than the host has launched it.
const BRIEF_BYTES: usize = 16 << 20;

/// Whether a command is one of those that gain by being launched with others.
fn is_brief(command: &Command) -> bool {
    let launch = |launch: &Launch| {
        launch.buffers.iter().map(|buffer| buffer.bytes()).sum::<usize>() <= BRIEF_BYTES
    };
    match command {
        Command::Launch(one) => launch(one),
        Command::Batch(batch) => batch.launches.iter().all(launch),
        Command::Gemm(contract) => {
            let operands = [&contract.a, &contract.b, &contract.c];
            operands.iter().map(|operand| operand.buffer.bytes()).sum::<usize>() <= BRIEF_BYTES
        }
        Command::Routine(_) | Command::Signal(_) => true,
        _ => false,
    }
}

/// Work that moves so many bytes is worth a point of its own, so that whoever waits for it need not wait for more.
const WORTH_A_POINT: usize = 64 << 20;

/// So are so many launches.
const MOST_BETWEEN_POINTS: usize = 16;

/// A handle of a stream. What is queued when it is dropped still runs.
pub struct CudaStream {
    core: Arc<Core>,
}

/// The stream itself, held by its handle and by those who will resume it.
struct Core {
    /// Tells streams apart, in traces and for the pool.
    number: u64,
    shared: Arc<Shared>,
    raw: Result<Raw, Fault>,
    /// Reaches a batch's number when the batch is done.
    progress: Arc<Timeline>,
    queue: Mutex<Queue>,
    finisher: Arc<Finisher>,
    /// Where blocks that share columns, or a matrix to pack, count each other; all zero between launches.
    counters: OnceLock<Memory>,
    /// Whether the stream is to be flushed when a batch is done.
    is_deferred: AtomicBool,
}

struct Raw(sys::CUstream);

// SAFETY: a handle that the driver lets any thread use.
unsafe impl Send for Raw {}
// SAFETY: as above.
unsafe impl Sync for Raw {}

#[derive(Default)]
struct Queue {
    /// Commands that are not put on the driver's stream yet: they are when the stream is flushed, so that by then
    /// nobody but the last command to use a buffer has it, or when the command that they are behind is done.
    held: VecDeque<Command>,
    /// Whether a callback or a thread will resume the stream.
    is_held: bool,
    /// Launches that are to be put on the driver's stream before anything else is.
    gathered: LaunchBatch,
    /// Graphs of launches that came before.
    replays: Replays,
    /// Where the memory of products was.
    places: gemm::AllocationHints,
    /// What was put on the driver's stream since the last point.
    open: Vec<Done>,
    /// How many launches there were since then.
    launched: usize,
    /// Bytes that commands since then move, at least.
    moved: usize,
    /// How many batches there were.
    batches: u64,
    /// How often the next command was held back for lack of memory.
    reclaims: usize,
    /// Where the next of them begins, if somebody wants to know when the device does what.
    began: Option<TimedEvent>,
}

impl CudaStream {
    pub fn new(shared: Arc<Shared>, priority: Priority) -> CudaStream {
        let _entered = shared.context.enter();
        let mut raw = std::ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: the places are there to be written. Without priorities, both stay zero.
        let made = unsafe {
            sys::cuCtxGetStreamPriorityRange(&mut least, &mut greatest);
            // A smaller number is more urgent.
            let urgency = match priority {
                Priority::High => greatest,
                Priority::Normal => (least + greatest) / 2,
                Priority::Low => least,
            };
            check(sys::cuStreamCreateWithPriority(&mut raw, flags, urgency), "making a stream")
        };
        let progress = Timeline::new();
        let number = observe::stream_number();
        let core = Arc::new(Core {
            number,
            raw: made.map(|()| Raw(raw)),
            finisher: Finisher::new(shared.clone(), progress.clone(), number),
            progress,
            queue: Mutex::default(),
            counters: OnceLock::new(),
            is_deferred: AtomicBool::new(false),
            shared,
        });
        core.finisher.see_to(&core);
        CudaStream { core }
    }
}

// SAFETY: commands go to one stream of the driver, in order; a launch or contraction that is put there writes
// every element of its results, and one that is not fails them. A signal is passed when the driver says that all
// before it is done. Memory that a command uses is noted as used until then, what else it needs is kept.
unsafe impl Stream for CudaStream {
    unsafe fn enqueue(&self, command: Command) {
        let mut queue = self.core.queue.lock();
        queue.held.push_back(command);
        if !queue.is_held && queue.held.len() >= MOST_HELD {
            drop(self.core.put_held(queue, 0));
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
        self.core.finisher.close();
    }
}

impl Core {
    /// Has what is queued put on the driver's stream, now or while the device has still something to do.
    fn flush(self: &Arc<Core>) {
        if self.can_wait() {
            self.is_deferred.store(true, Ordering::SeqCst);
            // Whoever is done with a batch now has either seen that or is counted here.
            if self.finisher.under_way() >= ENOUGH_UNDER_WAY {
                return;
            }
        }
        let queue = self.queue.lock();
        // What comes after the last signal is a part of something. Were it put on the driver's stream now, which part
        // that is would be a matter of chance, and its graphs would not come again.
        let is_signal = |command: &Command| matches!(command, Command::Signal(_));
        let rest = queue.held.iter().rev().position(is_signal);
        let is_open = queue.open.iter().any(|done| matches!(done, Done::Signal(_)));
        match rest.is_some() || is_open {
            true => {
                let rest = rest.unwrap_or(queue.held.len());
                self.put_and_close(queue, rest);
            }
            // Those who are resumed may be this stream, or wait for it.
            false => drop(queue),
        }
        self.shared.waiters.resume();
    }

    /// Whether a flush can wait: the device has enough to do, and all that is held are a few launches and such.
    fn can_wait(&self) -> bool {
        if self.finisher.under_way() < ENOUGH_UNDER_WAY {
            return false;
        }
        let queue = self.queue.lock();
        !queue.is_held && queue.held.len() < FEW_HELD && queue.held.iter().all(is_brief)
    }

    /// Flushes the stream if that was put off.
    fn flush_deferred(self: &Arc<Core>) {
        if self.is_deferred.swap(false, Ordering::SeqCst) {
            self.flush();
        }
    }

    /// Puts all that is queued on the driver's stream, as far as that can be done now, and has it seen through.
    fn flush_all(self: &Arc<Core>) {
        self.put_and_close(self.queue.lock(), 0);
        self.shared.waiters.resume();
    }

    /// Puts all but the last so many commands on the driver's stream, as far as that can be done now, and has them seen
    /// through.
    fn put_and_close<'a>(self: &'a Arc<Core>, queue: MutexGuard<'a, Queue>, rest: usize) {
        if queue.is_held {
            return;
        }
        if let Some(mut queue) = self.put_held(queue, rest) {
            self.close(&mut queue);
        }
    }

    /// Puts all but the last so many commands on the driver's stream. `None` if one holds back those after it.
    fn put_held<'a>(
        self: &'a Arc<Core>,
        mut queue: MutexGuard<'a, Queue>,
        rest: usize,
    ) -> Option<MutexGuard<'a, Queue>> {
        // What is put there until the process ends is put there before the driver goes.
        let _inside = enter();
        let _entered = self.shared.context.enter();
        while queue.held.len() > rest {
            let mut command = queue.held.pop_front();
            if let Some(hold) = self.put(&mut queue, &mut command) {
                drop(queue);
                hold.resume(self);
                return None;
            }
            if queue.is_held {
                return None;
            }
        }
        Some(queue)
    }

    /// Goes on with what was held back.
    fn resume(self: &Arc<Core>) {
        self.resume_with(Vec::new());
    }

    /// Goes on with these commands, and then with what was held back, and so do those who waited for that.
    fn resume_with(self: &Arc<Core>, commands: Vec<Command>) {
        self.go_on_with(commands);
        self.shared.waiters.resume();
    }

    /// Goes on with these commands, and then with what was held back.
    fn go_on_with(self: &Arc<Core>, commands: Vec<Command>) {
        let mut queue = self.queue.lock();
        queue.is_held = false;
        for command in commands.into_iter().rev() {
            queue.held.push_front(command);
        }
        if let Some(mut queue) = self.put_held(queue, 0) {
            self.close(&mut queue);
        }
    }

    /// Puts a command on the driver's stream. If it must be waited for, the stream is held, and what is
    /// returned, if anything is, resumes it.
    fn put(self: &Arc<Core>, queue: &mut Queue, place: &mut Option<Command>) -> Option<Hold> {
        // A command is large: most are not moved.
        let command = place.as_mut()?;
        let observed = CommandTimer::begin(command);
        if observed.is_some() && queue.began.is_none() {
            queue.began = self.raw().ok().and_then(|raw| self.shared.events.record_timed(raw));
        }
        if !matches!(
            command,
            Command::Launch(_) | Command::Batch(_) | Command::Gemm(_) | Command::Signal(_)
        ) {
            self.settle(queue);
        }
        let computed = match command {
            Command::Launch(launch) => Some(self.launch(queue, launch)),
            Command::Batch(batch) => Some(self.batch(queue, batch)),
            Command::Gemm(contract) => Some(self.contract(queue, contract)),
            Command::Routine(call) => Some(self.routine(queue, call)),
            Command::Upload { source, target } => match self.upload(queue, source, target) {
                Ok(None) => Some(Ok(())),
                Ok(Some(upload)) => {
                    (queue.is_held, queue.reclaims) = (true, 0);
                    return Some(Hold::Upload(upload));
                }
                Err(stop) => Some(Err(stop)),
            },
            _ => None,
        };
        match computed {
            Some(Ok(())) => queue.reclaims = 0,
            Some(Err(stop)) => {
                let hold = self.stopped(queue, place.take()?, stop);
                if queue.is_held {
                    return hold;
                }
            }
            None => {
                let hold = self.put_other(queue, place.take()?);
                if hold.is_some() {
                    return hold;
                }
            }
        }
        if let Some(observed) = observed {
            queue.open.push(Done::CommandTimer(observed));
        }
        None
    }

    /// Holds a command back that cannot be put on the driver's stream now; one that never can fails.
    fn stopped(
        self: &Arc<Core>,
        queue: &mut Queue,
        mut command: Command,
        stop: EnqueueError,
    ) -> Option<Hold> {
        let mut hold = None;
        match stop {
            EnqueueError::NotReady(event) => hold = Some(Hold::Reached(event)),
            EnqueueError::Failed(fault) if self.may_reclaim(queue, &fault) => {
                queue.reclaims += 1;
                let core = self.clone();
                queue.open.push(Done::Call(Box::new(move |_| core.reclaim())));
            }
            EnqueueError::Failed(fault) => {
                queue.reclaims = 0;
                match &mut command {
                    // Those after it have not been tried.
                    Command::Batch(batch) if batch.launches.len() > 1 => {
                        batch.launches.remove(0).fail(&fault);
                        queue.held.push_front(command);
                    }
                    _ => command.abandon(fault),
                }
                return None;
            }
        }
        // The device is to have something to do meanwhile.
        self.close(queue);
        queue.held.push_front(command);
        queue.is_held = true;
        hold
    }

    /// Puts a command that computes nothing on the driver's stream.
    fn put_other(self: &Arc<Core>, queue: &mut Queue, command: Command) -> Option<Hold> {
        match command {
            Command::Read { source, callback } => self.read(queue, source, callback),
            Command::Expand { source, callback } => self.expand(queue, source, callback),
            Command::Loop(_) => {
                let message = "loops that the stream runs itself, on CUDA".to_owned();
                command.abandon(inflight_backend::FaultKind::Unsupported(message).into());
            }
            Command::Host(call) => self.call(queue, call),
            Command::Signal(event) => {
                queue.open.push(Done::Signal(event));
                if queue.moved >= WORTH_A_POINT || queue.launched >= MOST_BETWEEN_POINTS {
                    self.close(queue);
                }
            }
            Command::Wait(event) => {
                if event.is_reached() {
                    return None;
                }
                let known = self.shared.recorded_event(&event);
                let point = known.as_ref().zip(self.raw().ok());
                let held = point.map(|(point, raw)| point.stream_wait(raw));
                if !matches!(held, Some(Ok(()))) {
                    self.close(queue);
                    queue.is_held = true;
                    return Some(match known {
                        Some(_) => Hold::Reached(event),
                        None => Hold::Known(event),
                    });
                }
            }
            Command::Launch(_)
            | Command::Batch(_)
            | Command::Gemm(_)
            | Command::Routine(_)
            | Command::Upload { .. } => unreachable!("these are put by `put`"),
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

    /// Puts the launches that were gathered on the driver's stream.
    fn settle(&self, queue: &mut Queue) {
        if queue.gathered.len() == 0 {
            return;
        }
        let Queue { gathered, replays, open, .. } = queue;
        let mut raw = self.raw();
        loop {
            let rest = replays.cut(gathered);
            // SAFETY: `launch_on` gathered them, with arguments that are laid out as the kernels' texts declare
            // them and whose memory is noted as used until the next point; what is returned is kept until then.
            let (in_flight, launched) =
                unsafe { replays.launch(&self.shared.context, gathered, raw.clone()) };
            open.push(Done::Launched(in_flight));
            if let Err(fault) = launched {
                // What comes after it may need it.
                raw = Err(self.noted(fault));
            }
            let Some(rest) = rest else { return };
            *gathered = rest;
        }
    }

    /// Makes a batch of what is open, and has it seen through.
    fn close(&self, queue: &mut Queue) {
        let _inside = enter();
        // Whoever flushes may never have talked to the device, or to another one last.
        let _entered = self.shared.context.enter();
        self.settle(queue);
        if queue.open.is_empty() {
            return;
        }
        (queue.launched, queue.moved) = (0, 0);
        // Before the point, so that it is reached by then.
        let ended = |began| Some([began, self.shared.events.record_timed(self.raw().ok()?)?]);
        let times = queue.began.take().and_then(ended);
        let point = self.raw().and_then(|raw| self.shared.events.record(raw));
        let point = point.map(Arc::new);
        let work = std::mem::take(&mut queue.open);
        if let Ok(point) = &point {
            for done in &work {
                if let Done::Signal(event) = done {
                    self.shared.record_signal(event, point);
                }
            }
        }
        queue.batches += 1;
        self.finisher.push(Batch { number: queue.batches, point, work, times });
    }

    /// The event at which what is put on the stream now is done.
    fn until(&self, queue: &Queue) -> Event {
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
                counters.use_until(self.number, &done);
            }
            // SAFETY: made by `new`. The driver finishes what is on it.
            unsafe { sys::cuStreamDestroy_v2(*raw) };
        }
    }
}

/// Why a stream does not go on, and what makes it.
enum Hold {
    /// Until an event is reached.
    Reached(Event),
    /// The same, or until the driver knows where it will be.
    Known(Event),
    /// Until a thread has handed a large upload to the driver, piece by piece.
    Upload(upload::Upload),
}

impl Hold {
    fn resume(self, core: &Arc<Core>) {
        let core = core.clone();
        match self {
            // The stream does not hold the event: if nobody is left who could signal it, all is dropped.
            Hold::Reached(event) => event.on_reached(Box::new(move || core.resume())),
            Hold::Known(event) => Waiters::resume_at(&core, event),
            Hold::Upload(upload) => {
                let crew = core.shared.copy_threads.clone();
                crew.spawn(Box::new(move || {
                    let upload = Arc::new(upload);
                    let done = upload.copy_shared(&core);
                    core.queue.lock().open.extend(done);
                    core.resume();
                    // Giving the source's memory back may take a while, and nobody waits for that.
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

    /// A launch that touches so many bytes.
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
    fn a_flush_waits_for_others_only_with_what_is_done_in_a_moment() {
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
