//! Which format some bytes are, from the bytes alone.

use super::ReadError;
use super::source::Source;

/// What the parsers distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    StlBinary,
    StlAscii,
    Ply,
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
    let is_ply = bytes.len() >= 4
        && bytes[..3].eq_ignore_ascii_case(b"ply")
        && bytes[3].is_ascii_whitespace();
    if is_ply {
        return Ok(Kind::Ply);
    }
    if let Some(count) = binary_count(bytes)
        && bytes.len() as u64 == binary_len(count)
    {
        return Ok(Kind::StlBinary);
    }
    if !is_text(bytes) {
        return if bytes.len() >= 84 {
            Ok(Kind::StlBinary)
        } else {
            Err(unknown(source))
        };
    }
    let text = strip_bom(bytes).trim_ascii_start();
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
        Some(_) => Ok(Kind::Polyline),
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

/// Whether the start of the file has no control character; zeros that pad its end do not count.
fn is_text(bytes: &[u8]) -> bool {
    let len = bytes.iter().rposition(|&b| b != 0).map_or(0, |at| at + 1);
    let prefix = &bytes[..len.min(TEXT_PREFIX)];
    !prefix
        .iter()
        .any(|&b| (b < 32 && !matches!(b, b'\t' | b'\n' | b'\r' | 11 | 12)) || b == 127)
}
