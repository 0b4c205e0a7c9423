//! Profiles a few steps of a small network: `cargo run --release -p inflight --example profile`.

use inflight::{Device, Result, Tensor};

fn main() -> Result<()> {
    let device = Device::cpu();
    let random = |shape: [usize; 2], seed| Tensor::randn::<f32>(0.0, 0.05, shape, seed, &device);
    let x = random([2048, 512], 1);
    let (w1, w2) = (random([512, 1024], 2), random([1024, 512], 3));
    let forward = || {
        let hidden = x.layer_norm(1, None, None, 1e-5).matmul(&w1).gelu();
        let scores = hidden.matmul(&w2) + &x;
        let spread = scores.sum(0);
        (scores.softmax(1) * spread).sum_all().item::<f32>()
    };
    // The first run compiles.
    forward()?;
    let (sums, profile) =
        inflight::profile(|| (0..10).map(|_| forward()).collect::<Result<Vec<f32>>>())?;
    println!("{} sums\n{profile}", sums?.len());
    Ok(())
}
