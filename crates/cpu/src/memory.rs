//! Where the pool's blocks come from: the system's allocator, and for large blocks whole huge pages.

use inflight_backend::Pool;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

/// A huge page. Blocks of at least this size are mapped on their own, aligned to it.
const HUGE_PAGE: usize = 2 << 20;

/// A cache line: the alignment of smaller blocks.
const LINE: usize = 64;

/// A pool over this machine's memory.
pub fn pool() -> Arc<Pool> {
    // SAFETY: both sources give memory of its own, writable from any thread until it is released, with
    // an alignment of 64 bytes at least; `release` chooses the source by the same rule as `allocate`.
    unsafe { Pool::new(capacity(), allocate, release) }
}

fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    if cfg!(target_os = "linux") && bytes >= HUGE_PAGE {
        return mapped::allocate(bytes);
    }
    let layout = Layout::from_size_align(bytes, LINE).ok()?;
    // SAFETY: the pool asks for no empty blocks.
    NonNull::new(unsafe { std::alloc::alloc(layout) })
}

fn release(ptr: NonNull<u8>, bytes: usize) {
    if cfg!(target_os = "linux") && bytes >= HUGE_PAGE {
        return mapped::release(ptr, bytes);
    }
    let layout = Layout::from_size_align(bytes, LINE).expect("it was valid for `allocate`");
    // SAFETY: the pool gives back a block of `allocate` with the size it asked for, once.
    unsafe { std::alloc::dealloc(ptr.as_ptr(), layout) }
}

/// Bytes of memory this process can have: the machine's, or less if its control group says so.
pub fn capacity() -> usize {
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(usize::MAX);
    group.min(physical())
}

#[cfg(unix)]
fn physical() -> usize {
    // SAFETY: `sysconf` has no requirements; it answers -1 to what it does not know.
    let (pages, page) =
        unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    match (usize::try_from(pages), usize::try_from(page)) {
        (Ok(pages), Ok(page)) => pages.saturating_mul(page),
        _ => usize::MAX,
    }
}

#[cfg(not(unix))]
fn physical() -> usize {
    usize::MAX
}

#[cfg(target_os = "linux")]
mod mapped {
    use super::HUGE_PAGE;
    use std::ptr::{NonNull, null_mut};

    /// Maps `bytes`, a multiple of the page size, at a huge page's boundary.
    pub fn allocate(bytes: usize) -> Option<NonNull<u8>> {
        let span = bytes.checked_add(HUGE_PAGE)?;
        // SAFETY: a new private mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(null_mut(), span, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = base.cast::<u8>();
        let before = base.align_offset(HUGE_PAGE);
        // SAFETY: both ends are in the mapping, outside of the block, and whole pages, since the mapping,
        // the block's start and its size are.
        unsafe {
            if before > 0 {
                libc::munmap(base.cast(), before);
            }
            if before < HUGE_PAGE {
                libc::munmap(base.add(before + bytes).cast(), HUGE_PAGE - before);
            }
        }
        let start = base.wrapping_add(before);
        // SAFETY: the block is mapped. This is advice: failure changes nothing but speed.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
        NonNull::new(start)
    }

    pub fn release(ptr: NonNull<u8>, bytes: usize) {
        // SAFETY: the block is a mapping of this size that nobody uses any more.
        let result = unsafe { libc::munmap(ptr.as_ptr().cast(), bytes) };
        debug_assert_eq!(result, 0, "a block of {bytes} bytes could not be unmapped");
    }
}

#[cfg(not(target_os = "linux"))]
mod mapped {
    use std::ptr::NonNull;

    pub fn allocate(_bytes: usize) -> Option<NonNull<u8>> {
        None
    }

    pub fn release(_ptr: NonNull<u8>, _bytes: usize) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_blocks_start_at_huge_pages_and_small_ones_at_cache_lines() {
        let pool = pool();
        for (bytes, align) in
            [(1, LINE), (1 << 20, LINE), (2 << 20, HUGE_PAGE), (5 << 20, HUGE_PAGE)]
        {
            let memory = pool.allocate(bytes).unwrap();
            assert_eq!(memory.ptr() as usize % align, 0);
            // SAFETY: the memory has this many bytes.
            unsafe {
                memory.ptr().write(7);
                memory.ptr().add(bytes - 1).write(8);
            }
        }
        assert!(pool.trim() > 8 << 20);
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        assert!(capacity() > 1 << 20);
        assert!(pool().allocate(isize::MAX as usize / 4).is_err());
    }
}
