//! What a compiled kernel is called with, whichever way it was compiled.

use inflight_ir::Scalar;
use inflight_ir::kernel::LaunchShape;
use std::cell::RefCell;
use std::ops::Range;

/// The operands of a launch. The same for every part of it.
pub struct Call<'a> {
    /// The address of each of the kernel's buffers.
    pub buffers: &'a [*mut u8],
    /// The values of the kernel's scalars.
    pub scalars: &'a [Scalar],
    /// Extents and maps.
    pub shape: &'a LaunchShape,
}

/// A part of a launch, which one thread runs: the programs whose flat grid index (row-major over the grid
/// axes) is in `grid`, at the points of the vector axis in `vector`.
///
/// `vector` is the whole axis unless it is parallel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Flat indices of programs.
    pub grid: Range<usize>,
    /// Points of the vector axis.
    pub vector: Range<usize>,
}

/// Memory for what a program keeps between passes. One for each thread, reused from call to call.
#[derive(Default)]
pub struct Scratch {
    /// `u64`s times eight, so that any vector is aligned.
    lines: Vec<[u64; 8]>,
}

impl Scratch {
    /// At least this many bytes, 64-byte aligned, with unspecified contents.
    pub fn bytes(&mut self, len: usize) -> *mut u8 {
        // `[u64; 8]` is 8-byte aligned: one more line leaves room to round the address up.
        let lines = len.div_ceil(64) + 1;
        if self.lines.len() < lines {
            self.lines.resize(lines, [0; 8]);
        }
        let start = self.lines.as_mut_ptr().cast::<u8>();
        start.wrapping_add(start.align_offset(64))
    }
}

thread_local! {
    /// Memory that the thread has used and will use again, the last used on top.
    static SPARE: RefCell<Vec<Scratch>> = const { RefCell::new(Vec::new()) };
}

/// Runs `f` with memory of this thread that nobody else uses meanwhile, not even within `f`.
pub fn with_scratch<R>(f: impl FnOnce(&mut Scratch) -> R) -> R {
    // A thread that is ending has none to spare, and keeps none.
    let spare = SPARE.try_with(|spare| spare.borrow_mut().pop());
    let mut scratch = spare.ok().flatten().unwrap_or_default();
    let result = f(&mut scratch);
    let _ = SPARE.try_with(|spare| spare.borrow_mut().push(scratch));
    result
}
