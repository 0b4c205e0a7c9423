//! Matmul: vectors, matrices, batches, split-K, fused prologues and epilogues.

use crate::support::{counting, device, message, read};
use inflight::{DType, Tensor, bf16, f16};
use inflight_ir::graph::DotAxes;
use smallvec::smallvec;

/// Reference matmul of contiguous batches of row-major matrices.
fn reference_matmul(a: &[i32], b: &[i32], [m, k, n]: [usize; 3]) -> Vec<i32> {
    let pairs = a.chunks(m * k).zip(b.chunks(k * n));
    pairs
        .flat_map(|(a, b)| {
            (0..m * n).map(move |i| (0..k).map(|l| a[i / n * k + l] * b[l * n + i % n]).sum())
        })
        .collect()
}

fn small_integers(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| (i * 7) % 11 - 5).collect()
}

#[test]
fn matmul_of_matrices_and_vectors() {
    let device = device();
    let (a, b) = (small_integers(6), small_integers(12));
    let [x, y] = [(&a, [2, 3]), (&b, [3, 4])]
        .map(|(data, shape)| Tensor::from_slice(data, shape, &device).unwrap());
    let expected = reference_matmul(&a, &b, [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 4], expected.clone()));
    let floats = x.to::<f64>().matmul(&y.to::<f64>());
    let float_expected: Vec<f64> = expected.iter().map(|&x| f64::from(x)).collect();
    assert_eq!(read::<f64>(&floats), (vec![2, 4], float_expected));
    let f16_result = x.to::<f16>().matmul(&y.to::<f16>());
    assert_eq!(read::<i32>(&f16_result.to::<i32>()).1, expected);
    let bf16_result = x.to::<bf16>().matmul(&y.to::<bf16>());
    assert_eq!(read::<i32>(&bf16_result.to::<i32>()).1, expected);

    let row = Tensor::from_slice(&a[..3], [3], &device).unwrap();
    assert_eq!(read::<i32>(&row.matmul(&y)), (vec![4], reference_matmul(&a[..3], &b, [1, 3, 4])));
    assert_eq!(read::<i32>(&x.matmul(&row)), (vec![2], reference_matmul(&a, &a[..3], [2, 3, 1])));
    let dot = a[..3].iter().map(|x| x * x).sum::<i32>();
    assert_eq!(read::<i32>(&row.matmul(&row)), (vec![], vec![dot]));
}

#[test]
fn matmul_batches() {
    let device = device();
    let (a, b) = (small_integers(2 * 6), small_integers(2 * 12));
    let x = Tensor::from_slice(&a, [2, 2, 3], &device).unwrap();
    let y = Tensor::from_slice(&b, [2, 3, 4], &device).unwrap();
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 2, 4], reference_matmul(&a, &b, [2, 3, 4])));
    let shared = Tensor::from_slice(&b[..12], [3, 4], &device).unwrap();
    let repeated = b[..12].repeat(2);
    let expected = reference_matmul(&a, &repeated, [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&shared)), (vec![2, 2, 4], expected));
    let matrix = Tensor::from_slice(&a[..6], [2, 3], &device).unwrap();
    let expected = reference_matmul(&a[..6].repeat(2), &b, [2, 3, 4]);
    assert_eq!(read::<i32>(&matrix.matmul(&y)), (vec![2, 2, 4], expected));
    let row = Tensor::from_slice(&a[..3], [3], &device).unwrap();
    let expected = reference_matmul(&a[..3].repeat(2), &b, [1, 3, 4]);
    assert_eq!(read::<i32>(&row.matmul(&y)), (vec![2, 4], expected));
    let expected = reference_matmul(&a, &a[..3].repeat(2), [2, 3, 1]);
    assert_eq!(read::<i32>(&x.matmul(&row)), (vec![2, 2], expected));
}

#[test]
fn batches_broadcast_in_either_operand() {
    let device = device();
    let (a, b) = (small_integers(2 * 6), small_integers(3 * 12));
    let x = Tensor::from_slice(&a, [2, 1, 2, 3], &device).unwrap();
    let y = Tensor::from_slice(&b, [3, 3, 4], &device).unwrap();
    let left: Vec<i32> = a.chunks(6).flat_map(|matrix| matrix.repeat(3)).collect();
    let expected = reference_matmul(&left, &b.repeat(2), [2, 3, 4]);
    assert_eq!(read::<i32>(&x.matmul(&y)), (vec![2, 3, 2, 4], expected));
}

#[test]
fn an_empty_contraction_is_zero() {
    let device = device();
    let a = Tensor::ones::<f32>([2, 0], &device);
    let b = Tensor::ones::<f32>([0, 3], &device);
    assert_eq!(read::<f32>(&a.matmul(&b)), (vec![2, 3], vec![0.0; 6]));
    assert_eq!(read::<f32>(&b.matmul(&Tensor::ones::<f32>([3, 2], &device))), (vec![0, 2], vec![]));
}

#[test]
fn dot_general_contracts_any_axes() {
    let device = device();
    let x = counting([2, 3], &device);
    let axes = DotAxes { a_contract: smallvec![0], b_contract: smallvec![0], ..DotAxes::default() };
    // The Gram matrix of the columns.
    let expected = vec![9, 12, 15, 12, 17, 22, 15, 22, 29];
    assert_eq!(read::<i32>(&x.dot_general(&x, axes)), (vec![3, 3], expected));
}

#[test]
fn failed_matmuls_have_plausible_shapes() {
    let device = device();
    let x = counting([2, 3], &device);
    let y = counting([4, 5], &device);
    let line = line!() + 1;
    let mismatched = x.matmul(&y);
    assert_eq!(mismatched.shape().extents(), [2, 5]);
    let text = message(&mismatched);
    assert!(text.starts_with("matmul(i32[2, 3], i32[4, 5]) at "), "{text}");
    assert!(text.contains(&format!("matmul.rs:{line}:")), "{text}");
    assert!(text.contains("K = 3 in a") && text.contains("K = 4 in b"), "{text}");
    // Dependent values report the first error.
    let later = (mismatched.transpose() + 1).sum([0]);
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
fn split_k_matmul_matches_exact_sums() {
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
    let result = a.matmul(&b.transpose());
    assert_eq!(result.to_vec::<i32>().unwrap(), expected);
    // Sums of this size are exact in f64; the epilogue must see the fully reduced result.
    let wide = |x: &Tensor| x.cast(DType::F64);
    let with_epilogue = wide(&a).matmul(&wide(&b).transpose()).relu() + 1.0;
    let expected: Vec<f64> = expected.iter().map(|&x| x.max(0) as f64 + 1.0).collect();
    assert_eq!(with_epilogue.to_vec::<f64>().unwrap(), expected);
    let batched = Tensor::stack(&[wide(&a), wide(&b)], 0);
    let squares = batched.matmul(&batched.swap_dims(1, 2)).to_vec::<f64>().unwrap();
    let square =
        |row: usize| rows[row * k..(row + 1) * k].iter().map(|&x| (x * x) as f64).sum::<f64>();
    assert_eq!(squares[4], square(1));
    assert_eq!(squares.len(), 18);
}

#[test]
fn fused_epilogues_match_exact_results() {
    let device = device();
    let data = |rows: usize, columns: usize, step: usize| {
        let values = (0..rows * columns).map(|i| (i * step % 101) as f32 / 50.0 - 1.0).collect();
        Tensor::from_vec(values, [rows, columns], &device).unwrap()
    };
    type Epilogue = fn(&Tensor, &Tensor, &Tensor) -> Tensor;
    let epilogues: [(&str, Epilogue); 7] = [
        ("bias", |gemm, bias, _| gemm + bias),
        ("scale and bias", |gemm, bias, _| bias + gemm * 0.5),
        ("residual", |gemm, _, residual| gemm - residual),
        ("bias and residual", |gemm, bias, residual| gemm * 0.25 + bias + residual * 2.0),
        ("gelu", |gemm, _, _| gemm.gelu_tanh()),
        ("bias, gelu", |gemm, bias, _| (gemm + bias).gelu_tanh()),
        ("bias, relu", |gemm, bias, _| (gemm + bias).relu()),
    ];
    for [m, n, k] in [[130, 72, 40], [64, 256, 64], [1, 16, 8], [33, 1, 20]] {
        for (dtype, tolerance) in [(DType::F32, 2e-6), (DType::BF16, 3e-2), (DType::F16, 4e-3)] {
            let cast = |x: Tensor| x.cast(dtype);
            let (x, w) = (cast(data(m, k, 7) * 0.5), cast(data(k, n, 11) * 0.5));
            let (bias, residual) = (cast(data(1, n, 13)), cast(data(m, n, 17)));
            let wide = [&x, &w, &bias, &residual].map(|x| x.cast(DType::F64));
            [&x, &w, &bias, &residual].iter().for_each(|x| x.wait().unwrap());
            for (name, epilogue) in epilogues {
                let found = epilogue(&x.matmul(&w), &bias, &residual).cast(DType::F64);
                let expected = epilogue(&wide[0].matmul(&wide[1]), &wide[2], &wide[3]);
                let error = ((found - &expected).abs() / (expected.abs() + 1.0)).max_all();
                let error = error.item::<f64>().unwrap();
                assert!(error < tolerance, "{name} of {m} {n} {k} {dtype}: {error}");
            }
        }
    }
}

/// Skinny operands computed by a fused prologue. Sums of integers are exact in any order.
#[test]
fn small_computed_operands_match_stored_ones() {
    let device = device();
    for [m, k, n] in [[60, 130, 600], [20, 1024, 512], [600, 130, 60], [520, 1024, 24]] {
        let (a, b) = (small_integers(m * k), small_integers(k * n));
        let expected = reference_matmul(&a, &b, [m, k, n]);
        let x = Tensor::from_slice(&a, [m, k], &device).unwrap();
        let y = Tensor::from_slice(&b, [k, n], &device).unwrap();
        let [wide_x, wide_y] = [x.to::<f32>(), y.to::<f32>()].map(|wide| {
            wide.wait().unwrap();
            wide
        });
        let transposed = y.transpose().to::<f32>().transpose();
        for result in [
            x.to::<f32>().matmul(&wide_y),
            wide_x.matmul(&y.to::<f32>()),
            wide_x.matmul(&transposed),
        ] {
            assert_eq!(read::<i32>(&result.to::<i32>()).1, expected, "{m} × {k} × {n}");
        }
    }
}
