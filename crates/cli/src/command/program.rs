//! Loading a program file, for the commands that take one.

use crate::outcome::Failure;
use inflight::Program;
use std::path::Path;

/// Reads a program. A folder and an empty file have errors of their own.
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

/// Whether a file holds nothing but white space. A pipe is not read a second time.
fn is_empty(path: &Path) -> bool {
    path.is_file()
        && std::fs::read(path).is_ok_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
}
