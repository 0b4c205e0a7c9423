//! The device's memory, and memory of the host that the device can copy from and to by itself.

use crate::driver::{Context, check, enter};
use cudarc::driver::sys;
use inflight_backend::{Fault, Pool};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

/// A pool over a device's memory.
pub fn pool(context: &Arc<Context>) -> Arc<Pool> {
    let (allocating, releasing) = (context.clone(), context.clone());
    let allocate = move |bytes: usize| {
        allocating.enter();
        let mut address = 0;
        // SAFETY: the place is there to be written.
        match unsafe { sys::cuMemAlloc_v2(&mut address, bytes) } {
            sys::CUresult::CUDA_SUCCESS => NonNull::new(address as *mut u8),
            _ => None,
        }
    };
    let release = move |ptr: NonNull<u8>, _: usize| {
        let Some(_inside) = enter() else { return };
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
    pool.leave_room_to_trim();
    pool
}

/// Blocks of at most this many bytes in all are kept for later.
const MOST_STAGED: usize = 256 << 20;

/// Host memory that the device reads and writes by itself, kept for reuse.
pub struct Staging {
    context: Arc<Context>,
    free: Mutex<Shelf<Address>>,
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

struct Address(NonNull<u8>);

// SAFETY: the address of memory that nobody uses.
unsafe impl Send for Address {}

/// A block of such memory. Dropping it gives it back.
pub struct Staged {
    staging: Arc<Staging>,
    ptr: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a block has one owner, and its memory belongs to no thread.
unsafe impl Send for Staged {}
// SAFETY: through a shared block only its address can be had.
unsafe impl Sync for Staged {}

impl Staging {
    pub fn new(context: &Arc<Context>) -> Arc<Staging> {
        let free = Mutex::new(Shelf::new(MOST_STAGED));
        Arc::new(Staging { context: context.clone(), free })
    }

    /// A block of at least this many bytes.
    pub fn take(self: &Arc<Staging>, bytes: usize) -> Result<Staged, Fault> {
        let bytes = bytes.max(4096).next_power_of_two();
        let known = self.free.lock().take(bytes);
        if let Some(Address(ptr)) = known {
            return Ok(Staged { staging: self.clone(), ptr, bytes });
        }
        self.context.enter();
        let mut address = std::ptr::null_mut();
        // SAFETY: the place is there to be written.
        check(unsafe { sys::cuMemHostAlloc(&mut address, bytes, 0) }, "pinning host memory")?;
        let ptr = NonNull::new(address.cast::<u8>()).expect("an allocation has an address");
        Ok(Staged { staging: self.clone(), ptr, bytes })
    }

    /// Gives blocks back to the system.
    ///
    /// # Safety
    /// Nobody may use them.
    unsafe fn release(&self, blocks: impl IntoIterator<Item = Address>) {
        let Some(_inside) = enter() else { return };
        self.context.enter();
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
}
