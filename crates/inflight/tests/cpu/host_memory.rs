//! Host memory shared between tensors and the caller.

use crate::device;
use inflight::Tensor;

#[test]
fn a_vector_is_adopted_without_a_copy() {
    let device = device();
    let x = Tensor::from_vec(vec![0f32; 1000], [1000], &device).unwrap();
    assert_eq!((device.memory().adopted, device.memory().in_use), (4000, 0));
    drop(x);
    assert_eq!(device.memory().adopted, 0);
}
