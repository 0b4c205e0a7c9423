//! Sort, top-k, FFT, Cholesky and triangular solve.

use crate::support;
use inflight::{Complex, DType, Device, Shape, Tensor, Transpose, TriangularOptions};
use std::sync::LazyLock;

/// The device shared by these tests.
fn device() -> Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(support::device);
    DEVICE.clone()
}

fn uniform(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) % 2001) as f32 / 1000.0 - 1.0
    };
    (0..count).map(next).collect()
}

#[test]
fn sorts_along_any_axis() {
    let values = uniform(60, 3);
    let x = Tensor::from_vec(values.clone(), [5, 12], &device()).unwrap();
    let rows: Vec<f32> = values
        .chunks(12)
        .flat_map(|row| {
            let mut row = row.to_vec();
            row.sort_by(f32::total_cmp);
            row
        })
        .collect();
    assert_eq!(x.sort(-1, false).to_vec::<f32>().unwrap(), rows);
    let columns = x.sort(0, true).to_vec::<f32>().unwrap();
    assert!((0..12).all(|column| {
        (1..5).all(|row| columns[12 * row + column] <= columns[12 * (row - 1) + column])
    }));
    // The argsort positions select the sorted elements.
    let positions = x.argsort(1, true);
    assert_eq!(positions.dtype(), DType::I64);
    let found = x.gather(1, &positions).to_vec::<f32>().unwrap();
    assert_eq!(found, x.sort(1, true).to_vec::<f32>().unwrap());
    assert!(x.sort(2, false).check().is_err());
}

#[test]
fn a_sort_between_producer_and_consumer() {
    let x = Tensor::from_vec(uniform(3000, 5), [3000], &device()).unwrap();
    let found = ((&x * 2.0).sort(0, false) + 1.0).to_vec::<f32>().unwrap();
    let mut expected: Vec<f32> = x.to_vec::<f32>().unwrap().iter().map(|x| x * 2.0).collect();
    expected.sort_by(f32::total_cmp);
    expected.iter_mut().for_each(|x| *x += 1.0);
    assert_eq!(found, expected);
    // A view is sorted in its own order.
    let flipped = x.flip([0]).reshape([1000, 3]).transpose().sort(1, false);
    let reversed = x.flip([0]).to_vec::<f32>().unwrap();
    let mut first: Vec<f32> = reversed.iter().step_by(3).copied().collect();
    first.sort_by(f32::total_cmp);
    assert_eq!(flipped.narrow(0, 0, 1).to_vec::<f32>().unwrap(), first);
}

#[test]
fn top_k() {
    let x = Tensor::from_vec(vec![3, 9, 1, 7, 9, 2], [2, 3], &device()).unwrap();
    let (values, positions) = x.top_k(2, 1);
    assert_eq!(values.to_vec::<i32>().unwrap(), [9, 3, 9, 7]);
    assert_eq!(positions.to_vec::<i64>().unwrap(), [1, 0, 1, 0]);
    let (values, positions) = x.top_k(1, 0);
    assert_eq!(values.to_vec::<i32>().unwrap(), [7, 9, 2]);
    assert_eq!(positions.to_vec::<i64>().unwrap(), [1, 0, 1]);
    let (values, positions) = x.top_k(4, 1);
    assert!(values.check().is_err() && positions.check().is_err());
    assert_eq!(positions.dtype(), DType::I64);
}

/// Reference DFT by definition.
fn transform(x: &[Complex<f64>], k: usize) -> Complex<f64> {
    let n = x.len();
    let root = |power: usize| Complex::cis(-2.0 * std::f64::consts::PI * power as f64 / n as f64);
    x.iter().enumerate().map(|(j, x)| x * root(j * k % n)).sum()
}

#[test]
fn fourier_transforms() {
    for n in [1, 6, 13, 100, 128, 211, 3000] {
        let parts = uniform(2 * n, 7);
        let values: Vec<Complex<f32>> =
            parts.chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
        let x = Tensor::from_vec(values.clone(), [n], &device()).unwrap();
        let found = x.fft(0).to_vec::<Complex<f32>>().unwrap();
        let wide: Vec<Complex<f64>> =
            values.iter().map(|z| Complex::new(z.re as f64, z.im as f64)).collect();
        let expected: Vec<Complex<f64>> = (0..n).map(|k| transform(&wide, k)).collect();
        let norm = expected.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let error = found
            .iter()
            .zip(&expected)
            .map(|(a, b)| (Complex::new(a.re as f64, a.im as f64) - b).norm_sqr());
        let error = error.sum::<f64>().sqrt() / norm;
        assert!(error < 2e-6, "{error} for {n}");
        let restored = x.fft(0).ifft(0).to_vec::<Complex<f32>>().unwrap();
        assert!(restored.iter().zip(&values).all(|(a, b)| (a - b).norm() < 1e-5));
    }
}

#[test]
fn real_transforms_along_any_axis() {
    let x = Tensor::from_vec(uniform(60, 9), [4, 15], &device()).unwrap();
    let spectrum = x.rfft(0);
    assert_eq!((spectrum.shape(), spectrum.dtype()), (&Shape::from([3, 15]), DType::C64));
    let all = x.fft(0).narrow(0, 0, 3).to_vec::<Complex<f32>>().unwrap();
    let spectrum_values = spectrum.to_vec::<Complex<f32>>().unwrap();
    assert!(spectrum_values.iter().zip(&all).all(|(a, b)| (a - b).norm() < 1e-5));
    let restored = spectrum.irfft(4, 0).to_vec::<f32>().unwrap();
    let values = x.to_vec::<f32>().unwrap();
    assert!(restored.iter().zip(&values).all(|(a, b)| (a - b).abs() < 1e-6));
    let message = spectrum.irfft(9, 0).check().unwrap_err().to_string();
    assert!(message.contains("irfft") && message.contains("extent 5"), "{message}");
    assert!(x.cast(DType::I32).fft(0).check().is_err());
}

#[test]
fn cholesky_and_triangular_solve() {
    let n = 40;
    let a = Tensor::from_vec(uniform(2 * n * n, 11), [2, n, n], &device()).unwrap();
    let identity = Tensor::eye::<f32>(n, &device());
    let positive = a.matmul(&a.swap_dims(1, 2)) + &identity * n as f32;
    let factor = positive.cholesky();
    let reconstructed = factor.matmul(&factor.swap_dims(1, 2));
    let error = (reconstructed - &positive).abs().max_all().item::<f32>().unwrap();
    assert!(error < 1e-4, "{error}");
    // Two triangular solves solve the original system.
    let b = Tensor::from_vec(uniform(2 * n * 3, 13), [2, n, 3], &device()).unwrap();
    let partial = factor.solve_triangular(&b, TriangularOptions::lower());
    let options =
        TriangularOptions { transpose: Transpose::Transpose, ..TriangularOptions::lower() };
    let x = factor.solve_triangular(&partial, options);
    let error = (positive.matmul(&x) - &b).abs().max_all().item::<f32>().unwrap();
    assert!(error < 1e-4, "{error}");
    let upper = factor.swap_dims(1, 2).solve_triangular(&partial, TriangularOptions::upper());
    let error = (upper - &x).abs().max_all().item::<f32>().unwrap();
    assert!(error < 1e-5, "{error}");
    let message = b.cholesky().check().unwrap_err().to_string();
    assert!(message.contains("square matrices"), "{message}");
}
