//! Async in the types: the same ops with plain tensors and with pending ones.
//!
//! `cargo run --release -p inflight --example async_types`

use inflight::{Device, Pending, Result, SyncGuard, Tensor, pending};

/// Not async.
fn plain(device: &Device) -> Result<Vec<f32>> {
    let activations = Tensor::randn::<f32>(0.0, 1.0, [64, 128], 1, device);
    let weights = Tensor::randn::<f32>(0.0, 1.0, [128, 32], 2, device);
    let output: Tensor = pending::matmul(&activations, &weights);
    let slices: (Tensor, Tensor) = pending::split2(&output, 1);
    (slices.0 - slices.1).to_vec()
}

/// Async: one pending input makes everything that comes from it pending.
fn pending(device: &Device) -> Result<Vec<f32>> {
    let activations = Tensor::randn::<f32>(0.0, 1.0, [64, 128], 1, device);
    let weights = Tensor::randn::<f32>(0.0, 1.0, [128, 32], 2, device);
    let guard = SyncGuard::deny();
    let async_activations: Pending<Tensor> = activations.to_async();
    let async_output: Pending<Tensor> = pending::matmul(async_activations, &weights);
    let async_slices: Pending<(Tensor, Tensor)> = pending::split2(&async_output, 1);
    drop(guard);

    // … something else …

    // Waits until the slices are created,
    let slices: (Tensor, Tensor) = async_slices.get()?;
    // and this until the device is done.
    device.wait()?;
    (slices.0 - slices.1).to_vec()
}

/// A composite op, written once, without a word about async.
fn feed_forward(x: &Tensor, up: &Tensor, down: &Tensor) -> (Tensor, Tensor) {
    let hidden = x.matmul(up).gelu();
    (hidden.matmul(down), hidden.abs().mean_all())
}

fn composite(device: &Device) -> Result<()> {
    let x = Tensor::randn::<f32>(0.0, 1.0, [16, 32], 3, device);
    let up = Tensor::randn::<f32>(0.0, 0.2, [32, 64], 4, device);
    let down = Tensor::randn::<f32>(0.0, 0.2, [64, 32], 5, device);
    let (output, magnitude): (Tensor, Tensor) = pending::call(feed_forward, (&x, &up, &down));
    let later: Pending<(Tensor, Tensor)> = pending::call(feed_forward, (&x, up.to_async(), &down));
    // Each result is a promise of its own, and feeds what comes next.
    let (async_output, async_magnitude) = later.unzip();
    let next = pending::call(feed_forward, (&async_output, &up, &down)).unzip().0;
    assert_eq!(async_output.get()?.to_vec::<f32>()?, output.to_vec::<f32>()?);
    assert_eq!(async_magnitude.get()?.item::<f32>()?, magnitude.item::<f32>()?);
    assert_eq!(next.get()?.shape(), x.shape());
    Ok(())
}

/// Several devices, several results on each.
fn many_devices(devices: &[Device]) -> Result<()> {
    let shards: Vec<Pending<Vec<Tensor>>> = devices
        .iter()
        .enumerate()
        .map(|(number, device)| {
            let shard = Tensor::iota::<i32>(1, [4, 6], device) + 10 * number as i32;
            pending::chunk(shard.to_async(), 1, 3)
        })
        .collect();
    for (number, shards) in Pending::join(shards).get()?.into_iter().enumerate() {
        for (part, shard) in shards.into_iter().enumerate() {
            assert_eq!(shard.device(), &devices[number]);
            let first = 10 * number as i32 + 2 * part as i32;
            assert_eq!(shard.to_vec::<i32>()?, [first, first + 1].repeat(4));
        }
    }
    Ok(())
}

fn main() -> Result<()> {
    let device = Device::cpu();
    let (plain, pending) = (plain(&device)?, pending(&device)?);
    assert_eq!(plain, pending, "the same ops, the same values");
    composite(&device)?;
    many_devices(&[device.clone(), Device::open_cpu(Default::default())?])?;
    println!("the same values in both modes: {:?} …", &plain[..3]);
    Ok(())
}
