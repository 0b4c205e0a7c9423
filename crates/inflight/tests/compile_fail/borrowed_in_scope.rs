use inflight::{Device, DeviceOp, Tensor, api, zip};
use std::sync::Arc;

async fn in_scope(weights: &Tensor) -> inflight::Result<Tensor> {
    zip!(api::ones::<f32>([4]), weights).map(|(x, w)| x * w).await
}

fn main() -> inflight::Result<()> {
    let weights = Tensor::ones::<f32>([4], &Device::cpu());
    let stream = Device::cpu().stream();
    zip!(api::ones::<f32>([4]), &weights).map(|(x, w)| x * w).sync_on(&stream)?;
    pollster::block_on(in_scope(&weights))?;
    // Owned, it can be spawned.
    let weights = Arc::new(weights);
    zip!(api::ones::<f32>([4]), weights).map(|(x, w)| x * w).spawn().get()?;
    Ok(())
}
