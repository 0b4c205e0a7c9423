//! The next batch is prepared while the current one is computed.
//!
//! `cargo run -p inflight --example overlapping_batches`

use inflight::device_op::BoxedOp;
use inflight::{DeviceOp, Tensor, api};

/// A batch: made on the host, then uploaded.
fn prepare_batch(number: usize) -> BoxedOp<'static, Tensor> {
    let rows: Vec<f32> = (0..64 * 64).map(|i| ((i + number) % 7) as f32).collect();
    api::from_vec(rows, [64, 64])
}

fn process(batch: Tensor) -> BoxedOp<'static, f32> {
    inflight::device_op::value(batch)
        .map(|x| (x.matmul(&x.transpose()) * 0.01).softmax(1).sum_all())
        .to_host_vec::<f32>()
        .map(|sum| sum[0])
}

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let batch1_op = prepare_batch(1); // a DeviceOp
    let batch2_op = prepare_batch(2); // a DeviceOp

    let batch1 = batch1_op.await?;
    let result1 = tokio::spawn(process(batch1).into_future()); // does not block

    // Batch 2 is prepared while batch 1 is computed.
    let batch2 = batch2_op.await?;
    let result2 = process(batch2).await?;
    let result1 = result1.await.expect("the task ran")?;

    println!("batch 1: {result1}, batch 2: {result2} (64 rows that add up to 1 each)");
    assert!((result1 - 64.0).abs() < 1e-3 && (result2 - 64.0).abs() < 1e-3);
    Ok(())
}
