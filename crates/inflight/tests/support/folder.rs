//! A folder for the files of a test.

use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// A folder of the test's own, removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder. The name must be unique among the tests of a binary.
    pub fn new(name: &str) -> Folder {
        let folder = Folder::absent(name);
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    /// A path where nothing exists yet.
    pub fn absent(name: &str) -> Folder {
        let path = env::temp_dir().join(format!("inflight-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The paths of the files in the folder.
    pub fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().path()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
