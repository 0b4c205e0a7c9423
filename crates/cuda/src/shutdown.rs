//! Process shutdown. The driver and the libraries undo their initialization in exit handlers, and calls after that
//! crash. A handler of our own runs before theirs, waits for threads that are inside of the driver, and lets no more
//! in.

use crate::background;
use inflight_backend::{Fault, FaultKind};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest that shutdown waits for threads inside of the driver.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The polling interval of that wait.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

static GATE: ShutdownGate =
    ShutdownGate { is_shutting_down: AtomicBool::new(false), guards: AtomicUsize::new(0) };

/// The gate through which threads enter the driver. Shutdown closes it.
struct ShutdownGate {
    is_shutting_down: AtomicBool,
    /// Live guards of all threads.
    guards: AtomicUsize,
}

thread_local! {
    /// Live guards of this thread.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn depth() -> usize {
    // A thread whose thread-locals are destroyed holds no guard.
    DEPTH.try_with(Cell::get).unwrap_or(0)
}

/// Keeps the driver alive: shutdown waits until it is dropped.
pub struct DriverGuard {
    gate: &'static ShutdownGate,
    /// Not `Send`: it counts for the thread that has entered.
    _not_send: PhantomData<*const ()>,
}

impl ShutdownGate {
    fn enter(&'static self) -> Option<DriverGuard> {
        // Increment before the check, as shutdown sets the flag before it reads the count: one of them sees the other.
        self.guards.fetch_add(1, Ordering::SeqCst);
        // Shutdown waits for background threads separately, before it waits here; they may still enter.
        let may_enter = || depth() > 0 || background::is_worker();
        if self.is_shutting_down.load(Ordering::SeqCst) && !may_enter() {
            self.guards.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
        Some(DriverGuard { gate: self, _not_send: PhantomData })
    }

    /// Closes the gate. Returns whether it was open.
    fn close(&self) -> bool {
        !self.is_shutting_down.swap(true, Ordering::SeqCst)
    }

    /// Waits until no other thread holds a guard. The gate must be closed.
    fn wait(&self) {
        let deadline = Instant::now() + TIMEOUT;
        while self.guards.load(Ordering::SeqCst) > depth() && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for DriverGuard {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
        self.gate.guards.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Registers the exit handler. Exit handlers run in reverse order of registration, so ours must be registered after
/// those of the libraries. They register some of theirs when a function is used for the first time; call this after
/// each such first use.
pub fn register_exit_handler() {
    // SAFETY: the handler may be called at any time. If the registration fails, shutdown goes unnoticed.
    unsafe { libc::atexit(at_exit) };
}

extern "C" fn at_exit() {
    // The handler is registered several times; only the first call waits.
    if GATE.close() {
        background::shut_down();
        GATE.wait();
    }
}

/// Whether the process is shutting down. The driver must not be called any more; the system frees what is left.
pub fn is_shutting_down() -> bool {
    GATE.is_shutting_down.load(Ordering::SeqCst)
}

/// Lets this thread call the driver while the guard lives. `None` if the process is shutting down.
pub fn enter() -> Option<DriverGuard> {
    GATE.enter()
}

/// The fault of commands that come after shutdown has begun.
pub fn shutdown_fault() -> Fault {
    FaultKind::DeviceLost("the process is shutting down".to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn gate() -> &'static ShutdownGate {
        let (is_shutting_down, guards) = (AtomicBool::new(false), AtomicUsize::new(0));
        Box::leak(Box::new(ShutdownGate { is_shutting_down, guards }))
    }

    #[test]
    fn shutdown_waits_for_guards_and_admits_no_other_thread() {
        let gate = gate();
        let (entered, has_entered) = mpsc::channel();
        let (leave, leaves) = mpsc::channel::<()>();
        let guarded = thread::spawn(move || {
            let guard = gate.enter().unwrap();
            entered.send(()).unwrap();
            leaves.recv().unwrap();
            // A thread with a guard may enter again.
            assert!(gate.is_shutting_down.load(Ordering::SeqCst) && gate.enter().is_some());
            drop(guard);
            assert!(gate.enter().is_none());
        });
        has_entered.recv().unwrap();
        assert!(gate.close() && !gate.close());
        let waiting = thread::spawn(move || gate.wait());
        assert!(!waiting.is_finished() && gate.enter().is_none());
        leave.send(()).unwrap();
        waiting.join().unwrap();
        assert_eq!(gate.guards.load(Ordering::SeqCst), 0);
        guarded.join().unwrap();
    }

    #[test]
    fn exiting_with_a_guard_does_not_deadlock() {
        let gate = gate();
        let begun = Instant::now();
        let _guard = gate.enter().unwrap();
        gate.close();
        gate.wait();
        assert!(begun.elapsed() < TIMEOUT);
    }
}
