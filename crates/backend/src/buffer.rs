//! Device memory and the buffers that name it.

use crate::pool::Pool;
use crate::sync::{Mutex, OnceLock};
use crate::{Event, Fault, FaultKind};
use inflight_ir::Element;
use smallvec::SmallVec;
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// A block of device memory. Dropping it gives it back to where it came from.
///
/// Its bytes may be uninitialized, and any alignment beyond that of its elements is the owner's choice:
/// memory of a [`Pool`] is aligned to at least 64 bytes, an adopted vector as its elements are.
pub struct Memory {
    ptr: NonNull<u8>,
    bytes: usize,
    owner: Owner,
    /// What the device may still do with it when it is dropped.
    uses: Mutex<Uses>,
}

/// Work in flight on memory: the latest of each lane.
pub(crate) type Uses = SmallVec<[Use; 1]>;

/// A lane, such as a stream, whose work is done in order, and the point at which it is done with some memory.
pub(crate) struct Use {
    pub lane: u64,
    pub until: Event,
}

/// Who takes the memory back.
pub(crate) enum Owner {
    /// Nobody: there are no bytes.
    Nobody,
    /// A block of this many bytes of a pool.
    Pool { pool: Arc<Pool>, block: usize },
    /// A vector whose elements these are, and the pool that counts them.
    Host { vector: Option<Box<dyn Any + Send + Sync>>, counted_by: Option<Arc<Pool>> },
    /// A function to be called once.
    Release(Option<Box<dyn FnOnce() + Send>>),
}

// SAFETY: a `Memory` is an address with an owner, nothing that belongs to a thread; the owner's `Box`es
// are `Send`. Reading and writing what is at the address is unsafe, and ordered by those who do it.
unsafe impl Send for Memory {}
// SAFETY: through a shared `Memory` only its address and size can be had; the release function, which
// need not be `Sync`, is touched by `drop` alone.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(ptr: NonNull<u8>, bytes: usize, owner: Owner) -> Memory {
        Memory { ptr, bytes, owner, uses: Mutex::new(Uses::new()) }
    }

    /// The same memory, with work in flight on it.
    pub(crate) fn with_uses(mut self, uses: Uses) -> Memory {
        *self.uses.get_mut() = uses;
        self
    }

    /// The elements of a vector, without a copy.
    pub fn adopt<T: Element>(vector: Vec<T>) -> Memory {
        Memory::adopt_counted(vector, None)
    }

    /// The elements of a vector that others have as well, without a copy: to be read only.
    pub fn lend<T: Element>(vector: Arc<Vec<T>>) -> Memory {
        let ptr = NonNull::new(vector.as_ptr().cast_mut()).expect("not null").cast();
        let bytes = size_of_val(vector.as_slice());
        let vector: Option<Box<dyn Any + Send + Sync>> = Some(Box::new(vector));
        Memory::new(ptr, bytes, Owner::Host { vector, counted_by: None })
    }

    pub(crate) fn adopt_counted<T: Element>(
        mut vector: Vec<T>,
        counted_by: Option<Arc<Pool>>,
    ) -> Memory {
        let ptr = NonNull::new(vector.as_mut_ptr()).expect("a vector's address is not null").cast();
        let bytes = size_of_val(vector.as_slice());
        let vector: Option<Box<dyn Any + Send + Sync>> = Some(Box::new(vector));
        Memory::new(ptr, bytes, Owner::Host { vector, counted_by })
    }

    /// Memory of any other kind, given back by a call of `release`.
    ///
    /// # Safety
    /// Until `release` is called, `bytes` bytes from `ptr` on must be valid for the device's reads and
    /// writes from any thread, and nothing else may use them.
    pub unsafe fn from_raw(
        ptr: NonNull<u8>,
        bytes: usize,
        release: Box<dyn FnOnce() + Send>,
    ) -> Memory {
        Memory::new(ptr, bytes, Owner::Release(Some(release)))
    }

    /// Notes that a lane's work uses the memory until an event of that lane, also if the memory is dropped
    /// before. Its [`Pool`] then gives it to nobody else until that is reached, but to the same lane, whose
    /// work is done in order, at once.
    pub fn use_until(&self, lane: u64, until: &Event) {
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|known| known.lane == lane) {
            Some(known) => known.until.clone_from(until),
            None => {
                uses.retain(|known| !known.until.is_reached());
                uses.push(Use { lane, until: until.clone() });
            }
        }
    }

    /// Whether no work in flight uses it but a lane's, whose next work comes after that.
    pub fn is_free_for(&self, lane: u64) -> bool {
        self.uses.lock().iter().all(|known| known.lane == lane || known.until.is_reached())
    }

    /// The address of the first byte; dangling if there are none.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match &mut self.owner {
            Owner::Nobody => {}
            Owner::Pool { pool, block } => {
                // SAFETY: the block came from this pool, and after this drop nobody can reach it but work in
                // flight, which is noted.
                unsafe {
                    let uses = std::mem::take(self.uses.get_mut());
                    pool.take_back(self.ptr, self.bytes, *block, uses);
                }
            }
            Owner::Host { vector, counted_by } => {
                drop(vector.take());
                if let Some(pool) = counted_by {
                    pool.forget_adopted(self.bytes);
                }
            }
            Owner::Release(release) => {
                if let Some(release) = release.take() {
                    release();
                }
            }
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = match &self.owner {
            Owner::Nobody => "nobody",
            Owner::Pool { .. } => "pool",
            Owner::Host { .. } => "host vector",
            Owner::Release(_) => "release function",
        };
        f.debug_struct("Memory")
            .field("ptr", &self.ptr)
            .field("bytes", &self.bytes)
            .field("owner", &owner)
            .finish()
    }
}

/// A value's place on a device. It is
///
/// - *declared* iff it has neither memory nor a fault: the command that writes it has not run yet;
/// - *present* iff it has memory and no fault: the command that writes it has begun, or there was none.
///   Whether its bytes are those the command will leave is what events tell;
/// - *failed* iff it has a fault: the command that should have written it did not, or not to its end. Its
///   bytes, if it has memory, mean nothing.
///
/// It moves from declared to present once, by [`provide`](Buffer::provide) or [`adopt`](Buffer::adopt), and
/// from either to failed once, by [`fail`](Buffer::fail). All are done by the stream that runs the writing
/// command.
pub struct Buffer {
    bytes: usize,
    memory: OnceLock<Memory>,
    fault: OnceLock<Fault>,
    /// The buffer whose value this one has, if it has none of its own.
    adopted: OnceLock<Arc<Buffer>>,
}

impl Buffer {
    /// A buffer that gets its memory when it is written.
    pub fn declare(bytes: usize) -> Arc<Buffer> {
        Arc::new(Buffer {
            bytes,
            memory: OnceLock::new(),
            fault: OnceLock::new(),
            adopted: OnceLock::new(),
        })
    }

    /// A buffer whose memory is there.
    pub fn with_memory(memory: Memory) -> Arc<Buffer> {
        let buffer = Buffer::declare(memory.bytes());
        // Just declared: there is nothing it could collide with.
        let _ = buffer.memory.set(memory);
        buffer
    }

    /// A buffer that failed before anything could write it.
    pub fn failed(bytes: usize, fault: Fault) -> Arc<Buffer> {
        let buffer = Buffer::declare(bytes);
        buffer.fail(fault);
        buffer
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its memory, once it has some.
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.get().or_else(|| self.adopted.get()?.memory())
    }

    /// Takes the value of another buffer of the same size, its fault if it has one, without a copy. Nobody
    /// may write to either from then on, but for a command that `source` is still to be written by.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn adopt(&self, source: &Arc<Buffer>) {
        assert_eq!(self.bytes, source.bytes, "a buffer adopts one of its own size");
        // What has adopted in turn is passed over, so that values handed on from loop to loop make no chain.
        let source = source.adopted.get().unwrap_or(source);
        let _ = self.adopted.set(source.clone());
    }

    /// Takes the memory of an operand that nobody but the caller has, for the next command of a lane, which is to
    /// write it. Says whether that is done; if not, nothing has changed.
    pub fn take_over(&self, operand: &Arc<Buffer>, lane: u64) -> bool {
        let owner = operand.adopted.get().unwrap_or(operand);
        // A weak reference is no reader.
        let is_alone = Arc::strong_count(operand) == 1
            && (Arc::ptr_eq(owner, operand) || Arc::strong_count(owner) == 1);
        let is_free = owner.memory.get().is_some_and(|memory| memory.is_free_for(lane));
        let fits = self.bytes == operand.bytes && self.memory().is_none();
        if !is_alone || !is_free || !fits || operand.fault().is_some() {
            return false;
        }
        self.adopt(operand);
        true
    }

    /// Gives it its memory, at least [`bytes`](Buffer::bytes) of it; returned if it has some already.
    ///
    /// # Panics
    /// If the memory is too small.
    pub fn provide(&self, memory: Memory) -> Result<(), Memory> {
        assert!(
            memory.bytes() >= self.bytes,
            "a buffer of {} bytes was given {} bytes of memory",
            self.bytes,
            memory.bytes()
        );
        self.memory.set(memory)
    }

    /// Takes its memory away: whoever has the buffer to themselves does not need its value any more.
    pub fn take_memory(&mut self) -> Option<Memory> {
        self.memory.take()
    }

    /// Why its value does not exist, if it does not.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get().or_else(|| self.adopted.get()?.fault())
    }

    /// Marks it as failed. The first fault stays.
    pub fn fail(&self, fault: Fault) {
        let _ = self.fault.set(fault);
    }

    /// Its memory, or why it has none: its fault, or that nothing was ever written to it. A buffer of no
    /// bytes, which no command need write, can be read from the start.
    pub fn readable(&self) -> Result<&Memory, Fault> {
        if let Some(fault) = self.fault() {
            return Err(fault.clone());
        }
        if self.bytes == 0 {
            return Ok(self.memory.get_or_init(|| Memory::adopt(Vec::<u8>::new())));
        }
        self.memory().ok_or_else(|| {
            FaultKind::Unsupported("reading a buffer before anything is written to it".into())
                .into()
        })
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("bytes", &self.bytes)
            .field("memory", &self.memory())
            .field("fault", &self.fault())
            .finish()
    }
}
