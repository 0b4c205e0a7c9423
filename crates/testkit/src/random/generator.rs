//! SplitMix64 pseudo-random generator: the same sequence for a seed on every machine.

/// A source of random choices.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x2545_f491_4f6c_dd1d }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must be positive.
    pub fn below(&mut self, end: usize) -> usize {
        ((self.bits() as u128 * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, inclusive.
    pub fn between(&mut self, low: isize, high: isize) -> isize {
        low + self.below((high - low + 1) as usize) as isize
    }

    /// True with this probability, in percent.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A random element of a non-empty slice.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A random element, chosen with probability proportional to its weight.
    pub fn weighted<T: Copy>(&mut self, of: &[(usize, T)]) -> T {
        let mut left = self.below(of.iter().map(|(weight, _)| weight).sum());
        for &(weight, item) in of {
            if left < weight {
                return item;
            }
            left -= weight;
        }
        unreachable!("the weights add up")
    }

    /// Shuffles the items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
