//! Limits a folder to one run at a time.
//!
//! An operating system lock on a hidden file, which ends with its process in any case. On a file system without locks,
//! a second run is not detected.

use crate::{Error, output};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// Name of the locked file.
const NAME: &str = ".cutlink-lock";

/// Held while a run writes into a folder.
#[derive(Debug)]
pub struct FolderLock {
    path: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Takes the lock of a folder that exists.
    ///
    /// # Errors
    /// Another run holds the lock; a folder that is not writable.
    pub fn take(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(NAME);
        loop {
            let file = File::options()
                .create(true)
                .write(true)
                .truncate(false)
                .open(&path)
                .map_err(|e| output::failed(&path, &e))?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::input(format!(
                        "another run writes into {}",
                        folder.display()
                    ))
                    .hint("wait until it ends, or choose another [output] folder for this run"));
                }
                // Some file systems have no locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // A run that ended in the meantime may have removed this file.
            if is_at(&file, &path) {
                return Ok(Self { path, _file: file });
            }
        }
    }
}

/// Whether a run writes into a folder. False on a file system without locks.
pub fn is_running(folder: &Path) -> bool {
    let file = File::options().write(true).open(folder.join(NAME));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |m: fs::Metadata| (m.dev(), m.ino());
    match (file.metadata(), fs::metadata(path)) {
        (Ok(here), Ok(there)) => place(here) == place(there),
        _ => false,
    }
}

/// Open files cannot be removed on this platform.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_run_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = FolderLock::take(folder.path()).expect("free");
        let refused = FolderLock::take(folder.path()).expect_err("held");
        assert!(refused.message.contains("another run"), "{refused}");
        drop(first);
        let left = fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0, "no files remain");
        drop(FolderLock::take(folder.path()).expect("free again"));
        // The file of a killed run does not lock.
        fs::write(folder.path().join(NAME), "").expect("a file");
        drop(FolderLock::take(folder.path()).expect("no run holds it"));
    }
}
