//! Runs tests that depend on the machine, and reports those as ignored for which it lacks something: a GPU, NVRTC, a
//! browser.
//!
//! libtest decides at compile time which tests are ignored. A test binary that decides it at run time has
//! `harness = false` and a `main` that calls [`run`]. Its tests are plain functions without parameters, which
//! [`tests!`](crate::tests) lists:
//!
//! ```
//! use inflight_testkit::{harness, tests};
//!
//! tests![addition_is_exact];
//!
//! fn addition_is_exact() {
//!     assert_eq!(1 + 1, 2);
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     harness::run([(Ok(()), TESTS), (Err("needs a GPU".to_owned()), TESTS)])
//! }
//! ```
//!
//! A function that is not listed is dead code, which the compiler warns of.

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::process::ExitCode;
use std::{panic, thread};

/// A test: its path and its function.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The path of the function, which begins with the name of the crate.
    pub path: &'static str,
    /// Panics if the test fails.
    pub run: fn(),
}

/// Lists the tests of a module, as its constant `TESTS` or one of another name: `tests![HOST_TESTS: first, second]`.
#[macro_export]
macro_rules! tests {
    ($list:ident: $($test:ident),* $(,)?) => {
        /// Tests of this module.
        pub const $list: &[$crate::harness::Test] = &[$($crate::harness::Test {
            path: concat!(module_path!(), "::", stringify!($test)),
            run: $test,
        }),*];
    };
    ($($test:ident),* $(,)?) => {
        $crate::tests![TESTS: $($test),*];
    };
}

/// Runs groups of tests with the command line of libtest. Beside each group is whether the machine has what its tests
/// need; the error, which says what is missing and how to get it, is shown with each of them as the reason why it is
/// ignored.
pub fn run(groups: impl IntoIterator<Item = (Result<(), String>, &'static [Test])>) -> ExitCode {
    let trials = groups.into_iter().flat_map(|(needs, tests)| {
        tests.iter().map(move |&Test { path, run }| {
            let missing = needs.clone().err();
            let name = path.split_once("::").map_or(path, |(_, name)| name);
            Trial::ignorable_test(name, move || match missing {
                Some(missing) => Ok(Completion::ignored_with(missing)),
                None => run_on_thread(name, run),
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// Runs a test on a thread of its own, as libtest does: thread-local state of one test must not reach another.
fn run_on_thread(name: &str, run: fn()) -> Result<Completion, Failed> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run)?;
    match thread.join() {
        Ok(()) => Ok(Completion::Completed),
        Err(panic) => panic::resume_unwind(panic),
    }
}
