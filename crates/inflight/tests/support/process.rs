//! Reruns a test in a separate process, for tests that set environment variables or observe the whole process.

use std::process::Command;
use std::{env, thread};

/// Set in a process that runs a single test.
const ALONE: &str = "INFLIGHT_TEST_ALONE";

/// Runs the current test in a separate process and asserts that it passes there. Returns false in that process, where
/// the caller continues with the test.
///
/// Must be called on the thread that libtest runs the test on, which is named after the test.
pub fn ran_alone() -> bool {
    if env::var_os(ALONE).is_some() {
        return false;
    }
    let output = rerun().env(ALONE, "1").output().unwrap();
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "the test was not found:\n{stdout}");
    true
}

/// A command that runs only the current test, in a separate process.
pub fn rerun() -> Command {
    let thread = thread::current();
    let test = thread.name().expect("libtest names a test's thread after it");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command
}
