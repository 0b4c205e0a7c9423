use inflight::{Device, DeviceOp, Tensor, api, zip};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let weights = Tensor::ones::<f32>([4], &Device::cpu());
    let op = zip!(api::ones::<f32>([4]), &weights).map(|(x, w)| x * w);
    let handle = tokio::spawn(op.into_future());
    drop(handle);
}
