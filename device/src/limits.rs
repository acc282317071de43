//! Limits that every reader of files obeys; `docs/limits.md` is the user's page of them.
//!
//! | what is read | kinds of file | bytes at most |
//! |---|---|---|
//! | surfaces | regular, pipes, standard input | free memory; gzipped [`most_unpacked_surface`] |
//! | volume meshes, OpenFOAM's files | regular | free memory; gzipped [`most_unpacked_mesh`] |
//! | cases, options | regular, pipes | [`MAX_CASE`] |
//! | tables of numbers | regular, pipes | [`MAX_TABLE`] |
//! | mesh files, checkpoints | regular | what their checked headers say |
//!
//! Links count as what they lead to. Counts in a file are compared with its bytes, and the memory for them with
//! [`memory::available`], before anything is allocated ([`Backend::reserve`]).

use crate::{Backend, DeviceError, Host, memory};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

/// Largest size to which a gzipped surface may unpack, in bytes. Plain files have no such limit.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Largest ratio of unpacked to packed size of a surface, checked once 16 MiB are unpacked.
/// ASCII STL packs about 10 : 1 and a finely split flat box 50 : 1; deflate's own limit is 1032 : 1.
pub const MAX_UNPACK_RATIO: u64 = 200;

/// Unpacked size of a surface below which the ratio is not looked at.
const RATIO_FREE: u64 = 16 << 20;

/// Largest ratio of unpacked to packed size of a volume mesh or a field beyond [`MAX_UNPACKED`]. Lists of ids and of
/// coordinates pack 3 : 1 to 8 : 1; fields of one value up to deflate's limit, which is why smaller ones may.
pub const MAX_MESH_RATIO: u64 = 64;

/// Largest case of a flow, or file of options, in bytes. The longest example has 4 kB.
pub const MAX_CASE: u64 = 16 << 20;

/// Largest table of numbers, such as a velocity profile, in bytes.
pub const MAX_TABLE: u64 = 256 << 20;

/// What memory is for.
const BYTES: &str = "the bytes of the file";

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// The system's reason.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A folder, a device, or a pipe where none can be read.
    #[error("it is {what}, not a regular file")]
    Kind {
        /// What it is, with its article.
        what: &'static str,
    },
    /// More bytes than such a file may have.
    #[error("it has more than {most} bytes, the most that such a file may have")]
    TooLarge {
        /// The limit.
        most: u64,
    },
    /// A packed file that unpacks to more than it may.
    #[error(
        "its {packed} bytes unpack to more than {most}: if this is intended, unpack it first (gunzip)"
    )]
    Unpacked {
        /// Its size.
        packed: u64,
        /// The limit.
        most: u64,
    },
    /// No memory for it.
    #[error("not enough memory for {what}: {requested} bytes needed, {free} bytes free")]
    Memory {
        /// What the memory is for.
        what: &'static str,
        /// Bytes that are needed.
        requested: u64,
        /// Bytes that are free.
        free: u64,
    },
}

impl From<DeviceError> for LimitError {
    fn from(error: DeviceError) -> Self {
        match error {
            DeviceError::OutOfMemory {
                what,
                requested,
                free,
                ..
            } => Self::Memory {
                what,
                requested,
                free,
            },
            // Nothing else comes of an allocation.
            error => Self::Io(io::Error::other(error)),
        }
    }
}

/// What a path may lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readable {
    /// Regular files only.
    Files,
    /// Regular files and pipes, which end: what a shell makes of `<(…)`.
    FilesAndPipes,
}

/// Most bytes to which so many packed ones of a surface may unpack.
pub fn most_unpacked_surface(packed: u64) -> u64 {
    MAX_UNPACKED.min(RATIO_FREE.max(packed.saturating_mul(MAX_UNPACK_RATIO)))
}

/// Most bytes to which so many packed ones of a volume mesh or a field may unpack: [`MAX_UNPACKED`], or
/// [`MAX_MESH_RATIO`] times the packed size where that is more.
pub fn most_unpacked_mesh(packed: u64) -> u64 {
    MAX_UNPACKED.max(packed.saturating_mul(MAX_MESH_RATIO))
}

/// Whether it is a named pipe or a socket: something that can be read once.
pub fn is_pipe(meta: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        meta.file_type().is_fifo() || meta.file_type().is_socket()
    }
    #[cfg(not(unix))]
    {
        let _ = meta;
        false
    }
}

/// Opens a file for reading. Its kind is looked at before: a pipe without a writer would block, a device may have no
/// end.
///
/// # Errors
/// What is not there or not readable; other kinds of files.
pub fn open(path: &Path, kinds: Readable) -> Result<File, LimitError> {
    check_kind(&std::fs::metadata(path)?, kinds)?;
    let file = File::open(path)?;
    // It may have been replaced meanwhile.
    check_kind(&file.metadata()?, kinds)?;
    Ok(file)
}

fn check_kind(meta: &Metadata, kinds: Readable) -> Result<(), LimitError> {
    let is_pipe = is_pipe(meta);
    if meta.is_file() || kinds == Readable::FilesAndPipes && is_pipe {
        return Ok(());
    }
    Err(LimitError::Kind {
        what: match (meta.is_dir(), is_pipe) {
            (true, _) => "a folder",
            (_, true) => "a pipe",
            _ => "a device",
        },
    })
}

/// The bytes of a file or pipe, at most `most` of them.
///
/// # Errors
/// As [`open`]; a larger file; no memory.
pub fn read(path: &Path, kinds: Readable, most: u64) -> Result<Vec<u8>, LimitError> {
    let file = open(path, kinds)?;
    let len = file.metadata()?.len();
    if len > most {
        return Err(LimitError::TooLarge { most });
    }
    Host.reserve(BYTES, len)?;
    let mut bytes = memory::with_capacity(BYTES, len as usize)?;
    fill(file, most, &mut bytes)?;
    Ok(bytes)
}

/// As [`read`], for text in UTF-8.
///
/// # Errors
/// As [`read`]; bytes that are no UTF-8.
pub fn read_text(path: &Path, kinds: Readable, most: u64) -> Result<String, LimitError> {
    let bytes = read(path, kinds, most)?;
    String::from_utf8(bytes).map_err(|e| {
        let at = e.utf8_error().valid_up_to();
        let text = format!("it is no text in UTF-8, from byte {at} on");
        io::Error::new(io::ErrorKind::InvalidData, text).into()
    })
}

/// What a decoder of a volume mesh's or a field's `packed` bytes gives: at most [`most_unpacked_mesh`], and a third of the
/// free memory, since its vector doubles as it grows.
///
/// # Errors
/// The decoder's; more bytes than that.
pub fn unpack_mesh(decoder: impl Read, packed: u64) -> Result<Vec<u8>, LimitError> {
    let (most, third) = (most_unpacked_mesh(packed), memory::available() / 3);
    let mut bytes = Vec::new();
    match fill(decoder, most.min(third), &mut bytes) {
        Err(LimitError::TooLarge { .. }) if third < most => Err(LimitError::Memory {
            what: "what the file unpacks to",
            requested: 3 * bytes.len() as u64,
            free: third.saturating_mul(3),
        }),
        Err(LimitError::TooLarge { .. }) => Err(LimitError::Unpacked { packed, most }),
        Err(error) => Err(error),
        Ok(()) => Ok(bytes),
    }
}

/// Appends all that there is to read, if it is not more than `most` bytes.
fn fill(from: impl Read, most: u64, bytes: &mut Vec<u8>) -> Result<(), LimitError> {
    let read = from.take(most.saturating_add(1)).read_to_end(bytes)? as u64;
    match read <= most {
        true => Ok(()),
        false => Err(LimitError::TooLarge { most }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_end_are_opened() {
        let files = |path: &str| open(Path::new(path), Readable::Files);
        assert!(files("Cargo.toml").is_ok(), "a regular file");
        let error = files("src").expect_err("a folder").to_string();
        assert_eq!(error, "it is a folder, not a regular file");
        if cfg!(unix) {
            for kinds in [Readable::Files, Readable::FilesAndPipes] {
                let error = open(Path::new("/dev/zero"), kinds).expect_err("no end");
                assert!(error.to_string().contains("a device"), "{error}");
            }
        }
        let missing = files("no such file").expect_err("not there");
        assert!(matches!(missing, LimitError::Io(_)), "{missing}");
    }

    #[test]
    fn files_are_read_up_to_their_limit() {
        let path = Path::new("Cargo.toml");
        let len = std::fs::metadata(path).expect("a file").len();
        let read = |most| read_text(path, Readable::Files, most);
        assert_eq!(read(len).expect("all of it").len() as u64, len);
        let error = read(len - 1).expect_err("one too many");
        assert!(
            matches!(error, LimitError::TooLarge { most } if most == len - 1),
            "{error}"
        );
    }

    #[test]
    fn what_unpacks_is_bounded_by_its_packed_size() {
        assert_eq!(most_unpacked_surface(1), 16 << 20, "small ones are free");
        assert_eq!(most_unpacked_surface(1 << 20), 200 << 20);
        assert_eq!(most_unpacked_surface(u64::MAX), 1 << 30);
        assert_eq!(most_unpacked_mesh(1), 1 << 30);
        assert_eq!(most_unpacked_mesh(1 << 30), 64 << 30);
        let most = most_unpacked_mesh(10);
        let error = unpack_mesh(io::repeat(7).take(most + 1), 10).expect_err("a bomb");
        match error {
            LimitError::Unpacked { packed, most: at } => assert_eq!((packed, at), (10, most)),
            // Of a machine with little memory.
            LimitError::Memory { free, .. } => assert!(free < 3 * most),
            other => panic!("{other}"),
        }
        let whole = unpack_mesh(io::repeat(7).take(100), 10).expect("small");
        assert_eq!(whole, [7; 100]);
    }
}
