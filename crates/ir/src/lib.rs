//! The device-independent part of `inflight`: graphs, their reference interpreter, the tile IR, and the planner.
//!
//! Data flows one way:
//!
//! - [`graph`]: ops, shape inference, and the [`Graph`](graph::Graph), the flat form of what a user recorded;
//! - [`compose`]: convolutions, FFTs and other functions that are built from several ops;
//! - [`interpret`]: the reference interpreter of graphs, one node at a time, which is the oracle of every test;
//! - [`kernel`]: the tile IR, the narrow waist between graphs and every backend;
//! - [`plan`]: the compiler from graphs to kernels: rewrites, fusion, buffer assignment, layout, launch batching.
//!
//! Everything here is plain data and functions: no threads, no devices, no `unsafe`.
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
pub use scalar::{Element, Item, Scalar};
pub use shape::{Axes, Shape};
