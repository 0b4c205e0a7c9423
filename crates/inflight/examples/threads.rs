//! Several threads record and read at once: tensors can be sent and shared, and each thread waits for its own values
//! only. Run it with `cargo run -p inflight --example threads`.

use inflight::{Device, Result, Rng, Tensor, assert_close};
use std::thread;

const WORKERS: usize = 4;
const ROWS: usize = 64;
const COLUMNS: usize = 32;

fn main() -> Result<()> {
    let device = Device::cpu();
    let rng = Rng::new(13);
    let x = rng.split("x").randn::<f32>((ROWS, COLUMNS), &device);
    let w = rng.split("w").normal::<f32>(0.0, 0.2, (COLUMNS, COLUMNS), &device);

    // Scoped threads borrow the tensors. Each computes its own rows, and reads one value of its own.
    let parts = x.chunk(0, WORKERS);
    let results: Vec<(Tensor, f32)> = thread::scope(|scope| {
        let workers: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(i, part)| {
                let w = &w;
                scope.spawn(move || {
                    let y = part.matmul(w).tanh();
                    let largest = y.abs().max_all().item::<f32>()?;
                    println!("worker {i}: {:?}, at most {largest:.3}", y.shape());
                    Ok((y, largest))
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect::<Result<_>>()
    })?;

    let (parts, largest): (Vec<Tensor>, Vec<f32>) = results.into_iter().unzip();
    let together = Tensor::cat(&parts, 0);
    let expected = x.matmul(&w).tanh();
    assert_close!(together, expected, 1e-5, 1e-6);
    assert_close!(Tensor::from(largest).max_all(), expected.abs().max_all(), 1e-5);

    // A generator split by name gives each thread its own numbers, whatever the order they run in.
    let draw = |worker: usize| {
        let (mut rng, device) = (rng.split(&format!("worker {worker}")), device.clone());
        thread::spawn(move || rng.rand::<f32>(1000, &device).mean_all())
    };
    let first: Vec<_> = (0..WORKERS).map(draw).collect();
    let second: Vec<_> = (0..WORKERS).rev().map(draw).collect();
    let means = |threads: Vec<thread::JoinHandle<Tensor>>| {
        Tensor::stack(threads.into_iter().map(|thread| thread.join().unwrap()), 0)
    };
    let (first, second) = (means(first), means(second));
    println!("means of the workers' numbers: {first}");
    assert_close!(first, second.flip(0), 0.0);
    assert_close!(first, [0.5; WORKERS], 0.0, 0.05);
    Ok(())
}
