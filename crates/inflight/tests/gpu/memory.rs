//! Device memory: uploads, copies between devices, reuse in stream order, in-place reuse, and running out of it.

use crate::support;
use crate::support::{gpu, gpu_with};
use inflight::{CudaOptions, Device, Tensor, Transaction};
use inflight_testkit::tests;

tests![
    large_uploads_are_complete_and_ordered,
    values_are_copied_between_devices,
    a_transaction_reads_many_tensors_with_one_wait,
    memory_is_reused_in_stream_order,
    streams_of_several_threads_wait_for_each_other,
    out_of_memory_is_an_error_of_the_value,
    elementwise_results_reuse_the_memory_of_dead_operands,
    fused_epilogues_reuse_the_memory_of_dead_operands,
];

fn large_uploads_are_complete_and_ordered() {
    let device = gpu();
    let elements = 5 << 20;
    let data: Vec<u32> = (0..elements).map(|i: u32| i.wrapping_mul(2654435761)).collect();
    let tensors: Vec<Tensor> =
        (0..3).map(|_| Tensor::from_vec(data.clone(), [data.len()], &device).unwrap()).collect();
    let sum = &tensors[0] + &tensors[1] + &tensors[2];
    let found = sum.to_vec::<u32>().unwrap();
    assert!(found.iter().zip(&data).all(|(found, x)| *found == x.wrapping_mul(3)));
}

fn values_are_copied_between_devices() {
    let device = gpu();
    let cpu = Device::cpu();
    let x = support::counting([300, 70], &cpu);
    let on_gpu = (&x * 2).to_device(&device) + 1;
    let on_cpu = on_gpu.to_device(&cpu) - 1;
    let expected: Vec<i32> = (0..300 * 70).map(|i| 2 * i).collect();
    assert_eq!(on_cpu.to_vec::<i32>().unwrap(), expected);
    // An error is copied, too.
    let failed = support::counting([2], &cpu).reshape([7]).to_device(&device) + 1;
    assert!(failed.to_vec::<i32>().is_err());
}

fn a_transaction_reads_many_tensors_with_one_wait() {
    let device = gpu();
    let x = support::counting([1000], &device);
    let waits = |device: &Device| device.stats().waits.iter().sum::<u64>();
    let before = waits(&device);
    let read = Transaction::default().register(&(&x + 1)).register(&x.sum_all()).execute().unwrap();
    assert_eq!(waits(&device) - before, 1);
    assert_eq!(read[0].to_vec::<i32>().unwrap(), (1..1001).collect::<Vec<i32>>());
    assert_eq!(read[1].item::<i32>().unwrap(), 499_500);
    let later = Transaction::default().register(&(&x * 3)).execute_async().get().unwrap();
    assert_eq!(later[0].to_vec::<i32>().unwrap()[999], 2997);
}

fn memory_is_reused_in_stream_order() {
    let device = gpu();
    let x = Tensor::ones::<f32>([1 << 20], &device);
    let mut y = &x + 0.0;
    for step in 0..200 {
        // Each value is stored, read by the next, and dropped while the device still computes it.
        y = y.cumsum(0) * 0.0 + (step as f32);
        assert!(y.check().is_ok());
        y.is_ready();
    }
    assert_eq!(y.to_vec::<f32>().unwrap(), vec![199.0; 1 << 20]);
    let memory = device.memory();
    assert!(memory.peak < 64 << 20, "{memory:?}");
}

fn streams_of_several_threads_wait_for_each_other() {
    let device = gpu();
    let x = Tensor::ones::<f32>([1 << 18], &device);
    let mut values = vec![&x + 0.0];
    for round in 0..20 {
        let previous = values.last().unwrap().clone();
        let next = std::thread::scope(|scope| {
            let work = scope.spawn(|| {
                let next = &previous + 1.0;
                next.is_ready();
                next
            });
            work.join().unwrap()
        });
        values.push(next);
        if round % 3 == 0 {
            drop(values.remove(0));
        }
    }
    assert_eq!(values.last().unwrap().to_vec::<f32>().unwrap(), vec![21.0; 1 << 18]);
}

fn out_of_memory_is_an_error_of_the_value() {
    let device = gpu();
    device.set_memory_limit(Some(64 << 20));
    let large = Tensor::ones::<f32>([32 << 20], &device).cumsum(0);
    let error = large.to_vec::<f32>().expect_err("the value exceeds the memory limit").to_string();
    assert!(error.contains("out of memory"), "{error}");
    let small = Tensor::ones::<f32>([10], &device).cumsum(0);
    assert_eq!(small.to_vec::<f32>().unwrap()[9], 10.0);
}

fn elementwise_results_reuse_the_memory_of_dead_operands() {
    let device = gpu();
    let elements = 4 << 20;
    let mut x = Tensor::ones::<f32>([elements], &device).cumsum(0);
    let other = Tensor::ones::<f32>([elements], &device).cumsum(0);
    x.wait().unwrap();
    other.wait().unwrap();
    device.wait().unwrap();
    let before = device.memory();
    for _ in 0..5 {
        x = &x * 2.0 - &other;
        x.wait().unwrap();
    }
    let after = device.memory();
    assert_eq!(after.allocations, before.allocations, "{after:?}");
    // A value with another handle keeps its memory.
    let retained = x.clone();
    let changed = &x + 1.0;
    drop(x);
    assert_eq!(changed.to_vec::<f32>().unwrap()[6], 8.0);
    assert_eq!(retained.to_vec::<f32>().unwrap()[6], 7.0);
}

fn fused_epilogues_reuse_the_memory_of_dead_operands() {
    let device = gpu_with(CudaOptions { tf32: true, ..CudaOptions::default() });
    let side = 2048;
    let [a, b] = [1.0f32, 2.0].map(|x| Tensor::full(x, [side, 256], &device).cumsum(1) * 0.125);
    let [mut weights, mut moments] = [1.0f32, 3.0].map(|x| Tensor::full(x, [side, side], &device));
    let mut expected = [1.0f32, 3.0];
    // The sum of i · 2i / 64, for i from 1 to 256.
    let gemm = (256 * 257 * 513 / 6 / 32) as f32;
    let mut allocations = Vec::new();
    for _ in 0..5 {
        let next = (&moments * 0.5 + a.matmul(&b.transpose())).maximum(1.0);
        weights = &weights - &next * 0.25;
        moments = next;
        weights.wait().unwrap();
        moments.wait().unwrap();
        allocations.push(device.memory().allocations);
        let next = (expected[1] * 0.5 + gemm).max(1.0);
        expected = [expected[0] - next * 0.25, next];
    }
    // Only Hopper's fused epilogue does not store the GEMM result.
    if device.info().target.starts_with("sm_90a") {
        assert_eq!(allocations[1], allocations[4], "{allocations:?}");
    }
    for (tensor, expected) in [weights, moments].iter().zip(expected) {
        let found = tensor.to_vec::<f32>().unwrap();
        assert!(found.iter().all(|x| *x == expected), "{} is not {expected}", found[0]);
    }
}
