//! One run at a time in a folder.
//!
//! A lock of the operating system on a hidden file: it ends with its process, however that ends. Where the file system
//! has no locks, two runs are not told apart.

use crate::error::Error;
use crate::output;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

/// The file that is locked.
const NAME: &str = ".cutlink-lock";

/// Held while a run writes into a folder.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    _file: File,
}

impl FolderLock {
    /// Takes the lock of a folder that exists.
    ///
    /// # Errors
    /// Another run holds it; a folder that takes no files.
    pub(super) fn take(folder: &Path) -> Result<Self, Error> {
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
                    .hint("wait until it has ended, or give this one another [output] folder"));
                }
                // Not every file system has locks.
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
            // A run that ended meanwhile removed the file that is locked here.
            if is_at(&file, &path) {
                return Ok(Self { path, _file: file });
            }
        }
    }
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

/// An open file cannot be removed here.
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
        assert_eq!(left, 0, "nothing stays");
        drop(FolderLock::take(folder.path()).expect("free again"));
        // What a killed run leaves does not lock.
        fs::write(folder.path().join(NAME), "").expect("a file");
        drop(FolderLock::take(folder.path()).expect("nobody holds it"));
    }
}
