//! The libraries of CUDA, opened at run time.

use crate::shutdown;
use cudarc::{cublaslt, driver, nvrtc};
use libloading::Library;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What can be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The driver.
    Driver,
    /// The compiler of kernels.
    Compiler,
    /// Matrix products.
    MatrixProducts,
}

impl Part {
    fn file(self) -> &'static str {
        match self {
            Part::Driver => "cuda",
            Part::Compiler => "nvrtc",
            Part::MatrixProducts => "cublasLt",
        }
    }

    /// What to do if it is not there.
    fn remedy(self) -> &'static str {
        match self {
            Part::Driver => "install NVIDIA's driver, or use the CPU",
            Part::Compiler => {
                "install the CUDA toolkit or PyPI's nvidia-cuda-nvrtc, and name the folder of NVRTC in \
                 INFLIGHT_CUDA_PATH"
            }
            Part::MatrixProducts => {
                "install the CUDA toolkit or PyPI's nvidia-cublas, and name the folder of cuBLASLt in \
                 INFLIGHT_CUDA_PATH"
            }
        }
    }

    /// The names it may have.
    fn names(self) -> [String; 4] {
        ["", ".13", ".12", ".1"].map(|version| format!("lib{}.so{version}", self.file()))
    }
}

/// Opens a library, once. The error says what was looked for.
pub fn open(part: Part) -> Result<(), String> {
    static FOUND: [OnceLock<bool>; 3] = [const { OnceLock::new() }; 3];
    let found = *FOUND[part as usize].get_or_init(|| {
        // SAFETY: loading NVIDIA's libraries runs their initializers, which have no requirements.
        let is_there = || unsafe {
            match part {
                Part::Driver => driver::sys::is_culib_present(),
                Part::Compiler => nvrtc::sys::is_culib_present(),
                Part::MatrixProducts => cublaslt::sys::is_culib_present(),
            }
        };
        // Opened first, and kept open: who only looks whether it is there opens it, closes it, and must open it
        // again, and some take a tenth of a second each time.
        let by_name = part.names().iter().any(|name| keep_open(Path::new(name)));
        let found = (by_name || open_in_folders(part)) && is_there();
        if found {
            shutdown::watch();
        }
        found
    });
    match found {
        true => Ok(()),
        false => {
            let folders: Vec<String> =
                folders().iter().map(|folder| folder.display().to_string()).collect();
            Err(format!(
                "lib{0}.so, lib{0}.so.13, lib{0}.so.12 or lib{0}.so.1 was found neither by the system's loader \
                 nor in {1}{2}; {3}",
                part.file(),
                folders.join(", "),
                unusable(part),
                part.remedy()
            ))
        }
    }
}

/// Where toolkits are, beside the places that the system's loader looks in.
fn folders() -> Vec<PathBuf> {
    let roots = ["INFLIGHT_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"];
    let mut roots: Vec<PathBuf> =
        roots.iter().filter_map(std::env::var_os).map(PathBuf::from).collect();
    roots.push(PathBuf::from("/usr/local/cuda"));
    let within = ["", "lib64", "lib", "targets/x86_64-linux/lib"];
    roots.iter().flat_map(|root| within.map(|folder| root.join(folder))).collect()
}

/// Opens a library by its path, so that the loader finds it by its name from then on.
fn open_in_folders(part: Part) -> bool {
    let names = part.names();
    for folder in folders() {
        for path in names.iter().map(|name| folder.join(name)).filter(|path| path.exists()) {
            if part == Part::Compiler {
                // NVRTC opens this one itself, by its name.
                let beside = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                let is_builtin = |name: &str| name.starts_with("libnvrtc-builtins.so");
                beside.filter(|entry| entry.file_name().to_str().is_some_and(is_builtin)).for_each(
                    |entry| {
                        keep_open(&entry.path());
                    },
                );
            }
            if keep_open(&path) {
                return true;
            }
        }
    }
    false
}

/// Of a library that is there and cannot be opened, why.
fn unusable(part: Part) -> String {
    let names = part.names();
    let places =
        folders().into_iter().flat_map(|folder| names.clone().map(|name| folder.join(name)));
    // SAFETY: as below.
    let refused = |path: PathBuf| unsafe { Library::new(path) }.err();
    let mut errors = places.filter(|path| path.exists()).filter_map(refused);
    errors.next().map_or(String::new(), |error| format!(" (one that is there: {error})"))
}

/// Opens a library for as long as the process runs.
fn keep_open(path: &Path) -> bool {
    // SAFETY: loading NVIDIA's libraries runs their initializers, which have no requirements.
    match unsafe { Library::new(path) } {
        Ok(library) => {
            std::mem::forget(library);
            true
        }
        Err(_) => false,
    }
}
