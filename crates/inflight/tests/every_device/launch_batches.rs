//! Launch batches: independent launches run together.

use crate::support::device;
use inflight::{Device, Tensor, Transaction};

fn ramp(elements: usize, scale: f32, device: &Device) -> Tensor {
    let data = (0..elements).map(|i| ((i * 37) % 101) as f32 * scale).collect();
    Tensor::from_vec(data, [elements], device).unwrap()
}

/// One parameter of an optimizer.
struct Parameter {
    value: Tensor,
    gradient: Tensor,
    mean: Tensor,
    square: Tensor,
}

/// One Adam step: the new value, first and second moments.
fn adam(parameter: &Parameter) -> [Tensor; 3] {
    let mean = &parameter.mean * 0.9 + &parameter.gradient * 0.1;
    let square = &parameter.square * 0.999 + parameter.gradient.square() * 0.001;
    let step = (&mean / 0.1) / ((&square / 0.001).sqrt() + 1e-8);
    [&parameter.value - step * 1e-3, mean, square]
}

#[test]
fn an_optimizer_step_is_one_launch_for_all_parameters() {
    let device = device();
    let elements = 50_000;
    let parameters: Vec<Parameter> = (0..20)
        .map(|i| Parameter {
            value: ramp(elements, 0.01 * i as f32, &device),
            gradient: ramp(elements, 0.02 + 0.001 * i as f32, &device),
            mean: ramp(elements, 1e-3, &device),
            square: ramp(elements, 1e-4, &device),
        })
        .collect();
    let updated: Vec<[Tensor; 3]> = parameters.iter().map(adam).collect();
    let before = device.stats();
    let reads = updated.iter().flatten().fold(Transaction::default(), Transaction::register);
    let results = reads.execute().unwrap();
    let stats = device.stats().since(&before);
    // Twenty parameters: each reads four operands and writes three results, once.
    assert_eq!(stats.launches, 1, "{stats:?}");
    assert_eq!(stats.bytes_read, 20 * 4 * 4 * elements as u64);
    assert_eq!(stats.bytes_written, 20 * 3 * 4 * elements as u64);
    // The results equal those of separate launches.
    for (parameter, results) in parameters.iter().zip(results.chunks(3)) {
        let separate = inflight::no_fuse(|| adam(parameter));
        for (together, separate) in results.iter().zip(&separate) {
            let (together, separate) =
                (together.to_vec::<f32>().unwrap(), separate.to_vec::<f32>());
            for (a, b) in together.iter().zip(separate.unwrap()) {
                assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-6), "{a} {b}");
            }
        }
    }
}

#[test]
fn independent_small_launches_are_batched() {
    let device = device();
    let (x, y) = (ramp(1000, 0.01, &device), ramp(77, 0.02, &device));
    let before = device.stats();
    let results = Transaction::default()
        .register(&x.exp())
        .register(&(&y * 2.0 + 1.0))
        .register(&x.sum_all())
        .register(&y.max_all())
        .execute()
        .unwrap();
    assert_eq!(device.stats().since(&before).launches, 1);
    assert_eq!(results[0].to_vec::<f32>().unwrap(), x.exp().to_vec::<f32>().unwrap());
    assert_eq!(results[1].to_vec::<f32>().unwrap(), (&y * 2.0 + 1.0).to_vec::<f32>().unwrap());
    assert_eq!(results[2].item::<f32>().unwrap(), x.sum_all().item::<f32>().unwrap());
    assert_eq!(results[3].item::<f32>().unwrap(), y.max_all().item::<f32>().unwrap());
}

#[test]
fn dependent_launches_run_in_order() {
    let device = device();
    let x = ramp(30 * 40, 0.01, &device).reshape([30, 40]);
    // A chain of small dependent launches.
    let columns = x.sum([0]);
    let rows = (&x * &columns).sum([1]);
    let result = (&x - rows.reshape([30, 1])).sum([0]);
    let before = device.stats();
    let values = result.to_vec::<f32>().unwrap();
    assert_eq!(device.stats().since(&before).launches, 3);
    let host: Vec<f32> = x.to_vec().unwrap();
    let at = |row: usize, column: usize| host[row * 40 + column];
    let columns: Vec<f32> = (0..40).map(|c| (0..30).map(|r| at(r, c)).sum()).collect();
    let rows: Vec<f32> = (0..30).map(|r| (0..40).map(|c| at(r, c) * columns[c]).sum()).collect();
    for (column, value) in values.into_iter().enumerate() {
        let expected: f32 = (0..30).map(|row| at(row, column) - rows[row]).sum();
        assert!((value - expected).abs() <= 1e-5 * expected.abs(), "{value} {expected}");
    }
}
