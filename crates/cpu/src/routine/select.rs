//! The first few elements of each line in the order of one key.

use super::order::Bits;

/// The least keys seen so far, with their positions, which must be pushed ascending.
pub struct Least<U> {
    count: usize,
    items: Vec<(U, u32)>,
    /// The largest of `count` keys that were seen: no later element with it or a larger one is among the least.
    bound: Option<U>,
}

impl<U: Bits> Least<U> {
    /// Looks for this many, among at most `seen`.
    pub fn new(count: usize, seen: usize) -> Least<U> {
        Least { count, items: Vec::with_capacity(room(count).min(seen)), bound: None }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bound = None;
    }

    /// Looks at one more.
    #[inline]
    pub fn push(&mut self, key: U, position: u32) {
        if self.bound.is_some_and(|bound| key >= bound) {
            return;
        }
        self.items.push((key, position));
        if self.items.len() >= room(self.count) {
            self.shrink();
        }
    }

    /// The least ones, in order; of equals, the first come first.
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

/// How many are kept until the least of them are chosen.
fn room(count: usize) -> usize {
    2 * count + 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_are_those_of_a_stable_sort() {
        let keys: Vec<u16> =
            (0..5000u32).map(|i| (i.wrapping_mul(40503) >> 7) as u16 % 97).collect();
        let mut sorted: Vec<(u16, u32)> = keys.iter().copied().zip(0..).collect();
        sorted.sort();
        for count in [0, 1, 8, 300, 5000] {
            let mut least = Least::new(count, keys.len());
            least.push(3, 7);
            least.clear();
            keys.iter().zip(0..).for_each(|(&key, position)| least.push(key, position));
            assert_eq!(least.sorted(), &sorted[..count]);
        }
    }
}
