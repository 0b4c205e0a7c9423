//! Launches of compiled kernels: new sizes, repeated segments, repeated launches.

use crate::support::gpu;
use inflight::{Device, Tensor};
use inflight_testkit::tests;

tests![
    new_sizes_compile_nothing,
    a_repeated_segment_uses_new_arguments,
    a_repeated_launch_uses_new_scalars_and_operands,
];

fn new_sizes_compile_nothing() {
    let device = gpu();
    let run = |rows: usize| {
        let x = Tensor::ones::<f32>([rows, 64], &device);
        (x.softmax(1) * 2.0).sum_all().item::<f32>().unwrap()
    };
    run(64);
    let before = device.stats().compiles;
    assert!((run(96) - 192.0).abs() < 1e-3);
    assert_eq!(device.stats().compiles, before);
}

fn a_repeated_segment_uses_new_arguments() {
    let device = gpu();
    let cpu = Device::cpu();
    // Sums along alternating axes: one kernel per iteration.
    let compute = |x: &Tensor, scale: f32| {
        let mut x = x.clone();
        for iteration in 0..40 {
            x = &x - x.sum_keepdim([iteration % 2]) * scale;
        }
        x
    };
    let mut retained = Vec::new();
    for round in 0..12 {
        let data: Vec<f32> = (0..24 * 40).map(|i| ((i * (round + 3)) % 17) as f32).collect();
        let scale = 0.01 + round as f32 * 0.001;
        let expected = compute(&Tensor::from_vec(data.clone(), [24, 40], &cpu).unwrap(), scale);
        let found = compute(&Tensor::from_vec(data, [24, 40], &device).unwrap(), scale);
        let found = if round % 3 == 0 { &found * 1.0 } else { found };
        found.is_ready();
        // Results that are retained occupy the memory that the next round would use.
        retained.push((found, expected));
        if round % 4 == 3 {
            drop(retained.remove(0));
        }
    }
    for (found, expected) in retained {
        let expected = expected.to_vec::<f32>().unwrap();
        for (found, expected) in found.to_vec::<f32>().unwrap().iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-3 * expected.abs().max(1.0));
        }
    }
}

/// The launches use the same memory, from several threads with a stream each.
fn a_repeated_launch_uses_new_scalars_and_operands() {
    let device = gpu();
    let scalars = [2.0, 2.0, 0.0, -0.0, 0.0, f32::NAN, f32::INFINITY, 2.0, -1.5];
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let operands = [1.0, 3.0].map(|first| {
                    let values: Vec<f32> = (0..70).map(|i| i as f32 - 30.0 + first).collect();
                    (Tensor::from_vec(values.clone(), [70], &device).unwrap(), values)
                });
                for round in 0..60 {
                    let (scalar, (x, values)) = (scalars[round % 9], &operands[round / 2 % 2]);
                    let found = (x * scalar).to_vec::<f32>().unwrap();
                    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
                    let found: Vec<u32> = found.into_iter().map(bits).collect();
                    let expected: Vec<u32> = values.iter().map(|x| bits(x * scalar)).collect();
                    assert_eq!(found, expected, "times {scalar}");
                }
            });
        }
    });
}
