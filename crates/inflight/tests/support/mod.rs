//! Helpers that every test binary of this crate includes.

#![allow(dead_code, reason = "each binary uses a part of this")]

pub mod folder;
pub mod process;
pub mod stepped;
pub mod watched;

use inflight::{CpuOptions, CudaOptions, Device, Element, Shape, Tensor};

/// A new device of the kind that `INFLIGHT_TEST_DEVICE` names, such as `cuda:0`; a CPU device if it is not set. Its
/// options come from the environment.
pub fn device() -> Device {
    match chosen_gpu() {
        None => cpu_device(),
        Some(ordinal) => Device::open_cuda(ordinal).unwrap(),
    }
}

/// A new CPU device with the options of the environment.
pub fn cpu_device() -> Device {
    Device::open_cpu(CpuOptions::from_env().unwrap()).unwrap()
}

/// The ordinal of the GPU that `INFLIGHT_TEST_DEVICE` names.
pub fn chosen_gpu() -> Option<usize> {
    let name = chosen_device().filter(|name| name != "cpu")?;
    let ordinal = name.strip_prefix("cuda:").and_then(|ordinal| ordinal.parse().ok());
    Some(ordinal.unwrap_or_else(|| panic!("INFLIGHT_TEST_DEVICE={name} is neither cpu nor cuda:0")))
}

fn chosen_device() -> Option<String> {
    std::env::var("INFLIGHT_TEST_DEVICE").ok()
}

/// The ordinal of the GPU for tests that need one: the GPU that `INFLIGHT_TEST_DEVICE` names, or GPU 0 if it is not
/// set. The error names the missing prerequisite.
pub fn gpu_ordinal() -> Result<usize, String> {
    if let Some(name) = chosen_device() {
        let needs = "needs a GPU: set INFLIGHT_TEST_DEVICE=cuda:0";
        return chosen_gpu().ok_or(format!("{needs}, which is now {name}"));
    }
    match Device::cuda_count() {
        Ok(1..) => Ok(0),
        Ok(0) => Err("needs a GPU: the NVIDIA driver finds none".to_owned()),
        // The error lists all paths that were searched: too long to repeat for each test.
        Err(_) => {
            Err("needs a GPU with the NVIDIA driver; `inflight devices` says what was searched"
                .to_owned())
        }
    }
}

/// A new GPU device with the options of the environment.
pub fn gpu() -> Device {
    gpu_with(CudaOptions::from_env().unwrap())
}

/// A new GPU device with these options.
pub fn gpu_with(options: CudaOptions) -> Device {
    Device::open_cuda_with(gpu_ordinal().unwrap(), options).unwrap()
}

/// Small integers in a pattern that depends on `step`. Sums of their products are exact in `f32`.
pub fn small_integers(count: usize, step: usize) -> Vec<f32> {
    (0..count).map(|i| (i * step % 251 % 17) as f32 - 8.0).collect()
}

/// The integers from 0 on, in row-major order.
pub fn counting(shape: impl Into<Shape>, device: &Device) -> Tensor {
    let shape = shape.into();
    let elements = (0..shape.element_count() as i32).collect();
    Tensor::from_vec(elements, shape, device).unwrap()
}

/// Elements in [-1, 1], in a pattern that repeats after 101.
pub fn ramp(shape: impl Into<Shape>, device: &Device) -> Tensor {
    let shape = shape.into();
    let data = (0..shape.element_count()).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
    Tensor::from_vec(data, shape, device).unwrap()
}

/// The shape and elements of a tensor.
pub fn read<T: Element>(tensor: &Tensor) -> (Vec<usize>, Vec<T>) {
    (tensor.shape().to_vec(), tensor.to_vec().unwrap())
}

/// The error message of a failed tensor.
#[track_caller]
pub fn message(tensor: &Tensor) -> String {
    tensor.check().expect_err("the tensor failed").to_string()
}

/// The size in bytes of `elements` `f32` elements.
pub const fn f32s(elements: usize) -> u64 {
    4 * elements as u64
}
