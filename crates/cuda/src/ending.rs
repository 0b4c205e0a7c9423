//! The end of the process, when the driver and its libraries go.

use crate::background;
use std::sync::atomic::{AtomicBool, Ordering};

static ENDING: AtomicBool = AtomicBool::new(false);

/// Sees to it that the end is noticed before a library that is open by now does what it does at the end: what is
/// registered last is called first.
pub fn watch() {
    // SAFETY: the function may be called at any time. Where it cannot be registered, the end is not noticed.
    unsafe { libc::atexit(at_end) };
}

extern "C" fn at_end() {
    // What is registered several times waits once.
    if !ENDING.swap(true, Ordering::SeqCst) {
        background::end();
    }
}

/// Whether the process is ending. The driver is then gone or going: what is left is the system's to clean up.
pub fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}
