//! A stable radix sort, digit by digit from the lowest, shared among threads.

use super::order::Bits;
use super::{Device, Shared};
use inflight_backend::Fault;
use parking_lot::Mutex;

/// What is sorted: a key, alone or with where it came from.
pub trait Item: Copy + Send + Sync + 'static {
    /// The type of the key.
    type Key: Bits;

    fn key(&self) -> Self::Key;
}

impl<K: Bits> Item for K {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        *self
    }
}

/// A key and the position it came from.
#[derive(Clone, Copy, Debug)]
pub struct Placed<K> {
    pub key: K,
    pub position: u32,
}

impl<K: Bits> Item for Placed<K> {
    type Key = K;

    #[inline]
    fn key(&self) -> K {
        self.key
    }
}

/// Fewer items than this are sorted by comparisons, in less time than it takes to clear the counters.
const FEW: usize = 512;

/// No part of a line that threads share is shorter.
const SHORTEST_PART: usize = 1 << 15;

/// Sorts a few items, or many on one thread. `spare` is as long.
pub fn sort_alone<'a, T: Item>(items: &'a mut [T], spare: &'a mut [T]) -> &'a mut [T] {
    if items.len() < FEW {
        items.sort_by_key(Item::key);
        return items;
    }
    let mask_bits = T::Key::DIGIT;
    let mut counts = vec![0usize; 1 << mask_bits];
    let (mut from, mut to) = (items, spare);
    for shift in (0..T::Key::BITS).step_by(mask_bits as usize) {
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
            let place = &mut counts[item.key().digit(shift)];
            to[*place] = *item;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
    from
}

/// Sorts many items on all threads; returns where they are then: `items` or `spare`.
///
/// # Safety
/// Both must be valid for `len` items, `items` initialized, and nobody else may access them meanwhile.
pub unsafe fn sort_shared<T: Item>(
    device: &Device,
    items: Shared<T>,
    spare: Shared<T>,
    len: usize,
) -> Result<Shared<T>, Fault> {
    let parts = (len / SHORTEST_PART).clamp(1, device.workers.width());
    let part = len.div_ceil(parts);
    let range = |i: usize| (i * part).min(len)..((i + 1) * part).min(len);
    let counts: Vec<Mutex<Vec<usize>>> =
        (0..parts).map(|_| Mutex::new(vec![0; 1 << T::Key::DIGIT])).collect();
    let (mut from, mut to) = (items, spare);
    for shift in (0..T::Key::BITS).step_by(T::Key::DIGIT as usize) {
        // SAFETY: `from` is initialized: at first by the caller, then by the pass before.
        let source = unsafe { std::slice::from_raw_parts(from.at(0), len) };
        device.parallel_for(parts, |i| {
            let mut counts = counts[i].lock();
            counts.fill(0);
            source[range(i)].iter().for_each(|item| counts[item.key().digit(shift)] += 1);
        })?;
        // Where each part's items of each digit begin: digit by digit, part by part within.
        let mut all: Vec<_> = counts.iter().map(|counts| counts.lock()).collect();
        let mut start = 0;
        let mut same = false;
        for digit in 0..1 << T::Key::DIGIT {
            let before = start;
            for counts in &mut all {
                start += std::mem::replace(&mut counts[digit], start);
            }
            same |= start - before == len;
        }
        drop(all);
        if same {
            continue;
        }
        device.parallel_for(parts, |i| {
            let mut places = counts[i].lock();
            for item in &source[range(i)] {
                let place = &mut places[item.key().digit(shift)];
                // SAFETY: the counts of all parts and digits add up to `len`, so every place is within
                // `to`, and each is taken once.
                unsafe { to.at(*place).write(*item) };
                *place += 1;
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
    fn many_items_are_sorted_stably() {
        let mut state = 1u64;
        let mut items: Vec<Placed<u32>> = (0..5000)
            .map(|position| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                Placed { key: (state >> 40) as u32 % 700 * 0x10001, position }
            })
            .collect();
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.key);
        let mut spare = items.clone();
        let sorted = sort_alone(&mut items, &mut spare);
        let pairs = |items: &[Placed<u32>]| -> Vec<(u32, u32)> {
            items.iter().map(|item| (item.key, item.position)).collect()
        };
        assert_eq!(pairs(sorted), pairs(&expected));
    }
}
