//! The commands, one in each module; and `program`, the file that most of them read.

pub mod check;
pub mod devices;
pub mod explain;
pub mod format;
pub mod program;
pub mod run;
pub mod timeline;
pub mod training;
