//! Copies from the host: through pinned memory, and if there is much to copy, piece by piece by several threads.

use super::copy_threads::Latch;
use super::finish::Done;
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

/// An upload of up to this many bytes is copied where it is asked for.
const SMALL: usize = 256 << 10;

/// Larger ones are copied in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// There is a thread for each so many bytes: one alone is slower than the way to the device.
const BYTES_FOR_A_THREAD: usize = 8 << 20;

/// So many threads at most.
const MOST_THREADS: usize = 8;

/// Of a larger upload, pieces of so many bytes in all are under way at once.
const MOST_UNDER_WAY: usize = 128 << 20;

impl Core {
    /// Copies a small buffer; what is returned copies a large one, or waits for room.
    pub(super) fn upload(
        &self,
        queue: &mut Queue,
        source: &Arc<Buffer>,
        target: &Arc<Buffer>,
    ) -> Result<Option<Upload>, EnqueueError> {
        let is_large = target.bytes() > SMALL || self.shared.staging.is_full();
        if is_large {
            // What is put on the stream until the copy is done is the copy's alone.
            self.close(queue);
        }
        source.readable()?;
        // A device that is lost says so, and not that its memory is full.
        self.raw()?;
        if target.memory().is_none() {
            let memory = self.shared.pool.allocate_for(Some(self.number), target.bytes())?;
            let _ = target.provide(memory);
        }
        let memory = target.readable()?;
        memory.use_until(self.number, &self.until(queue));
        let address = memory.ptr() as u64;
        let upload = Upload { source: source.clone(), target: target.clone(), address };
        if is_large {
            return Ok(Some(upload));
        }
        queue.open.extend(upload.copy(self));
        Ok(None)
    }
}

/// A copy from the host that is to be done.
pub(super) struct Upload {
    source: Arc<Buffer>,
    target: Arc<Buffer>,
    address: u64,
}

impl Upload {
    /// Copies it all on this thread. Returns what must be kept until the copies are done.
    pub(super) fn copy(&self, core: &Core) -> Vec<Done> {
        let pieces = Pieces::new(self.bytes(), 1);
        self.done(Box::new(self.blocks(core, [self.copy_some(core, &pieces)])))
    }

    /// Copies it all, with the help of other threads, as soon as there is room. None of them has anything of it any more in
    /// the end.
    pub(super) fn copy_shared(self: &Arc<Upload>, core: &Arc<Core>) -> Vec<Done> {
        // If the device is lost, the calls that follow say so.
        let _ = core.shared.staging.make_room();
        let total = self.bytes();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (total / BYTES_FOR_A_THREAD).clamp(1, MOST_THREADS.min(cores.div_ceil(2)));
        let shared = Arc::new(Sharing {
            upload: self.clone(),
            core: core.clone(),
            pieces: Pieces::new(total, threads),
            copied: Mutex::default(),
        });
        let latch = Arc::new(Latch::default());
        for _ in 1..threads {
            let (shared, latch) = (Arc::downgrade(&shared), latch.clone());
            core.shared.copy_threads.spawn(Box::new(move || {
                // Whoever comes too late holds nothing.
                let Some(_inside) = latch.enter() else { return };
                if let Some(shared) = shared.upgrade() {
                    shared.copy_some();
                }
            }));
        }
        shared.copy_some();
        latch.close();
        let copied = std::mem::take(&mut *shared.copied.lock());
        let blocks = self.blocks(core, copied);
        let _inside = enter();
        let point = core.raw().and_then(|raw| {
            let _entered = core.shared.context.enter();
            core.shared.events.record(raw)
        });
        match point {
            Ok(point) => self.done(Box::new(core.shared.staging.track_upload(blocks, point))),
            // Why there is none shows when the batch is closed.
            Err(_) => self.done(Box::new(blocks)),
        }
    }

    /// What is to be done when the copies are, of which this must be kept until then.
    fn done(&self, kept: Box<dyn Any + Send>) -> Vec<Done> {
        vec![Done::Release(kept), Done::Written(Arc::downgrade(&self.target))]
    }

    fn bytes(&self) -> usize {
        self.target.bytes().min(self.source.bytes())
    }

    /// What must be kept until what threads have copied is there. If one of them failed, so does the upload.
    fn blocks(&self, core: &Core, copied: impl IntoIterator<Item = Copied>) -> Vec<StagingBuffer> {
        let mut blocks = Vec::new();
        for (under_way, outcome) in copied {
            blocks.extend(under_way.into_iter().map(|(staged, _)| staged));
            if let Err(fault) = outcome {
                self.target.fail(core.noted(fault));
            }
        }
        blocks
    }

    /// Copies pieces, each of them the next that nobody has taken, until there are none left.
    fn copy_some(&self, core: &Core, pieces: &Pieces) -> Copied {
        let mut under_way = VecDeque::new();
        let copy = || self.copy_into(core, pieces, &mut under_way);
        // What is under way when a thread panics is kept as well.
        let outcome = catch_unwind(AssertUnwindSafe(copy)).unwrap_or_else(|_| {
            Err(FaultKind::Panicked("a thread that copies to the device".into()).into())
        });
        (under_way, outcome)
    }

    fn copy_into(
        &self,
        core: &Core,
        pieces: &Pieces,
        under_way: &mut UnderWay,
    ) -> Result<(), Fault> {
        let _inside = enter();
        let _entered = core.shared.context.enter();
        let raw = core.raw()?;
        let source = self.source.readable()?;
        while let Some((start, bytes)) = pieces.next() {
            let is_full = under_way.len() >= pieces.under_way;
            if let Some((_, Some(point))) = under_way.front().filter(|_| is_full) {
                point.wait(PollInterval::Coarse)?;
            }
            let staged = match if is_full { under_way.pop_front() } else { None } {
                Some((staged, _)) => staged,
                None => core.shared.staging.take_for_upload(PIECE.min(pieces.total))?,
            };
            // SAFETY: the source has this many bytes, which nobody writes while this command runs, and the
            // staged block was either new or its copy is done.
            unsafe { copy_past_caches(source.ptr().add(start), staged.ptr(), bytes) };
            // SAFETY: both places have this many bytes, and both are kept until the copy is done.
            let copy = unsafe {
                let to = self.address + start as u64;
                sys::cuMemcpyHtoDAsync_v2(to, staged.ptr().cast(), bytes, raw)
            };
            check(copy, "copying from the host")?;
            under_way.push_back((staged, None));
            if pieces.reuses {
                let point = core.shared.events.record(raw)?;
                under_way.back_mut().expect("it was pushed").1 = Some(point);
            }
        }
        Ok(())
    }
}

/// Pieces that are being copied, the first first, and where their copies are done, if that is known.
type UnderWay = VecDeque<(StagingBuffer, Option<RecordedEvent>)>;

/// What a thread has under way, and whether all went well: what is under way is kept either way.
type Copied = (UnderWay, Result<(), Fault>);

/// Pieces of an upload, which threads take one after another. The first that each of them takes are small, so that the
/// way to the device is in use early; each piece costs it two microseconds, so that the others are not.
struct Pieces {
    total: usize,
    threads: usize,
    taken: AtomicUsize,
    /// So many a thread has under way at most.
    under_way: usize,
    /// Whether staged memory is used again meanwhile. If there is enough for all, nobody need know when a piece is
    /// there.
    reuses: bool,
}

impl Pieces {
    fn new(total: usize, threads: usize) -> Pieces {
        let under_way = (MOST_UNDER_WAY / PIECE / threads).max(1);
        let reuses = total > MOST_UNDER_WAY;
        let under_way = if reuses { under_way } else { usize::MAX };
        Pieces { total, threads, taken: AtomicUsize::new(0), under_way, reuses }
    }

    /// Where the next begins, and its bytes.
    fn next(&self) -> Option<(usize, usize)> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        let (start, bytes) = match number / self.threads {
            0 => (number * (PIECE / 4), PIECE / 4),
            1 => (self.threads * (PIECE / 4) + (number - self.threads) * (PIECE / 2), PIECE / 2),
            _ => {
                let others = number - 2 * self.threads;
                (self.threads * (PIECE / 4 + PIECE / 2) + others * PIECE, PIECE)
            }
        };
        (start < self.total).then(|| (start, bytes.min(self.total - start)))
    }
}

/// An upload that several threads share.
struct Sharing {
    upload: Arc<Upload>,
    core: Arc<Core>,
    pieces: Pieces,
    /// What each of them has copied.
    copied: Mutex<Vec<Copied>>,
}

impl Sharing {
    fn copy_some(&self) {
        let copied = self.upload.copy_some(&self.core, &self.pieces);
        self.copied.lock().push(copied);
    }
}

/// Copies what nobody on this side will look at again: it need not be in a cache, and the place that it goes to
/// need not be read first. That is twice as fast.
///
/// # Safety
/// Both places must have this many bytes, and must not overlap.
unsafe fn copy_past_caches(from: *const u8, to: *mut u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    if bytes >= SMALL && to.addr().is_multiple_of(16) {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const LINE: usize = 64;
        const PAGE: usize = 4096;
        // What a processor fetches ahead ends with a page: from several at once, it has more under way.
        const PAGES: usize = 4;
        let parts = bytes / (PAGES * PAGE);
        // SAFETY: promised by the caller; every x86-64 has these instructions, and the place is aligned to 16 bytes.
        // After the fence, all stores are seen by whoever is told of them.
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
    fn all_bytes_are_copied_and_no_others() {
        for bytes in [0, 1, 63, 4096, SMALL, SMALL + 1, SMALL + 63, SMALL + 16384, SMALL + 20100] {
            for shift in [0, 1, 16] {
                let from: Vec<u8> = (0..bytes + 1).map(|i| (i * 31 % 251) as u8).collect();
                let mut to = vec![0xee; bytes + 64];
                // SAFETY: both places have this many bytes.
                unsafe {
                    copy_past_caches(from.as_ptr().add(1), to.as_mut_ptr().add(shift), bytes)
                };
                assert_eq!(to[shift..shift + bytes], from[1..]);
                let others = to[..shift].iter().chain(&to[shift + bytes..]);
                assert!(others.into_iter().all(|&byte| byte == 0xee));
            }
        }
    }

    #[test]
    fn every_piece_is_taken_once() {
        for (total, threads) in [(5 * PIECE + 7, 2), (3, 1), (PIECE / 2, 3), (9 * PIECE, 8)] {
            let pieces = Pieces::new(total, threads);
            let taken: Vec<(usize, usize)> = std::iter::from_fn(|| pieces.next()).collect();
            assert_eq!(taken.iter().map(|(_, bytes)| bytes).sum::<usize>(), total);
            assert!(taken.windows(2).all(|two| two[0].0 + two[0].1 == two[1].0));
            assert!(taken.iter().all(|(_, bytes)| (1..=PIECE).contains(bytes)));
            assert!(taken.iter().take(threads).all(|(_, bytes)| *bytes <= PIECE / 4));
        }
        assert!(!Pieces::new(PIECE, 2).reuses && Pieces::new(MOST_UNDER_WAY + 1, 2).reuses);
    }
}
