//! The process may exit while background threads compile.

use inflight_cuda::compile::Compiler;
use inflight_cuda::internals::{BackgroundTask, EnqueueError};
use inflight_testkit::tests;
use std::env;
use std::process::{Command, exit};

tests![process_can_exit_during_compilation];

/// Set in the child process that exits while it compiles.
const EXITS: &str = "INFLIGHT_TEST_ENDS";

/// In the child process, compiles kernels and exits when the first one is ready.
pub fn exit_if_child() {
    if env::var_os(EXITS).is_none() {
        return;
    }
    let line = "    x[threadIdx.x] = sinf(x[threadIdx.x]) * powf(x[threadIdx.x], 3.5f);\n";
    let compiled = (0..8).map(|index| {
        let lines = line.repeat(20 + 10 * index);
        let text = format!("extern \"C\" __global__ void f(float* x) {{\n{lines}}}");
        BackgroundTask::start(move || Compiler::new("sm_90".to_owned(), || None).compile(&text))
    });
    let compiled: Vec<_> = compiled.collect();
    if let Err(EnqueueError::NotReady(done)) = compiled[0].poll() {
        done.wait();
    }
    assert!(compiled[0].poll().is_ok());
    exit(0);
}

fn process_can_exit_during_compilation() {
    for _ in 0..3 {
        let this = env::current_exe().expect("a test runs from a file");
        let ended = Command::new(this).env(EXITS, "1").output().expect("the test runs");
        assert!(ended.status.success(), "{ended:?}");
        assert!(ended.stdout.is_empty(), "{ended:?}");
    }
}
