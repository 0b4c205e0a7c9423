//! Who wants to know when commands run.
//!
//! A backend's streams report each command they have run. While nobody listens, that costs them one relaxed
//! load.

use crate::{Command, Label};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Instant;

/// Is told what streams have run.
pub trait Observer: Send + Sync {
    /// A command has run, or was passed over because an operand failed.
    fn command_ran(&self, ran: &RanCommand<'_>);
}

/// A command that has run.
pub struct RanCommand<'a> {
    /// The stream, by its number in this process.
    pub stream: u64,
    /// The device's short name.
    pub device: &'static str,
    /// What it did.
    pub what: &'a CommandKind,
    /// When it began.
    pub began: Instant,
    /// When it was done.
    pub ended: Instant,
}

/// What a command does.
pub enum CommandKind {
    /// Computes these ops.
    Compute(Label),
    /// Calls a function of the host.
    Host(Label),
    /// Runs a loop, from its first turn to the end of its last. Its turns' commands are reported as well, but for
    /// those of a [`DeviceLoop`](crate::DeviceLoop).
    Loop {
        /// What it computes.
        label: Label,
        /// How many turns it took.
        turns: u64,
    },
    /// Shows this many bytes to the host.
    Read {
        /// How many.
        bytes: usize,
    },
}

static LISTENING: AtomicBool = AtomicBool::new(false);
static OBSERVERS: RwLock<Vec<Arc<dyn Observer>>> = RwLock::new(Vec::new());

/// Whether anybody listens: one relaxed load.
pub fn is_listening() -> bool {
    LISTENING.load(Ordering::Relaxed)
}

/// Tells this observer of every command from now on, until it is [removed](remove).
pub fn add(observer: Arc<dyn Observer>) {
    let mut observers = OBSERVERS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.push(observer);
    LISTENING.store(true, Ordering::Relaxed);
}

/// Tells this observer of nothing any more.
pub fn remove(observer: &Arc<dyn Observer>) {
    let mut observers = OBSERVERS.write().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.retain(|known| !Arc::ptr_eq(known, observer));
    LISTENING.store(!observers.is_empty(), Ordering::Relaxed);
}

/// A number for a new stream, which no other stream of this process has.
pub fn stream_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A command that is about to run on a stream, if somebody listens and it is one that takes time.
pub struct CommandTimer {
    what: CommandKind,
    began: Instant,
}

impl CommandTimer {
    /// Looks at a command that is about to run. `None` if nobody wants to know.
    pub fn begin(command: &Command) -> Option<CommandTimer> {
        if !is_listening() {
            return None;
        }
        let what = match command {
            Command::Launch(launch) => CommandKind::Compute(launch.label.clone()),
            Command::Batch(batch) => CommandKind::Compute(batch.label.clone()),
            Command::Gemm(contract) => CommandKind::Compute(contract.label.clone()),
            Command::Routine(routine) => CommandKind::Compute(routine.label.clone()),
            Command::Host(call) => CommandKind::Host(call.label.clone()),
            Command::Read { source, .. } => CommandKind::Read { bytes: source.bytes() },
            _ => return None,
        };
        Some(CommandTimer { what, began: Instant::now() })
    }

    /// The command has run.
    pub fn end(self, stream: u64, device: &'static str) {
        report(stream, device, &self.what, self.began);
    }

    /// The command has run, and did not begin before then.
    pub fn end_since(mut self, stream: u64, device: &'static str, then: Instant) {
        self.began = self.began.max(then);
        self.end(stream, device);
    }
}

/// Tells the observers of something that has ended now.
pub fn report(stream: u64, device: &'static str, what: &CommandKind, began: Instant) {
    let ran = RanCommand { stream, device, what, began, ended: Instant::now() };
    let observers = OBSERVERS.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    observers.iter().for_each(|observer| observer.command_ran(&ran));
}
