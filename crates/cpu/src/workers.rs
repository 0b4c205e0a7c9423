//! The worker pool: threads that run tasks and share chunked parallel loops.
//!
//! *Tasks* drain streams. *Parallel loops* hand out independent chunks one by one (dynamic scheduling, a simple form of
//! work stealing: an idle thread claims the next chunk of any open loop). The thread that starts a loop claims chunks as
//! well, so a loop completes even if all other threads are busy, and loops may be started from several threads and
//! nested. Tasks take precedence: two streams with work run side by side, each on a thread of its own, and only
//! idle threads help with loops. A thread outside the pool that waits for a stream can help with that stream's loops
//! (a *helping waiter*, [`Workers::help_until`]).

use inflight_backend::sync::atomic::{AtomicUsize, Ordering};
use inflight_backend::sync::thread::{self, JoinHandle, Thread, ThreadId};
use inflight_backend::sync::{Condvar, MODEL_CHECKED, Mutex, MutexGuard, hint};
use inflight_backend::{FaultKind, Priority};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a thread spins for the next loop, or for the end of one, before it sleeps. Waking a thread takes about as
/// long: 30 to 50 microseconds on a virtual machine.
const SPIN_BUDGET: Duration = Duration::from_micros(50);

/// The spin budget of a pool with one thread: the threads that could submit work to it may need its processor.
const SPIN_BUDGET_ONE_THREAD: Duration = Duration::from_micros(4);

const PRIORITIES: usize = Priority::URGENT_FIRST.len();

type Task = Box<dyn FnOnce() + Send>;

/// The worker threads of a device. Dropping it runs the remaining tasks and joins the threads.
pub struct Workers {
    scheduler: Arc<Scheduler>,
    threads: Vec<JoinHandle<()>>,
    ids: Vec<ThreadId>,
}

/// State shared by the handle and the threads.
struct Scheduler {
    /// Maximum number of threads on one loop, including the thread that started it.
    thread_count: usize,
    queues: Mutex<Queues>,
    /// Wakes sleeping threads for new work and for shutdown.
    wake_up: Condvar,
    /// Counts tasks and loops that have been submitted. Spinning threads watch it without the lock.
    arrivals: AtomicUsize,
    /// The lengths of `queues.tasks`, readable without the lock.
    queued_tasks: [AtomicUsize; PRIORITIES],
}

#[derive(Default)]
struct Queues {
    /// By priority.
    tasks: [VecDeque<Task>; PRIORITIES],
    /// Open loops. A thread may begin to help with a loop only while the loop is in this list.
    loops: Vec<Arc<ParallelLoop>>,
    /// Threads in `Condvar::wait`.
    sleeping: usize,
    /// Worker threads that spin without the lock. They take the lock and look again before they sleep.
    spinning: usize,
    /// Helping waiters that spin. They help with loops and run no tasks.
    spinning_waiters: usize,
    shutting_down: bool,
}

impl Workers {
    /// Starts this many threads, at least one.
    pub fn start(threads: usize) -> std::io::Result<Workers> {
        let thread_count = threads.max(1);
        let scheduler = Arc::new(Scheduler {
            thread_count,
            queues: Mutex::new(Queues::default()),
            wake_up: Condvar::new(),
            arrivals: AtomicUsize::new(0),
            queued_tasks: Default::default(),
        });
        let mut workers = Workers { scheduler, threads: Vec::new(), ids: Vec::new() };
        for i in 0..thread_count {
            let scheduler = workers.scheduler.clone();
            let builder = thread::Builder::new().name(format!("inflight-cpu-{i}"));
            // If one thread does not start, dropping `workers` shuts down those that did.
            let thread = builder.spawn(move || scheduler.run_worker())?;
            workers.ids.push(thread.thread().id());
            workers.threads.push(thread);
        }
        Ok(workers)
    }

    /// Maximum number of threads that work on one loop.
    pub fn thread_count(&self) -> usize {
        self.scheduler.thread_count
    }

    /// Queues a task behind earlier tasks of its priority.
    pub fn spawn(&self, priority: Priority, task: Task) {
        let mut queues = self.scheduler.queues.lock();
        let tasks = &mut queues.tasks[priority as usize];
        tasks.push_back(task);
        self.scheduler.queued_tasks[priority as usize].store(tasks.len(), Ordering::Relaxed);
        self.scheduler.notify(&queues, 1, queues.spinning);
    }

    /// Whether tasks of at least this priority wait for a thread.
    pub fn has_tasks_at_or_above(&self, priority: Priority) -> bool {
        let queued = &self.scheduler.queued_tasks[priority as usize..];
        queued.iter().any(|queued| queued.load(Ordering::Relaxed) > 0)
    }

    /// Whether tasks of a higher priority wait for a thread.
    pub fn has_tasks_above(&self, priority: Priority) -> bool {
        let queued = &self.scheduler.queued_tasks[priority as usize + 1..];
        queued.iter().any(|queued| queued.load(Ordering::Relaxed) > 0)
    }

    /// Runs `body` for each chunk index below `chunks`, on this thread and on idle ones, and returns when all chunks are
    /// done. Subnormal floats are flushed to zero meanwhile.
    ///
    /// If a chunk panics, chunks that no thread has begun are skipped and the panic's fault is returned.
    pub fn parallel_for(
        &self,
        chunks: usize,
        body: &(dyn Fn(usize) + Sync),
    ) -> Result<(), FaultKind> {
        // SAFETY: this only erases the lifetime of the body. It is used between here and the return of `close_loop`,
        // which waits for the last helper to finish.
        let body = unsafe { std::mem::transmute::<Body<'_>, Body<'static>>(body) };
        let work = ParallelLoop {
            body,
            chunks,
            claimed: AtomicUsize::new(0),
            claimed_front: AtomicUsize::new(0),
            claimed_back: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            owner: thread::current(),
            panic: Mutex::new(None),
        };
        if chunks <= 1 || self.scheduler.thread_count == 1 {
            work.run(ClaimFrom::Front);
            return work.result();
        }
        let work = Arc::new(work);
        {
            let mut queues = self.scheduler.queues.lock();
            queues.loops.push(work.clone());
            let wanted = (chunks - 1).min(self.scheduler.thread_count - 1);
            self.scheduler.notify(&queues, wanted, queues.spinning + queues.spinning_waiters);
        }
        work.run(ClaimFrom::Front);
        self.scheduler.close_loop(&work);
        work.result()
    }

    /// Whether the current thread is one of the workers.
    pub fn owns_current_thread(&self) -> bool {
        self.ids.contains(&thread::current().id())
    }

    /// Makes the current thread a helping waiter: it helps with loops of the thread `owner` returns, until the condition
    /// is true or the spin budget is spent without work. A thread that waits for a stream that another thread runs is
    /// then awake when the value is there, and no sleeping worker need be woken to help.
    pub fn help_until(&self, condition: impl Fn() -> bool, owner: impl Fn() -> Option<ThreadId>) {
        if self.scheduler.thread_count > 1 {
            self.scheduler.help_while_waiting(condition, owner);
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.scheduler.queues.lock().shutting_down = true;
        self.scheduler.wake_up.notify_all();
        // A worker may drop the last handle; it cannot join itself.
        if !self.owns_current_thread() {
            for thread in self.threads.drain(..) {
                // A worker catches all panics of its tasks and loops.
                let _ = thread.join();
            }
        }
    }
}

impl Scheduler {
    /// Wakes sleeping threads for `count` new pieces of work, `awake` of which spinning threads will take.
    fn notify(&self, queues: &Queues, count: usize, awake: usize) {
        self.arrivals.fetch_add(1, Ordering::Release);
        for _ in 0..count.saturating_sub(awake).min(queues.sleeping) {
            self.wake_up.notify_one();
        }
    }

    fn help_while_waiting(
        &self,
        condition: impl Fn() -> bool,
        owner: impl Fn() -> Option<ThreadId>,
    ) {
        // Start of the time without work.
        let mut idle = Instant::now();
        let mut queues = self.queues.lock();
        while !condition() {
            // Help no other thread: one of its chunks may take longer than the value this thread waits for.
            let owner = owner();
            let is_own = |work: &&Arc<ParallelLoop>| Some(work.owner.id()) == owner;
            let mut open = queues.loops.iter().filter(is_own);
            if let Some(work) = open.find(|work| work.needs_help(self.thread_count)) {
                let work = work.clone();
                work.helpers.fetch_add(1, Ordering::Relaxed);
                queues = self.run_unlocked(queues, || {
                    work.run_until(ClaimFrom::Back, &condition);
                    work.finish_helping();
                });
                idle = Instant::now();
                continue;
            }
            // More spinning threads than a loop can use would waste processors; and open loops that need no more help
            // have all the threads they can use.
            let spinning = queues.spinning_waiters + queues.spinning;
            if spinning >= self.thread_count - 1 || !queues.loops.is_empty() {
                return;
            }
            let seen = self.arrivals.load(Ordering::Relaxed);
            queues.spinning_waiters += 1;
            drop(queues);
            let found =
                self.spin_until(|| self.arrivals.load(Ordering::Acquire) != seen || condition());
            queues = self.queues.lock();
            queues.spinning_waiters -= 1;
            // Check under the lock: a loop that counted on this thread may have arrived since the spin ended.
            if !found && self.arrivals.load(Ordering::Relaxed) == seen {
                return;
            }
            // Loops of other threads do not extend the spin budget.
            if !MODEL_CHECKED && idle.elapsed() > SPIN_BUDGET {
                break;
            }
        }
        // A loop may have counted on this thread: wake another one in its stead.
        if queues.loops.iter().any(|work| work.needs_help(self.thread_count)) && queues.sleeping > 0
        {
            self.wake_up.notify_one();
        }
    }

    /// The main function of a worker thread.
    fn run_worker(&self) {
        let mut queues = self.queues.lock();
        loop {
            if let Some(task) = self.next_task(&mut queues) {
                queues = self.run_unlocked(queues, || {
                    // Tasks report their own errors; a panic must not end the thread.
                    let _ = catch_unwind(AssertUnwindSafe(task));
                });
            } else if let Some(work) =
                queues.loops.iter().find(|work| work.needs_help(self.thread_count))
            {
                let work = work.clone();
                work.helpers.fetch_add(1, Ordering::Relaxed);
                queues = self.run_unlocked(queues, || {
                    work.run(ClaimFrom::Back);
                    work.finish_helping();
                });
            } else if queues.shutting_down {
                return;
            } else {
                let seen = self.arrivals.load(Ordering::Relaxed);
                let mut found = false;
                // Spin only if a loop could use this thread: more would waste processors.
                if queues.spinning + queues.spinning_waiters < (self.thread_count - 1).max(1) {
                    queues.spinning += 1;
                    drop(queues);
                    found = self.spin_until(|| self.arrivals.load(Ordering::Acquire) != seen);
                    queues = self.queues.lock();
                    queues.spinning -= 1;
                }
                // Under the lock no work can arrive between this check and the sleep.
                if !found && self.arrivals.load(Ordering::Relaxed) == seen && !queues.shutting_down
                {
                    queues.sleeping += 1;
                    self.wake_up.wait(&mut queues);
                    queues.sleeping -= 1;
                }
            }
        }
    }

    /// Takes the oldest task of the highest priority.
    fn next_task(&self, queues: &mut Queues) -> Option<Task> {
        Priority::URGENT_FIRST.into_iter().find_map(|priority| {
            let tasks = &mut queues.tasks[priority as usize];
            let task = tasks.pop_front()?;
            self.queued_tasks[priority as usize].store(tasks.len(), Ordering::Relaxed);
            Some(task)
        })
    }

    /// Releases the lock while `work` runs. First passes the wake-up on if there is more work: `notify` may have counted
    /// on this thread, as a spinning one, for more than the one thing it takes.
    fn run_unlocked<'a>(
        &'a self,
        queues: MutexGuard<'a, Queues>,
        work: impl FnOnce(),
    ) -> MutexGuard<'a, Queues> {
        let more = queues.tasks.iter().any(|tasks| !tasks.is_empty())
            || queues.loops.iter().any(|l| l.needs_help(self.thread_count));
        if more && queues.sleeping > 0 {
            self.wake_up.notify_one();
        }
        drop(queues);
        work();
        self.queues.lock()
    }

    /// Closes a loop to new helpers and waits for those at work.
    fn close_loop(&self, work: &Arc<ParallelLoop>) {
        self.queues.lock().loops.retain(|open| !Arc::ptr_eq(open, work));
        if !self.spin_until(|| work.helpers.load(Ordering::Acquire) == 0) {
            while work.helpers.load(Ordering::Acquire) > 0 {
                thread::park();
            }
        }
    }

    /// Spins until the condition is true or the spin budget is spent. Returns whether the condition became true.
    fn spin_until(&self, condition: impl Fn() -> bool) -> bool {
        if MODEL_CHECKED {
            return condition();
        }
        let budget = if self.thread_count > 1 { SPIN_BUDGET } else { SPIN_BUDGET_ONE_THREAD };
        let mut start = None;
        loop {
            for _ in 0..16 {
                if condition() {
                    return true;
                }
                hint::spin_loop();
            }
            if start.get_or_insert_with(Instant::now).elapsed() > budget {
                return false;
            }
        }
    }
}

type Body<'a> = &'a (dyn Fn(usize) + Sync);

/// A parallel loop whose chunks threads claim one by one.
struct ParallelLoop {
    /// Valid until the owner has closed the loop; must not be called after that.
    body: Body<'static>,
    chunks: usize,
    /// Number of claims; `chunks` or more when no chunk is left.
    claimed: AtomicUsize,
    /// Chunks claimed from the front, by the owner, and from the back, by helpers. A thread that iterates over the same
    /// data repeatedly, as the owner of one loop after another, then finds its part of the data in its own cache.
    claimed_front: AtomicUsize,
    claimed_back: AtomicUsize,
    /// Threads at work besides the owner. Incremented only under the lock and while the loop is listed.
    helpers: AtomicUsize,
    /// The thread that started the loop.
    owner: Thread,
    /// The fault of the first panic.
    panic: Mutex<Option<FaultKind>>,
}

/// The end of a loop's range that a thread claims chunks from.
#[derive(Clone, Copy)]
enum ClaimFrom {
    /// The owner.
    Front,
    /// Helpers.
    Back,
}

impl ParallelLoop {
    fn needs_help(&self, thread_count: usize) -> bool {
        self.claimed.load(Ordering::Relaxed) < self.chunks
            && self.helpers.load(Ordering::Relaxed) + 1 < thread_count
    }

    /// Runs chunks until none is left.
    fn run(&self, end: ClaimFrom) {
        self.run_until(end, || false);
    }

    /// Runs chunks until none is left or the condition is true.
    fn run_until(&self, end: ClaimFrom, condition: impl Fn() -> bool) {
        let _mode = FlushToZero::enter();
        while !condition() {
            // Only `chunks` claims succeed, so front and back never meet.
            if self.claimed.fetch_add(1, Ordering::Relaxed) >= self.chunks {
                return;
            }
            let chunk = match end {
                ClaimFrom::Front => self.claimed_front.fetch_add(1, Ordering::Relaxed),
                ClaimFrom::Back => {
                    self.chunks - 1 - self.claimed_back.fetch_add(1, Ordering::Relaxed)
                }
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| (self.body)(chunk))) {
                self.claimed.store(self.chunks, Ordering::Relaxed);
                self.panic.lock().get_or_insert(panic_fault(payload));
            }
        }
    }

    /// Ends this thread's help: it does not use the body after this.
    fn finish_helping(&self) {
        if self.helpers.fetch_sub(1, Ordering::Release) == 1 {
            self.owner.unpark();
        }
    }

    fn result(&self) -> Result<(), FaultKind> {
        self.panic.lock().take().map_or(Ok(()), Err)
    }
}

/// The fault of a panic: the payload itself if it is one, otherwise the panic's message.
pub fn panic_fault(payload: Box<dyn Any + Send>) -> FaultKind {
    let payload = match payload.downcast::<FaultKind>() {
        Ok(fault) => return *fault,
        Err(payload) => payload,
    };
    let message = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(message), _) => message.to_string(),
        (_, Some(message)) => message.clone(),
        _ => "a panic without a message".to_string(),
    };
    FaultKind::Panicked(message)
}

/// Flush-to-zero mode (FTZ and DAZ) of the current thread: while this exists, subnormal operands and results are zero.
/// Subnormals are slower by two orders of magnitude. Dropping it restores the previous mode.
pub struct FlushToZero {
    before: FloatControl,
}

impl FlushToZero {
    /// Enters the mode.
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

/// The MXCSR register.
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
        // SAFETY: the value was read before, possibly with `FLUSH` added; rounding and masks are unchanged, and the only
        // effect is the intended one on subnormals.
        unsafe {
            asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, preserves_flags))
        };
    }
}

/// The FPCR register.
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
        // SAFETY: the value was read before, possibly with `FLUSH` added; rounding is unchanged, and the only effect is
        // the intended one on subnormals.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack, nomem, preserves_flags)) };
    }
}

/// No flush-to-zero mode on other architectures.
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
