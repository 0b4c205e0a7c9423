//! Augmentation on one device, training on another: items are joined where they are made, and a batch is
//! uploaded once.
//!
//! `cargo run --release -p inflight --example two_devices`

use inflight::{CpuOptions, Device, Result, Tensor};
use std::sync::mpsc;
use std::thread;

const BATCH: usize = 8;
const BATCHES: usize = 6;

/// An image of 16 by 16 pixels with a bright row, turned and blended at random.
fn augmented(row: usize, seed: u64, device: &Device) -> Tensor {
    let rows = Tensor::iota::<f32>(0, [16, 16], device);
    let image = rows.eq(row as f32).cast(inflight::DType::F32);
    let image = if seed.is_multiple_of(2) { image.flip([1]) } else { image };
    let noise = Tensor::rand::<f32>([16, 16], seed, device) * 0.1;
    (image + noise).reshape([1, 256])
}

fn main() -> Result<()> {
    let loading = Device::open_cpu(CpuOptions { threads: Some(1), ..CpuOptions::default() })?;
    let training = Device::cpu();

    // The loader has a device of its own: augmenting does not stand in training's way.
    let (send, batches) = mpsc::sync_channel::<Result<(Tensor, Vec<i64>)>>(2);
    let loader = {
        let (loading, training) = (loading.clone(), training.clone());
        thread::spawn(move || {
            for batch in 0..BATCHES {
                let rows: Vec<usize> = (0..BATCH).map(|item| (batch * BATCH + item) % 16).collect();
                let items: Vec<Tensor> = rows
                    .iter()
                    .enumerate()
                    .map(|(item, &row)| augmented(row, (batch * BATCH + item) as u64, &loading))
                    .collect();
                let items = Tensor::cat(&items, 0);
                let read = items.to_vec::<f32>();
                let batch = read.and_then(|data| Tensor::from_vec(data, [BATCH, 256], &training));
                let labels = rows.into_iter().map(|row| row as i64).collect();
                if send.send(batch.map(|batch| (batch, labels))).is_err() {
                    return;
                }
            }
        })
    };

    // Training: which row is the brightest?
    let mut seen = 0;
    for batch in batches {
        let (images, labels) = batch?;
        assert_eq!(images.device(), &training);
        let found = images.reshape([BATCH, 16, 16]).mean([2]).argmax(1);
        assert_eq!(found.to_vec::<i64>()?, labels);
        seen += labels.len();
    }
    loader.join().expect("the loader does not panic");
    let recorded = loading.stats().recorded;
    println!("{seen} images, augmented by {recorded} ops on a device of their own");
    assert_eq!(seen, BATCH * BATCHES);

    // A value can also go from one device to the other without a look at it, and without a wait.
    let waits = loading.stats().all_waits() + training.stats().all_waits();
    let moved = augmented(3, 1, &loading).to_device(&training).sum_all();
    assert_eq!(loading.stats().all_waits() + training.stats().all_waits(), waits);
    assert!((16.0..16.0 + 25.7).contains(&moved.item::<f32>()?));
    Ok(())
}
