use inflight::{Device, DeviceOp, Tensor, api, zip};

fn main() {
    let op = {
        let weights = Tensor::ones::<f32>([4], &Device::cpu());
        zip!(api::ones::<f32>([4]), &weights).map(|(x, w)| x * w)
    };
    op.sync().unwrap();
}
