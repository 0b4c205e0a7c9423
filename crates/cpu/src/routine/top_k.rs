//! Top-k selection: the `k` smallest keys of a line, with their positions.

use super::sort_key::KeyBits;

/// Collects the smallest keys, with their positions. Positions must be pushed in ascending order.
pub struct TopK<U> {
    count: usize,
    items: Vec<(U, u32)>,
    /// The largest of `count` keys seen so far: later elements with this key or a larger one are not selected.
    bound: Option<U>,
}

impl<U: KeyBits> TopK<U> {
    /// Selects `count` keys among at most `seen`.
    pub fn new(count: usize, seen: usize) -> TopK<U> {
        TopK { count, items: Vec::with_capacity(buffer_length(count).min(seen)), bound: None }
    }

    /// Removes all keys.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bound = None;
    }

    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: U, position: u32) {
        if self.bound.is_some_and(|bound| key >= bound) {
            return;
        }
        self.items.push((key, position));
        if self.items.len() >= buffer_length(self.count) {
            self.shrink();
        }
    }

    /// The selected keys in order; equal keys are ordered by position.
    pub fn sorted(&mut self) -> &[(U, u32)] {
        self.shrink();
        self.items.sort_unstable();
        &self.items
    }

    fn shrink(&mut self) {
        if self.count == 0 {
            return self.items.clear();
        }
        if self.items.len() > self.count {
            let (_, &mut (bound, _), _) = self.items.select_nth_unstable(self.count - 1);
            self.items.truncate(self.count);
            self.bound = Some(bound);
        }
    }
}

/// Number of keys to buffer between two selections.
fn buffer_length(count: usize) -> usize {
    2 * count + 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn top_k_equals_the_start_of_a_stable_sort() {
        let keys: Vec<u16> =
            (0..5000u32).map(|i| (i.wrapping_mul(40503) >> 7) as u16 % 97).collect();
        let mut sorted: Vec<(u16, u32)> = keys.iter().copied().zip(0..).collect();
        sorted.sort();
        for count in [0, 1, 8, 300, 5000] {
            let mut top_k = TopK::new(count, keys.len());
            top_k.push(3, 7);
            top_k.clear();
            keys.iter().zip(0..).for_each(|(&key, position)| top_k.push(key, position));
            assert_eq!(top_k.sorted(), &sorted[..count]);
        }
    }
}
