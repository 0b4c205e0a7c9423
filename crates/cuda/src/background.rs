//! What takes a while and nobody should wait for: compiling kernels, opening libraries. Threads do it, as many as
//! there are processors, and end when there is nothing left to do.
//!
//! Whoever needs what is [`Awaited`] looks whether it is there, and if not, goes on when its event is reached.

use inflight_backend::{Event, Fault, FaultKind, Label, Timeline};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// More threads than this make nothing faster: they wait for each other's memory.
const MOST_THREADS: usize = 16;

/// So long a process that ends waits for what is under way, at most.
const LONGEST_END: Duration = Duration::from_secs(20);

/// A value that is being made, or is there.
pub struct Awaited<T> {
    task: u64,
    value: OnceLock<Result<T, Fault>>,
    /// Reached iff the value is there.
    made: Event,
}

/// A command cannot be put on its stream now.
pub enum Stop {
    /// It never can.
    Failed(Fault),
    /// It can when this is reached.
    Until(Event),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Failed(fault)
    }
}

impl Stop {
    /// The same, of a command with this label.
    pub fn of(self, label: &Label) -> Stop {
        match self {
            Stop::Failed(fault) => Stop::Failed(with_label(fault, label)),
            until => until,
        }
    }
}

/// The fault, with this label if it has none of its own.
pub fn with_label(fault: Fault, label: &Label) -> Fault {
    Fault { label: fault.label.or_else(|| Some(label.clone())), ..fault }
}

impl<T: Clone + Send + Sync + 'static> Awaited<T> {
    /// Has a value made in the background.
    pub fn start(make: impl FnOnce() -> Result<T, Fault> + Send + 'static) -> Arc<Awaited<T>> {
        let task = TASKS.fetch_add(1, Ordering::Relaxed);
        let (value, made) = (OnceLock::new(), Timeline::new().event(1));
        let awaited = Arc::new(Awaited { task, value, made });
        let making = awaited.clone();
        let run = Box::new(move || {
            let made = catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|_| {
                Err(FaultKind::Panicked("what was to be made in the background".into()).into())
            });
            let _ = making.value.set(made);
            // Whoever is told may do anything, and the thread has others to serve.
            let _ = catch_unwind(AssertUnwindSafe(|| making.made.signal()));
        });
        WORKERS.push(Task { number: task, run });
        awaited
    }

    /// A value that is there.
    pub fn made(value: T) -> Arc<Awaited<T>> {
        Arc::new(Awaited {
            task: u64::MAX,
            value: OnceLock::from(Ok(value)),
            made: Event::reached(),
        })
    }

    /// Whether it could not be made for lack of memory, of which there may be enough another time.
    pub fn was_short(&self) -> bool {
        matches!(self.value.get(), Some(Err(fault)) if fault.is_out_of_memory())
    }

    /// The value, or that it is not there yet. Then it is made next.
    pub fn now(&self) -> Result<T, Stop> {
        match self.value.get() {
            Some(made) => made.clone().map_err(Stop::Failed),
            None => {
                WORKERS.hurry(self.task);
                Err(Stop::Until(self.made.clone()))
            }
        }
    }
}

static TASKS: AtomicU64 = AtomicU64::new(0);

static WORKERS: Workers = Workers {
    state: Mutex::new(State { tasks: VecDeque::new(), threads: 0, handles: Vec::new() }),
    ended: Condvar::new(),
    is_ending: AtomicBool::new(false),
    spawn: Workers::spawn,
};

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

struct Workers {
    state: Mutex<State>,
    /// Notified when a thread ends.
    ended: Condvar,
    is_ending: AtomicBool,
    /// Starts a thread, if there can be one.
    spawn: fn(&'static Workers) -> Option<JoinHandle<()>>,
}

struct State {
    tasks: VecDeque<Task>,
    /// How many threads serve.
    threads: usize,
    /// Those and some that do not any more: what libraries keep for a thread goes when it ends.
    handles: Vec<JoinHandle<()>>,
}

struct Task {
    number: u64,
    run: Box<dyn FnOnce() + Send>,
}

impl Workers {
    fn push(&'static self, task: Task) {
        let mut state = self.state.lock();
        state.tasks.push_back(task);
        let most = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        if state.threads < most {
            self.start(&mut state);
        }
    }

    /// Starts a thread, if there can be one. Nobody counts on it before that is known.
    fn start(&'static self, state: &mut MutexGuard<'_, State>) {
        if let Some(handle) = (self.spawn)(self) {
            state.threads += 1;
            state.handles.push(handle);
            for ended in state.handles.extract_if(.., |handle| handle.is_finished()) {
                let _ = ended.join();
            }
        }
    }

    fn spawn(&'static self) -> Option<JoinHandle<()>> {
        let named = thread::Builder::new().name("inflight-compile".to_owned());
        named.spawn(|| self.serve()).ok()
    }

    /// Has a task done next, if nobody has begun it.
    fn hurry(&'static self, number: u64) {
        let mut state = self.state.lock();
        let position = state.tasks.iter().position(|task| task.number == number);
        let Some(task) = position.and_then(|position| state.tasks.remove(position)) else { return };
        state.tasks.push_front(task);
        if state.threads > 0 {
            return;
        }
        self.start(&mut state);
        if state.threads == 0 {
            // Without a thread it is done here.
            state.threads += 1;
            drop(state);
            self.serve();
        }
    }

    fn serve(&self) {
        let was_worker = IS_WORKER.replace(true);
        loop {
            let mut state = self.state.lock();
            // What is not begun by then never is.
            let is_ending = self.is_ending.load(Ordering::Relaxed);
            let Some(task) = (if is_ending { None } else { state.tasks.pop_front() }) else {
                state.threads -= 1;
                self.ended.notify_all();
                break;
            };
            drop(state);
            (task.run)();
        }
        IS_WORKER.set(was_worker);
    }
}

/// Whether this thread makes something in the background.
pub fn is_worker() -> bool {
    IS_WORKER.try_with(Cell::get).unwrap_or(false)
}

/// Lets no task begin any more, and waits for those that are under way: the process ends, and the libraries they
/// use are about to be gone.
pub fn end() {
    WORKERS.is_ending.store(true, Ordering::Relaxed);
    if is_worker() {
        return;
    }
    let deadline = Instant::now() + LONGEST_END;
    let mut state = WORKERS.state.lock();
    while state.threads > 0 {
        if WORKERS.ended.wait_until(&mut state, deadline).timed_out() {
            return;
        }
    }
    // The last of what they do is to give back what the libraries keep for them.
    let handles = std::mem::take(&mut state.handles);
    drop(state);
    for handle in handles {
        let _ = handle.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Compiler;
    use std::process::Command;
    use std::sync::mpsc;

    fn fault_of(awaited: &Awaited<u32>) -> Fault {
        awaited.made.wait();
        match awaited.now() {
            Err(Stop::Failed(fault)) => fault,
            _ => panic!("it should have failed"),
        }
    }

    #[test]
    fn without_a_thread_a_task_is_done_by_whoever_needs_it() {
        /// Also sees to it that nobody counts on a thread before it is known whether there is one.
        fn refuse(workers: &'static Workers) -> Option<JoinHandle<()>> {
            assert!(workers.state.try_lock().is_none(), "others could see a thread that is none");
            None
        }
        static ALONE: Workers = Workers {
            state: Mutex::new(State { tasks: VecDeque::new(), threads: 0, handles: Vec::new() }),
            ended: Condvar::new(),
            is_ending: AtomicBool::new(false),
            spawn: refuse,
        };
        let (told, hear) = mpsc::channel();
        let run = Box::new(move || told.send(()).expect("the test listens"));
        ALONE.push(Task { number: 1, run });
        assert!(hear.try_recv().is_err());
        ALONE.hurry(1);
        assert!(hear.try_recv().is_ok());
        assert_eq!(ALONE.state.lock().threads, 0);
    }

    #[test]
    fn values_are_made_beside_their_caller_and_faults_and_panics_are_theirs() {
        let (go, wait) = mpsc::channel::<()>();
        let slow = Awaited::start(move || {
            wait.recv().expect("the test goes on");
            Ok(7)
        });
        assert!(matches!(slow.now(), Err(Stop::Until(event)) if !event.is_reached()));
        let (told, hear) = mpsc::channel();
        if let Err(Stop::Until(event)) = slow.now() {
            event.on_reached(Box::new(move || told.send(()).expect("the test listens")));
        }
        go.send(()).expect("the task waits");
        hear.recv().unwrap();
        assert!(matches!(slow.now(), Ok(7)));
        assert!(matches!(Awaited::made(8).now(), Ok(8)));

        let panics = Awaited::<u32>::start(|| panic!("on purpose"));
        assert!(matches!(fault_of(&panics).kind, FaultKind::Panicked(_)));
        let fails =
            Awaited::<u32>::start(|| Err(FaultKind::Unsupported("a kernel".to_owned()).into()));
        assert!(matches!(fault_of(&fails).kind, FaultKind::Unsupported(_)));
        assert!(!fails.was_short());
        let lacks = FaultKind::OutOfMemory { requested: 1, in_use: 2, limit: 2 };
        let lacks = Awaited::<u32>::start(|| Err(lacks.into()));
        lacks.made.wait();
        assert!(lacks.was_short());
    }

    #[test]
    fn what_is_needed_is_made_before_what_may_be() {
        // A queue of its own, which nobody serves meanwhile.
        let workers: &'static Workers = Box::leak(Box::new(Workers {
            state: Mutex::new(State {
                tasks: VecDeque::new(),
                threads: usize::MAX - 1,
                handles: Vec::new(),
            }),
            ended: Condvar::new(),
            is_ending: AtomicBool::new(false),
            spawn: Workers::spawn,
        }));
        let (done, order) = mpsc::channel();
        for number in 0..4 {
            let done = done.clone();
            let run = Box::new(move || done.send(number).expect("the test listens"));
            workers.push(Task { number, run });
        }
        workers.hurry(2);
        workers.hurry(9);
        workers.serve();
        assert_eq!(order.try_iter().collect::<Vec<_>>(), [2, 0, 1, 3]);
    }

    /// Set for a process that this test is to end.
    const ENDS: &str = "INFLIGHT_TEST_ENDS";

    /// In a process of its own: has kernels compiled, and ends it when the first is.
    #[test]
    #[ignore = "ends the process; the test below runs it"]
    fn ends_while_others_compile() {
        if std::env::var_os(ENDS).is_none() {
            return;
        }
        let line = "    x[threadIdx.x] = sinf(x[threadIdx.x]) * powf(x[threadIdx.x], 3.5f);\n";
        let compiled = (0..8).map(|number| {
            let lines = line.repeat(20 + 10 * number);
            let text = format!("extern \"C\" __global__ void f(float* x) {{\n{lines}}}");
            Awaited::start(move || Compiler::new("sm_90".to_owned(), || None).compile(&text))
        });
        let compiled: Vec<_> = compiled.collect();
        compiled[0].made.wait();
        assert!(compiled[0].now().is_ok());
        std::process::exit(0);
    }

    #[test]
    fn a_process_may_end_while_kernels_are_being_compiled() {
        if let Err(fault) = Compiler::new("sm_90".to_owned(), || None).version() {
            println!("SKIPPED: {fault}");
            return;
        }
        let arguments = ["--ignored", "--exact", "background::tests::ends_while_others_compile"];
        for _ in 0..3 {
            let this = std::env::current_exe().expect("a test runs from a file");
            let ended =
                Command::new(this).args(arguments).env(ENDS, "1").output().expect("the test runs");
            assert!(ended.status.success(), "{ended:?}");
            assert!(!String::from_utf8_lossy(&ended.stdout).contains("test result"), "{ended:?}");
        }
    }
}
