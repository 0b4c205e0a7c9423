//! Device memory (the pool's allocator) and pinned host memory (staging buffers for uploads and reads).

use crate::driver::{Context, check, enter};
use crate::event::{PollInterval, RecordedEvent};
use cudarc::driver::sys;
use inflight_backend::{Fault, Pool};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A pool over a device's memory.
pub fn pool(context: &Arc<Context>) -> Arc<Pool> {
    let (allocating, releasing) = (context.clone(), context.clone());
    let allocate = move |bytes: usize| {
        let _entered = allocating.enter();
        let mut address = 0;
        // SAFETY: the pointer is valid for a write.
        match unsafe { sys::cuMemAlloc_v2(&mut address, bytes) } {
            sys::CUresult::CUDA_SUCCESS => NonNull::new(address as *mut u8),
            _ => None,
        }
    };
    let release = move |ptr: NonNull<u8>, _: usize| {
        let Some(_guard) = enter() else { return };
        let _entered = releasing.enter();
        // An error here will show in the calls that follow.
        let _ = releasing.synchronize();
        // SAFETY: the pool frees each allocation once. Work in flight that uses it is done: the device was
        // synchronized.
        unsafe { sys::cuMemFree_v2(ptr.as_ptr() as u64) };
    };
    // SAFETY: allocations are distinct, aligned to 256 bytes, and usable from any stream until they are freed, which
    // synchronizes with work in flight.
    let pool = unsafe { Pool::new(context.memory(), allocate, release) };
    // Freeing synchronizes the device. So the pool frees nothing until memory is short or the user trims it, and then
    // on a thread that may block.
    pool.set_cache_limit(Some(context.memory()));
    pool.disable_implicit_trim();
    pool
}

/// The limit of cached free blocks, and of blocks that uploads in flight hold: beyond it, further uploads wait, as the
/// host may copy faster than the device, or the device may be busy.
const MAX_STAGED_BYTES: usize = 256 << 20;

/// A pool of pinned host memory.
pub struct StagingPool {
    context: Arc<Context>,
    free: Mutex<FreeList<Address>>,
    /// Bytes of the blocks that uploads hold.
    upload_bytes: AtomicUsize,
    /// The uploads in flight.
    uploads: Mutex<InFlightUploads<RecordedEvent, StagingBuffer>>,
}

/// Uploads in flight, oldest first: the event at which each is complete, and its staging blocks.
struct InFlightUploads<P, B>(VecDeque<(P, Arc<Mutex<Vec<B>>>)>);

/// Staging blocks that the device reads until an event. Drop it when the event is reached: that returns the blocks to
/// the pool.
pub struct InFlightBlocks<B>(Arc<Mutex<Vec<B>>>);

impl<P, B> InFlightUploads<P, B> {
    /// Tracks blocks until an event, and removes leading uploads whose blocks were returned.
    fn push(&mut self, event: P, blocks: Vec<B>) -> InFlightBlocks<B> {
        let blocks = Arc::new(Mutex::new(blocks));
        while self.0.front().is_some_and(|(_, blocks)| blocks.lock().is_empty()) {
            self.0.pop_front();
        }
        self.0.push_back((event, blocks.clone()));
        InFlightBlocks(blocks)
    }
}

impl<B> Drop for InFlightBlocks<B> {
    fn drop(&mut self) {
        // Taken first, so that they are dropped after the lock is released.
        let _blocks = std::mem::take(&mut *self.0.lock());
    }
}

/// Free blocks, the most recently returned one last.
struct FreeList<T> {
    blocks: VecDeque<(usize, T)>,
    bytes: usize,
    /// The limit of `bytes`.
    limit: usize,
}

impl<T> FreeList<T> {
    fn new(limit: usize) -> FreeList<T> {
        FreeList { blocks: VecDeque::new(), bytes: 0, limit }
    }

    /// Takes the most recently returned block of exactly this size.
    fn take(&mut self, bytes: usize) -> Option<T> {
        let position = self.blocks.iter().rposition(|(size, _)| *size == bytes)?;
        let (size, block) = self.blocks.remove(position)?;
        self.bytes -= size;
        Some(block)
    }

    /// Returns a block to the list. Evicts and returns the least recently returned blocks beyond the limit.
    fn put(&mut self, bytes: usize, block: T) -> Vec<T> {
        self.blocks.push_back((bytes, block));
        self.bytes += bytes;
        let mut evicted = Vec::new();
        while self.bytes > self.limit
            && let Some((size, block)) = self.blocks.pop_front()
        {
            self.bytes -= size;
            evicted.push(block);
        }
        evicted
    }
}

/// The size class of an allocation: few classes, so that blocks are reused, with at most a quarter of overhead.
fn size_class(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 8).max(4096);
    bytes.max(1).next_multiple_of(step)
}

struct Address(NonNull<u8>);

// SAFETY: the address of a free block, which no other thread accesses.
unsafe impl Send for Address {}

/// A block of pinned host memory. Dropping it returns it to the pool.
pub struct StagingBuffer {
    pool: Arc<StagingPool>,
    ptr: NonNull<u8>,
    bytes: usize,
    is_upload: bool,
}

// SAFETY: a block has one owner, and its memory is not bound to a thread.
unsafe impl Send for StagingBuffer {}
// SAFETY: a shared reference gives access to the address only.
unsafe impl Sync for StagingBuffer {}

impl StagingPool {
    pub fn new(context: &Arc<Context>) -> Arc<StagingPool> {
        Arc::new(StagingPool {
            context: context.clone(),
            free: Mutex::new(FreeList::new(MAX_STAGED_BYTES)),
            upload_bytes: AtomicUsize::new(0),
            uploads: Mutex::new(InFlightUploads(VecDeque::new())),
        })
    }

    /// Whether uploads in flight hold so much that further uploads must wait (back-pressure).
    pub fn is_full(&self) -> bool {
        self.upload_bytes.load(Ordering::Relaxed) > MAX_STAGED_BYTES
    }

    /// Waits, while the pool is full, for the oldest uploads. Those are enqueued with the driver already, so that the
    /// wait depends on no host thread.
    pub fn make_room(&self) -> Result<(), Fault> {
        while self.is_full() {
            let Some((event, blocks)) = self.uploads.lock().0.pop_front() else { break };
            let _entered = self.context.enter();
            event.wait(PollInterval::Coarse)?;
            drop(InFlightBlocks(blocks));
        }
        Ok(())
    }

    /// Tracks the blocks of an upload, which the device reads until an event.
    pub fn track_upload(
        &self,
        blocks: Vec<StagingBuffer>,
        event: RecordedEvent,
    ) -> InFlightBlocks<StagingBuffer> {
        self.uploads.lock().push(event, blocks)
    }

    /// A block of at least this many bytes.
    pub fn take(self: &Arc<StagingPool>, bytes: usize) -> Result<StagingBuffer, Fault> {
        let bytes = size_class(bytes);
        let free = self.free.lock().take(bytes);
        let ptr = match free {
            Some(Address(ptr)) => ptr,
            None => self.pin(bytes)?,
        };
        Ok(StagingBuffer { pool: self.clone(), ptr, bytes, is_upload: false })
    }

    /// A block of at least this many bytes that counts as held by an upload.
    pub fn take_for_upload(self: &Arc<StagingPool>, bytes: usize) -> Result<StagingBuffer, Fault> {
        let mut buffer = self.take(bytes)?;
        buffer.is_upload = true;
        self.upload_bytes.fetch_add(buffer.bytes, Ordering::Relaxed);
        Ok(buffer)
    }

    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, Fault> {
        let _entered = self.context.enter();
        let mut address = std::ptr::null_mut();
        // SAFETY: the pointer is valid for a write.
        check(unsafe { sys::cuMemHostAlloc(&mut address, bytes, 0) }, "pinning host memory")?;
        Ok(NonNull::new(address.cast::<u8>()).expect("an allocation has an address"))
    }

    /// Frees blocks.
    ///
    /// # Safety
    /// Neither host nor device may access them any more.
    unsafe fn release(&self, blocks: impl IntoIterator<Item = Address>) {
        let Some(_guard) = enter() else { return };
        let _entered = self.context.enter();
        for Address(ptr) in blocks {
            // SAFETY: allocated by `pin`, and free, as the caller guarantees.
            unsafe { sys::cuMemFreeHost(ptr.as_ptr().cast()) };
        }
    }
}

impl Drop for StagingPool {
    fn drop(&mut self) {
        let blocks = std::mem::take(&mut self.free.get_mut().blocks);
        // SAFETY: blocks on the free list are not in use.
        unsafe { self.release(blocks.into_iter().map(|(_, block)| block)) };
    }
}

impl StagingBuffer {
    /// The address of the block.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Drop for StagingBuffer {
    fn drop(&mut self) {
        if self.is_upload {
            self.pool.upload_bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
        let evicted = self.pool.free.lock().put(self.bytes, Address(self.ptr));
        if !evicted.is_empty() {
            // SAFETY: evicted blocks were on the free list. An owner drops a block only when the device is done with
            // it.
            unsafe { self.pool.release(evicted) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_list_evicts_least_recently_returned_blocks() {
        let mut list = FreeList::new(100);
        assert_eq!(list.take(8), None);
        assert!(list.put(60, "old").is_empty());
        assert!(list.put(20, "first").is_empty());
        assert!(list.put(20, "last").is_empty());
        assert_eq!(list.take(20), Some("last"));
        assert_eq!(list.put(40, "new"), ["old"]);
        assert_eq!(
            (list.take(60), list.take(20), list.take(40)),
            (None, Some("first"), Some("new"))
        );
        assert_eq!(list.bytes, 0);
        assert_eq!(list.put(101, "too large"), ["too large"]);
        assert_eq!(list.bytes, 0);
    }

    #[test]
    fn size_classes_are_few_and_have_little_overhead() {
        assert_eq!([0, 1, 4096, 4097].map(size_class), [4096, 4096, 4096, 8192]);
        assert_eq!([1 << 20, 320 << 20].map(size_class), [1 << 20, 320 << 20]);
        for bytes in (1 << 16..1 << 22).step_by(4321) {
            assert!((bytes..=bytes + bytes / 4).contains(&size_class(bytes)), "{bytes}");
        }
        let classes: std::collections::HashSet<usize> =
            (1 << 20..1 << 21).step_by(1000).map(size_class).collect();
        assert!(classes.len() <= 9, "{classes:?}");
    }

    #[test]
    fn upload_blocks_are_returned_once_by_the_first_observer() {
        let mut uploads = InFlightUploads(VecDeque::new());
        let block = Arc::new(());
        let of = |count: usize| vec![block.clone(); count];
        let [first, second] = [1, 2].map(|event| uploads.push(event, of(2)));
        let (event, blocks) = uploads.0.pop_front().expect("the first");
        assert_eq!((event, Arc::strong_count(&block)), (1, 5));
        drop(InFlightBlocks(blocks));
        assert_eq!(Arc::strong_count(&block), 3);
        drop(first);
        assert_eq!(Arc::strong_count(&block), 3);
        drop(second);
        assert_eq!(Arc::strong_count(&block), 1);
        // Completed uploads are removed when another one is tracked.
        let third = uploads.push(3, of(1));
        assert_eq!(uploads.0.len(), 1);
        drop(uploads);
        drop(third);
        assert_eq!(Arc::strong_count(&block), 1);
    }
}
