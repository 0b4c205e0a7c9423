//! Sort, argsort and top-k along an axis: radix sort by keys, merge sort by a comparator, selection for small `k`.

use super::radix_sort::{self, Item, KeyedPosition};
use super::sort_key::{KeyBits, KeyMapping};
use super::top_k::TopK;
use super::{Device, SharedPtr, merge_sort};
use inflight_backend::Fault;
use inflight_ir::graph::{ScalarFunction, SortKey, SortOrder, SortResult};
use inflight_ir::interpret::ScalarFunctionEvaluator;
use inflight_ir::plan::Lines;
use inflight_ir::{DType, Element, Scalar};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Minimum length for all threads to share one line.
const LONG_LINE: usize = 1 << 16;

/// Minimum length for all threads to share one line of a sort by a comparator, where each comparison is a call.
const LONG_COMPARED_LINE: usize = 1 << 12;

/// Elements of a chunk: of several lines, or of a part of a long one.
const CHUNK: usize = 1 << 14;

/// Maximum `k` of a top-k selection in a long line; for more, a full sort is faster.
const MAX_TOP_K: usize = CHUNK / 4;

/// One line of a tensor: the elements along the sorted axis.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    stride: usize,
    len: usize,
}

impl Line {
    fn new(lines: Lines, index: usize) -> Line {
        let (outer, inner) = (index / lines.inner, index % lines.inner);
        let start = outer * lines.extent * lines.inner + inner;
        Line { start, stride: lines.inner, len: lines.extent }
    }

    /// The index of an element in the tensor.
    fn at(self, i: usize) -> usize {
        self.start + i * self.stride
    }
}

/// Sorts every line; writes values, positions or the first positions.
///
/// # Safety
/// As for [`run`](super::run).
pub unsafe fn sort(
    device: &Device,
    lines: Lines,
    dtypes: &[DType],
    order: &SortOrder,
    output: SortResult,
    operands: &[*mut u8],
    result: *mut u8,
) -> Result<(), Fault> {
    let result = SharedPtr(result);
    let keys: Vec<Key> = dtypes
        .iter()
        .zip(operands)
        .enumerate()
        .map(|(i, (&dtype, &address))| {
            let order = match order {
                SortOrder::Keys(orders) => orders[i],
                SortOrder::Comparator(_) => SortKey::default(),
            };
            Key { dtype, mapping: KeyMapping::new(dtype, order), elements: SharedPtr(address) }
        })
        .collect();
    // SAFETY: promised by the caller; the elements of a line are elements of the tensor.
    unsafe {
        match (order, output, &keys[..]) {
            (SortOrder::Keys(_), _, _) if lines.extent > u32::MAX as usize => {
                let keys: Vec<&Key> = keys.iter().collect();
                sort_by_comparison(device, lines, output, &keys, None, result)
            }
            (SortOrder::Keys(_), SortResult::Values, [key]) => match key.dtype.size() {
                1 => sort_values::<u8>(device, lines, key, result),
                2 => sort_values::<u16>(device, lines, key, result),
                4 => sort_values::<u32>(device, lines, key, result),
                _ => sort_values::<u64>(device, lines, key, result),
            },
            (SortOrder::Keys(_), SortResult::FirstPositions(count), [key])
                if lines.extent < LONG_LINE || count <= MAX_TOP_K =>
            {
                match key.dtype.size() {
                    1 => top_k_positions::<u8>(device, lines, key, count, result),
                    2 => top_k_positions::<u16>(device, lines, key, count, result),
                    4 => top_k_positions::<u32>(device, lines, key, count, result),
                    _ => top_k_positions::<u64>(device, lines, key, count, result),
                }
            }
            (SortOrder::Keys(_), _, keys) => sort_positions(device, lines, output, keys, result),
            (SortOrder::Comparator(function), output, keys) => {
                let keys: Vec<&Key> = keys.iter().collect();
                sort_by_comparison(device, lines, output, &keys, Some(function), result)
            }
        }
    }
}

/// The elements of one sort key.
struct Key {
    dtype: DType,
    mapping: KeyMapping,
    elements: SharedPtr<u8>,
}

impl Key {
    /// The bits of an element.
    ///
    /// # Safety
    /// There must be an element of the key's dtype, whose size is that of `U`.
    unsafe fn bits<U: KeyBits>(&self, at: usize) -> U {
        // SAFETY: promised by the caller.
        unsafe { *self.elements.0.cast::<U>().wrapping_add(at) }
    }

    /// An element as a `Scalar`.
    ///
    /// # Safety
    /// There must be an element of the key's dtype.
    unsafe fn scalar(&self, at: usize) -> Scalar {
        let size = self.dtype.size();
        // SAFETY: promised by the caller.
        let bytes = unsafe { std::slice::from_raw_parts(self.elements.at(at * size), size) };
        Scalar::from_bytes(self.dtype, bytes)
    }
}

/// Calls `body` with ranges of line indices, on all threads.
fn for_lines(
    device: &Device,
    lines: Lines,
    body: impl Fn(Range<usize>) + Sync,
) -> Result<(), Fault> {
    let count = lines.count();
    let step = (CHUNK / lines.extent.max(1)).max(1);
    device.parallel_for(count.div_ceil(step), |chunk| {
        body(chunk * step..((chunk + 1) * step).min(count));
    })
}

/// Calls `body` with ranges of a long line's elements, on all threads.
fn for_chunks(
    device: &Device,
    len: usize,
    body: impl Fn(Range<usize>) + Sync,
) -> Result<(), Fault> {
    device.parallel_for(len.div_ceil(CHUNK), |chunk| {
        body(chunk * CHUNK..((chunk + 1) * CHUNK).min(len));
    })
}

/// Writes the sorted elements of one key: sorts keys without positions, and maps them back to elements.
///
/// # Safety
/// As for [`run`](super::run); the key's elements have the size of `U`.
unsafe fn sort_values<U: KeyBits>(
    device: &Device,
    lines: Lines,
    key: &Key,
    result: SharedPtr<u8>,
) -> Result<(), Fault> {
    let result = SharedPtr(result.0.cast::<U>());
    let mapping = key.mapping;
    if lines.extent < LONG_LINE {
        return for_lines(device, lines, |indices| {
            let (mut items, mut spare): (Vec<U>, Vec<U>) = (Vec::new(), Vec::new());
            for line in indices.map(|index| Line::new(lines, index)) {
                let mut ambiguous = false;
                items.clear();
                items.extend((0..line.len).map(|i| {
                    // SAFETY: promised by the caller.
                    let element: U = unsafe { key.bits(line.at(i)) };
                    ambiguous |= mapping.is_ambiguous(element);
                    mapping.key(element)
                }));
                spare.resize(line.len, U::from_u64(0));
                let sorted = radix_sort::sort_sequential(&mut items, &mut spare);
                // SAFETY: only this thread writes this line.
                unsafe {
                    for (i, &key) in sorted.iter().enumerate() {
                        result.at(line.at(i)).write(mapping.element(key));
                    }
                    if ambiguous {
                        restore_zeros_and_nans(key, line, sorted, result);
                    }
                }
            }
        });
    }
    let (items, spare) =
        (device.workspace::<U>(lines.extent)?, device.workspace::<U>(lines.extent)?);
    for line in (0..lines.count()).map(|index| Line::new(lines, index)) {
        let ambiguous = AtomicUsize::new(0);
        for_chunks(device, line.len, |part| {
            let mut found = 0;
            for i in part {
                // SAFETY: promised by the caller; each item is written by one thread.
                unsafe {
                    let element: U = key.bits(line.at(i));
                    found += mapping.is_ambiguous(element) as usize;
                    items.start.at(i).write(mapping.key(element));
                }
            }
            ambiguous.fetch_add(found, Ordering::Relaxed);
        })?;
        // SAFETY: the items have been written, and no other thread accesses them.
        let sorted =
            unsafe { radix_sort::sort_parallel(device, items.start, spare.start, line.len)? };
        for_chunks(device, line.len, |part| {
            for i in part {
                // SAFETY: all sorted items are initialized; each element is written by one thread.
                unsafe { result.at(line.at(i)).write(mapping.element(*sorted.at(i))) };
            }
        })?;
        if ambiguous.into_inner() > 0 {
            // SAFETY: as above; the parallel loops have ended.
            unsafe {
                let sorted = std::slice::from_raw_parts(sorted.at(0), line.len);
                restore_zeros_and_nans(key, line, sorted, result);
            }
        }
    }
    Ok(())
}

/// Rewrites zeros and NaNs in input order: keys do not preserve their signs and bits.
///
/// # Safety
/// The line must be one of the key and of the result, and no other thread may access the result's.
unsafe fn restore_zeros_and_nans<U: KeyBits>(
    key: &Key,
    line: Line,
    sorted: &[U],
    result: SharedPtr<U>,
) {
    let mapping = key.mapping;
    let zero = mapping.key(U::from_u64(0));
    // These bits are a NaN in every format, and all NaNs have one key.
    let nan = mapping.key(U::from_u64((1 << (U::BITS - 1)) - 1));
    let mut next_zero = sorted.partition_point(|&key| key < zero);
    let mut next_nan = sorted.partition_point(|&key| key < nan);
    for i in 0..line.len {
        // SAFETY: promised by the caller.
        let element: U = unsafe { key.bits(line.at(i)) };
        let own = mapping.key(element);
        let next = if own == zero {
            &mut next_zero
        } else if own == nan {
            &mut next_nan
        } else {
            continue;
        };
        // SAFETY: promised by the caller; there are as many positions as elements with this key.
        unsafe { result.at(line.at(*next)).write(element) };
        *next += 1;
    }
}

/// Writes the positions of the first `count` elements in the order of one key (top-k).
///
/// # Safety
/// As for [`run`](super::run); the key's elements have the size of `U`.
unsafe fn top_k_positions<U: KeyBits>(
    device: &Device,
    lines: Lines,
    key: &Key,
    count: usize,
    result: SharedPtr<u8>,
) -> Result<(), Fault> {
    let result = SharedPtr(result.0.cast::<i64>());
    let result_lines = Lines { extent: count, ..lines };
    // SAFETY: promised by the caller for positions within a line.
    let key_at = |line: Line, i: usize| unsafe { key.mapping.key(key.bits::<U>(line.at(i))) };
    let write = |index: usize, sorted: &[(U, u32)]| {
        let line = Line::new(result_lines, index);
        for (to, &(_, from)) in sorted.iter().enumerate() {
            // SAFETY: promised by the caller; a line is written by one thread.
            unsafe { result.at(line.at(to)).write(from as i64) };
        }
    };
    if lines.extent < LONG_LINE {
        return for_lines(device, lines, |indices| {
            let mut top_k = TopK::new(count, lines.extent);
            for index in indices {
                let line = Line::new(lines, index);
                top_k.clear();
                (0..line.len).for_each(|i| top_k.push(key_at(line, i), i as u32));
                write(index, top_k.sorted());
            }
        });
    }
    for index in 0..lines.count() {
        let line = Line::new(lines, index);
        let found = Mutex::new(Vec::new());
        for_chunks(device, line.len, |part| {
            let mut top_k = TopK::new(count, part.len());
            part.for_each(|i| top_k.push(key_at(line, i), i as u32));
            let own = top_k.sorted();
            found.lock().extend_from_slice(own);
        })?;
        let mut found = found.into_inner();
        found.sort_unstable();
        write(index, &found[..count]);
    }
    Ok(())
}

/// Writes the positions of the sorted elements (argsort): sorts by the last key first, with a stable sort.
///
/// # Safety
/// As for [`run`](super::run).
unsafe fn sort_positions(
    device: &Device,
    lines: Lines,
    output: SortResult,
    keys: &[Key],
    result: SharedPtr<u8>,
) -> Result<(), Fault> {
    let result = SharedPtr(result.0.cast::<i64>());
    let count = output.output_extent(lines.extent);
    let result_lines = Lines { extent: count, ..lines };
    if lines.extent < LONG_LINE {
        return for_lines(device, lines, |indices| {
            let mut positions: Vec<u32> = Vec::new();
            let mut buffers = SortBuffers::default();
            for index in indices {
                let (line, to) = (Line::new(lines, index), Line::new(result_lines, index));
                positions.clear();
                positions.extend(0..line.len as u32);
                for key in keys.iter().rev() {
                    // SAFETY: promised by the caller.
                    unsafe {
                        match key.dtype.size() {
                            1 => {
                                sort_positions_by_key(key, line, &mut positions, &mut buffers.of_u8)
                            }
                            2 => sort_positions_by_key(
                                key,
                                line,
                                &mut positions,
                                &mut buffers.of_u16,
                            ),
                            4 => sort_positions_by_key(
                                key,
                                line,
                                &mut positions,
                                &mut buffers.of_u32,
                            ),
                            _ => sort_positions_by_key(
                                key,
                                line,
                                &mut positions,
                                &mut buffers.of_u64,
                            ),
                        }
                    }
                }
                for (i, &position) in positions[..count].iter().enumerate() {
                    // SAFETY: only this thread writes this line.
                    unsafe { result.at(to.at(i)).write(position as i64) };
                }
            }
        });
    }
    let positions = device.workspace::<u32>(lines.extent)?;
    for index in 0..lines.count() {
        let (line, to) = (Line::new(lines, index), Line::new(result_lines, index));
        for_chunks(device, line.len, |part| {
            // SAFETY: each position is written by one thread.
            part.for_each(|i| unsafe { positions.start.at(i).write(i as u32) });
        })?;
        for key in keys.iter().rev() {
            // SAFETY: promised by the caller.
            unsafe {
                match key.dtype.size() {
                    1 => sort_positions_by_key_parallel::<u8>(device, key, line, positions.start)?,
                    2 => sort_positions_by_key_parallel::<u16>(device, key, line, positions.start)?,
                    4 => sort_positions_by_key_parallel::<u32>(device, key, line, positions.start)?,
                    _ => sort_positions_by_key_parallel::<u64>(device, key, line, positions.start)?,
                }
            }
        }
        for_chunks(device, count, |part| {
            // SAFETY: each element is written by one thread, and all positions have been written.
            part.for_each(|i| unsafe { result.at(to.at(i)).write(*positions.start.at(i) as i64) });
        })?;
    }
    Ok(())
}

/// Items and spare items for each size of key, reused from line to line.
#[derive(Default)]
struct SortBuffers {
    of_u8: [Vec<KeyedPosition<u8>>; 2],
    of_u16: [Vec<KeyedPosition<u16>>; 2],
    of_u32: [Vec<KeyedPosition<u32>>; 2],
    of_u64: [Vec<KeyedPosition<u64>>; 2],
}

/// Sorts positions by one key, stably.
///
/// # Safety
/// The line must be one of the key, whose elements have the size of `U`.
unsafe fn sort_positions_by_key<U: KeyBits>(
    key: &Key,
    line: Line,
    positions: &mut [u32],
    [items, spare]: &mut [Vec<KeyedPosition<U>>; 2],
) where
    KeyedPosition<U>: Item<Key = U>,
{
    items.clear();
    items.extend(positions.iter().map(|&position| {
        // SAFETY: promised by the caller.
        let element: U = unsafe { key.bits(line.at(position as usize)) };
        KeyedPosition { key: key.mapping.key(element), position }
    }));
    spare.resize(items.len(), KeyedPosition { key: U::from_u64(0), position: 0 });
    let sorted = radix_sort::sort_sequential(items, &mut spare[..positions.len()]);
    positions.iter_mut().zip(sorted.iter()).for_each(|(position, item)| *position = item.position);
}

/// Like [`sort_positions_by_key`], on all threads.
///
/// # Safety
/// As for [`sort_positions_by_key`]; no other thread may access the positions.
unsafe fn sort_positions_by_key_parallel<U: KeyBits>(
    device: &Device,
    key: &Key,
    line: Line,
    positions: SharedPtr<u32>,
) -> Result<(), Fault> {
    let items = device.workspace::<KeyedPosition<U>>(line.len)?;
    let spare = device.workspace::<KeyedPosition<U>>(line.len)?;
    for_chunks(device, line.len, |part| {
        for i in part {
            // SAFETY: promised by the caller; each item is written by one thread.
            unsafe {
                let position = *positions.at(i);
                let element: U = key.bits(line.at(position as usize));
                items.start.at(i).write(KeyedPosition { key: key.mapping.key(element), position });
            }
        }
    })?;
    // SAFETY: the items have been written, and no other thread accesses them.
    let sorted = unsafe { radix_sort::sort_parallel(device, items.start, spare.start, line.len)? };
    for_chunks(device, line.len, |part| {
        // SAFETY: all sorted items are initialized; each position is written by one thread.
        part.for_each(|i| unsafe { positions.at(i).write((*sorted.at(i)).position) });
    })
}

/// Compares two elements of a line.
struct Comparison<'a> {
    keys: &'a [&'a Key],
    line: Line,
    /// The comparator, or `None` to compare the keys.
    function: Option<ScalarFunctionEvaluator<'a>>,
    arguments: Vec<Scalar>,
}

impl Comparison<'_> {
    fn is_before(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.line.at(a), self.line.at(b));
        // SAFETY: the line is one of the keys, and `a` and `b` are positions within it.
        unsafe {
            let Some(function) = &mut self.function else {
                let key = |key: &Key, at: usize| key.mapping.key(key.scalar(at).bits()[0]);
                let pairs = self.keys.iter().map(|k| (key(k, a), key(k, b)));
                return pairs
                    .map(|(a, b)| a.cmp(&b))
                    .find(|o| o.is_ne())
                    .is_some_and(|o| o.is_lt());
            };
            self.arguments.clear();
            for key in self.keys {
                self.arguments.extend([key.scalar(a), key.scalar(b)]);
            }
            bool::from_scalar(function.call(&self.arguments))
        }
    }
}

/// Sorts positions by comparisons, and writes the positions or their elements.
///
/// # Safety
/// As for [`run`](super::run).
unsafe fn sort_by_comparison(
    device: &Device,
    lines: Lines,
    output: SortResult,
    keys: &[&Key],
    function: Option<&ScalarFunction>,
    result: SharedPtr<u8>,
) -> Result<(), Fault> {
    let comparison = |line: Line| Comparison {
        keys,
        line,
        function: function.map(ScalarFunctionEvaluator::new),
        arguments: Vec::new(),
    };
    let count = output.output_extent(lines.extent);
    let result_lines = Lines { extent: count, ..lines };
    // Writes position `from` of the keys, or its element, to index `to` of the result.
    let write = |result_lines: Line, line: Line, to: usize, from: usize| {
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe {
            match output {
                SortResult::Positions | SortResult::FirstPositions(_) => {
                    result.0.cast::<i64>().wrapping_add(result_lines.at(to)).write(from as i64);
                }
                SortResult::Values => {
                    let size = keys[0].dtype.size();
                    let source = keys[0].elements.at(line.at(from) * size);
                    source.copy_to_nonoverlapping(result.at(line.at(to) * size), size);
                }
            }
        }
    };
    if lines.extent < LONG_COMPARED_LINE {
        return for_lines(device, lines, |indices| {
            let (mut positions, mut spare): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            for index in indices {
                let (line, result_lines) =
                    (Line::new(lines, index), Line::new(result_lines, index));
                positions.clear();
                positions.extend(0..line.len);
                spare.resize(line.len, 0);
                let mut comparison = comparison(line);
                merge_sort::sort_sequential(&mut positions, &mut spare, &mut |a, b| {
                    comparison.is_before(a, b)
                });
                let sorted = positions[..count].iter().enumerate();
                sorted.for_each(|(to, &from)| write(result_lines, line, to, from));
            }
        });
    }
    let (positions, spare) =
        (device.workspace::<usize>(lines.extent)?, device.workspace::<usize>(lines.extent)?);
    for index in 0..lines.count() {
        let (line, result_lines) = (Line::new(lines, index), Line::new(result_lines, index));
        for i in 0..line.len {
            // SAFETY: the workspace has as many elements as the line.
            unsafe {
                positions.start.at(i).write(i);
                spare.start.at(i).write(i);
            }
        }
        // SAFETY: just initialized, and no other thread accesses them.
        let (positions, spare) = unsafe {
            (
                std::slice::from_raw_parts_mut(positions.start.at(0), line.len),
                std::slice::from_raw_parts_mut(spare.start.at(0), line.len),
            )
        };
        let sorted = merge_sort_parallel(device, positions, spare, || comparison(line))?;
        for_chunks(device, count, |part| {
            part.for_each(|to| write(result_lines, line, to, sorted[to]));
        })?;
    }
    Ok(())
}

/// Sorts parts of a line on all threads, then merges them pairwise.
fn merge_sort_parallel<'a>(
    device: &Device,
    positions: &'a mut [usize],
    spare: &'a mut [usize],
    comparison: impl Fn() -> Comparison<'a> + Sync,
) -> Result<&'a [usize], Fault> {
    let len = positions.len();
    let parts = (2 * device.workers.thread_count()).next_power_of_two().min(len / 512).max(1);
    let mut width = len.div_ceil(parts);
    let parts_with_spare: Vec<_> =
        positions.chunks_mut(width).zip(spare.chunks_mut(width)).map(Mutex::new).collect();
    device.parallel_for(parts_with_spare.len(), |i| {
        let (positions, spare) = &mut *parts_with_spare[i].lock();
        let mut comparison = comparison();
        merge_sort::sort_sequential(positions, spare, &mut |a, b| comparison.is_before(a, b));
    })?;
    drop(parts_with_spare);
    let (mut from, mut to) = (positions, spare);
    while width < len {
        let pairs: Vec<_> =
            from.chunks(2 * width).zip(to.chunks_mut(2 * width)).map(Mutex::new).collect();
        device.parallel_for(pairs.len(), |i| {
            let (pair, target) = &mut *pairs[i].lock();
            let (a, b) = pair.split_at(width.min(pair.len()));
            let mut comparison = comparison();
            merge_sort::merge(a, b, target, &mut |a, b| comparison.is_before(a, b));
        })?;
        drop(pairs);
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    Ok(from)
}
