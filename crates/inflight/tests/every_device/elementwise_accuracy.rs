//! Accuracy of every elementwise method on the current execution path, in ulps: all `f16` and `bf16` values, and a dense
//! sample of `f32`, against a reference in `f64`.

use crate::support::device;
use inflight::{DType, Device, Element, Tensor, bf16, f16};
use inflight_ir::UnaryOp;
use inflight_ir::interpret::scalar_unary;
use inflight_ir::{BinaryOp, Scalar};

/// A method's name, the method, and the op of its reference.
type Function = (&'static str, fn(&Tensor) -> Tensor, UnaryOp);

const FUNCTIONS: [Function; 30] = [
    ("neg", |x| x.neg(), UnaryOp::Neg),
    ("abs", Tensor::abs, UnaryOp::Abs),
    ("sign", Tensor::sign, UnaryOp::Sign),
    ("floor", Tensor::floor, UnaryOp::Floor),
    ("ceil", Tensor::ceil, UnaryOp::Ceil),
    ("round", Tensor::round, UnaryOp::Round),
    ("exp", Tensor::exp, UnaryOp::Exp),
    ("exp2", Tensor::exp2, UnaryOp::Exp2),
    ("expm1", Tensor::expm1, UnaryOp::Expm1),
    ("log", Tensor::log, UnaryOp::Log),
    ("log2", Tensor::log2, UnaryOp::Log2),
    ("log1p", Tensor::log1p, UnaryOp::Log1p),
    ("sqrt", Tensor::sqrt, UnaryOp::Sqrt),
    ("rsqrt", Tensor::rsqrt, UnaryOp::Rsqrt),
    ("cbrt", Tensor::cbrt, UnaryOp::Cbrt),
    ("sin", Tensor::sin, UnaryOp::Sin),
    ("cos", Tensor::cos, UnaryOp::Cos),
    ("tan", Tensor::tan, UnaryOp::Tan),
    ("asin", Tensor::asin, UnaryOp::Asin),
    ("acos", Tensor::acos, UnaryOp::Acos),
    ("atan", Tensor::atan, UnaryOp::Atan),
    ("sinh", Tensor::sinh, UnaryOp::Sinh),
    ("cosh", Tensor::cosh, UnaryOp::Cosh),
    ("tanh", Tensor::tanh, UnaryOp::Tanh),
    ("asinh", Tensor::asinh, UnaryOp::Asinh),
    ("acosh", Tensor::acosh, UnaryOp::Acosh),
    ("atanh", Tensor::atanh, UnaryOp::Atanh),
    ("sigmoid", Tensor::sigmoid, UnaryOp::Sigmoid),
    ("erf", Tensor::erf, UnaryOp::Erf),
    ("is_nan", |x| x.is_nan().cast(x.dtype()), UnaryOp::IsNan),
];

/// The documented error bound.
const MAX_ULPS: f64 = 3.0;

/// Mantissa bits and the smallest normal exponent of a dtype.
fn format(dtype: DType) -> (i32, i32) {
    match dtype {
        DType::F16 => (10, -14),
        DType::BF16 => (7, -126),
        _ => (23, -126),
    }
}

/// The error of `got`, in units in the last place of the dtype at `expected`.
fn ulps(expected: f64, got: f64, dtype: DType) -> f64 {
    if expected.is_nan() || got.is_nan() {
        return if expected.is_nan() == got.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let (mantissa, smallest) = format(dtype);
    if expected == got {
        return 0.0;
    }
    if expected.is_infinite() || got.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = if expected == 0.0 { smallest } else { expected.abs().log2().floor() as i32 };
    (expected - got).abs() / 2f64.powi(exponent.max(smallest) - mantissa)
}

/// Compares a function with its reference on these values.
fn check<T: Element>(name: &str, call: fn(&Tensor) -> Tensor, op: UnaryOp, values: &[T]) {
    let device = device();
    let dtype = T::DTYPE;
    let x = Tensor::from_slice(values, [values.len()], &device).unwrap();
    let got = call(&x).to_vec::<T>().unwrap();
    let smallest = 2f64.powi(format(dtype).1);
    for (value, got) in values.iter().zip(got) {
        let value = value.to_scalar().to_f64();
        // Beyond 2^51, periodic functions are documented as bounded only.
        let periodic = matches!(op, UnaryOp::Sin | UnaryOp::Cos | UnaryOp::Tan);
        if periodic && value.abs() >= 2f64.powi(51) {
            continue;
        }
        // The device flushes subnormal `f32` inputs and results to zero.
        let flushes = dtype != DType::F16;
        let argument = if flushes && value.abs() < smallest { 0.0 * value } else { value };
        let exact = scalar_unary(op, Scalar::from(argument));
        let expected = exact.cast(dtype).to_f64();
        let got = got.to_scalar().to_f64();
        if flushes && expected.abs() < smallest && got.abs() <= smallest {
            continue;
        }
        let error = ulps(expected, got, dtype);
        assert!(error <= MAX_ULPS, "{name}({value:e}) is {expected:e}, not {got:e}: {error} ulp");
    }
}

#[test]
fn every_function_on_every_f16() {
    let values: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    for (name, call, op) in FUNCTIONS {
        check(name, call, op, &values);
    }
}

#[test]
fn every_function_on_every_bf16() {
    let values: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for (name, call, op) in FUNCTIONS {
        check(name, call, op, &values);
    }
}

#[test]
fn every_function_on_a_dense_sample_of_f32() {
    // A prime step visits every exponent and spreads over the mantissas.
    let values: Vec<f32> = (0..=u32::MAX).step_by(16_411).map(f32::from_bits).collect();
    for (name, call, op) in FUNCTIONS {
        check(name, call, op, &values);
    }
}

#[test]
fn pow_and_atan2_accuracy() {
    let device = device();
    let mut values: Vec<f32> = (0..=u32::MAX).step_by(8_388_593).map(f32::from_bits).collect();
    values.retain(|value| value.is_normal());
    values.extend([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.0, f32::INFINITY, f32::NEG_INFINITY]);
    let n = values.len();
    let column = Tensor::from_slice(&values, [n, 1], &device).unwrap();
    let row = Tensor::from_slice(&values, [1, n], &device).unwrap();
    let calls = [(BinaryOp::Pow, column.pow(&row)), (BinaryOp::Atan2, column.atan2(&row))];
    for (op, result) in calls {
        let got = result.to_vec::<f32>().unwrap();
        for (position, &got) in got.iter().enumerate() {
            let (a, b) = (values[position / n] as f64, values[position % n] as f64);
            let exact = inflight_ir::interpret::scalar_binary(op, a.into(), b.into());
            let expected = exact.cast(DType::F32).to_f64();
            if expected.abs() < f32::MIN_POSITIVE as f64 && got.abs() <= f32::MIN_POSITIVE {
                continue;
            }
            let error = ulps(expected, got as f64, DType::F32);
            assert!(
                error <= MAX_ULPS,
                "{op:?}({a:e}, {b:e}) is {expected:e}, not {got:e}: {error}"
            );
        }
    }
}

/// A sequential `f32` sum of 2^26 tenths stagnates: late addends are below half an ulp of the sum.
#[test]
fn long_sums_accumulate_in_blocks() {
    let device = Device::cpu();
    let tenth = f64::from(0.1f32);
    let all = Tensor::full(0.1f32, [1 << 26], &device);
    all.wait().unwrap();
    let mean = f64::from(all.mean_all().item::<f32>().unwrap());
    assert!((mean / tenth - 1.0).abs() < 1e-5, "{mean}");
    for columns in [4, 8192] {
        let rows = (1 << 26) / columns;
        let sums = all.reshape([rows, columns]).sum([0]);
        for sum in sums.to_vec::<f32>().unwrap() {
            let expected = tenth * rows as f64;
            assert!((f64::from(sum) / expected - 1.0).abs() < 5e-4, "{columns} columns: {sum}");
        }
    }
}

#[test]
fn long_cumulative_sums_accumulate_in_blocks() {
    let device = Device::cpu();
    let tenth = f64::from(0.1f32);
    // With and without equal blocks, along the last axis and another one.
    for (shape, axis) in [([1, 1 << 22], 1), ([1, 1_000_003], 1), ([1 << 20, 3], 0)] {
        let x = Tensor::full(0.1f32, shape, &device);
        x.wait().unwrap();
        let sums = x.cumsum(axis as isize).to_vec::<f32>().unwrap();
        let columns = if axis == 0 { shape[1] } else { 1 };
        for (position, sum) in sums.iter().enumerate().skip(100_000).step_by(997) {
            let expected = tenth * (position / columns + 1) as f64;
            let error = (f64::from(*sum) / expected - 1.0).abs();
            assert!(error < 2e-4, "{shape:?} at {position}: {sum}, {expected}");
        }
    }
}
