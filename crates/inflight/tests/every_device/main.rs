//! Tests that pass on every device. They run on the device that `INFLIGHT_TEST_DEVICE` names, such as `cuda:0`, or on
//! the CPU if it is not set.

#[path = "../support/mod.rs"]
mod support;

mod activations;
mod arguments;
mod convolution_layouts;
mod convolutions_and_pooling;
mod creation;
mod differential;
mod display;
mod elementwise;
mod elementwise_accuracy;
mod errors;
mod io {
    mod ndarray;
    mod npy;
    mod safetensors;
}
mod launch_batches;
mod matmul;
mod missing_gpu;
mod pending {
    mod operands;
    mod promises;
}
mod random;
mod reductions;
mod routines;
mod sort_fft_triangular;
mod stablehlo_ops;
mod threads;
mod views {
    mod gather_scatter;
    mod reshaping;
    mod slicing;
}
