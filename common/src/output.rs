//! Atomic file output: files are complete or absent, and existing ones are not replaced by mistake.
//!
//! A file is written under a temporary name in the folder of its target, flushed to the disk and then renamed. After an
//! error the temporary file is removed; a program that ends on a signal calls [`discard_pending`]. A killed process
//! leaves at most a hidden `.cutlink-…` file, never a partial target. Without `force`, an existing target is an error,
//! checked before the work starts and again at the rename.

use crate::{Error, ErrorKind};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// Existing temporary files of this process, for signal handlers.
static PENDING: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn pending() -> MutexGuard<'static, Vec<PathBuf>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files, unless the list is locked.
pub fn discard_pending() {
    if let Ok(mut pending) = PENDING.try_lock() {
        for path in pending.drain(..) {
            let _ = fs::remove_file(&path);
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Checks that a target can be written; to be called before the work starts.
///
/// # Errors
/// A target that exists (without `force`), is not a regular file, or is `input` itself; a folder that does not exist or
/// is not writable.
pub fn check(target: &Path, force: bool, input: Option<&Path>) -> Result<(), Error> {
    let name = target.display();
    if let Ok(meta) = fs::metadata(target) {
        if !meta.is_file() {
            return Err(not_regular(target));
        }
        let same = |input: &Path| fs::canonicalize(input).ok() == fs::canonicalize(target).ok();
        if input.is_some_and(same) {
            return Err(Error::input(format!("{name} is the input"))
                .hint("write elsewhere: an input is never replaced"));
        }
        if !force {
            return Err(exists(target));
        }
    }
    temporary(target).map(drop)
}

/// Refuses a path that leads to something that is neither a file nor a folder, before an extension is added to it: nobody
/// who says `/dev/full` wants `/dev/full.cutlink`.
///
/// # Errors
/// A device, a pipe, a socket.
pub fn check_kind(target: &Path) -> Result<(), Error> {
    match fs::metadata(target) {
        Ok(meta) if !meta.is_file() && !meta.is_dir() => Err(not_regular(target)),
        _ => Ok(()),
    }
}

fn not_regular(target: &Path) -> Error {
    Error::input(format!("{} is not a regular file", target.display()))
        .hint("give the path of a file to write")
}

fn exists(target: &Path) -> Error {
    Error::input(format!("{} exists", target.display()))
        .hint("replace it with --force, or write elsewhere")
}

fn folder_of(target: &Path) -> &Path {
    match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Beginning of the names of temporary files; six letters and digits follow.
const PREFIX: &str = ".cutlink-";

fn temporary(target: &Path) -> Result<NamedTempFile, Error> {
    let folder = folder_of(target);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX);
    // Permissions of a new file follow the user's umask, not the private mode of temporary files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder).map_err(|error| {
        Error::input(format!(
            "cannot write {}: its folder is not writable",
            target.display()
        ))
        .because(error.get_ref().map_or(&error as _, |e| e as _))
        .hint(format!(
            "create {} or make it writable, or write elsewhere",
            folder.display()
        ))
    })?;
    // Tells it from a file that a killed process has left. Without locks, such files stay.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes the temporary files that killed processes have left in a folder: those that nobody has locked.
pub fn remove_abandoned(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_ours =
            |random: &str| random.len() == 6 && random.chars().all(|c| c.is_ascii_alphanumeric());
        if random.is_some_and(is_ours)
            && let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Writes a file with `fill` and renames it to the target; returns its size in bytes and the value of `fill`.
///
/// # Errors
/// Errors of `fill`, and I/O errors.
pub fn write<T>(
    target: &Path,
    force: bool,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    write_file(target, force, |file| {
        let mut writer = BufWriter::with_capacity(1 << 20, file.as_file());
        let result = fill(&mut writer)?;
        writer.flush().map_err(|e| failed(target, &e))?;
        Ok(result)
    })
}

/// Like [`write()`], for writers that give the place of what they write, by several threads say.
///
/// # Errors
/// As [`write()`].
pub fn write_at<T>(
    target: &Path,
    force: bool,
    fill: impl FnOnce(&File) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    write_file(target, force, |file| fill(file.as_file()))
}

/// Like [`write()`], for a text.
///
/// # Errors
/// I/O errors.
pub fn write_text(target: &Path, force: bool, text: &str) -> Result<(), Error> {
    write(target, force, |out| {
        out.write_all(text.as_bytes())
            .map_err(|e| failed(target, &e))
    })
    .map(drop)
}

/// Like [`write()`], for writers that need a path, which is that of the temporary file.
///
/// # Errors
/// As [`write()`].
pub fn write_by_path<T>(
    target: &Path,
    force: bool,
    fill: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    write_file(target, force, |file| fill(file.path()))
}

fn write_file<T>(
    target: &Path,
    force: bool,
    fill: impl FnOnce(&NamedTempFile) -> Result<T, Error>,
) -> Result<(T, u64), Error> {
    let file = temporary(target)?;
    let at = file.path().to_owned();
    pending().push(at.clone());
    let written = fill(&file).and_then(|result| Ok((result, place(file, target, force)?)));
    pending().retain(|path| *path != at);
    written
}

/// Renames a complete file to its target; returns its size in bytes.
fn place(file: NamedTempFile, target: &Path, force: bool) -> Result<u64, Error> {
    let broken = |error: io::Error| failed(target, &error);
    file.as_file().sync_all().map_err(broken)?;
    let bytes = file.as_file().metadata().map_err(broken)?.len();
    let placed = if force {
        file.persist(target)
    } else {
        file.persist_noclobber(target)
    };
    match placed {
        Ok(_) => Ok(bytes),
        Err(e) if e.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(target)),
        Err(e) => Err(broken(e.error)),
    }
}

/// Checks that a folder of files can be written; to be called before the work starts. `is_ours` tells by name which
/// files a folder that exists may have, since `force` replaces all of it.
///
/// # Errors
/// A target that exists and has files (without `force`), or files that are not `is_ours`, or is no folder.
pub fn check_folder(
    target: &Path,
    force: bool,
    is_ours: &dyn Fn(&str) -> bool,
) -> Result<(), Error> {
    let name = target.display();
    let entries = match fs::read_dir(target) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => {
            return Err(Error::input(format!(
                "cannot write {name}: it is not a folder that can be read"
            ))
            .because(&e));
        }
    };
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    match names.iter().find(|name| !is_ours(name)) {
        Some(other) => Err(
            Error::input(format!("{name} has other files, such as {other}"))
                .hint("move them elsewhere: the folder is replaced as a whole"),
        ),
        None if !force && !names.is_empty() => Err(exists(target)),
        None => Ok(()),
    }
}

/// Writes a folder with `fill`, which is given a temporary one beside the target, and renames it. Returns the value of
/// `fill`. With `force`, a folder that exists is moved aside and removed after that; an error leaves it in place.
///
/// # Errors
/// As [`check_folder`]; errors of `fill`, and I/O errors.
pub fn write_folder<T>(
    target: &Path,
    force: bool,
    is_ours: &dyn Fn(&str) -> bool,
    fill: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    check_folder(target, force, is_ours)?;
    let broken = |error: io::Error| failed(target, &error);
    let beside = |prefix| {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix);
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        builder.tempdir_in(folder_of(target)).map_err(broken)
    };
    let folder = beside(".cutlink-")?;
    let at = folder.path().to_owned();
    pending().push(at.clone());
    let written = fill(&at).and_then(|value| {
        if !target.exists() {
            fs::rename(&at, target).map_err(broken)?;
            return Ok(value);
        }
        // An empty folder, or one that `force` replaces.
        let aside = beside(".cutlink-old-")?;
        let old = aside.path().join("old");
        fs::rename(target, &old).map_err(broken)?;
        if let Err(error) = fs::rename(&at, target) {
            // What was there goes back; if that fails too, it stays where it is and is not removed.
            if fs::rename(&old, target).is_err() {
                let kept = aside.keep();
                return Err(
                    broken(error).hint(format!("the earlier files are in {}", kept.display()))
                );
            }
            return Err(broken(error));
        }
        Ok(value)
    });
    pending().retain(|path| *path != at);
    written
}

/// The error for a file that could not be written.
pub fn failed(target: &Path, error: &(dyn std::error::Error + 'static)) -> Error {
    let failure = Error::new(
        ErrorKind::Runtime,
        format!("cannot write {}", target.display()),
    )
    .because(error);
    let mut next = Some(error);
    while let Some(error) = next {
        let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        if matches!(
            kind,
            Some(
                io::ErrorKind::StorageFull
                    | io::ErrorKind::QuotaExceeded
                    | io::ErrorKind::FileTooLarge
            )
        ) {
            return failure.hint("no partial file remains: free some space, or write elsewhere");
        }
        next = error.source();
    }
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let name = |e: io::Result<fs::DirEntry>| e.expect("an entry").file_name();
        let mut names: Vec<String> = entries
            .map(|e| name(e).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn only_abandoned_temporary_files_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let kept = [
            ".cutlink-lock",
            ".cutlink-old-abc123",
            ".cutlink-abc12",
            "cutlink-abc123",
            ".cutlink-a.c123",
        ];
        for name in kept.into_iter().chain([".cutlink-abc123"]) {
            fs::write(path(name), "x").expect("a file");
        }
        fs::create_dir(path(".cutlink-folder")).expect("a folder");
        let in_use = temporary(&path("a")).expect("a temporary file");
        remove_abandoned(folder.path());
        assert!(!path(".cutlink-abc123").exists());
        assert!(in_use.path().exists() && path(".cutlink-folder").exists());
        assert!(kept.into_iter().all(|name| path(name).exists()));
        let left = in_use.path().to_owned();
        // A process that is killed closes its files, and does no more.
        let (file, at) = in_use.keep().expect("a file");
        drop(file);
        assert_eq!(at, left);
        remove_abandoned(folder.path());
        assert!(!left.exists());
    }

    #[test]
    fn a_failed_write_leaves_nothing_and_touches_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a");
        fs::write(&target, "old").expect("a file");
        let result: Result<((), u64), _> = write(&target, true, |w| {
            w.write_all(&[0; 1 << 21]).expect("disk space");
            Err(failed(
                &target,
                &io::Error::from(io::ErrorKind::StorageFull),
            ))
        });
        let failure = result.expect_err("a full disk");
        assert_eq!(failure.kind, ErrorKind::Runtime, "{failure}");
        assert!(failure.hint.is_some(), "says what to do");
        assert_eq!(names(folder.path()), ["a"], "no temporary file");
        assert_eq!(fs::read(&target).expect("a"), b"old", "untouched");
        let ours = |path: &PathBuf| path.starts_with(folder.path());
        assert!(!pending().iter().any(ours), "nothing to clean up");
    }

    #[test]
    fn existing_files_are_replaced_only_by_force() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a");
        fs::write(&target, "old").expect("a file");
        let put = |force| {
            write(&target, force, |w| {
                w.write_all(b"new!").map_err(|e| failed(&target, &e))
            })
        };
        assert!(check(&target, false, None).is_err(), "refused before");
        assert!(put(false).is_err(), "refused at the rename");
        assert_eq!(fs::read(&target).expect("a"), b"old", "untouched");
        assert!(check(&target, true, None).is_ok(), "allowed");
        assert_eq!(put(true).map(|(_, bytes)| bytes), Ok(4), "size");
        assert_eq!(fs::read(&target).expect("a"), b"new!", "replaced");
    }

    #[test]
    fn inputs_folders_and_missing_folders_are_not_targets() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().join("in");
        fs::write(&input, "x").expect("a file");
        assert!(check(&input, true, Some(&input)).is_err(), "the input");
        assert!(check(folder.path(), true, None).is_err(), "a folder");
        let missing = folder.path().join("no/such/file");
        let failure = check(&missing, true, None).expect_err("no folder");
        assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
    }
}
