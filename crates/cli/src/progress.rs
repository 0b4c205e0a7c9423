//! A bar that shows how far a command is, on standard error, if a person looks at it.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Short commands show nothing.
const QUIET: Duration = Duration::from_millis(500);

/// The least time between two pictures.
const FRAME: Duration = Duration::from_millis(50);

/// Characters of the bar.
const WIDTH: usize = 30;

/// Shows how many of some steps are done.
pub struct Progress {
    total: usize,
    began: Instant,
    shown: Option<Instant>,
    is_visible: bool,
}

impl Progress {
    /// None of so many.
    pub fn new(total: usize) -> Progress {
        let is_visible = std::io::stderr().is_terminal();
        Progress { total, began: Instant::now(), shown: None, is_visible }
    }

    /// So many are done; `note` says more.
    pub fn show(&mut self, done: usize, note: impl FnOnce() -> String) {
        let due = self.shown.map_or(self.began + QUIET, |shown| shown + FRAME);
        if !self.is_visible || Instant::now() < due {
            return;
        }
        self.shown = Some(Instant::now());
        let text = bar(done, self.total, &note());
        // If nobody can see it, nobody misses it.
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
