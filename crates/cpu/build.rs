//! Hashes the emitter's sources into `INFLIGHT_EMITTER`, the compiler's version in the disk cache: machine code that
//! another version compiled is never loaded.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::{env, fs};

fn main() {
    let mut hasher = DefaultHasher::new();
    env::var("CARGO_PKG_VERSION").ok().hash(&mut hasher);
    // The emitter, and `ir`, which expands and schedules the kernels it compiles. In a published crate `../ir` does not
    // exist; the package version distinguishes those.
    for folder in ["src/emit", "../ir/src"] {
        println!("cargo:rerun-if-changed={folder}");
        hash_folder(Path::new(folder), &mut hasher);
    }
    println!("cargo:rustc-env=INFLIGHT_EMITTER={:016x}", hasher.finish());
}

fn hash_folder(folder: &Path, hasher: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => hash_folder(&path, hasher),
            false => fs::read(&path).ok().hash(hasher),
        }
    }
}
