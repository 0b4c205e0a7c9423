//! The commands, one in each module.

pub mod check;
pub mod devices;
pub mod explain;
pub mod format;
pub mod run;
pub mod timeline;
pub mod training;
