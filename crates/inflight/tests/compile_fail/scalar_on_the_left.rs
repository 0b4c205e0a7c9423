//! On the left of an operator, a scalar is `f64` or `i32`, so that literals have one type. Others go to the right.

use inflight::{Device, Tensor};

fn main() {
    let gradient = Tensor::ones::<f32>([2], &Device::cpu());
    let rate: f32 = 0.1;
    let _ = &gradient * rate;
    let _ = rate * &gradient;
}
