//! OFF, the object file format of Geomview: `OFF`, counts, a line a vertex, a line a face.
//!
//! Read: keywords `OFF`, `COFF`, `NOFF`, `CNOFF`, `STOFF` and the like, whose normals, colours and texture coordinates
//! behind a vertex or a face are ignored. Comments (`#`) and blank lines may stand anywhere; the counts may follow the
//! keyword on its line. Refused: `BINARY`, and four or n coordinates (`4OFF`, `nOFF`). One patch, `body`.

use super::assemble::{Assembly, Tag};
use super::sniff::strip_bom;
use super::source::Source;
use super::{Format, Loaded, ReadError};

const FORMAT: Format = Format::Off;

/// The lines that are neither blank nor comments: byte of each, and its words.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    /// The next line, without its comment; `None` at the end.
    fn next_line(&mut self) -> Option<(usize, &'a [u8])> {
        while self.at < self.bytes.len() {
            let start = self.at;
            let rest = &self.bytes[start..];
            let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            self.at = start + len + 1;
            let code = rest[..len].split(|&b| b == b'#').next().unwrap_or_default();
            if !code.trim_ascii().is_empty() {
                return Some((start, code));
            }
        }
        None
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let bytes = source.bytes;
    let mut lines = Lines {
        bytes,
        at: bytes.len() - strip_bom(bytes).len(),
    };
    let [vertices, faces] = header(source, &mut lines)?;
    if faces == 0 {
        return Err(source.no_facets(FORMAT, "its header counts no faces"));
    }
    // A vertex takes six bytes at least (`0 0 0` and the end of its line), a face eight.
    let most = bytes.len() as u64;
    let announced = vertices
        .saturating_mul(6)
        .saturating_add(faces.saturating_mul(2));
    if announced > most + 8 {
        return Err(truncated(
            source,
            "vertices and faces",
            vertices.saturating_add(faces),
            most / 6,
        ));
    }
    let mut out = Assembly::with_room(source, vertices as usize, faces as usize)?;
    for v in 0..vertices {
        let Some((at, line)) = lines.next_line() else {
            return Err(truncated(source, "vertices", vertices, v));
        };
        out.vertices.push(vertex(source, at, line)?);
    }
    let mut corners = Vec::new();
    for f in 0..faces {
        let Some((at, line)) = lines.next_line() else {
            return Err(truncated(source, "faces", faces, f));
        };
        face(source, at, line, vertices, &mut corners)?;
        out.polygon(&corners, Tag::default());
    }
    out.finish(source, FORMAT, &[], &[], Vec::new())
}

/// The numbers of vertices and faces.
fn header(source: Source<'_>, lines: &mut Lines<'_>) -> Result<[u64; 2], ReadError> {
    let (at, line) = lines.next_line().unwrap_or_default();
    let mut rest = words(line);
    let keyword = rest.next().unwrap_or_default();
    let refuse = |found: &[u8]| {
        let expected = "OFF in text with three coordinates (save it as ASCII OFF, STL or PLY)";
        let found = format!("'{}'", String::from_utf8_lossy(found).escape_debug());
        Err(source.syntax(FORMAT, source.line_of(at), expected, found))
    };
    if keyword.starts_with(b"4") || keyword.contains(&b'n') {
        return refuse(keyword);
    }
    let mut counts: Vec<&[u8]> = rest.collect();
    if let Some(word) = counts.first().filter(|w| w.eq_ignore_ascii_case(b"BINARY")) {
        return refuse(word);
    }
    let mut place = at;
    if counts.is_empty() {
        let (at, line) = lines.next_line().unwrap_or((source.bytes.len(), &[]));
        counts = words(line).collect();
        place = at;
    }
    let count = |i: usize| -> Result<u64, ReadError> {
        let word = counts.get(i).copied().unwrap_or_default();
        let parsed = std::str::from_utf8(word).ok().and_then(|s| s.parse().ok());
        parsed.ok_or_else(|| {
            let what = ["vertices", "faces"][i];
            source.unexpected(FORMAT, place, format!("the number of {what}"), word)
        })
    };
    Ok([count(0)?, count(1)?])
}

fn vertex(source: Source<'_>, at: usize, line: &[u8]) -> Result<[f64; 3], ReadError> {
    let mut point = [0.0; 3];
    let mut words = words(line);
    for (axis, x) in point.iter_mut().enumerate() {
        let word = words.next().unwrap_or_default();
        *x = fast_float2::parse::<f64, _>(word).map_err(|_| {
            let expected = format!("coordinate {} of a vertex", ["x", "y", "z"][axis]);
            source.unexpected(FORMAT, at, expected, word)
        })?;
        if !x.is_finite() {
            return Err(source.not_finite(FORMAT, source.line_of(at), *x));
        }
    }
    Ok(point)
}

fn face(
    source: Source<'_>,
    at: usize,
    line: &[u8],
    vertices: u64,
    corners: &mut Vec<u32>,
) -> Result<(), ReadError> {
    corners.clear();
    let mut words = words(line);
    let integer = |word: &[u8]| -> Option<i64> { std::str::from_utf8(word).ok()?.parse().ok() };
    let word = words.next().unwrap_or_default();
    let Some(count) = integer(word).filter(|&n| n >= 0) else {
        return Err(source.unexpected(FORMAT, at, "the number of a face's corners".into(), word));
    };
    for _ in 0..count {
        let word = words.next().unwrap_or_default();
        let Some(index) = integer(word) else {
            let expected = format!("{count} vertex indices on the line of the face");
            return Err(source.unexpected(FORMAT, at, expected, word));
        };
        match u32::try_from(index) {
            Ok(corner) if u64::from(corner) < vertices => corners.push(corner),
            _ => {
                return Err(ReadError::IndexOutOfRange {
                    path: source.name.into(),
                    format: FORMAT,
                    place: source.line_of(at),
                    index,
                    vertices,
                });
            }
        }
    }
    Ok(())
}

fn truncated(source: Source<'_>, what: &str, expected: u64, found: u64) -> ReadError {
    ReadError::Truncated {
        path: source.name.into(),
        format: FORMAT,
        what: what.into(),
        expected,
        found,
        end: source.bytes.len() as u64,
    }
}
