//! Kernel sources as their compilers see them: NVRTC, which needs no GPU, and the C++ compiler of the host. On a machine
//! without the compiler, a test that needs it is reported as ignored.

mod complex;
mod exit;
mod gemm;
mod random_graphs;

use inflight_cuda::compile::Compiler;
use inflight_testkit::harness;
use std::process::ExitCode;

fn main() -> ExitCode {
    exit::exit_if_child();
    let nvrtc = nvrtc();
    harness::run([
        (Ok(()), gemm::CONFIG_TESTS),
        (Ok(()), random_graphs::TEXT_TESTS),
        (complex::cpp(), complex::HOST_TESTS),
        (nvrtc.clone(), complex::TESTS),
        (nvrtc.clone(), exit::TESTS),
        (nvrtc.clone(), gemm::TESTS),
        (nvrtc, random_graphs::TESTS),
    ])
}

/// Whether there is NVRTC. The error says what is missing.
fn nvrtc() -> Result<(), String> {
    let version = Compiler::new("sm_90".to_owned(), || None).version();
    version
        .map(drop)
        .map_err(|_| "needs NVRTC: install the CUDA toolkit, or its NVRTC alone".to_owned())
}
