//! Observers of command execution, for tracing and profiling.
//!
//! Streams report every command they have run. Without an observer this costs one relaxed load per command.

use crate::{Command, Label};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Instant;

/// Receives a report of every command that streams run.
pub trait Observer: Send + Sync {
    /// Called after a command has run, or was skipped because an operand failed.
    fn command_ran(&self, ran: &RanCommand<'_>);
}

/// Report of a command that has run.
pub struct RanCommand<'a> {
    /// The stream's id, unique in this process.
    pub stream: u64,
    /// The device's short name.
    pub device: &'static str,
    /// What the command did.
    pub kind: &'a CommandKind,
    /// Start time.
    pub began: Instant,
    /// End time.
    pub ended: Instant,
}

/// Kind of command, as reported to observers.
pub enum CommandKind {
    /// Computed these recorded ops.
    Compute(Label),
    /// Called a host function.
    Host(Label),
    /// Ran a loop, from the start of its first iteration to the end of its last. The commands of its iterations are
    /// reported as well, except those of a [`DeviceLoop`](crate::DeviceLoop).
    Loop {
        /// The recorded ops of the loop.
        label: Label,
        /// Number of iterations.
        iterations: u64,
    },
    /// Passed a buffer to the host.
    Read {
        /// Size of the buffer.
        bytes: usize,
    },
}

static LISTENING: AtomicBool = AtomicBool::new(false);
static OBSERVERS: RwLock<Vec<Arc<dyn Observer>>> = RwLock::new(Vec::new());

/// Whether an observer is registered: one relaxed load.
pub fn is_listening() -> bool {
    LISTENING.load(Ordering::Relaxed)
}

/// Registers an observer for all commands from now on, until it is [removed](remove).
pub fn add(observer: Arc<dyn Observer>) {
    let mut observers = OBSERVERS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.push(observer);
    LISTENING.store(true, Ordering::Relaxed);
}

/// Unregisters an observer.
pub fn remove(observer: &Arc<dyn Observer>) {
    let mut observers = OBSERVERS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.retain(|registered| !Arc::ptr_eq(registered, observer));
    LISTENING.store(!observers.is_empty(), Ordering::Relaxed);
}

/// Allocates a stream id, unique in this process.
pub fn next_stream_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Measures one command for the observers, if any are registered and the command takes device or host time.
pub struct CommandTimer {
    kind: CommandKind,
    began: Instant,
}

impl CommandTimer {
    /// Starts timing a command. `None` if no observer is registered or the command is not timed.
    pub fn begin(command: &Command) -> Option<CommandTimer> {
        if !is_listening() {
            return None;
        }
        let kind = match command {
            Command::Launch(launch) => CommandKind::Compute(launch.label.clone()),
            Command::Batch(batch) => CommandKind::Compute(batch.label.clone()),
            Command::Gemm(gemm) => CommandKind::Compute(gemm.label.clone()),
            Command::Routine(routine) => CommandKind::Compute(routine.label.clone()),
            Command::Host(call) => CommandKind::Host(call.label.clone()),
            Command::Read { source, .. } => CommandKind::Read { bytes: source.bytes() },
            _ => return None,
        };
        Some(CommandTimer { kind, began: Instant::now() })
    }

    /// Stops timing and reports the command.
    pub fn end(self, stream: u64, device: &'static str) {
        report(stream, device, &self.kind, self.began);
    }

    /// Stops timing and reports the command, with `then` as its earliest start time.
    pub fn end_since(mut self, stream: u64, device: &'static str, then: Instant) {
        self.began = self.began.max(then);
        self.end(stream, device);
    }
}

/// Reports work that has just ended to all observers.
pub fn report(stream: u64, device: &'static str, kind: &CommandKind, began: Instant) {
    let ran = RanCommand { stream, device, kind, began, ended: Instant::now() };
    let observers = OBSERVERS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.iter().for_each(|observer| observer.command_ran(&ran));
}
