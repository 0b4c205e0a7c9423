//! Reading and writing tensors: `.npy` and `.safetensors` files, and `ndarray` arrays.
//!
//! - [`load_npy`], [`save_npy`]: one array in NumPy's format;
//! - [`load_safetensors`], [`save_safetensors`]: named tensors;
//! - [`Tensor::from_ndarray`](crate::Tensor::from_ndarray), [`Tensor::to_ndarray`](crate::Tensor::to_ndarray):
//!   arrays of the `ndarray` crate.
//!
//! Saving waits for the values. A file is written to a temporary file and then renamed, so that neither a full disk
//! nor a crash loses the previous contents.

/// Dispatches on a dtype: `$body` with `$T` as the Rust type for the listed dtypes, `$other` for one special case.
#[cfg(any(feature = "npy", feature = "safetensors"))]
macro_rules! match_dtype {
    ($dtype:expr, $T:ident => $body:expr, $special:pat => $other:expr; $($variant:ident $type:ty),*) => {
        match $dtype {
            $special => $other,
            $(DType::$variant => {
                type $T = $type;
                $body
            })*
        }
    };
}

#[cfg(feature = "ndarray")]
mod ndarray;
#[cfg(feature = "npy")]
mod npy;
#[cfg(feature = "safetensors")]
mod safetensors;

#[cfg(feature = "npy")]
pub use npy::{load_npy, save_npy};
#[cfg(feature = "safetensors")]
pub use safetensors::{Safetensors, load_safetensors, save_safetensors};

use crate::{Error, Result};
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

// Files store elements as they are in memory.
const _: () = assert!(cfg!(target_endian = "little"), "only little-endian machines are supported");

/// Creates an [`Error::File`].
pub(crate) fn file_error(path: &Path, message: impl ToString) -> Error {
    Error::File { path: path.display().to_string(), message: message.to_string() }
}

/// Reads a whole file.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|error| file_error(path, error))
}

/// Atomically replaces a file: `write` writes a temporary file in the same folder, which is then synced and
/// renamed.
pub(crate) fn replace_file(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    let failed = |error: std::io::Error| file_error(path, error);
    // Replace the target of a symbolic link, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let before = fs::metadata(&target).ok();
    if before.as_ref().is_some_and(|before| !before.is_file()) {
        return Err(file_error(path, "exists and is not a regular file, so it cannot be replaced"));
    }
    let temporary = Temporary::beside(&target).map_err(failed)?;
    let permissions = match before {
        Some(before) => before.permissions(),
        None => fs::metadata(&temporary.path).map_err(failed)?.permissions(),
    };
    write(&temporary.path)?;
    fs::set_permissions(&temporary.path, permissions).map_err(failed)?;
    File::open(&temporary.path).and_then(|file| file.sync_all()).map_err(failed)?;
    fs::rename(&temporary.path, &target).map_err(failed)
}

/// A temporary file, removed on drop.
struct Temporary {
    path: PathBuf,
}

impl Temporary {
    fn beside(target: &Path) -> std::io::Result<Temporary> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path =
                target.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(_) => return Ok(Temporary { path }),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing to remove. Otherwise, the error that led here matters more.
        let _ = fs::remove_file(&self.path);
    }
}
