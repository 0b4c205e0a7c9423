//! Operands, partitions and scratch memory of a kernel launch, shared by machine code and the block interpreter.

use inflight_backend::{Memory, Pool};
use inflight_ir::Scalar;
use inflight_ir::kernel::LaunchShape;
use std::cell::RefCell;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Largest scratch buffer that a thread keeps for itself, like a part of its stack. Covers the tile budgets of column
/// reductions, so that only long rows and large GEMM panels exceed it.
const MAX_THREAD_SCRATCH: usize = 512 << 10;

/// Operands of a launch, shared by all its parts.
pub struct Call<'a> {
    /// Address of each kernel buffer.
    pub buffers: &'a [*mut u8],
    /// Values of the launch scalars.
    pub scalars: &'a [Scalar],
    /// Extents and access maps.
    pub shape: &'a LaunchShape,
}

/// A partition of a launch, executed by one thread: the programs with a flat grid index (row-major over the grid
/// axes) in `grid`, at the points of the vector axis in `vector`.
///
/// `vector` covers the whole axis unless the axis is parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Flat program indices.
    pub grid: Range<usize>,
    /// Range of the vector axis.
    pub vector: Range<usize>,
}

/// Scratch memory for values that stay live between the passes of a program.
///
/// Up to [`MAX_THREAD_SCRATCH`] bytes come from the thread's own buffer, which is reused across calls without locks. A
/// larger buffer is memory of the pool while the call runs: it counts against the memory limit, is cached afterwards as
/// every freed block is, and a trim gives it back.
#[derive(Default)]
pub struct Scratch<'a> {
    thread: ThreadBuffer,
    large: Option<Memory>,
    /// The source of large buffers. `None`: the thread's buffer grows without limit.
    pool: Option<&'a Arc<Pool>>,
}

/// A growing buffer, allocated in units of one cache line.
#[derive(Default)]
struct ThreadBuffer(Vec<[u64; 8]>);

impl<'a> Scratch<'a> {
    /// Scratch memory with an empty thread buffer.
    pub fn new(pool: &'a Arc<Pool>) -> Scratch<'a> {
        Scratch { pool: Some(pool), ..Scratch::default() }
    }

    /// Returns at least `len` bytes, 64-byte aligned, with unspecified contents; valid until the next call.
    ///
    /// # Panics
    /// If the pool is out of memory: unwinds with the [`FaultKind`](inflight_backend::FaultKind) as the payload,
    /// which becomes the fault of the launch.
    pub fn bytes(&mut self, len: usize) -> *mut u8 {
        match self.pool {
            Some(pool) if len > MAX_THREAD_SCRATCH => self.large_bytes(pool, len),
            _ => self.thread.bytes(len),
        }
    }

    #[cold]
    fn large_bytes(&mut self, pool: &Arc<Pool>, len: usize) -> *mut u8 {
        if let Some(memory) = self.large.as_ref().filter(|memory| memory.bytes() >= len) {
            return memory.ptr();
        }
        // Free the smaller buffer first.
        self.large = None;
        // Not a panic of the program: the panic hook prints nothing.
        let memory = pool.allocate(len).unwrap_or_else(|fault| resume_unwind(Box::new(fault.kind)));
        self.large.insert(memory).ptr()
    }
}

impl ThreadBuffer {
    fn bytes(&mut self, len: usize) -> *mut u8 {
        // `[u64; 8]` is only 8-byte aligned: one extra line leaves room to round the address up.
        let lines = len.div_ceil(64) + 1;
        if self.0.len() < lines {
            self.0.resize(lines, [0; 8]);
        }
        let start = self.0.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

thread_local! {
    /// Free list of this thread's buffers, most recently used on top: one for each level of nested calls.
    static SPARE: RefCell<Vec<ThreadBuffer>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with scratch memory that belongs to this call alone, also under nested calls from within `f`.
pub fn with_scratch<R>(pool: &Arc<Pool>, f: impl FnOnce(&mut Scratch) -> R) -> R {
    // Thread-local storage is gone during thread shutdown: allocate a fresh buffer and drop it afterwards.
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
    let thread = spare.ok().flatten().unwrap_or_default();
    let mut scratch = Scratch { thread, large: None, pool: Some(pool) };
    let result = f(&mut scratch);
    let thread = scratch.thread;
    let _ = SPARE.try_with(|spare| spare.borrow_mut().push(thread));
    result
}
