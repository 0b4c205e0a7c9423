//! The device's memory, and memory of the host that the device can copy from and to by itself.

use crate::driver::{Context, check, enter};
use crate::event::{Point, Watch};
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
        // SAFETY: the place is there to be written.
        match unsafe { sys::cuMemAlloc_v2(&mut address, bytes) } {
            sys::CUresult::CUDA_SUCCESS => NonNull::new(address as *mut u8),
            _ => None,
        }
    };
    let release = move |ptr: NonNull<u8>, _: usize| {
        let Some(_inside) = enter() else { return };
        let _entered = releasing.enter();
        // A failure shows in the calls that follow.
        let _ = releasing.synchronize();
        // SAFETY: the pool gives back what it was given, once. Work in flight may still have used it: it was
        // waited for.
        unsafe { sys::cuMemFree_v2(ptr.as_ptr() as u64) };
    };
    // SAFETY: the driver gives memory of its own, aligned to 256 bytes, that any stream may use until it is
    // freed, which waits for work in flight.
    let pool = unsafe { Pool::new(context.memory(), allocate, release) };
    // Because it waits for all that the device does, nothing is freed before somebody asks for it or needs it, and
    // then by a thread that may wait.
    pool.set_cache_limit(Some(context.memory()));
    pool.disable_implicit_trim();
    pool
}

/// Blocks of at most this many bytes in all are kept for later, and where uploads have more, those that come wait for those
/// before them: the host may copy faster than the device does, or the device has other things to do first.
const MOST_STAGED: usize = 256 << 20;

/// Host memory that the device reads and writes by itself, kept for reuse.
pub struct Staging {
    context: Arc<Context>,
    free: Mutex<Shelf<Address>>,
    /// Bytes that uploads have.
    uploaded: AtomicUsize,
    /// Which of them are on their way.
    loads: Mutex<Loads<Point, Staged>>,
}

/// Blocks of uploads that are on their way to the device, those of the first first, and the points where they are there.
struct Loads<P, B>(VecDeque<(P, Arc<Mutex<Vec<B>>>)>);

/// Blocks that the device needs until a point. Dropping it, when that is reached, gives them back.
pub struct Landing<B>(Arc<Mutex<Vec<B>>>);

impl<P, B> Loads<P, B> {
    /// Notes blocks, and forgets those that were given back.
    fn push(&mut self, point: P, blocks: Vec<B>) -> Landing<B> {
        let blocks = Arc::new(Mutex::new(blocks));
        while self.0.front().is_some_and(|(_, blocks)| blocks.lock().is_empty()) {
            self.0.pop_front();
        }
        self.0.push_back((point, blocks.clone()));
        Landing(blocks)
    }
}

impl<B> Drop for Landing<B> {
    fn drop(&mut self) {
        // They go when nobody has the lock any more.
        let _blocks = std::mem::take(&mut *self.0.lock());
    }
}

/// Blocks that nobody uses, those that came back last at the end.
struct Shelf<T> {
    blocks: VecDeque<(usize, T)>,
    bytes: usize,
    /// The most that `bytes` may be.
    most: usize,
}

impl<T> Shelf<T> {
    fn new(most: usize) -> Shelf<T> {
        Shelf { blocks: VecDeque::new(), bytes: 0, most }
    }

    /// The block of exactly this size that came back last.
    fn take(&mut self, bytes: usize) -> Option<T> {
        let position = self.blocks.iter().rposition(|(size, _)| *size == bytes)?;
        let (size, block) = self.blocks.remove(position)?;
        self.bytes -= size;
        Some(block)
    }

    /// Keeps a block. Returns those for which there is no room any more: of sizes that nobody has asked for lately.
    fn put(&mut self, bytes: usize, block: T) -> Vec<T> {
        self.blocks.push_back((bytes, block));
        self.bytes += bytes;
        let mut without_room = Vec::new();
        while self.bytes > self.most
            && let Some((size, block)) = self.blocks.pop_front()
        {
            self.bytes -= size;
            without_room.push(block);
        }
        without_room
    }
}

/// The bytes of a block that is to have so many: few sizes, so that blocks are used again, and a quarter too much at most.
fn class(bytes: usize) -> usize {
    let step = (bytes.next_power_of_two() / 8).max(4096);
    bytes.max(1).next_multiple_of(step)
}

struct Address(NonNull<u8>);

// SAFETY: the address of memory that nobody uses.
unsafe impl Send for Address {}

/// A block of such memory. Dropping it gives it back.
pub struct Staged {
    staging: Arc<Staging>,
    ptr: NonNull<u8>,
    bytes: usize,
    is_upload: bool,
}

// SAFETY: a block has one owner, and its memory belongs to no thread.
unsafe impl Send for Staged {}
// SAFETY: through a shared block only its address can be had.
unsafe impl Sync for Staged {}

impl Staging {
    pub fn new(context: &Arc<Context>) -> Arc<Staging> {
        Arc::new(Staging {
            context: context.clone(),
            free: Mutex::new(Shelf::new(MOST_STAGED)),
            uploaded: AtomicUsize::new(0),
            loads: Mutex::new(Loads(VecDeque::new())),
        })
    }

    /// Whether uploads have so much that who wants to upload must wait.
    pub fn is_full(&self) -> bool {
        self.uploaded.load(Ordering::Relaxed) > MOST_STAGED
    }

    /// Waits, if it is full, until uploads of before are there. Those are all with the driver already, so that they need
    /// nobody of this side.
    pub fn make_room(&self) -> Result<(), Fault> {
        while self.is_full() {
            let Some((point, blocks)) = self.loads.lock().0.pop_front() else { break };
            let _entered = self.context.enter();
            point.wait(Watch::Loosely)?;
            drop(Landing(blocks));
        }
        Ok(())
    }

    /// Notes blocks that the device needs until a point.
    pub fn land(&self, blocks: Vec<Staged>, point: Point) -> Landing<Staged> {
        self.loads.lock().push(point, blocks)
    }

    /// A block of at least this many bytes.
    pub fn take(self: &Arc<Staging>, bytes: usize) -> Result<Staged, Fault> {
        let bytes = class(bytes);
        let known = self.free.lock().take(bytes);
        let ptr = match known {
            Some(Address(ptr)) => ptr,
            None => self.pin(bytes)?,
        };
        Ok(Staged { staging: self.clone(), ptr, bytes, is_upload: false })
    }

    /// The same, for an upload.
    pub fn take_for_upload(self: &Arc<Staging>, bytes: usize) -> Result<Staged, Fault> {
        let mut staged = self.take(bytes)?;
        staged.is_upload = true;
        self.uploaded.fetch_add(staged.bytes, Ordering::Relaxed);
        Ok(staged)
    }

    fn pin(&self, bytes: usize) -> Result<NonNull<u8>, Fault> {
        let _entered = self.context.enter();
        let mut address = std::ptr::null_mut();
        // SAFETY: the place is there to be written.
        check(unsafe { sys::cuMemHostAlloc(&mut address, bytes, 0) }, "pinning host memory")?;
        Ok(NonNull::new(address.cast::<u8>()).expect("an allocation has an address"))
    }

    /// Gives blocks back to the system.
    ///
    /// # Safety
    /// Nobody may use them.
    unsafe fn release(&self, blocks: impl IntoIterator<Item = Address>) {
        let Some(_inside) = enter() else { return };
        let _entered = self.context.enter();
        for Address(ptr) in blocks {
            // SAFETY: pinned by `take`, and, as the caller promises, nobody uses it.
            unsafe { sys::cuMemFreeHost(ptr.as_ptr().cast()) };
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let blocks = std::mem::take(&mut self.free.get_mut().blocks);
        // SAFETY: the shelf has what nobody uses.
        unsafe { self.release(blocks.into_iter().map(|(_, block)| block)) };
    }
}

impl Staged {
    /// Its address.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_upload {
            self.staging.uploaded.fetch_sub(self.bytes, Ordering::Relaxed);
        }
        let without_room = self.staging.free.lock().put(self.bytes, Address(self.ptr));
        if !without_room.is_empty() {
            // SAFETY: the shelf has what nobody uses; whoever drops a block is done with it.
            unsafe { self.staging.release(without_room) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_nobody_asks_for_make_room_for_those_that_somebody_does() {
        let mut shelf = Shelf::new(100);
        assert_eq!(shelf.take(8), None);
        assert!(shelf.put(60, "old").is_empty());
        assert!(shelf.put(20, "first").is_empty());
        assert!(shelf.put(20, "last").is_empty());
        assert_eq!(shelf.take(20), Some("last"));
        assert_eq!(shelf.put(40, "new"), ["old"]);
        assert_eq!(
            (shelf.take(60), shelf.take(20), shelf.take(40)),
            (None, Some("first"), Some("new"))
        );
        assert_eq!(shelf.bytes, 0);
        assert_eq!(shelf.put(101, "too large"), ["too large"]);
        assert_eq!(shelf.bytes, 0);
    }

    #[test]
    fn blocks_have_few_sizes_and_little_too_much() {
        assert_eq!([0, 1, 4096, 4097].map(class), [4096, 4096, 4096, 8192]);
        assert_eq!([1 << 20, 320 << 20].map(class), [1 << 20, 320 << 20]);
        for bytes in (1 << 16..1 << 22).step_by(4321) {
            assert!((bytes..=bytes + bytes / 4).contains(&class(bytes)), "{bytes}");
        }
        let classes: std::collections::HashSet<usize> =
            (1 << 20..1 << 21).step_by(1000).map(class).collect();
        assert!(classes.len() <= 9, "{classes:?}");
    }

    #[test]
    fn uploads_are_given_back_once_by_who_sees_them_land_first() {
        let mut loads = Loads(VecDeque::new());
        let block = Arc::new(());
        let of = |count: usize| vec![block.clone(); count];
        let [first, second] = [1, 2].map(|number| loads.push(number, of(2)));
        let (point, blocks) = loads.0.pop_front().expect("the first");
        assert_eq!((point, Arc::strong_count(&block)), (1, 5));
        drop(Landing(blocks));
        assert_eq!(Arc::strong_count(&block), 3);
        drop(first);
        assert_eq!(Arc::strong_count(&block), 3);
        drop(second);
        assert_eq!(Arc::strong_count(&block), 1);
        // What has landed is not kept for somebody to wait for.
        let third = loads.push(3, of(1));
        assert_eq!(loads.0.len(), 1);
        drop(loads);
        drop(third);
        assert_eq!(Arc::strong_count(&block), 1);
    }
}
