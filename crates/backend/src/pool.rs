//! Caching allocator for device memory: size classes, LIFO reuse, stream-ordered reuse.
//!
//! Allocating from the system costs page faults and system calls, and a program that computes in a loop requests
//! the same sizes in every iteration. Freed blocks are cached by size class, and the block freed last is handed out
//! first, since its lines are the most likely to be in a cache.
//!
//! Reuse is stream-ordered: a block that a stream still has work in flight on may be reused by that same stream at
//! once, and by other streams when the work's event is reached.

use crate::buffer::{Owner, Uses};
use crate::sync::Mutex;
use crate::{Fault, FaultKind, Memory};
use inflight_ir::Element;
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Size of the smallest block, and the minimum alignment of all blocks.
const MIN_BLOCK: usize = 64;

/// Blocks of at least this size are rounded up to a multiple of a page size instead of a fraction of their own
/// size.
const LARGE: usize = 1 << 20;

/// Blocks of at least this size are rounded up to a multiple of a huge page.
const HUGE: usize = 32 << 20;

/// Lower bound of the default cache limit.
const CACHE_FLOOR: usize = 256 << 20;

/// Largest request. Beyond it, rounding up could overflow.
const MAX_REQUEST: usize = isize::MAX as usize / 2;

type Allocate = Box<dyn Fn(usize) -> Option<NonNull<u8>> + Send + Sync>;
type Release = Box<dyn Fn(NonNull<u8>, usize) + Send + Sync>;

/// Caching allocator over a device's raw memory.
pub struct Pool {
    allocate: Allocate,
    release: Release,
    /// Size of the device's memory: the limit if none is set.
    capacity: usize,
    state: Mutex<State>,
}

/// Memory statistics of a [`Pool`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes allocated and not yet freed, as requested.
    pub in_use: usize,
    /// Maximum of `in_use` since the pool was created or [`Pool::reset_peak`] was called.
    pub peak: usize,
    /// Bytes of free blocks in the cache.
    pub cached: usize,
    /// Bytes of host vectors used as device memory without a copy. Not counted against the limit.
    pub adopted: usize,
    /// Maximum of `in_use`, if a limit is set.
    pub limit: Option<usize>,
    /// Maximum of `cached`, if a limit is set.
    pub cache_limit: Option<usize>,
    /// Number of allocations.
    pub allocations: u64,
    /// Number of allocations served from the cache.
    pub reuses: u64,
    /// Number of requests refused.
    pub failures: u64,
    /// Bytes of copies avoided by in-place reuse of the source's memory.
    pub reused_in_place: u64,
}

#[derive(Default)]
struct State {
    stats: MemoryStats,
    /// Free blocks by size. Each list is a stack: the block freed last is at the end.
    free: BTreeMap<usize, Vec<Block>>,
    /// True iff cached blocks are released only by [`Pool::trim`], never by an allocation.
    trims_explicitly_only: bool,
}

/// The address of a free block, and the work in flight on it.
struct Block(NonNull<u8>, Uses);

// SAFETY: only the pool holds the address, and raw memory is not bound to a thread.
unsafe impl Send for Block {}

impl Block {
    /// Whether the block has no work in flight except that of `stream`.
    fn is_free_for(&mut self, stream: Option<u64>) -> bool {
        self.1.retain(|work| !work.until.is_reached());
        self.1.iter().all(|work| Some(work.stream) == stream)
    }
}

impl Pool {
    /// Creates a pool over raw memory. `allocate` returns a block of the given number of bytes, or `None`;
    /// `release` frees one and gets the size it was allocated with. `capacity` is the total number of bytes.
    ///
    /// # Safety
    /// A block from `allocate` must be valid for the device's reads and writes, from any thread, until it is passed
    /// to `release`; it must be aligned to 64 bytes and disjoint from every other block. If work in flight still
    /// [uses](Memory::use_until) memory when the pool is dropped, `release` must wait for that work.
    pub unsafe fn new(
        capacity: usize,
        allocate: impl Fn(usize) -> Option<NonNull<u8>> + Send + Sync + 'static,
        release: impl Fn(NonNull<u8>, usize) + Send + Sync + 'static,
    ) -> Arc<Pool> {
        Arc::new(Pool {
            allocate: Box::new(allocate),
            release: Box::new(release),
            capacity,
            state: Mutex::new(State::default()),
        })
    }

    /// Allocates `bytes` bytes: uninitialized, 64-byte aligned. Never aborts: a request that exceeds the limit or
    /// the device, even after the cache was released, returns an error.
    pub fn allocate(self: &Arc<Pool>, bytes: usize) -> Result<Memory, Fault> {
        self.allocate_for(None, bytes)
    }

    /// Allocates memory and copies `elements` to it.
    ///
    /// # Errors
    /// If the allocation fails.
    ///
    /// # Safety
    /// The host must be able to write to the pool's memory.
    pub unsafe fn copy_of<T: Element>(self: &Arc<Pool>, elements: &[T]) -> Result<Memory, Fault> {
        let bytes = size_of_val(elements);
        let memory = self.allocate(bytes)?;
        // SAFETY: the memory is as long as the elements, nothing else refers to it yet, and the caller promises
        // that the host can write to it.
        unsafe { elements.as_ptr().cast::<u8>().copy_to_nonoverlapping(memory.ptr(), bytes) };
        Ok(memory)
    }

    /// Stream-ordered [`allocate`](Pool::allocate): the memory is for work of `stream` that follows everything of
    /// it recorded by [`Memory::use_until`], so blocks with only that stream's work in flight may be reused.
    pub fn allocate_for(
        self: &Arc<Pool>,
        stream: Option<u64>,
        bytes: usize,
    ) -> Result<Memory, Fault> {
        self.allocate_at(stream, bytes, None)
    }

    /// Like [`allocate_for`](Pool::allocate_for), with an allocation hint. If the block at `address` (the address
    /// that the same step had last time) is free, it is returned; otherwise the least recently freed block is, so
    /// that hinted blocks stay available. Repeated work then finds its memory at the same addresses.
    pub fn allocate_at(
        self: &Arc<Pool>,
        stream: Option<u64>,
        bytes: usize,
        address: Option<usize>,
    ) -> Result<Memory, Fault> {
        if bytes == 0 {
            let ptr = NonNull::without_provenance(MIN_BLOCK.try_into().expect("not zero"));
            return Ok(Memory::new(ptr, 0, Owner::Empty));
        }
        let (block, exceeds_limit, trims_explicitly_only) = {
            let mut state = self.state.lock();
            let limit = state.stats.limit.unwrap_or(self.capacity);
            if bytes > MAX_REQUEST || state.stats.in_use.saturating_add(bytes) > limit {
                return Err(self.out_of_memory(&mut state, bytes));
            }
            let block = block_size(bytes);
            if let Some((Block(ptr, uses), block)) = state.pop_cached(block, stream, address) {
                state.count_allocation(bytes);
                state.stats.reuses += 1;
                // Keep the stream's earlier uses: they may outlast this memory if it is dropped unused.
                return Ok(self.memory(ptr, bytes, block).with_uses(uses));
            }
            // Count before allocating, so that two threads cannot exceed the limit together.
            state.count_allocation(bytes);
            let footprint = state.stats.in_use + (block - bytes) + state.stats.cached;
            (block, state.stats.cached > 0 && footprint > limit, state.trims_explicitly_only)
        };
        let found = match trims_explicitly_only {
            true if exceeds_limit => None,
            true => (self.allocate)(block),
            false => {
                if exceeds_limit {
                    self.trim();
                }
                (self.allocate)(block).or_else(|| {
                    self.trim();
                    (self.allocate)(block)
                })
            }
        };
        if let Some(ptr) = found {
            return Ok(self.memory(ptr, bytes, block));
        }
        let mut state = self.state.lock();
        state.stats.in_use -= bytes;
        state.stats.allocations -= 1;
        Err(self.out_of_memory(&mut state, bytes))
    }

    /// Uses a vector's elements as device memory, without a copy. Counted as [`MemoryStats::adopted`], not against
    /// the limit.
    pub fn adopt<T: Element>(self: &Arc<Pool>, vector: Vec<T>) -> Memory {
        self.state.lock().stats.adopted += size_of_val(vector.as_slice());
        Memory::adopt_counted(vector, Some(self.clone()))
    }

    /// Releases all cached blocks to the device, except those with work in flight. Returns the number of bytes
    /// released.
    pub fn trim(&self) -> usize {
        let mut freed: Vec<(usize, Block)> = Vec::new();
        let bytes = {
            let mut state = self.state.lock();
            for (&size, list) in &mut state.free {
                let is_unused = |block: &mut Block| block.is_free_for(None);
                freed.extend(list.extract_if(.., is_unused).map(|block| (size, block)));
            }
            state.free.retain(|_, list| !list.is_empty());
            let bytes = freed.iter().map(|(size, _)| size).sum();
            state.stats.cached -= bytes;
            bytes
        };
        for (size, Block(ptr, _)) in freed {
            (self.release)(ptr, size);
        }
        bytes
    }

    /// Disables the implicit trim of [`allocate`](Pool::allocate): cached blocks are then released only by
    /// [`trim`](Pool::trim), and a request that would need their room is refused. For devices whose release is slow
    ///, where an allocating thread must not block.
    pub fn disable_implicit_trim(&self) {
        self.state.lock().trims_explicitly_only = true;
    }

    /// Sets the maximum of bytes in use; `None` means the device's capacity. Does not affect existing allocations.
    pub fn set_limit(&self, limit: Option<usize>) {
        self.state.lock().stats.limit = limit;
    }

    /// Sets the maximum of bytes cached; `None` means the peak of bytes in use. Blocks already cached stay until
    /// they are reused or trimmed.
    pub fn set_cache_limit(&self, limit: Option<usize>) {
        self.state.lock().stats.cache_limit = limit;
    }

    /// Current statistics.
    pub fn stats(&self) -> MemoryStats {
        self.state.lock().stats
    }

    /// Counts a copy of `bytes` bytes avoided by in-place reuse.
    pub fn count_reused_in_place(&self, bytes: usize) {
        self.state.lock().stats.reused_in_place += bytes as u64;
    }

    /// Resets [`MemoryStats::peak`] to the bytes in use now.
    pub fn reset_peak(&self) {
        let mut state = self.state.lock();
        state.stats.peak = state.stats.in_use;
    }

    /// Returns a block to the cache, or releases it if the cache is full.
    ///
    /// # Safety
    /// The block must have come from this pool with these sizes, and nothing but the work recorded in `uses` may
    /// access it from now on.
    pub(crate) unsafe fn free(&self, ptr: NonNull<u8>, bytes: usize, block: usize, uses: Uses) {
        {
            let mut state = self.state.lock();
            state.stats.in_use -= bytes;
            let limit = state.stats.cache_limit.unwrap_or(state.stats.peak.max(CACHE_FLOOR));
            let mut freed = Block(ptr, uses);
            // A block with work in flight cannot be released yet.
            if state.stats.cached + block <= limit || !freed.is_free_for(None) {
                state.stats.cached += block;
                state.free.entry(block).or_default().push(freed);
                return;
            }
        }
        (self.release)(ptr, block);
    }

    pub(crate) fn uncount_adopted(&self, bytes: usize) {
        self.state.lock().stats.adopted -= bytes;
    }

    fn memory(self: &Arc<Pool>, ptr: NonNull<u8>, bytes: usize, block: usize) -> Memory {
        Memory::new(ptr, bytes, Owner::Pool { pool: self.clone(), block })
    }

    fn out_of_memory(&self, state: &mut State, requested: usize) -> Fault {
        state.stats.failures += 1;
        let limit = state.stats.limit.unwrap_or(self.capacity);
        FaultKind::OutOfMemory { requested, in_use: state.stats.in_use, limit }.into()
    }
}

impl State {
    fn count_allocation(&mut self, bytes: usize) {
        self.stats.in_use += bytes;
        self.stats.peak = self.stats.peak.max(self.stats.in_use);
        self.stats.allocations += 1;
    }

    /// A cached block of this size, or a slightly larger one (at most 1/8) for large requests.
    fn pop_cached(
        &mut self,
        block: usize,
        stream: Option<u64>,
        address: Option<usize>,
    ) -> Option<(Block, usize)> {
        let fitting = block..=block + if block >= LARGE { block / 8 } else { 0 };
        let (size, list, at) = self.free.range_mut(fitting).find_map(|(&size, list)| {
            let at = match address {
                None => list.iter_mut().rposition(|block| block.is_free_for(stream))?,
                Some(address) => {
                    let same = list.iter().position(|block| block.0.addr().get() == address);
                    same.filter(|&at| list[at].is_free_for(stream))
                        .or_else(|| list.iter_mut().position(|block| block.is_free_for(stream)))?
                }
            };
            Some((size, list, at))
        })?;
        let block = list.remove(at);
        // Keep the empty list of a small size class for the next block; lists of large sizes would pile up.
        if list.is_empty() && size >= LARGE {
            self.free.remove(&size);
        }
        self.stats.cached -= size;
        Some((block, size))
    }
}

/// Size class of a request. Below [`LARGE`]: a power of two or one of three steps up to the next, which wastes at
/// most a quarter. Above: a multiple of 64 KiB or of a huge page.
fn block_size(bytes: usize) -> usize {
    if bytes <= MIN_BLOCK {
        return MIN_BLOCK;
    }
    if bytes >= HUGE {
        return bytes.next_multiple_of(2 << 20);
    }
    if bytes >= LARGE {
        return bytes.next_multiple_of(64 << 10);
    }
    let step = (1 << (bytes - 1).ilog2()) / 4;
    bytes.next_multiple_of(step)
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Every block in use holds a reference to the pool, so only cached blocks are left.
        let free = std::mem::take(&mut self.state.lock().free);
        for (size, list) in free {
            for Block(ptr, _) in list {
                (self.release)(ptr, size);
            }
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
