//! Code with its arguments at hand: for calls that are made again and again.

use super::Code;
use super::argument_layout;
use super::driver::{ArgumentBlock, Block, Function, split_range};
use crate::call::{Call, Part, Scratch};
use inflight_ir::kernel::VectorAxis;
use smallvec::SmallVec;
use std::marker::PhantomData;

/// Beyond this many split_range, walking them costs less than what is kept for each.
const MAX_BLOCKS: usize = 64;

/// A call of machine code that can be made any number of times, with the operands it was bound to.
pub struct BoundCode<'a> {
    function: Function,
    arguments: ArgumentBlock,
    /// The words that the code counts down and moves on, block after block: where they are, and what they begin
    /// with.
    words: Words,
    /// How many of them each block has; one or more.
    words_per_block: usize,
    /// Where the argument block and the arrays are.
    _memory: Scratch,
    /// Where the function is.
    _code: PhantomData<&'a Code>,
}

/// Places in the argument block and what is there; mostly few, and not worth memory of their own.
type Words = SmallVec<[(i32, usize); 2]>;

impl Code {
    /// Fills the arguments of a call in, once for all times. `None` if the call is one that is better walked anew.
    ///
    /// # Safety
    /// As for [`run`](Code::run), whenever the bound code is run.
    pub unsafe fn bind(&self, call: &Call, part: &Part) -> Option<BoundCode<'_>> {
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
        let mut memory = Scratch::default();
        // SAFETY: as for a run.
        let (arguments, width) = unsafe { self.prepare_arguments(call, vector.len(), &mut memory) };
        let offsets = self.block_words();
        let mut words = SmallVec::<[(i32, usize); 16]>::new();
        let mut count = 0;
        for (grid, inner) in self.program_runs(call, part) {
            for vector in split_range(vector.clone(), width) {
                if count == MAX_BLOCKS {
                    return None;
                }
                count += 1;
                let block = Block { grid, inner: inner.clone(), vector };
                // SAFETY: the words are offsets of the argument block, which is as long as the layout says.
                unsafe {
                    self.write_block_arguments(&arguments, call, &block);
                    words.extend(offsets.iter().map(|&at| (at, arguments.read_word(at))));
                }
            }
        }
        // Every block has the same words, the countdown among them.
        let mut words_per_block = offsets.len();
        // What the code leaves as it was need not be written again.
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
            words: Words::from_slice(&words),
            _memory: memory,
            _code: PhantomData,
        })
    }

    /// The words that [`place`](Code::place) writes.
    fn block_words(&self) -> SmallVec<[i32; 16]> {
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
    /// Makes the call.
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
            // SAFETY: the words are offsets of the argument block; the rest is the caller's promise.
            unsafe {
                for &(at, value) in block {
                    self.arguments.write_word(at, value);
                }
                (self.function)(self.arguments.start);
            }
        }
    }
}
