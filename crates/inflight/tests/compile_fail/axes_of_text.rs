use inflight::{Device, Tensor};

fn main() {
    let x = Tensor::ones::<f32>((2, 3), &Device::cpu());
    x.sum("rows");
    x.sum(1.5);
    x.softmax("last");
    x.softmax([0, 1]);
    x.sum([0.5]);
}
