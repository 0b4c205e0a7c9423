//! Device memory and the buffers that refer to it.

use crate::pool::Pool;
use crate::sync::{Mutex, OnceLock};
use crate::{Event, Fault, FaultKind};
use inflight_ir::Element;
use smallvec::SmallVec;
use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// An owned block of device memory, returned to its owner when dropped.
///
/// Its bytes may be uninitialized. Memory of a [`Pool`] is aligned to at least 64 bytes, memory of an adopted
/// vector as its elements are.
pub struct Memory {
    ptr: NonNull<u8>,
    bytes: usize,
    owner: Owner,
    /// Work that may still access the memory after it is dropped.
    uses: Mutex<Uses>,
}

/// Work in flight on a block of memory: the latest use by each stream.
pub(crate) type Uses = SmallVec<[Use; 1]>;

/// The event at which a stream, which runs its work in order, has finished with a block of memory.
pub(crate) struct Use {
    pub stream: u64,
    pub until: Event,
}

/// Owner that gets the memory back.
pub(crate) enum Owner {
    /// Empty memory, with nothing to free.
    Empty,
    /// A pool, and the size of the block.
    Pool { pool: Arc<Pool>, block: usize },
    /// An adopted host vector, and the pool that counts it.
    Host { vector: Option<Box<dyn Any + Send + Sync>>, counted_by: Option<Arc<Pool>> },
    /// A function called once.
    Release(Option<Box<dyn FnOnce() + Send>>),
}

// SAFETY: a `Memory` is an address with an owner, neither of them bound to a thread; the `Box`es in the owner are
// `Send`. Accessing the bytes at the address is unsafe, and ordered by the code that does it.
unsafe impl Send for Memory {}
// SAFETY: a shared `Memory` exposes only its address and size; the release function, which need not be `Sync`, is
// used by `drop` alone.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(ptr: NonNull<u8>, bytes: usize, owner: Owner) -> Memory {
        Memory { ptr, bytes, owner, uses: Mutex::new(Uses::new()) }
    }

    /// Attaches work in flight to new memory.
    pub(crate) fn with_uses(mut self, uses: Uses) -> Memory {
        *self.uses.get_mut() = uses;
        self
    }

    /// Adopts a vector's elements without a copy.
    pub fn adopt<T: Element>(vector: Vec<T>) -> Memory {
        Memory::adopt_counted(vector, None)
    }

    /// Borrows the elements of a shared vector without a copy, for reading only.
    pub fn lend<T: Element>(vector: Arc<Vec<T>>) -> Memory {
        let ptr = NonNull::new(vector.as_ptr().cast_mut())
            .expect("a vector has an address that is not null")
            .cast();
        let bytes = size_of_val(vector.as_slice());
        let vector: Option<Box<dyn Any + Send + Sync>> = Some(Box::new(vector));
        Memory::new(ptr, bytes, Owner::Host { vector, counted_by: None })
    }

    pub(crate) fn adopt_counted<T: Element>(
        mut vector: Vec<T>,
        counted_by: Option<Arc<Pool>>,
    ) -> Memory {
        let ptr = NonNull::new(vector.as_mut_ptr())
            .expect("a vector has an address that is not null")
            .cast();
        let bytes = size_of_val(vector.as_slice());
        let vector: Option<Box<dyn Any + Send + Sync>> = Some(Box::new(vector));
        Memory::new(ptr, bytes, Owner::Host { vector, counted_by })
    }

    /// Memory of any other kind, freed by `release`.
    ///
    /// # Safety
    /// Until `release` is called, the `bytes` bytes from `ptr` on must be valid for the device's reads and writes
    /// from any thread, and nothing else may use them.
    pub unsafe fn from_raw(
        ptr: NonNull<u8>,
        bytes: usize,
        release: Box<dyn FnOnce() + Send>,
    ) -> Memory {
        Memory::new(ptr, bytes, Owner::Release(Some(release)))
    }

    /// Records that `stream` uses the memory until `until`, even if the memory is dropped before. The [`Pool`]
    /// gives the block to other streams only once the event is reached; the same stream, which runs its work in
    /// order, may reuse it at once.
    pub fn use_until(&self, stream: u64, until: &Event) {
        let mut uses = self.uses.lock();
        match uses.iter_mut().find(|existing| existing.stream == stream) {
            Some(existing) => existing.until.clone_from(until),
            None => {
                uses.retain(|existing| !existing.until.is_reached());
                uses.push(Use { stream, until: until.clone() });
            }
        }
    }

    /// Whether the memory has no work in flight except that of `stream`, whose next command is ordered after it.
    pub fn is_free_for(&self, stream: u64) -> bool {
        self.uses
            .lock()
            .iter()
            .all(|existing| existing.stream == stream || existing.until.is_reached())
    }

    /// Address of the first byte; dangling if the memory is empty.
    pub fn ptr(&self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        match &mut self.owner {
            Owner::Empty => {}
            Owner::Pool { pool, block } => {
                // SAFETY: the block came from this pool, and after this drop nothing can access it except the work
                // in flight recorded in `uses`.
                unsafe {
                    let uses = std::mem::take(self.uses.get_mut());
                    pool.free(self.ptr, self.bytes, *block, uses);
                }
            }
            Owner::Host { vector, counted_by } => {
                drop(vector.take());
                if let Some(pool) = counted_by {
                    pool.uncount_adopted(self.bytes);
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
            Owner::Empty => "none",
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

/// A value's storage on a device. It is in one of three states:
///
/// - *declared* iff it has neither memory nor a fault: the command that writes it has not run yet;
/// - *present* iff it has memory and no fault: the command that writes it has started, or there was none. Events
///   say when its bytes are complete;
/// - *failed* iff it has a fault: the command that writes it did not run or did not finish. Its bytes, if it has
///   memory, are meaningless.
///
/// It moves from declared to present once, by [`provide`](Buffer::provide) or [`adopt`](Buffer::adopt), and from
/// either to failed once, by [`fail`](Buffer::fail). The stream that runs the writing command makes all of these
/// transitions.
pub struct Buffer {
    bytes: usize,
    memory: OnceLock<Memory>,
    fault: OnceLock<Fault>,
    /// The buffer that this one is an alias of, if it has no memory of its own.
    adopted: OnceLock<Arc<Buffer>>,
}

impl Buffer {
    /// Creates a buffer that gets its memory when it is written.
    pub fn declare(bytes: usize) -> Arc<Buffer> {
        Arc::new(Buffer {
            bytes,
            memory: OnceLock::new(),
            fault: OnceLock::new(),
            adopted: OnceLock::new(),
        })
    }

    /// Creates a buffer with memory.
    pub fn with_memory(memory: Memory) -> Arc<Buffer> {
        let buffer = Buffer::declare(memory.bytes());
        // Cannot fail: the buffer was just declared.
        let _ = buffer.memory.set(memory);
        buffer
    }

    /// Creates a buffer that failed before it was written.
    pub fn failed(bytes: usize, fault: Fault) -> Arc<Buffer> {
        let buffer = Buffer::declare(bytes);
        buffer.fail(fault);
        buffer
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Its memory, if it has any.
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.get().or_else(|| self.adopted.get()?.memory())
    }

    /// Makes this buffer an alias of `source`: it shares the memory, and the fault if there is one, without a copy.
    /// From then on neither may be written, except by a command that is still to write `source`.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn adopt(&self, source: &Arc<Buffer>) {
        assert_eq!(
            self.bytes, source.bytes,
            "a buffer can only be an alias of a buffer of the same size"
        );
        // Resolve chains of aliases, so that values passed from loop iteration to loop iteration do not form a
        // list.
        let source = source.adopted.get().unwrap_or(source);
        let _ = self.adopted.set(source.clone());
    }

    /// In-place reuse: takes over the memory of an operand to which the caller holds the only reference, for the
    /// next command of `stream`, which is to write it. Returns whether the memory was reused; if not, nothing has
    /// changed.
    pub fn reuse_in_place(&self, operand: &Arc<Buffer>, stream: u64) -> bool {
        let owner = operand.adopted.get().unwrap_or(operand);
        // A weak reference does not keep the value in use.
        let is_alone = Arc::strong_count(operand) == 1
            && (Arc::ptr_eq(owner, operand) || Arc::strong_count(owner) == 1);
        let is_free = owner.memory.get().is_some_and(|memory| memory.is_free_for(stream));
        let fits = self.bytes == operand.bytes && self.memory().is_none();
        if !is_alone || !is_free || !fits || operand.fault().is_some() {
            return false;
        }
        self.adopt(operand);
        true
    }

    /// Gives the buffer its memory, of at least [`bytes`](Buffer::bytes) bytes. Returns the memory as `Err` if the
    /// buffer already has some.
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

    /// Takes the memory out of a buffer to which the caller has exclusive access.
    pub fn take_memory(&mut self) -> Option<Memory> {
        self.memory.take()
    }

    /// The fault that prevented the value, if any.
    pub fn fault(&self) -> Option<&Fault> {
        self.fault.get().or_else(|| self.adopted.get()?.fault())
    }

    /// Marks the buffer as failed. The first fault is kept.
    pub fn fail(&self, fault: Fault) {
        let _ = self.fault.set(fault);
    }

    /// Its memory for reading, or the fault: its own, or that it was never written. An empty buffer needs no
    /// writing command and is always readable.
    pub fn readable(&self) -> Result<&Memory, Fault> {
        if let Some(fault) = self.fault() {
            return Err(fault.clone());
        }
        if self.bytes == 0 {
            return Ok(self.memory.get_or_init(|| Memory::adopt(Vec::<u8>::new())));
        }
        self.memory().ok_or_else(|| {
            FaultKind::Unsupported("reading a buffer that was never written".into()).into()
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
