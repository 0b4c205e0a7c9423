//! Compiled kernels kept on disk, for the processes that come after this one.
//!
//! An entry is a file of its own, named by a hash of its key, that holds the whole key, the value and a
//! checksum. It is written under another name and then renamed, so that readers see all of it or nothing, and
//! writers of the same entry do not disturb each other. Whatever is found broken, cut off or foreign is as good
//! as absent, and is written anew. The disk is never needed: what cannot be kept is compiled again.

use rustc_hash::FxHasher;
use std::hash::Hasher;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{env, fs, process};

/// The first bytes of an entry: what it is, and how it is laid out.
const MAGIC: &[u8; 8] = b"inflkrn1";

/// The most files that a folder holds. The oldest half goes when it has more.
const MOST_FILES: usize = 20_000;

/// A folder of entries.
#[derive(Debug)]
pub struct DiskCache {
    folder: PathBuf,
}

impl DiskCache {
    /// The entries in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(folder: &Path) -> io::Result<DiskCache> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        // What is in there is run: it is nobody else's to write.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        let cache = DiskCache { folder: folder.to_owned() };
        cache.prune(MOST_FILES);
        Ok(cache)
    }

    /// The folder that `INFLIGHT_CACHE` names, or the user's own cache folder. `None` if the variable is `off`,
    /// or if there is no such folder and none can be made.
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

    /// The value that was put there with exactly this key.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let file = fs::read(self.path(key)).ok()?;
        parse(&file, key).map(<[u8]>::to_vec)
    }

    /// Keeps a value for those who come after. If the disk is full, or may not be written, nothing is kept.
    pub fn put(&self, key: &[u8], value: &[u8]) {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!("{}-{number}.new", process::id()));
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

    /// Removes the oldest half of the files, if there are more than `most`.
    fn prune(&self, most: usize) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        if files.len() > most {
            files.sort();
            for (_, path) in &files[..files.len() / 2] {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// An entry: the magic, the lengths of key and value, both of them, and a checksum of all that.
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

/// The value of an entry, if it is one, whole, and of this key.
fn parse<'a>(entry: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let (content, checksum) = entry.split_last_chunk::<8>()?;
    let rest = content.strip_prefix(MAGIC)?;
    let (key_length, rest) = rest.split_first_chunk::<8>()?;
    let (value_length, rest) = rest.split_first_chunk::<8>()?;
    let value = rest.strip_prefix(key)?;
    let right = u64::from_le_bytes(*key_length) == key.len() as u64
        && u64::from_le_bytes(*value_length) == value.len() as u64
        && u64::from_le_bytes(*checksum) == hash(content, 3);
    right.then_some(value)
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
    fn entries_are_found_by_their_whole_key() {
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
        // An entry in another's place is not taken for it.
        fs::copy(cache.path(b"a"), cache.path(b"b")).unwrap();
        assert_eq!(again.get(b"b"), None);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_cut_off_or_changed_is_absent() {
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
    fn a_folder_that_cannot_be_is_an_error_and_one_that_is_full_is_emptied() {
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
        // Gone altogether, it keeps nothing, and says nothing.
        cache.put(b"late", b"");
        assert_eq!(cache.get(b"late"), None);
    }
}
