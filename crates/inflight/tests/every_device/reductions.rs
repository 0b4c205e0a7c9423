//! Reductions and scans.

use crate::support::{counting, device, message, read};
use inflight::{DType, Tensor, bf16, f16};

#[test]
fn reductions_over_one_several_and_all_axes() {
    let device = device();
    let x = counting([2, 3], &device);
    assert_eq!(read::<i32>(&x.sum_all()), (vec![], vec![15]));
    assert_eq!(read::<i32>(&x.sum([0])), (vec![3], vec![3, 5, 7]));
    assert_eq!(read::<i32>(&x.sum([-1].as_slice())), (vec![2], vec![3, 12]));
    assert_eq!(read::<i32>(&x.sum(vec![1, 0])), (vec![], vec![15]));
    assert_eq!(read::<i32>(&x.sum_keepdim([1])), (vec![2, 1], vec![3, 12]));
    assert_eq!(read::<i32>(&x.sum_keepdim([0, 1])), (vec![1, 1], vec![15]));
    assert_eq!(read::<i32>(&x.sum(())), (vec![2, 3], vec![0, 1, 2, 3, 4, 5]));
    let scalar = Tensor::scalar(4.0f32, &device);
    assert_eq!(scalar.sum_all().item::<f32>().unwrap(), 4.0);
    assert_eq!(scalar.mean_all().item::<f32>().unwrap(), 4.0);
}

/// Regression test: an assembler of CUDA drops negations in three-operand min and max.
#[test]
fn max_and_min_of_negated_integers() {
    let device = device();
    let x = Tensor::from_vec(vec![0, 3, -4, -2], [2, 2], &device).unwrap();
    let y = Tensor::from_vec(vec![5, -6, 1, 7], [2, 2], &device).unwrap();
    let largest = |x: &Tensor| read::<i32>(&x.max([1])).1;
    let smallest = |x: &Tensor| read::<i32>(&x.min([1])).1;
    assert_eq!(largest(&x.abs()), [3, 4]);
    assert_eq!(largest(&x.maximum(-&y)), [6, -1]);
    assert_eq!(smallest(&x.minimum(-&y)), [-5, -7]);
    assert_eq!(largest(&(-&x).maximum(-&y)), [6, 4]);
    let narrow = x.cast(DType::I8);
    assert_eq!(read::<i8>(&narrow.abs().max([1])).1, [3, 4]);
    let unsigned = x.abs().cast(DType::U32);
    assert_eq!(read::<u32>(&unsigned.maximum(-&unsigned).max([1])).1, [u32::MAX - 2, u32::MAX - 1]);
}

#[test]
fn select_after_an_empty_sum() {
    let device = device();
    for (shape, update) in [([0, 1], [1, 1]), ([0, 5], [1, 5])] {
        // Dirty the memory that the result will use.
        Tensor::full(true, [64], &device).cumsum(0).wait().unwrap();
        let empty = Tensor::from_vec(Vec::<i32>::new(), shape, &device).unwrap();
        let sum = empty.sum([0]).reshape(update);
        let other = counting(update, &device) + 7;
        other.wait().unwrap();
        let replaced = sum.slice_assign((0..1, 0..update[1]), &other);
        let expected: Vec<i32> = (7..7 + update[1] as i32).collect();
        assert_eq!(read::<i32>(&replaced).1, expected);
    }
}

#[test]
fn each_reduction() {
    let device = device();
    let x = Tensor::from_vec(vec![4.0, -1.0, 2.5, 0.5, 3.0, -2.0], [2, 3], &device).unwrap();
    assert_eq!(read::<f64>(&x.prod([1])).1, [-10.0, -3.0]);
    assert_eq!(read::<f64>(&x.min([0])).1, [0.5, -1.0, -2.0]);
    assert_eq!(x.max_all().item::<f64>().unwrap(), 4.0);
    assert_eq!(read::<f64>(&x.mean_keepdim([1])), (vec![2, 1], vec![5.5 / 3.0, 0.5]));
    let mask = x.gt(0.0);
    assert_eq!(read::<bool>(&mask.all([0])).1, [true, false, false]);
    assert_eq!(read::<bool>(&mask.any([0])).1, [true, true, true]);
    assert!(!mask.all_all().item::<bool>().unwrap() && mask.any_all().item::<bool>().unwrap());
    assert_eq!(mask.sum_all().item::<i64>().unwrap(), 4);
    assert_eq!(read::<i64>(&mask.prod([0])).1, [1, 0, 0]);
}

#[test]
fn variances() {
    let device = device();
    let data = [1.0, 2.0, 4.0, 7.0];
    let x = Tensor::from_slice(&data, [1, 4], &device).unwrap();
    let mean = data.iter().sum::<f64>() / 4.0;
    let squares = data.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
    assert_eq!(x.var_all(0).item::<f64>().unwrap(), squares / 4.0);
    assert_eq!(read::<f64>(&x.var([1], 1)), (vec![1], vec![squares / 3.0]));
    assert_eq!(read::<f64>(&x.std_keepdim([1], 1)), (vec![1, 1], vec![(squares / 3.0).sqrt()]));
    assert_eq!(x.std_all(0).item::<f64>().unwrap(), (squares / 4.0).sqrt());
    assert!(x.var([0], 1).to_vec::<f64>().unwrap().iter().all(|x| x.is_nan()));
    let re = Tensor::from_vec(vec![1.0, -1.0], [2], &device).unwrap();
    let z = re.complex(&re);
    assert_eq!(z.var_all(0).dtype(), DType::F64);
    assert!((z.var_all(0).item::<f64>().unwrap() - 2.0).abs() < 1e-15);
}

#[test]
fn logsumexp_does_not_overflow() {
    let device = device();
    let infinity = f64::INFINITY;
    let data = vec![1000.0, 1001.0, -infinity, -infinity, infinity, 0.0, f64::NAN, 1.0];
    let x = Tensor::from_vec(data, [4, 2], &device).unwrap();
    let (_, found) = read::<f64>(&x.logsumexp([1]));
    assert!((found[0] - (1001.0 + (-1f64).exp().ln_1p())).abs() < 1e-12);
    assert_eq!((found[1], found[2]), (-infinity, infinity));
    assert!(found[3].is_nan());
    assert_eq!(x.logsumexp_keepdim([1]).shape().extents(), [4, 1]);
    let small = Tensor::from_vec(vec![0.5, 1.5], [2], &device).unwrap();
    let expected = (0.5f64.exp() + 1.5f64.exp()).ln();
    assert!((small.logsumexp_all().item::<f64>().unwrap() - expected).abs() < 1e-15);
}

#[test]
fn empty_reductions_are_the_identity() {
    let device = device();
    let empty = Tensor::zeros::<f32>([0, 2], &device);
    assert_eq!(read::<f32>(&empty.sum([0])).1, [0.0; 2]);
    assert_eq!(read::<f32>(&empty.prod([0])).1, [1.0; 2]);
    assert_eq!(read::<f32>(&empty.max([0])).1, [f32::NEG_INFINITY; 2]);
    assert!(empty.mean_all().item::<f32>().unwrap().is_nan());
    assert_eq!(read::<f32>(&empty.sum([1])), (vec![0], vec![]));
}

#[test]
fn sixteen_bit_means_accumulate_in_f32() {
    let device = device();
    let x = Tensor::full(f16::from_f32(100.0), [100, 1000], &device);
    assert_eq!(x.mean_all().item::<f16>().unwrap(), f16::from_f32(100.0));
    assert_eq!(read::<f16>(&x.mean([0])).1, vec![f16::from_f32(100.0); 1000]);
    let y = Tensor::full(bf16::from_f32(1.0), [3000], &device);
    assert_eq!(y.sum_all().item::<bf16>().unwrap(), bf16::from_f32(3000.0));
    assert_eq!(x.var_all(0).item::<f16>().unwrap(), f16::from_f32(0.0));
}

#[test]
fn argmax_and_argmin() {
    let device = device();
    let x = Tensor::from_vec(vec![3.0, 9.0, 9.0, 4.0, -1.0, f64::NAN], [2, 3], &device).unwrap();
    assert_eq!(read::<i64>(&x.argmax(1)), (vec![2], vec![1, 2]));
    assert_eq!(read::<i64>(&x.argmin(0)), (vec![3], vec![0, 1, 1]));
    assert_eq!(read::<i64>(&x.argmax_keepdim(-1)), (vec![2, 1], vec![1, 2]));
    assert_eq!(read::<i64>(&x.argmin_keepdim(1)), (vec![2, 1], vec![0, 2]));
    assert_eq!(x.argmax_all().item::<i64>().unwrap(), 5);
    assert_eq!(x.argmin_all().item::<i64>().unwrap(), 5);
}

#[test]
fn scans() {
    let device = device();
    let x = Tensor::from_vec(vec![3, 1, 2, 5, 4, 6], [2, 3], &device).unwrap();
    assert_eq!(read::<i32>(&x.cumsum(1)).1, [3, 4, 6, 5, 9, 15]);
    assert_eq!(read::<i32>(&x.cumsum(0)).1, [3, 1, 2, 8, 5, 8]);
    assert_eq!(read::<i32>(&x.cumprod(-1)).1, [3, 3, 6, 5, 20, 120]);
    assert_eq!(read::<i32>(&x.cummax(1)).1, [3, 3, 3, 5, 5, 6]);
    assert_eq!(read::<i32>(&x.cummin(1)).1, [3, 1, 1, 5, 4, 4]);
    assert_eq!(read::<i64>(&x.gt(2).cumsum(1)).1, [1, 1, 1, 1, 2, 3]);
}

#[test]
fn errors_name_method_axis_and_line() {
    let device = device();
    let x = counting([2, 3], &device);
    let line = line!() + 1;
    let bad = x.sum_keepdim([1, 2]);
    assert_eq!(bad.shape().extents(), [2, 1]);
    let text = message(&bad);
    assert!(text.starts_with("sum_keepdim(i32[2, 3]) at "), "{text}");
    assert!(text.contains(&format!("reductions.rs:{line}:")), "{text}");
    assert!(text.contains("axis 2 is not in -2..2"), "{text}");
    assert!(message(&x.max([1, -1])).contains("named twice"));
    let line = line!() + 1;
    let mean = x.mean([0]);
    assert_eq!((mean.shape().extents(), mean.dtype()), (&[3][..], DType::I32));
    assert!(message(&mean).starts_with("mean(i32[2, 3])") && message(&mean).contains("cast"));
    assert!(message(&mean).contains(&format!("reductions.rs:{line}:")));
    assert!(message(&x.std_all(0)).starts_with("std_all("));
    assert!(message(&x.all_all()).contains("expected bool"));
    assert!(message(&x.logsumexp_all()).starts_with("logsumexp_all("));
    assert!(message(&x.argmax(3)).starts_with("argmax(i32[2, 3])"));
    assert!(message(&x.cumsum(-3)).starts_with("cumsum(i32[2, 3])"));
    assert_eq!(x.sum_all().item::<i32>().unwrap(), 15);
}
