use inflight::{Device, DeviceOp, Tensor, api, zip};

fn main() {
    let weights = Tensor::ones::<f32>([4], &Device::cpu());
    let op = zip!(api::ones::<f32>([4]), &weights).map(|(x, w)| x * w);
    let promise = op.spawn();
    drop(promise);
}
