//! Prebound calls: a function with a filled argument block, for launches that repeat on the same memory.

use super::Code;
use super::argument_layout;
use super::driver::{ArgumentBlock, CallBlock, Function, split_range};
use crate::call::{Call, Part, Scratch};
use inflight_backend::Pool;
use inflight_ir::kernel::VectorAxis;
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::sync::Arc;

/// Above this many blocks, recomputing the block arguments costs less than storing them.
const MAX_BLOCKS: usize = 64;

/// A repeatable call of emitted code with bound operands.
pub struct BoundCode<'a> {
    function: Function,
    arguments: ArgumentBlock,
    /// Argument words to write before each block: offset and value.
    words: BlockWords,
    /// Number of such words per block; at least one.
    words_per_block: usize,
    /// Owns the argument block and the scratch arrays.
    _memory: Scratch<'a>,
    /// Keeps the function's code alive.
    _code: PhantomData<&'a Code>,
}

/// Argument words to rewrite before a call. Most calls have one or two, which stay inline.
type BlockWords = SmallVec<[(i32, usize); 2]>;

impl Code {
    /// Fills the argument block once for any number of calls. Returns `None` if recomputing the arguments per
    /// call is cheaper.
    ///
    /// # Safety
    /// As for [`run`](Code::run), at every run of the bound code.
    pub unsafe fn bind<'a>(
        &'a self,
        call: &Call,
        part: &Part,
        pool: &'a Arc<Pool>,
    ) -> Option<BoundCode<'a>> {
        let kernel = &self.kernel;
        let extents = &call.shape.extents;
        let vector_extent = *extents.last()?;
        let parallel = kernel.vector == VectorAxis::Parallel;
        let is_empty =
            part.grid.is_empty() || (parallel && part.vector.is_empty() && vector_extent > 0);
        let vector = if parallel { part.vector.clone() } else { 0..vector_extent };
        if is_empty
            || self.transposed.as_ref().is_some_and(|transposed| transposed.applies_to(call))
        {
            return None;
        }
        let mut memory = Scratch::new(pool);
        // SAFETY: as for a run.
        let (arguments, width) = unsafe { self.prepare_arguments(call, vector.len(), &mut memory) };
        let offsets = self.block_word_offsets();
        let mut words = SmallVec::<[(i32, usize); 16]>::new();
        let mut count = 0;
        for (grid, inner) in self.program_runs(call, part) {
            for vector in split_range(vector.clone(), width) {
                if count == MAX_BLOCKS {
                    return None;
                }
                count += 1;
                let block = CallBlock { grid, inner: inner.clone(), vector };
                // SAFETY: the offsets are those of words in the argument block, which has the layout's size.
                unsafe {
                    self.write_block_arguments(&arguments, call, &block);
                    words.extend(offsets.iter().map(|&at| (at, arguments.read_word(at))));
                }
            }
        }
        // Every block has the same words, among them the number of programs left.
        let mut words_per_block = offsets.len();
        // BlockWords that the code does not modify need not be rewritten.
        if count == 1 {
            let inner = self.program_runs(call, part).next().map_or(0, |(_, inner)| inner.len());
            words.retain(|&mut (at, _)| match inner {
                1 => at == argument_layout::PROGRAMS_LEFT,
                _ => {
                    at != argument_layout::VECTOR_EXTENT
                        && !argument_layout::UNROLL_LIMITS.contains(&at)
                }
            });
            words_per_block = words.len();
        }
        (count > 0).then(|| BoundCode {
            function: self.function(),
            arguments,
            words_per_block,
            words: BlockWords::from_slice(&words),
            _memory: memory,
            _code: PhantomData,
        })
    }

    /// Offsets of the words that [`write_block_arguments`](Code::write_block_arguments) writes.
    fn block_word_offsets(&self) -> SmallVec<[i32; 16]> {
        let rows = (0..self.kernel.accesses.len())
            .map(|i| self.layout.access(i) + argument_layout::PROGRAM_POINTER);
        [argument_layout::PROGRAMS_LEFT, argument_layout::VECTOR_EXTENT]
            .into_iter()
            .chain(argument_layout::UNROLL_LIMITS)
            .chain(rows)
            .collect()
    }
}

impl BoundCode<'_> {
    /// Runs the call.
    ///
    /// # Safety
    /// As for [`Code::bind`].
    #[inline]
    pub unsafe fn run(&self) {
        if let [(at, value)] = self.words[..] {
            // SAFETY: as below.
            unsafe {
                self.arguments.write_word(at, value);
                return (self.function)(self.arguments.start);
            }
        }
        let mut words = &self.words[..];
        while !words.is_empty() {
            let (block, others) = words.split_at(self.words_per_block);
            words = others;
            // SAFETY: the offsets are those of words in the argument block; the rest is guaranteed by the caller.
            unsafe {
                for &(at, value) in block {
                    self.arguments.write_word(at, value);
                }
                (self.function)(self.arguments.start);
            }
        }
    }
}
