//! Disk cache of compiled kernels, shared between processes.
//!
//! Each entry is one file, named by a hash of its key. It holds the complete key, the value and a checksum. Entries
//! are written to a temporary file and then renamed, so readers see a complete entry or none, and concurrent
//! writers of the same entry do not conflict. A truncated, corrupt or foreign file counts as a miss and is
//! overwritten. The cache is best effort: what cannot be stored is compiled again.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{env, fs, process};

/// File magic: identifies an entry and its format version.
const MAGIC: &[u8; 8] = b"inflkrn1";

/// Maximum number of files in the folder. When exceeded, the oldest half is removed.
const MAX_FILES: usize = 20_000;

/// A folder of cache entries.
#[derive(Debug)]
pub struct DiskCache {
    folder: PathBuf,
}

impl DiskCache {
    /// Opens the cache in `folder`, creating the folder if necessary.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(folder: &Path) -> io::Result<DiskCache> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        // Entries are executed as code, so only the user may write here.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let cache = DiskCache { folder: folder.to_owned() };
        cache.prune(MAX_FILES);
        Ok(cache)
    }

    /// Opens the folder named by `INFLIGHT_CACHE`, or the user's cache folder by default. `None` if the variable is
    /// `off`, or if the folder cannot be determined or created.
    pub fn from_env() -> Option<DiskCache> {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        let folder = match variable("INFLIGHT_CACHE") {
            Some(off) if off == "off" => return None,
            Some(folder) => PathBuf::from(folder),
            None => match variable("XDG_CACHE_HOME") {
                Some(caches) => PathBuf::from(caches).join("inflight"),
                None => PathBuf::from(variable("HOME")?).join(".cache/inflight"),
            },
        };
        DiskCache::open(&folder).ok()
    }

    /// Looks up the value stored under exactly this key.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let file = fs::read(self.path(key)).ok()?;
        parse(&file, key).map(<[u8]>::to_vec)
    }

    /// Stores a value. Stores nothing if the disk is full or read-only.
    pub fn put(&self, key: &[u8], value: &[u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let sequence = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!("{}-{sequence}.new", process::id()));
        let written = fs::File::create(&unfinished)
            .and_then(|mut file| file.write_all(&entry(key, value)))
            .and_then(|()| fs::rename(&unfinished, self.path(key)));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        self.folder.join(format!("{:016x}{:016x}", hash(key, 1), hash(key, 2)))
    }

    /// Removes the oldest half of the files if there are more than `limit`.
    fn prune(&self, limit: usize) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() > limit {
            files.sort();
            for (_, path) in &files[..files.len() / 2] {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Serializes an entry: magic, key length, value length, key, value, checksum of all of these.
fn entry(key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(MAGIC.len() + 24 + key.len() + value.len());
    entry.extend(MAGIC);
    entry.extend((key.len() as u64).to_le_bytes());
    entry.extend((value.len() as u64).to_le_bytes());
    entry.extend(key);
    entry.extend(value);
    let checksum = hash(&entry, 3);
    entry.extend(checksum.to_le_bytes());
    entry
}

/// The value of an entry, if the entry is complete, intact and has this key.
fn parse<'a>(entry: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (content, checksum) = entry.split_last_chunk::<8>()?;
    let rest = content.strip_prefix(MAGIC)?;
    let (key_length, rest) = rest.split_first_chunk::<8>()?;
    let (value_length, rest) = rest.split_first_chunk::<8>()?;
    let value = rest.strip_prefix(key)?;
    let is_valid = u64::from_le_bytes(*key_length) == key.len() as u64
        && u64::from_le_bytes(*value_length) == value.len() as u64
        && u64::from_le_bytes(*checksum) == hash(content, 3);
    is_valid.then_some(value)
}

fn hash(bytes: &[u8], seed: u64) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(seed);
    hasher.write(bytes);
    hasher.write_usize(bytes.len());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        let folder = env::temp_dir().join(format!("inflight-disk-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn lookup_compares_complete_key() {
        let folder = temporary("keys");
        let cache = DiskCache::open(&folder).unwrap();
        assert_eq!(cache.get(b"a"), None);
        cache.put(b"a", b"first");
        cache.put(b"ab", b"");
        cache.put(b"a", b"second");
        let again = DiskCache::open(&folder).unwrap();
        assert_eq!(again.get(b"a").as_deref(), Some(&b"second"[..]));
        assert_eq!(again.get(b"ab").as_deref(), Some(&b""[..]));
        assert_eq!(again.get(b"abc"), None);
        // A hash collision is a miss: the stored key differs.
        fs::copy(cache.path(b"a"), cache.path(b"b")).unwrap();
        assert_eq!(again.get(b"b"), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn truncated_or_corrupt_entry_is_a_miss() {
        let whole = entry(b"key", b"some machine code");
        assert_eq!(parse(&whole, b"key"), Some(&b"some machine code"[..]));
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length], b"key"), None);
        }
        for position in 0..whole.len() {
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[position] ^= 1 << bit;
                assert_eq!(parse(&changed, b"key"), None, "bit {bit} of byte {position}");
            }
        }
    }

    #[test]
    fn full_folder_is_pruned_and_invalid_folder_is_an_error() {
        let folder = temporary("full");
        let cache = DiskCache::open(&folder).unwrap();
        for number in 0..20u8 {
            cache.put(&[number], &[number]);
        }
        cache.prune(19);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 10);
        assert!(DiskCache::open(&cache.path(b"x").join("y")).is_ok());
        cache.put(b"file", b"");
        assert!(DiskCache::open(&cache.path(b"file")).is_err());
        fs::remove_dir_all(&folder).unwrap();
        // If the folder disappears, stores and lookups fail silently.
        cache.put(b"late", b"");
        assert_eq!(cache.get(b"late"), None);
    }
}
