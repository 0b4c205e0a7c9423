//! Every test that runs on whichever device `INFLIGHT_TEST_DEVICE` names, as one program: what `cargo xtask bundle`
//! takes to a machine with a GPU. Each is a test of its own as well, so this one is built only when it is asked for.

#![expect(clippy::duplicate_mod, reason = "each of them has what all share")]

#[path = "../accuracy.rs"]
mod accuracy;
#[path = "../api_shapes.rs"]
mod api_shapes;
#[path = "../batches.rs"]
mod batches;
#[path = "../convolutions.rs"]
mod convolutions;
#[path = "../cuda.rs"]
mod cuda;
#[path = "../cuda_convolutions.rs"]
mod cuda_convolutions;
#[path = "../differential.rs"]
mod differential;
#[path = "../errors.rs"]
mod errors;
#[path = "../io_ndarray.rs"]
mod io_ndarray;
#[path = "../io_npy.rs"]
mod io_npy;
#[path = "../io_safetensors.rs"]
mod io_safetensors;
#[path = "../pending_modes.rs"]
mod pending_modes;
#[path = "../pending_values.rs"]
mod pending_values;
#[path = "../program_ops.rs"]
mod program_ops;
#[path = "../routines.rs"]
mod routines;
#[path = "../tensor_activation.rs"]
mod tensor_activation;
#[path = "../tensor_create.rs"]
mod tensor_create;
#[path = "../tensor_display.rs"]
mod tensor_display;
#[path = "../tensor_elementwise.rs"]
mod tensor_elementwise;
#[path = "../tensor_linear.rs"]
mod tensor_linear;
#[path = "../tensor_matmul.rs"]
mod tensor_matmul;
#[path = "../tensor_random.rs"]
mod tensor_random;
#[path = "../tensor_reduce.rs"]
mod tensor_reduce;
#[path = "../tensor_windows.rs"]
mod tensor_windows;
#[path = "../threads.rs"]
mod threads;
#[path = "../view_index.rs"]
mod view_index;
#[path = "../view_parts.rs"]
mod view_parts;
#[path = "../view_shape.rs"]
mod view_shape;
