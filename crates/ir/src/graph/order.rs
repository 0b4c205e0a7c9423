//! In which order a sort puts elements, and what it answers.

use super::ScalarFunction;
use smallvec::SmallVec;

/// When one element comes before another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SortOrder {
    /// By the first key in which they differ; one entry for each key.
    Keys(SmallVec<[SortKey; 2]>),
    /// When this function answers `true`. Its parameters are the element of the first key that may come
    /// before and the one that may come after, then those of the second key, and so on. It should be a
    /// strict weak order; if it is not, the result is some permutation.
    Comparator(ScalarFunction),
}

/// How elements are ordered by one key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SortKey {
    /// Whether the largest comes first.
    pub descending: bool,
    /// How floats compare; means nothing for other dtypes.
    pub floats: FloatOrder,
}

/// An order of floats that has a place for zeros of either sign and for NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FloatOrder {
    /// By value. Both zeros are equal; every NaN is equal and larger than every number.
    #[default]
    Numeric,
    /// IEEE 754's total order of bits: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Total,
}

/// What a sort answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SortResult {
    /// The sorted elements of the only key.
    Values,
    /// For each place, the index (`i64`) along the axis of the element that belongs there.
    Positions,
    /// The same for the first places alone, as many as this.
    FirstPositions(usize),
}

impl SortResult {
    /// How many places of a line of this many are answered.
    pub fn output_extent(self, extent: usize) -> usize {
        match self {
            SortResult::Values | SortResult::Positions => extent,
            SortResult::FirstPositions(count) => count,
        }
    }
}

impl SortOrder {
    /// The order by keys that are all compared by value, smallest first.
    pub fn ascending(keys: usize) -> SortOrder {
        SortOrder::Keys(SmallVec::from_elem(SortKey::default(), keys))
    }
}
