//! Ops that borrow their inputs run within the scope of the borrow; ops that own them can be spawned.

use inflight::{Device, DeviceOp, Result, Tensor, api, zip};
use std::sync::Arc;

async fn in_scope(weights: &Tensor) -> Result<Tensor> {
    zip!(api::ones::<f32>([4]), weights).map(|(x, w)| x * w).await
}

#[test]
fn borrowed_inputs_are_used_in_scope() -> Result<()> {
    let weights = Tensor::ones::<f32>([4], &Device::cpu());
    let stream = Device::cpu().stream();
    let _: Tensor = zip!(api::ones::<f32>([4]), &weights).map(|(x, w)| x * w).sync_on(&stream)?;
    let _: Tensor = pollster::block_on(in_scope(&weights))?;
    // An op that owns its inputs can be spawned.
    let weights = Arc::new(weights);
    let scaled = zip!(api::ones::<f32>([4]), weights).map(|(x, w)| x * w).spawn().get()?;
    assert_eq!(scaled.to_vec::<f32>()?, [1.0; 4]);
    Ok(())
}
