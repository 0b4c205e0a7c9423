//! The threads of the device.
//!
//! They do two things: run *tasks*, which drain streams, and help with *loops*, whose chunks are
//! independent of each other. Whoever starts a loop takes part in it, so a loop never depends on anybody
//! being free, and loops may be started from several threads and inside each other. Tasks come first: two
//! streams that both have work run side by side, each on a thread of its own, and only threads that are
//! left over help.

use inflight_backend::Priority;
use inflight_backend::sync::atomic::{AtomicUsize, Ordering};
use inflight_backend::sync::thread::{self, JoinHandle, Thread, ThreadId};
use inflight_backend::sync::{Condvar, MODEL_CHECKED, Mutex, MutexGuard, hint};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a thread looks out for the next loop, or for the end of one, before it sleeps. Waking a thread up takes
/// about as long: 30 to 50 microseconds on a virtual machine.
const LOOKOUT: Duration = Duration::from_micros(50);

/// The same for a thread without companions: those who could give it work may need its processor.
const LOOKOUT_ALONE: Duration = Duration::from_micros(4);

const PRIORITIES: usize = Priority::URGENT_FIRST.len();

type Task = Box<dyn FnOnce() + Send>;

/// The threads of a device.
pub struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    ids: Vec<ThreadId>,
}

struct Shared {
    /// The most threads that work on one loop, the one that started it included.
    width: usize,
    state: Mutex<State>,
    /// Notified, for those who sleep, when there is work or the end.
    work: Condvar,
    /// Ascends with each task and each loop, for those who look out for work without the lock.
    arrivals: AtomicUsize,
    /// The lengths of `state.tasks`, for those who want to know without the lock.
    waiting: [AtomicUsize; PRIORITIES],
}

#[derive(Default)]
struct State {
    /// By priority.
    tasks: [VecDeque<Task>; PRIORITIES],
    /// Loops that may have chunks nobody has taken. A loop is in here exactly as long as a thread may
    /// begin to help with it.
    loops: Vec<Arc<Loop>>,
    /// Threads in `Condvar::wait`.
    sleeping: usize,
    /// Threads that look for work without the lock, and will look with the lock before they sleep.
    watching: usize,
    /// The same of guests, who help with loops and take no tasks.
    guests: usize,
    ending: bool,
}

impl Workers {
    /// Starts this many threads, at least one.
    pub fn start(threads: usize) -> std::io::Result<Workers> {
        let width = threads.max(1);
        let shared = Arc::new(Shared {
            width,
            state: Mutex::new(State::default()),
            work: Condvar::new(),
            arrivals: AtomicUsize::new(0),
            waiting: Default::default(),
        });
        let mut workers = Workers { shared, threads: Vec::new(), ids: Vec::new() };
        for i in 0..width {
            let shared = workers.shared.clone();
            let builder = thread::Builder::new().name(format!("inflight-cpu-{i}"));
            // If one does not start, dropping `workers` ends those that did.
            let thread = builder.spawn(move || shared.work_until_the_end())?;
            workers.ids.push(thread.thread().id());
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// The most threads that work on one loop.
    pub fn width(&self) -> usize {
        self.shared.width
    }

    /// Has a thread run the task, after those that came before and those that are more urgent.
    pub fn spawn(&self, priority: Priority, task: Task) {
        let mut state = self.shared.state.lock();
        let tasks = &mut state.tasks[priority as usize];
        tasks.push_back(task);
        self.shared.waiting[priority as usize].store(tasks.len(), Ordering::Relaxed);
        self.shared.announce(&state, 1, state.watching);
    }

    /// Whether tasks that are at least this urgent wait for a thread.
    pub fn are_behind(&self, priority: Priority) -> bool {
        let waiting = &self.shared.waiting[priority as usize..];
        waiting.iter().any(|waiting| waiting.load(Ordering::Relaxed) > 0)
    }

    /// Whether tasks that are more urgent than this wait for a thread.
    pub fn are_urged(&self, priority: Priority) -> bool {
        let waiting = &self.shared.waiting[priority as usize + 1..];
        waiting.iter().any(|waiting| waiting.load(Ordering::Relaxed) > 0)
    }

    /// Runs `body` for each chunk below `chunks`, on this thread and those that have nothing else to do,
    /// and returns when all are done. Subnormal floats are zero meanwhile.
    ///
    /// If a chunk panics, those that nobody has begun are skipped and the panic's message is returned.
    pub fn parallel_for(&self, chunks: usize, body: &(dyn Fn(usize) + Sync)) -> Result<(), String> {
        // SAFETY: this only forgets how long the body lives. It is used between here and `leave`, which
        // ends after the last thread has come out of it.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        let work = Loop {
            body,
            chunks,
            taken: AtomicUsize::new(0),
            first: AtomicUsize::new(0),
            last: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            starter: thread::current(),
            panic: Mutex::new(None),
        };
        if chunks <= 1 || self.shared.width == 1 {
            work.run(Side::Starter);
            return work.result();
        }
        let work = Arc::new(work);
        {
            let mut state = self.shared.state.lock();
            state.loops.push(work.clone());
            let wanted = (chunks - 1).min(self.shared.width - 1);
            self.shared.announce(&state, wanted, state.watching + state.guests);
        }
        work.run(Side::Starter);
        self.shared.leave(&work);
        work.result()
    }

    /// Whether this thread is one of them.
    pub fn are_here(&self) -> bool {
        self.ids.contains(&thread::current().id())
    }

    /// Has this thread help with loops that `starter`'s thread started, until the condition is true or there was
    /// nothing to do for some microseconds. So a thread that waits for a stream that another one runs is awake when
    /// what it waits for is there, and no other need be woken to help.
    pub fn help_until(&self, condition: impl Fn() -> bool, starter: impl Fn() -> Option<ThreadId>) {
        if self.shared.width > 1 {
            self.shared.help_as_guest(condition, starter);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.state.lock().ending = true;
        self.shared.work.notify_all();
        // The last one to hold the workers may be one of them; it cannot wait for itself.
        if !self.are_here() {
            for thread in self.threads.drain(..) {
                // A worker catches every panic of what it runs.
                let _ = thread.join();
            }
        }
    }
}

impl Shared {
    /// Tells threads without work that there is some for `count` of them, of whom so many are awake.
    fn announce(&self, state: &State, count: usize, awake: usize) {
        self.arrivals.fetch_add(1, Ordering::Release);
        for _ in 0..count.saturating_sub(awake).min(state.sleeping) {
            self.work.notify_one();
        }
    }

    fn help_as_guest(&self, condition: impl Fn() -> bool, starter: impl Fn() -> Option<ThreadId>) {
        // Since it had something to do.
        let mut idle = Instant::now();
        let mut state = self.state.lock();
        while !condition() {
            // No others': a chunk of them may take longer than what is waited for.
            let starter = starter();
            let is_own = |work: &&Arc<Loop>| Some(work.starter.id()) == starter;
            let mut open = state.loops.iter().filter(is_own);
            if let Some(work) = open.find(|work| work.wants_help(self.width)) {
                let work = work.clone();
                work.helpers.fetch_add(1, Ordering::Relaxed);
                state = self.without_lock(state, || {
                    work.run_until(Side::Helper, &condition);
                    work.end_help();
                });
                idle = Instant::now();
                continue;
            }
            // One more than can help would look out on a processor that somebody else could use; and a loop that wants
            // no more help has all of them.
            if state.guests + state.watching >= self.width - 1 || !state.loops.is_empty() {
                return;
            }
            let seen = self.arrivals.load(Ordering::Relaxed);
            state.guests += 1;
            drop(state);
            let found =
                self.look_out(|| self.arrivals.load(Ordering::Acquire) != seen || condition());
            state = self.state.lock();
            state.guests -= 1;
            // Under the lock: a loop that counted on this guest has arrived, and is seen to.
            if !found && self.arrivals.load(Ordering::Relaxed) == seen {
                return;
            }
            // What arrives for others keeps nobody here.
            if !MODEL_CHECKED && idle.elapsed() > LOOKOUT {
                break;
            }
        }
        // A loop may have counted on this guest.
        if state.loops.iter().any(|work| work.wants_help(self.width)) && state.sleeping > 0 {
            self.work.notify_one();
        }
    }

    fn work_until_the_end(&self) {
        let mut state = self.state.lock();
        loop {
            if let Some(task) = self.next_task(&mut state) {
                state = self.without_lock(state, || {
                    // Whoever hands in a task sees to its errors; a panic must not end the thread.
                    let _ = catch_unwind(AssertUnwindSafe(task));
                });
            } else if let Some(work) = state.loops.iter().find(|work| work.wants_help(self.width)) {
                let work = work.clone();
                work.helpers.fetch_add(1, Ordering::Relaxed);
                state = self.without_lock(state, || {
                    work.run(Side::Helper);
                    work.end_help();
                });
            } else if state.ending {
                return;
            } else {
                let seen = self.arrivals.load(Ordering::Relaxed);
                let mut found = false;
                // No more than can help whoever starts a loop: one more would look out on a processor that
                // somebody else could use.
                if state.watching + state.guests < (self.width - 1).max(1) {
                    state.watching += 1;
                    drop(state);
                    found = self.look_out(|| self.arrivals.load(Ordering::Acquire) != seen);
                    state = self.state.lock();
                    state.watching -= 1;
                }
                // Under the lock nothing can arrive between this look and the sleep.
                if !found && self.arrivals.load(Ordering::Relaxed) == seen && !state.ending {
                    state.sleeping += 1;
                    self.work.wait(&mut state);
                    state.sleeping -= 1;
                }
            }
        }
    }

    /// The task that has waited longest among the most urgent ones.
    fn next_task(&self, state: &mut State) -> Option<Task> {
        Priority::URGENT_FIRST.into_iter().find_map(|priority| {
            let tasks = &mut state.tasks[priority as usize];
            let task = tasks.pop_front()?;
            self.waiting[priority as usize].store(tasks.len(), Ordering::Relaxed);
            Some(task)
        })
    }

    /// Runs `work` with the lock given up. Before, passes on a wake-up: this thread may have been counted
    /// on, as one that watches, for more than the one thing it takes.
    fn without_lock<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        work: impl FnOnce(),
    ) -> MutexGuard<'a, State> {
        let more = state.tasks.iter().any(|tasks| !tasks.is_empty())
            || state.loops.iter().any(|l| l.wants_help(self.width));
        if more && state.sleeping > 0 {
            self.work.notify_one();
        }
        drop(state);
        work();
        self.state.lock()
    }

    /// Closes a loop: nobody begins to help any more, and those who do have come out of it.
    fn leave(&self, work: &Arc<Loop>) {
        self.state.lock().loops.retain(|open| !Arc::ptr_eq(open, work));
        if !self.look_out(|| work.helpers.load(Ordering::Acquire) == 0) {
            while work.helpers.load(Ordering::Acquire) > 0 {
                thread::park();
            }
        }
    }

    /// Watches for a condition for some microseconds; says whether it came true.
    fn look_out(&self, condition: impl Fn() -> bool) -> bool {
        if MODEL_CHECKED {
            return condition();
        }
        let most = if self.width > 1 { LOOKOUT } else { LOOKOUT_ALONE };
        let mut start = None;
        loop {
            for _ in 0..16 {
                if condition() {
                    return true;
                }
                hint::spin_loop();
            }
            if start.get_or_insert_with(Instant::now).elapsed() > most {
                return false;
            }
        }
    }
}

type Body<'a> = &'a (dyn Fn(usize) + Sync);

/// A loop whose chunks are handed out one by one.
struct Loop {
    /// Lives until the one who started the loop has left it; not to be called after that.
    body: Body<'static>,
    chunks: usize,
    /// How many chunks are taken; `chunks` or more when all are.
    taken: AtomicUsize,
    /// How many of them from the front, by the one who started the loop, and from the end, by those who help. So
    /// a thread that goes over the same data again and again, as the starter of one loop after another, finds its
    /// part of it in its own cache.
    first: AtomicUsize,
    last: AtomicUsize,
    /// Threads at work beside the one who started it. Ascends with the state locked and the loop listed.
    helpers: AtomicUsize,
    starter: Thread,
    /// The message of the first panic.
    panic: Mutex<Option<String>>,
}

/// Which end of a loop a thread takes its chunks from.
#[derive(Clone, Copy)]
enum Side {
    Starter,
    Helper,
}

impl Loop {
    fn wants_help(&self, width: usize) -> bool {
        self.taken.load(Ordering::Relaxed) < self.chunks
            && self.helpers.load(Ordering::Relaxed) + 1 < width
    }

    /// Takes chunks until there are none left.
    fn run(&self, side: Side) {
        self.run_until(side, || false);
    }

    /// Takes chunks until there are none left or the condition is true.
    fn run_until(&self, side: Side, condition: impl Fn() -> bool) {
        let _mode = FlushToZero::enter();
        while !condition() {
            // No more than there are get past this, so the ends do not meet.
            if self.taken.fetch_add(1, Ordering::Relaxed) >= self.chunks {
                return;
            }
            let chunk = match side {
                Side::Starter => self.first.fetch_add(1, Ordering::Relaxed),
                Side::Helper => self.chunks - 1 - self.last.fetch_add(1, Ordering::Relaxed),
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.body)(chunk))) {
                self.taken.store(self.chunks, Ordering::Relaxed);
                self.panic.lock().get_or_insert(panic_message(&*payload));
            }
        }
    }

    /// Ends what this thread did for the loop: the body is not used after this.
    fn end_help(&self) {
        if self.helpers.fetch_sub(1, Ordering::Release) == 1 {
            self.starter.unpark();
        }
    }

    fn result(&self) -> Result<(), String> {
        self.panic.lock().take().map_or(Ok(()), Err)
    }
}

/// What a panic said.
pub fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<&str>() {
        message.to_string()
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message.clone()
    } else {
        "a panic without a message".to_string()
    }
}

/// While this exists, the thread's floating-point unit takes and makes zeros in place of subnormals,
/// which are slower by two orders of magnitude. Ends by restoring what was before.
pub struct FlushToZero {
    before: FloatControl,
}

impl FlushToZero {
    /// From now on.
    pub fn enter() -> FlushToZero {
        let before = float_control::read();
        float_control::write(before | float_control::FLUSH);
        FlushToZero { before }
    }
}

impl Drop for FlushToZero {
    fn drop(&mut self) {
        float_control::write(self.before);
    }
}

use float_control::FloatControl;

/// The register that says how floats are computed.
#[cfg(target_arch = "x86_64")]
mod float_control {
    use std::arch::asm;

    pub type FloatControl = u32;

    /// Flush to zero (bit 15), subnormals are zero (bit 6).
    pub const FLUSH: u32 = 0x8040;

    pub fn read() -> u32 {
        let mut control = 0u32;
        // SAFETY: every x86-64 processor has the register; this writes it to the variable.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
        };
        control
    }

    pub fn write(control: u32) {
        // SAFETY: the value is one read before, or that with `FLUSH`; rounding and masks are as they
        // were, and the only effect is the one that is wanted on subnormals.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags))
        };
    }
}

/// The register that says how floats are computed.
#[cfg(target_arch = "aarch64")]
mod float_control {
    use std::arch::asm;

    pub type FloatControl = u64;

    /// Flush to zero (bit 24).
    pub const FLUSH: u64 = 1 << 24;

    pub fn read() -> u64 {
        let control: u64;
        // SAFETY: every AArch64 processor has the register.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nostack, nomem, preserves_flags)) };
        control
    }

    pub fn write(control: u64) {
        // SAFETY: the value is one read before, or that with `FLUSH`; rounding is as it was, and the only
        // effect is the one that is wanted on subnormals.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, nomem, preserves_flags)) };
    }
}

/// Subnormals are computed as on any other thread.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod float_control {
    pub type FloatControl = u32;

    pub const FLUSH: u32 = 0;

    pub fn read() -> u32 {
        0
    }

    pub fn write(_control: u32) {}
}

#[cfg(test)]
mod tests;
