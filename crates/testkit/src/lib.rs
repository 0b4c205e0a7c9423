//! Differential testing support:
//!
//! - [`random`]: random graphs and inputs from a seed;
//! - [`bound`]: running error analysis, which bounds how far a correct implementation may be from the reference
//!   interpreter, and the comparison against it;
//! - [`shrink`]: test case reduction, which finds a small case that fails the same way;
//! - [`mod@print`]: graphs as text.
//!
//! And [`harness`], which runs tests that need something of the machine, such as a GPU.
#![forbid(unsafe_code)]

pub mod bound;
pub mod harness;
pub mod print;
pub mod random;
pub mod shrink;

pub use bound::{Compared, DotRounding, Mismatch, Reference};
pub use random::{Case, Random, random_case};
