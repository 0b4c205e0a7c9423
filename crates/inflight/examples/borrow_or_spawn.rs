//! Borrowed inputs and spawn safety: what lives long enough may be spawned, and the compiler knows.
//!
//! `cargo run -p inflight --example borrowed_inputs`

use inflight::device_op::BoxedOp;
use inflight::{Device, DeviceOp, IntoDeviceOp, Tensor, api, zip};
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
    let weights: Tensor = api::full(3.0f32, [1024]).sync_on(&stream)?;
    let input = || api::ones::<f32>([1024]);

    // The borrow ends with the call.
    let first = scale(input(), &weights).sync_on(&stream)?;
    // The weights outlive the await.
    let second = scale(input(), &weights).await?;
    // tokio::spawn(scale(input(), &weights).into_future());
    //                             ^^^^^^^^ borrowed value does not live long enough

    // An `Arc`, or the tensor itself, can be spawned.
    let weights: Arc<Tensor> = weights.into();
    let task = tokio::spawn(scale(input(), weights.clone()).into_future());
    let third = task.await.expect("the task ran")?;

    for result in [first, second, third] {
        assert_eq!(result.to_vec::<f32>()?, vec![3.0; 1024]);
    }
    println!("borrowed for sync_on and await, shared for spawn: all the same");
    Ok(())
}
