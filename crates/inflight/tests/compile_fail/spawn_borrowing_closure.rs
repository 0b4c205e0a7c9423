use inflight::{DeviceOp, api};

fn main() {
    let factor = 2.0f32;
    let promise = api::ones::<f32>([4]).map(|x| x * &factor).spawn();
    drop(promise);
}
