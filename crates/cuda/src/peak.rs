//! Peak rates of a GPU, computed from the attributes that the driver reports, for the roofline of profiles.

use crate::driver::Context;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use inflight_backend::PeakRates;
use inflight_ir::DType;

/// The peak rates of a GPU. A rate whose attributes the driver does not report is not known.
pub fn peak_rates(context: &Context, uses_tf32: bool) -> PeakRates {
    let attribute = |attribute| {
        let value = context.attribute(attribute);
        (value > 0).then(|| f64::from(value))
    };
    let major = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    let minor = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    // Clocks are in kHz. Memory transfers data on both edges of its clock.
    let bytes_per_second = (|| {
        let clock = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)?;
        let bits = attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)?;
        Some(2.0 * 1e3 * clock * bits / 8.0)
    })();
    let cycles = (|| {
        let clock = attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
        let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        Some(1e3 * clock * processors)
    })();
    let (vector, tensor) = operations_per_cycle(major, minor);
    let rate = |operations: Option<f64>| Some(cycles? * operations?);
    let flops = rate(vector);
    let mut gemm_flops = Vec::new();
    if let Some(tensor) = rate(tensor) {
        // TF32 runs at half the rate of 16-bit floats. The bf16x3 split needs three GEMMs of bf16.
        let f32_rate = if uses_tf32 { tensor / 2.0 } else { tensor / 3.0 };
        gemm_flops.extend([(DType::F16, tensor), (DType::BF16, tensor), (DType::F32, f32_rate)]);
    }
    PeakRates { bytes_per_second, flops, gemm_flops }
}

/// Operations of an SM in a cycle, by compute capability: `f32` FMAs on the vector units, and dense GEMMs of 16-bit floats
/// on the tensor cores. An FMA is two operations.
fn operations_per_cycle(major: i32, minor: i32) -> (Option<f64>, Option<f64>) {
    match (major, minor) {
        (7, _) => (Some(128.0), Some(1024.0)),
        (8, 0) => (Some(128.0), Some(2048.0)),
        (8, _) | (12, _) => (Some(256.0), Some(1024.0)),
        (9, _) => (Some(256.0), Some(4096.0)),
        (10, _) => (Some(256.0), Some(8192.0)),
        _ => (None, None),
    }
}
