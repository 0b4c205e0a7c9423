//! The caching allocator that device memory comes from.
//!
//! Getting memory from the system costs page faults and system calls; a program that computes in a loop
//! asks for the same sizes again and again. So blocks that come back are kept, by size class, and the one
//! that came back last is handed out first, since it is the one that may still be in a cache.

use crate::buffer::{Owner, Uses};
use crate::sync::Mutex;
use crate::{Fault, FaultKind, Memory};
use inflight_ir::Element;
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// The size of the smallest block, and the least alignment of any.
const MIN_BLOCK: usize = 64;

/// From this size on blocks are cut to a multiple of a page size rather than to a fraction of their own.
const LARGE: usize = 1 << 20;

/// From this size on that multiple is a huge page.
const HUGE: usize = 32 << 20;

/// At least this many bytes may be kept for later.
const CACHE_FLOOR: usize = 256 << 20;

/// The largest request: beyond it, rounding up could overflow.
const MAX_REQUEST: usize = isize::MAX as usize / 2;

type Allocate = Box<dyn Fn(usize) -> Option<NonNull<u8>> + Send + Sync>;
type Release = Box<dyn Fn(NonNull<u8>, usize) + Send + Sync>;

/// A caching allocator over a device's raw memory.
pub struct Pool {
    allocate: Allocate,
    release: Release,
    /// Bytes the device has: the limit where none is set.
    capacity: usize,
    state: Mutex<State>,
}

/// What a [`Pool`] has given out and what it keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryStats {
    /// Bytes asked for and not yet given back.
    pub in_use: usize,
    /// The most `in_use` has been since the pool was made or [`Pool::reset_peak`] was called.
    pub peak: usize,
    /// Bytes of unused blocks kept for later.
    pub cached: usize,
    /// Bytes of host vectors that serve as device memory. The limit does not concern them.
    pub adopted: usize,
    /// The most that may be in use, if a limit is set.
    pub limit: Option<usize>,
    /// The most that is kept for later, if a limit is set.
    pub cache_limit: Option<usize>,
    /// Requests served.
    pub allocations: u64,
    /// Those of them served with a cached block.
    pub reuses: u64,
    /// Requests refused.
    pub failures: u64,
    /// Bytes that were not copied: the copy took its source's memory over.
    pub taken_over: u64,
}

#[derive(Default)]
struct State {
    stats: MemoryStats,
    /// Unused blocks by their size; the last to come back is at the end.
    free: BTreeMap<usize, Vec<Block>>,
    /// True iff unused blocks are given back only when somebody asks for it.
    is_patient: bool,
}

/// The address of a block that nobody holds, and the work in flight on it.
struct Block(NonNull<u8>, Uses);

// SAFETY: the pool is the only one who knows the address, and it does not care for threads.
unsafe impl Send for Block {}

impl Block {
    /// Whether what is still in flight on it does not concern a lane.
    fn is_free_for(&mut self, lane: Option<u64>) -> bool {
        self.1.retain(|known| !known.until.is_reached());
        self.1.iter().all(|known| Some(known.lane) == lane)
    }
}

impl Pool {
    /// A pool over raw memory: `allocate` gets a block of this many bytes or `None`, and `release` gives
    /// one back, with the size it was asked for. `capacity` is how many bytes there are.
    ///
    /// # Safety
    /// A block from `allocate` must be valid for the device's reads and writes, from any thread, until
    /// `release` is called with it, aligned to 64 bytes, and apart from every other block. Where memory is
    /// [used](Memory::use_until) by work in flight when the pool is dropped, `release` must wait for that work.
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

    /// Memory for `bytes` bytes, uninitialized, 64-byte aligned. Never aborts: what does not fit the
    /// limit or the device, also after everything cached was given back, is an error.
    pub fn allocate(self: &Arc<Pool>, bytes: usize) -> Result<Memory, Fault> {
        self.allocate_for(None, bytes)
    }

    /// A copy of these elements in memory of this pool.
    ///
    /// # Errors
    /// If there is no memory for it.
    ///
    /// # Safety
    /// The host must be able to write to the pool's memory.
    pub unsafe fn copy_of<T: Element>(self: &Arc<Pool>, elements: &[T]) -> Result<Memory, Fault> {
        let bytes = size_of_val(elements);
        let memory = self.allocate(bytes)?;
        // SAFETY: the memory is as long as the elements, is nobody else's yet, and, as the caller promises, the
        // host's to write.
        unsafe { elements.as_ptr().cast::<u8>().copy_to_nonoverlapping(memory.ptr(), bytes) };
        Ok(memory)
    }

    /// As [`allocate`](Pool::allocate), for work of a lane that comes after all the work of that lane which is
    /// [noted](Memory::use_until) so far.
    pub fn allocate_for(
        self: &Arc<Pool>,
        lane: Option<u64>,
        bytes: usize,
    ) -> Result<Memory, Fault> {
        self.allocate_at(lane, bytes, None)
    }

    /// As [`allocate_for`](Pool::allocate_for). With an address, such as the one that the same work had the last
    /// time, the block there if it can be had, and otherwise one that was not used for a while: so work that
    /// comes again and again finds its memory where it was.
    pub fn allocate_at(
        self: &Arc<Pool>,
        lane: Option<u64>,
        bytes: usize,
        address: Option<usize>,
    ) -> Result<Memory, Fault> {
        if bytes == 0 {
            let ptr = NonNull::without_provenance(MIN_BLOCK.try_into().expect("not zero"));
            return Ok(Memory::new(ptr, 0, Owner::Nobody));
        }
        let (block, crowded, is_patient) = {
            let mut state = self.state.lock();
            let limit = state.stats.limit.unwrap_or(self.capacity);
            if bytes > MAX_REQUEST || state.stats.in_use.saturating_add(bytes) > limit {
                return Err(self.refuse(&mut state, bytes));
            }
            let block = block_size(bytes);
            if let Some((Block(ptr, uses), block)) = state.take_cached(block, lane, address) {
                state.hand_out(bytes);
                state.stats.reuses += 1;
                // What the lane does with it may go on when this memory is dropped without having been used.
                return Ok(self.memory(ptr, bytes, block).with_uses(uses));
            }
            // Counted before it is there, so that two threads cannot pass the limit together.
            state.hand_out(bytes);
            let footprint = state.stats.in_use + (block - bytes) + state.stats.cached;
            (block, state.stats.cached > 0 && footprint > limit, state.is_patient)
        };
        let found = match is_patient {
            true if crowded => None,
            true => (self.allocate)(block),
            false => {
                if crowded {
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
        Err(self.refuse(&mut state, bytes))
    }

    /// The elements of a vector as device memory, without a copy. They are counted as
    /// [`MemoryStats::adopted`], and not against the limit.
    pub fn adopt<T: Element>(self: &Arc<Pool>, vector: Vec<T>) -> Memory {
        self.state.lock().stats.adopted += size_of_val(vector.as_slice());
        Memory::adopt_counted(vector, Some(self.clone()))
    }

    /// Gives all unused blocks back to the device, but for those that work in flight uses. Returns how many
    /// bytes that were.
    pub fn trim(&self) -> usize {
        let mut unused: Vec<(usize, Block)> = Vec::new();
        let bytes = {
            let mut state = self.state.lock();
            for (&size, list) in &mut state.free {
                let is_unused = |block: &mut Block| block.is_free_for(None);
                unused.extend(list.extract_if(.., is_unused).map(|block| (size, block)));
            }
            state.free.retain(|_, list| !list.is_empty());
            let bytes = unused.iter().map(|(size, _)| size).sum();
            state.stats.cached -= bytes;
            bytes
        };
        for (size, Block(ptr, _)) in unused {
            (self.release)(ptr, size);
        }
        bytes
    }

    /// From now on unused blocks are given back only by [`trim`](Pool::trim): a request that would need their room
    /// is refused. For devices where giving back takes a while, and whoever asks for memory must not wait.
    pub fn leave_room_to_trim(&self) {
        self.state.lock().is_patient = true;
    }

    /// Sets the most bytes that may be in use; `None` leaves it at what the device has. What is in use
    /// already stays.
    pub fn set_limit(&self, limit: Option<usize>) {
        self.state.lock().stats.limit = limit;
    }

    /// Sets the most bytes of unused blocks that are kept for later; `None` leaves it at as much as was ever
    /// in use. What is kept already stays until it is used or trimmed.
    pub fn set_cache_limit(&self, limit: Option<usize>) {
        self.state.lock().stats.cache_limit = limit;
    }

    /// What is given out and what is kept.
    pub fn stats(&self) -> MemoryStats {
        self.state.lock().stats
    }

    /// Counts a copy of so many bytes that was not made.
    pub fn count_taken_over(&self, bytes: usize) {
        self.state.lock().stats.taken_over += bytes as u64;
    }

    /// Starts [`MemoryStats::peak`] anew from what is in use now.
    pub fn reset_peak(&self) {
        let mut state = self.state.lock();
        state.stats.peak = state.stats.in_use;
    }

    /// Keeps or releases a block that is not used any more.
    ///
    /// # Safety
    /// The block must have come from this pool with these sizes, and nobody may use it from now on but for the
    /// work noted in `uses`.
    pub(crate) unsafe fn take_back(
        &self,
        ptr: NonNull<u8>,
        bytes: usize,
        block: usize,
        uses: Uses,
    ) {
        {
            let mut state = self.state.lock();
            state.stats.in_use -= bytes;
            let most = state.stats.cache_limit.unwrap_or(state.stats.peak.max(CACHE_FLOOR));
            let mut unused = Block(ptr, uses);
            // What work in flight uses cannot be given back yet.
            if state.stats.cached + block <= most || !unused.is_free_for(None) {
                state.stats.cached += block;
                state.free.entry(block).or_default().push(unused);
                return;
            }
        }
        (self.release)(ptr, block);
    }

    pub(crate) fn forget_adopted(&self, bytes: usize) {
        self.state.lock().stats.adopted -= bytes;
    }

    fn memory(self: &Arc<Pool>, ptr: NonNull<u8>, bytes: usize, block: usize) -> Memory {
        Memory::new(ptr, bytes, Owner::Pool { pool: self.clone(), block })
    }

    fn refuse(&self, state: &mut State, requested: usize) -> Fault {
        state.stats.failures += 1;
        let limit = state.stats.limit.unwrap_or(self.capacity);
        FaultKind::OutOfMemory { requested, in_use: state.stats.in_use, limit }.into()
    }
}

impl State {
    fn hand_out(&mut self, bytes: usize) {
        self.stats.in_use += bytes;
        self.stats.peak = self.stats.peak.max(self.stats.in_use);
        self.stats.allocations += 1;
    }

    /// A cached block of this size, or one that is larger by so little that it may as well serve.
    fn take_cached(
        &mut self,
        block: usize,
        lane: Option<u64>,
        address: Option<usize>,
    ) -> Option<(Block, usize)> {
        let fitting = block..=block + if block >= LARGE { block / 8 } else { 0 };
        let (size, list, at) = self.free.range_mut(fitting).find_map(|(&size, list)| {
            let at = match address {
                None => list.iter_mut().rposition(|block| block.is_free_for(lane))?,
                Some(address) => {
                    let same = list.iter().position(|block| block.0.addr().get() == address);
                    same.filter(|&at| list[at].is_free_for(lane))
                        .or_else(|| list.iter_mut().position(|block| block.is_free_for(lane)))?
                }
            };
            Some((size, list, at))
        })?;
        let block = list.remove(at);
        // The list of a small class stays for the next block; those of large ones would pile up.
        if list.is_empty() && size >= LARGE {
            self.free.remove(&size);
        }
        self.stats.cached -= size;
        Some((block, size))
    }
}

/// The size of the block that serves a request: below [`LARGE`], a power of two or one of three steps up
/// to the next, so that at most a quarter is wasted; above, a multiple of 64 KiB or of a huge page.
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
        // Every block in use holds the pool, so only cached ones are left.
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
