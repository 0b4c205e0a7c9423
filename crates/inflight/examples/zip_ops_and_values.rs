//! Vector addition with `zip!`, whose inputs are lazy device ops and plain tensors alike (seed 004, vector addition).
//! Run it with `cargo run -p inflight --example zip_ops_and_values`.

use inflight::device_op::BoxedOp;
use inflight::{DeviceOp, IntoDeviceOp, Tensor, api, zip};
use std::sync::Arc;

/// `z + x + y`, with `x` and `y` handed back, as a kernel launch hands back its arguments.
fn add<'a>(
    z: impl IntoDeviceOp<Output = Tensor> + 'a,
    x: impl IntoDeviceOp<Output = Tensor> + 'a,
    y: impl IntoDeviceOp<Output = Tensor> + 'a,
) -> BoxedOp<'a, (Tensor, Tensor, Tensor)> {
    zip!(z, x, y).map(|(z, x, y)| (z + &x + &y, x, y))
}

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let x: Arc<Tensor> = api::ones::<f32>((32, 32)).map(Into::into).await?;
    let y: Arc<Tensor> = api::ones::<f32>((32, 32)).map(Into::into).await?;
    // One op and two shared tensors.
    let z: Vec<f32> = add(api::zeros::<f32>((32, 32)), x, y).first().to_host_vec().await?;
    println!("z[0] = {} (expected 2.0)", z[0]);
    assert_eq!(z, vec![2.0; 32 * 32]);
    Ok(())
}
