use inflight::{Device, Tensor};

fn main() {
    let x = Tensor::ones::<f32>((2, 3), &Device::cpu());
    x.slice("a");
    x.slice((0, "a"));
    x.slice([0.5, 1.5]);
    x.get(0..2);
}
