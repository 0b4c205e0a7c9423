//! The end of the process, when the driver and its libraries go.

use crate::background;
use inflight_backend::{Fault, FaultKind};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// So long the end waits for threads that talk to the driver, at most.
const LONGEST_END: Duration = Duration::from_secs(5);

/// So long it sleeps between two looks.
const NAP: Duration = Duration::from_micros(50);

static END: End = End { is_there: AtomicBool::new(false), inside: AtomicUsize::new(0) };

/// The end, and who keeps it waiting.
struct End {
    is_there: AtomicBool,
    /// How many are inside of the driver.
    inside: AtomicUsize,
}

thread_local! {
    /// How often this thread is inside.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

fn depth() -> usize {
    // A thread that is ending itself has left.
    DEPTH.try_with(Cell::get).unwrap_or(0)
}

/// Keeps the driver from going.
pub struct Inside {
    end: &'static End,
    /// It is of the thread that has entered.
    _of_thread: PhantomData<*const ()>,
}

impl End {
    fn enter(&'static self) -> Option<Inside> {
        // Counted before looking, as the end is said before counting: one of both sees the other.
        self.inside.fetch_add(1, Ordering::SeqCst);
        // What threads do in the background is waited for first.
        let may_stay = || depth() > 0 || background::is_worker();
        if self.is_there.load(Ordering::SeqCst) && !may_stay() {
            self.inside.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        let _ = DEPTH.try_with(|depth| depth.set(depth.get() + 1));
        Some(Inside { end: self, _of_thread: PhantomData })
    }

    /// It is there from now on. Says whether it was not before.
    fn begin(&self) -> bool {
        !self.is_there.swap(true, Ordering::SeqCst)
    }

    /// Waits until nobody else is inside: once it is there, nobody comes in.
    fn wait(&self) {
        let deadline = Instant::now() + LONGEST_END;
        while self.inside.load(Ordering::SeqCst) > depth() && Instant::now() < deadline {
            thread::sleep(NAP);
        }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let _ = DEPTH.try_with(|depth| depth.set(depth.get().saturating_sub(1)));
        self.end.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sees to it that the end is noticed before libraries undo what they have done by now: what is registered last is
/// called first. They register some of it when they do something for the first time, and a thread that is in one of
/// them needs it until the end has waited for it.
pub fn watch() {
    // SAFETY: the function may be called at any time. Where it cannot be registered, the end is not noticed.
    unsafe { libc::atexit(at_end) };
}

extern "C" fn at_end() {
    // What is registered several times waits once.
    if END.begin() {
        background::end();
        END.wait();
    }
}

/// Whether the process is ending. The driver is then gone or going: what is left is the system's to clean up.
pub fn is_ending() -> bool {
    END.is_there.load(Ordering::SeqCst)
}

/// Lets this thread talk to the driver, which stays as long as what is returned. `None` if the process is ending.
pub fn enter() -> Option<Inside> {
    END.enter()
}

/// Why nothing can be had of the device any more.
pub fn ended() -> Fault {
    FaultKind::DeviceLost("the process is ending".to_owned()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn end() -> &'static End {
        let end = End { is_there: AtomicBool::new(false), inside: AtomicUsize::new(0) };
        Box::leak(Box::new(end))
    }

    #[test]
    fn the_end_waits_for_those_who_are_inside_and_lets_nobody_else_in() {
        let end = end();
        let (entered, has_entered) = mpsc::channel();
        let (leave, leaves) = mpsc::channel::<()>();
        let inside = thread::spawn(move || {
            let inside = end.enter().unwrap();
            entered.send(()).unwrap();
            leaves.recv().unwrap();
            // What it does there may need to enter again.
            assert!(end.is_there.load(Ordering::SeqCst) && end.enter().is_some());
            drop(inside);
            assert!(end.enter().is_none());
        });
        has_entered.recv().unwrap();
        assert!(end.begin() && !end.begin());
        let ending = thread::spawn(move || end.wait());
        assert!(!ending.is_finished() && end.enter().is_none());
        leave.send(()).unwrap();
        ending.join().unwrap();
        assert_eq!(end.inside.load(Ordering::SeqCst), 0);
        inside.join().unwrap();
    }

    #[test]
    fn whoever_ends_the_process_from_inside_does_not_wait_for_itself() {
        let end = end();
        let begun = Instant::now();
        let _inside = end.enter().unwrap();
        end.begin();
        end.wait();
        assert!(begun.elapsed() < LONGEST_END);
    }
}
