//! The file of a program, as most commands take it.

use crate::outcome::Failure;
use inflight::Program;
use std::path::Path;

/// Reads a program. What is no program at all, a folder or an empty file, is called that.
pub fn load(path: &Path) -> Result<Program, Failure> {
    if path.is_dir() {
        return Err(Failure::misuse(format!(
            "{} is a folder; `inflight check` runs all programs of one",
            path.display()
        )));
    }
    Program::load(path).map_err(|error| match is_empty(path) {
        true => Failure::failed(format!("{} is empty", path.display())),
        false => error.into(),
    })
}

/// Whether there is nothing but spaces in a file. A pipe, which was read already, is not asked again.
fn is_empty(path: &Path) -> bool {
    path.is_file()
        && std::fs::read(path).is_ok_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}
