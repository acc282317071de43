//! The header of a PLY file: what elements follow, and in what layout.
//!
//! Lines end in `\n`, `\r\n` or (where the first one does) a lone `\r`. The words
//! `ply`, `comment`, … are taken in any case. `comment` and `obj_info` lines are
//! skipped. Every element's count is compared with the bytes that follow.

use super::source::Source;
use super::{FilePlace, Format, ReadError};

/// More elements, or properties in one, are refused as nonsense.
const MAX_ENTRIES: usize = 1024;

/// The type of a scalar or list item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn parse(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    pub(super) fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }
}

/// The type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) count: usize,
    pub(super) properties: Vec<Property>,
}

impl Element {
    /// Bytes of a row, where no property is a list.
    pub(super) fn stride(&self) -> Option<usize> {
        self.properties
            .iter()
            .map(|p| match p.kind {
                Kind::Scalar(scalar) => Some(scalar.size()),
                Kind::List { .. } => None,
            })
            .sum()
    }

    /// The property of that name and its place in the row.
    pub(super) fn property(&self, name: &str) -> Option<(usize, &Property)> {
        self.properties
            .iter()
            .enumerate()
            .find(|(_, p)| p.name == name)
    }

    /// The list of vertex indices, under either usual name.
    pub(super) fn index_list(&self) -> Option<(usize, &Property)> {
        self.property("vertex_indices")
            .or_else(|| self.property("vertex_index"))
            .filter(|(_, p)| matches!(p.kind, Kind::List { .. }))
    }

    /// The fewest bytes that `count` rows take.
    fn least_bytes(&self, format: Format) -> u64 {
        let row: u64 = self
            .properties
            .iter()
            .map(|p| match (format, p.kind) {
                (Format::PlyAscii, _) => 2,
                (_, Kind::Scalar(scalar)) => scalar.size() as u64,
                (_, Kind::List { count, .. }) => count.size() as u64,
            })
            .sum();
        let all = row.saturating_mul(self.count as u64);
        // The last number of a text needs no separator behind it.
        all.saturating_sub(u64::from(format == Format::PlyAscii))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) format: Format,
    pub(super) elements: Vec<Element>,
    /// Byte at which the first element begins.
    pub(super) body: usize,
}

impl Header {
    pub(super) fn element(&self, name: &str) -> Option<&Element> {
        self.elements.iter().find(|e| e.name == name)
    }

    pub(super) fn parse(source: Source<'_>) -> Result<Self, ReadError> {
        let mut lines = Lines::new(source.bytes);
        let mut format = None;
        let mut elements: Vec<Element> = Vec::new();
        lines.next();
        loop {
            let at = lines.at;
            // Until the format line is read, any of the three stands for PLY.
            let fail = |expected: &str, found: &str| {
                let format = format.unwrap_or(Format::PlyAscii);
                source.syntax(
                    format,
                    source.line_of(at),
                    expected,
                    format!("'{}'", found.escape_debug()),
                )
            };
            let Some(line) = lines.next() else {
                return Err(fail("'end_header'", "the end of the file"));
            };
            let text = String::from_utf8_lossy(&line[..line.len().min(400)]).into_owned();
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            let keyword = words.first().map(|word| word.to_ascii_lowercase());
            match (keyword.as_deref(), &words[..]) {
                (None | Some("comment" | "obj_info"), _) => {}
                (Some("end_header"), _) => break,
                (Some("format"), [_, name, ..]) if format.is_none() => {
                    format = Some(parse_format(name).ok_or_else(|| {
                        fail(
                            "'ascii', 'binary_little_endian' or 'binary_big_endian'",
                            name,
                        )
                    })?);
                }
                (Some("element"), [_, name, count]) => {
                    let count = count.parse().map_err(|_| fail("a count of rows", count))?;
                    let known = elements.iter().any(|e| e.name == *name);
                    if known || elements.len() == MAX_ENTRIES {
                        return Err(fail("an element not named before, at most 1024", name));
                    }
                    elements.push(Element {
                        name: (*name).into(),
                        count,
                        properties: Vec::new(),
                    });
                }
                (Some("property"), [_, kind @ .., name]) => {
                    let element = elements
                        .last_mut()
                        .ok_or_else(|| fail("an element line before this", &text))?;
                    let kind = parse_kind(kind).ok_or_else(|| fail("a property's type", &text))?;
                    if element.property(name).is_some() || element.properties.len() == MAX_ENTRIES {
                        return Err(fail("a property not named before, at most 1024", name));
                    }
                    element.properties.push(Property {
                        name: (*name).into(),
                        kind,
                    });
                }
                _ => return Err(fail("a PLY header line", &text)),
            }
        }
        let Some(format) = format else {
            return Err(source.syntax(
                Format::PlyAscii,
                FilePlace::Line(2),
                "a format line in the header",
                "none",
            ));
        };
        let header = Self {
            format,
            elements,
            body: lines.at,
        };
        header.check_size(source)?;
        Ok(header)
    }

    /// Refuses counts for which the file is too short.
    fn check_size(&self, source: Source<'_>) -> Result<(), ReadError> {
        let mut left = (source.bytes.len() - self.body) as u64;
        for element in &self.elements {
            let least = element.least_bytes(self.format);
            if least > left {
                let row = (least / (element.count as u64).max(1)).max(1);
                return Err(ReadError::Truncated {
                    path: source.name.into(),
                    format: self.format,
                    what: format!("rows of element '{}'", element.name),
                    expected: element.count as u64,
                    found: left / row,
                    end: source.bytes.len() as u64,
                });
            }
            left -= least;
        }
        Ok(())
    }
}

fn parse_format(name: &str) -> Option<Format> {
    match name.to_ascii_lowercase().as_str() {
        "ascii" => Some(Format::PlyAscii),
        "binary_little_endian" => Some(Format::PlyBinaryLe),
        "binary_big_endian" => Some(Format::PlyBinaryBe),
        _ => None,
    }
}

fn parse_kind(words: &[&str]) -> Option<Kind> {
    match words {
        [scalar] => Some(Kind::Scalar(Scalar::parse(scalar)?)),
        [list, count, item] if list.eq_ignore_ascii_case("list") => {
            let (count, item) = (Scalar::parse(count)?, Scalar::parse(item)?);
            count.is_integer().then_some(Kind::List { count, item })
        }
        _ => None,
    }
}

/// Header lines; `at` is the byte behind the last one's end.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    ends: u8,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let first = memchr::memchr2(b'\n', b'\r', bytes).unwrap_or(bytes.len());
        let old_mac = bytes.get(first) == Some(&b'\r') && bytes.get(first + 1) != Some(&b'\n');
        let ends = if old_mac { b'\r' } else { b'\n' };
        Self { bytes, at: 0, ends }
    }

    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let len = memchr::memchr(self.ends, rest).unwrap_or(rest.len());
        self.at = (self.at + len + 1).min(self.bytes.len());
        Some(&rest[..len])
    }
}
