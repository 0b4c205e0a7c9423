//! Exercise 2: four tensors at once, with `zip!`. On a pool of streams its members run in parallel.
//!
//! `cargo run -p inflight --example parallel_creation`

use inflight::{Device, DeviceOp, Policy, Tensor, api, zip};
use std::sync::Arc;

#[tokio::main]
async fn main() -> inflight::Result<()> {
    let device = Device::cpu();
    let pool = Policy::round_robin((0..4).map(|_| device.stream()));
    let (a, b, c, d): (Arc<Tensor>, Arc<Tensor>, Arc<Tensor>, Arc<Tensor>) = zip!(
        api::ones::<f32>([100, 100]).map(Into::into),
        api::zeros::<f32>([100, 100]).map(Into::into),
        api::randn::<f32>(0.0, 1.0, [100, 100], None).map(Into::into),
        api::arange::<f32>(10_000).map(Into::into),
    )
    .schedule(&pool)
    .await?;
    for tensor in [&a, &b, &c, &d] {
        println!("{tensor:?}");
        assert!(tensor.is_ready() && tensor.elements() == 10_000);
    }
    assert_eq!(a.sum_all().item::<f32>()?, 10_000.0);
    assert_eq!(b.sum_all().item::<f32>()?, 0.0);
    assert!(c.mean_all().item::<f32>()?.abs() < 0.1);
    assert_eq!(d.max_all().item::<f32>()?, 9_999.0);
    Ok(())
}
