//! What the differential tests are made of:
//!
//! - [`random`]: graphs and inputs from a seed;
//! - [`bound`]: how far a correct implementation may be from the reference interpreter, element by
//!   element, and the comparison by it;
//! - [`shrink`]: from a case that fails to a small one that fails the same way;
//! - [`mod@print`]: graphs as text.
#![forbid(unsafe_code)]

pub mod bound;
pub mod print;
pub mod random;
pub mod shrink;

pub use bound::{Compared, Mismatch, Products, Reference};
pub use random::{Case, Random, random_case};
