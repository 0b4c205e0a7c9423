//! Sort, argsort and top-k.

use super::function::ScalarFunctionEvaluator;
use super::index::{for_each_index, linear_index};
use super::{Array, scalar_compare};
use crate::elementwise::CompareOp;
use crate::graph::{FloatOrder, SortKey, SortOrder, SortResult};
use crate::{Element, Scalar};
use std::cmp::Ordering;

/// Sorts along `axis`: returns the sorted elements, or their original positions.
pub fn sort(keys: &[&Array], axis: usize, order: &SortOrder, result: SortResult) -> Array {
    let shape = &keys[0].shape;
    let strides = shape.strides();
    let dtype = match result {
        SortResult::Values => keys[0].dtype,
        SortResult::Positions | SortResult::FirstPositions(_) => i64::DTYPE,
    };
    let count = result.output_extent(shape[axis]);
    let result_shape = shape.with(axis, count);
    let result_strides = result_shape.strides();
    let mut sorted = Array::full(&result_shape, Scalar::zero(dtype));
    for_each_index(&shape.reduced(&[axis], true), |index| {
        let first = linear_index(index, &strides);
        let at = |key: &Array, i: usize| key.get(first + i * strides[axis]);
        let mut permutation: Vec<usize> = (0..shape[axis]).collect();
        match order {
            SortOrder::Keys(orders) => permutation.sort_by(|&a, &b| {
                let keys = keys.iter().zip(orders);
                keys.map(|(key, order)| compare(at(key, a), at(key, b), *order))
                    .fold(Ordering::Equal, Ordering::then)
            }),
            SortOrder::Comparator(function) => {
                let mut function = ScalarFunctionEvaluator::new(function);
                insertion_sort(&mut permutation, |&a, &b| {
                    let pairs: Vec<Scalar> =
                        keys.iter().flat_map(|key| [at(key, a), at(key, b)]).collect();
                    bool::from_scalar(function.call(&pairs))
                });
            }
        }
        let first_result = linear_index(index, &result_strides);
        for (to, from) in permutation.into_iter().take(count).enumerate() {
            let value = match result {
                SortResult::Values => at(keys[0], from),
                SortResult::Positions | SortResult::FirstPositions(_) => (from as i64).to_scalar(),
            };
            sorted.set(first_result + to * result_strides[axis], value);
        }
    });
    sorted
}

/// Insertion sort. The standard library's sort may panic if the comparator is not a total order.
fn insertion_sort<T>(values: &mut [T], mut is_before: impl FnMut(&T, &T) -> bool) {
    for end in 1..values.len() {
        let mut at = end;
        while at > 0 && is_before(&values[at], &values[at - 1]) {
            values.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Compares two elements of one sort key.
pub fn compare(a: Scalar, b: Scalar, key: SortKey) -> Ordering {
    let ordering = match (a.dtype().is_float(), key.floats) {
        (true, FloatOrder::Numeric) => {
            let (a, b) = (a.to_f64(), b.to_f64());
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        (true, FloatOrder::Total) => total_order_key(a).cmp(&total_order_key(b)),
        (false, _) if scalar_compare(CompareOp::Lt, a, b) => Ordering::Less,
        (false, _) if scalar_compare(CompareOp::Gt, a, b) => Ordering::Greater,
        (false, _) => Ordering::Equal,
    };
    if key.descending { ordering.reverse() } else { ordering }
}

/// Order-preserving mapping of a float's bits to an integer (total order).
fn total_order_key(float: Scalar) -> i128 {
    let bits = float.bits()[0] as i128;
    let sign = 1i128 << (8 * float.dtype().size() - 1);
    if bits & sign == 0 { bits } else { sign - 1 - bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, Op, ScalarFunction};

    fn positions(values: &[f32], key: SortKey) -> Vec<i64> {
        let keys = Array::from_vec(values.to_vec(), values.len());
        let order = SortOrder::Keys([key].into_iter().collect());
        sort(&[&keys], 0, &order, SortResult::Positions).to_vec()
    }

    #[test]
    fn sort_is_stable_in_both_directions() {
        let values = [2.0, 1.0, 2.0, 0.0, -0.0, f32::NAN, -f32::NAN];
        assert_eq!(positions(&values, SortKey::default()), [3, 4, 1, 0, 2, 5, 6]);
        let descending = SortKey { descending: true, ..SortKey::default() };
        assert_eq!(positions(&values, descending), [5, 6, 0, 2, 1, 3, 4]);
        let total = SortKey { floats: FloatOrder::Total, ..SortKey::default() };
        assert_eq!(positions(&values, total), [6, 4, 3, 1, 0, 2, 5]);
    }

    #[test]
    fn second_key_breaks_ties() {
        let first = Array::from_vec(vec![1i32, 0, 1, 0], [2, 2]);
        let second = Array::from_vec(vec![5u8, 9, 4, 8], [2, 2]);
        let order = SortOrder::ascending(2);
        let sorted = sort(&[&first, &second], 0, &order, SortResult::Positions);
        assert_eq!(sorted.to_vec::<i64>(), [1, 1, 0, 0]);
    }

    #[test]
    fn sort_by_comparator_function() {
        let mut graph = Graph::default();
        let inputs = [graph.input((), crate::DType::I32), graph.input((), crate::DType::I32)];
        let ten = graph.scalar(10i32);
        let rest = inputs
            .map(|input| graph.push(Op::Binary(crate::BinaryOp::Rem), &[input, ten]).unwrap());
        let less = graph.push(Op::Compare(CompareOp::Lt), &rest).unwrap();
        graph.outputs = vec![less];
        let order = SortOrder::Comparator(ScalarFunction::new(graph).unwrap());
        let keys = Array::from_vec(vec![19i32, 21, 3, 11, 29], 5);
        let sorted = sort(&[&keys], 0, &order, SortResult::Values);
        assert_eq!(sorted.to_vec::<i32>(), [21, 11, 3, 19, 29]);
    }
}
