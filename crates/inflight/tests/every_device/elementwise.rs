//! Elementwise functions, operators, comparisons, casts.

use crate::support::{counting, device, message, read};
use inflight::{Complex, DType, Device, Tensor, f16};

fn close(found: &[f64], expected: &[f64], tolerance: f64, context: &str) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let near = (found - expected).abs() <= tolerance * expected.abs().max(1.0);
        let same = found == expected || found.is_nan() && expected.is_nan();
        assert!(near || same, "{context}: {found}, not {expected}");
    }
}

/// The sign of a subnormal is ±1, or 0 on devices that flush subnormals; never the subnormal itself.
#[test]
fn sign_is_one_zero_or_minus_one() {
    let device = device();
    let data = vec![1e-40f32, -1e-40, 0.0, -0.0, 1e-30, -1e-30, f32::NAN, f32::NEG_INFINITY];
    let x = Tensor::from_vec(data, [8], &device).unwrap();
    let signs: Vec<f32> = x.sign().to_vec().unwrap();
    assert!(signs[0] == 0.0 || signs[0] == 1.0, "{:e}", signs[0]);
    assert!(signs[1] == 0.0 || signs[1] == -1.0, "{:e}", signs[1]);
    assert_eq!(signs[2].to_bits(), 0f32.to_bits());
    assert_eq!(signs[3].to_bits(), (-0f32).to_bits());
    assert_eq!((signs[4], signs[5], signs[7]), (1.0, -1.0, -1.0));
    assert!(signs[6].is_nan());
}

#[test]
fn functions_match_the_host() {
    let device = device();
    let data: Vec<f64> = (0..200).map(|i| (i as f64 - 100.0) / 37.0).collect();
    let x = Tensor::from_vec(data.clone(), [200], &device).unwrap();
    type Function = (&'static str, fn(&Tensor) -> Tensor, fn(f64) -> f64);
    let functions: [Function; 33] = [
        ("neg", Tensor::neg, |x| -x),
        ("abs", Tensor::abs, f64::abs),
        ("sign", Tensor::sign, |x| if x == 0.0 { 0.0 } else { x.signum() }),
        ("floor", Tensor::floor, f64::floor),
        ("ceil", Tensor::ceil, f64::ceil),
        ("round", Tensor::round, f64::round_ties_even),
        ("exp", Tensor::exp, f64::exp),
        ("exp2", Tensor::exp2, f64::exp2),
        ("expm1", Tensor::expm1, f64::exp_m1),
        ("log", Tensor::log, f64::ln),
        ("log2", Tensor::log2, f64::log2),
        ("log1p", Tensor::log1p, f64::ln_1p),
        ("sqrt", Tensor::sqrt, f64::sqrt),
        ("rsqrt", Tensor::rsqrt, |x| 1.0 / x.sqrt()),
        ("cbrt", Tensor::cbrt, f64::cbrt),
        ("sin", Tensor::sin, f64::sin),
        ("cos", Tensor::cos, f64::cos),
        ("tan", Tensor::tan, f64::tan),
        ("asin", Tensor::asin, f64::asin),
        ("acos", Tensor::acos, f64::acos),
        ("atan", Tensor::atan, f64::atan),
        ("sinh", Tensor::sinh, f64::sinh),
        ("cosh", Tensor::cosh, f64::cosh),
        ("tanh", Tensor::tanh, f64::tanh),
        ("asinh", Tensor::asinh, f64::asinh),
        ("acosh", Tensor::acosh, f64::acosh),
        ("atanh", Tensor::atanh, f64::atanh),
        ("sigmoid", Tensor::sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        ("square", Tensor::square, |x| x * x),
        ("reciprocal", Tensor::reciprocal, |x| 1.0 / x),
        ("relu", Tensor::relu, |x| x.max(0.0)),
        ("silu", Tensor::silu, |x| x / (1.0 + (-x).exp())),
        ("softplus", Tensor::softplus, |x| x.exp().ln_1p()),
    ];
    for (name, tensor, host) in functions {
        let expected: Vec<f64> = data.iter().map(|&x| host(x)).collect();
        close(&tensor(&x).to_vec::<f64>().unwrap(), &expected, 1e-14, name);
    }
}

#[test]
fn erf_matches_the_reference() {
    let device = device();
    let x = Tensor::from_vec(vec![-2.0, -0.5, 0.0, 0.1, 1.0, 3.0], [6], &device).unwrap();
    let expected = [
        -0.9953222650189527,
        -0.5204998778130465,
        0.0,
        0.1124629160182849,
        0.8427007929497149,
        0.9999779095030014,
    ];
    close(&x.erf().to_vec::<f64>().unwrap(), &expected, 1e-15, "erf");
}

#[test]
fn float_classification() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32, f32::NAN, f32::INFINITY], [3], &device).unwrap();
    assert_eq!(read::<bool>(&x.is_nan()).1, [false, true, false]);
    assert_eq!(read::<bool>(&x.is_finite()).1, [true, false, false]);
}

fn pair(device: &Device) -> (Tensor, Tensor) {
    let a = Tensor::from_vec(vec![7, -7, 8, 3], [4], device).unwrap();
    let b = Tensor::from_vec(vec![2, 3, -5, 3], [4], device).unwrap();
    (a, b)
}

#[test]
fn operators_take_tensors_and_references() {
    let device = device();
    let (a, b) = pair(&device);
    for sum in [&a + &b, a.clone() + &b, &a + b.clone(), a.clone() + b.clone(), a.add(&b)] {
        assert_eq!(read::<i32>(&sum).1, [9, -4, 3, 6]);
    }
    assert_eq!(read::<i32>(&(&a - &b)).1, [5, -10, 13, 0]);
    assert_eq!(read::<i32>(&(&a * &b)).1, [14, -21, -40, 9]);
    assert_eq!(read::<i32>(&(&a / &b)).1, [3, -2, -1, 1]);
    assert_eq!(read::<i32>(&(&a % &b)).1, [1, -1, 3, 0]);
    assert_eq!(read::<i32>(&(&a & &b)).1, [2, 1, 8, 3]);
    assert_eq!(read::<i32>(&(&a | &b)).1, [7, -5, -5, 3]);
    assert_eq!(read::<i32>(&(&a ^ &b)).1, [5, -6, -13, 0]);
    assert_eq!(read::<i32>(&(&a << 2)).1, [28, -28, 32, 12]);
    assert_eq!(read::<i32>(&(&a >> 1)).1, [3, -4, 4, 1]);
    assert_eq!(read::<i32>(&a.shift_right_logical(28)).1, [0, 15, 0, 0]);
    assert_eq!(read::<i32>(&-&a).1, [-7, 7, -8, -3]);
    assert_eq!(read::<i32>(&!&a).1, [-8, 6, -9, -4]);
    assert_eq!(read::<i32>(&a.minimum(&b)).1, [2, -7, -5, 3]);
    assert_eq!(read::<i32>(&a.maximum(&b)).1, [7, 3, 8, 3]);
    assert_eq!(read::<i32>(&a.count_ones()).1, [3, 30, 1, 2]);
    assert_eq!(read::<i32>(&a.leading_zeros()).1, [29, 0, 28, 30]);
    let mut c = a.clone();
    c += &b;
    c -= 1;
    c *= 2;
    c /= 3;
    c %= 4;
    assert_eq!(read::<i32>(&c).1, [1, -3, 1, 3]);
    c <<= 2;
    c |= 1;
    c &= 5;
    c ^= 1;
    c >>= 1;
    assert_eq!(read::<i32>(&c).1, [2, 2, 2, 2]);
}

#[test]
fn scalars_take_the_dtype_of_the_tensor() {
    let device = device();
    let x = Tensor::from_vec(vec![1.0f32, 2.0, 4.0], [3], &device).unwrap();
    for doubled in
        [&x * 2, &x * 2.0, &x * 2.0f32, 2 * &x, 2.0 * &x, &x * 2u8, &x * 2usize, 2.0 * x.clone()]
    {
        assert_eq!(doubled.dtype(), DType::F32);
        assert_eq!(read::<f32>(&doubled).1, [2.0, 4.0, 8.0]);
    }
    assert_eq!(read::<f32>(&(1.0 / &x)).1, [1.0, 0.5, 0.25]);
    assert_eq!(read::<f32>(&(1 - &x)).1, [0.0, -1.0, -3.0]);
    assert_eq!(read::<f32>(&(7.0 % &x)).1, [0.0, 1.0, 3.0]);
    assert_eq!(read::<f32>(&(&x + 0.1)).1, [1.0f32 + 0.1, 2.1, 4.1]);
    let integers = Tensor::from_vec(vec![1u8, 2, 3], [3], &device).unwrap();
    assert_eq!(read::<u8>(&(&integers + 2.0)).1, [3, 4, 5]);
    assert_eq!(read::<u8>(&(1 << &integers)).1, [2, 4, 8]);
    let half = Tensor::from_vec(vec![f16::from_f32(3.0)], [1], &device).unwrap();
    assert_eq!(read::<f16>(&(half * 0.5)).1, [f16::from_f32(1.5)]);
    let mask = Tensor::from_vec(vec![true, false], [2], &device).unwrap();
    assert_eq!(read::<bool>(&(true ^ &mask)).1, [false, true]);
}

#[test]
fn scalars_outside_the_dtype_are_errors() {
    let device = device();
    let x = Tensor::from_vec(vec![1u8, 2, 3], [3], &device).unwrap();
    let line = line!() + 1;
    let bad = &x + 2.5;
    assert_eq!((bad.shape().extents(), bad.dtype()), (&[3][..], DType::U8));
    let text = message(&bad);
    assert!(text.starts_with("add(u8[3]) at ") && text.contains("2.5"), "{text}");
    assert!(text.contains(&format!("elementwise.rs:{line}:")), "{text}");
    assert!(message(&(300 * &x)).contains("expected a scalar that u8 can represent, found 300"));
    assert!(message(&x.lt(-1)).starts_with("lt("));
    assert_eq!(x.lt(-1).dtype(), DType::Bool);
    assert_eq!(read::<u8>(&(&x + 1)).1, [2, 3, 4]);
}

#[test]
fn operands_broadcast() {
    let device = device();
    let row = counting([1, 3], &device);
    let column = counting([2, 1], &device) * 10;
    assert_eq!(read::<i32>(&(&row + &column)), (vec![2, 3], vec![0, 1, 2, 10, 11, 12]));
    let vector = counting([3], &device);
    assert_eq!(read::<i32>(&(&column - vector)), (vec![2, 3], vec![0, -1, -2, 10, 9, 8]));
    let empty = Tensor::zeros::<i32>([0, 3], &device);
    assert_eq!(read::<i32>(&(empty + row)), (vec![0, 3], vec![]));
}

#[test]
fn comparisons() {
    let device = device();
    let (a, b) = pair(&device);
    assert_eq!(read::<bool>(&a.eq(&b)).1, [false, false, false, true]);
    assert_eq!(read::<bool>(&a.ne(&b)).1, [true, true, true, false]);
    assert_eq!(read::<bool>(&a.lt(&b)).1, [false, true, false, false]);
    assert_eq!(read::<bool>(&a.le(&b)).1, [false, true, false, true]);
    assert_eq!(read::<bool>(&a.gt(3)).1, [true, false, true, false]);
    assert_eq!(read::<bool>(&a.ge(3)).1, [true, false, true, true]);
    let nan = Tensor::full(f32::NAN, [1], &device);
    assert_eq!(read::<bool>(&nan.eq(&nan)).1, [false]);
    assert_eq!(read::<bool>(&nan.ne(&nan)).1, [true]);
}

#[test]
fn logical_ops() {
    let device = device();
    let a = Tensor::from_vec(vec![true, true, false, false], [4], &device).unwrap();
    let b = Tensor::from_vec(vec![true, false, true, false], [4], &device).unwrap();
    assert_eq!(read::<bool>(&a.logical_and(&b)).1, [true, false, false, false]);
    assert_eq!(read::<bool>(&a.logical_or(&b)).1, [true, true, true, false]);
    assert_eq!(read::<bool>(&a.logical_xor(&b)).1, [false, true, true, false]);
    assert_eq!(read::<bool>(&a.logical_not()).1, [false, false, true, true]);
    assert_eq!(read::<bool>(&a.logical_and(true)).1, [true, true, false, false]);
    let integers = counting([2], &device);
    assert!(message(&integers.logical_not()).starts_with("logical_not(i32[2])"));
    assert!(message(&integers.logical_and(true)).contains("x.ne(0)"));
}

#[test]
fn select_and_mask() {
    let device = device();
    let mask = Tensor::from_vec(vec![true, false, true], [3], &device).unwrap();
    let x = counting([3], &device) + 5;
    assert_eq!(read::<i32>(&mask.where_cond(&x, -&x)).1, [5, -6, 7]);
    assert_eq!(read::<i32>(&mask.where_cond(&x, 0)).1, [5, 0, 7]);
    assert_eq!(read::<i32>(&mask.where_cond(0.0, &x)).1, [0, 6, 0]);
    assert_eq!(read::<f64>(&mask.where_cond(1.5, 2)).1, [1.5, 2.0, 1.5]);
    assert_eq!(read::<i32>(&x.masked_fill(&mask, -1)).1, [-1, 6, -1]);
    let column = counting([2, 1], &device);
    assert_eq!(mask.where_cond(&column, 0).shape().extents(), [2, 3]);
    let bad = mask.where_cond(&column, 0.5);
    assert_eq!((bad.shape().extents(), bad.dtype()), (&[2, 3][..], DType::I32));
    let text = message(&bad);
    assert!(text.starts_with("where_cond(") && text.contains("0.5"), "{text}");
    assert!(message(&x.where_cond(1, 2)).contains("bool condition"));
}

#[test]
fn powers() {
    let device = device();
    let x = Tensor::from_vec(vec![-2.0, 0.5, 3.0], [3], &device).unwrap();
    assert_eq!(read::<f64>(&x.powi(0)).1, [1.0; 3]);
    assert_eq!(read::<f64>(&x.powi(1)).1, [-2.0, 0.5, 3.0]);
    assert_eq!(read::<f64>(&x.powi(5)).1, [-32.0, 0.03125, 243.0]);
    assert_eq!(read::<f64>(&x.powi(-2)).1, [0.25, 4.0, 1.0 / 9.0]);
    assert_eq!(read::<f64>(&x.pow(2)).1, [4.0, 0.25, 9.0]);
    assert_eq!(read::<f64>(&x.pow(3.0)).1, [-8.0, 0.125, 27.0]);
    close(
        &read::<f64>(&x.powf(2.5)).1,
        &[f64::NAN, 0.5f64.powf(2.5), 3f64.powf(2.5)],
        1e-14,
        "powf",
    );
    let y = Tensor::from_vec(vec![3.0, -1.0, 0.5], [3], &device).unwrap();
    close(&read::<f64>(&x.pow(&y)).1, &[-8.0, 2.0, 3f64.sqrt()], 1e-14, "pow");
    let integers = Tensor::from_vec(vec![2, 3, -1], [3], &device).unwrap();
    assert_eq!(read::<i32>(&integers.pow(5)).1, [32, 243, -1]);
    assert_eq!(read::<i32>(&integers.powi(-1)).1, [0, 0, -1]);
    assert!(message(&integers.pow(0.5)).starts_with("pow(i32[3])"));
}

#[test]
fn clamp_and_atan2() {
    let device = device();
    let x = Tensor::from_vec(vec![-2.0f32, 0.5, 3.0, f32::NAN], [4], &device).unwrap();
    let (_, clamped) = read::<f32>(&x.clamp(-1, 1.0));
    assert_eq!(clamped[..3], [-1.0, 0.5, 1.0]);
    assert!(clamped[3].is_nan());
    let y = Tensor::from_vec(vec![1.0f64, -1.0], [2], &device).unwrap();
    let angles = read::<f64>(&y.atan2(-1.0)).1;
    close(&angles, &[1f64.atan2(-1.0), (-1f64).atan2(-1.0)], 1e-14, "atan2");
}

#[test]
fn conversions() {
    let device = device();
    let x = Tensor::from_vec(vec![-1.7f32, 0.0, 300.5], [3], &device).unwrap();
    assert_eq!(read::<i32>(&x.cast(DType::I32)).1, [-1, 0, 300]);
    assert_eq!(read::<u8>(&x.to::<u8>()).1, [0, 0, 255]);
    assert_eq!(read::<bool>(&x.to::<bool>()).1, [true, false, true]);
    assert_eq!(read::<u32>(&x.bitcast(DType::U32)).1, [-1.7f32, 0.0, 300.5].map(f32::to_bits));
    let before = device.stats().recorded;
    assert_eq!(x.cast(DType::F32).dtype(), DType::F32);
    assert_eq!(device.stats().recorded, before, "a cast to its own dtype records no op");
    assert!(message(&x.bitcast(DType::U64)).contains("4 bytes"));
}

#[test]
fn complex_numbers() {
    let device = device();
    let re = Tensor::from_vec(vec![3.0f32, 0.0], [2], &device).unwrap();
    let im = Tensor::from_vec(vec![4.0f32, -1.0], [2], &device).unwrap();
    let z = re.complex(&im);
    assert_eq!(read::<Complex<f32>>(&z).1, [Complex::new(3.0, 4.0), Complex::new(0.0, -1.0)]);
    assert_eq!(read::<f32>(&z.abs()).1, [5.0, 1.0]);
    assert_eq!(read::<f32>(&z.imag()).1, [4.0, -1.0]);
    assert_eq!(read::<f32>(&z.conj().imag()).1, [-4.0, 1.0]);
    assert_eq!(read::<f32>(&(&z * &z).real()).1, [-7.0, -1.0]);
    let rotated = Complex::new(0.0, 1.0) * &z;
    assert_eq!(read::<Complex<f32>>(&rotated).1, [Complex::new(-4.0, 3.0), Complex::new(1.0, 0.0)]);
}
