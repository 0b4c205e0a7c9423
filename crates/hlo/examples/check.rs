//! Runs self-checking programs on the reference interpreter: `check PATH…`; each path is a file or a folder.

use inflight_hlo::interpret::{check, interpret};
use std::path::{Path, PathBuf};

fn main() {
    let mut files: Vec<PathBuf> = Vec::new();
    for path in std::env::args().skip(1) {
        collect(Path::new(&path), &mut files);
    }
    files.sort();
    let (mut passed, mut failed) = (0, 0);
    for file in &files {
        match run(file) {
            Ok(()) => passed += 1,
            Err(message) => {
                failed += 1;
                println!("{}: {message}", file.display());
            }
        }
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => {
            for entry in entries.flatten() {
                collect(&entry.path(), files);
            }
        }
        Err(_) if path.extension().is_some_and(|extension| extension == "mlir") => {
            files.push(path.to_path_buf());
        }
        Err(_) => {}
    }
}

fn run(file: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let module = inflight_hlo::parse(&text).map_err(|error| error.to_string())?;
    let program = inflight_hlo::lower::lower(&module, None).map_err(|error| error.to_string())?;
    interpret(&program, &[], &mut |call, inputs| match call.target.as_str() {
        "test.identity" => Ok(inputs.iter().map(|&input| input.clone()).collect()),
        _ => check(call, inputs),
    })
    .map(|_| ())
    .map_err(|error| error.to_string())
}
