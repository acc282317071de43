//! Sections, words and numbers of `.msh` files, text or binary.

use crate::MeshFileError;
use crate::volume::source::syntax;
use std::path::Path;

/// A file, and how far it has been read.
pub(super) struct Lexer<'a> {
    path: &'a Path,
    bytes: &'a [u8],
    at: usize,
    binary: bool,
    big: bool,
    /// Bytes of a `size_t`.
    size: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Self {
        Self {
            path,
            bytes,
            at: 0,
            binary: false,
            big: false,
            size: 8,
        }
    }

    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    /// An error at the present place.
    pub(super) fn wrong(&self, what: impl Into<String>) -> MeshFileError {
        let at = self.at.min(self.bytes.len());
        let line = 1 + memchr::memchr_iter(b'\n', &self.bytes[..at]).count();
        let place = match self.binary {
            true => format!("byte {at}"),
            false => format!("line {line}"),
        };
        syntax(self.path, place, what)
    }

    pub(super) fn is_binary(&self) -> bool {
        self.binary
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        let blanks = rest.iter().position(|b| !b.is_ascii_whitespace());
        self.at += blanks.unwrap_or(rest.len());
    }

    /// The next word, empty at the end of the file.
    fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let rest = self.rest();
        let len = rest.iter().position(u8::is_ascii_whitespace);
        let len = len.unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// `$MeshFormat`: the version, 2 or 4, and how numbers are stored.
    pub(super) fn header(&mut self) -> Result<u32, MeshFileError> {
        if self.word() != b"$MeshFormat" {
            return Err(self.wrong("`$MeshFormat` expected"));
        }
        let version = self.word();
        let major = match version {
            b"4.1" => 4,
            b"2.2" | b"2.1" | b"2.0" | b"2" => 2,
            [] => return Err(self.wrong("the file ends before its version")),
            other => {
                let version = shown(other);
                return Err(self.wrong(format!(
                    "version {version} is not supported: save it as 4.1 (gmsh -format msh41) or 2.2"
                )));
            }
        };
        let kind = self.text_integer("the type of the file, 0 or 1")?;
        let size = self.text_integer("the size of numbers")?;
        if !(kind == 0 || kind == 1) {
            return Err(self.wrong(format!("type {kind} of the file is neither 0 nor 1")));
        }
        if size != 8 && !(size == 4 && major == 4) {
            return Err(self.wrong(format!("numbers of {size} bytes are not supported")));
        }
        self.size = size as usize;
        if kind == 1 {
            self.binary = true;
            self.end_line()?;
            self.big = match self.raw::<4>()? {
                [1, 0, 0, 0] => false,
                [0, 0, 0, 1] => true,
                _ => return Err(self.wrong("the order of bytes cannot be told: 1 expected")),
            };
        }
        self.end_section("MeshFormat")?;
        Ok(major)
    }

    /// The name of the next section; `None` at the end of the file.
    pub(super) fn section(&mut self) -> Result<Option<String>, MeshFileError> {
        let before = self.at;
        match self.word() {
            [] => Ok(None),
            [b'$', name @ ..] if !name.starts_with(b"End") => {
                if self.binary && !matches!(name, b"PhysicalNames") {
                    self.end_line()?;
                }
                Ok(Some(String::from_utf8_lossy(name).into_owned()))
            }
            other => {
                let other = shown(other);
                self.at = before;
                Err(self.wrong(format!("a section expected, {other} found")))
            }
        }
    }

    /// Skips the line end after the name of a section, behind which raw numbers begin.
    pub(super) fn end_line(&mut self) -> Result<(), MeshFileError> {
        let end = memchr::memchr(b'\n', self.rest());
        match end {
            Some(end) if self.rest()[..end].iter().all(u8::is_ascii_whitespace) => {
                self.at += end + 1;
                Ok(())
            }
            _ => Err(self.wrong("the end of the line expected")),
        }
    }

    /// `$EndNAME`.
    pub(super) fn end_section(&mut self, name: &str) -> Result<(), MeshFileError> {
        let before = self.at;
        let word = self.word();
        if word.strip_prefix(b"$End") == Some(name.as_bytes()) {
            return Ok(());
        }
        let found = shown(word);
        self.at = before;
        Err(self.wrong(format!("`$End{name}` expected, {found} found")))
    }

    /// Skips to the end of a section.
    pub(super) fn skip_section(&mut self, name: &str) -> Result<(), MeshFileError> {
        let end = format!("$End{name}");
        match memchr::memmem::find(self.rest(), end.as_bytes()) {
            Some(len) => {
                self.at += len;
                Ok(())
            }
            None => Err(self.wrong(format!("${name} has no end: the file is truncated"))),
        }
    }

    /// A number of text, in binary files too.
    pub(super) fn text_integer(&mut self, what: &str) -> Result<i64, MeshFileError> {
        self.parsed(what, |word| word.parse().ok())
    }

    /// A count of text, in binary files too.
    pub(super) fn text_count(&mut self, what: &str) -> Result<usize, MeshFileError> {
        let count = self.text_integer(what)?;
        self.fitting(count, 1, what)
    }

    fn parsed<T>(
        &mut self,
        what: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, MeshFileError> {
        self.skip_blanks();
        let before = self.at;
        let word = self.word();
        let value = std::str::from_utf8(word).ok().and_then(parse);
        value.ok_or_else(|| {
            let found = shown(word);
            self.at = before;
            self.wrong(format!("{what} expected, {found} found"))
        })
    }

    /// A text in quotes.
    pub(super) fn quoted(&mut self) -> Result<String, MeshFileError> {
        self.skip_blanks();
        let rest = self.rest();
        let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
        let inner = line.strip_prefix(b"\"");
        let end = inner.and_then(|inner| memchr::memrchr(b'"', inner));
        match inner.zip(end) {
            Some((inner, end)) => {
                self.at += end + 2;
                Ok(String::from_utf8_lossy(&inner[..end]).into_owned())
            }
            None => Err(self.wrong("a name in quotes expected")),
        }
    }

    fn raw<const N: usize>(&mut self) -> Result<[u8; N], MeshFileError> {
        match self.rest().first_chunk() {
            Some(&bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => Err(self.wrong("the file ends within a section: it is truncated")),
        }
    }

    fn raw_integer(&mut self, bytes: usize) -> Result<i64, MeshFileError> {
        Ok(match (bytes, self.big) {
            (4, false) => i32::from_le_bytes(self.raw()?).into(),
            (4, true) => i32::from_be_bytes(self.raw()?).into(),
            (_, false) => i64::from_le_bytes(self.raw()?),
            (_, true) => i64::from_be_bytes(self.raw()?),
        })
    }

    /// An `int`.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, MeshFileError> {
        match self.binary {
            true => self.raw_integer(4),
            false => self.text_integer(what),
        }
    }

    /// A `size_t`.
    pub(super) fn size(&mut self, what: &str) -> Result<i64, MeshFileError> {
        match self.binary {
            true => self.raw_integer(self.size),
            false => self.text_integer(what),
        }
    }

    /// A coordinate.
    pub(super) fn real(&mut self) -> Result<f64, MeshFileError> {
        let value = match (self.binary, self.big) {
            (true, false) => f64::from_le_bytes(self.raw()?),
            (true, true) => f64::from_be_bytes(self.raw()?),
            _ => self.parsed("a coordinate", |word| word.parse().ok())?,
        };
        match value.is_finite() {
            true => Ok(value),
            false => Err(self.wrong("a coordinate is not finite")),
        }
    }

    /// A `size_t` that counts things of so many numbers each.
    pub(super) fn count(&mut self, numbers: usize, what: &str) -> Result<usize, MeshFileError> {
        let count = self.size(what)?;
        self.fitting(count, numbers, what)
    }

    /// Refuses counts of things of so many numbers each that the file is too short for.
    pub(super) fn fitting(
        &self,
        count: i64,
        numbers: usize,
        what: &str,
    ) -> Result<usize, MeshFileError> {
        // A number takes a digit and a blank, or four bytes.
        let least = numbers.max(1) * if self.binary { 4 } else { 2 };
        let left = self.rest().len() + 1;
        let fits = usize::try_from(count)
            .ok()
            .filter(|count| count.checked_mul(least).is_some_and(|bytes| bytes <= left));
        fits.ok_or_else(|| {
            self.wrong(format!(
                "{what} is {count}, and {left} bytes are left in the file"
            ))
        })
    }
}

/// A word for messages.
fn shown(word: &[u8]) -> String {
    match word {
        [] => "the end of the file".into(),
        _ => format!(
            "`{}`",
            String::from_utf8_lossy(&word[..word.len().min(40)]).escape_debug()
        ),
    }
}
