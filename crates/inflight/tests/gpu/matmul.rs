//! Matrix multiplication on tensor cores: TF32, scaled-f16 and bf16x3 splits, f16 accumulation, fused epilogues.

use crate::support::{gpu_with, small_integers};
use inflight::{CudaOptions, DType, Device, Tensor};
use inflight_testkit::tests;

tests![
    matmul_rounds_operands_to_tf32_only_if_allowed,
    f16_matmul_matches_the_cpu_with_f16_accumulation,
    a_large_weight_gradient_matches_the_cpu_in_tf32,
    fused_epilogues_match_the_cpu,
    bf16x3_matmul_error_is_within_the_f32_bound,
    bf16x3_matmul_handles_special_values_in_partial_tiles,
    bf16x3_matmul_overflows_as_f32_does,
    scaled_f16_matmul_matches_f32,
    scaled_f16_matmul_handles_values_outside_f16,
    bf16x3_matmul_handles_values_without_a_split,
    scaled_f16_matmul_counts_outliers_of_both_operands_once,
];

/// Options that allow TF32 for matmuls.
const TF32: CudaOptions = CudaOptions { tf32: true, f16_accumulate: false };

fn matmul_rounds_operands_to_tf32_only_if_allowed() {
    let error = |options: CudaOptions| {
        let device = gpu_with(options);
        let values: Vec<f64> =
            (0..512 * 512).map(|i| (i * 37 % 1009) as f64 / 500.0 - 1.0).collect();
        let x = Tensor::from_vec(values, [512, 512], &device).unwrap();
        let narrow = x.cast(DType::F32);
        let exact = narrow.cast(DType::F64);
        let difference = narrow.matmul(&narrow).cast(DType::F64) - exact.matmul(&exact);
        difference.abs().max_all().item::<f64>().unwrap()
    };
    let [tf32, f32] = [TF32, CudaOptions::default()].map(error);
    assert!(f32 < 1e-4, "{f32}");
    assert!(tf32 > 1e-4 && tf32 < 1e-1, "{tf32}");
}

fn f16_matmul_matches_the_cpu_with_f16_accumulation() {
    let options = CudaOptions { f16_accumulate: true, ..CudaOptions::default() };
    let device = gpu_with(options);
    let cpu = Device::cpu();
    // Sums of up to 512, which `f16` represents exactly.
    let matrix = |rows: usize, columns: usize, step: usize| {
        let values = (0..rows * columns).map(|i| (i * step % 3) as f32 - 1.0).collect();
        Tensor::from_vec::<f32>(values, [rows, columns], &cpu).unwrap().cast(DType::F16)
    };
    let (a, b) = (matrix(128, 512, 7), matrix(512, 256, 11));
    let matmul_on = |device: &Device| a.to_device(device).matmul(&b.to_device(device));
    let values = |result: Tensor| result.cast(DType::F32).to_vec::<f32>().unwrap();
    assert_eq!(values(matmul_on(&device)), values(matmul_on(&cpu)));
    assert_eq!(values(matmul_on(&device) * 0.5), values(matmul_on(&cpu) * 0.5), "with a scale");
}

fn a_large_weight_gradient_matches_the_cpu_in_tf32() {
    let device = gpu_with(TF32);
    // Integers that TF32 represents exactly, without two equal rows or columns.
    let matrix = |columns: usize, step: usize| {
        let values = (0..192 * columns).map(|i| (i * step % 251) as f32 - 125.0).collect();
        Tensor::from_vec::<f32>(values, [192, columns], &device).unwrap()
    };
    let (x, g) = (matrix(2048, 7), matrix(4096, 11));
    let gemm = x.transpose().matmul(&g) * 2.0;
    let cpu = Device::cpu();
    let expected = x.to_device(&cpu).transpose().matmul(&g.to_device(&cpu)) * 2.0;
    assert_eq!(gemm.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
}

/// A matrix of integers that `f16` and TF32 represent exactly. Sums of their products are exact in `f32`.
fn integers(shape: [usize; 2], step: usize, device: &Device) -> Tensor {
    Tensor::from_vec(small_integers(shape[0] * shape[1], step), shape, device).unwrap()
}

/// The same, as the transpose of a row-major matrix if `transposed`.
fn matrix_of(
    [rows, columns]: [usize; 2],
    transposed: bool,
    step: usize,
    device: &Device,
) -> Tensor {
    match transposed {
        true => integers([columns, rows], step, device).transpose(),
        false => integers([rows, columns], step, device),
    }
}

/// GEMMs that are large enough for a fused epilogue, in each layout of the operands, with partial tiles, and with more
/// epilogue operands than are staged with a tile.
fn fused_epilogues_match_the_cpu() {
    let (tf32, f32) = (gpu_with(TF32), gpu_with(CudaOptions::default()));
    let devices = [Device::cpu(), tf32, f32];
    // Rows of the last two results allow vectors of two elements, and of one.
    let sizes = [
        (2048, 2048, 256),
        (2008, 2036, 276),
        (4092, 1984, 512),
        (2048, 2034, 256),
        (2048, 2035, 1024),
    ];
    for (m, n, k) in sizes {
        for (a_transposed, b_transposed) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let a = matrix_of([m, k], a_transposed, 7, device);
                let b = matrix_of([k, n], !b_transposed, 11, device);
                let [r, q, u, v] = [3, 5, 13, 19].map(|step| integers([m, n], step, device));
                let row = integers([1, n], 23, device);
                let gemm = a.matmul(&b);
                let plain = b.transpose().matmul(&a.transpose());
                let first = gemm.maximum(0.0) + &r * &q + &row;
                let second = &first * 2.0 - &u * &v;
                // Rounded, but bit-identical on every device, also where the divisor is zero.
                let third = &first * 0.1 / (&r * 1e-20) + (&first * &q * 1e20).sqrt();
                // One scale without extreme results, and one with some results out of range.
                let fourth = &first * 0.1 / (&u * &u * 0.37 + 0.001) + (&v * &v * 0.3 + 0.7).sqrt();
                let fifth = &first * 1e-31 / (&q * 1.7) + (&first * &first * 1e-33).sqrt();
                // Values that round in both directions.
                let [x, y] = [1, 2].map(|seed| Tensor::rand::<f32>([m, n], seed, device));
                let sixth = (&first + &x) / (&y + 0.5) + (&x + &y * 3.0).sqrt();
                let zeros = &first * -0.0 / (&y + 0.5);
                // Quotients that expose a reciprocal with an error of one ulp.
                let edges = [[0x3f80_0000, 0x3fff_ffff], [0x3fd5_5553, 0x3fff_fffd]];
                let [seventh, eighth] = edges.map(|pair| {
                    let [x, y] = pair.map(f32::from_bits);
                    (&first * 0.0 + x) / (&row * 0.0 + y)
                });
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                [plain, first, second, third, fourth, fifth, sixth, zeros, seventh, eighth]
                    .map(|result| result.to_vec::<f32>().unwrap().into_iter().map(bits))
                    .map(Vec::from_iter)
            });
            for (at, result) in results.iter().enumerate() {
                let of = format_args!("{m} × {n} × {k}, {a_transposed}, {b_transposed}, {at}");
                assert!(*result == results[0], "{of}");
            }
        }
    }
}

/// GEMMs that are large enough for the bf16x3 split, in each layout of the operands, with partial tiles, stages and groups
/// of eight. The results are as exact as `f32` sums of unrounded scalar products; without one of the partial products,
/// the error would exceed the bound.
fn bf16x3_matmul_error_is_within_the_f32_bound() {
    let device = gpu_with(CudaOptions::default());
    for (m, n, k) in [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548)] {
        let [a, b] = [([m, k], 1), ([k, n], 2)]
            .map(|(shape, seed)| Tensor::rand::<f32>(shape, seed, &device));
        // Whether values have both signs, the range of their exponents, and the largest relative error. If few values
        // dominate a sum, the truncation of each of sixteen scalar products in the tensor cores counts; a missing partial
        // product would be 2^-17 of the sum.
        for (signed, powers, tolerance) in [(true, 0, 1.5e-7), (false, 0, 8e-7), (true, 60, 1.5e-6)]
        {
            let scale = |x: &Tensor, seed: u64| {
                let power = Tensor::rand::<f32>(x.shape(), seed, &device) * powers as f32;
                let x = if signed { x * 2.0 - 1.0 } else { x * 1.0 };
                x * (power - powers as f32 / 2.0).floor().exp2()
            };
            let (a, b) = (scale(&a, 3), scale(&b, 4));
            let [exact_a, exact_b] = [&a, &b].map(|x| x.cast(DType::F64));
            let exact = exact_a.matmul(&exact_b);
            let magnitude = exact_a.abs().matmul(&exact_b.abs());
            let column_major = |x: &Tensor| (x.transpose() * 1.0).transpose();
            let layouts = [
                (a.clone(), b.clone()),
                (a.clone(), column_major(&b)),
                (column_major(&a), b.clone()),
            ];
            for (at, (a, b)) in
                layouts.iter().chain(&[(column_major(&a), column_major(&b))]).enumerate()
            {
                let error = (a.matmul(b).cast(DType::F64) - &exact).abs() / &magnitude;
                let largest = error.max_all().item::<f64>().unwrap();
                let of = format_args!("{m} × {n} × {k}, {signed}, {powers}, {at}");
                assert!(largest < tolerance, "{of}: error {largest}");
            }
        }
    }
}

/// Slices of larger matrices, with and without values that have no bf16x3 split, with and without memory for the split
/// operands, and with an epilogue.
fn bf16x3_matmul_handles_special_values_in_partial_tiles() {
    let device = gpu_with(CudaOptions::default());
    let devices = [Device::cpu(), device];
    let (m, n, k) = (2052, 2060, 772);
    for special in [None, Some(f32::INFINITY), Some(f32::NAN)] {
        for (a_transposed, b_transposed) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let slice_of = |[rows, columns]: [usize; 2], transposed: bool, step: usize| {
                    let parent = matrix_of([rows + 12, columns + 20], transposed, step, device);
                    parent.slice((4..rows + 4, 8..columns + 8))
                };
                let mut a = slice_of([m, k], a_transposed, 7);
                if let Some(special) = special {
                    // In the last row, which is in a partial tile.
                    let at = Tensor::full(special, [1, 1], device);
                    a = match a_transposed {
                        true => a.transpose().slice_assign((5..6, m - 1..m), &at).transpose(),
                        false => a.slice_assign((m - 1..m, 5..6), &at),
                    };
                    a.wait().unwrap();
                }
                let b = slice_of([k, n], !b_transposed, 11);
                let [r, q] = [3, 5].map(|step| integers([m, n], step, device));
                let gemm = a.matmul(&b);
                let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                [&gemm * 1.0, gemm.maximum(0.0) + &r * &q]
                    .map(|result| result.to_vec::<f32>().unwrap().into_iter().map(bits))
                    .map(Vec::from_iter)
            });
            assert!(results[0] == results[1], "{special:?}, {a_transposed}, {b_transposed}");
        }
    }
    // The memory limit fits the operands, the result and a workspace, but not the split operands.
    devices[1].set_memory_limit(Some(90 << 20));
    let side = 2048;
    let results = devices.each_ref().map(|device| {
        let [a, b] = [7, 11].map(|step| integers([side, side], step, device));
        (a.matmul(&b) * 2.0).to_vec::<f32>().unwrap()
    });
    assert!(results[0] == results[1], "without memory for the split");
}

/// Results beyond the range of `f32` are infinities of the right sign; the others are exact.
fn bf16x3_matmul_overflows_as_f32_does() {
    let device = gpu_with(CudaOptions::default());
    let side = 1536;
    let tensor = |of: &dyn Fn(usize, usize) -> f32| {
        let values = (0..side * side).map(|i| of(i / side, i % side)).collect();
        Tensor::from_vec::<f32>(values, [side, side], &device).unwrap()
    };
    let uneven = |row: usize, column: usize| 1.0 + (row * 37 + column * 101) as f32 % 1009.0 * 1e-4;
    let large = tensor(&|row, column| uneven(row, column) * 1e24);
    let gemm = large.matmul(&large).to_vec::<f32>().unwrap();
    assert!(gemm.iter().all(|&x| x == f32::INFINITY));
    // Each element of the result is a single scalar product.
    let factors = |row: usize| match row % 3 {
        0 => (1.37e24, -1.21e24),
        1 => (-1.8419e19, 1.8463e19),
        _ => (3e20, 1e18),
    };
    let left = tensor(&|row, column| if row == column { factors(row).0 } else { 0.0 });
    let right = tensor(&|row, _| factors(row).1);
    let gemm = left.matmul(&right).to_vec::<f32>().unwrap();
    for (index, &found) in gemm.iter().enumerate() {
        let (left, right) = factors(index / side);
        assert_eq!(found, left * right, "{left} · {right}");
    }
}

/// GEMMs that are large enough for the scaled-f16 split, in each layout of the operands, with partial tiles and partial
/// groups of eight.
fn scaled_f16_matmul_matches_f32() {
    let (device, exact) = (gpu_with(TF32), gpu_with(CudaOptions::default()));
    let devices = [device, exact];
    for (m, n, k) in [(4096, 4096, 2048), (4100, 4204, 2052), (4132, 4412, 2060)] {
        for (a_transposed, b_transposed) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let results = devices.each_ref().map(|device| {
                let a = matrix_of([m, k], a_transposed, 7, device);
                let b = matrix_of([k, n], !b_transposed, 11, device);
                let bias = integers([1, n], 23, device);
                // Without an epilogue, with one that cuBLASLt supports, and with one that it does not support.
                let gemm = a.matmul(&b);
                [&gemm * 1.0, &gemm + &bias, gemm.maximum(0.0) * &bias]
                    .map(|result| result.to_vec::<f32>().unwrap())
            });
            assert!(results[0] == results[1], "{m} × {n} × {k}, {a_transposed}, {b_transposed}");
        }
    }
}

/// The results are as exact as those of TF32.
fn scaled_f16_matmul_handles_values_outside_f16() {
    check_values_outside_the_split(TF32, (4096, 4096, 2048), |expected, _| {
        expected.abs() * f32::exp2(-11.0)
    });
}

/// The results are exact except for underflow.
fn bf16x3_matmul_handles_values_without_a_split() {
    for extents in [(1536, 1536, 1536), (2048, 2048, 1024), (2056, 2180, 1548)] {
        check_values_outside_the_split(CudaOptions::default(), extents, |_, factor| {
            factor * f32::exp2(-125.0)
        });
    }
}

/// Multiplies by an operand with a single element in each row or column, a power of two. The result is the other operand's
/// elements, with an error of at most `tolerance` of the expected value and of that power.
fn check_values_outside_the_split(
    options: CudaOptions,
    (m, n, k): (usize, usize, usize),
    tolerance: impl Fn(f32, f32) -> f32,
) {
    let device = gpu_with(options);
    let usual = |i: usize| ((i * 2_654_435_761 % 1_000_003) as f32 / 1_000_003.0 - 0.5) * 0.1;
    let outliers = |i: usize, scale: f32, [small, large]: [f32; 2]| match i {
        5 | 70_000 | 1_000_001 => small,
        9 | 70_001 | 1_000_003 => large,
        13 | 70_002 => 0.0,
        _ => usual(i) * scale,
    };
    let special = |i: usize| match i {
        70_000 => f32::INFINITY,
        1_000_001 => f32::NAN,
        _ => usual(i),
    };
    // The magnitude of the other operand's elements, as a power of two.
    type Case<'a> = (&'a str, i32, &'a dyn Fn(usize) -> f32);
    let cases: [Case<'_>; 17] = [
        ("usual", 0, &usual),
        ("outliers", 0, &|i| outliers(i, 1.0, [3e-20, -7e19])),
        ("wide range", 0, &|i| usual(i) * f32::exp2((i % 90) as f32 - 45.0)),
        ("tiny", 0, &|i| usual(i) * 1e-27),
        ("huge", 0, &|i| if i % 1000 == 7 { 3e37 } else { usual(i) }),
        ("zeros", 0, &|i| if i == 12_345 { 1.0 } else { 0.0 }),
        ("special", 0, &special),
        ("special and outliers", 0, &|i| if i % 99_991 == 3 { 1e-25 } else { special(i) }),
        // Scales that overflow if they are applied in the wrong order.
        ("large by small", -110, &|i| usual(i) * 1e34),
        ("small by large", 104, &|i| usual(i) * 1e-30),
        ("large outliers by large", 30, &|i| outliers(i, 1e-18, [1e-35, 1e12])),
        ("small outliers by small", -30, &|i| outliers(i, 1e18, [1e-12, -1e-9])),
        // Too small to share a scale with the largest value.
        ("a few underflow", 0, &|i| outliers(i, 1e30, [1e-15, -2e-12])),
        ("many underflow", 0, &|i| if i % 2 == 0 { 1e-15 } else { usual(i) * 1e30 }),
        ("all but a few underflow", 0, &|i| if i % 999_983 == 3 { 1e30 } else { 1e-15 }),
        // Values with split terms that underflow or overflow.
        ("very small", 20, &|i| (1.0 + usual(i)) * f32::exp2(-115.0)),
        ("largest", -10, &|i| if i == 5 { f32::from_bits(0x7f7f_c000) } else { usual(i) }),
    ];
    let tensor = |values: &[f32], shape: [usize; 2]| {
        Tensor::from_vec::<f32>(values.to_vec(), shape, &device).unwrap()
    };
    let picked = |row: usize| (row * 5 + 3) % k;
    for (name, power, element) in cases {
        let factor = |row: usize| f32::exp2((row % 7) as f32 - 3.0 + power as f32);
        let values: Vec<f32> = (0..k * n).map(element).collect();
        let mut picks = vec![0.0; m * k];
        (0..m).for_each(|row| picks[row * k + picked(row)] = factor(row));
        let picks = tensor(&picks, [m, k]);
        let wide = tensor(&values, [k, n]);
        let columns: Vec<f32> = (0..n * k).map(|i| values[i % k * n + i / k]).collect();
        let transposed = tensor(&columns, [n, k]);
        // With the wide matrix as either operand, in both layouts.
        let results = [
            picks.matmul(&wide),
            picks.matmul(&transposed.transpose()),
            wide.transpose().matmul(&picks.transpose()).transpose(),
            transposed.matmul(&picks.transpose()).transpose(),
        ];
        let results = results.map(|result| result.to_vec::<f32>().unwrap());
        let is_special = |column: usize| (0..k).any(|row| !values[row * n + column].is_finite());
        let special: Vec<bool> = (0..n).map(is_special).collect();
        for (at, result) in results.iter().enumerate() {
            for (index, &x) in result.iter().enumerate() {
                let (row, column) = (index / n, index % n);
                let expected = values[picked(row) * n + column] * factor(row);
                let is_correct = match special[column] {
                    // An infinity or NaN was multiplied by zero or by the single element.
                    true => x.is_nan() || x == expected,
                    false => (x - expected).abs() <= tolerance(expected, factor(row)),
                };
                let is_nan_everywhere =
                    !special[column] || x.is_nan() == results[0][index].is_nan();
                let of = format_args!("{name}, {at}: {x} and not {expected} at {row}, {column}");
                assert!(is_correct && is_nan_everywhere, "{of}");
            }
        }
    }
}

/// Both operands have values outside the range of `f16` at positions that are multiplied with each other.
fn scaled_f16_matmul_counts_outliers_of_both_operands_once() {
    let device = gpu_with(TF32);
    let (m, n, k) = (4096, 4096, 2048);
    let usual = |i: usize| (i * 7 % 251 % 17) as f32 - 8.0;
    let (mut a, mut b): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(usual).collect(), (0..k * n).map(usual).collect());
    // Rows and columns with one nonzero element each: small by large, small by small, and usual by small.
    let positions = [(17, 100, 33), (2000, 101, 3000), (4095, 2047, 4095)];
    let factors = [(3e-12, -5e15), (3e-12, 7e-11), (2.0, 3e-11)];
    for ((row, depth, column), (left, right)) in positions.into_iter().zip(factors) {
        (0..k).for_each(|at| a[row * k + at] = 0.0);
        (0..k).for_each(|at| b[at * n + column] = 0.0);
        a[row * k + depth] = left;
        b[depth * n + column] = right;
    }
    let [a, b] = [(a, [m, k]), (b, [k, n])]
        .map(|(values, shape)| Tensor::from_vec::<f32>(values, shape, &device).unwrap());
    let gemm = a.matmul(&b).to_vec::<f32>().unwrap();
    for ((row, _, column), (left, right)) in positions.into_iter().zip(factors) {
        let (found, expected) = (gemm[row * n + column], left * right);
        let error = (found - expected).abs() / expected.abs();
        assert!(error <= f32::exp2(-10.0), "{found} and not {expected}");
    }
}
