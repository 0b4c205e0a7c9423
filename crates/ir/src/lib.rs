//! The plain-data half of `inflight`: what a computation *is*, apart from when and where it runs.
//!
//! The data flows one way:
//!
//! - [`graph`]: ops, their shape inference, and a [`Graph`](graph::Graph), the flat form of what a
//!   user recorded;
//! - [`compose`]: convolutions, Fourier transforms and others that are made of several ops;
//! - [`interpret`]: the reference interpreter of graphs, one node at a time, the oracle of every test;
//! - [`kernel`]: the tile IR, the narrow waist between what was recorded and every backend;
//! - [`plan`]: from a graph to kernels: fusion, memory, order.
//!
//! Nothing here starts a thread, touches a device or uses `unsafe`.
#![forbid(unsafe_code)]

pub mod compose;
pub mod dtype;
pub mod elementwise;
pub mod graph;
pub mod interpret;
pub mod kernel;
pub mod plan;
pub mod scalar;
pub mod shape;

pub use dtype::{DType, DTypeClass};
pub use elementwise::{BinaryOp, CompareOp, UnaryOp};
pub use scalar::{Element, Scalar};
pub use shape::{Axes, Shape};
