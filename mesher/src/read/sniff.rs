//! Which format some bytes are, from the bytes alone.

use super::source::Source;
use super::{ReadError, foreign, stl_binary};

/// What the parsers distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    StlBinary,
    StlAscii,
    Ply,
    Obj,
    Off,
    ThreeMf,
    Gltf,
    Vtk,
    Vtp,
    Polyline,
}

/// How far into a file the search for control characters goes. Any binary STL of
/// less than 2^24 triangles has a zero byte at 83, and a larger one that is whole is
/// known by its length.
const TEXT_PREFIX: usize = 1024;

pub(super) fn sniff(source: Source<'_>) -> Result<Kind, ReadError> {
    let bytes = source.bytes;
    if bytes.is_empty() {
        return Err(ReadError::Empty {
            path: source.name.into(),
        });
    }
    let head = strip_bom(bytes);
    let is_ply =
        head.len() >= 4 && head[..3].eq_ignore_ascii_case(b"ply") && head[3].is_ascii_whitespace();
    if is_ply {
        return Ok(Kind::Ply);
    }
    if let Some(count) = binary_count(bytes)
        && bytes.len() as u64 == binary_len(count)
    {
        return Ok(Kind::StlBinary);
    }
    if let Some(kind) = by_magic(head) {
        return Ok(kind);
    }
    if let Some(foreign) = foreign::binary(bytes) {
        return Err(source.foreign(foreign));
    }
    if !is_text(bytes) {
        return if is_ascii_stl(bytes) {
            Ok(Kind::StlAscii)
        } else if stl_binary::is_plausible(bytes) {
            Ok(Kind::StlBinary)
        } else {
            Err(unknown(source))
        };
    }
    let text = head.trim_ascii_start();
    let word = text.split(|b| b.is_ascii_whitespace()).next();
    match word {
        None | Some([]) => Err(ReadError::Empty {
            path: source.name.into(),
        }),
        Some(word)
            if word.eq_ignore_ascii_case(b"solid") || word.eq_ignore_ascii_case(b"facet") =>
        {
            Ok(Kind::StlAscii)
        }
        Some(_) => {
            let head = &text[..text.len().min(foreign::PREFIX)];
            if let Some(foreign) = foreign::text(text) {
                Err(source.foreign(foreign))
            } else if foreign::is_off(head) {
                Ok(Kind::Off)
            } else if foreign::is_obj(head) {
                Ok(Kind::Obj)
            } else {
                Ok(Kind::Polyline)
            }
        }
    }
}

/// Formats that are known by their first characters; `head` is without a byte order mark.
fn by_magic(head: &[u8]) -> Option<Kind> {
    let text = head.trim_ascii_start();
    let start = &text[..text.len().min(foreign::PREFIX)];
    let holds = |what: &[u8]| memchr::memmem::find(start, what).is_some();
    if head.starts_with(b"PK\x03\x04") {
        Some(Kind::ThreeMf)
    } else if head.starts_with(b"glTF") {
        Some(Kind::Gltf)
    } else if foreign::starts_with(text, b"# vtk DataFile") {
        Some(Kind::Vtk)
    } else if start.starts_with(b"<") && holds(b"<VTKFile") {
        Some(Kind::Vtp)
    } else if start.starts_with(b"{") && holds(b"\"asset\"") {
        Some(Kind::Gltf)
    } else {
        None
    }
}

/// The triangle count of a binary STL header.
pub(super) fn binary_count(bytes: &[u8]) -> Option<u32> {
    let field = bytes.get(80..84)?;
    Some(u32::from_le_bytes(field.try_into().ok()?))
}

/// Length of a binary STL of `count` triangles.
pub(super) fn binary_len(count: u32) -> u64 {
    84 + 50 * u64::from(count)
}

pub(super) fn strip_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

pub(super) fn unknown(source: Source<'_>) -> ReadError {
    let start = &source.bytes[..source.bytes.len().min(24)];
    ReadError::UnknownFormat {
        path: source.name.into(),
        start: String::from_utf8_lossy(start).into_owned(),
    }
}

/// Whether the file is an ASCII STL with control characters, such as in a solid's name. A binary STL has `solid` in its
/// header at most.
fn is_ascii_stl(bytes: &[u8]) -> bool {
    let prefix = &bytes[..bytes.len().min(TEXT_PREFIX)];
    let text = strip_bom(prefix).trim_ascii_start();
    let solid = text.len() > 5 && text[..5].eq_ignore_ascii_case(b"solid");
    let lower = prefix.to_ascii_lowercase();
    solid
        && ["facet", "outer", "vertex"]
            .iter()
            .all(|word| memchr::memmem::find(&lower, word.as_bytes()).is_some())
}

/// Whether the start of the file has no control character; zeros that pad its end do not count.
fn is_text(bytes: &[u8]) -> bool {
    let len = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
    let prefix = &bytes[..len.min(TEXT_PREFIX)];
    !prefix
        .iter()
        .any(|&b| (b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 11 | 12)) || b == 127)
}
