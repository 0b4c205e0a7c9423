//! Elements found, and put, through an index; and values on other devices.

use crate::support::{counting, device, message, read};
use inflight::{DType, Shape, SyncGuard, Tensor};

fn index<const N: usize>(elements: [i64; N], shape: impl Into<Shape>, like: &Tensor) -> Tensor {
    Tensor::from_vec(elements.to_vec(), shape, like.device()).unwrap()
}

#[test]
fn gather_looks_up_along_an_axis() {
    let x = counting([2, 3], &device());
    let columns = index([2, 0, 1, 1], [2, 2], &x);
    assert_eq!(read::<i32>(&x.gather(1, &columns)), (vec![2, 2], vec![2, 0, 4, 4]));
    assert_eq!(read::<i32>(&x.gather(-1, &columns)).1, [2, 0, 4, 4]);
    let rows = index([1, 0, 1], [1, 3], &x);
    assert_eq!(read::<i32>(&x.gather(0, &rows)), (vec![1, 3], vec![3, 1, 5]));
    // An index that is smaller on another axis speaks of the first part of it.
    let corner = index([1, 0], [1, 2], &x);
    assert_eq!(read::<i32>(&x.gather(1, &corner)), (vec![1, 2], vec![1, 0]));
    // Out of range is clamped.
    let outside = index([-5, 99, 3, 2], [2, 2], &x);
    assert_eq!(read::<i32>(&x.gather(1, &outside)).1, [0, 2, 5, 5]);
}

#[test]
fn gather_explains_what_does_not_fit() {
    let x = counting([2, 3], &device());
    assert!(message(&x.gather(2, &x)).contains("axis 2"));
    assert!(message(&x.gather(0, &index([0], [1], &x))).contains("gather"));
    assert!(message(&x.gather(0, &x.cast(DType::F32))).contains("f32"));
    assert!(message(&x.index_select(0, &x)).contains("2 axes"));
}

#[test]
fn rows_are_selected() {
    let x = counting([3, 2], &device());
    let chosen = index([2, 0, 2], [3], &x);
    assert_eq!(read::<i32>(&x.index_select(0, &chosen)).1, [4, 5, 0, 1, 4, 5]);
    let chosen = index([1], [1], &x).cast(DType::U8);
    assert_eq!(read::<i32>(&x.index_select(-1, &chosen)), (vec![3, 1], vec![1, 3, 5]));
    let places = index([5, 0, 3, 3], [2, 2], &x);
    assert_eq!(read::<i32>(&x.transpose().take(&places)), (vec![2, 2], vec![5, 0, 1, 1]));
}

#[test]
fn updates_are_scattered() {
    let device = device();
    let x = counting([2, 3], &device);
    let places = index([0, 0, 2, 7], [2, 2], &x);
    let updates = Tensor::from_vec(vec![10, 20, 30, 40], [2, 2], &device).unwrap();
    // The second of two updates to one place stays, and the one out of range is dropped.
    assert_eq!(read::<i32>(&x.scatter(1, &places, &updates)).1, [20, 1, 2, 3, 4, 30]);
    assert_eq!(read::<i32>(&x.scatter_add(1, &places, &updates)).1, [30, 1, 2, 3, 4, 35]);
    assert_eq!(read::<i32>(&x.scatter_mul(1, &places, &updates)).1, [0, 1, 2, 3, 4, 150]);
    assert_eq!(read::<i32>(&x.scatter_max(1, &places, &updates)).1, [20, 1, 2, 3, 4, 30]);
    assert_eq!(read::<i32>(&x.scatter_min(1, &places, &updates)).1, [0, 1, 2, 3, 4, 5]);
    // A smaller index leaves the rest alone.
    let place = index([1], [1, 1], &x);
    let update = Tensor::from_vec(vec![10], [1, 1], &device).unwrap();
    assert_eq!(read::<i32>(&x.scatter_add(1, &place, &update)).1, [0, 11, 2, 3, 4, 5]);
    assert!(message(&x.scatter(3, &places, &updates)).contains("axis 3"));
    assert!(message(&x.scatter(1, &places, &x)).contains("scatter"));
}

#[test]
fn scatter_add_counts() {
    let device = device();
    let labels: Vec<i64> = (0..1000).map(|i| (i * i) % 7).collect();
    let mut expected = vec![0i32; 7];
    labels.iter().for_each(|&label| expected[label as usize] += 1);
    let labels = Tensor::from_vec(labels, [1000], &device).unwrap();
    let ones = Tensor::ones::<i32>([1000], &device);
    let counts = Tensor::zeros::<i32>([7], &device).scatter_add(0, &labels, &ones);
    assert_eq!(counts.to_vec::<i32>().unwrap(), expected);
}

#[test]
fn classes_are_spread_out() {
    let device = device();
    let labels = Tensor::from_vec(vec![2i8, 0, -1, 3], [2, 2], &device).unwrap();
    let expected = vec![0., 0., 1., 1., 0., 0., 0., 0., 0., 0., 0., 0.];
    assert_eq!(read::<f32>(&labels.one_hot(3, DType::F32)), (vec![2, 2, 3], expected));
    // More classes than the dtype can count.
    let wide = labels.one_hot(300, DType::Bool).to_vec::<bool>().unwrap();
    assert_eq!(wide.iter().filter(|&&hot| hot).count(), 3);
    assert!(message(&labels.cast(DType::F32).one_hot(3, DType::F32)).contains("integers"));
    assert!(labels.one_hot(usize::MAX, DType::F32).check().is_err());
}

#[test]
fn values_move_between_devices_without_a_wait() {
    let (here, there) = (device(), device());
    let x = counting([1000], &here);
    let guard = SyncGuard::deny();
    let y = &x * 2 + 1;
    let moved = y.to_device(&there);
    assert_eq!(moved.device(), &there);
    let back = (&moved + 1).to_device(&here) + &x;
    assert!(message(&(&moved + &x)).contains("one device"));
    drop(guard);
    let expected: Vec<i32> = (0..1000).map(|i| 3 * i + 2).collect();
    assert_eq!(back.to_vec::<i32>().unwrap(), expected);
    assert_eq!(here.stats().all_waits() + there.stats().all_waits(), 1);
    let constant = Tensor::scalar(3i32, &here).to_device(&there);
    assert_eq!((&moved * &constant).to_vec::<i32>().unwrap()[1], 9);
}
