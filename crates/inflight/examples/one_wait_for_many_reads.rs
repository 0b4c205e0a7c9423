//! Asynchronous execution behind synchronous code: a training loop that reads all its metrics with one wait.
//!
//! `cargo run --release -p inflight --example transaction`

use inflight::{Device, Result, Tensor, Transaction, WaitReason};

/// A linear model of noiseless data, trained by gradient descent.
fn main() -> Result<()> {
    const SAMPLES: usize = 256;
    const STEPS: usize = 60;
    let device = Device::cpu();
    let inputs = Tensor::randn::<f32>(0.0, 1.0, [SAMPLES, 8], 7, &device);
    let truth = Tensor::from_vec((1..=8).map(|i| i as f32 / 4.0).collect(), [8, 1], &device)?;
    let targets = inputs.matmul(&truth);
    let mut weights = Tensor::zeros::<f32>([8, 1], &device);

    let before = device.stats();
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let output = inputs.matmul(&weights);
        let error = &output - &targets;
        let loss = error.square().mean_all();
        let gradient = inputs.transpose().matmul(&error) * (2.0 / SAMPLES as f32);
        weights = &weights - gradient * 0.1;
        if step % 10 == 9 {
            // Three tensors, one wait.
            let [output, loss, targets] = Transaction::default()
                .register(&output)
                .register(&loss)
                .register(&targets)
                .execute()?
                .try_into()
                .expect("three tensors");
            let close = output
                .to_vec::<f32>()?
                .iter()
                .zip(targets.to_vec::<f32>()?)
                .filter(|(output, target)| (**output - target).abs() < 0.1)
                .count();
            let loss = loss.item::<f32>()?;
            println!("step {:2}: loss {loss:.6}, {close} of {SAMPLES} within 0.1", step + 1);
            losses.push(loss);
        }
    }
    let waits = device.stats().since(&before);
    println!("{} waits for {} metrics", waits.waits_for(WaitReason::Read), 3 * losses.len());

    // None at all where the device was done by the time its values were asked for.
    let most = losses.len() as u64;
    assert!(waits.all_waits() <= most, "one wait for each transaction, and no other: {waits:?}");
    assert!(
        losses.is_sorted_by(|earlier, later| earlier > later),
        "the loss goes down: {losses:?}"
    );
    assert!(losses[losses.len() - 1] < 1e-3, "the model is found");
    let found = weights.to_vec::<f32>()?;
    for (index, weight) in found.iter().enumerate() {
        assert!((weight - (index + 1) as f32 / 4.0).abs() < 0.02, "{found:?}");
    }
    Ok(())
}
