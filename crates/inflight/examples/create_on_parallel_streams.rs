//! Four tensors created at once: `zip!` joins the ops, and a round-robin pool runs each on its own stream (seed 004,
//! exercise 2). Run it with `cargo run -p inflight --example create_on_parallel_streams`.

use inflight::{Device, DeviceOp, Policy, Tensor, api, assert_close, zip};
use std::sync::Arc;

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let device = Device::cpu();
    let pool = Policy::round_robin((0..4).map(|_| device.stream()));
    let (a, b, c, d): (Arc<Tensor>, Arc<Tensor>, Arc<Tensor>, Arc<Tensor>) = zip!(
        api::ones::<f32>((100, 100)).map(Into::into),
        api::zeros::<f32>((100, 100)).map(Into::into),
        api::randn::<f32>(0.0, 1.0, (100, 100), None).map(Into::into),
        api::arange::<f32>(10_000).map(Into::into),
    )
    .schedule(&pool)
    .await?;
    for tensor in [&a, &b, &c, &d] {
        println!("{tensor:?}");
        assert!(tensor.is_ready() && tensor.element_count() == 10_000);
    }
    assert_close!(a.sum_all(), 10_000.0);
    assert_close!(b.sum_all(), 0.0);
    assert_close!(c.mean_all(), 0.0, 0.0, 0.1);
    assert_close!(d.max_all(), 9_999.0);
    Ok(())
}
