//! Sorting (`sort`, `argsort`) and selection (`top_k`).

use super::Tensor;
use super::axis::{Axis, axis as axis_of};
use super::composed::composed;
use super::method::method;
use super::record::{mistake, record_at};
use crate::DType;
use inflight_ir::compose::top_k;
use inflight_ir::graph::{Op, SortKey, SortOrder, SortResult};
use smallvec::smallvec;
use std::panic::Location;

impl Tensor {
    /// The elements along an axis in ascending or descending order. The sort is stable, and NaN is larger than every
    /// other value.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, Tensor};
    ///
    /// let x = Tensor::from_vec(vec![3.0f32, 1.0, 2.0], [3], &Device::cpu())?;
    /// assert_eq!(x.sort(0, false).to_vec::<f32>()?, [1.0, 2.0, 3.0]);
    /// assert_eq!(x.argsort(0, true).to_vec::<i64>()?, [0, 2, 1]);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn sort(&self, axis: impl Axis, descending: bool) -> Tensor {
        sorted("sort", self, axis.number(), descending, SortResult::Values, Location::caller())
    }

    /// The indices along an axis that sort it, as `i64`, in ascending or descending order. The sort is stable, and NaN
    /// is larger than every other value.
    #[doc(alias("sort_by_key", "arg_sort"))]
    #[track_caller]
    pub fn argsort(&self, axis: impl Axis, descending: bool) -> Tensor {
        sorted(
            "argsort",
            self,
            axis.number(),
            descending,
            SortResult::Positions,
            Location::caller(),
        )
    }

    /// The `k` largest elements along an axis, largest first, and their indices, as `i64`. Of equal elements the first
    /// come first; NaN is larger than every other value.
    ///
    /// ```
    /// # fn main() -> inflight::Result<()> {
    /// use inflight::{Device, Tensor};
    ///
    /// let x = Tensor::from_vec(vec![3.0f32, 9.0, 1.0, 7.0], [2, 2], &Device::cpu())?;
    /// let (values, positions) = x.top_k(1, 1);
    /// assert_eq!(values.to_vec::<f32>()?, [9.0, 7.0]);
    /// assert_eq!(positions.to_vec::<i64>()?, [1, 1]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias("topk", "argpartition", "partition"))]
    #[track_caller]
    pub fn top_k(&self, k: usize, axis: impl Axis) -> (Tensor, Tensor) {
        let location = Location::caller();
        let failed = |message: String| {
            let (shape, dtype) = (self.shape().clone(), self.dtype());
            let values = mistake("top_k", message.clone(), &[self], shape.clone(), dtype, location);
            let positions = mistake("top_k", message, &[self], shape, DType::I64, location);
            (values, positions)
        };
        let axis = match axis_of(axis.number(), self.rank()) {
            Ok(axis) => axis,
            Err(message) => return failed(message),
        };
        let extent = self.shape()[axis];
        if k > extent {
            return failed(format!(
                "expected at most {extent} elements, the extent of axis {axis}, found {k}; ask for fewer"
            ));
        }
        let plausible = || (self.shape().with(axis, k), self.dtype());
        let [values, positions] =
            composed("top_k", &[self], plausible, location, |graph, nodes| {
                let (values, positions) = top_k(graph, nodes[0], k, axis)?;
                Ok([values, positions])
            });
        (values, positions)
    }
}

fn sorted(
    name: &'static str,
    x: &Tensor,
    axis: isize,
    descending: bool,
    result: SortResult,
    location: &'static Location<'static>,
) -> Tensor {
    let axis = match axis_of(axis, x.rank()) {
        Ok(axis) => axis,
        Err(message) => {
            let dtype = match result {
                SortResult::Values => x.dtype(),
                SortResult::Positions | SortResult::FirstPositions(_) => DType::I64,
            };
            return mistake(name, message, &[x], x.shape().clone(), dtype, location);
        }
    };
    let order = SortOrder::Keys(smallvec![SortKey { descending, ..SortKey::default() }]);
    method(name).of(&[x], record_at(Op::Sort { axis, order, result }, &[x], location))
}
