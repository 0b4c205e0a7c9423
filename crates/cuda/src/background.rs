//! Background compilation threads, for slow work that must not block a stream: compiling and loading kernels, opening
//! libraries, GEMM autotuning. There are as many threads as processors, up to a limit; they exit when the queue is
//! empty.
//!
//! A [`BackgroundTask`] is polled: a command that needs its value goes on if the value is ready, and is deferred until
//! the task's event otherwise.

use inflight_backend::{Event, Fault, FaultKind, Label, Timeline};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// More threads than this do not speed up compilation: they compete for memory bandwidth.
const MAX_THREADS: usize = 16;

/// The longest that shutdown waits for running tasks.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);

/// A task on a background thread, and its value once it has completed.
pub struct BackgroundTask<T> {
    id: u64,
    value: OnceLock<Result<T, Fault>>,
    /// Reached iff the value is set.
    done: Event,
}

/// Why a command cannot be enqueued on its stream now.
pub enum EnqueueError {
    /// It failed for good.
    Failed(Fault),
    /// It needs something that is not ready. Retry it when this event is reached.
    NotReady(Event),
}

impl From<Fault> for EnqueueError {
    fn from(fault: Fault) -> EnqueueError {
        EnqueueError::Failed(fault)
    }
}

impl EnqueueError {
    /// Adds the label of the command, if the fault has none.
    pub fn with_label(self, label: &Label) -> EnqueueError {
        match self {
            EnqueueError::Failed(fault) => EnqueueError::Failed(with_label(fault, label)),
            not_ready => not_ready,
        }
    }
}

/// Adds a label to a fault that has none.
pub fn with_label(fault: Fault, label: &Label) -> Fault {
    Fault { label: fault.label.or_else(|| Some(label.clone())), ..fault }
}

impl<T: Clone + Send + Sync + 'static> BackgroundTask<T> {
    /// Enqueues a task for the background threads.
    pub fn start(
        compute: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Arc<BackgroundTask<T>> {
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        let (value, done) = (OnceLock::new(), Timeline::new().event(1));
        let task = Arc::new(BackgroundTask { id, value, done });
        let running = task.clone();
        let run = Box::new(move || {
            let value = catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|_| {
                Err(FaultKind::Panicked("a background compilation task".into()).into())
            });
            let _ = running.value.set(value);
            // A callback of the event may panic; the thread must survive that.
            let _ = catch_unwind(AssertUnwindSafe(|| running.done.signal()));
        });
        WORKERS.push(QueuedTask { id, run });
        task
    }

    /// A task that has completed with this value.
    pub fn completed(value: T) -> Arc<BackgroundTask<T>> {
        Arc::new(BackgroundTask {
            id: u64::MAX,
            value: OnceLock::from(Ok(value)),
            done: Event::reached(),
        })
    }

    /// Whether the task failed for lack of memory. A retry may succeed.
    pub fn ran_out_of_memory(&self) -> bool {
        matches!(self.value.get(), Some(Err(fault)) if fault.is_out_of_memory())
    }

    /// The value if the task has completed. Otherwise the task moves to the front of the queue.
    pub fn poll(&self) -> Result<T, EnqueueError> {
        match self.value.get() {
            Some(value) => value.clone().map_err(EnqueueError::Failed),
            None => {
                WORKERS.prioritize(self.id);
                Err(EnqueueError::NotReady(self.done.clone()))
            }
        }
    }
}

static NEXT_ID: AtomicU64 = AtomicU64::new(0);

static WORKERS: Workers = Workers {
    state: Mutex::new(State { tasks: VecDeque::new(), threads: 0, handles: Vec::new() }),
    thread_exited: Condvar::new(),
    is_shutting_down: AtomicBool::new(false),
    spawn: Workers::spawn,
};

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

struct Workers {
    state: Mutex<State>,
    /// Notified when a thread exits.
    thread_exited: Condvar,
    is_shutting_down: AtomicBool,
    /// Spawns a thread. `None` if the system refuses; a field, so that tests can replace it.
    spawn: fn(&'static Workers) -> Option<JoinHandle<()>>,
}

struct State {
    tasks: VecDeque<QueuedTask>,
    /// Threads that run tasks.
    threads: usize,
    /// Their handles, and those of some threads that have left the loop. Shutdown joins them: a thread's destructors
    /// release what libraries keep in thread-local storage.
    handles: Vec<JoinHandle<()>>,
}

struct QueuedTask {
    id: u64,
    run: Box<dyn FnOnce() + Send>,
}

impl Workers {
    fn push(&'static self, task: QueuedTask) {
        let mut state = self.state.lock();
        state.tasks.push_back(task);
        let max_threads = thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        if state.threads < max_threads {
            self.start(&mut state);
        }
    }

    /// Spawns a thread, if the system allows. The caller holds the lock, so that the count is right before others see
    /// it.
    fn start(&'static self, state: &mut MutexGuard<'_, State>) {
        if let Some(handle) = (self.spawn)(self) {
            state.threads += 1;
            state.handles.push(handle);
            for finished in state.handles.extract_if(.., |handle| handle.is_finished()) {
                let _ = finished.join();
            }
        }
    }

    fn spawn(&'static self) -> Option<JoinHandle<()>> {
        let builder = thread::Builder::new().name("inflight-compile".to_owned());
        builder.spawn(|| self.run_tasks()).ok()
    }

    /// Moves a task to the front of the queue, if no thread has started it.
    fn prioritize(&'static self, id: u64) {
        let mut state = self.state.lock();
        let position = state.tasks.iter().position(|task| task.id == id);
        let Some(task) = position.and_then(|position| state.tasks.remove(position)) else { return };
        state.tasks.push_front(task);
        if state.threads > 0 {
            return;
        }
        self.start(&mut state);
        if state.threads == 0 {
            // No thread can be spawned: run the tasks on this one.
            state.threads += 1;
            drop(state);
            self.run_tasks();
        }
    }

    fn run_tasks(&self) {
        let was_worker = IS_WORKER.replace(true);
        loop {
            let mut state = self.state.lock();
            // Tasks that have not started when shutdown begins never run.
            let is_shutting_down = self.is_shutting_down.load(Ordering::Relaxed);
            let Some(task) = (if is_shutting_down { None } else { state.tasks.pop_front() }) else {
                state.threads -= 1;
                self.thread_exited.notify_all();
                break;
            };
            drop(state);
            (task.run)();
        }
        IS_WORKER.set(was_worker);
    }
}

/// Whether this thread is a background thread.
pub fn is_worker() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

/// Shuts down: starts no more tasks and waits for the running ones. The process is exiting, and the libraries that
/// tasks use are about to be unloaded.
pub fn shut_down() {
    WORKERS.is_shutting_down.store(true, Ordering::Relaxed);
    if is_worker() {
        return;
    }
    let deadline = Instant::now() + SHUTDOWN_TIMEOUT;
    let mut state = WORKERS.state.lock();
    while state.threads > 0 {
        if WORKERS.thread_exited.wait_until(&mut state, deadline).timed_out() {
            return;
        }
    }
    // A thread's last action is to run the thread-local destructors of the libraries.
    let handles = std::mem::take(&mut state.handles);
    drop(state);
    for handle in handles {
        let _ = handle.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn fault_of(task: &BackgroundTask<u32>) -> Fault {
        task.done.wait();
        match task.poll() {
            Err(EnqueueError::Failed(fault)) => fault,
            _ => panic!("it should have failed"),
        }
    }

    #[test]
    fn without_threads_the_polling_thread_runs_the_task() {
        /// Refuses to spawn. Also checks that the lock is held, so that no other thread sees a wrong count.
        fn refuse(workers: &'static Workers) -> Option<JoinHandle<()>> {
            assert!(
                workers.state.try_lock().is_none(),
                "the state must be locked while a thread is spawned"
            );
            None
        }
        static WITHOUT_THREADS: Workers = Workers {
            state: Mutex::new(State { tasks: VecDeque::new(), threads: 0, handles: Vec::new() }),
            thread_exited: Condvar::new(),
            is_shutting_down: AtomicBool::new(false),
            spawn: refuse,
        };
        let (sender, receiver) = mpsc::channel();
        let run = Box::new(move || sender.send(()).expect("the test receives"));
        WITHOUT_THREADS.push(QueuedTask { id: 1, run });
        assert!(receiver.try_recv().is_err());
        WITHOUT_THREADS.prioritize(1);
        assert!(receiver.try_recv().is_ok());
        assert_eq!(WITHOUT_THREADS.state.lock().threads, 0);
    }

    #[test]
    fn tasks_run_concurrently_and_deliver_values_faults_and_panics() {
        let (go, wait) = mpsc::channel::<()>();
        let slow = BackgroundTask::start(move || {
            wait.recv().expect("the test goes on");
            Ok(7)
        });
        assert!(matches!(slow.poll(), Err(EnqueueError::NotReady(event)) if !event.is_reached()));
        let (sender, receiver) = mpsc::channel();
        if let Err(EnqueueError::NotReady(event)) = slow.poll() {
            event.on_reached(Box::new(move || sender.send(()).expect("the test receives")));
        }
        go.send(()).expect("the task waits");
        receiver.recv().unwrap();
        assert!(matches!(slow.poll(), Ok(7)));
        assert!(matches!(BackgroundTask::completed(8).poll(), Ok(8)));

        let panics = BackgroundTask::<u32>::start(|| panic!("on purpose"));
        assert!(matches!(fault_of(&panics).kind, FaultKind::Panicked(_)));
        let fails = BackgroundTask::<u32>::start(|| {
            Err(FaultKind::Unsupported("a kernel".to_owned()).into())
        });
        assert!(matches!(fault_of(&fails).kind, FaultKind::Unsupported(_)));
        assert!(!fails.ran_out_of_memory());
        let lacks = FaultKind::OutOfMemory { requested: 1, in_use: 2, limit: 2 };
        let lacks = BackgroundTask::<u32>::start(|| Err(lacks.into()));
        lacks.done.wait();
        assert!(lacks.ran_out_of_memory());
    }

    #[test]
    fn polled_tasks_run_before_precompiled_ones() {
        // A queue of its own, without threads that take tasks from it.
        let workers: &'static Workers = Box::leak(Box::new(Workers {
            state: Mutex::new(State {
                tasks: VecDeque::new(),
                threads: usize::MAX - 1,
                handles: Vec::new(),
            }),
            thread_exited: Condvar::new(),
            is_shutting_down: AtomicBool::new(false),
            spawn: Workers::spawn,
        }));
        let (done, order) = mpsc::channel();
        for id in 0..4 {
            let done = done.clone();
            let run = Box::new(move || done.send(id).expect("the test receives"));
            workers.push(QueuedTask { id, run });
        }
        workers.prioritize(2);
        workers.prioritize(9);
        workers.run_tasks();
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [2, 0, 1, 3]);
    }
}
