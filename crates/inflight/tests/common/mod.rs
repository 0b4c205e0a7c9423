//! What the tests share.

#![allow(dead_code, reason = "each test uses a part of this")]

use inflight::{CpuOptions, CudaOptions, Device, Element, Shape, Tensor};

/// A device of the test's own, set up by the environment: `INFLIGHT_TEST_DEVICE` names it, such as `cuda:0`, and
/// is the CPU if it is not set.
pub fn device() -> Device {
    match chosen_gpu() {
        None => Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap(),
        Some(ordinal) => Device::open_cuda(ordinal).unwrap(),
    }
}

/// The GPU that `INFLIGHT_TEST_DEVICE` names.
pub fn chosen_gpu() -> Option<usize> {
    let name = std::env::var("INFLIGHT_TEST_DEVICE").ok().filter(|name| name != "cpu")?;
    let ordinal = name.strip_prefix("cuda:").and_then(|number| number.parse().ok());
    Some(ordinal.unwrap_or_else(|| panic!("INFLIGHT_TEST_DEVICE={name} is neither cpu nor cuda:0")))
}

/// A GPU, if the tests are to run on one.
pub fn gpu() -> Option<Device> {
    gpu_with(CudaOptions::from_env().unwrap())
}

/// The same, with options.
pub fn gpu_with(options: CudaOptions) -> Option<Device> {
    let Some(ordinal) = chosen_gpu() else {
        println!("SKIPPED: INFLIGHT_TEST_DEVICE does not name a GPU");
        return None;
    };
    Some(Device::open_cuda_with(ordinal, options).unwrap())
}

/// So many of the same.
pub fn numbers_of(count: usize, step: usize) -> Vec<f32> {
    (0..count).map(|i| (i * step % 251 % 17) as f32 - 8.0).collect()
}

/// The integers from 0 on, in row-major order.
pub fn counting(shape: impl Into<Shape>, device: &Device) -> Tensor {
    let shape = shape.into();
    let elements = (0..shape.elements() as i32).collect();
    Tensor::from_vec(elements, shape, device).unwrap()
}

/// The shape and elements of a tensor.
pub fn read<T: Element>(tensor: &Tensor) -> (Vec<usize>, Vec<T>) {
    (tensor.shape().to_vec(), tensor.to_vec().unwrap())
}

/// What a failed tensor says.
#[track_caller]
pub fn message(tensor: &Tensor) -> String {
    tensor.check().expect_err("the tensor failed").to_string()
}
