//! Reductions and scans: what they carry from block to block, and the loops that do.
//!
//! Where the vector axis is reduced, a reduction carries [`LANES_BYTES`] of partial results, which are
//! folded together at the end; where it is parallel, one result for each column.

use super::apply::{Arguments, Body, Function, block, block_mut, pick, two};
use super::memory::{Combine, StoreFunction, store_combine};
use super::number::{Bits, Flag, Number, Ordered};
use super::table::by_class;
use half::{bf16, f16};
use inflight_ir::DType;
use inflight_ir::elementwise::{ArgOp, CombineOp};
use num_complex::Complex;
use std::marker::PhantomData;

/// The partial results of a reduction along the vector axis: four 32-byte vectors, enough to hide the
/// latency of an addition.
pub const LANES_BYTES: usize = 128;

/// The loops of one way of combining elements of one dtype.
#[derive(Clone, Copy)]
pub struct Folds {
    /// Folds a block (`sources[0]`) into lanes (`state`).
    pub into_lanes: Function,
    /// Folds lanes (`sources[0]`) into one element (`target`).
    pub from_lanes: Function,
    /// Folds a block (`sources[0]`) into as many columns (`state`).
    pub into_columns: Function,
    /// Folds a block (`sources[0]`) element by element into one (`state`), keeping each result
    /// (`target`).
    pub scan_row: Function,
    /// Folds a block (`sources[0]`) into as many columns (`state`), keeping each result (`target`).
    pub scan_columns: Function,
    /// Folds a block into memory.
    pub store: StoreFunction,
}

/// The loops of an arg-reduction of one dtype. `sources[0]` is the block, `state` the best value so far,
/// `target` its index, `start` the index of the first element.
#[derive(Clone, Copy)]
pub struct ArgFolds {
    /// One best value and index for the whole block.
    pub row: Function,
    /// One best value and index for each element; all have the index `start`.
    pub columns: Function,
}

/// The loops that combine elements of this dtype.
pub fn folds(op: CombineOp, dtype: DType) -> Folds {
    fn flag(op: CombineOp) -> Option<Folds> {
        integer::<Flag>(op)
    }
    fn integer<T: Bits>(op: CombineOp) -> Option<Folds> {
        match op {
            CombineOp::And => Some(folds_of::<T, And>()),
            CombineOp::Or => Some(folds_of::<T, Or>()),
            CombineOp::Xor => Some(folds_of::<T, Xor>()),
            _ => real::<T>(op),
        }
    }
    fn real<T: Ordered>(op: CombineOp) -> Option<Folds> {
        match op {
            CombineOp::Min => Some(folds_of::<T, Min>()),
            CombineOp::Max => Some(folds_of::<T, Max>()),
            _ => complex::<T>(op),
        }
    }
    fn complex<T: Number>(op: CombineOp) -> Option<Folds> {
        match op {
            CombineOp::Sum => Some(folds_of::<T, Sum>()),
            CombineOp::Product => Some(folds_of::<T, Product>()),
            _ => None,
        }
    }
    by_class!(dtype, flag, integer, real, complex, (op))
        .unwrap_or_else(|| panic!("no verified kernel has {} of {dtype}", op.reduce_name()))
}

/// The loops of an arg-reduction of elements of this dtype.
pub fn arg_folds(op: ArgOp, dtype: DType) -> ArgFolds {
    fn of<T: Ordered>(op: ArgOp) -> Option<ArgFolds> {
        Some(match op {
            ArgOp::Min => ArgFolds {
                row: pick(ArgRow::<T, Min>(PhantomData)),
                columns: pick(ArgColumns::<T, Min>(PhantomData)),
            },
            ArgOp::Max => ArgFolds {
                row: pick(ArgRow::<T, Max>(PhantomData)),
                columns: pick(ArgColumns::<T, Max>(PhantomData)),
            },
        })
    }
    fn flag(op: ArgOp) -> Option<ArgFolds> {
        of::<Flag>(op)
    }
    fn complex<T: Number>(_: ArgOp) -> Option<ArgFolds> {
        None
    }
    by_class!(dtype, flag, of, of, complex, (op))
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
    Sum: Number add;
    Product: Number mul;
    Min: Ordered min;
    Max: Ordered max;
    And: Bits and;
    Or: Bits or;
    Xor: Bits xor;
}

fn folds_of<T: Number, C: Combine<T>>() -> Folds {
    Folds {
        into_lanes: pick(IntoLanes::<T, C>(PhantomData)),
        from_lanes: pick(FromLanes::<T, C>(PhantomData)),
        into_columns: pick(IntoColumns::<T, C>(PhantomData)),
        scan_row: pick(ScanRow::<T, C>(PhantomData)),
        scan_columns: pick(ScanColumns::<T, C>(PhantomData)),
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

loops!(MoveOut IntoLanes FromLanes IntoColumns ScanRow ScanColumns ArgRow ArgColumns);

/// How long sums of floats are kept accurate: the running sums of a pass are moved, every so many blocks,
/// into totals that remember what each addition lost.
#[derive(Clone, Copy)]
pub struct Moves {
    /// Adds the running sums (`state`) to totals (`target`) and what those lost (`sources[0]`, written
    /// too), and sets the running sums to zero. With a `start` of zero the totals begin here.
    pub move_out: Function,
    /// Sets the running sums (`target`) to the totals (`sources[0]`) with what they lost (`sources[1]`).
    pub move_back: Function,
    /// How many of them an element of the dtype is.
    pub parts: usize,
}

/// The moves of a reduction that rounds each addition.
pub fn moves(op: CombineOp, dtype: DType) -> Option<Moves> {
    fn of<T: Compensated>(parts: usize) -> Option<Moves> {
        let move_out = pick(MoveOut::<T, Sum>(PhantomData));
        let move_back = two(|total: T, lost: T| total.with(lost));
        Some(Moves { move_out, move_back, parts })
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

/// Sums with a memory of what was lost.
trait Compensated: Number + Default {
    /// The rounded sum, and the rest.
    fn add_exactly(self, other: Self) -> (Self, Self);
    /// The total corrected by what was lost, unless it is infinite.
    fn with(self, lost: Self) -> Self;
}

macro_rules! compensated {
    ($($type:ident)*) => {$(
        impl Compensated for $type {
            #[inline(always)]
            fn add_exactly(self, other: $type) -> ($type, $type) {
                let sum = self + other;
                let added = sum - self;
                (sum, (self - (sum - added)) + (other - added))
            }
            #[inline(always)]
            fn with(self, lost: $type) -> $type {
                let corrected = self + lost;
                // Infinity minus infinity was lost on the way to infinity.
                if lost.is_nan() { self } else { corrected }
            }
        }
    )*};
}

compensated!(f32 f64);

impl<T: Compensated> Body for MoveOut<T, Sum> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, state, sources: [lost, ..], start, .. } = arguments;
        // SAFETY: the caller's promise: three blocks that do not overlap.
        let (running, totals, lost) = unsafe {
            let lost = block_mut::<T>(lost.cast_mut(), count);
            (block_mut::<T>(state, count), block_mut::<T>(target, count), lost)
        };
        if start == 0 {
            totals.fill(T::default());
            lost.fill(T::default());
        }
        for ((running, total), lost) in running.iter_mut().zip(totals).zip(lost) {
            let (sum, rest) = total.add_exactly(*running);
            *total = sum;
            *lost = lost.add(rest);
            *running = T::default();
        }
    }
}

/// Folds a slice into lanes that start from its own elements, if it fills them, and then into `lanes`:
/// the partial sums of long rows stay short, and so do their rounding errors.
#[inline(always)]
fn fold_into_lanes<T: Number, C: Combine<T>, const LANES: usize>(lanes: &mut [T], source: &[T]) {
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
fn fold_block<T: Number, C: Combine<T>>(lanes: &mut [T], source: &[T]) {
    match size_of::<T>() {
        1 => fold_into_lanes::<T, C, 128>(lanes, source),
        2 => fold_into_lanes::<T, C, 64>(lanes, source),
        4 => fold_into_lanes::<T, C, 32>(lanes, source),
        8 => fold_into_lanes::<T, C, 16>(lanes, source),
        _ => fold_into_lanes::<T, C, 8>(lanes, source),
    }
}

/// Folds the lower half with the upper until one is left.
#[inline(always)]
fn fold_lanes<T: Number, C: Combine<T>>(lanes: &[T]) -> T {
    let mut partial = [lanes[0]; LANES_BYTES];
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

impl<T: Number, C: Combine<T>> Body for IntoLanes<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        // SAFETY: the caller's promise; the state is `LANES_BYTES` long.
        unsafe {
            let lanes = block_mut::<T>(arguments.state, LANES_BYTES / size_of::<T>());
            fold_block::<T, C>(lanes, block(arguments.sources[0], arguments.count));
        }
    }
}

impl<T: Number, C: Combine<T>> Body for FromLanes<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        // SAFETY: the caller's promise; the source is `LANES_BYTES` long.
        unsafe {
            let lanes = block::<T>(arguments.sources[0], LANES_BYTES / size_of::<T>());
            arguments.target.cast::<T>().write(fold_lanes::<T, C>(lanes));
        }
    }
}

impl<T: Number, C: Combine<T>> Body for IntoColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        #[inline(always)]
        fn fold<T: Number, C: Combine<T>>(columns: &mut [T], source: &[T]) {
            for (column, &element) in columns.iter_mut().zip(source) {
                *column = C::combine(*column, element);
            }
        }
        let &Arguments { count, state, sources: [source, ..], .. } = arguments;
        // SAFETY: the caller's promise.
        unsafe { fold::<T, C>(block_mut(state, count), block(source, count)) }
    }
}

impl<T: Number, C: Combine<T>> Body for ScanRow<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, state, sources: [source, ..], .. } = arguments;
        // SAFETY: the caller's promise; the state is one element.
        let (target, source, carry) = unsafe {
            (block_mut::<T>(target, count), block::<T>(source, count), &mut *state.cast::<T>())
        };
        let mut folded = *carry;
        for (target, &element) in target.iter_mut().zip(source) {
            folded = C::combine(folded, element);
            *target = folded;
        }
        *carry = folded;
    }
}

impl<T: Number, C: Combine<T>> Body for ScanColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        #[inline(always)]
        fn scan<T: Number, C: Combine<T>>(columns: &mut [T], target: &mut [T], source: &[T]) {
            for ((column, target), &element) in columns.iter_mut().zip(target).zip(source) {
                let folded = C::combine(*column, element);
                *column = folded;
                *target = folded;
            }
        }
        let &Arguments { count, target, state, sources: [source, ..], .. } = arguments;
        // SAFETY: the caller's promise.
        unsafe {
            scan::<T, C>(block_mut(state, count), block_mut(target, count), block(source, count))
        }
    }
}

/// What [`Min`] and [`Max`] look for.
trait Extreme<T>: Combine<T> {
    /// Whether `a` comes before `b`: not of equals; NaN before every number.
    fn beats(a: T, b: T) -> bool;
}

impl<T: Ordered> Extreme<T> for Min {
    #[inline(always)]
    fn beats(a: T, b: T) -> bool {
        (a < b) | (a.is_nan() & !b.is_nan())
    }
}

impl<T: Ordered> Extreme<T> for Max {
    #[inline(always)]
    fn beats(a: T, b: T) -> bool {
        (a > b) | (a.is_nan() & !b.is_nan())
    }
}

impl<T: Ordered, C: Extreme<T>> Body for ArgRow<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        let &Arguments { count, target, state, sources: [source, ..], start, .. } = arguments;
        // SAFETY: the caller's promise; state and target are one element.
        let (source, best, index) = unsafe {
            (block::<T>(source, count), &mut *state.cast::<T>(), &mut *target.cast::<i64>())
        };
        if best.is_nan() {
            return;
        }
        // The extreme of the block first, which vectorizes; where it is only if it matters.
        let mut lanes = [*best; LANES_BYTES];
        let lanes = &mut lanes[..LANES_BYTES / size_of::<T>()];
        fold_block::<T, C>(lanes, source);
        let extreme = fold_lanes::<T, C>(lanes);
        if C::beats(extreme, *best) {
            *best = extreme;
            let is_it = |&element: &T| element == extreme || (element.is_nan() & extreme.is_nan());
            *index = start + source.iter().position(is_it).unwrap_or(0) as i64;
        }
    }
}

impl<T: Ordered, C: Extreme<T>> Body for ArgColumns<T, C> {
    #[inline(always)]
    unsafe fn run(self, arguments: &Arguments) {
        #[inline(always)]
        fn fold<T: Ordered, C: Extreme<T>>(
            best: &mut [T],
            index: &mut [i64],
            source: &[T],
            start: i64,
        ) {
            for ((best, index), &element) in best.iter_mut().zip(index).zip(source) {
                let better = C::beats(element, *best);
                *index = if better { start } else { *index };
                *best = if better { element } else { *best };
            }
        }
        let &Arguments { count, target, state, sources: [source, ..], start, .. } = arguments;
        // SAFETY: the caller's promise.
        unsafe {
            fold::<T, C>(
                block_mut(state, count),
                block_mut(target, count),
                block(source, count),
                start,
            )
        }
    }
}
