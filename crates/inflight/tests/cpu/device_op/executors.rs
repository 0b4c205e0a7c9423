//! The same ops on tokio (one thread and many), smol, pollster, and on no executor at all.

use inflight::device_op::{BoxedOp, join_all};
use inflight::{Device, DeviceOp, Policy, Result, Tensor, api, zip};
use std::sync::Arc;

fn batch(index: usize) -> BoxedOp<'static, Tensor> {
    api::full(index as f32, [64, 64])
}

fn process(input: Tensor, weights: Arc<Tensor>) -> BoxedOp<'static, f32> {
    zip!(input, weights)
        .map(|(x, w)| x.matmul(&w).sum_all())
        .to_host_vec::<f32>()
        .map(|values| values[0])
}

/// Behaviour that is the same on every executor.
async fn suite() -> Result<()> {
    let weights: Arc<Tensor> = api::eye::<f32>(64).map(Into::into).await?;
    let first = batch(1).await?;
    let result = process(first, weights.clone()).await?;
    assert_eq!(result, 4096.0);
    let (a, b, c) = zip!(batch(1), batch(2), 3.0f32).await?;
    assert_eq!((a + b * c).sum_all().item_async::<f32>().await?, 4096.0 * 7.0);
    let pool = Policy::least_loaded((0..3).map(|_| Device::cpu().stream()));
    let parts = join_all((0..8).map(batch)).schedule(&pool).await?;
    let sums = join_all(parts.into_iter().map(|part| process(part, weights.clone())));
    let sums = sums.schedule(&pool).await?;
    assert_eq!(sums, (0..8).map(|index| 4096.0 * index as f32).collect::<Vec<_>>());
    let error = batch(1).reshape([3, 3]).await.unwrap_err();
    assert_eq!(error.op(), Some("reshape"));
    let borrowed = batch(2).await?;
    assert_eq!(zip!(&borrowed, &*weights).map(|(x, w)| x - w).await?.shape().extents(), [64, 64]);
    Ok(())
}

async fn tokio_suite() {
    suite().await.unwrap();
    let tasks: Vec<_> = (0..50)
        .map(|index| {
            let weights = Arc::new(Tensor::eye::<f32>(64, &Device::cpu()));
            let op = batch(index).then(move |x| process(x, weights));
            let task = tokio::spawn(op.into_future());
            // Abort every fifth task at an arbitrary point.
            if index % 5 == 0 {
                task.abort();
            }
            task
        })
        .collect();
    for (index, task) in tasks.into_iter().enumerate() {
        match task.await {
            Ok(sum) => assert_eq!(sum.unwrap(), 4096.0 * index as f32),
            Err(error) => assert!(error.is_cancelled() && index % 5 == 0),
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn tokio_on_one_thread() {
    tokio_suite().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tokio_on_many_threads() {
    tokio_suite().await;
}

#[test]
fn smol_runs_ops() {
    smol::block_on(async {
        suite().await.unwrap();
        let tasks: Vec<_> = (0..20)
            .map(|index| smol::spawn(batch(index).map(|x| x.sum_all()).into_future()))
            .collect();
        for (index, task) in tasks.into_iter().enumerate() {
            let sum = task.await.unwrap().item_async::<f32>().await.unwrap();
            assert_eq!(sum, 4096.0 * index as f32);
        }
    });
}

#[test]
fn pollster_runs_ops() {
    pollster::block_on(suite()).unwrap();
}

#[test]
fn promises_of_spawned_ops_are_awaited_anywhere() {
    let promise = batch(3).map(|x| x.sum_all()).to_host_vec::<f32>().spawn();
    let clone = promise.clone();
    assert_eq!(pollster::block_on(promise).unwrap(), [4096.0 * 3.0]);
    assert_eq!(smol::block_on(clone).unwrap(), [4096.0 * 3.0]);
}
