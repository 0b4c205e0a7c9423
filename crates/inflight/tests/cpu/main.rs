//! Tests on the CPU, and on devices that a test controls. `INFLIGHT_TEST_DEVICE` has no influence on them.
//!
//! They share a process: a test that observes the whole process, or needs environment variables, runs itself again
//! in a separate process (`support::process`).

#[path = "../support/mod.rs"]
mod support;

use support::cpu_device as device;

mod api {
    mod values;
}
mod counters {
    mod equivalent_forms;
    mod ops;
    mod views;
}
mod device_op {
    mod borrowing;
    mod composition;
    mod executors;
    mod futures;
    mod shared;
    mod streams;
}
mod discrete_memory;
mod explain;
mod host_memory;
mod kernel_cache;
mod profile;
mod programs {
    mod control_flow;
    mod executables;
    mod scatter;
    mod training;
}
mod resource_bounds;
mod stepping;
mod stress;
mod trace;
