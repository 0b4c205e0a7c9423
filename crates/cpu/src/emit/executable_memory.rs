//! Executable memory for emitted code, under a W^X policy: pages are writable or executable, never both.

use std::ptr::NonNull;

/// Read-only, executable pages with a copy of some code.
pub(super) struct ExecutableMemory {
    start: NonNull<u8>,
    len: usize,
    mapped: usize,
}

// SAFETY: the memory is never written after `new`, and is unmapped when its only owner is dropped.
unsafe impl Send for ExecutableMemory {}
// SAFETY: as above.
unsafe impl Sync for ExecutableMemory {}

impl ExecutableMemory {
    /// Copies code into new pages. Returns `None` if the system refuses the mapping or the protection change.
    pub(super) fn new(code: &[u8]) -> Option<ExecutableMemory> {
        let mapped = code.len().max(1).next_multiple_of(4096);
        // SAFETY: a fresh private mapping at an address chosen by the operating system touches no other memory.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return None;
        }
        let memory =
            ExecutableMemory { start: NonNull::new(start.cast())?, len: code.len(), mapped };
        // SAFETY: the mapping is writable, at least `code.len()` bytes long and not shared yet. `mprotect`
        // removes write permission as it adds execute permission.
        let protected = unsafe {
            memory.start.as_ptr().copy_from_nonoverlapping(code.as_ptr(), code.len());
            libc::mprotect(start, mapped, libc::PROT_READ | libc::PROT_EXEC)
        };
        (protected == 0).then_some(memory)
    }

    /// The code.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: `new` initialized `len` bytes, which stay readable until `drop`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for ExecutableMemory {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no borrow of it remains.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped) };
    }
}
