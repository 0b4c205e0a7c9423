use inflight::{Device, Tensor};

fn main() {
    let x = Tensor::ones::<f32>((2, 3), &Device::cpu());
    x.flip("rows");
    x.permute(1.5);
    x.softmax("last");
    x.softmax([0, 1]);
    x.flip([0.5]);
}
