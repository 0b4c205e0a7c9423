//! Uploads through pinned staging memory: small ones inline, large ones in chunks copied by several threads.

use super::completion::Completion;
use super::copy_threads::ActivityLatch;
use super::{Core, Queue};
use crate::background::EnqueueError;
use crate::driver::{check, enter};
use crate::event::{PollInterval, RecordedEvent};
use crate::memory::StagingBuffer;
use cudarc::driver::sys;
use inflight_backend::{Buffer, Fault, FaultKind};
use parking_lot::Mutex;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Uploads of up to this many bytes are copied by the submitting thread.
const MAX_INLINE_BYTES: usize = 256 << 10;

/// Larger uploads are copied in chunks of this many bytes.
const CHUNK: usize = 1 << 20;

/// One copy thread per this many bytes: a single thread is slower than the host-to-device link.
const THREAD_BYTES: usize = 8 << 20;

/// Upper bound of copy threads.
const MAX_THREADS: usize = 8;

/// Bytes of a larger upload that are in flight at once.
const MAX_IN_FLIGHT_BYTES: usize = 128 << 20;

impl Core {
    /// Copies a small buffer. For a large one, or when the staging memory is full, the returned upload is to be run.
    pub(super) fn upload(
        &self,
        queue: &mut Queue,
        source: &Arc<Buffer>,
        target: &Arc<Buffer>,
    ) -> Result<Option<Upload>, EnqueueError> {
        let is_large = target.bytes() > MAX_INLINE_BYTES || self.shared.staging.is_full();
        if is_large {
            // What is submitted until the upload has shutdown_fault must belong to the upload alone.
            self.close_batch(queue);
        }
        source.readable()?;
        // Report a lost device as such, not as out of memory.
        self.raw()?;
        if target.memory().is_none() {
            let memory = self.shared.pool.allocate_for(Some(self.id), target.bytes())?;
            let _ = target.provide(memory);
        }
        let memory = target.readable()?;
        memory.use_until(self.id, &self.batch_event(queue));
        let address = memory.ptr() as u64;
        let upload = Upload { source: source.clone(), target: target.clone(), address };
        if is_large {
            return Ok(Some(upload));
        }
        queue.completions.extend(upload.copy(self));
        Ok(None)
    }
}

/// A pending upload.
pub(super) struct Upload {
    source: Arc<Buffer>,
    target: Arc<Buffer>,
    address: u64,
}

impl Upload {
    /// Copies everything on this thread. The completions retain the staging memory until the copies are done.
    pub(super) fn copy(&self, core: &Core) -> Vec<Completion> {
        let chunks = Chunks::new(self.bytes(), 1);
        self.completions(Box::new(self.staging_blocks(core, [self.copy_chunks(core, &chunks)])))
    }

    /// Copies everything, with the help of the copy threads, once there is staging memory. On return, no copy thread
    /// holds a reference to the upload.
    pub(super) fn copy_shared(self: &Arc<Upload>, core: &Arc<Core>) -> Vec<Completion> {
        // If the device is lost, the calls below report it.
        let _ = core.shared.staging.make_room();
        let total = self.bytes();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (total / THREAD_BYTES).clamp(1, MAX_THREADS.min(cores.div_ceil(2)));
        let shared = Arc::new(SharedUpload {
            upload: self.clone(),
            core: core.clone(),
            chunks: Chunks::new(total, threads),
            outcomes: Mutex::default(),
        });
        let latch = Arc::new(ActivityLatch::default());
        for _ in 1..threads {
            let (shared, latch) = (Arc::downgrade(&shared), latch.clone());
            core.shared.copy_threads.spawn(Box::new(move || {
                // A thread that comes too late holds nothing.
                let Some(_inside) = latch.enter() else { return };
                if let Some(shared) = shared.upgrade() {
                    shared.copy_chunks();
                }
            }));
        }
        shared.copy_chunks();
        latch.close();
        let outcomes = std::mem::take(&mut *shared.outcomes.lock());
        let staging_blocks = self.staging_blocks(core, outcomes);
        let _inside = enter();
        let point = core.raw().and_then(|raw| {
            let _entered = core.shared.context.enter();
            core.shared.events.record(raw)
        });
        match point {
            Ok(point) => {
                self.completions(Box::new(core.shared.staging.track_upload(staging_blocks, point)))
            }
            // Closing the batch reports why there is no point.
            Err(_) => self.completions(Box::new(staging_blocks)),
        }
    }

    /// The completions of the copies, which retain `staging` until then.
    fn completions(&self, staging: Box<dyn Any + Send>) -> Vec<Completion> {
        vec![Completion::Release(staging), Completion::Output(Arc::downgrade(&self.target))]
    }

    fn bytes(&self) -> usize {
        self.target.bytes().min(self.source.bytes())
    }

    /// The staging blocks to retain until the copies are done. If a thread failed, the upload fails.
    fn staging_blocks(
        &self,
        core: &Core,
        outcomes: impl IntoIterator<Item = CopyOutcome>,
    ) -> Vec<StagingBuffer> {
        let mut staging_blocks = Vec::new();
        for (in_flight, outcome) in outcomes {
            staging_blocks.extend(in_flight.into_iter().map(|(staged, _)| staged));
            if let Err(fault) = outcome {
                self.target.fail(core.record_fault(fault));
            }
        }
        staging_blocks
    }

    /// Copies chunks, each the next unclaimed one, until none is left.
    fn copy_chunks(&self, core: &Core, chunks: &Chunks) -> CopyOutcome {
        let mut in_flight = VecDeque::new();
        let copy = || self.copy_each(core, chunks, &mut in_flight);
        // The blocks in flight are retained even if the thread panics.
        let outcome = catch_unwind(AssertUnwindSafe(copy)).unwrap_or_else(|_| {
            Err(FaultKind::Panicked("a copy thread of an upload".into()).into())
        });
        (in_flight, outcome)
    }

    fn copy_each(
        &self,
        core: &Core,
        chunks: &Chunks,
        in_flight: &mut InFlightChunks,
    ) -> Result<(), Fault> {
        let _inside = enter();
        let _entered = core.shared.context.enter();
        let raw = core.raw()?;
        let source = self.source.readable()?;
        while let Some((start, bytes)) = chunks.next() {
            let is_full = in_flight.len() >= chunks.max_in_flight;
            if let Some((_, Some(point))) = in_flight.front().filter(|_| is_full) {
                point.wait(PollInterval::Coarse)?;
            }
            let staged = match if is_full { in_flight.pop_front() } else { None } {
                Some((staged, _)) => staged,
                None => core.shared.staging.take_for_upload(CHUNK.min(chunks.total))?,
            };
            // SAFETY: the source has this many bytes and is not written while this command runs. The staging block is
            // either new or its previous copy is done.
            unsafe { copy_non_temporal(source.ptr().add(start), staged.ptr(), bytes) };
            // SAFETY: both sides have this many bytes, and both are retained until the copy is done.
            let copy = unsafe {
                let to = self.address + start as u64;
                sys::cuMemcpyHtoDAsync_v2(to, staged.ptr().cast(), bytes, raw)
            };
            check(copy, "copying from the host")?;
            in_flight.push_back((staged, None));
            if chunks.reuses_staging {
                let point = core.shared.events.record(raw)?;
                in_flight.back_mut().expect("it was pushed").1 = Some(point);
            }
        }
        Ok(())
    }
}

/// Chunks in flight, oldest first, with the points behind their copies if those were recorded.
type InFlightChunks = VecDeque<(StagingBuffer, Option<RecordedEvent>)>;

/// The chunks a thread has in flight and its outcome. The chunks are retained in either case.
type CopyOutcome = (InFlightChunks, Result<(), Fault>);

/// The chunks of an upload, which threads claim one after another. The first two chunks of each thread are small, so
/// that the link is busy early; a chunk costs its thread two microseconds, so the others are not.
struct Chunks {
    total: usize,
    threads: usize,
    claimed: AtomicUsize,
    /// Upper bound of the chunks a thread has in flight.
    max_in_flight: usize,
    /// Whether staging blocks are reused during the upload. If there are enough for all chunks, no point is recorded
    /// behind a chunk.
    reuses_staging: bool,
}

impl Chunks {
    fn new(total: usize, threads: usize) -> Chunks {
        let max_in_flight = (MAX_IN_FLIGHT_BYTES / CHUNK / threads).max(1);
        let reuses_staging = total > MAX_IN_FLIGHT_BYTES;
        let max_in_flight = if reuses_staging { max_in_flight } else { usize::MAX };
        Chunks { total, threads, claimed: AtomicUsize::new(0), max_in_flight, reuses_staging }
    }

    /// The start and the bytes of the next chunk.
    fn next(&self) -> Option<(usize, usize)> {
        let index = self.claimed.fetch_add(1, Ordering::Relaxed);
        let (start, bytes) = match index / self.threads {
            0 => (index * (CHUNK / 4), CHUNK / 4),
            1 => (self.threads * (CHUNK / 4) + (index - self.threads) * (CHUNK / 2), CHUNK / 2),
            _ => {
                let others = index - 2 * self.threads;
                (self.threads * (CHUNK / 4 + CHUNK / 2) + others * CHUNK, CHUNK)
            }
        };
        (start < self.total).then(|| (start, bytes.min(self.total - start)))
    }
}

/// An upload shared by several threads.
struct SharedUpload {
    upload: Arc<Upload>,
    core: Arc<Core>,
    chunks: Chunks,
    /// The outcome of each thread.
    outcomes: Mutex<Vec<CopyOutcome>>,
}

impl SharedUpload {
    fn copy_chunks(&self) {
        let outcome = self.upload.copy_chunks(&self.core, &self.chunks);
        self.outcomes.lock().push(outcome);
    }
}

/// Copies bytes that the host will not read again with non-temporal stores: they bypass the caches, and the
/// destination lines are not read first. This is twice as fast.
///
/// # Safety
/// Both sides must have this many bytes, and must not overlap.
unsafe fn copy_non_temporal(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if bytes >= MAX_INLINE_BYTES && to.addr().is_multiple_of(16) {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const LINE: usize = 64;
        const PAGE: usize = 4096;
        // Hardware prefetching stops at page boundaries: reading several pages at once keeps more loads in flight.
        const PAGES: usize = 4;
        let parts = bytes / (PAGES * PAGE);
        // SAFETY: promised by the caller. Every x86-64 has these instructions, and the destination is aligned to 16
        // bytes. After the fence, the stores are visible to every thread that learns of the copy.
        unsafe {
            for (part, line) in (0..parts).flat_map(|part| (0..PAGE / LINE).map(move |l| (part, l)))
            {
                for page in 0..PAGES {
                    let at = (part * PAGES + page) * PAGE + line * LINE;
                    let (from, to) = (from.add(at).cast::<__m128i>(), to.add(at).cast::<__m128i>());
                    let line: [__m128i; 4] =
                        std::array::from_fn(|at| _mm_loadu_si128(from.add(at)));
                    line.iter()
                        .enumerate()
                        .for_each(|(at, part)| _mm_stream_si128(to.add(at), *part));
                }
            }
            _mm_sfence();
            let done = parts * PAGES * PAGE;
            std::ptr::copy_nonoverlapping(from.add(done), to.add(done), bytes - done);
        }
        return;
    }
    // SAFETY: promised by the caller.
    unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn non_temporal_copy_writes_all_bytes_and_no_others() {
        for bytes in [
            0,
            1,
            63,
            4096,
            MAX_INLINE_BYTES,
            MAX_INLINE_BYTES + 1,
            MAX_INLINE_BYTES + 63,
            MAX_INLINE_BYTES + 16384,
            MAX_INLINE_BYTES + 20100,
        ] {
            for shift in [0, 1, 16] {
                let from: Vec<u8> = (0..bytes + 1).map(|i| (i * 31 % 251) as u8).collect();
                let mut to = vec![0xee; bytes + 64];
                // SAFETY: both sides have this many bytes.
                unsafe {
                    copy_non_temporal(from.as_ptr().add(1), to.as_mut_ptr().add(shift), bytes)
                };
                assert_eq!(to[shift..shift + bytes], from[1..]);
                let others = to[..shift].iter().chain(&to[shift + bytes..]);
                assert!(others.into_iter().all(|&byte| byte == 0xee));
            }
        }
    }

    #[test]
    fn every_chunk_is_claimed_once() {
        for (total, threads) in [(5 * CHUNK + 7, 2), (3, 1), (CHUNK / 2, 3), (9 * CHUNK, 8)] {
            let chunks = Chunks::new(total, threads);
            let claimed: Vec<(usize, usize)> = std::iter::from_fn(|| chunks.next()).collect();
            assert_eq!(claimed.iter().map(|(_, bytes)| bytes).sum::<usize>(), total);
            assert!(claimed.windows(2).all(|two| two[0].0 + two[0].1 == two[1].0));
            assert!(claimed.iter().all(|(_, bytes)| (1..=CHUNK).contains(bytes)));
            assert!(claimed.iter().take(threads).all(|(_, bytes)| *bytes <= CHUNK / 4));
        }
        assert!(
            !Chunks::new(CHUNK, 2).reuses_staging
                && Chunks::new(MAX_IN_FLIGHT_BYTES + 1, 2).reuses_staging
        );
    }
}
