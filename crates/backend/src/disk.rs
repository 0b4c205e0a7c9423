//! Disk cache of compiled kernels, shared between processes.
//!
//! Each entry is one file, named by a hash of its key. It holds the complete key, the value and a checksum. Entries
//! are written to a temporary file and then renamed, so readers see a complete entry or none, and concurrent
//! writers of the same entry do not conflict. A truncated, corrupt or foreign file counts as a miss and is
//! overwritten. The cache is best effort: what cannot be stored is compiled again.
//!
//! Entries are executed as code. On Unix the folder and every entry that is read must therefore belong to the effective
//! user and must not be writable by group or others; both are checked on the open file, not by path, and symlinks are
//! not followed.

use rustc_hash::FxHasher;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;
use std::{env, fs, process};

/// File magic: identifies an entry and its format version.
const MAGIC: &[u8; 8] = b"inflkrn1";

/// Maximum number of files in the folder. When exceeded, the oldest half is removed.
const MAX_FILES: usize = 20_000;

/// Attempts to find an unused name for a temporary file: a crashed process with the same id may have left some.
const MAX_NAME_ATTEMPTS: usize = 8;

/// Sequence number of the next temporary file of this process.
static NEXT_TEMPORARY: AtomicU64 = AtomicU64::new(0);

/// A folder of cache entries.
#[derive(Debug)]
pub struct DiskCache {
    folder: PathBuf,
}

impl DiskCache {
    /// Opens the cache in `folder`, creating the folder if necessary, private to the user.
    ///
    /// # Errors
    /// If the folder cannot be created or opened. On Unix also if it is a symlink, belongs to another user, or is
    /// writable by group or others ([`PermissionDenied`](io::ErrorKind::PermissionDenied)).
    pub fn open(folder: &Path) -> io::Result<DiskCache> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
        trust::check_folder(folder)?;
        let cache = DiskCache { folder: folder.to_owned() };
        cache.prune(MAX_FILES);
        Ok(cache)
    }

    /// Opens the folder named by `INFLIGHT_CACHE`, or the user's cache folder by default. `None` if the variable is
    /// `off`, or if the folder cannot be determined or opened. The process prints one warning if the folder is not
    /// safe to use, or if the folder that the variable names cannot be opened.
    pub fn from_env() -> Option<DiskCache> {
        static WARNED: Once = Once::new();
        DiskCache::from_variables(
            |name| env::var_os(name),
            |warning| WARNED.call_once(|| eprintln!("inflight: {warning}")),
        )
    }

    fn from_variables(
        variable: impl Fn(&str) -> Option<OsString>,
        warn: impl FnOnce(String),
    ) -> Option<DiskCache> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let (folder, is_named) = match variable("INFLIGHT_CACHE") {
            Some(off) if off == "off" => return None,
            Some(folder) => (PathBuf::from(folder), true),
            None => match variable("XDG_CACHE_HOME") {
                Some(caches) => (PathBuf::from(caches).join("inflight"), false),
                None => (PathBuf::from(variable("HOME")?).join(".cache/inflight"), false),
            },
        };
        match DiskCache::open(&folder) {
            Ok(cache) => Some(cache),
            Err(error) => {
                // A home folder that is missing or read-only, an error of the system, is not worth a warning.
                let is_refused = error.raw_os_error().is_none();
                if is_named || is_refused {
                    let folder = folder.display();
                    warn(format!("the kernel cache {folder} is not used: {error}"));
                }
                None
            }
        }
    }

    /// Looks up the value stored under exactly this key.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut entry = Vec::new();
        trust::open_entry(&self.path(key)).ok()?.read_to_end(&mut entry).ok()?;
        parse(&entry, key).map(<[u8]>::to_vec)
    }

    /// Stores a value. Stores nothing if the disk is full or read-only.
    pub fn put(&self, key: &[u8], value: &[u8]) {
        let Ok((mut file, temporary)) = self.create_temporary() else { return };
        let written = file
            .write_all(&entry(key, value))
            .and_then(|()| fs::rename(&temporary, self.path(key)));
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
    }

    /// Creates a temporary file that did not exist.
    fn create_temporary(&self) -> io::Result<(File, PathBuf)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Independent of the umask, so that the entry is trusted when it is read.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut attempts = 0;
        loop {
            let path = self.temporary_path(NEXT_TEMPORARY.fetch_add(1, Ordering::Relaxed));
            attempts += 1;
            match options.open(&path) {
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists
                        && attempts < MAX_NAME_ATTEMPTS => {}
                result => return Ok((result?, path)),
            }
        }
    }

    fn temporary_path(&self, sequence: u64) -> PathBuf {
        self.folder.join(format!("{}-{sequence}.new", process::id()))
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

/// Whether files may be executed: checks of owner and permissions.
#[cfg(unix)]
mod trust {
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::Path;

    /// Checks that only the effective user can write to a folder, which must not be a symlink.
    pub fn check_folder(folder: &Path) -> io::Result<()> {
        let flags = libc::O_NOFOLLOW | libc::O_DIRECTORY;
        let file = match OpenOptions::new().read(true).custom_flags(flags).open(folder) {
            Err(_) if folder.is_symlink() => {
                return Err(refused("it is a symlink; name the folder itself".to_owned()));
            }
            file => file?,
        };
        check(&file.metadata()?)
    }

    /// Opens a regular file that only the effective user can write to.
    pub fn open_entry(path: &Path) -> io::Result<File> {
        // Opening a FIFO would block without O_NONBLOCK.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(refused("it is not a regular file".to_owned()));
        }
        check(&metadata)?;
        Ok(file)
    }

    fn check(metadata: &Metadata) -> io::Result<()> {
        // SAFETY: `geteuid` has no preconditions and cannot fail.
        let user = unsafe { libc::geteuid() };
        let (owner, mode) = (metadata.uid(), metadata.mode());
        if owner != user {
            return Err(refused(format!("it belongs to user {owner}, expected user {user}")));
        }
        if mode & 0o022 != 0 {
            let mode = mode & 0o7777;
            return Err(refused(format!(
                "other users can write to it (mode {mode:03o}), and its files are executed as code; \
                 run chmod go-w on it"
            )));
        }
        Ok(())
    }

    fn refused(reason: String) -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, reason)
    }
}

/// No checks on other platforms: the folder's permissions are inherited from the user's profile.
#[cfg(not(unix))]
mod trust {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub fn check_folder(_folder: &Path) -> io::Result<()> {
        Ok(())
    }

    pub fn open_entry(path: &Path) -> io::Result<File> {
        File::open(path)
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

    #[cfg(unix)]
    mod permissions {
        use super::*;
        use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown, symlink};

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        #[test]
        fn created_folder_and_entries_are_private() {
            let folder = temporary("private");
            let cache = DiskCache::open(&folder.join("a/b")).unwrap();
            cache.put(b"key", b"code");
            assert_eq!(mode(&folder.join("a")), 0o700);
            assert_eq!(mode(&folder.join("a/b")), 0o700);
            assert_eq!(mode(&cache.path(b"key")), 0o600);
            fs::remove_dir_all(&folder).unwrap();
        }

        #[test]
        fn folder_that_others_can_write_is_refused() {
            let folder = temporary("shared");
            fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
            for (mode, is_accepted) in
                [(0o777, false), (0o770, false), (0o702, false), (0o1777, false), (0o755, true)]
            {
                set_mode(&folder, mode);
                let opened = DiskCache::open(&folder);
                assert_eq!(opened.is_ok(), is_accepted, "{mode:o}");
                if let Err(error) = opened {
                    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
                    assert!(error.to_string().contains("chmod go-w"), "{error}");
                }
            }
            // A symlink may be replaced by its owner.
            let link = temporary("shared-link");
            let _ = fs::remove_file(&link);
            symlink(&folder, &link).unwrap();
            assert!(DiskCache::open(&link).is_err());
            fs::remove_file(&link).unwrap();
            // Only root can give a folder away.
            if chown(&folder, Some(12345), None).is_ok() {
                let error = DiskCache::open(&folder).unwrap_err();
                assert!(error.to_string().contains("12345"), "{error}");
            }
            fs::remove_dir_all(&folder).unwrap();
        }

        #[test]
        fn entry_that_others_can_write_is_a_miss() {
            let folder = temporary("entries");
            let cache = DiskCache::open(&folder).unwrap();
            let path = cache.path(b"key");
            for mode in [0o666, 0o620, 0o602] {
                cache.put(b"key", b"code");
                assert_eq!(cache.get(b"key").as_deref(), Some(&b"code"[..]));
                set_mode(&path, mode);
                assert_eq!(cache.get(b"key"), None, "{mode:o}");
            }
            // Storing replaces an entry that is not trusted.
            cache.put(b"key", b"again");
            assert_eq!(cache.get(b"key").as_deref(), Some(&b"again"[..]));
            if chown(&path, Some(12345), None).is_ok() {
                assert_eq!(cache.get(b"key"), None);
            }
            fs::remove_dir_all(&folder).unwrap();
        }

        #[test]
        fn symlinks_are_not_followed() {
            let folder = temporary("links");
            let cache = DiskCache::open(&folder).unwrap();
            cache.put(b"key", b"code");
            let (path, moved) = (cache.path(b"key"), folder.join("moved"));
            fs::rename(&path, &moved).unwrap();
            symlink(&moved, &path).unwrap();
            assert_eq!(cache.get(b"key"), None);
            // Temporary files under names that exist already: the next names are used, and the target is not written.
            let victim = folder.join("victim");
            fs::write(&victim, b"kept").unwrap();
            let next = NEXT_TEMPORARY.load(Ordering::Relaxed);
            for sequence in next..next + 3 {
                symlink(&victim, cache.temporary_path(sequence)).unwrap();
            }
            cache.put(b"other", b"stored");
            assert_eq!(fs::read(&victim).unwrap(), b"kept");
            assert_eq!(cache.get(b"other").as_deref(), Some(&b"stored"[..]));
            fs::remove_dir_all(&folder).unwrap();
        }

        #[test]
        fn refused_folder_of_the_environment_is_not_used_and_warned_of() {
            let folder = temporary("environment");
            let inflight = folder.join("inflight");
            fs::create_dir_all(&inflight).unwrap();
            set_mode(&inflight, 0o777);
            let open = |name: &'static str, value: PathBuf| {
                let mut warnings = Vec::new();
                let variable = |asked: &str| (asked == name).then(|| value.clone().into());
                let cache = DiskCache::from_variables(variable, |warning| warnings.push(warning));
                (cache.is_some(), warnings)
            };
            let (is_open, warnings) = open("XDG_CACHE_HOME", folder.clone());
            assert!(!is_open && warnings.len() == 1 && warnings[0].contains("environment"));
            let (is_open, warnings) = open("INFLIGHT_CACHE", inflight.clone());
            assert!(!is_open && warnings.len() == 1, "{warnings:?}");
            set_mode(&inflight, 0o700);
            let (is_open, warnings) = open("INFLIGHT_CACHE", inflight);
            assert!(is_open && warnings.is_empty(), "{warnings:?}");
            assert!(!open("INFLIGHT_CACHE", "off".into()).0);
            fs::remove_dir_all(&folder).unwrap();
        }
    }
}
