//! StableHLO front end: text parser, MLIR bytecode reader, printer, and lowering to tensor graphs.
//!
//! ```text
//! text     ─ parse  ─┐
//!                    ├─► Module ─ lower(argument shapes) ─► Program
//! bytecode ─ decode ─┘     └─ print ─► canonical text
//! ```
//!
//! A [`Module`](module::Module) is the parsed program in generic form. A [`Program`](program::Program) is the
//! lowered program for one set of argument shapes: straight-line [`Graph`](inflight_ir::graph::Graph)s with
//! structured control flow between them. The runtime executes it. This crate has no threads and no device code.
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
