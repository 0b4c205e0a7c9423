//! Measures synchronous against overlapped steps: a step prepares a batch on the host and multiplies it on the device, and
//! overlap hides the shorter of the two times (seed 004, exercise 3). Run it with
//! `cargo run --release -p inflight --example measure_overlap`.

use inflight::device_op::BoxedOp;
use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, zip};
use std::hint::black_box;
use std::time::{Duration, Instant};

const STEPS: usize = 6;
const SIZE: usize = 256;

/// Fills a batch on the host, one element at a time.
fn prepare(step: usize) -> Vec<f32> {
    let mut state = step as u32 + 1;
    let mut next = || {
        for _ in 0..16 {
            state = black_box(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        }
        (state >> 8) as f32 / (1u32 << 24) as f32 - 0.5
    };
    (0..SIZE * SIZE).map(|_| next()).collect()
}

fn compute<'a>(
    batch: Vec<f32>,
    weights: impl IntoDeviceOp<Output = Tensor> + 'a,
) -> BoxedOp<'a, f32> {
    zip!(api::from_vec(batch, (SIZE, SIZE)), weights)
        .map(|(x, w)| x.matmul(&w).relu().matmul(&w).mean_all())
        .to_host_vec::<f32>()
        .map(|mean| mean[0])
}

/// Waits for each step before it prepares the next batch.
fn synchronous(weights: &Tensor) -> inflight::Result<Vec<f32>> {
    let stream = Device::cpu().stream();
    (0..STEPS).map(|step| compute(prepare(step), weights).sync_on(&stream)).collect()
}

/// Prepares the next batch while the device computes, and reads the result of the step before.
fn overlapped(weights: &Tensor) -> inflight::Result<Vec<f32>> {
    let mut results = Vec::new();
    let mut previous = None;
    for step in 0..STEPS {
        let running = compute(prepare(step), weights.clone()).spawn();
        if let Some(previous) = previous.replace(running) {
            results.push(previous.get()?);
        }
    }
    results.extend(previous.map(|last| last.get()).transpose()?);
    Ok(results)
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn main() -> inflight::Result<()> {
    let weights = api::randn::<f32>(0.0, 0.05, (SIZE, SIZE), Some(1)).sync()?;
    synchronous(&weights)?; // compiles the kernels
    let (expected, synchronous_time) = timed(|| synchronous(&weights));
    let (found, overlapped_time) = timed(|| overlapped(&weights));
    assert_eq!(found?, expected?);
    println!("synchronous {synchronous_time:?}, overlapped {overlapped_time:?}, equal results");
    Ok(())
}
