//! StableHLO programs.
//!
//! ```text
//! text     ─ parse  ─┐
//!                    ├─► Module ─ lower(argument shapes) ─► Program
//! bytecode ─ decode ─┘     └─ print ─► canonical text
//! ```
//!
//! A [`Module`](module::Module) is the program as it was written. A [`Program`](program::Program) is
//! straight-line [`Graph`](inflight_ir::graph::Graph)s with control flow between them, for one set of
//! argument shapes: what a runtime executes. No threads, no device.
#![forbid(unsafe_code)]

mod bounds;
mod bytecode;
mod canonical;
pub mod check;
mod elements;
pub mod interpret;
pub mod lower;
pub mod module;
mod print;
pub mod program;
mod read;
mod small_floats;
mod syntax;

pub use bytecode::{BytecodeError, decode};
pub use print::print;
pub use read::{ReadError, read};
pub use syntax::{SyntaxError, parse};
