//! Stable LSD radix sort, on one thread or in parallel.

use super::sort_key::KeyBits;
use super::{Device, SharedPtr};
use inflight_backend::Fault;
use parking_lot::Mutex;

/// An item to sort: a key, alone or with its position.
pub trait Item: Copy + Send + Sync + 'static {
    /// The type of the key.
    type Key: KeyBits;

    fn key(&self) -> Self::Key;
}

impl<K: KeyBits> Item for K {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        *self
    }
}

/// A key and the position of its element.
#[derive(Clone, Copy, Debug)]
pub struct KeyedPosition<K> {
    pub key: K,
    pub position: u32,
}

impl<K: KeyBits> Item for KeyedPosition<K> {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        self.key
    }
}

/// Fewer items are sorted by comparisons, which takes less time than clearing the counters.
const MIN_RADIX_ITEMS: usize = 512;

/// Minimum items of a part in a parallel sort.
const MIN_PART_ITEMS: usize = 1 << 15;

/// Sorts items on the current thread. Returns the sorted ones, in `items` or `spare`, which have the same length.
pub fn sort_sequential<'a, T: Item>(items: &'a mut [T], spare: &'a mut [T]) -> &'a mut [T] {
    if items.len() < MIN_RADIX_ITEMS {
        items.sort_by_key(Item::key);
        return items;
    }
    let digit_bits = T::Key::DIGIT_BITS;
    let mut counts = vec![0usize; 1 << digit_bits];
    let (mut from, mut to) = (items, spare);
    for shift in (0..T::Key::BITS).step_by(digit_bits as usize) {
        counts.fill(0);
        from.iter().for_each(|item| counts[item.key().digit(shift)] += 1);
        if counts.contains(&from.len()) {
            continue;
        }
        let mut start = 0;
        for count in &mut counts {
            start += std::mem::replace(count, start);
        }
        for item in from.iter() {
            let next = &mut counts[item.key().digit(shift)];
            to[*next] = *item;
            *next += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from
}

/// Sorts items on all threads. Returns the sorted ones: `items` or `spare`.
///
/// # Safety
/// Both must be valid for `len` items, `items` initialized, and no other thread may access them meanwhile.
pub unsafe fn sort_parallel<T: Item>(
    device: &Device,
    items: SharedPtr<T>,
    spare: SharedPtr<T>,
    len: usize,
) -> Result<SharedPtr<T>, Fault> {
    let parts = (len / MIN_PART_ITEMS).clamp(1, device.workers.thread_count());
    let part = len.div_ceil(parts);
    let range = |i: usize| (i * part).min(len)..((i + 1) * part).min(len);
    let counts: Vec<Mutex<Vec<usize>>> =
        (0..parts).map(|_| Mutex::new(vec![0; 1 << T::Key::DIGIT_BITS])).collect();
    let (mut from, mut to) = (items, spare);
    for shift in (0..T::Key::BITS).step_by(T::Key::DIGIT_BITS as usize) {
        // SAFETY: `from` is initialized: by the caller, then by each previous pass.
        let source = unsafe { std::slice::from_raw_parts(from.at(0), len) };
        device.parallel_for(parts, |i| {
            let mut counts = counts[i].lock();
            counts.fill(0);
            source[range(i)].iter().for_each(|item| counts[item.key().digit(shift)] += 1);
        })?;
        // Prefix sum: the first output index of each part's items of each digit, ordered by digit, then by part.
        let mut all: Vec<_> = counts.iter().map(|counts| counts.lock()).collect();
        let mut start = 0;
        let mut one_digit = false;
        for digit in 0..1 << T::Key::DIGIT_BITS {
            let before = start;
            for counts in &mut all {
                start += std::mem::replace(&mut counts[digit], start);
            }
            one_digit |= start - before == len;
        }
        drop(all);
        if one_digit {
            continue;
        }
        device.parallel_for(parts, |i| {
            let mut next_indices = counts[i].lock();
            for item in &source[range(i)] {
                let next = &mut next_indices[item.key().digit(shift)];
                // SAFETY: the counts of all parts and digits add up to `len`, so every index is within `to`, and each is
                // used once.
                unsafe { to.at(*next).write(*item) };
                *next += 1;
            }
        })?;
        std::mem::swap(&mut from, &mut to);
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radix_sort_is_stable() {
        let mut state = 1u64;
        let mut items: Vec<KeyedPosition<u32>> = (0..5000)
            .map(|position| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                KeyedPosition { key: (state >> 40) as u32 % 700 * 0x10001, position }
            })
            .collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.key);
        let mut spare = items.clone();
        let sorted = sort_sequential(&mut items, &mut spare);
        let pairs = |items: &[KeyedPosition<u32>]| -> Vec<(u32, u32)> {
            items.iter().map(|item| (item.key, item.position)).collect()
        };
        assert_eq!(pairs(sorted), pairs(&expected));
    }
}
