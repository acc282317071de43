//! Bytes of a file, unpacked where gzipped.
//!
//! Files are read into memory and not mapped: a mapped file that another program cuts short ends this one with
//! SIGBUS, and one that is written to changes under the readers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use cutlink_device::{DeviceError, memory};
use flate2::read::MultiGzDecoder;

use super::foreign::Foreign;
use super::{FilePlace, Format, ReadError, WeldError};

/// Largest size to which a gzipped file may unpack, in bytes. Plain files have no such limit.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Largest ratio of unpacked to packed size, checked once 16 MiB are unpacked.
/// ASCII STL packs about 10 : 1 and a finely split flat box 50 : 1; deflate's own limit is 1032 : 1.
pub const MAX_UNPACK_RATIO: u64 = 200;

/// Unpacked size below which the ratio is not looked at.
const RATIO_FREE: u64 = 16 << 20;

/// The unpacked bytes of a file and the name for messages.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) name: &'a Path,
    pub(super) bytes: &'a [u8],
}

impl Source<'_> {
    /// The line that holds byte `at`; `\n`, `\r\n` and a lone `\r` each end one.
    pub(super) fn line_of(&self, at: usize) -> FilePlace {
        let before = &self.bytes[..at.min(self.bytes.len())];
        let mut lines = 1;
        let mut last = 0;
        for i in memchr::memchr2_iter(b'\n', b'\r', before) {
            let pair = before[i] == b'\n' && i > 0 && before[i - 1] == b'\r' && last + 1 == i;
            lines += u64::from(!pair);
            last = i;
        }
        FilePlace::Line(lines)
    }

    /// A printable piece of what stands at byte `at`, up to white space.
    pub(super) fn word_at(&self, at: usize) -> String {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        let len = rest
            .iter()
            .take(40)
            .take_while(|b| !b.is_ascii_whitespace())
            .count();
        if len == 0 && rest.is_empty() {
            return "the end of the file".into();
        }
        format!("'{}'", String::from_utf8_lossy(&rest[..len]).escape_debug())
    }

    pub(super) fn syntax(
        &self,
        format: Format,
        place: FilePlace,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ReadError {
        ReadError::Syntax {
            path: self.name.into(),
            format,
            place,
            expected: expected.into(),
            found: found.into(),
        }
    }

    pub(super) fn not_finite(&self, format: Format, place: FilePlace, value: f64) -> ReadError {
        ReadError::NotFinite {
            path: self.name.into(),
            format,
            place,
            value,
        }
    }

    pub(super) fn memory(&self, error: DeviceError) -> ReadError {
        out_of_memory(self.name, error)
    }

    pub(super) fn weld(&self, format: Format, error: WeldError) -> ReadError {
        match error {
            WeldError::TooMany { corners } => ReadError::TooMany {
                path: self.name.into(),
                format,
                corners,
            },
            WeldError::Memory(error) => self.memory(error),
        }
    }

    pub(super) fn foreign(&self, foreign: Foreign) -> ReadError {
        ReadError::Foreign {
            path: self.name.into(),
            what: foreign.what,
            remedy: foreign.remedy,
        }
    }

    pub(super) fn no_facets(&self, format: Format, why: &'static str) -> ReadError {
        ReadError::NoFacets {
            path: self.name.into(),
            format,
            why,
        }
    }
}

fn out_of_memory(path: &Path, error: DeviceError) -> ReadError {
    match error {
        DeviceError::OutOfMemory {
            what,
            requested,
            free,
            ..
        } => ReadError::Memory {
            path: path.into(),
            what,
            requested,
            free,
        },
        // Nothing else comes of an allocation.
        error => ReadError::Io {
            path: path.into(),
            source: std::io::Error::other(error),
        },
    }
}

/// Calls `f` with the bytes of the regular file at `path`.
pub(super) fn with_file<T>(
    path: &Path,
    f: impl FnOnce(&[u8]) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let io = |source| ReadError::Io {
        path: path.into(),
        source,
    };
    // Before opening: a pipe without a writer would block there.
    let meta = std::fs::metadata(path).map_err(io)?;
    if !meta.is_file() {
        return Err(ReadError::NotAFile { path: path.into() });
    }
    let file = File::open(path).map_err(io)?;
    let before = file.metadata().map_err(io)?.len();
    f(&bytes_of(path, &file, before)?)
}

/// All bytes of an opened file, which had size `before`.
fn bytes_of(path: &Path, file: impl Read, before: u64) -> Result<Vec<u8>, ReadError> {
    let capacity = usize::try_from(before).unwrap_or(usize::MAX);
    let bytes = memory::with_capacity("its bytes", capacity);
    let mut bytes = bytes.map_err(|e| out_of_memory(path, e))?;
    // One byte more, to see whether the file has grown. Files of the kernel's, as in /proc, have size 0 and content all
    // the same.
    let most = if before > 0 { before + 1 } else { u64::MAX };
    let read = file.take(most).read_to_end(&mut bytes);
    let read = read.map_err(|source| ReadError::Io {
        path: path.into(),
        source,
    })? as u64;
    if read != before && before > 0 {
        return Err(ReadError::Changed {
            path: path.into(),
            before,
            read,
        });
    }
    Ok(bytes)
}

/// The unpacked bytes of a gzip stream, or `None` where `bytes` is not one.
pub(super) fn gunzip(name: &Path, bytes: &[u8]) -> Result<Option<Vec<u8>>, ReadError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(None);
    }
    let packed = bytes.len() as u64;
    let limit = MAX_UNPACKED.min(RATIO_FREE.max(packed.saturating_mul(MAX_UNPACK_RATIO)));
    let mut out = Vec::new();
    MultiGzDecoder::new(bytes)
        .take(limit + 1)
        .read_to_end(&mut out)
        .map_err(|source| ReadError::Gzip {
            path: name.into(),
            unpacked: out.len() as u64,
            source,
        })?;
    if out.len() as u64 > limit {
        return Err(ReadError::GzipTooLarge {
            path: name.into(),
            packed,
            unpacked: limit,
            ratio: MAX_UNPACK_RATIO,
        });
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_change_are_told_apart() {
        let read = |content: &[u8], before| bytes_of(Path::new("a.stl"), content, before);
        let all = b"solid";
        for before in [5, 0] {
            assert_eq!(read(all, before).expect("unchanged"), all);
        }
        for (before, text) in [
            (9, "9 bytes before, 5 now"),
            (4, "4 bytes before, more now"),
        ] {
            let error = read(all, before).expect_err("changed").to_string();
            assert!(error.contains(text) && error.contains("a.stl"), "{error}");
        }
        let error = read(all, u64::MAX / 4).expect_err("no such memory");
        assert!(matches!(error, ReadError::Memory { .. }), "{error}");
    }
}
