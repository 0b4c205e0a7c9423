//! Iteration over the first axis.

use super::Tensor;
use std::iter::FusedIterator;
use std::ops::Range;
use std::panic::Location;

/// The subtensors along the first axis of a tensor, in order: the elements of a vector, the rows of a matrix, the
/// matrices of a stack. Made by [`Tensor::rows`], [`Tensor::iter`] and `for row in &tensor`.
#[derive(Clone, Debug)]
#[must_use = "an iterator records a row only when it is asked for it"]
pub struct Rows<'a> {
    tensor: &'a Tensor,
    indices: Range<usize>,
    location: &'static Location<'static>,
}

impl Tensor {
    /// Iterates over the first axis: each item is the tensor at one index, without that axis.
    ///
    /// Items are views and are recorded one by one. A scalar, which has no axis, gives one item that carries the
    /// error.
    ///
    /// ```
    /// # use inflight::{Device, Tensor};
    /// # fn main() -> inflight::Result<()> {
    /// let x = Tensor::from_vec(vec![1, 2, 3, 4, 5, 6], [3, 2], &Device::cpu())?;
    /// let sums: Vec<i32> = x.rows().map(|row| row.sum_all().item()).collect::<Result<_, _>>()?;
    /// assert_eq!(sums, [3, 7, 11]);
    /// assert_eq!(x.rows().len(), 3);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("unbind", "outer_iter", "axis_iter", "unstack"))]
    #[track_caller]
    pub fn rows(&self) -> Rows<'_> {
        let len = self.shape().first().copied().unwrap_or(1);
        Rows { tensor: self, indices: 0..len, location: Location::caller() }
    }

    /// As [`rows`](Tensor::rows): iterates over the first axis.
    #[track_caller]
    pub fn iter(&self) -> Rows<'_> {
        self.rows()
    }
}

impl<'a> IntoIterator for &'a Tensor {
    type Item = Tensor;
    type IntoIter = Rows<'a>;

    #[track_caller]
    fn into_iter(self) -> Rows<'a> {
        self.rows()
    }
}

impl Rows<'_> {
    fn row(&self, index: usize) -> Tensor {
        self.tensor.at_index("rows", 0, index as isize, self.location)
    }
}

impl Iterator for Rows<'_> {
    type Item = Tensor;

    fn next(&mut self) -> Option<Tensor> {
        let index = self.indices.next()?;
        Some(self.row(index))
    }

    fn nth(&mut self, n: usize) -> Option<Tensor> {
        let index = self.indices.nth(n)?;
        Some(self.row(index))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.indices.size_hint()
    }

    fn count(self) -> usize {
        self.indices.len()
    }
}

impl DoubleEndedIterator for Rows<'_> {
    fn next_back(&mut self) -> Option<Tensor> {
        let index = self.indices.next_back()?;
        Some(self.row(index))
    }
}

impl ExactSizeIterator for Rows<'_> {}
impl FusedIterator for Rows<'_> {}
