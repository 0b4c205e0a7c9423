//! Threads that are there when there is something to copy, and for a while after.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A thread that has nothing to do for so long ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// What one of the threads does.
type Job = Box<dyn FnOnce() + Send>;

/// The threads of a device. Starting one takes as long as copying a megabyte, so they are kept.
#[derive(Default)]
pub(crate) struct CopyThreads {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// How many threads wait for one.
    idle: usize,
}

impl CopyThreads {
    /// Has a thread do this: one that is idle, or a new one, so that no job waits for another. If there can be no
    /// new one, it is done here.
    pub fn spawn(self: &Arc<CopyThreads>, job: Job) {
        {
            let mut state = self.state.lock();
            state.jobs.push_back(job);
            if state.jobs.len() <= state.idle {
                self.arrived.notify_one();
                return;
            }
        }
        let crew = self.clone();
        let thread = std::thread::Builder::new().name("inflight-upload".to_owned());
        if thread.spawn(move || crew.serve()).is_err()
            && let Some(job) = self.take()
        {
            job();
        }
    }

    fn take(&self) -> Option<Job> {
        self.state.lock().jobs.pop_front()
    }

    fn serve(&self) {
        loop {
            while let Some(job) = self.take() {
                job();
            }
            let mut state = self.state.lock();
            if !state.jobs.is_empty() {
                continue;
            }
            state.idle += 1;
            self.arrived.wait_for(&mut state, PATIENCE);
            state.idle -= 1;
            if state.jobs.is_empty() {
                return;
            }
        }
    }
}

/// Tells when all who take part in something have left it.
#[derive(Default)]
pub(crate) struct Latch {
    state: Mutex<Inside>,
    left: Condvar,
}

#[derive(Default)]
struct Inside {
    is_closed: bool,
    count: usize,
}

impl Latch {
    /// Takes part, until what is returned is dropped. `None` if it is too late.
    pub fn enter(&self) -> Option<Entered<'_>> {
        let mut state = self.state.lock();
        if state.is_closed {
            return None;
        }
        state.count += 1;
        Some(Entered(self))
    }

    /// Lets nobody in any more, and waits until all have left.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        while state.count > 0 {
            self.left.wait(&mut state);
        }
    }
}

/// Somebody who takes part.
pub(crate) struct Entered<'a>(&'a Latch);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.state.lock().count -= 1;
        self.0.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn jobs_run_beside_each_other() {
        let crew = Arc::new(CopyThreads::default());
        for _ in 0..3 {
            // Each of them waits for all others.
            let barrier = Arc::new(Barrier::new(5));
            for _ in 0..4 {
                let barrier = barrier.clone();
                crew.spawn(Box::new(move || _ = barrier.wait()));
            }
            barrier.wait();
        }
    }

    #[test]
    fn a_latch_closes_when_all_have_left() {
        let (crew, latch) = (Arc::new(CopyThreads::default()), Arc::new(Latch::default()));
        let (done, entered) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(5)));
        for _ in 0..4 {
            let (latch, done, barrier) = (latch.clone(), done.clone(), entered.clone());
            crew.spawn(Box::new(move || {
                let inside = latch.enter();
                barrier.wait();
                done.fetch_add(1, Ordering::SeqCst);
                drop(inside);
            }));
        }
        entered.wait();
        latch.close();
        assert_eq!(done.load(Ordering::SeqCst), 4);
        assert!(latch.enter().is_none());
    }
}
