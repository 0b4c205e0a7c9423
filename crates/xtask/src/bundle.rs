//! Bundles tests and benches in a folder, for machines without a Rust toolchain.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum size of a bundle in bytes.
const MOST_BYTES: u64 = 40 << 20;

/// The script that runs the tests. Its presence marks a folder as a bundle.
const RUN_TESTS: &str = "run-tests";

/// Builds everything and copies it to the folder.
pub fn bundle(folder: &Path) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if folder.exists() {
        let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if !is_empty && !folder.join(RUN_TESTS).is_file() {
            let name = folder.display();
            return Err(format!("{name} is there and no bundle; name an empty or a new folder"));
        }
        fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    make(folder)?;
    let tests = ["test", "--release", "--no-run", "-p", "inflight", "-p", "inflight-cuda"];
    let names = ["--test", "every_device", "--test", "gpu", "--test", "lost_device"];
    let bench = ["bench", "--bench", "bench", "-p", "inflight", "--features", "bundle", "--no-run"];
    for arguments in [[&tests[..], &names[..]].concat(), bench.to_vec()] {
        for (name, path) in built(&root, &arguments)? {
            strip(&path, &folder.join(name))?;
        }
    }
    for (name, path) in built(&root, &["build", "--release", "-p", "inflight-cli"])? {
        strip(&path, &folder.join(name))?;
    }
    for (from, to) in
        [("bench/peers", "peers"), ("bench/programs", "programs"), ("crates/hlo/tests/ops", "ops")]
    {
        copy_files(&root.join(from), &folder.join(to))?;
    }
    script(
        &folder.join(RUN_TESTS),
        "export INFLIGHT_TEST_DEVICE=${INFLIGHT_TEST_DEVICE:-cuda:0}\n\
         export INFLIGHT_TEST_OPS=$PWD/ops\n\
         ./inflight devices\n\
         ./every_device \"$@\" && ./gpu \"$@\" && ./lost_device\n",
    )?;
    script(
        &folder.join("run-bench"),
        "./inflight devices\nours=$(mktemp) theirs=$(mktemp)\n\
         ./bench gpu | tee \"$ours\"\n\
         INFLIGHT_TF32=1 ./bench gpu small zzz programs/*.mlir | tee -a \"$ours\"\n\
         python3 peers/gpu.py | tee \"$theirs\"\n\
         ./bench gpu first\n./bench pipeline cuda:0\n\
         python3 peers/compare.py \"$ours\" \"$theirs\"\n",
    )?;
    let bytes = weight(folder);
    println!("{}: {:.1} MiB", folder.display(), bytes as f64 / f64::powi(2.0, 20));
    match bytes > MOST_BYTES {
        true => Err(format!("the bundle has {bytes} bytes, more than {MOST_BYTES}")),
        false => Ok(()),
    }
}

/// Runs cargo. Returns the names and paths of the built executables.
fn built(root: &Path, arguments: &[&str]) -> Result<Vec<(String, PathBuf)>, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(arguments)
        .arg("--message-format=json-render-diagnostics")
        .current_dir(root)
        .stderr(std::process::Stdio::inherit())
        .output()
        .map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo {} failed", arguments.join(" ")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executables = messages.filter_map(|message| {
        let path = PathBuf::from(message["executable"].as_str()?);
        Some((message["target"]["name"].as_str()?.to_owned(), path))
    });
    Ok(executables.collect())
}

/// Copies an executable without debug information.
fn strip(from: &Path, to: &Path) -> Result<(), String> {
    copy(from, to)?;
    let stripped = Command::new("strip").arg(to).status();
    match stripped {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("strip {}: {status}", to.display())),
        Err(error) => Err(format!("strip, of binutils: {error}")),
    }
}

fn script(path: &Path, body: &str) -> Result<(), String> {
    let text = format!("#!/usr/bin/env bash\nset -u\ncd \"$(dirname \"$0\")\"\n{body}");
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(path, executable).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Copies the files of a folder, without subfolders.
fn copy_files(from: &Path, to: &Path) -> Result<(), String> {
    make(to)?;
    let entries = fs::read_dir(from).map_err(|error| format!("{}: {error}", from.display()))?;
    for entry in entries.flatten().filter(|entry| entry.path().is_file()) {
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    fs::copy(from, to).map(|_| ()).map_err(|error| format!("{}: {error}", from.display()))
}

/// Total size of the files in a folder.
fn weight(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => weight(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
