//! Tensor creation: host data, constants, eye, iota, arange, linspace.

use crate::support::{device, message, read};
use inflight::{DType, Device, Error, Tensor, bf16, f16};

#[test]
fn host_data_round_trips() {
    let device = device();
    let x = Tensor::from_vec(vec![1i64, -2, 3, 4, 5, 6], [2, 3], &device).unwrap();
    assert_eq!(read::<i64>(&x), (vec![2, 3], vec![1, -2, 3, 4, 5, 6]));
    let x = Tensor::from_slice(&[true, false], 2, &device).unwrap();
    assert_eq!(read::<bool>(&x), (vec![2], vec![true, false]));
    let x = Tensor::from_vec(Vec::<f32>::new(), [0, 3], &device).unwrap();
    assert_eq!(read::<f32>(&x), (vec![0, 3], vec![]));
    let x = Tensor::from_vec(vec![f16::from_f32(0.5)], (), &device).unwrap();
    assert_eq!(x.item::<f16>().unwrap(), f16::from_f32(0.5));
    assert_eq!(Tensor::scalar(7u8, &device).item::<u8>().unwrap(), 7);
}

#[test]
fn mismatched_lengths_are_errors() {
    let device = device();
    let line = line!() + 1;
    let error = Tensor::from_vec(vec![1f32; 5], [2, 3], &device).unwrap_err();
    assert!(matches!(error, Error::Length { len: 5, .. }));
    assert_eq!(error.location().unwrap().line(), line);
    assert!(error.location().unwrap().file().ends_with("creation.rs"));
    assert!(Tensor::from_slice(&[1f32; 5], [6], &device).is_err());
    assert!(Tensor::from_slice::<f32>(&[], [usize::MAX, 2, 0], &device).is_err());
    assert!(Tensor::from_vec_column_major(vec![1f32; 5], [2, 3], &device).is_err());
}

#[test]
fn column_major_data_is_a_transposed_view() {
    let device = device();
    let x = Tensor::from_vec_column_major(vec![1, 2, 3, 4, 5, 6], [2, 3], &device).unwrap();
    assert_eq!(read::<i32>(&x), (vec![2, 3], vec![1, 3, 5, 2, 4, 6]));
    let x = Tensor::from_vec_column_major((0..24).collect(), [2, 3, 4], &device).unwrap();
    let (_, found) = read::<i32>(&x);
    for (i, j, k) in (0..2).flat_map(|i| (0..3).flat_map(move |j| (0..4).map(move |k| (i, j, k)))) {
        assert_eq!(found[(i * 3 + j) * 4 + k], (i + 2 * j + 6 * k) as i32);
    }
}

#[test]
fn host_data_is_converted_to_the_dtype() {
    let device = device();
    let x = Tensor::from_vec_as(vec![0.1f64, 2.5], [2], DType::F32, &device).unwrap();
    assert_eq!(read::<f32>(&x).1, [0.1, 2.5]);
    let x = Tensor::from_vec_as(vec![1u8, 255], [2], DType::BF16, &device).unwrap();
    assert_eq!(read::<bf16>(&x).1, [bf16::from_f32(1.0), bf16::from_f32(255.0)]);
}

#[test]
fn constant_tensors() {
    let device = device();
    assert_eq!(read::<i32>(&Tensor::full(7, [2, 2], &device)), (vec![2, 2], vec![7; 4]));
    assert_eq!(read::<f64>(&Tensor::zeros::<f64>([3], &device)).1, [0.0; 3]);
    assert_eq!(read::<bool>(&Tensor::ones::<bool>([3], &device)).1, [true; 3]);
    assert_eq!(read::<u16>(&Tensor::full_with_dtype(9, [2], DType::U16, &device)).1, [9; 2]);
    assert_eq!(Tensor::full(2.5f32, (), &device).item::<f32>().unwrap(), 2.5);
    assert_eq!(read::<f32>(&Tensor::ones::<f32>([0, 4], &device)), (vec![0, 4], vec![]));
    let x = Tensor::full(2.5f32, [2], &device);
    assert_eq!(read::<f32>(&x.zeros_like()).1, [0.0; 2]);
    assert_eq!(read::<f32>(&x.ones_like()).1, [1.0; 2]);
    assert_eq!(read::<f32>(&x.full_like(3)).1, [3.0; 2]);
    assert!(message(&Tensor::full_with_dtype(300, [2], DType::U8, &device)).contains("300"));
}

#[test]
fn eye_and_iota() {
    let device = device();
    assert_eq!(read::<i32>(&Tensor::eye::<i32>(2, &device)), (vec![2, 2], vec![1, 0, 0, 1]));
    assert_eq!(read::<f32>(&Tensor::eye::<f32>(0, &device)), (vec![0, 0], vec![]));
    let rows = Tensor::iota::<u8>(0, [2, 3], &device);
    assert_eq!(read::<u8>(&rows).1, [0, 0, 0, 1, 1, 1]);
    let columns = Tensor::iota::<f32>(-1, [2, 3], &device);
    assert_eq!(read::<f32>(&columns).1, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
    let line = line!() + 1;
    let bad = Tensor::iota::<f32>(2, [2, 3], &device);
    assert_eq!(bad.shape().extents(), [2, 3]);
    let text = message(&bad);
    assert!(text.starts_with("iota(f32[2, 3]) at "), "{text}");
    assert!(text.contains(&format!("creation.rs:{line}:")), "{text}");
    assert!(message(&Tensor::iota::<bool>(0, [2], &device)).contains("bool"));
}

fn arange<T: inflight::Element>(start: T, end: T, step: T, device: &Device) -> Vec<T> {
    Tensor::arange_step(start..end, step, device).to_vec().unwrap()
}

#[test]
fn arange_covers_the_half_open_range() {
    let device = device();
    assert_eq!(arange(2, 9, 3, &device), [2, 5, 8]);
    assert_eq!(arange(2, 8, 3, &device), [2, 5]);
    assert_eq!(arange(5i64, 0, -2, &device), [5, 3, 1]);
    assert!(arange(0, -5, 1, &device).is_empty());
    assert_eq!(arange(250u8, 255, 2, &device), [250, 252, 254]);
    assert_eq!(arange(0.0, 1.0, 0.25, &device), [0.0, 0.25, 0.5, 0.75]);
    assert_eq!(arange(0.5f32, 2.0, 1.0, &device), [0.5, 1.5]);
    let f16_values = arange(f16::from_f32(0.0), f16::from_f32(4000.0), f16::from_f32(2.0), &device);
    assert_eq!(f16_values.len(), 2000);
    assert_eq!(f16_values[1999], f16::from_f32(3998.0));
    assert!(
        message(&Tensor::arange_step(0..1, 0, &device))
            .contains("expected a nonzero step, found 0")
    );
    assert!(message(&Tensor::arange(0.0..f64::INFINITY, &device)).contains("finite"));
    assert!(message(&Tensor::arange_step(0.0..1.0, f64::NAN, &device)).contains("finite"));
    assert!(message(&Tensor::arange(false..true, &device)).contains("found bool"));
    assert!(message(&Tensor::arange(0..i64::MAX, &device)).contains("more elements"));
}

#[test]
fn linspace_is_evenly_spaced() {
    let device = device();
    let linspace = |start: f32, end, count| {
        Tensor::linspace(start, end, count, &device).to_vec::<f32>().unwrap()
    };
    assert_eq!(linspace(0.0, 1.0, 5), [0.0, 0.25, 0.5, 0.75, 1.0]);
    assert_eq!(linspace(3.0, 1.0, 3), [3.0, 2.0, 1.0]);
    assert_eq!(linspace(3.0, 9.0, 1), [3.0]);
    assert!(linspace(3.0, 9.0, 0).is_empty());
    let dense = linspace(0.1, 0.7, 1000);
    assert_eq!((dense[0], dense[999]), (0.1, 0.7));
    assert!(dense.is_sorted());
    assert!(
        message(&Tensor::linspace(0, 9, 3, &device)).contains("expected a float dtype, found i32")
    );
}

#[test]
fn unaddressable_shapes_are_errors() {
    let device = device();
    let huge = Tensor::zeros::<f32>([usize::MAX, 3], &device);
    assert!(message(&huge).contains("fits an isize"));
    assert!(huge.to_vec::<f32>().is_err());
    for tensor in [
        Tensor::iota::<f32>(0, [usize::MAX, 3], &device),
        Tensor::eye::<f32>(usize::MAX, &device),
        Tensor::rand::<f32>([usize::MAX, 3], 0, &device),
        Tensor::randint(0, 9, [usize::MAX, 3], 0, &device),
        Tensor::iota::<f32>(7, [usize::MAX, 3], &device),
    ] {
        assert!(message(&tensor).contains("fits an isize"), "{}", message(&tensor));
        assert!(tensor.shape().checked_element_count().is_some());
    }
    assert_eq!(Tensor::ones::<f32>([2], &device).sum_all().item::<f32>().unwrap(), 2.0);
}
