use inflight::{Device, Tensor};

fn main() {
    let x = Tensor::ones::<f32>((2, 3), &Device::cpu());
    x.reshape(1.5);
    x.reshape((3.0, 2));
    x.expand("wide");
}
