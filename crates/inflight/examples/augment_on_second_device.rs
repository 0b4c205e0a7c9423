//! Augmentation on one device and training on another: images are joined into a batch on the device that makes them, and
//! each batch is uploaded once (seed 000). Run it with `cargo run -p inflight --example augment_on_second_device`.

use inflight::{CpuOptions, Device, Result, Tensor};
use std::sync::mpsc;
use std::thread;

const SIZE: usize = 16;
const BATCH: usize = 8;
const BATCHES: usize = 6;

/// An image of `SIZE` by `SIZE` pixels with one bright row, mirrored for even seeds and blended with noise.
fn augmented(row: usize, seed: u64, device: &Device) -> Tensor {
    let rows = Tensor::iota::<f32>(0, (SIZE, SIZE), device);
    let image = rows.eq(row).to::<f32>();
    let image = if seed.is_multiple_of(2) { image.flip(1) } else { image };
    image + 0.1 * Tensor::rand::<f32>((SIZE, SIZE), seed, device)
}

/// Sends batches of images, `[BATCH, SIZE, SIZE]`, each with the index of its bright row.
fn load(
    loading: &Device,
    training: &Device,
    batches: mpsc::SyncSender<Result<(Tensor, Vec<i64>)>>,
) {
    for batch in 0..BATCHES {
        let items = batch * BATCH..(batch + 1) * BATCH;
        let rows: Vec<usize> = items.clone().map(|item| item % SIZE).collect();
        let images = items.zip(&rows).map(|(item, &row)| augmented(row, item as u64, loading));
        let images = Tensor::stack(images, 0);
        let batch = images
            .to_vec::<f32>()
            .and_then(|data| Tensor::from_vec(data, images.shape(), training))
            .map(|batch| (batch, rows.into_iter().map(|row| row as i64).collect()));
        if batches.send(batch).is_err() {
            return;
        }
    }
}

fn main() -> Result<()> {
    // Augmentation has its own device, and so its own worker thread.
    let loading = Device::open_cpu(CpuOptions { threads: Some(1), ..CpuOptions::default() })?;
    let training = Device::cpu();
    let (sender, batches) = mpsc::sync_channel(2);
    let loader = {
        let (loading, training) = (loading.clone(), training.clone());
        thread::spawn(move || load(&loading, &training, sender))
    };

    // The training thread finds the brightest row.
    let mut seen = 0;
    for batch in batches {
        let (images, labels) = batch?;
        assert_eq!(images.device(), &training);
        let found = images.mean(-1).argmax(1);
        assert_eq!(found.to_vec::<i64>()?, labels);
        seen += labels.len();
    }
    loader.join().expect("the loader does not panic");
    let recorded = loading.stats().recorded;
    println!("{seen} images, augmented by {recorded} ops on their own device");
    assert_eq!(seen, BATCH * BATCHES);

    // `to_device` moves a value without reading it on the host, and without a wait.
    let waits = || loading.stats().all_waits() + training.stats().all_waits();
    let before = waits();
    let moved = augmented(3, 1, &loading).to_device(&training).sum_all();
    assert_eq!(waits(), before);
    assert!((16.0..16.0 + 25.7).contains(&moved.item::<f32>()?));
    Ok(())
}
