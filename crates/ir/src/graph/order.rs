//! Sort orders and sort results.

use super::ScalarFunction;
use smallvec::SmallVec;

/// The order of a sort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum SortOrder {
    /// Lexicographic, by the first key in which elements differ; one entry for each key.
    Keys(SmallVec<[SortKey; 2]>),
    /// A comparator: one element comes before another if the function returns `true`. Its parameters are the element
    /// of the first key that may come before and the one that may come after, then those of the second key, and so
    /// on. It should be a strict weak order; otherwise the result is an unspecified permutation.
    Comparator(ScalarFunction),
}

/// The order by one key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct SortKey {
    /// Whether the order is descending.
    pub descending: bool,
    /// How floats compare; ignored for other dtypes.
    pub floats: FloatOrder,
}

/// A total preorder of floats, including zeros of either sign and NaN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum FloatOrder {
    /// By value. Both zeros are equal; all NaNs are equal and greater than any other value.
    #[default]
    Numeric,
    /// IEEE 754's total order of bits: −NaN, −∞, …, −0, +0, …, +∞, +NaN.
    Total,
}

/// The result of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SortResult {
    /// The sorted elements of the only key.
    Values,
    /// Argsort: the index (`i64`) along the axis of each sorted element.
    Positions,
    /// Top-k: the first `k` of those indices.
    FirstPositions(usize),
}

impl SortResult {
    /// The extent of the result along the sorted axis, given that of the keys.
    pub fn output_extent(self, extent: usize) -> usize {
        match self {
            SortResult::Values | SortResult::Positions => extent,
            SortResult::FirstPositions(count) => count,
        }
    }
}

impl SortOrder {
    /// Ascending order by value for each key.
    pub fn ascending(keys: usize) -> SortOrder {
        SortOrder::Keys(SmallVec::from_elem(SortKey::default(), keys))
    }
}
