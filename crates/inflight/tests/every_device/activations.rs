//! Softmax, normalizations and activation functions.

use crate::support::{counting, device, message, read};
use inflight::{DType, Device, Tensor, bf16, f16};

fn patterned(shape: &[usize], device: &Device) -> (Vec<f64>, Tensor) {
    let elements: usize = shape.iter().product();
    let data: Vec<f64> = (0..elements).map(|i| ((i * 37) % 101) as f64 / 20.0 - 2.5).collect();
    let tensor = Tensor::from_slice(&data, shape, device).unwrap();
    (data, tensor)
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (found - expected).abs();
        let bound = tolerance * expected.abs().max(1.0);
        assert!(difference <= bound, "at {position}: {found}, not {expected}");
    }
}

/// Reference softmax of each row.
fn softmax_rows(data: &[f64], row: usize) -> Vec<f64> {
    data.chunks(row)
        .flat_map(|row| {
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = row.iter().map(|x| (x - largest).exp()).sum();
            row.iter().map(move |x| (x - largest).exp() / sum).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn softmax_over_any_axis() {
    let device = device();
    let (data, x) = patterned(&[5, 7], &device);
    let expected = softmax_rows(&data, 7);
    for softmax in [x.softmax(1), x.softmax(-1)] {
        close(&softmax.to_vec::<f64>().unwrap(), &expected, 1e-14);
    }
    let logarithms: Vec<f64> = expected.iter().map(|x| x.ln()).collect();
    close(&x.log_softmax(1).to_vec::<f64>().unwrap(), &logarithms, 1e-14);
    let columns: Vec<f64> = (0..35).map(|i| data[i % 5 * 7 + i / 5]).collect();
    let expected = softmax_rows(&columns, 5);
    let expected: Vec<f64> = (0..35).map(|i| expected[i % 7 * 5 + i / 7]).collect();
    close(&x.softmax(0).to_vec::<f64>().unwrap(), &expected, 1e-14);
    let large = Tensor::from_vec(vec![1000f32, 1000.0], [2], &device).unwrap();
    assert_eq!(read::<f32>(&large.softmax(0)).1, [0.5, 0.5]);
}

#[test]
fn sixteen_bit_floats_are_rounded_once() {
    let device = device();
    let (data, x) = patterned(&[3, 64], &device);
    let f16_inputs: Vec<f64> = data.iter().map(|&x| f16::from_f64(x).to_f64()).collect();
    let found: Vec<f64> =
        x.to::<f16>().softmax(1).to_vec::<f16>().unwrap().iter().map(|x| x.to_f64()).collect();
    for (found, expected) in found.iter().zip(softmax_rows(&f16_inputs, 64)) {
        // Half an ulp of `f16`, plus the rounding error of the `f32` computation.
        assert!(
            (found - expected).abs() <= expected * 0.5005 / 1024.0 + 3e-8,
            "{found}, {expected}"
        );
    }
    let y = x.to::<bf16>();
    assert_eq!(y.layer_norm([-1], None, None, 1e-5).dtype(), DType::BF16);
    assert_eq!(y.gelu().dtype(), DType::BF16);
}

#[test]
fn relu_leaky_relu_and_softplus() {
    let device = device();
    let x = Tensor::from_vec(vec![-2.0, -0.5, 0.0, 1.5], [4], &device).unwrap();
    assert_eq!(read::<f64>(&x.relu()).1, [0.0, 0.0, 0.0, 1.5]);
    assert_eq!(read::<f64>(&x.leaky_relu(0.1)).1, [-0.2, -0.05, 0.0, 1.5]);
    assert_eq!(read::<i32>(&(counting([3], &device) - 1).relu()).1, [0, 0, 1]);
    let large = Tensor::from_vec(vec![-1000f32, 0.0, 1000.0], [3], &device).unwrap();
    assert_eq!(read::<f32>(&large.softplus()).1, [0.0, 2f32.ln(), 1000.0]);
}

#[test]
fn gelu_matches_the_reference() {
    let device = device();
    let x = Tensor::from_vec(vec![-3.0, -1.0, 0.0, 0.5, 2.0], [5], &device).unwrap();
    let expected =
        [-0.004049694094890284, -0.15865525393145707, 0.0, 0.34573123063700656, 1.9544997361036416];
    close(&x.gelu().to_vec::<f64>().unwrap(), &expected, 1e-15);
    let tanh = |x: f64| {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    };
    let expected = [-3.0, -1.0, 0.0, 0.5, 2.0].map(tanh);
    close(&x.gelu_tanh().to_vec::<f64>().unwrap(), &expected, 1e-15);
}

#[test]
fn normalizations_match_the_reference() {
    let device = device();
    let (data, x) = patterned(&[4, 6], &device);
    let weight: Vec<f64> = (0..6).map(|i| 1.0 + i as f64 / 10.0).collect();
    let bias: Vec<f64> = (0..6).map(|i| i as f64 / 3.0).collect();
    let expected: Vec<f64> = data
        .chunks(6)
        .flat_map(|row| {
            let mean = row.iter().sum::<f64>() / 6.0;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 6.0;
            let scale = 1.0 / (variance + 1e-5).sqrt();
            (0..6).map(|i| (row[i] - mean) * scale * weight[i] + bias[i]).collect::<Vec<_>>()
        })
        .collect();
    let [w, b] = [&weight, &bias].map(|data| Tensor::from_slice(data, [6], &device).unwrap());
    let found = x.layer_norm([-1], Some(&w), Some(&b), 1e-5);
    close(&found.to_vec::<f64>().unwrap(), &expected, 1e-13);

    let expected: Vec<f64> = data
        .chunks(6)
        .flat_map(|row| {
            let scale = 1.0 / (row.iter().map(|x| x * x).sum::<f64>() / 6.0 + 1e-6).sqrt();
            (0..6).map(|i| row[i] * scale * weight[i]).collect::<Vec<_>>()
        })
        .collect();
    close(&x.rms_norm([1], Some(&w), 1e-6).to_vec::<f64>().unwrap(), &expected, 1e-13);
}

#[test]
fn normalization_weights_align_with_the_normalized_axes() {
    let device = device();
    let (_, x) = patterned(&[2, 3, 4], &device);
    let (_, weight) = patterned(&[3], &device);
    let found = x.layer_norm([1], Some(&weight), None, 1e-5);
    let aligned = weight.reshape([3, 1]);
    let expected = x.layer_norm([1], None, None, 1e-5) * aligned;
    close(&found.to_vec::<f64>().unwrap(), &expected.to_vec::<f64>().unwrap(), 1e-14);
    let (_, both) = patterned(&[3, 4], &device);
    let found = x.layer_norm([1, 2], None, Some(&both), 1e-5);
    let expected = x.layer_norm([-1, -2], None, None, 1e-5) + &both;
    close(&found.to_vec::<f64>().unwrap(), &expected.to_vec::<f64>().unwrap(), 1e-14);
}

#[test]
fn errors_name_the_method_and_the_line() {
    let device = device();
    let (_, x) = patterned(&[2, 3], &device);
    let line = line!() + 1;
    let bad = x.softmax(2);
    let text = message(&bad);
    assert!(text.starts_with("softmax(f64[2, 3]) at "), "{text}");
    assert!(text.contains(&format!("activations.rs:{line}:")), "{text}");
    assert_eq!(bad.shape().extents(), [2, 3]);
    assert!(message(&counting([2], &device).log_softmax(0)).starts_with("log_softmax(i32[2])"));
    let (_, weight) = patterned(&[2], &device);
    let line = line!() + 1;
    let norm = x.layer_norm([1], Some(&weight), None, 1e-5);
    assert!(message(&norm).starts_with("layer_norm(f64[2, 3], f64[2])"), "{}", message(&norm));
    assert!(message(&norm).contains(&format!("activations.rs:{line}:")));
    let single = Tensor::ones::<f32>([3], &device);
    assert!(message(&x.rms_norm([1], Some(&single), 1e-5)).contains("found f32"));
}

/// Composite methods report the caller's location for each of their ops.
#[test]
fn every_op_of_a_composite_method_names_its_caller() {
    let device = device();
    let x = counting([4], &device);
    let line = line!() + 1;
    let bad = x.gelu();
    let error = bad.check().unwrap_err();
    assert_eq!(error.location().unwrap().line(), line);
    assert!(error.location().unwrap().file().ends_with("activations.rs"));
    let line = line!() + 1;
    let good = x.to::<f32>().softmax(0);
    assert_eq!(good.location().line(), line);
}
