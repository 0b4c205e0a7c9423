//! Memory of the pool: the system allocator for small blocks, transparent huge pages for large ones.

use inflight_backend::Pool;
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;

/// Size of a huge page. Blocks of at least this size get a mapping of their own, aligned to it.
const HUGE_PAGE: usize = 2 << 20;

/// Alignment of smaller blocks.
const CACHE_LINE: usize = 64;

/// A pool of this machine's memory.
pub fn pool() -> Arc<Pool> {
    // SAFETY: both sources return distinct memory, writable from any thread until it is released and aligned to at least
    // 64 bytes; `release` selects the source by the same rule as `allocate`.
    unsafe { Pool::new(capacity(), allocate, release) }
}

fn allocate(bytes: usize) -> Option<NonNull<u8>> {
    if cfg!(target_os = "linux") && bytes >= HUGE_PAGE {
        return mapped::allocate(bytes);
    }
    let layout = Layout::from_size_align(bytes, CACHE_LINE).ok()?;
    // SAFETY: the pool never requests empty blocks.
    NonNull::new(unsafe { std::alloc::alloc(layout) })
}

fn release(ptr: NonNull<u8>, bytes: usize) {
    if cfg!(target_os = "linux") && bytes >= HUGE_PAGE {
        return mapped::release(ptr, bytes);
    }
    let layout =
        Layout::from_size_align(bytes, CACHE_LINE).expect("a layout that `allocate` accepted");
    // SAFETY: the pool releases each block of `allocate` once, with the size it requested.
    unsafe { std::alloc::dealloc(ptr.as_ptr(), layout) }
}

/// Bytes of memory available to this process: the machine's, or the limit of its control group if that is lower.
pub fn capacity() -> usize {
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(usize::MAX);
    group.min(physical())
}

#[cfg(unix)]
fn physical() -> usize {
    // SAFETY: `sysconf` has no preconditions; it returns -1 for unknown variables.
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

    /// Maps `bytes`, a multiple of the page size, at a huge page boundary.
    pub fn allocate(bytes: usize) -> Option<NonNull<u8>> {
        let span = bytes.checked_add(HUGE_PAGE)?;
        // SAFETY: a new private mapping at an address that the system selects affects no existing mapping.
        let base = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(null_mut(), span, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return None;
        }
        let base = base.cast::<u8>();
        let before = base.align_offset(HUGE_PAGE);
        // SAFETY: both ends are in the mapping, outside of the block, and page-aligned, since the mapping, the block's
        // start and its size are.
        unsafe {
            if before > 0 {
                libc::munmap(base.cast(), before);
            }
            if before < HUGE_PAGE {
                libc::munmap(base.add(before + bytes).cast(), HUGE_PAGE - before);
            }
        }
        let start = base.wrapping_add(before);
        // SAFETY: the block is mapped. This is advice: failure affects only speed.
        unsafe { libc::madvise(start.cast(), bytes, libc::MADV_HUGEPAGE) };
        NonNull::new(start)
    }

    pub fn release(ptr: NonNull<u8>, bytes: usize) {
        // SAFETY: the block is a mapping of this size that is no longer in use.
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
    fn large_blocks_are_aligned_to_huge_pages_and_small_ones_to_cache_lines() {
        let pool = pool();
        for (bytes, align) in
            [(1, CACHE_LINE), (1 << 20, CACHE_LINE), (2 << 20, HUGE_PAGE), (5 << 20, HUGE_PAGE)]
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
    fn allocations_beyond_the_capacity_fail() {
        assert!(capacity() > 1 << 20);
        assert!(pool().allocate(isize::MAX as usize / 4).is_err());
    }
}
