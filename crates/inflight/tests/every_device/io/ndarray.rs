//! Conversion from and to arrays of the crate `ndarray`, in every layout.

use crate::support::{device, read};
use inflight::{Error, Tensor};
use ndarray::{Array, Array3, ArrayD, IxDyn, ShapeBuilder, arr0, s};

fn cube() -> Array3<f32> {
    Array::from_shape_fn((2, 3, 4), |(i, j, k)| (100 * i + 10 * j + k) as f32)
}

#[test]
fn every_layout_gives_the_same_elements() {
    let device = device();
    let rows = cube();
    let mut columns = Array3::zeros((2, 3, 4).f());
    columns.assign(&rows);
    let expected: Vec<f32> = rows.iter().copied().collect();
    for array in [rows, columns] {
        let tensor = Tensor::from_ndarray(&array, &device).unwrap();
        assert_eq!(read::<f32>(&tensor), (vec![2, 3, 4], expected.clone()));
        let tensor = Tensor::from_ndarray_owned(array, &device).unwrap();
        assert_eq!(read::<f32>(&tensor), (vec![2, 3, 4], expected.clone()));
    }
}

#[test]
fn array_slices_are_read_in_logical_order() {
    let device = device();
    let array = cube();
    let views = [
        array.slice(s![.., 1..;-1, ..;2]).into_dyn(),
        array.slice(s![1.., .., ..]).into_dyn(),
        array.view().permuted_axes([1, 2, 0]).into_dyn(),
        array.slice(s![.., 0..0, ..]).into_dyn(),
        array.slice(s![0, 0, ..]).into_dyn(),
    ];
    for view in views {
        let tensor = Tensor::from_ndarray(&view, &device).unwrap();
        let expected = (view.shape().to_vec(), view.iter().copied().collect());
        assert_eq!(read::<f32>(&tensor), expected);
        let back: ArrayD<f32> = tensor.to_ndarray().unwrap();
        assert_eq!(back, view);
    }
    // An owned array that covers only a part of its allocation.
    let rest = array.clone().slice_move(s![1.., .., ..]);
    let expected: Vec<f32> = rest.iter().copied().collect();
    let tensor = Tensor::from_ndarray_owned(rest, &device).unwrap();
    assert_eq!(read::<f32>(&tensor), (vec![1, 3, 4], expected));
    let reversed = array.slice_move(s![..;-1, .., ..]);
    let expected: Vec<f32> = reversed.iter().copied().collect();
    let tensor = Tensor::from_ndarray_owned(reversed, &device).unwrap();
    assert_eq!(read::<f32>(&tensor), (vec![2, 3, 4], expected));
}

#[test]
fn scalars_and_errors() {
    let device = device();
    let tensor = Tensor::from_ndarray(&arr0(7i64), &device).unwrap();
    assert_eq!(tensor.to_ndarray::<i64>().unwrap(), ArrayD::from_elem(IxDyn(&[]), 7));
    assert!(matches!(tensor.to_ndarray::<f32>(), Err(Error::ReadType { .. })));
    assert!(matches!(tensor.reshape([3]).to_ndarray::<i64>(), Err(Error::Op(_))));
}
