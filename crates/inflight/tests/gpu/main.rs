//! Tests that need a GPU: the one that `INFLIGHT_TEST_DEVICE` names, or GPU 0 if it is not set. On a machine without one
//! they are reported as ignored.

#[path = "../support/mod.rs"]
mod support;

mod convolutions;
mod launches;
mod matmul;
mod memory;

use inflight_testkit::harness;
use std::process::ExitCode;

fn main() -> ExitCode {
    let needs = support::gpu_ordinal().map(drop);
    harness::run([
        (needs.clone(), convolutions::TESTS),
        (needs.clone(), launches::TESTS),
        (needs.clone(), matmul::TESTS),
        (needs, memory::TESTS),
    ])
}
