//! The device's memory, and memory of the host that the device can copy from and to by itself.

use crate::driver::{Context, check, is_ending};
use cudarc::driver::sys;
use inflight_backend::{Fault, Pool};
use parking_lot::Mutex;
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
        if is_ending() {
            return;
        }
        releasing.enter();
        // SAFETY: the pool gives back what it was given, once. Work in flight may still use it: it is waited
        // for.
        unsafe {
            sys::cuCtxSynchronize();
            sys::cuMemFree_v2(ptr.as_ptr() as u64);
        }
    };
    // SAFETY: the driver gives memory of its own, aligned to 256 bytes, that any stream may use until it is
    // freed, which waits for work in flight.
    let pool = unsafe { Pool::new(context.memory(), allocate, release) };
    // Because it waits for all that the device does, nothing is freed before somebody asks for it or needs it.
    pool.set_cache_limit(Some(context.memory()));
    pool
}

/// Blocks of at most this many bytes in all are kept for later.
const MOST_STAGED: usize = 256 << 20;

/// Host memory that the device reads and writes by itself, kept for reuse.
pub struct Staging {
    context: Arc<Context>,
    free: Mutex<Free>,
}

#[derive(Default)]
struct Free {
    blocks: Vec<(usize, Address)>,
    bytes: usize,
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
        Arc::new(Staging { context: context.clone(), free: Mutex::default() })
    }

    /// A block of at least this many bytes.
    pub fn take(self: &Arc<Staging>, bytes: usize) -> Result<Staged, Fault> {
        let bytes = bytes.max(4096).next_power_of_two();
        {
            let mut free = self.free.lock();
            if let Some(position) = free.blocks.iter().rposition(|(size, _)| *size == bytes) {
                free.bytes -= bytes;
                let (_, Address(ptr)) = free.blocks.swap_remove(position);
                return Ok(Staged { staging: self.clone(), ptr, bytes });
            }
        }
        self.context.enter();
        let mut address = std::ptr::null_mut();
        // SAFETY: the place is there to be written.
        check(unsafe { sys::cuMemHostAlloc(&mut address, bytes, 0) }, "pinning host memory")?;
        let ptr = NonNull::new(address.cast::<u8>()).expect("an allocation has an address");
        Ok(Staged { staging: self.clone(), ptr, bytes })
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if is_ending() {
            return;
        }
        self.context.enter();
        for (_, Address(ptr)) in self.free.get_mut().blocks.drain(..) {
            // SAFETY: pinned by `take`, and nobody uses it.
            unsafe { sys::cuMemFreeHost(ptr.as_ptr().cast()) };
        }
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
        let mut free = self.staging.free.lock();
        if free.bytes + self.bytes <= MOST_STAGED {
            free.bytes += self.bytes;
            free.blocks.push((self.bytes, Address(self.ptr)));
            return;
        }
        drop(free);
        self.staging.context.enter();
        // SAFETY: pinned by `take`; whoever drops a block is done with it.
        unsafe { sys::cuMemFreeHost(self.ptr.as_ptr().cast()) };
    }
}
