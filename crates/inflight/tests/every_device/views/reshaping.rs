//! Shape-changing views: reshape, permute, squeeze, expand, flip.

use crate::support::{counting, device, message, read};
use inflight::{Device, Shape, SyncGuard, Tensor};

#[test]
fn reshape_preserves_the_order_of_elements() {
    let device = device();
    let x = counting([2, 6], &device);
    assert_eq!(read::<i32>(&x.reshape([3, 4])), (vec![3, 4], (0..12).collect()));
    assert_eq!(read::<i32>(&x.reshape([3usize, 4])).0, [3, 4]);
    assert_eq!(read::<i32>(&x.reshape([-1, 3, 2])).0, [2, 3, 2]);
    assert_eq!(read::<i32>(&x.reshape(Shape::from([12, 1]))).0, [12, 1]);
    assert_eq!(read::<i32>(&x.reshape(-1)).0, [12]);
    assert_eq!(read::<i32>(&x.flatten()).0, [12]);
    let scalar = counting([1, 1], &device).reshape(());
    assert_eq!(read::<i32>(&scalar), (vec![], vec![0]));
    // Also of a tensor that is not row-major in memory.
    let y = x.transpose().reshape([3, 4]);
    assert_eq!(read::<i32>(&y).1, [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11]);
}

#[test]
fn mismatched_reshapes_are_explained() {
    let x = counting([2, 6], &device());
    let failed = x.reshape([5, 2]);
    assert_eq!(failed.shape(), &Shape::from([5, 2]));
    assert!(message(&failed).contains("[5, 2]") && message(&failed).contains("[2, 6]"));
    assert!(message(&failed).contains("reshaping.rs"));
    assert!(message(&x.reshape([5, -1])).contains("do not fill"));
    assert!(message(&x.reshape([-1, -1])).contains("more than one"));
    assert!(message(&x.reshape([-3, 4])).contains("-3"));
    assert!(x.reshape([usize::MAX, 2]).check().is_err());
}

#[test]
fn axes_are_permuted() {
    let device = device();
    let x = counting([2, 3, 4], &device);
    let at = |i: usize, j: usize, k: usize| (i * 12 + j * 4 + k) as i32;
    let mut swapped = Vec::new();
    let mut rotated = Vec::new();
    for i in 0..2 {
        for k in 0..4 {
            (0..3).for_each(|j| swapped.push(at(i, j, k)));
        }
    }
    for k in 0..4 {
        for i in 0..2 {
            (0..3).for_each(|j| rotated.push(at(i, j, k)));
        }
    }
    assert_eq!(read::<i32>(&x.transpose()), (vec![2, 4, 3], swapped.clone()));
    assert_eq!(read::<i32>(&x.swap_dims(-1, 1)), (vec![2, 4, 3], swapped));
    assert_eq!(read::<i32>(&x.permute([2, 0, 1])), (vec![4, 2, 3], rotated.clone()));
    assert_eq!(read::<i32>(&x.permute([-1, 0, -2])), (vec![4, 2, 3], rotated));
    assert_eq!(read::<i32>(&x.permute([2, 0, 1]).permute([1, 2, 0])).1, x.to_vec::<i32>().unwrap());
    assert!(message(&x.permute([0, 1])).contains("permute"));
    assert!(message(&x.permute([0, 1, 1])).contains("named twice"));
    assert!(message(&x.swap_dims(0, 3)).contains("axis 3"));
    assert!(message(&counting([3], &device).transpose()).contains("two axes"));
}

#[test]
fn squeeze_and_unsqueeze() {
    let device = device();
    let x = counting([2, 3], &device);
    assert_eq!(read::<i32>(&x.unsqueeze(0)).0, [1, 2, 3]);
    assert_eq!(read::<i32>(&x.unsqueeze(-1)).0, [2, 3, 1]);
    assert_eq!(read::<i32>(&x.unsqueeze(1).squeeze(1)), read::<i32>(&x));
    assert_eq!(read::<i32>(&x.unsqueeze(1).squeeze(-2)).0, [2, 3]);
    assert_eq!(read::<i32>(&x.unsqueeze(0).unsqueeze(-1).squeeze_all()).0, [2, 3]);
    assert!(message(&x.squeeze(0)).contains("extent of 2"));
    assert!(message(&x.unsqueeze(4)).contains("axis 4"));
    assert_eq!(x.unsqueeze(4).rank(), 3);
}

#[test]
fn expand_aligns_right() {
    let device = device();
    let x = counting([3, 1], &device);
    let expected = vec![0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2];
    assert_eq!(read::<i32>(&x.expand([2, 3, 2])), (vec![2, 3, 2], expected));
    assert_eq!(read::<i32>(&x.expand([3, 0])), (vec![3, 0], vec![]));
    assert!(message(&x.expand([4, 2])).contains("[4, 2]"));
    assert_eq!(x.expand([4, 2]).shape(), &Shape::from([4, 2]));
}

#[test]
fn flip_reverses_axes() {
    let x = counting([2, 3], &device());
    assert_eq!(read::<i32>(&x.flip([1])).1, [2, 1, 0, 5, 4, 3]);
    assert_eq!(read::<i32>(&x.flip([0, -1])).1, [5, 4, 3, 2, 1, 0]);
    assert_eq!(read::<i32>(&x.flip(())).1, [0, 1, 2, 3, 4, 5]);
    assert!(message(&x.flip([1, -1])).contains("named twice"));
}

#[test]
fn the_first_error_propagates_through_views() {
    let x = counting([2, 3], &device());
    let failed = x.reshape([7]);
    let first = message(&failed);
    for later in [
        failed.slice(9..),
        failed.transpose(),
        failed.pad([(1, 1)], 0),
        failed.gather(5, &x),
        Tensor::cat([&x, &failed], 0),
        failed.index_axis(0, 100),
        failed.to_device(&Device::cpu()),
    ] {
        assert_eq!(message(&later), first);
        assert_eq!(later.to_vec::<i32>().unwrap_err().to_string(), first);
    }
}

#[test]
fn views_never_wait() {
    let device = device();
    let _guard = SyncGuard::deny();
    let x = counting([4, 6], &device);
    let y = x.slice((1..3, ..)).transpose().reshape([3, -1]).expand([2, 3, 4]).flip([0]);
    let z = Tensor::stack(y.chunk(0, 2), 1).pad([(0, 0), (1, 1), (0, 0), (0, 0)], 7);
    assert_eq!(z.shape(), &Shape::from([1, 4, 3, 4]));
    assert_eq!(device.stats().all_waits(), 0);
}

#[test]
fn transposes_of_any_size_fuse_with_elementwise_ops() {
    let device = device();
    for [rows, columns] in [[64, 64], [192, 192], [100, 100], [128, 192], [65, 31], [20, 700]] {
        let x = counting([columns, rows], &device);
        let y = counting([rows, columns], &device) * 3;
        let expected: Vec<i32> = (0..rows * columns)
            .map(|at| (at % columns * rows + at / columns) as i32 - 3 * at as i32)
            .collect();
        assert!((x.transpose() - &y).to_vec::<i32>().unwrap() == expected, "{rows} {columns}");
        if rows == columns {
            let expected: Vec<i32> = expected.iter().zip(0..).map(|(x, at)| x + 2 * at).collect();
            assert!((x.transpose() - &x).to_vec::<i32>().unwrap() == expected, "{rows} {columns}");
        }
    }
}
