//! Asynchrony in the types: an op of plain tensors returns tensors, and an op with one pending input returns pending
//! results (seed 003). Run it with `cargo run -p inflight --example pending_types`.

use inflight::{Device, Pending, Result, SyncGuard, Tensor, assert_close, pending};

/// Synchronous: tensors in, tensors out.
fn plain(device: &Device) -> Result<Vec<f32>> {
    let activations = Tensor::randn::<f32>(0.0, 1.0, (64, 128), 1, device);
    let weights = Tensor::randn::<f32>(0.0, 1.0, (128, 32), 2, device);
    let output: Tensor = pending::matmul(&activations, &weights);
    let slices: (Tensor, Tensor) = pending::split2(&output, 1);
    (slices.0 - slices.1).to_vec()
}

/// Asynchronous: one pending input makes every result that depends on it pending.
fn pending(device: &Device) -> Result<Vec<f32>> {
    let activations = Tensor::randn::<f32>(0.0, 1.0, (64, 128), 1, device);
    let weights = Tensor::randn::<f32>(0.0, 1.0, (128, 32), 2, device);
    let guard = SyncGuard::deny();
    let async_activations: Pending<Tensor> = activations.to_async();
    let async_output: Pending<Tensor> = pending::matmul(async_activations, &weights);
    let async_slices: Pending<(Tensor, Tensor)> = pending::split2(&async_output, 1);
    drop(guard);

    // Other work of the host would be done here.

    // Waits until the slices are recorded.
    let slices: (Tensor, Tensor) = async_slices.get()?;
    // Waits until the device has computed them.
    device.wait()?;
    (slices.0 - slices.1).to_vec()
}

/// A composite op, written once for plain tensors; `pending::call` accepts pending ones too.
fn feed_forward(x: &Tensor, up: &Tensor, down: &Tensor) -> (Tensor, Tensor) {
    let hidden = x.matmul(up).gelu();
    (hidden.matmul(down), hidden.abs().mean_all())
}

fn composite(device: &Device) -> Result<()> {
    let x = Tensor::randn::<f32>(0.0, 1.0, (16, 32), 3, device);
    let up = Tensor::randn::<f32>(0.0, 0.2, (32, 64), 4, device);
    let down = Tensor::randn::<f32>(0.0, 0.2, (64, 32), 5, device);
    let (output, magnitude): (Tensor, Tensor) = pending::call(feed_forward, (&x, &up, &down));
    let later: Pending<(Tensor, Tensor)> = pending::call(feed_forward, (&x, up.to_async(), &down));
    // `unzip` gives each result its own promise, which can be the input of the next op.
    let (async_output, async_magnitude) = later.unzip();
    let next = pending::call(feed_forward, (&async_output, &up, &down)).unzip().0;
    assert_close!(async_output.get()?, output, 0.0);
    assert_close!(async_magnitude.get()?, magnitude, 0.0);
    assert_eq!(next.get()?.shape(), x.shape());
    Ok(())
}

/// Several devices, with several results on each.
fn many_devices(devices: &[Device]) -> Result<()> {
    let shards: Vec<Pending<Vec<Tensor>>> = devices
        .iter()
        .enumerate()
        .map(|(number, device)| {
            let shard = Tensor::iota::<i32>(1, (4, 6), device) + 10 * number;
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
    assert_eq!(plain, pending, "both modes compute the same values");
    composite(&device)?;
    many_devices(&[device.clone(), Device::open_cpu(Default::default())?])?;
    println!("equal values in both modes: {:?} …", &plain[..3]);
    Ok(())
}
