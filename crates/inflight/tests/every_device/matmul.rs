//! Products of matrices.

use crate::support::{counting, device, message, read};
use inflight::{DType, Tensor, bf16, f16};
use inflight_ir::graph::DotAxes;
use smallvec::smallvec;

/// The product of batches of row-major matrices, one after another.
fn products(a: &[i32], b: &[i32], [m, k, n]: [usize; 3]) -> Vec<i32> {
    let pairs = a.chunks(m * k).zip(b.chunks(k * n));
    pairs
        .flat_map(|(a, b)| {
            (0..m * n).map(move |i| (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum())
        })
        .collect()
}

fn numbers(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| (i * 7) % 11 - 5).collect()
}

#[test]
fn matrices_and_vectors() {
    let device = device();
    let (a, b) = (numbers(6), numbers(12));
    let [x, y] = [(&a, [2, 3]), (&b, [3, 4])]
        .map(|(data, shape)| Tensor::from_slice(data, shape, &device).unwrap());
    let expected = products(&a, &b, [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 4], expected.clone()));
    let floats = x.to::<f64>().matmul(&y.to::<f64>());
    let float_expected: Vec<f64> = expected.iter().map(|&x| f64::from(x)).collect();
    assert_eq!(read::<f64>(&floats), (vec![2, 4], float_expected));
    let halves = x.to::<f16>().matmul(&y.to::<f16>());
    assert_eq!(read::<i32>(&halves.to::<i32>()).1, expected);
    let brains = x.to::<bf16>().matmul(&y.to::<bf16>());
    assert_eq!(read::<i32>(&brains.to::<i32>()).1, expected);

    let row = Tensor::from_slice(&a[..3], [3], &device).unwrap();
    assert_eq!(read::<i32>(&row.matmul(&y)), (vec![4], products(&a[..3], &b, [1, 3, 4])));
    assert_eq!(read::<i32>(&x.matmul(&row)), (vec![2], products(&a, &a[..3], [2, 3, 1])));
    let dot = a[..3].iter().map(|x| x * x).sum::<i32>();
    assert_eq!(read::<i32>(&row.matmul(&row)), (vec![], vec![dot]));
}

#[test]
fn batches() {
    let device = device();
    let (a, b) = (numbers(2 * 6), numbers(2 * 12));
    let x = Tensor::from_slice(&a, [2, 2, 3], &device).unwrap();
    let y = Tensor::from_slice(&b, [2, 3, 4], &device).unwrap();
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 2, 4], products(&a, &b, [2, 3, 4])));
    let one = Tensor::from_slice(&b[..12], [3, 4], &device).unwrap();
    let repeated = b[..12].repeat(2);
    let expected = products(&a, &repeated, [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&one)), (vec![2, 2, 4], expected));
    let matrix = Tensor::from_slice(&a[..6], [2, 3], &device).unwrap();
    let expected = products(&a[..6].repeat(2), &b, [2, 3, 4]);
    assert_eq!(read::<i32>(&matrix.matmul(&y)), (vec![2, 2, 4], expected));
    let row = Tensor::from_slice(&a[..3], [3], &device).unwrap();
    let expected = products(&a[..3].repeat(2), &b, [1, 3, 4]);
    assert_eq!(read::<i32>(&row.matmul(&y)), (vec![2, 4], expected));
    let expected = products(&a, &a[..3].repeat(2), [2, 3, 1]);
    assert_eq!(read::<i32>(&x.matmul(&row)), (vec![2, 2], expected));
}

#[test]
fn batches_broadcast_both_ways() {
    let device = device();
    let (a, b) = (numbers(2 * 6), numbers(3 * 12));
    let x = Tensor::from_slice(&a, [2, 1, 2, 3], &device).unwrap();
    let y = Tensor::from_slice(&b, [3, 3, 4], &device).unwrap();
    let left: Vec<i32> = a.chunks(6).flat_map(|matrix| matrix.repeat(3)).collect();
    let expected = products(&left, &b.repeat(2), [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 3, 2, 4], expected));
}

#[test]
fn nothing_to_sum_is_zero() {
    let device = device();
    let a = Tensor::ones::<f32>([2, 0], &device);
    let b = Tensor::ones::<f32>([0, 3], &device);
    assert_eq!(read::<f32>(&a.matmul(&b)), (vec![2, 3], vec![0.0; 6]));
    assert_eq!(read::<f32>(&b.matmul(&Tensor::ones::<f32>([3, 2], &device))), (vec![0, 2], vec![]));
}

#[test]
fn general_contractions() {
    let device = device();
    let x = counting([2, 3], &device);
    let axes = DotAxes { a_contract: smallvec![0], b_contract: smallvec![0], ..DotAxes::default() };
    // The Gram matrix of the columns.
    let expected = vec![9, 12, 15, 12, 17, 22, 15, 22, 29];
    assert_eq!(read::<i32>(&x.dot_general(&x, axes)), (vec![3, 3], expected));
}

#[test]
fn mistakes_keep_plausible_shapes() {
    let device = device();
    let x = counting([2, 3], &device);
    let y = counting([4, 5], &device);
    let line = line!() + 1;
    let bad = x.matmul(&y);
    assert_eq!(bad.shape().extents(), [2, 5]);
    let text = message(&bad);
    assert!(text.starts_with("matmul(i32[2, 3], i32[4, 5]) at "), "{text}");
    assert!(text.contains(&format!("matmul.rs:{line}:")), "{text}");
    assert!(text.contains("K = 3 in a") && text.contains("K = 4 in b"), "{text}");
    // Whatever is computed from it keeps that first cause.
    let later = (bad.transpose() + 1).sum([0]);
    assert_eq!(later.shape().extents(), [2]);
    assert_eq!(message(&later), text);
    assert_eq!(later.to_vec::<i32>().unwrap_err().to_string(), text);

    let scalar = Tensor::scalar(1, &device);
    assert!(message(&scalar.matmul(&x)).contains("scalar"));
    let batches = counting([2, 2, 3], &device).matmul(&counting([5, 3, 4], &device));
    assert!(message(&batches).contains("[2] and [5]"));
    assert_eq!(batches.shape().extents(), [2, 2, 4]);
    assert!(message(&x.matmul(&x.to::<f32>().transpose())).contains("one dtype"));
    assert_eq!(x.matmul(&counting([3], &device)).to_vec::<i32>().unwrap(), [5, 14]);
}

#[test]
fn few_long_sums_are_shared_and_added_up() {
    let device = device();
    let k = 40_001;
    let values = |seed: usize| (0..3 * k).map(|i| ((i * 7919 + seed) % 17) as i32 - 8).collect();
    let a = Tensor::from_vec(values(1), [3, k], &device).unwrap();
    let b = Tensor::from_vec(values(5), [3, k], &device).unwrap();
    let (rows, columns) = (a.to_vec::<i32>().unwrap(), b.to_vec::<i32>().unwrap());
    let dot = |row: usize, column: usize| -> i32 {
        (0..k).map(|i| rows[row * k + i] * columns[column * k + i]).sum()
    };
    let expected: Vec<i32> = (0..9).map(|i| dot(i / 3, i % 3)).collect();
    let product = a.matmul(&b.transpose());
    assert_eq!(product.to_vec::<i32>().unwrap(), expected);
    // Sums of this size are exact in f64; what follows the product gets all of it.
    let wide = |x: &Tensor| x.cast(DType::F64);
    let follows = wide(&a).matmul(&wide(&b).transpose()).relu() + 1.0;
    let expected: Vec<f64> = expected.iter().map(|&x| x.max(0) as f64 + 1.0).collect();
    assert_eq!(follows.to_vec::<f64>().unwrap(), expected);
    let batched = Tensor::stack(&[wide(&a), wide(&b)], 0);
    let squares = batched.matmul(&batched.swap_dims(1, 2)).to_vec::<f64>().unwrap();
    let square =
        |row: usize| rows[row * k..(row + 1) * k].iter().map(|&x| (x * x) as f64).sum::<f64>();
    assert_eq!(squares[4], square(1));
    assert_eq!(squares.len(), 18);
}

#[test]
fn what_follows_a_product_is_taken_in() {
    let device = device();
    let data = |rows: usize, columns: usize, step: usize| {
        let values = (0..rows * columns).map(|i| (i * step % 101) as f32 / 50.0 - 1.0).collect();
        Tensor::from_vec(values, [rows, columns], &device).unwrap()
    };
    type Tail = fn(&Tensor, &Tensor, &Tensor) -> Tensor;
    let tails: [(&str, Tail); 7] = [
        ("bias", |product, bias, _| product + bias),
        ("scaled, and a bias", |product, bias, _| bias + product * 0.5),
        ("residual", |product, _, residual| product - residual),
        ("both", |product, bias, residual| product * 0.25 + bias + residual * 2.0),
        ("gelu", |product, _, _| product.gelu_tanh()),
        ("bias, gelu", |product, bias, _| (product + bias).gelu_tanh()),
        ("bias, relu", |product, bias, _| (product + bias).relu()),
    ];
    for [m, n, k] in [[130, 72, 40], [64, 256, 64], [1, 16, 8], [33, 1, 20]] {
        for (dtype, most) in [(DType::F32, 2e-6), (DType::BF16, 3e-2), (DType::F16, 4e-3)] {
            let of = |x: Tensor| x.cast(dtype);
            let (x, w) = (of(data(m, k, 7) * 0.5), of(data(k, n, 11) * 0.5));
            let (bias, residual) = (of(data(1, n, 13)), of(data(m, n, 17)));
            let wide = [&x, &w, &bias, &residual].map(|x| x.cast(DType::F64));
            [&x, &w, &bias, &residual].iter().for_each(|x| x.wait().unwrap());
            for (name, tail) in tails {
                let found = tail(&x.matmul(&w), &bias, &residual).cast(DType::F64);
                let expected = tail(&wide[0].matmul(&wide[1]), &wide[2], &wide[3]);
                let error = ((found - &expected).abs() / (expected.abs() + 1.0)).max_all();
                let error = error.item::<f64>().unwrap();
                assert!(error < most, "{name} of {m} {n} {k} {dtype}: {error}");
            }
        }
    }
}

/// Operands that a kernel computes, of few rows or columns: sums of whole numbers, so that they are exact.
#[test]
fn small_operands_that_are_computed_on_the_way() {
    let device = device();
    for [m, k, n] in [[60, 130, 600], [20, 1024, 512], [600, 130, 60], [520, 1024, 24]] {
        let (a, b) = (numbers(m * k), numbers(k * n));
        let expected = products(&a, &b, [m, k, n]);
        let x = Tensor::from_slice(&a, [m, k], &device).unwrap();
        let y = Tensor::from_slice(&b, [k, n], &device).unwrap();
        let [wide_x, wide_y] = [x.to::<f32>(), y.to::<f32>()].map(|wide| {
            wide.wait().unwrap();
            wide
        });
        let turned = y.transpose().to::<f32>().transpose();
        for product in
            [x.to::<f32>().matmul(&wide_y), wide_x.matmul(&y.to::<f32>()), wide_x.matmul(&turned)]
        {
            assert_eq!(read::<i32>(&product.to::<i32>()).1, expected, "{m} × {k} × {n}");
        }
    }
}
