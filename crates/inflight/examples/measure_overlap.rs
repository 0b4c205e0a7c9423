//! Exercise 3: measure the difference. Each step prepares a batch on the host and multiplies it on the
//! device; waited for, the two add up, and overlapped, the larger remains.
//!
//! `cargo run --release -p inflight --example sync_against_async`

use inflight::device_op::BoxedOp;
use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, zip};
use std::hint::black_box;
use std::time::{Duration, Instant};

const STEPS: usize = 10;
const SIZE: usize = 512;

/// Some work for the host: the batch's elements, one by one.
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
    zip!(api::from_vec(batch, [SIZE, SIZE]), weights)
        .map(|(x, w)| x.matmul(&w).relu().matmul(&w).mean_all())
        .to_host_vec::<f32>()
        .map(|mean| mean[0])
}

fn waited_for(weights: &Tensor) -> inflight::Result<Vec<f32>> {
    let stream = Device::cpu().stream();
    (0..STEPS).map(|step| compute(prepare(step), weights).sync_on(&stream)).collect()
}

fn overlapped(weights: &Tensor) -> inflight::Result<Vec<f32>> {
    let mut results = Vec::new();
    let mut previous = None;
    for step in 0..STEPS {
        let batch = prepare(step); // while the device computes the step before
        let running = compute(batch, weights.clone()).spawn();
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
    let weights = api::randn::<f32>(0.0, 0.05, [SIZE, SIZE], Some(1)).sync()?;
    waited_for(&weights)?; // compiles the kernels
    let (sync, sync_time) = timed(|| waited_for(&weights));
    let (overlap, overlap_time) = timed(|| overlapped(&weights));
    assert_eq!(sync?, overlap?);
    println!("waited for: {sync_time:?}, overlapped: {overlap_time:?}, the same {STEPS} results");
    Ok(())
}
