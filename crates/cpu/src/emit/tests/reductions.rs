//! Row and column reductions, in one pass and in several.

use super::*;
use inflight_ir::kernel::VectorAxis::{Parallel, Reduced};

const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::F32,
    DType::F64,
];

fn tolerance(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2e-3,
        DType::F32 => 1e-5,
        _ => 1e-12,
    }
}

/// Whether a refusal is expected: 64-bit integer multiplication without AVX-512.
fn may_refuse(op: CombineOp, dtype: DType, isa: Isa) -> bool {
    let wide = matches!(dtype, DType::I64 | DType::U64);
    wide && op == CombineOp::Product && isa == Isa::Avx2
}

fn check_each(b: &Builder, op: CombineOp, dtype: DType) {
    if verify(&b.kernel).is_err() {
        return;
    }
    let part = whole_launch(&b.shape, b.kernel.grid_rank);
    for isa in [Isa::Avx512, Isa::Avx2].into_iter().filter(|isa| isa.is_present()) {
        let result = b.check_on(isa, tolerance(dtype), &[], std::slice::from_ref(&part));
        assert!(result.is_ok() || may_refuse(op, dtype, isa), "{op:?} {dtype} {isa:?} {result:?}");
    }
}

#[test]
fn row_reductions_of_every_length() {
    for op in CombineOp::ALL {
        for dtype in DTYPES {
            for count in [0, 1, 2, 7, 15, 16, 17, 31, 64, 65, 100] {
                if op == CombineOp::Product && dtype.is_float() && count > 20 {
                    continue;
                }
                let mut b = Builder::new(&[3], &[], (Reduced, count));
                let x = b.load(dtype, 0, &[count as isize, 1]);
                let total = b.reduce(op, x);
                b.store(total, 0, &[1, 0]);
                check_each(&b, op, dtype);
            }
        }
    }
}

#[test]
fn column_reductions_of_every_length() {
    for op in CombineOp::ALL {
        for dtype in DTYPES {
            for (rows, columns) in [(0, 5), (1, 1), (3, 17), (5, 40), (9, 33)] {
                let mut b = Builder::new(&[2], &[rows], (Parallel, columns));
                let (r, c) = (rows as isize, columns as isize);
                let x = b.load(dtype, 0, &[r * c, c, 1]);
                let total = b.reduce(op, x);
                b.store(total, 0, &[c, 0, 1]);
                check_each(&b, op, dtype);
            }
        }
    }
}

#[test]
fn long_row_and_wide_column_reductions() {
    let mut b = Builder::new(&[2], &[], (Reduced, 5000));
    let x = b.load(DType::F32, 0, &[5000, 1]);
    let sum = b.reduce(CombineOp::Sum, x);
    b.store(sum, 0, &[1, 0]);
    let maximum = b.reduce(CombineOp::Max, x);
    b.store(maximum, 0, &[1, 0]);
    b.check(1e-4);
    let mut b = Builder::new(&[], &[20], (Parallel, 2600));
    let x = b.load(DType::F32, 0, &[2600, 1]);
    let sum = b.reduce(CombineOp::Sum, x);
    b.store(sum, 0, &[0, 1]);
    b.check(1e-5);
    let parts: Vec<Part> =
        [0..64, 64..1600, 1600..2600].map(|vector| Part { grid: 0..1, vector }).to_vec();
    b.check_parts(1e-5, &[], &parts);
}

#[test]
fn nested_reduce_axes() {
    for vector in [Reduced, Parallel] {
        for reduce in [&[3][..], &[2, 3], &[2, 3, 4], &[2, 0, 3]] {
            for count in [1, 19, 64] {
                let mut b = Builder::new(&[2], reduce, (vector, count));
                let mut strides = vec![1isize];
                let mut extent = count as isize;
                for &axis in reduce.iter().rev() {
                    strides.push(extent);
                    extent *= axis.max(1) as isize;
                }
                strides.push(extent);
                strides.reverse();
                // Negative stride along the second reduce axis, if there is one.
                let mut reversed = strides.clone();
                let mut offset = 0;
                if reduce.len() > 1 {
                    offset = reversed[2] * (reduce[1].max(1) as isize - 1);
                    reversed[2] = -reversed[2];
                }
                let x = b.load(DType::F32, offset, &reversed);
                // Varies along the first reduce axis alone.
                let mut first = vec![0; strides.len()];
                first[1] = 1;
                let y = b.load(DType::F32, 0, &first);
                let product = b.binary(BinaryOp::Mul, x, y);
                let sum = b.reduce(CombineOp::Sum, product);
                let mut result = vec![0; strides.len()];
                result[0] = count as isize;
                if vector == Parallel {
                    result[strides.len() - 1] = 1;
                }
                b.store(sum, 0, &result);
                b.check(1e-5);
            }
        }
    }
}

/// Softmax over rows along the vector axis or along a reduce axis.
pub(super) fn softmax(b: &mut Builder, strides: &[isize], result_strides: &[isize]) {
    let x = b.load(DType::F32, 0, strides);
    let maximum = b.reduce(CombineOp::Max, x);
    let shifted = b.binary(BinaryOp::Sub, x, maximum);
    let power = b.unary(UnaryOp::Exp, shifted);
    let sum = b.reduce(CombineOp::Sum, power);
    let result = b.binary(BinaryOp::Div, power, sum);
    b.store(result, 0, strides);
    b.store(sum, 0, result_strides);
}

#[test]
fn softmax_over_rows_and_columns() {
    for count in [1, 15, 40, 129, 1024] {
        let c = count as isize;
        let mut b = Builder::new(&[3], &[], (Reduced, count));
        softmax(&mut b, &[c, 1], &[1, 0]);
        b.check(1e-5);
        let mut b = Builder::new(&[2], &[count], (Parallel, 37));
        softmax(&mut b, &[c * 37, 37, 1], &[37, 0, 1]);
        b.check(1e-5);
        // Over a reduce axis and the vector axis.
        let mut b = Builder::new(&[2], &[3], (Reduced, count));
        softmax(&mut b, &[c * 3, c, 1], &[1, 0, 0]);
        b.check(1e-5);
    }
    let mut b = Builder::new(&[1], &[7], (Parallel, 3000));
    softmax(&mut b, &[0, 3000, 1], &[0, 0, 1]);
    b.check(1e-5);
}

pub(super) fn layer_norm(b: &mut Builder, strides: &[isize], weights: &[isize], count: usize) {
    let x = b.load(DType::F32, 0, strides);
    let scale = b.constant(1.0 / count as f32);
    let sum = b.reduce(CombineOp::Sum, x);
    let mean = b.binary(BinaryOp::Mul, sum, scale);
    let centred = b.binary(BinaryOp::Sub, x, mean);
    let square = b.binary(BinaryOp::Mul, centred, centred);
    let sum = b.reduce(CombineOp::Sum, square);
    let variance = b.binary(BinaryOp::Mul, sum, scale);
    let epsilon = b.constant(1e-5f32);
    let variance = b.binary(BinaryOp::Add, variance, epsilon);
    let inverse = b.unary(UnaryOp::Rsqrt, variance);
    let normal = b.binary(BinaryOp::Mul, centred, inverse);
    let weight = b.load(DType::F32, 0, weights);
    let bias = b.load(DType::F32, 0, weights);
    let result = b.push(Kind::Fma(normal, weight, bias), DType::F32);
    b.store(result, 0, strides);
}

#[test]
fn layer_norm_over_rows_and_columns() {
    for count in [3, 16, 100, 768] {
        let c = count as isize;
        let mut b = Builder::new(&[4], &[], (Reduced, count));
        layer_norm(&mut b, &[c, 1], &[0, 1], count);
        b.check(1e-5);
        let mut b = Builder::new(&[], &[count], (Parallel, 50));
        layer_norm(&mut b, &[50, 1], &[1, 0], count);
        b.check(1e-5);
    }
}

#[test]
fn sixteen_bit_float_softmax() {
    for dtype in [DType::F16, DType::BF16] {
        let mut b = Builder::new(&[3], &[], (Reduced, 100));
        let x = b.load(dtype, 0, &[100, 1]);
        let maximum = b.reduce(CombineOp::Max, x);
        let shifted = b.binary(BinaryOp::Sub, x, maximum);
        let power = b.unary(UnaryOp::Exp, shifted);
        let sum = b.reduce(CombineOp::Sum, power);
        let result = b.binary(BinaryOp::Div, power, sum);
        b.store(result, 0, &[100, 1]);
        b.check(if dtype == DType::F16 { 1e-3 } else { 8e-3 });
    }
}

#[test]
fn min_max_reductions_propagate_nan() {
    for dtype in [DType::F32, DType::F64] {
        for op in [CombineOp::Min, CombineOp::Max] {
            for vector in [Reduced, Parallel] {
                let reduce: &[usize] = if vector == Parallel { &[9] } else { &[] };
                let mut b = Builder::new(&[8], reduce, (vector, 45));
                let strides: &[isize] = if vector == Parallel { &[405, 45, 1] } else { &[45, 1] };
                let result_strides: &[isize] =
                    if vector == Parallel { &[45, 0, 1] } else { &[1, 0] };
                let x = b.load(dtype, 0, strides);
                // The square root of the few negative values is NaN.
                let shift = b.constant(3.9f64.into_scalar(dtype));
                let shifted = b.binary(BinaryOp::Add, x, shift);
                let root = b.unary(UnaryOp::Sqrt, shifted);
                let total = b.reduce(op, root);
                b.store(total, 0, result_strides);
                b.check(1e-6);
            }
        }
    }
}

#[test]
fn reductions_of_strided_and_masked_tiles() {
    for dtype in [DType::F32, DType::I32, DType::F64, DType::U8] {
        for count in [1, 16, 50] {
            let mut b = Builder::new(&[3], &[], (Reduced, count));
            let x = b.load(dtype, 0, &[count as isize * 3, 3]);
            let mask = b.load(DType::Bool, 0, &[count as isize, 1]);
            let y = b.load_masked(dtype, 0, &[count as isize, 1], Some(mask));
            let z = b.binary(BinaryOp::Add, x, y);
            let sum = b.reduce(CombineOp::Sum, z);
            let least = b.reduce(CombineOp::Min, z);
            b.store(sum, 0, &[1, 0]);
            b.store(least, 0, &[1, 0]);
            b.check(1e-5);
        }
    }
}

#[test]
fn eight_concurrent_reductions() {
    let mut b = Builder::new(&[2], &[], (Reduced, 70));
    let x = b.load(DType::F32, 0, &[70, 1]);
    for index in 0..5 {
        let c = b.constant(index as f32);
        let y = b.binary(BinaryOp::Mul, x, c);
        let sum = b.reduce(CombineOp::Sum, y);
        let maximum = b.reduce(CombineOp::Max, y);
        if index < 3 {
            b.store(maximum, 0, &[1, 0]);
        }
        b.store(sum, 0, &[1, 0]);
    }
    let part = whole_launch(&b.shape, 1);
    b.check_on(Isa::Avx512, 1e-5, &[], std::slice::from_ref(&part))
        .expect("eight accumulators fit");
}
