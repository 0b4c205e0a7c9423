//! The CPU device through its streams: launches, GEMM, routines, order and faults.

mod gemm;
mod launch;
mod routine;
mod stream;
mod support;
