//! Gather, scatter, index_select, take and one_hot; and copies between devices.

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
    // An index tensor that is smaller along another axis addresses its leading part.
    let corner = index([1, 0], [1, 2], &x);
    assert_eq!(read::<i32>(&x.gather(1, &corner)), (vec![1, 2], vec![1, 0]));
    // Out-of-range indices are clamped.
    let outside = index([-5, 99, 3, 2], [2, 2], &x);
    assert_eq!(read::<i32>(&x.gather(1, &outside)).1, [0, 2, 5, 5]);
}

#[test]
fn mismatched_gathers_are_explained() {
    let x = counting([2, 3], &device());
    assert!(message(&x.gather(2, &x)).contains("axis 2"));
    assert!(message(&x.gather(0, &index([0], [1], &x))).contains("gather"));
    assert!(message(&x.gather(0, &x.cast(DType::F32))).contains("f32"));
    assert!(message(&x.index_select(0, &x)).contains("2 axes"));
}

#[test]
fn index_select_and_take() {
    let x = counting([3, 2], &device());
    let selected = index([2, 0, 2], [3], &x);
    assert_eq!(read::<i32>(&x.index_select(0, &selected)).1, [4, 5, 0, 1, 4, 5]);
    let selected = index([1], [1], &x).cast(DType::U8);
    assert_eq!(read::<i32>(&x.index_select(-1, &selected)), (vec![3, 1], vec![1, 3, 5]));
    let positions = index([5, 0, 3, 3], [2, 2], &x);
    assert_eq!(read::<i32>(&x.transpose().take(&positions)), (vec![2, 2], vec![5, 0, 1, 1]));
}

#[test]
fn scatter_with_every_combiner() {
    let device = device();
    let x = counting([2, 3], &device);
    let indices = index([0, 0, 2, 7], [2, 2], &x);
    let updates = Tensor::from_vec(vec![10, 20, 30, 40], [2, 2], &device).unwrap();
    // The last of two updates to one position wins; the out-of-range update is dropped.
    assert_eq!(read::<i32>(&x.scatter(1, &indices, &updates)).1, [20, 1, 2, 3, 4, 30]);
    assert_eq!(read::<i32>(&x.scatter_add(1, &indices, &updates)).1, [30, 1, 2, 3, 4, 35]);
    assert_eq!(read::<i32>(&x.scatter_mul(1, &indices, &updates)).1, [0, 1, 2, 3, 4, 150]);
    assert_eq!(read::<i32>(&x.scatter_max(1, &indices, &updates)).1, [20, 1, 2, 3, 4, 30]);
    assert_eq!(read::<i32>(&x.scatter_min(1, &indices, &updates)).1, [0, 1, 2, 3, 4, 5]);
    // A smaller index tensor leaves the other elements unchanged.
    let single = index([1], [1, 1], &x);
    let update = Tensor::from_vec(vec![10], [1, 1], &device).unwrap();
    assert_eq!(read::<i32>(&x.scatter_add(1, &single, &update)).1, [0, 11, 2, 3, 4, 5]);
    assert!(message(&x.scatter(3, &indices, &updates)).contains("axis 3"));
    assert!(message(&x.scatter(1, &indices, &x)).contains("scatter"));
}

#[test]
fn scatter_add_computes_a_histogram() {
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
fn one_hot_encodes_classes() {
    let device = device();
    let labels = Tensor::from_vec(vec![2i8, 0, -1, 3], [2, 2], &device).unwrap();
    let expected = vec![0., 0., 1., 1., 0., 0., 0., 0., 0., 0., 0., 0.];
    assert_eq!(read::<f32>(&labels.one_hot(3, DType::F32)), (vec![2, 2, 3], expected));
    // More classes than the label dtype can represent.
    let wide = labels.one_hot(300, DType::Bool).to_vec::<bool>().unwrap();
    assert_eq!(wide.iter().filter(|&&hot| hot).count(), 3);
    assert!(message(&labels.cast(DType::F32).one_hot(3, DType::F32)).contains("integers"));
    assert!(labels.one_hot(usize::MAX, DType::F32).check().is_err());
}

#[test]
fn to_device_copies_without_a_wait() {
    let (first, second) = (device(), device());
    let x = counting([1000], &first);
    let guard = SyncGuard::deny();
    let y = &x * 2 + 1;
    let moved = y.to_device(&second);
    assert_eq!(moved.device(), &second);
    let returned = (&moved + 1).to_device(&first) + &x;
    assert!(message(&(&moved + &x)).contains("one device"));
    drop(guard);
    let expected: Vec<i32> = (0..1000).map(|i| 3 * i + 2).collect();
    assert_eq!(returned.to_vec::<i32>().unwrap(), expected);
    assert_eq!(first.stats().all_waits() + second.stats().all_waits(), 1);
    let constant = Tensor::scalar(3i32, &first).to_device(&second);
    assert_eq!((&moved * &constant).to_vec::<i32>().unwrap()[1], 9);
}
