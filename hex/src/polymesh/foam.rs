//! Tokens of OpenFOAM's files: headers, text and binary lists.

use crate::MeshFileError;
use cutlink_device::limits::{self, LimitError, Readable};
use cutlink_device::{Backend, Host, memory};
use std::io;
use std::path::{Path, PathBuf};

/// A file in memory, and how far it has been read.
#[derive(Debug)]
pub(crate) struct Source {
    path: PathBuf,
    bytes: Vec<u8>,
    at: usize,
    binary: bool,
    /// Bytes of a label and of a scalar in binary lists.
    widths: [usize; 2],
    /// Of the header.
    pub(crate) class: String,
}

/// Bytes of a file, unpacked where they are gzipped, whatever its name.
fn unpacked(bytes: Vec<u8>) -> Result<Vec<u8>, LimitError> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let decoder = flate2::read::MultiGzDecoder::new(&bytes[..]);
    limits::unpack_mesh(decoder, bytes.len() as u64)
}

/// Keywords and values of a dictionary, values as they are in the file.
pub(crate) type Entries = Vec<(String, String)>;

impl Source {
    /// Opens a file or its `.gz`, and reads the header; `None` where there is neither.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, MeshFileError> {
        let read = |path: &Path| match limits::read(path, Readable::Files, u64::MAX) {
            Ok(bytes) => unpacked(bytes).map(Some),
            Err(LimitError::Io(e)) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        };
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| MeshFileError::Limit { path, source }
        };
        let mut packed = path.as_os_str().to_owned();
        packed.push(".gz");
        let packed = PathBuf::from(packed);
        let (path, bytes) = match read(path).map_err(failed(path))? {
            Some(bytes) => (path.to_owned(), bytes),
            None => match read(&packed).map_err(failed(&packed))? {
                Some(bytes) => (packed, bytes),
                None => return Ok(None),
            },
        };
        let (class, widths) = (String::new(), [4, 8]);
        let mut source = Self {
            path,
            bytes,
            at: 0,
            binary: false,
            widths,
            class,
        };
        source.header()?;
        Ok(Some(source))
    }

    fn header(&mut self) -> Result<(), MeshFileError> {
        match self.word()?.as_str() {
            "FoamFile" => {}
            other => return Err(self.wrong(format!("`FoamFile` expected, `{other}` found"))),
        }
        for (key, value) in self.dictionary()? {
            match (key.as_str(), value.trim_matches('"')) {
                ("format", "ascii") => self.binary = false,
                ("format", "binary") => self.binary = true,
                ("format", other) => {
                    return Err(self.wrong(format!("format `{other}` is not known")));
                }
                ("class", class) => self.class = class.to_owned(),
                ("arch", arch) => self.arch(arch)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `LSB;label=32;scalar=64`
    fn arch(&mut self, arch: &str) -> Result<(), MeshFileError> {
        for part in arch.split(';') {
            match part.trim() {
                "LSB" | "" | "label=32" | "scalar=64" => {}
                "label=64" => self.widths[0] = 8,
                "scalar=32" => self.widths[1] = 4,
                other => return Err(self.wrong(format!("arch `{other}` is not supported"))),
            }
        }
        Ok(())
    }

    /// An error at the present place.
    pub(crate) fn wrong(&self, what: impl Into<String>) -> MeshFileError {
        let line = 1 + self.bytes[..self.at.min(self.bytes.len())]
            .iter()
            .filter(|&&b| b == b'\n')
            .count();
        MeshFileError::Syntax {
            path: self.path.clone(),
            place: match self.binary {
                true => format!("byte {}", self.at),
                false => format!("line {line}"),
            },
            what: what.into(),
        }
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Skips blanks and comments; the next byte.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let rest = &self.bytes[self.at..];
            match rest {
                [b' ' | b'\t' | b'\r' | b'\n', ..] => self.at += 1,
                [b'/', b'/', ..] => {
                    self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                [b'/', b'*', ..] => {
                    let end = rest.windows(2).position(|w| w == b"*/");
                    self.at += end.map_or(rest.len(), |end| end + 2);
                }
                _ => return rest.first().copied(),
            }
        }
    }

    /// Whether nothing follows but blanks and comments.
    pub(crate) fn is_end(&mut self) -> bool {
        self.peek().is_none()
    }

    pub(crate) fn word(&mut self) -> Result<String, MeshFileError> {
        self.peek();
        let rest = &self.bytes[self.at..];
        if let [b'"', quoted @ ..] = rest
            && let Some(end) = quoted.iter().position(|&b| b == b'"')
        {
            self.at += end + 2;
            return Ok(String::from_utf8_lossy(&rest[..end + 2]).into_owned());
        }
        let ends = |b: &u8| b.is_ascii_whitespace() || b"(){};".contains(b);
        let len = rest.iter().position(ends).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.wrong("a word expected"));
        }
        let word = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.at += len;
        Ok(word)
    }

    /// The name of a patch or of a zone: a word of OpenFOAM, since it is written again, and OpenFOAM makes files of it.
    pub(crate) fn name(&mut self, of: &str) -> Result<String, MeshFileError> {
        self.peek();
        let from = self.at;
        let name = self.word()?;
        let is_odd = |c: char| c.is_control() || c.is_whitespace() || "\"'/;{}\u{fffd}".contains(c);
        if name.starts_with(['#', '$']) || name == "." || name == ".." || name.contains(is_odd) {
            self.at = from;
            let shown: String = name.chars().take(40).collect();
            let what = format!(
                "the name of {of} is `{}`, which is no word of OpenFOAM: rename it",
                shown.escape_debug()
            );
            return Err(self.wrong(what));
        }
        Ok(name)
    }

    pub(crate) fn skip(&mut self, byte: u8) -> Result<(), MeshFileError> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            Some(found) => {
                let (byte, found) = (char::from(byte), char::from(found));
                Err(self.wrong(format!("`{byte}` expected, `{found}` found")))
            }
            None => Err(self.wrong(format!("`{}` expected, the file ends", char::from(byte)))),
        }
    }

    /// Whether the next token is this byte, which is then skipped.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// `{ key value; … }`; a sub-dictionary is a value.
    pub(crate) fn dictionary(&mut self) -> Result<Entries, MeshFileError> {
        self.skip(b'{')?;
        let mut entries = Vec::new();
        while !self.take(b'}') {
            let key = self.word()?;
            let value = self.value()?;
            entries.push((key, value));
        }
        Ok(entries)
    }

    /// Text up to `;`, or a block in braces with its braces.
    pub(crate) fn value(&mut self) -> Result<String, MeshFileError> {
        self.peek();
        let (from, mut depth, mut quoted) = (self.at, 0usize, false);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => quoted = !quoted,
                _ if quoted => {}
                b'(' | b'{' => depth += 1,
                b')' | b'}' if depth == 0 => break,
                b')' => depth -= 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 && self.bytes[from] == b'{' {
                        self.at += 1;
                        return Ok(self.text(from, self.at));
                    }
                }
                b';' if depth == 0 => {
                    let value = self.text(from, self.at);
                    self.at += 1;
                    return Ok(value);
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(self.wrong("`;` expected at the end of an entry"))
    }

    fn text(&self, from: usize, to: usize) -> String {
        String::from_utf8_lossy(&self.bytes[from..to])
            .trim()
            .to_owned()
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, MeshFileError> {
        let next = self
            .peek()
            .map_or_else(String::new, |byte| char::from(byte).into());
        let from = self.at;
        let word = self.word().unwrap_or(next);
        word.parse().map_err(|_| {
            self.at = from;
            self.wrong(format!("{what} expected, `{word}` found"))
        })
    }

    /// A scalar of text.
    pub(crate) fn scalar(&mut self) -> Result<f64, MeshFileError> {
        self.number("a number")
    }

    /// A label of text that is an id or a count.
    pub(crate) fn label(&mut self) -> Result<u32, MeshFileError> {
        self.number("a label from 0 to 2^32 - 1")
    }

    /// The length of a list, each element of which takes at least so many bytes.
    pub(crate) fn length(&mut self, least: usize) -> Result<usize, MeshFileError> {
        let len: usize = self.number("the length of a list")?;
        match len
            .checked_mul(least)
            .is_some_and(|bytes| bytes <= self.left() && len < u32::MAX as usize)
        {
            true => Ok(len),
            false => Err(self.wrong(format!(
                "a list of {len} elements is longer than the file, or than 2^32"
            ))),
        }
    }

    fn reserve<T>(&self, what: &'static str, len: usize) -> Result<Vec<T>, MeshFileError> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let reserved = Host
            .reserve(what, bytes)
            .and_then(|()| memory::with_capacity(what, len));
        reserved.map_err(|source| MeshFileError::Limit {
            path: self.path.clone(),
            source: source.into(),
        })
    }

    /// A list of labels.
    pub(crate) fn labels(&mut self, what: &'static str) -> Result<Vec<u32>, MeshFileError> {
        let least = if self.binary { self.widths[0] } else { 1 };
        // A uniform list is shorter than its elements.
        let (before, uniform) = (self.at, self.uniform());
        self.at = before;
        let len = self.length(if uniform { 0 } else { least })?;
        let mut labels = self.reserve(what, len)?;
        if uniform {
            self.skip(b'{')?;
            let label = self.label()?;
            labels.resize(len, label);
            self.skip(b'}')?;
            return Ok(labels);
        }
        if len == 0 && self.peek() != Some(b'(') {
            return Ok(labels);
        }
        self.skip(b'(')?;
        for _ in 0..len {
            let label = match self.binary {
                true => self.raw_label()?,
                false => self.label()?,
            };
            labels.push(label);
        }
        self.skip(b')')?;
        Ok(labels)
    }

    /// Skips the type in front of a list.
    pub(crate) fn list_of(&mut self, kind: &str) -> Result<(), MeshFileError> {
        match self.word()? {
            word if word == kind => Ok(()),
            word => Err(self.wrong(format!("`{kind}` expected, `{word}` found"))),
        }
    }

    /// A list of 0 and 1; in binary files a byte each.
    pub(crate) fn bools(&mut self) -> Result<Vec<bool>, MeshFileError> {
        if !self.binary {
            let labels = self.labels("flips")?;
            return Ok(labels.into_iter().map(|label| label != 0).collect());
        }
        let len = self.length(1)?;
        let mut bools = self.reserve("flips", len)?;
        if len == 0 && self.peek() != Some(b'(') {
            return Ok(bools);
        }
        if self.take(b'{') {
            let [byte] = self.raw()?;
            bools.resize(len, byte != 0);
            self.skip(b'}')?;
            return Ok(bools);
        }
        self.skip(b'(')?;
        for _ in 0..len {
            let [byte] = self.raw()?;
            bools.push(byte != 0);
        }
        self.skip(b')')?;
        Ok(bools)
    }

    /// Whether a length is followed by `{`.
    fn uniform(&mut self) -> bool {
        self.word().is_ok() && self.peek() == Some(b'{')
    }

    fn raw<const N: usize>(&mut self) -> Result<[u8; N], MeshFileError> {
        match self.bytes[self.at..].first_chunk() {
            Some(&bytes) => {
                self.at += N;
                Ok(bytes)
            }
            None => Err(self.wrong("the file ends within a list")),
        }
    }

    fn raw_label(&mut self) -> Result<u32, MeshFileError> {
        let label = match self.widths[0] {
            4 => i64::from(i32::from_le_bytes(self.raw()?)),
            _ => i64::from_le_bytes(self.raw()?),
        };
        u32::try_from(label).map_err(|_| self.wrong(format!("label {label} is not an id")))
    }

    fn raw_scalar(&mut self) -> Result<f64, MeshFileError> {
        Ok(match self.widths[1] {
            4 => f64::from(f32::from_le_bytes(self.raw()?)),
            _ => f64::from_le_bytes(self.raw()?),
        })
    }

    /// A list of points.
    pub(crate) fn points(&mut self) -> Result<Vec<[f64; 3]>, MeshFileError> {
        let len = self.length(if self.binary { 3 * self.widths[1] } else { 3 })?;
        let mut points = self.reserve("points", len)?;
        self.tuples(len, 3, |xyz| points.push([xyz[0], xyz[1], xyz[2]]))?;
        Ok(points)
    }

    /// The elements of a list of tuples of scalars, one after the other.
    fn tuples(
        &mut self,
        len: usize,
        components: usize,
        mut put: impl FnMut(&[f64]),
    ) -> Result<(), MeshFileError> {
        if len == 0 && self.peek() != Some(b'(') {
            return Ok(());
        }
        self.skip(b'(')?;
        let mut tuple = vec![0.0; components];
        let parens = !self.binary && components > 1;
        for _ in 0..len {
            if parens {
                self.skip(b'(')?;
            }
            for x in &mut tuple {
                *x = match self.binary {
                    true => self.raw_scalar()?,
                    false => self.scalar()?,
                };
            }
            if parens {
                self.skip(b')')?;
            }
            put(&tuple);
        }
        self.skip(b')')
    }

    /// `nonuniform List<vector> n (…);`: type, components and numbers. `None` for any other value, nothing being skipped.
    pub(crate) fn list(&mut self) -> Result<Option<(String, usize, Vec<f64>)>, MeshFileError> {
        self.peek();
        let before = self.at;
        if !self.word().is_ok_and(|word| word == "nonuniform") {
            self.at = before;
            return Ok(None);
        }
        let kind = self.word()?;
        let components = match kind.as_str() {
            "List<scalar>" => 1,
            "List<vector>" => 3,
            "List<symmTensor>" => 6,
            "List<tensor>" => 9,
            // A list without a type is empty, as on patches of type empty: it stays as it is.
            "0" => {
                self.at = before;
                return Ok(None);
            }
            other => {
                return Err(self.wrong(format!(
                    "a list of scalars, vectors or tensors expected, `{other}` found"
                )));
            }
        };
        let len = self.length(if self.binary {
            components * self.widths[1]
        } else {
            components
        })?;
        let mut values = self.reserve("a field", len * components)?;
        self.tuples(len, components, |tuple| values.extend_from_slice(tuple))?;
        self.skip(b';')?;
        Ok(Some((kind, components, values)))
    }

    /// The rest of the line.
    pub(crate) fn line(&mut self) -> String {
        let rest = &self.bytes[self.at..];
        let len = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += len;
        self.text(self.at - len, self.at)
    }

    /// Faces: starts and points. `faceList`, or `faceCompactList`: the starts, then the points.
    pub(crate) fn faces(&mut self) -> Result<(Vec<u32>, Vec<u32>), MeshFileError> {
        if self.class == "faceCompactList" {
            let starts = self.labels("faces")?;
            return Ok((starts, self.labels("face corners")?));
        }
        let len = self.length(2)?;
        let mut starts = self.reserve("faces", len + 1)?;
        let mut points = Vec::new();
        starts.push(0);
        self.skip(b'(')?;
        for _ in 0..len {
            let corners = self.length(1)?;
            self.skip(b'(')?;
            for _ in 0..corners {
                points.push(match self.binary {
                    true => self.raw_label()?,
                    false => self.label()?,
                });
            }
            self.skip(b')')?;
            starts.push(
                u32::try_from(points.len())
                    .map_err(|_| self.wrong("more than 2^32 face corners"))?,
            );
        }
        self.skip(b')')?;
        Ok((starts, points))
    }
}
