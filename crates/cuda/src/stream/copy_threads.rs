//! Copy threads for large uploads, started on demand and kept for a while.

use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// An idle copy thread exits after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

/// A job of a copy thread.
type Job = Box<dyn FnOnce() + Send>;

/// The copy threads of a device. They are kept because starting one takes as long as copying a megabyte.
#[derive(Default)]
pub(crate) struct CopyThreads {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    /// Threads that wait for a job.
    idle: usize,
}

impl CopyThreads {
    /// Runs a job on an idle thread or on a new one, so that no job waits for another. If no thread can be started,
    /// runs it on the caller's.
    pub fn spawn(self: &Arc<CopyThreads>, job: Job) {
        {
            let mut state = self.state.lock();
            state.jobs.push_back(job);
            if state.jobs.len() <= state.idle {
                self.arrived.notify_one();
                return;
            }
        }
        let threads = self.clone();
        let builder = std::thread::Builder::new().name("inflight-upload".to_owned());
        if builder.spawn(move || threads.run_jobs()).is_err()
            && let Some(job) = self.take()
        {
            job();
        }
    }

    fn take(&self) -> Option<Job> {
        self.state.lock().jobs.pop_front()
    }

    fn run_jobs(&self) {
        loop {
            while let Some(job) = self.take() {
                job();
            }
            let mut state = self.state.lock();
            if !state.jobs.is_empty() {
                continue;
            }
            state.idle += 1;
            self.arrived.wait_for(&mut state, IDLE_TIMEOUT);
            state.idle -= 1;
            if state.jobs.is_empty() {
                return;
            }
        }
    }
}

/// A latch that waits for all participants to leave and then admits no more.
#[derive(Default)]
pub(crate) struct ActivityLatch {
    state: Mutex<LatchState>,
    left: Condvar,
}

#[derive(Default)]
struct LatchState {
    is_closed: bool,
    count: usize,
}

impl ActivityLatch {
    /// Joins until the guard is dropped. `None` if the latch is closed.
    pub fn enter(&self) -> Option<LatchGuard<'_>> {
        let mut state = self.state.lock();
        if state.is_closed {
            return None;
        }
        state.count += 1;
        Some(LatchGuard(self))
    }

    /// Admits no more participants, and waits until all have left.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        while state.count > 0 {
            self.left.wait(&mut state);
        }
    }
}

/// A participant. Dropping it leaves the latch.
pub(crate) struct LatchGuard<'a>(&'a ActivityLatch);

impl Drop for LatchGuard<'_> {
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
    fn jobs_run_concurrently() {
        let threads = Arc::new(CopyThreads::default());
        for _ in 0..3 {
            // Each of them waits for all the others.
            let barrier = Arc::new(Barrier::new(5));
            for _ in 0..4 {
                let barrier = barrier.clone();
                threads.spawn(Box::new(move || _ = barrier.wait()));
            }
            barrier.wait();
        }
    }

    #[test]
    fn latch_closes_once_all_participants_have_left() {
        let (threads, latch) =
            (Arc::new(CopyThreads::default()), Arc::new(ActivityLatch::default()));
        let (done, entered) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(5)));
        for _ in 0..4 {
            let (latch, done, barrier) = (latch.clone(), done.clone(), entered.clone());
            threads.spawn(Box::new(move || {
                let guard = latch.enter();
                barrier.wait();
                done.fetch_add(1, Ordering::SeqCst);
                drop(guard);
            }));
        }
        entered.wait();
        latch.close();
        assert_eq!(done.load(Ordering::SeqCst), 4);
        assert!(latch.enter().is_none());
    }
}
