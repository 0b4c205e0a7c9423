//! Dynamic loading (`dlopen`) of the CUDA driver, NVRTC and cuBLASLt.

use crate::shutdown;
use cudarc::{cublaslt, driver, nvrtc};
use libloading::Library;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A CUDA library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CudaLibrary {
    /// The driver, `libcuda`.
    Driver,
    /// The run-time compiler, `libnvrtc`.
    Nvrtc,
    /// The GEMM library, `libcublasLt`.
    CublasLt,
}

impl CudaLibrary {
    fn file(self) -> &'static str {
        match self {
            CudaLibrary::Driver => "cuda",
            CudaLibrary::Nvrtc => "nvrtc",
            CudaLibrary::CublasLt => "cublasLt",
        }
    }

    /// Advice for the user if the library is missing.
    fn remedy(self) -> &'static str {
        match self {
            CudaLibrary::Driver => "install NVIDIA's driver, or use the CPU",
            CudaLibrary::Nvrtc => {
                "install the CUDA toolkit or PyPI's nvidia-cuda-nvrtc, and name the folder of NVRTC in \
                 INFLIGHT_CUDA_PATH"
            }
            CudaLibrary::CublasLt => {
                "install the CUDA toolkit or PyPI's nvidia-cublas, and name the folder of cuBLASLt in \
                 INFLIGHT_CUDA_PATH"
            }
        }
    }

    /// The file names to try.
    fn names(self) -> [String; 4] {
        ["", ".13", ".12", ".1"].map(|version| format!("lib{}.so{version}", self.file()))
    }
}

/// Opens a library, once per process. The error lists the names and folders that were tried.
pub fn open(library: CudaLibrary) -> Result<(), String> {
    static FOUND: [OnceLock<bool>; 3] = [const { OnceLock::new() }; 3];
    let found = *FOUND[library as usize].get_or_init(|| {
        // SAFETY: loading NVIDIA's libraries runs their initializers, which have no requirements.
        let is_loadable = || unsafe {
            match library {
                CudaLibrary::Driver => driver::sys::is_culib_present(),
                CudaLibrary::Nvrtc => nvrtc::sys::is_culib_present(),
                CudaLibrary::CublasLt => cublaslt::sys::is_culib_present(),
            }
        };
        // Open and keep open first: cudarc's check opens and closes the library, which would then be opened again. That
        // takes a tenth of a second for some.
        let by_name = library.names().iter().any(|name| keep_open(Path::new(name)));
        let found = (by_name || open_in_folders(library)) && is_loadable();
        if found {
            shutdown::register_exit_handler();
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
                library.file(),
                folders.join(", "),
                load_error(library),
                library.remedy()
            ))
        }
    }
}

/// Folders of CUDA toolkits, in addition to the search path of the system's loader.
fn folders() -> Vec<PathBuf> {
    let roots = ["INFLIGHT_CUDA_PATH", "CUDA_HOME", "CUDA_PATH"];
    let mut roots: Vec<PathBuf> =
        roots.iter().filter_map(std::env::var_os).map(PathBuf::from).collect();
    roots.push(PathBuf::from("/usr/local/cuda"));
    let within = ["", "lib64", "lib", "targets/x86_64-linux/lib"];
    roots.iter().flat_map(|root| within.map(|folder| root.join(folder))).collect()
}

/// Opens a library by its path. From then on the loader finds it by its name.
fn open_in_folders(library: CudaLibrary) -> bool {
    let names = library.names();
    for folder in folders() {
        for path in names.iter().map(|name| folder.join(name)).filter(|path| path.exists()) {
            if library == CudaLibrary::Nvrtc {
                // NVRTC opens its built-ins library itself, by name.
                let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
                let is_builtin = |name: &str| name.starts_with("libnvrtc-builtins.so");
                entries
                    .filter(|entry| entry.file_name().to_str().is_some_and(is_builtin))
                    .for_each(|entry| {
                        keep_open(&entry.path());
                    });
            }
            if keep_open(&path) {
                return true;
            }
        }
    }
    false
}

/// The error of a library that exists and cannot be loaded; empty if there is none.
fn load_error(library: CudaLibrary) -> String {
    let names = library.names();
    let paths =
        folders().into_iter().flat_map(|folder| names.clone().map(|name| folder.join(name)));
    // SAFETY: as in `keep_open`.
    let refused = |path: PathBuf| unsafe { Library::new(path) }.err();
    let mut errors = paths.filter(|path| path.exists()).filter_map(refused);
    errors
        .next()
        .map_or(String::new(), |error| format!(" (a file exists, but loading it failed: {error})"))
}

/// Opens a library for as long as the process runs.
fn keep_open(path: &Path) -> bool {
    // SAFETY: loading NVIDIA's libraries runs their initializers, which have no requirements.
    match unsafe { Library::new(path) } {
        Ok(handle) => {
            std::mem::forget(handle);
            true
        }
        Err(_) => false,
    }
}
