//! A progress bar on standard error, if that is a terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Delay before the bar appears.
const QUIET: Duration = Duration::from_millis(500);

/// Minimum time between updates.
const FRAME: Duration = Duration::from_millis(50);

/// Width of the bar in characters.
const WIDTH: usize = 30;

/// Progress bar of a number of steps.
pub struct Progress {
    total: usize,
    began: Instant,
    shown: Option<Instant>,
    is_visible: bool,
}

impl Progress {
    /// A bar of `total` steps, none done.
    pub fn new(total: usize) -> Progress {
        let is_visible = std::io::stderr().is_terminal();
        Progress { total, began: Instant::now(), shown: None, is_visible }
    }

    /// Shows `done` steps, with a note.
    pub fn show(&mut self, done: usize, note: impl FnOnce() -> String) {
        let due = self.shown.map_or(self.began + QUIET, |shown| shown + FRAME);
        if !self.is_visible || Instant::now() < due {
            return;
        }
        self.shown = Some(Instant::now());
        let text = bar(done, self.total, &note());
        // Ignore write errors: the bar is optional.
        let _ = write!(std::io::stderr(), "\r\x1b[2K{text}");
        let _ = std::io::stderr().flush();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[2K");
        }
    }
}

fn bar(done: usize, total: usize, note: &str) -> String {
    let filled = (WIDTH * done).checked_div(total).unwrap_or(WIDTH).min(WIDTH);
    format!("[{}{}] {done}/{total} {note}", "█".repeat(filled), "░".repeat(WIDTH - filled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert_eq!(bar(0, 10, ""), format!("[{}] 0/10 ", "░".repeat(30)));
        assert_eq!(bar(10, 10, "done"), format!("[{}] 10/10 done", "█".repeat(30)));
        assert_eq!(bar(0, 0, ""), format!("[{}] 0/0 ", "█".repeat(30)));
    }
}
