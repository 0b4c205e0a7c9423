//! Borrowed inputs are accepted where the op runs in their scope; an op that is spawned must own or share its inputs, and
//! the compiler checks it (seed 004). Run it with `cargo run -p inflight --example borrow_or_spawn`.

use inflight::device_op::BoxedOp;
use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, assert_close, zip};
use std::sync::Arc;

fn scale<'a>(
    x: impl IntoDeviceOp<Output = Tensor> + 'a,
    weights: impl IntoDeviceOp<Output = Tensor> + 'a,
) -> BoxedOp<'a, Tensor> {
    zip!(x, weights).map(|(x, weights)| x * weights)
}

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let stream = Device::cpu().stream();
    let weights: Tensor = api::full(3.0f32, 1024).sync_on(&stream)?;
    let input = || api::ones::<f32>(1024);

    // The borrow ends with the call.
    let first = scale(input(), &weights).sync_on(&stream)?;
    // The weights outlive the await.
    let second = scale(input(), &weights).await?;
    // tokio::spawn(scale(input(), &weights).into_future());
    //                             ^^^^^^^^ borrowed value does not live long enough

    // A task needs an `Arc`, or the tensor itself.
    let weights: Arc<Tensor> = weights.into();
    let task = tokio::spawn(scale(input(), weights.clone()).into_future());
    let third = task.await.expect("the task ran")?;

    for result in [first, second, third] {
        assert_eq!(result.shape(), weights.shape());
        assert_close!(result, *weights, 0.0);
    }
    println!("borrowed for sync_on and await, shared for spawn: equal results");
    Ok(())
}
