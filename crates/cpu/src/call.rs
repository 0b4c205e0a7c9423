//! Operands, partitions and scratch memory of a kernel launch, shared by machine code and the block interpreter.

use inflight_ir::Scalar;
use inflight_ir::kernel::LaunchShape;
use std::cell::RefCell;
use std::ops::Range;

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

/// Per-thread scratch buffer for values that stay live between the passes of a program. Reused across calls.
#[derive(Default)]
pub struct Scratch {
    /// Allocated in units of one cache line.
    lines: Vec<[u64; 8]>,
}

impl Scratch {
    /// Returns at least `len` bytes, 64-byte aligned, with unspecified contents.
    pub fn bytes(&mut self, len: usize) -> *mut u8 {
        // `[u64; 8]` is only 8-byte aligned: one extra line leaves room to round the address up.
        let lines = len.div_ceil(64) + 1;
        if self.lines.len() < lines {
            self.lines.resize(lines, [0; 8]);
        }
        let start = self.lines.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

thread_local! {
    /// Free list of this thread's scratch buffers, most recently used on top.
    static SPARE: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with a scratch buffer that belongs to this call alone, also under nested calls from within `f`.
pub fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    // Thread-local storage is gone during thread shutdown: allocate a fresh buffer and drop it afterwards.
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
    let mut scratch = spare.ok().flatten().unwrap_or_default();
    let result = f(&mut scratch);
    let _ = SPARE.try_with(|spare| spare.borrow_mut().push(scratch));
    result
}
