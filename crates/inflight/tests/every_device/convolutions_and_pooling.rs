//! Convolution, pooling and windows, against direct loops.

use crate::support;
use inflight::{ConvOptions, Device, PoolOptions, Shape, Tensor};
use std::sync::LazyLock;

/// The device shared by these tests.
fn device() -> Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(support::device);
    DEVICE.clone()
}

/// Pseudo-random values in [-1, 1] in steps of 1/16: sums of a few of their products are exact.
fn sixteenths(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((state >> 40) % 33) as f32 / 16.0 - 1.0
    };
    (0..count).map(next).collect()
}

fn random(shape: &[usize], seed: u64) -> Tensor {
    let values = sixteenths(shape.iter().product(), seed);
    Tensor::from_vec(values, shape, &device()).unwrap()
}

/// Reference convolution over two axes.
fn expected_conv2d(
    (x, [n, c, h, w]): (&[f32], [usize; 4]),
    (k, [o, i, kh, kw]): (&[f32], [usize; 4]),
    options: ConvOptions<2>,
) -> (Vec<f32>, Shape) {
    let extent = |extent: usize, size: usize, axis: usize| {
        let reach = options.dilation[axis] * (size - 1) + 1;
        (extent + 2 * options.padding[axis] - reach) / options.stride[axis] + 1
    };
    let (oh, ow) = (extent(h, kh, 0), extent(w, kw, 1));
    let mut result = Vec::new();
    for n in 0..n {
        for out in 0..o {
            let group = out / (o / options.groups);
            for y in 0..oh {
                for z in 0..ow {
                    let mut sum = 0.0;
                    for feature in 0..i {
                        for (ky, kz) in (0..kh).flat_map(|ky| (0..kw).map(move |kz| (ky, kz))) {
                            let at = |p: usize, k: usize, axis: usize| {
                                (p * options.stride[axis] + k * options.dilation[axis])
                                    .checked_sub(options.padding[axis])
                            };
                            let (Some(sy), Some(sz)) = (at(y, ky, 0), at(z, kz, 1)) else {
                                continue;
                            };
                            if sy < h && sz < w {
                                let source = ((n * c + group * i + feature) * h + sy) * w + sz;
                                sum += x[source] * k[((out * i + feature) * kh + ky) * kw + kz];
                            }
                        }
                    }
                    result.push(sum);
                }
            }
        }
    }
    (result, Shape::from([n, o, oh, ow]))
}

#[test]
fn conv2d_matches_direct_loops() {
    let plain = ConvOptions::<2>::default();
    let cases = [
        ([2, 3, 6, 5], [4, 3, 3, 3], plain),
        ([2, 3, 6, 5], [4, 3, 1, 1], plain),
        ([2, 3, 7, 8], [4, 3, 3, 2], plain.stride(2).padding(1)),
        ([1, 3, 9, 8], [2, 3, 3, 3], plain.dilation(2).padding(2)),
        ([2, 6, 5, 5], [4, 3, 3, 3], plain.groups(2).padding(1)),
        ([2, 4, 5, 5], [8, 1, 3, 3], plain.groups(4).stride(2)),
    ];
    for (x_shape, k_shape, options) in cases {
        let (x, k) = (random(&x_shape, 1), random(&k_shape, 2));
        let (x_values, k_values) = (x.to_vec::<f32>().unwrap(), k.to_vec::<f32>().unwrap());
        let (expected, shape) =
            expected_conv2d((&x_values, x_shape), (&k_values, k_shape), options);
        let found = x.conv2d(&k, None, options);
        assert_eq!(*found.shape(), shape);
        assert_eq!(found.to_vec::<f32>().unwrap(), expected, "{options:?}");
        // Bias and ReLU fuse as an epilogue.
        let bias = random(&[k_shape[0]], 3);
        let with_epilogue = x.conv2d(&k, Some(&bias), options).relu();
        let bias = bias.to_vec::<f32>().unwrap();
        let plane = shape[2] * shape[3];
        let expected: Vec<f32> = expected
            .iter()
            .enumerate()
            .map(|(i, value)| (value + bias[i / plane % k_shape[0]]).max(0.0))
            .collect();
        assert_eq!(with_epilogue.to_vec::<f32>().unwrap(), expected);
    }
}

#[test]
fn conv1d_and_conv3d_match_conv2d() {
    let x = random(&[2, 3, 10], 5);
    let k = random(&[4, 3, 3], 6);
    let options = ConvOptions::default().stride(2).padding(1);
    let found = x.conv1d(&k, None, options);
    // Equals a two-dimensional convolution with one axis of extent 1.
    let plane = ConvOptions { stride: [1, 2], padding: [0, 1], ..ConvOptions::default() };
    let expected = x.unsqueeze(2).conv2d(&k.unsqueeze(2), None, plane).squeeze(2);
    assert_eq!(found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
    let x = random(&[1, 2, 4, 5, 6], 7);
    let k = random(&[3, 2, 2, 3, 3], 8);
    let found = x.conv3d(&k, None, ConvOptions::default());
    assert_eq!(*found.shape(), Shape::from([1, 3, 3, 3, 4]));
    // Equals a sum of two-dimensional convolutions over the first spatial axis of the kernel.
    let slab = |depth: isize| {
        let part = |at: isize| {
            let x = x.index_axis(2, depth + at);
            x.conv2d(&k.index_axis(2, at), None, ConvOptions::default())
        };
        part(0) + part(1)
    };
    let expected = Tensor::stack(&[slab(0), slab(1), slab(2)], 2);
    assert_eq!(found.to_vec::<f32>().unwrap(), expected.to_vec::<f32>().unwrap());
}

#[test]
fn conv_transpose_is_the_adjoint_of_conv() {
    // ⟨conv(x), y⟩ = ⟨x, conv_transpose(y)⟩, with one weight for both.
    let plain = ConvOptions::<2>::default();
    let cases = [
        (plain, [1, 4, 6, 5]),
        (plain.stride(2).padding(1).output_padding(1), [2, 4, 6, 6]),
        (plain.dilation(2).padding(1), [1, 4, 7, 6]),
        (plain.groups(2).stride(2).output_padding(1), [2, 4, 6, 6]),
    ];
    for (options, x_shape) in cases {
        let weight = random(&[6, 4 / options.groups, 3, 3], 11);
        let x = random(&x_shape, 12);
        let forward = x.conv2d(&weight, None, options);
        let y = random(forward.shape(), 13);
        let back = y.conv_transpose2d(&weight, None, options);
        assert_eq!(back.shape(), x.shape(), "{options:?}");
        let (left, right) = ((&forward * &y).sum_all(), (&x * &back).sum_all());
        let (left, right) = (left.item::<f32>().unwrap(), right.item::<f32>().unwrap());
        assert!((left - right).abs() < 1e-3, "{left} and {right} with {options:?}");
    }
}

#[test]
fn pooling_matches_direct_loops() {
    let x = random(&[2, 3, 7, 8], 21);
    let values = x.to_vec::<f32>().unwrap();
    let options = PoolOptions::<2>::new(3).stride(2).padding(1);
    let (height, width) = (4, 4);
    let (mut largest, mut mean) = (Vec::new(), Vec::new());
    for image in values.chunks(7 * 8) {
        for (y, z) in (0..height).flat_map(|y| (0..width).map(move |z| (y, z))) {
            let inside = (0..9).filter_map(|i| {
                let (y, z) = (2 * y + i / 3, 2 * z + i % 3);
                let inside = (1..8).contains(&y) && (1..9).contains(&z);
                inside.then(|| image[(y - 1) * 8 + z - 1])
            });
            let inside: Vec<f32> = inside.collect();
            largest.push(inside.iter().copied().fold(f32::NEG_INFINITY, f32::max));
            mean.push(inside.iter().sum::<f32>() / 9.0);
        }
    }
    assert_eq!(x.max_pool2d(options).to_vec::<f32>().unwrap(), largest);
    let found = x.avg_pool2d(options).to_vec::<f32>().unwrap();
    assert!(found.iter().zip(&mean).all(|(a, b)| (a - b).abs() < 1e-6));
    let line = Tensor::from_vec(vec![1.0f32, 5.0, 2.0, 4.0, 3.0], [1, 5], &device()).unwrap();
    let pool = PoolOptions::new(2).stride(1);
    assert_eq!(line.max_pool1d(pool).to_vec::<f32>().unwrap(), [5.0, 5.0, 4.0, 4.0]);
    assert_eq!(line.avg_pool1d(pool).to_vec::<f32>().unwrap(), [3.0, 3.5, 3.0, 3.5]);
    let dilated = PoolOptions::new(2).stride(1).dilation(2);
    assert_eq!(line.max_pool1d(dilated).to_vec::<f32>().unwrap(), [2.0, 5.0, 3.0]);
}

#[test]
fn large_pooling_windows_match_direct_loops() {
    let x = random(&[1, 1000], 31);
    let values = x.to_vec::<f32>().unwrap();
    let found = x.max_pool1d(PoolOptions::new(300).stride(7)).to_vec::<f32>().unwrap();
    let expected: Vec<f32> = (0..found.len())
        .map(|i| values[7 * i..7 * i + 300].iter().copied().fold(f32::NEG_INFINITY, f32::max))
        .collect();
    assert_eq!(found.len(), 101);
    assert_eq!(found, expected);
}

#[test]
fn windows_are_views() {
    let x = Tensor::from_vec((0..12).collect::<Vec<i32>>(), [3, 4], &device()).unwrap();
    let windows = x.windows([2, 2], [1, 2]);
    assert_eq!(*windows.shape(), Shape::from([2, 2, 2, 2]));
    let found = windows.reshape([4, 4]).to_vec::<i32>().unwrap();
    assert_eq!(found, [0, 1, 4, 5, 2, 3, 6, 7, 4, 5, 8, 9, 6, 7, 10, 11]);
    let unfolded = x.unfold(1, 3, 1);
    assert_eq!(*unfolded.shape(), Shape::from([3, 2, 3]));
    assert_eq!(unfolded.to_vec::<i32>().unwrap()[..6], [0, 1, 2, 1, 2, 3]);
}

#[test]
fn errors_propagate() {
    let x = random(&[1, 3, 5, 5], 1);
    let flat = random(&[2, 3], 1).conv2d(&random(&[4, 2, 3, 3], 2), None, ConvOptions::default());
    let message = flat.check().unwrap_err().to_string();
    assert!(
        message.contains("expected the operand to have 4 axes, [examples, features"),
        "{message}"
    );
    let failed = x.conv2d(&random(&[4, 2, 3, 3], 2), None, ConvOptions::default());
    let message = failed.check().unwrap_err().to_string();
    assert!(message.contains("conv2d") && message.contains("3 input features"), "{message}");
    assert_eq!(failed.shape()[1], 4);
    assert!(x.unfold(9, 2, 1).check().is_err());
    assert!(x.unfold(2, 2, 0).check().is_err());
    assert!(x.windows([1], [1, 1]).check().is_err());
    assert!(random(&[3], 1).max_pool2d(PoolOptions::new(2)).check().is_err());
    assert!(x.max_pool2d(PoolOptions::new(0)).check().is_err());
    assert!(x.max_pool2d(PoolOptions::new(2).padding(usize::MAX)).check().is_err());
    let padded = ConvOptions::default().padding(usize::MAX);
    assert!(x.conv2d(&random(&[4, 3, 3, 3], 2), None, padded).check().is_err());
    assert!(x.conv_transpose2d(&random(&[3, 2, 3, 3], 2), None, padded).check().is_err());
    let ungrouped = ConvOptions::default().groups(0);
    assert!(x.conv2d(&random(&[4, 3, 3, 3], 2), None, ungrouped).check().is_err());
    assert!(x.conv_transpose2d(&random(&[3, 2, 3, 3], 2), None, ungrouped).check().is_err());
}
