//! Bytes of a file, unpacked where gzipped.
//!
//! Files are read into memory and not mapped: a mapped file that another program cuts short ends this one with
//! SIGBUS, and one that is written to changes under the readers.

use std::fs::File;
use std::io::{IsTerminal as _, Read};
use std::path::Path;

use cutlink_device::limits::{MAX_UNPACK_RATIO, is_pipe, most_unpacked_surface};
use cutlink_device::{Backend, DeviceError, Host, memory};
use flate2::bufread::GzDecoder;

use super::foreign::Foreign;
use super::{FilePlace, Format, ReadError, WeldError};

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
        quoted(&rest[..len])
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

    /// The error for a word on the line that begins at byte `at`; an empty word is the end of the line.
    pub(super) fn unexpected(
        &self,
        format: Format,
        at: usize,
        expected: String,
        word: &[u8],
    ) -> ReadError {
        let found = match word {
            [] => "the end of the line".into(),
            _ => quoted(&word[..word.len().min(40)]),
        };
        self.syntax(format, self.line_of(at), expected, found)
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

    /// The error for a file whose content unpacks to more than [`most_unpacked_surface`].
    pub(super) fn too_large(&self) -> ReadError {
        let packed = self.bytes.len() as u64;
        ReadError::UnpackedTooLarge {
            path: self.name.into(),
            packed,
            unpacked: most_unpacked_surface(packed),
            ratio: MAX_UNPACK_RATIO,
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

/// A word for messages, with what may have gone wrong.
fn quoted(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let hint = match is_decimal_comma(&text) {
        true => " (a decimal comma: export it with decimal points)",
        false => "",
    };
    format!("'{}'{hint}", text.escape_debug())
}

/// Whether a word is a number with a comma for its point, such as `-0,5`.
fn is_decimal_comma(word: &str) -> bool {
    word.split_once(',').is_some_and(|(whole, rest)| {
        let whole = whole.trim_start_matches(['+', '-']);
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = format!("0.{rest}");
        digits(whole) && fast_float2::parse::<f64, _>(&number).is_ok()
    })
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

/// The path that stands for standard input.
pub(super) const STDIN: &str = "-";
/// Its name in messages.
const STDIN_NAME: &str = "standard input";

/// Whether `path` is standard input, a named pipe or a socket: something that can be read once, and has no name for
/// outputs.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new(STDIN) || std::fs::metadata(path).is_ok_and(|meta| is_pipe(&meta))
}

/// Calls `f` with the name for messages and the bytes of the regular file or pipe at `path`, or of standard input.
pub(super) fn with_file<T>(
    path: &Path,
    f: impl FnOnce(&Path, &[u8]) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    if path == Path::new(STDIN) {
        let (name, stdin) = (Path::new(STDIN_NAME), std::io::stdin());
        if stdin.is_terminal() {
            return Err(ReadError::Terminal);
        }
        return f(name, &bytes_of_stream(name, stdin.lock(), most_streamed())?);
    }
    let io = |source| ReadError::Io {
        path: path.into(),
        source,
    };
    let meta = std::fs::metadata(path).map_err(io)?;
    if is_pipe(&meta) {
        let pipe = File::open(path).map_err(io)?;
        return f(path, &bytes_of_stream(path, pipe, most_streamed())?);
    }
    if !meta.is_file() {
        return Err(ReadError::NotAFile { path: path.into() });
    }
    let file = File::open(path).map_err(io)?;
    let before = file.metadata().map_err(io)?.len();
    f(path, &bytes_of(path, &file, before)?)
}

/// Most bytes of a stream: a third of the memory that is free. Its vector doubles as it grows, and what is in the
/// bytes needs memory too.
fn most_streamed() -> u64 {
    memory::available() / 3
}

/// All bytes of a stream, whose length is not known, but at most `most`.
fn bytes_of_stream(path: &Path, stream: impl Read, most: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let read = stream.take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| ReadError::Io {
        path: path.into(),
        source,
    })?;
    if bytes.len() as u64 > most {
        return Err(ReadError::Memory {
            path: path.into(),
            what: "its bytes",
            requested: 3 * bytes.len() as u64,
            free: most.saturating_mul(3),
        });
    }
    Ok(bytes)
}

/// All bytes of an opened file, which had size `before`.
fn bytes_of(path: &Path, file: impl Read, before: u64) -> Result<Vec<u8>, ReadError> {
    let capacity = usize::try_from(before).unwrap_or(usize::MAX);
    let memory = |e| out_of_memory(path, e);
    Host.reserve("its bytes", before).map_err(memory)?;
    let mut bytes = memory::with_capacity("its bytes", capacity).map_err(memory)?;
    // Files of the kernel's, as in /proc, have size 0 and content all the same.
    if before == 0 {
        return bytes_of_stream(path, file, most_streamed());
    }
    // One byte more, to see whether the file has grown.
    let read = file.take(before + 1).read_to_end(&mut bytes);
    let read = read.map_err(|source| ReadError::Io {
        path: path.into(),
        source,
    })? as u64;
    if read != before {
        return Err(ReadError::Changed {
            path: path.into(),
            before,
            read,
        });
    }
    Ok(bytes)
}

/// A gzip stream, unpacked.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    /// Bytes behind its last member that are neither a member nor zeros.
    pub(super) ignored: u64,
}

/// The unpacked bytes of a gzip stream, all its members one behind the other, or `None` where `bytes` is not one.
/// What follows the last member is ignored, as gunzip does.
pub(super) fn gunzip(name: &Path, bytes: &[u8]) -> Result<Option<Unpacked>, ReadError> {
    const MAGIC: [u8; 2] = [0x1f, 0x8b];
    if !bytes.starts_with(&MAGIC) {
        return Ok(None);
    }
    let packed = bytes.len() as u64;
    let limit = most_unpacked_surface(packed);
    let mut out = Vec::new();
    let mut rest = bytes;
    while rest.starts_with(&MAGIC) {
        let mut member = GzDecoder::new(rest);
        let room = limit + 1 - out.len() as u64;
        let read = member.by_ref().take(room).read_to_end(&mut out);
        read.map_err(|source| ReadError::Gzip {
            path: name.into(),
            unpacked: out.len() as u64,
            source,
        })?;
        if out.len() as u64 > limit {
            return Err(Source { name, bytes }.too_large());
        }
        rest = member.into_inner();
    }
    let is_padding = rest.iter().all(|&b| b == 0);
    Ok(Some(Unpacked {
        bytes: out,
        ignored: if is_padding { 0 } else { rest.len() as u64 },
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_to_their_end_or_the_limit() {
        let read = |most| bytes_of_stream(Path::new("pipe"), &b"solid"[..], most);
        assert_eq!(read(5).expect("all of it"), b"solid");
        let error = read(4).expect_err("more than that");
        assert!(matches!(error, ReadError::Memory { .. }), "{error}");
        assert!(is_stream(Path::new("-")) && !is_stream(Path::new("Cargo.toml")));
    }

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
