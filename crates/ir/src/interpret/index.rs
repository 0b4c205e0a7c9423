//! Iteration over the indices of a shape, and strides.

use crate::{Axes, Shape};

/// Calls `visit` with each index of the shape, in row-major order.
pub fn for_each_index(shape: &Shape, mut visit: impl FnMut(&[usize])) {
    let mut index = Axes::from_elem(0, shape.rank());
    for _ in 0..shape.element_count() {
        visit(&index);
        for axis in (0..shape.rank()).rev() {
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// The linear index of a multi-dimensional index.
pub fn linear_index(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(index, stride)| index * stride).sum()
}

/// Strides of `from` broadcast to `to`: 0 along broadcast axes.
pub fn broadcast_strides(from: &Shape, to: &Shape) -> Axes {
    let strides = from.strides();
    let missing = to.rank() - from.rank();
    (0..to.rank())
        .map(|axis| match axis.checked_sub(missing) {
            Some(axis) if from[axis] != 1 => strides[axis],
            _ => 0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_visited_in_row_major_order() {
        let mut seen = Vec::new();
        for_each_index(&Shape::from([2, 3]), |index| seen.push(index.to_vec()));
        assert_eq!(seen, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        let count = |shape: Shape| {
            let mut count = 0;
            for_each_index(&shape, |_| count += 1);
            count
        };
        assert_eq!(count(Shape::scalar()), 1);
        assert_eq!(count(Shape::from([2, 0, 3])), 0);
    }

    #[test]
    fn broadcast_axes_have_stride_zero() {
        let strides = broadcast_strides(&Shape::from([3, 1]), &Shape::from([2, 3, 4]));
        assert_eq!(strides.as_slice(), [0, 1, 0]);
        assert_eq!(linear_index(&[1, 2, 3], &strides), 2);
    }
}
