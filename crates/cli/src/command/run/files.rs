//! Folders of tensors: in_00.npy, in_01.npy, … and out_00.npy, out_01.npy, …

use crate::outcome::Failure;
use inflight::{Tensor, io};
use std::path::{Path, PathBuf};

/// Path of the tensor at this index.
pub fn numbered(folder: &Path, kind: &str, number: usize) -> PathBuf {
    folder.join(format!("{kind}_{number:02}.npy"))
}

/// Returns the first file of this kind beyond the first `count`.
pub fn superfluous(folder: &Path, kind: &str, count: usize) -> Result<Option<PathBuf>, Failure> {
    let failed = |error| Failure::misuse(format!("the folder {}: {error}", folder.display()));
    let known: Vec<PathBuf> = (0..count).map(|number| numbered(folder, kind, number)).collect();
    let mut first: Option<PathBuf> = None;
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_of_kind = name.starts_with(&format!("{kind}_")) && name.ends_with(".npy");
        if is_of_kind && !known.contains(&path) && first.as_ref().is_none_or(|first| path < *first)
        {
            first = Some(path);
        }
    }
    Ok(first)
}

/// Checks that the output path is not a file.
pub fn check_output(folder: &Path) -> Result<(), Failure> {
    match folder.exists() && !folder.is_dir() {
        true => Err(Failure::misuse(format!(
            "{} is a file; --output names the folder that results are written to",
            folder.display()
        ))),
        false => Ok(()),
    }
}

/// Writes tensors to a folder, creating it if needed.
pub fn save(tensors: &[Tensor], folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::misuse(format!("the folder {}: {error}", folder.display())))?;
    for (number, tensor) in tensors.iter().enumerate() {
        io::save_npy(numbered(folder, "out", number), tensor)?;
    }
    Ok(())
}
