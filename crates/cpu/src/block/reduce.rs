//! Reductions, scans and arg-reductions: the loops and the state that they carry from block to block.
//!
//! A row reduction carries [`ACCUMULATOR_BYTES`] of partial results, which a horizontal reduction combines at the
//! end. A column reduction carries one result per column.

use super::dispatch::by_class;
use super::element::{Bitwise, BoolByte, Numeric, Ordered};
use super::elementwise::{
    BlockLoop, Function, LoopArguments, binary_loop, multiversion, source_slice, target_slice,
};
use super::load_store::{Combine, StoreFunction, store_combine};
use half::{bf16, f16};
use inflight_ir::DType;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use num_complex::Complex;
use std::marker::PhantomData;

/// Accumulator lanes of a row reduction: four 32-byte vectors, enough to hide the latency of an addition.
pub const ACCUMULATOR_BYTES: usize = 128;

/// Reduction and scan loops of a combine op and dtype.
#[derive(Clone, Copy)]
pub struct CombineLoops {
    /// Accumulates a block (`sources[0]`) into lanes (`state`).
    pub accumulate_lanes: Function,
    /// Horizontal reduction of lanes (`sources[0]`) to one element (`target`).
    pub horizontal_reduce: Function,
    /// Accumulates a block (`sources[0]`) into as many columns (`state`).
    pub accumulate_columns: Function,
    /// Scans a block (`sources[0]`) along the row, with the carry in `state`, into `target`.
    pub scan_row: Function,
    /// Accumulates a block (`sources[0]`) into as many columns (`state`) and stores each result (`target`).
    pub scan_columns: Function,
    /// Combines a block into memory.
    pub store: StoreFunction,
}

/// Arg-reduction loops of a dtype. `sources[0]` is the block, `state` the best value so far, `target` its index,
/// `start` the index of the first element.
#[derive(Clone, Copy)]
pub struct ArgReduceLoops {
    /// One best value and index for the whole row.
    pub row: Function,
    /// One best value and index per column; all elements of the block have the index `start`.
    pub columns: Function,
}

/// Returns the loops of a combine op on this dtype.
pub fn combine_loops(op: CombineOp, dtype: DType) -> CombineLoops {
    fn boolean(op: CombineOp) -> Option<CombineLoops> {
        integer::<BoolByte>(op)
    }
    fn integer<T: Bitwise>(op: CombineOp) -> Option<CombineLoops> {
        match op {
            CombineOp::And => Some(combine_loops_of::<T, And>()),
            CombineOp::Or => Some(combine_loops_of::<T, Or>()),
            CombineOp::Xor => Some(combine_loops_of::<T, Xor>()),
            _ => real::<T>(op),
        }
    }
    fn real<T: Ordered>(op: CombineOp) -> Option<CombineLoops> {
        match op {
            CombineOp::Min => Some(combine_loops_of::<T, Min>()),
            CombineOp::Max => Some(combine_loops_of::<T, Max>()),
            _ => complex::<T>(op),
        }
    }
    fn complex<T: Numeric>(op: CombineOp) -> Option<CombineLoops> {
        match op {
            CombineOp::Sum => Some(combine_loops_of::<T, Sum>()),
            CombineOp::Product => Some(combine_loops_of::<T, Product>()),
            _ => None,
        }
    }
    by_class!(dtype, boolean, integer, real, complex, (op))
        .unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.reduce_name()))
}

/// Returns the arg-reduction loops of this dtype.
pub fn arg_reduce_loops(op: ArgOp, dtype: DType) -> ArgReduceLoops {
    fn of<T: Ordered>(op: ArgOp) -> Option<ArgReduceLoops> {
        Some(match op {
            ArgOp::Min => ArgReduceLoops {
                row: multiversion(ArgRow::<T, Min>(PhantomData)),
                columns: multiversion(ArgColumns::<T, Min>(PhantomData)),
            },
            ArgOp::Max => ArgReduceLoops {
                row: multiversion(ArgRow::<T, Max>(PhantomData)),
                columns: multiversion(ArgColumns::<T, Max>(PhantomData)),
            },
        })
    }
    fn boolean(op: ArgOp) -> Option<ArgReduceLoops> {
        of::<BoolByte>(op)
    }
    fn complex<T: Numeric>(_: ArgOp) -> Option<ArgReduceLoops> {
        None
    }
    by_class!(dtype, boolean, of, of, complex, (op))
        .unwrap_or_else(|| panic!("no verified kernel has an arg-reduction of {dtype}"))
}

macro_rules! combine {
    ($($name:ident: $bound:ident $method:ident;)*) => {$(
        #[derive(Clone, Copy)]
        struct $name;
        impl<T: $bound> Combine<T> for $name {
            #[inline(always)]
            fn combine(a: T, b: T) -> T {
                a.$method(b)
            }
        }
    )*};
}

combine! {
    Sum: Numeric add;
    Product: Numeric mul;
    Min: Ordered min;
    Max: Ordered max;
    And: Bitwise and;
    Or: Bitwise or;
    Xor: Bitwise xor;
}

fn combine_loops_of<T: Numeric, C: Combine<T>>() -> CombineLoops {
    CombineLoops {
        accumulate_lanes: multiversion(AccumulateLanes::<T, C>(PhantomData)),
        horizontal_reduce: multiversion(HorizontalReduce::<T, C>(PhantomData)),
        accumulate_columns: multiversion(AccumulateColumns::<T, C>(PhantomData)),
        scan_row: multiversion(ScanRow::<T, C>(PhantomData)),
        scan_columns: multiversion(ScanColumns::<T, C>(PhantomData)),
        store: store_combine::<T, C>(),
    }
}

macro_rules! loops {
    ($($name:ident)*) => {$(
        struct $name<T, C>(PhantomData<fn(T) -> C>);
        impl<T, C> Clone for $name<T, C> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T, C> Copy for $name<T, C> {}
    )*};
}

loops!(FlushPartialSums AccumulateLanes HorizontalReduce AccumulateColumns ScanRow ScanColumns ArgRow ArgColumns);

/// Compensated summation (Neumaier) of long float sums. Every few blocks, the partial sums of a pass are added to
/// totals that record the rounding error of each addition.
#[derive(Clone, Copy)]
pub struct CompensatedSumLoops {
    /// Adds the partial sums (`state`) to the totals (`target`), adds the rounding errors to the compensation
    /// (`sources[0]`, also written), and zeroes the partial sums. With a `start` of zero, totals and compensation
    /// are initialized first.
    pub flush_partial_sums: Function,
    /// Sets the partial sums (`target`) to the totals (`sources[0]`) plus their compensation (`sources[1]`).
    pub restore_total: Function,
    /// Real components per element: two for complex dtypes.
    pub components: usize,
}

/// The compensated summation loops of a reduction that rounds each addition.
pub fn compensated_sum_loops(op: CombineOp, dtype: DType) -> Option<CompensatedSumLoops> {
    fn of<T: Compensated>(components: usize) -> Option<CompensatedSumLoops> {
        let flush_partial_sums = multiversion(FlushPartialSums::<T, Sum>(PhantomData));
        let restore_total =
            binary_loop(|total: T, compensation: T| total.compensated_by(compensation));
        Some(CompensatedSumLoops { flush_partial_sums, restore_total, components })
    }
    match dtype {
        _ if op != CombineOp::Sum => None,
        DType::F32 => of::<f32>(1),
        DType::F64 => of::<f64>(1),
        DType::C64 => of::<f32>(2),
        DType::C128 => of::<f64>(2),
        _ => None,
    }
}

/// Float types with error-free addition.
trait Compensated: Numeric + Default {
    /// TwoSum: the rounded sum and its rounding error.
    fn two_sum(self, other: Self) -> (Self, Self);
    /// The total plus its compensation, unless the total is infinite.
    fn compensated_by(self, compensation: Self) -> Self;
}

macro_rules! compensated {
    ($($type:ident)*) => {$(
        impl Compensated for $type {
            #[inline(always)]
            fn two_sum(self, other: $type) -> ($type, $type) {
                let sum = self + other;
                let added = sum - self;
                (sum, (self - (sum - added)) + (other - added))
            }
            #[inline(always)]
            fn compensated_by(self, compensation: $type) -> $type {
                let corrected = self + compensation;
                // The compensation is NaN once a sum overflowed: infinity minus infinity.
                if compensation.is_nan() { self } else { corrected }
            }
        }
    )*};
}

compensated!(f32 f64);

impl<T: Compensated> BlockLoop for FlushPartialSums<T, Sum> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, state, sources: [compensation, ..], start, .. } =
            arguments;
        // SAFETY: guaranteed by the caller: three disjoint blocks.
        let (partial, totals, compensation) = unsafe {
            let compensation = target_slice::<T>(compensation.cast_mut(), count);
            (target_slice::<T>(state, count), target_slice::<T>(target, count), compensation)
        };
        if start == 0 {
            totals.fill(T::default());
            compensation.fill(T::default());
        }
        for ((partial, total), compensation) in partial.iter_mut().zip(totals).zip(compensation) {
            let (sum, error) = total.two_sum(*partial);
            *total = sum;
            *compensation = compensation.add(error);
            *partial = T::default();
        }
    }
}

/// Accumulates a slice into fresh lanes, if it fills them, and then combines those into `lanes`. Partial sums of
/// long rows then stay short, and so do their rounding errors.
#[inline(always)]
fn accumulate_chunks<T: Numeric, C: Combine<T>, const LANES: usize>(lanes: &mut [T], source: &[T]) {
    let (chunks, rest) = source.as_chunks::<LANES>();
    if let Some((first, chunks)) = chunks.split_first() {
        let mut partial = *first;
        for chunk in chunks {
            for (partial, &element) in partial.iter_mut().zip(chunk) {
                *partial = C::combine(*partial, element);
            }
        }
        for (lane, partial) in lanes.iter_mut().zip(partial) {
            *lane = C::combine(*lane, partial);
        }
    }
    for (lane, &element) in lanes.iter_mut().zip(rest) {
        *lane = C::combine(*lane, element);
    }
}

#[inline(always)]
fn accumulate_block<T: Numeric, C: Combine<T>>(lanes: &mut [T], source: &[T]) {
    match size_of::<T>() {
        1 => accumulate_chunks::<T, C, 128>(lanes, source),
        2 => accumulate_chunks::<T, C, 64>(lanes, source),
        4 => accumulate_chunks::<T, C, 32>(lanes, source),
        8 => accumulate_chunks::<T, C, 16>(lanes, source),
        _ => accumulate_chunks::<T, C, 8>(lanes, source),
    }
}

/// Pairwise horizontal reduction: combines the lower lanes with the upper ones until one is left.
#[inline(always)]
fn reduce_lanes<T: Numeric, C: Combine<T>>(lanes: &[T]) -> T {
    let mut partial = [lanes[0]; ACCUMULATOR_BYTES];
    let mut count = lanes.len();
    partial[..count].copy_from_slice(lanes);
    while count > 1 {
        count /= 2;
        for i in 0..count {
            partial[i] = C::combine(partial[i], partial[i + count]);
        }
    }
    partial[0]
}

impl<T: Numeric, C: Combine<T>> BlockLoop for AccumulateLanes<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        // SAFETY: guaranteed by the caller; the state is `ACCUMULATOR_BYTES` long.
        unsafe {
            let lanes = target_slice::<T>(arguments.state, ACCUMULATOR_BYTES / size_of::<T>());
            accumulate_block::<T, C>(lanes, source_slice(arguments.sources[0], arguments.count));
        }
    }
}

impl<T: Numeric, C: Combine<T>> BlockLoop for HorizontalReduce<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        // SAFETY: guaranteed by the caller; the source is `ACCUMULATOR_BYTES` long.
        unsafe {
            let lanes = source_slice::<T>(arguments.sources[0], ACCUMULATOR_BYTES / size_of::<T>());
            arguments.target.cast::<T>().write(reduce_lanes::<T, C>(lanes));
        }
    }
}

impl<T: Numeric, C: Combine<T>> BlockLoop for AccumulateColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        #[inline(always)]
        fn update<T: Numeric, C: Combine<T>>(columns: &mut [T], source: &[T]) {
            for (column, &element) in columns.iter_mut().zip(source) {
                *column = C::combine(*column, element);
            }
        }
        let &LoopArguments { count, state, sources: [source, ..], .. } = arguments;
        // SAFETY: guaranteed by the caller.
        unsafe { update::<T, C>(target_slice(state, count), source_slice(source, count)) }
    }
}

impl<T: Numeric, C: Combine<T>> BlockLoop for ScanRow<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, state, sources: [source, ..], .. } = arguments;
        // SAFETY: guaranteed by the caller; the state is one element.
        let (target, source, carry) = unsafe {
            (
                target_slice::<T>(target, count),
                source_slice::<T>(source, count),
                &mut *state.cast::<T>(),
            )
        };
        let mut combined = *carry;
        for (target, &element) in target.iter_mut().zip(source) {
            combined = C::combine(combined, element);
            *target = combined;
        }
        *carry = combined;
    }
}

impl<T: Numeric, C: Combine<T>> BlockLoop for ScanColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        #[inline(always)]
        fn scan<T: Numeric, C: Combine<T>>(columns: &mut [T], target: &mut [T], source: &[T]) {
            for ((column, target), &element) in columns.iter_mut().zip(target).zip(source) {
                let combined = C::combine(*column, element);
                *column = combined;
                *target = combined;
            }
        }
        let &LoopArguments { count, target, state, sources: [source, ..], .. } = arguments;
        // SAFETY: guaranteed by the caller.
        unsafe {
            scan::<T, C>(
                target_slice(state, count),
                target_slice(target, count),
                source_slice(source, count),
            )
        }
    }
}

/// Order of [`Min`] and [`Max`] in an arg-reduction.
trait ArgCompare<T>: Combine<T> {
    /// Whether `a` strictly precedes `b`; NaN precedes every other value.
    fn precedes(a: T, b: T) -> bool;
}

impl<T: Ordered> ArgCompare<T> for Min {
    #[inline(always)]
    fn precedes(a: T, b: T) -> bool {
        (a < b) | (a.is_nan() & !b.is_nan())
    }
}

impl<T: Ordered> ArgCompare<T> for Max {
    #[inline(always)]
    fn precedes(a: T, b: T) -> bool {
        (a > b) | (a.is_nan() & !b.is_nan())
    }
}

impl<T: Ordered, C: ArgCompare<T>> BlockLoop for ArgRow<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        let &LoopArguments { count, target, state, sources: [source, ..], start, .. } = arguments;
        // SAFETY: guaranteed by the caller; state and target are one element.
        let (source, best, index) = unsafe {
            (source_slice::<T>(source, count), &mut *state.cast::<T>(), &mut *target.cast::<i64>())
        };
        if best.is_nan() {
            return;
        }
        // Find the best value first, which vectorizes; search for its index only if it improves on the previous
        // blocks.
        let mut lanes = [*best; ACCUMULATOR_BYTES];
        let lanes = &mut lanes[..ACCUMULATOR_BYTES / size_of::<T>()];
        accumulate_block::<T, C>(lanes, source);
        let block_best = reduce_lanes::<T, C>(lanes);
        if C::precedes(block_best, *best) {
            *best = block_best;
            let is_best =
                |&element: &T| element == block_best || (element.is_nan() & block_best.is_nan());
            *index = start + source.iter().position(is_best).unwrap_or(0) as i64;
        }
    }
}

impl<T: Ordered, C: ArgCompare<T>> BlockLoop for ArgColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &LoopArguments) {
        #[inline(always)]
        fn update<T: Ordered, C: ArgCompare<T>>(
            best: &mut [T],
            index: &mut [i64],
            source: &[T],
            start: i64,
        ) {
            for ((best, index), &element) in best.iter_mut().zip(index).zip(source) {
                let better = C::precedes(element, *best);
                *index = if better { start } else { *index };
                *best = if better { element } else { *best };
            }
        }
        let &LoopArguments { count, target, state, sources: [source, ..], start, .. } = arguments;
        // SAFETY: guaranteed by the caller.
        unsafe {
            update::<T, C>(
                target_slice(state, count),
                target_slice(target, count),
                source_slice(source, count),
                start,
            )
        }
    }
}
