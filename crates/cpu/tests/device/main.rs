//! The CPU device through its streams: launches, GEMM, routines, order and faults.

mod cast;
mod gemm;
mod launch;
mod routine;
mod scratch;
mod stream;
mod support;
