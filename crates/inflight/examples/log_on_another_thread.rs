//! A logging thread reads the metrics and waits for them, while the computing thread goes on without a wait: each thread
//! records into its own queue (seed 000). Run it with `cargo run -p inflight --example log_on_another_thread`.

use inflight::{Device, Result, SyncGuard, Tensor, WaitReason};
use std::sync::mpsc;
use std::thread;

fn main() -> Result<()> {
    const STEPS: usize = 20;
    let device = Device::cpu();
    let (metrics, received) = mpsc::channel::<(usize, Tensor)>();

    // The logging thread reads values, which waits for them.
    let logger = thread::spawn(move || -> Result<Vec<f32>> {
        let mut logged = Vec::new();
        for (step, norm) in received {
            let norm = norm.item::<f32>()?;
            println!("step {step:2}: norm {norm:.4}");
            logged.push(norm);
        }
        Ok(logged)
    });

    // The computing thread sends tensors without reading them. The guard denies every wait.
    let waits_before = device.stats().waits_for(WaitReason::Sync);
    {
        let _guard = SyncGuard::deny();
        let mixing = 0.5 * Tensor::eye::<f32>(64, &device) + 1.0 / 64.0;
        let mut state = Tensor::ones::<f32>((64, 64), &device);
        for step in 0..STEPS {
            state = state.matmul(&mixing) / 1.5;
            metrics.send((step, state.square().sum_all().sqrt())).expect("the logger listens");
            device.flush();
        }
    }
    drop(metrics);

    let logged = logger.join().expect("the logger does not panic")?;
    assert_eq!(logged.len(), STEPS);
    // Each row of the mixing matrix adds up to 1.5, so the norm of a matrix of ones stays.
    assert!(logged.iter().all(|norm| (norm - 64.0).abs() < 0.01), "{logged:?}");
    assert_eq!(device.stats().waits_for(WaitReason::Sync), waits_before);
    Ok(())
}
