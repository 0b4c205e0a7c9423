//! Sorts: by keys with a radix sort, by a function with a merge sort.

use super::order::{Bits, Mapping};
use super::radix::{self, Item, Placed};
use super::select::Least;
use super::{Device, Shared, merge};
use inflight_backend::Fault;
use inflight_ir::graph::{ScalarFunction, SortKey, SortOrder, SortResult};
use inflight_ir::interpret::Evaluation;
use inflight_ir::plan::Lines;
use inflight_ir::{DType, Element, Scalar};
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From this length on, all threads work on one line.
const LONG_LINE: usize = 1 << 16;

/// From this length on they do so where each comparison is a call.
const LONG_COMPARED_LINE: usize = 1 << 12;

/// Elements of the lines, or of the part of a line, that one thread takes at a time.
const PART: usize = 1 << 14;

/// So many elements of a long line are looked for in each part; more are found sooner by a sort.
const FEW: usize = PART / 4;

/// One line of a tensor.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    stride: usize,
    len: usize,
}

impl Line {
    fn new(lines: Lines, number: usize) -> Line {
        let (outer, inner) = (number / lines.inner, number % lines.inner);
        let start = outer * lines.extent * lines.inner + inner;
        Line { start, stride: lines.inner, len: lines.extent }
    }

    /// Where an element of the line is.
    fn at(self, i: usize) -> usize {
        self.start + i * self.stride
    }
}

/// Sorts every line.
///
/// # Safety
/// As for [`run`](super::run).
pub unsafe fn sort(
    device: &Device,
    lines: Lines,
    dtypes: &[DType],
    order: &SortOrder,
    answer: SortResult,
    operands: &[*mut u8],
    result: *mut u8,
) -> Result<(), Fault> {
    let result = Shared(result);
    let keys: Vec<Key> = dtypes
        .iter()
        .zip(operands)
        .enumerate()
        .map(|(i, (&dtype, &address))| {
            let order = match order {
                SortOrder::Keys(orders) => orders[i],
                SortOrder::Comparator(_) => SortKey::default(),
            };
            Key { dtype, mapping: Mapping::new(dtype, order), elements: Shared(address) }
        })
        .collect();
    // SAFETY: promised by the caller; an element of a line is one of the tensor.
    unsafe {
        match (order, answer, &keys[..]) {
            (SortOrder::Keys(_), _, _) if lines.extent > u32::MAX as usize => {
                let keys: Vec<&Key> = keys.iter().collect();
                compared(device, lines, answer, &keys, None, result)
            }
            (SortOrder::Keys(_), SortResult::Values, [key]) => match key.dtype.size() {
                1 => values::<u8>(device, lines, key, result),
                2 => values::<u16>(device, lines, key, result),
                4 => values::<u32>(device, lines, key, result),
                _ => values::<u64>(device, lines, key, result),
            },
            (SortOrder::Keys(_), SortResult::FirstPositions(count), [key])
                if lines.extent < LONG_LINE || count <= FEW =>
            {
                match key.dtype.size() {
                    1 => first::<u8>(device, lines, key, count, result),
                    2 => first::<u16>(device, lines, key, count, result),
                    4 => first::<u32>(device, lines, key, count, result),
                    _ => first::<u64>(device, lines, key, count, result),
                }
            }
            (SortOrder::Keys(_), _, keys) => positions(device, lines, answer, keys, result),
            (SortOrder::Comparator(function), answer, keys) => {
                let keys: Vec<&Key> = keys.iter().collect();
                compared(device, lines, answer, &keys, Some(function), result)
            }
        }
    }
}

/// One key of a sort.
struct Key {
    dtype: DType,
    mapping: Mapping,
    elements: Shared<u8>,
}

impl Key {
    /// The bits of an element.
    ///
    /// # Safety
    /// There must be an element of the key's dtype, whose size is that of `U`.
    unsafe fn bits<U: Bits>(&self, at: usize) -> U {
        // SAFETY: promised by the caller.
        unsafe { *self.elements.0.cast::<U>().wrapping_add(at) }
    }

    /// An element as a value.
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

/// Calls `body` with ranges of lines, on all threads.
fn each_lines(
    device: &Device,
    lines: Lines,
    body: impl Fn(Range<usize>) + Sync,
) -> Result<(), Fault> {
    let count = lines.count();
    let step = (PART / lines.extent.max(1)).max(1);
    device.parallel_for(count.div_ceil(step), |chunk| {
        body(chunk * step..((chunk + 1) * step).min(count));
    })
}

/// Calls `body` with ranges of a long line's elements, on all threads.
fn each_part(device: &Device, len: usize, body: impl Fn(Range<usize>) + Sync) -> Result<(), Fault> {
    device.parallel_for(len.div_ceil(PART), |chunk| {
        body(chunk * PART..((chunk + 1) * PART).min(len));
    })
}

/// The sorted elements of one key. Keys are sorted without positions, and turned back into elements.
///
/// # Safety
/// As for [`run`](super::run); the key's elements are of the size of `U`.
unsafe fn values<U: Bits>(
    device: &Device,
    lines: Lines,
    key: &Key,
    result: Shared<u8>,
) -> Result<(), Fault> {
    let result = Shared(result.0.cast::<U>());
    let mapping = key.mapping;
    if lines.extent < LONG_LINE {
        return each_lines(device, lines, |numbers| {
            let (mut items, mut spare): (Vec<U>, Vec<U>) = (Vec::new(), Vec::new());
            for line in numbers.map(|number| Line::new(lines, number)) {
                let mut ambiguous = false;
                items.clear();
                items.extend((0..line.len).map(|i| {
                    // SAFETY: promised by the caller.
                    let element: U = unsafe { key.bits(line.at(i)) };
                    ambiguous |= mapping.is_ambiguous(element);
                    mapping.key(element)
                }));
                spare.resize(line.len, U::from_u64(0));
                let sorted = radix::sort_alone(&mut items, &mut spare);
                // SAFETY: this thread alone writes this line.
                unsafe {
                    for (i, &key) in sorted.iter().enumerate() {
                        result.at(line.at(i)).write(mapping.element(key));
                    }
                    if ambiguous {
                        restore(key, line, sorted, result);
                    }
                }
            }
        });
    }
    let (items, spare) = (device.work::<U>(lines.extent)?, device.work::<U>(lines.extent)?);
    for line in (0..lines.count()).map(|number| Line::new(lines, number)) {
        let ambiguous = AtomicUsize::new(0);
        each_part(device, line.len, |part| {
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
        // SAFETY: the items are written, and nobody else has them.
        let sorted = unsafe { radix::sort_shared(device, items.start, spare.start, line.len)? };
        each_part(device, line.len, |part| {
            for i in part {
                // SAFETY: all sorted items are initialized; each element is written by one thread.
                unsafe { result.at(line.at(i)).write(mapping.element(*sorted.at(i))) };
            }
        })?;
        if ambiguous.into_inner() > 0 {
            // SAFETY: as above; the threads are done.
            unsafe {
                let sorted = std::slice::from_raw_parts(sorted.at(0), line.len);
                restore(key, line, sorted, result);
            }
        }
    }
    Ok(())
}

/// Writes zeros and NaN once more as they came: keys do not tell their signs and bits.
///
/// # Safety
/// The line must be one of the key and of the result, and nobody else may use the result's.
unsafe fn restore<U: Bits>(key: &Key, line: Line, sorted: &[U], result: Shared<U>) {
    let mapping = key.mapping;
    let zero = mapping.key(U::from_u64(0));
    // There is a NaN with these bits in every format, and all of them have one key.
    let nan = mapping.key(U::from_u64((1 << (U::BITS - 1)) - 1));
    let mut zeros = sorted.partition_point(|&key| key < zero);
    let mut nans = sorted.partition_point(|&key| key < nan);
    for i in 0..line.len {
        // SAFETY: promised by the caller.
        let element: U = unsafe { key.bits(line.at(i)) };
        let own = mapping.key(element);
        let place = if own == zero {
            &mut zeros
        } else if own == nan {
            &mut nans
        } else {
            continue;
        };
        // SAFETY: promised by the caller; there are as many places as elements with this key.
        unsafe { result.at(line.at(*place)).write(element) };
        *place += 1;
    }
}

/// The positions of the first few elements in the order of one key.
///
/// # Safety
/// As for [`run`](super::run); the key's elements are of the size of `U`.
unsafe fn first<U: Bits>(
    device: &Device,
    lines: Lines,
    key: &Key,
    count: usize,
    result: Shared<u8>,
) -> Result<(), Fault> {
    let result = Shared(result.0.cast::<i64>());
    let answered = Lines { extent: count, ..lines };
    // SAFETY: promised by the caller for positions within a line.
    let key_at = |line: Line, i: usize| unsafe { key.mapping.key(key.bits::<U>(line.at(i))) };
    let write = |number: usize, sorted: &[(U, u32)]| {
        let line = Line::new(answered, number);
        for (to, &(_, from)) in sorted.iter().enumerate() {
            // SAFETY: promised by the caller; a line is written by one thread.
            unsafe { result.at(line.at(to)).write(from as i64) };
        }
    };
    if lines.extent < LONG_LINE {
        return each_lines(device, lines, |numbers| {
            let mut least = Least::new(count, lines.extent);
            for number in numbers {
                let line = Line::new(lines, number);
                least.clear();
                (0..line.len).for_each(|i| least.push(key_at(line, i), i as u32));
                write(number, least.sorted());
            }
        });
    }
    for number in 0..lines.count() {
        let line = Line::new(lines, number);
        let found = Mutex::new(Vec::new());
        each_part(device, line.len, |part| {
            let mut least = Least::new(count, part.len());
            part.for_each(|i| least.push(key_at(line, i), i as u32));
            let own = least.sorted();
            found.lock().extend_from_slice(own);
        })?;
        let mut found = found.into_inner();
        found.sort_unstable();
        write(number, &found[..count]);
    }
    Ok(())
}

/// The positions of the sorted elements, by the last key first.
///
/// # Safety
/// As for [`run`](super::run).
unsafe fn positions(
    device: &Device,
    lines: Lines,
    answer: SortResult,
    keys: &[Key],
    result: Shared<u8>,
) -> Result<(), Fault> {
    let result = Shared(result.0.cast::<i64>());
    let count = answer.output_extent(lines.extent);
    let answered = Lines { extent: count, ..lines };
    if lines.extent < LONG_LINE {
        return each_lines(device, lines, |numbers| {
            let mut places: Vec<u32> = Vec::new();
            let mut work = Pairs::default();
            for number in numbers {
                let (line, to) = (Line::new(lines, number), Line::new(answered, number));
                places.clear();
                places.extend(0..line.len as u32);
                for key in keys.iter().rev() {
                    // SAFETY: promised by the caller.
                    unsafe {
                        match key.dtype.size() {
                            1 => place(key, line, &mut places, &mut work.bytes),
                            2 => place(key, line, &mut places, &mut work.shorts),
                            4 => place(key, line, &mut places, &mut work.words),
                            _ => place(key, line, &mut places, &mut work.longs),
                        }
                    }
                }
                for (i, &position) in places[..count].iter().enumerate() {
                    // SAFETY: this thread alone writes this line.
                    unsafe { result.at(to.at(i)).write(position as i64) };
                }
            }
        });
    }
    let places = device.work::<u32>(lines.extent)?;
    for number in 0..lines.count() {
        let (line, to) = (Line::new(lines, number), Line::new(answered, number));
        each_part(device, line.len, |part| {
            // SAFETY: each place is written by one thread.
            part.for_each(|i| unsafe { places.start.at(i).write(i as u32) });
        })?;
        for key in keys.iter().rev() {
            // SAFETY: promised by the caller.
            unsafe {
                match key.dtype.size() {
                    1 => place_shared::<u8>(device, key, line, places.start)?,
                    2 => place_shared::<u16>(device, key, line, places.start)?,
                    4 => place_shared::<u32>(device, key, line, places.start)?,
                    _ => place_shared::<u64>(device, key, line, places.start)?,
                }
            }
        }
        each_part(device, count, |part| {
            // SAFETY: each element is written by one thread, and all places are.
            part.for_each(|i| unsafe { result.at(to.at(i)).write(*places.start.at(i) as i64) });
        })?;
    }
    Ok(())
}

/// Items and spare ones for each size of key, kept from line to line.
#[derive(Default)]
struct Pairs {
    bytes: [Vec<Placed<u8>>; 2],
    shorts: [Vec<Placed<u16>>; 2],
    words: [Vec<Placed<u32>>; 2],
    longs: [Vec<Placed<u64>>; 2],
}

/// Puts places in the order of one key; equals stay in the order they are in.
///
/// # Safety
/// The line must be one of the key, whose elements are of the size of `U`.
unsafe fn place<U: Bits>(
    key: &Key,
    line: Line,
    places: &mut [u32],
    [items, spare]: &mut [Vec<Placed<U>>; 2],
) where
    Placed<U>: Item<Key = U>,
{
    items.clear();
    items.extend(places.iter().map(|&position| {
        // SAFETY: promised by the caller.
        let element: U = unsafe { key.bits(line.at(position as usize)) };
        Placed { key: key.mapping.key(element), position }
    }));
    spare.resize(items.len(), Placed { key: U::from_u64(0), position: 0 });
    let sorted = radix::sort_alone(items, &mut spare[..places.len()]);
    places.iter_mut().zip(sorted.iter()).for_each(|(place, item)| *place = item.position);
}

/// The same on all threads.
///
/// # Safety
/// As for [`place`]; nobody else may use the places.
unsafe fn place_shared<U: Bits>(
    device: &Device,
    key: &Key,
    line: Line,
    places: Shared<u32>,
) -> Result<(), Fault> {
    let items = device.work::<Placed<U>>(line.len)?;
    let spare = device.work::<Placed<U>>(line.len)?;
    each_part(device, line.len, |part| {
        for i in part {
            // SAFETY: promised by the caller; each item is written by one thread.
            unsafe {
                let position = *places.at(i);
                let element: U = key.bits(line.at(position as usize));
                items.start.at(i).write(Placed { key: key.mapping.key(element), position });
            }
        }
    })?;
    // SAFETY: the items are written, and nobody else has them.
    let sorted = unsafe { radix::sort_shared(device, items.start, spare.start, line.len)? };
    each_part(device, line.len, |part| {
        // SAFETY: all sorted items are initialized; each place is written by one thread.
        part.for_each(|i| unsafe { places.at(i).write((*sorted.at(i)).position) });
    })
}

/// When one element of a line comes before another.
struct Comparison<'a> {
    keys: &'a [&'a Key],
    line: Line,
    /// The function, or `None` to go by keys.
    function: Option<Evaluation<'a>>,
    arguments: Vec<Scalar>,
}

impl Comparison<'_> {
    fn is_before(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.line.at(a), self.line.at(b));
        // SAFETY: comparisons are made for lines of the keys, and of positions within.
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

/// Sorts positions by comparisons, and writes these or the elements there.
///
/// # Safety
/// As for [`run`](super::run).
unsafe fn compared(
    device: &Device,
    lines: Lines,
    answer: SortResult,
    keys: &[&Key],
    function: Option<&ScalarFunction>,
    result: Shared<u8>,
) -> Result<(), Fault> {
    let comparison = |line: Line| Comparison {
        keys,
        line,
        function: function.map(Evaluation::new),
        arguments: Vec::new(),
    };
    let count = answer.output_extent(lines.extent);
    let answered = Lines { extent: count, ..lines };
    // Writes to lines of the result what is found in lines of the keys.
    let write = |answered: Line, line: Line, to: usize, from: usize| {
        // SAFETY: promised by the caller; each element is written by one thread.
        unsafe {
            match answer {
                SortResult::Positions | SortResult::FirstPositions(_) => {
                    result.0.cast::<i64>().wrapping_add(answered.at(to)).write(from as i64);
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
        return each_lines(device, lines, |numbers| {
            let (mut places, mut spare): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
            for number in numbers {
                let (line, answered) = (Line::new(lines, number), Line::new(answered, number));
                places.clear();
                places.extend(0..line.len);
                spare.resize(line.len, 0);
                let mut comparison = comparison(line);
                merge::sort_alone(&mut places, &mut spare, &mut |a, b| comparison.is_before(a, b));
                let sorted = places[..count].iter().enumerate();
                sorted.for_each(|(to, &from)| write(answered, line, to, from));
            }
        });
    }
    let (places, spare) =
        (device.work::<usize>(lines.extent)?, device.work::<usize>(lines.extent)?);
    for number in 0..lines.count() {
        let (line, answered) = (Line::new(lines, number), Line::new(answered, number));
        for i in 0..line.len {
            // SAFETY: the work memory has as many elements as the line.
            unsafe {
                places.start.at(i).write(i);
                spare.start.at(i).write(i);
            }
        }
        // SAFETY: just initialized, and nobody else's.
        let (places, spare) = unsafe {
            (
                std::slice::from_raw_parts_mut(places.start.at(0), line.len),
                std::slice::from_raw_parts_mut(spare.start.at(0), line.len),
            )
        };
        let sorted = sort_parts(device, places, spare, || comparison(line))?;
        each_part(device, count, |part| {
            part.for_each(|to| write(answered, line, to, sorted[to]));
        })?;
    }
    Ok(())
}

/// Sorts parts of a line on all threads, then merges two and two.
fn sort_parts<'a>(
    device: &Device,
    places: &'a mut [usize],
    spare: &'a mut [usize],
    comparison: impl Fn() -> Comparison<'a> + Sync,
) -> Result<&'a [usize], Fault> {
    let len = places.len();
    let parts = (2 * device.workers.width()).next_power_of_two().min(len / 512).max(1);
    let mut width = len.div_ceil(parts);
    let halves: Vec<_> =
        places.chunks_mut(width).zip(spare.chunks_mut(width)).map(Mutex::new).collect();
    device.parallel_for(halves.len(), |i| {
        let (places, spare) = &mut *halves[i].lock();
        let mut comparison = comparison();
        merge::sort_alone(places, spare, &mut |a, b| comparison.is_before(a, b));
    })?;
    drop(halves);
    let (mut from, mut to) = (places, spare);
    while width < len {
        let pairs: Vec<_> =
            from.chunks(2 * width).zip(to.chunks_mut(2 * width)).map(Mutex::new).collect();
        device.parallel_for(pairs.len(), |i| {
            let (pair, target) = &mut *pairs[i].lock();
            let (a, b) = pair.split_at(width.min(pair.len()));
            let mut comparison = comparison();
            merge::merge(a, b, target, &mut |a, b| comparison.is_before(a, b));
        })?;
        drop(pairs);
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    Ok(from)
}
