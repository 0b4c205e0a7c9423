//! The host prepares the next batch while a spawned task computes the current one (seed 004, overlapping computation).
//! Run it with `cargo run -p inflight --example prepare_next_batch`.

use inflight::device_op::{BoxedOp, value};
use inflight::{DeviceOp, Tensor, api};

/// A batch that is filled on the host and then uploaded.
fn prepare_batch(number: usize) -> BoxedOp<'static, Tensor> {
    let rows: Vec<f32> = (0..64 * 64).map(|i| ((i + number) % 7) as f32).collect();
    api::from_vec(rows, (64, 64))
}

fn process(batch: Tensor) -> BoxedOp<'static, f32> {
    value(batch)
        .map(|x| (x.matmul(&x.transpose()) * 0.01).softmax(1).sum_all())
        .to_host_vec::<f32>()
        .map(|sum| sum[0])
}

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let first = prepare_batch(1).await?;
    let first_result = tokio::spawn(process(first).into_future()); // does not block

    // The second batch is prepared while the first one is computed.
    let second = prepare_batch(2).await?;
    let second_result = process(second).await?;
    let first_result = first_result.await.expect("the task ran")?;

    println!("batch 1: {first_result}, batch 2: {second_result} (64 rows that add up to 1 each)");
    for result in [first_result, second_result] {
        assert!((result - 64.0).abs() < 1e-3);
    }
    Ok(())
}
