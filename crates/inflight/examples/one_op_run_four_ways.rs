//! SAXPY, `a · x + y`, written once and run with `await`, `sync_on`, `tokio::spawn` and `spawn` (seed 004, exercise 1).
//! Run it with `cargo run -p inflight --example one_op_run_four_ways`.

use inflight::device_op::BoxedOp;
use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, zip};

fn saxpy<'a>(
    a: f32,
    x: impl IntoDeviceOp<Output = Tensor> + 'a,
    y: impl IntoDeviceOp<Output = Tensor> + 'a,
) -> BoxedOp<'a, Tensor> {
    zip!(a, x, y).map(|(a, x, y)| x * a + y)
}

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let device = Device::cpu();
    let x: Tensor = api::arange::<f32>(1024).await?;
    let y: Tensor = api::ones::<f32>(1024).await?;
    let expected: Vec<f32> = (0..1024).map(|i| 2.0 * i as f32 + 1.0).collect();

    // Borrowed inputs must outlive the run, so the op runs in their scope.
    let awaited: Vec<f32> = saxpy(2.0, &x, &y).to_host_vec().await?;
    let synchronous: Vec<f32> = saxpy(2.0, &x, &y).to_host_vec().sync_on(&device.stream())?;
    // An op that owns its inputs can be spawned, on an executor or without one.
    let op = saxpy(2.0, x.clone(), y.clone()).to_host_vec();
    let on_tokio: Vec<f32> = tokio::spawn(op.into_future()).await.expect("the task ran")?;
    let spawned: Vec<f32> = saxpy(2.0, x, y).to_host_vec().spawn().await?;

    for result in [&awaited, &synchronous, &on_tokio, &spawned] {
        assert_eq!(*result, expected);
    }
    println!("2 · x + y = [{}, {}, {}, …], run four ways", awaited[0], awaited[1], awaited[2]);
    Ok(())
}
