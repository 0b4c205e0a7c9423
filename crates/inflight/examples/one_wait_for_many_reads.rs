//! A training loop that reads three tensors with one wait: `Transaction` submits and waits for all of them together (seed
//! 000). Run it with `cargo run -p inflight --example one_wait_for_many_reads`.

use inflight::{Device, Result, Rng, Tensor, Transaction, WaitReason, assert_close};

/// Trains a linear model of noiseless data by gradient descent.
fn main() -> Result<()> {
    const SAMPLES: usize = 256;
    const STEPS: usize = 60;
    let device = Device::cpu();
    let inputs = Rng::new(7).randn::<f32>((SAMPLES, 8), &device);
    let truth = Tensor::arange(1.0f32..9.0, &device).unsqueeze(1) / 4;
    let targets = inputs.matmul(&truth);
    let mut weights = truth.zeros_like();

    let before = device.stats();
    let mut losses = Vec::new();
    for step in 0..STEPS {
        let output = inputs.matmul(&weights);
        let error = &output - &targets;
        let loss = error.square().mean_all();
        weights -= inputs.transpose().matmul(&error) * 0.2 / SAMPLES;
        if step % 10 == 9 {
            // Three tensors, one wait.
            let [output, loss, targets] = Transaction::default()
                .register(&output)
                .register(&loss)
                .register(&targets)
                .execute()?
                .try_into()
                .expect("three tensors");
            let (output, targets) = (output.to_vec::<f32>()?, targets.to_vec::<f32>()?);
            let pairs = output.iter().zip(targets);
            let close = pairs.filter(|(output, target)| (**output - target).abs() < 0.1).count();
            let loss = loss.item::<f32>()?;
            println!("step {:2}: loss {loss:.6}, {close} of {SAMPLES} within 0.1", step + 1);
            losses.push(loss);
        }
    }
    let waits = device.stats().since(&before);
    println!("{} waits for {} reads", waits.waits_for(WaitReason::Read), 3 * losses.len());

    // Fewer waits than transactions if the device had finished before a transaction was executed.
    let most = losses.len() as u64;
    assert!(waits.all_waits() <= most, "one wait for each transaction, and no other: {waits:?}");
    assert!(losses.is_sorted_by(|earlier, later| earlier > later), "the loss falls: {losses:?}");
    assert!(losses[losses.len() - 1] < 1e-3, "the model is found");
    assert_close!(weights, truth, 0.0, 0.02);
    Ok(())
}
