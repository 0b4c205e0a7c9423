//! Copies from the host: through pinned memory, and if there is much to copy, piece by piece by several threads.

use super::finish::Done;
use super::{Core, Queue};
use crate::driver::check;
use crate::event::Point;
use crate::memory::Staged;
use cudarc::driver::sys;
use inflight_backend::{Buffer, Fault, FaultKind};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// An upload of up to this many bytes is copied where it is asked for.
const SMALL: usize = 256 << 10;

/// Larger ones are copied in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// There is a thread for each so many bytes: one alone is slower than the way to the device.
const BYTES_FOR_A_THREAD: usize = 8 << 20;

/// So many threads at most.
const MOST_THREADS: usize = 8;

/// Each of them has so many pieces under way at once, unless there are no more of them anyway.
const PIECES: usize = 8;

impl Core {
    /// Copies a small buffer; what is returned copies a large one.
    pub(super) fn upload(
        &self,
        queue: &mut Queue,
        source: Arc<Buffer>,
        target: Arc<Buffer>,
    ) -> Option<Upload> {
        if target.bytes() > SMALL {
            // What is put on the stream until the copy is done is the copy's alone.
            self.close(queue);
        }
        let placed = self.with_memory(queue, |queue| {
            source.readable()?;
            if target.memory().is_none() {
                let memory = self.shared.pool.allocate_for(Some(self.number), target.bytes())?;
                let _ = target.provide(memory);
            }
            target.readable()?.use_until(self.number, self.until(queue));
            Ok(())
        });
        let address = match placed.and_then(|()| Ok(target.readable()?.ptr() as u64)) {
            Ok(address) => address,
            Err(fault) => {
                target.fail(fault);
                return None;
            }
        };
        let upload = Upload { source, target, address };
        if upload.target.bytes() > SMALL {
            return Some(upload);
        }
        queue.open.extend(upload.copy(self));
        None
    }
}

/// A copy from the host that is to be done.
pub(super) struct Upload {
    source: Arc<Buffer>,
    target: Arc<Buffer>,
    address: u64,
}

impl Upload {
    /// Copies it all. Returns what must be kept until the copies are done.
    pub(super) fn copy(&self, core: &Core) -> Vec<Done> {
        match self.copy_pieces(core) {
            Ok(mut done) => {
                done.push(Done::Written(Arc::downgrade(&self.target)));
                done
            }
            Err(fault) => {
                self.target.fail(core.noted(fault));
                Vec::new()
            }
        }
    }

    fn copy_pieces(&self, core: &Core) -> Result<Vec<Done>, Fault> {
        let total = self.target.bytes().min(self.source.bytes());
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = (total / BYTES_FOR_A_THREAD).clamp(1, MOST_THREADS.min(cores.div_ceil(2)));
        let next = AtomicUsize::new(0);
        // If there is staged memory for all, nobody need know when a piece is done.
        let reuses = total > threads * PIECES * PIECE;
        let copied: Vec<_> = thread::scope(|scope| {
            // A thread that cannot be had is missed by nobody.
            let others: Vec<_> = (1..threads)
                .filter_map(|_| {
                    let named = thread::Builder::new().name("inflight-upload".to_owned());
                    named.spawn_scoped(scope, || self.copy_some(core, total, reuses, &next)).ok()
                })
                .collect();
            let own = self.copy_some(core, total, reuses, &next);
            let panicked = || {
                Err(Fault::from(FaultKind::Panicked("a thread that copies to the device".into())))
            };
            let join = |other: thread::ScopedJoinHandle<'_, _>| {
                other.join().unwrap_or_else(|_| panicked())
            };
            others.into_iter().map(join).chain([own]).collect()
        });
        let mut done = Vec::new();
        let mut first_fault = None;
        for (staged, fault) in copied.into_iter().map(|copied| match copied {
            Ok(staged) => (staged, None),
            Err(fault) => (Vec::new(), Some(fault)),
        }) {
            done.extend(staged.into_iter().map(|staged: Staged| Done::Release(Box::new(staged))));
            first_fault = first_fault.or(fault);
        }
        first_fault.map_or(Ok(done), Err)
    }

    /// Copies pieces, each of them the next that nobody has taken, until there are none left.
    fn copy_some(
        &self,
        core: &Core,
        total: usize,
        reuses: bool,
        next: &AtomicUsize,
    ) -> Result<Vec<Staged>, Fault> {
        core.shared.context.enter();
        let raw = core.raw()?;
        let source = self.source.readable()?;
        let mut under_way: VecDeque<(Staged, Option<Point>)> = VecDeque::new();
        loop {
            let start = next.fetch_add(1, Ordering::Relaxed) * PIECE;
            if start >= total {
                return Ok(under_way.into_iter().map(|(staged, _)| staged).collect());
            }
            let bytes = PIECE.min(total - start);
            let is_full = reuses && under_way.len() >= PIECES;
            let staged = match if is_full { under_way.pop_front() } else { None } {
                Some((staged, point)) => {
                    point.map_or(Ok(()), |point| point.wait())?;
                    staged
                }
                None => core.shared.staging.take(PIECE.min(total))?,
            };
            // SAFETY: the source has this many bytes, which nobody writes while this command runs, and the
            // staged block was either new or its copy is done.
            unsafe {
                std::ptr::copy_nonoverlapping(source.ptr().add(start), staged.ptr(), bytes);
            }
            // SAFETY: both places have this many bytes, and both are kept until the copy is done.
            let copy = unsafe {
                let to = self.address + start as u64;
                sys::cuMemcpyHtoDAsync_v2(to, staged.ptr().cast(), bytes, raw)
            };
            check(copy, "copying from the host")?;
            let point = if reuses { Some(core.shared.events.record(raw, true)?) } else { None };
            under_way.push_back((staged, point));
        }
    }
}
