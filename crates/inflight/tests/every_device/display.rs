//! Display of tensors.

use crate::support::{counting, device};
use inflight::{Complex, SyncGuard, Tensor};

#[test]
fn nested_brackets_and_aligned_columns() {
    let device = device();
    assert_eq!(counting([3], &device).to_string(), "[0, 1, 2]");
    let matrix = Tensor::from_vec(vec![1.0f32, -2.25, 10.5, 4.0], [2, 2], &device).unwrap();
    assert_eq!(matrix.to_string(), "[[ 1.00, -2.25],\n [10.50,  4.00]]");
    assert_eq!(format!("{matrix:.1}"), "[[ 1.0, -2.2],\n [10.5,  4.0]]");
    let cube = counting([2, 1, 2], &device);
    assert_eq!(cube.to_string(), "[[[0, 1]],\n\n [[2, 3]]]");
    assert_eq!(Tensor::scalar(2.5f64, &device).to_string(), "2.5");
    let loss = Tensor::scalar(0.50001717f32, &device);
    assert_eq!((loss.to_string(), format!("{loss:.3}")), ("0.50001717".into(), "0.500".into()));
    assert_eq!(Tensor::scalar(1e-30f32, &device).to_string(), "1e-30");
    assert_eq!(Tensor::scalar(f64::NAN, &device).to_string(), "nan");
    assert_eq!(Tensor::zeros::<f32>([2, 0], &device).to_string(), "[]");
    let mask = Tensor::from_vec(vec![true, false], [2], &device).unwrap();
    assert_eq!(mask.to_string(), "[ true, false]");
    let z = Tensor::from_vec(vec![Complex::new(1.0f32, -0.5)], [1], &device).unwrap();
    assert_eq!(z.to_string(), "[1.0-0.5i]");
}

#[test]
fn extreme_values_use_exponents() {
    let device = device();
    let x = Tensor::from_vec(vec![1e-7, 1.0], [2], &device).unwrap();
    assert_eq!(x.to_string(), "[1.0e-7,  1.0e0]");
    let x = Tensor::from_vec(vec![f32::NAN, f32::INFINITY, 0.125], [3], &device).unwrap();
    assert_eq!(x.to_string(), "[  nan,   inf, 0.125]");
    let third = Tensor::from_vec(vec![1.0 / 3.0], [1], &device).unwrap();
    assert_eq!(third.to_string(), "[0.3333]");
}

#[test]
fn large_tensors_are_abbreviated() {
    let device = device();
    let vector = counting([2000], &device);
    assert_eq!(vector.to_string(), "[   0,    1,    2, ..., 1997, 1998, 1999]");
    let tall = counting([1000, 2], &device);
    let expected = "[[   0,    1],\n [   2,    3],\n [   4,    5],\n ...,\n \
                    [1994, 1995],\n [1996, 1997],\n [1998, 1999]]";
    assert_eq!(tall.to_string(), expected);
    let long = counting([1000], &device).to_string();
    assert!(long.lines().all(|line| line.len() <= 80) && long.lines().count() > 1);
    assert!(long.starts_with("[  0,   1,") && long.ends_with("998, 999]"));
}

#[test]
fn unreadable_tensors_display_their_error() {
    let device = device();
    let bad = counting([2], &device) + counting([3], &device);
    let text = bad.to_string();
    assert!(text.starts_with("Tensor(failed: add(i32[2], i32[3]) at "), "{text}");
    let recorded = counting([2], &device) + 1;
    let guard = SyncGuard::deny();
    assert!(format!("{recorded:?}").contains("recorded"));
    assert!(recorded.to_string().contains("denied"));
    drop(guard);
    assert_eq!(recorded.to_string(), "[1, 2]");
}
