//! Wavefront OBJ: `v` and `f` lines; patches from `g`, `o` and `usemtl`.
//!
//! Read: `v x y z` (weights and colours behind are ignored), `f` with any of `1`, `1/2`, `1//3`, `1/2/3`, positive indices
//! from 1 or negative ones from the last vertex before the line. Names are the rest of their line. `g` names the group of
//! the faces that follow, and `o` those without a `g` since; see [`super::assemble`] for the patches.
//! Skipped with a note: points, lines and free-form geometry. Skipped: normals, texture coordinates, smoothing,
//! `mtllib` and unknown keywords. A `\` at the end of a line continues it.

use std::borrow::Cow;
use std::collections::HashMap;

use super::assemble::{Assembly, Tag};
use super::sniff::strip_bom;
use super::source::Source;
use super::{Format, Loaded, ReadError, counted};

const FORMAT: Format = Format::Obj;

/// Names in order of first appearance.
#[derive(Default)]
struct Names {
    all: Vec<String>,
    known: HashMap<String, u32>,
}

impl Names {
    fn index(&mut self, name: &[u8]) -> u32 {
        let name = String::from_utf8_lossy(name.trim_ascii()).into_owned();
        *self.known.entry(name).or_insert_with_key(|name| {
            self.all.push(name.clone());
            self.all.len() as u32 - 1
        })
    }
}

/// What the lines say so far.
struct Reader<'a> {
    source: Source<'a>,
    vertices: Vec<[f64; 3]>,
    /// Corners of all faces, and where each face ends, with its tag.
    corners: Vec<u32>,
    ends: Vec<(usize, Tag)>,
    groups: Names,
    materials: Names,
    tag: Tag,
    /// The highest vertex that a face names, and the byte of its line.
    highest: (u32, usize),
    curves: u64,
    free_form: u64,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let mut reader = Reader {
        source,
        vertices: Vec::new(),
        corners: Vec::new(),
        ends: Vec::new(),
        groups: Names::default(),
        materials: Names::default(),
        tag: Tag::default(),
        highest: (0, 0),
        curves: 0,
        free_form: 0,
    };
    reader.tag.group = reader.groups.index(b"");
    reader.tag.material = reader.materials.index(b"");
    let start = source.bytes.len() - strip_bom(source.bytes).len();
    let mut at = start;
    while at < source.bytes.len() {
        let (line, next) = logical_line(source.bytes, at);
        reader.line(&line, at)?;
        at = next;
    }
    reader.finish()
}

/// The line that begins at `at`, with the lines that continue it, and where the next one begins.
fn logical_line(bytes: &[u8], at: usize) -> (Cow<'_, [u8]>, usize) {
    let (mut line, mut next) = physical_line(bytes, at);
    if line.last() != Some(&b'\\') {
        return (Cow::Borrowed(line), next);
    }
    let mut whole = Vec::new();
    while let Some((b'\\', rest)) = line.split_last() {
        whole.extend_from_slice(rest);
        whole.push(b' ');
        (line, next) = physical_line(bytes, next);
    }
    whole.extend_from_slice(line);
    (Cow::Owned(whole), next)
}

/// The line at `at` without its end, and where the next one begins.
fn physical_line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = &bytes[at.min(bytes.len())..];
    let Some(len) = memchr::memchr2(b'\n', b'\r', rest) else {
        return (rest, bytes.len());
    };
    let pair = rest[len] == b'\r' && rest.get(len + 1) == Some(&b'\n');
    (&rest[..len], at + len + 1 + usize::from(pair))
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8], at: usize) -> Result<(), ReadError> {
        let line = line.trim_ascii();
        let end = line
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(line.len());
        let (keyword, rest) = line.split_at(end);
        match keyword {
            b"v" => self.vertex(rest, at)?,
            b"f" | b"fo" => self.face(rest, at)?,
            b"g" | b"o" => self.tag.group = self.groups.index(rest),
            b"usemtl" => self.tag.material = self.materials.index(rest),
            b"l" | b"p" => self.curves += 1,
            b"curv" | b"curv2" | b"surf" => self.free_form += 1,
            _ => {}
        }
        Ok(())
    }

    fn vertex(&mut self, rest: &[u8], at: usize) -> Result<(), ReadError> {
        let mut point = [0.0; 3];
        let mut words = words(rest);
        for (axis, x) in point.iter_mut().enumerate() {
            let word = words.next().unwrap_or_default();
            *x = fast_float2::parse::<f64, _>(word).map_err(|_| {
                let expected = format!("coordinate {} of a vertex", ["x", "y", "z"][axis]);
                self.syntax(at, expected, word)
            })?;
            if !x.is_finite() {
                let place = self.source.line_of(at);
                return Err(self.source.not_finite(FORMAT, place, *x));
            }
        }
        self.vertices.push(point);
        Ok(())
    }

    fn face(&mut self, rest: &[u8], at: usize) -> Result<(), ReadError> {
        for word in words(rest) {
            let digits = word.split(|&b| b == b'/').next().unwrap_or_default();
            let index: Option<i64> = std::str::from_utf8(digits)
                .ok()
                .and_then(|s| s.parse().ok());
            let Some(index) = index.filter(|&i| i != 0) else {
                return Err(self.syntax(at, "a vertex index of a face, from 1".into(), word));
            };
            let so_far = self.vertices.len() as i64;
            let corner = if index > 0 {
                index - 1
            } else {
                so_far.saturating_add(index)
            };
            let Some(corner) = u32::try_from(corner).ok().filter(|&c| c < u32::MAX) else {
                return Err(self.out_of_range(index, at));
            };
            if corner >= self.highest.0 {
                self.highest = (corner, at);
            }
            self.corners.push(corner);
        }
        self.ends.push((self.corners.len(), self.tag));
        Ok(())
    }

    fn syntax(&self, at: usize, expected: String, word: &[u8]) -> ReadError {
        self.source.unexpected(FORMAT, at, expected, word)
    }

    fn out_of_range(&self, index: i64, at: usize) -> ReadError {
        ReadError::IndexOutOfRange {
            path: self.source.name.into(),
            format: FORMAT,
            place: self.source.line_of(at),
            index,
            vertices: self.vertices.len() as u64,
        }
    }

    fn finish(self) -> Result<Loaded<3>, ReadError> {
        let source = self.source;
        if self.ends.is_empty() {
            return Err(source.no_facets(
                FORMAT,
                if self.free_form > 0 {
                    "it has free-form curves or surfaces only: export polygons"
                } else if self.curves > 0 {
                    "it has points or lines only"
                } else {
                    "it has vertices, but no face (`f`)"
                },
            ));
        }
        let (corner, at) = self.highest;
        if corner as usize >= self.vertices.len() {
            return Err(self.out_of_range(i64::from(corner) + 1, at));
        }
        let mut notes = Vec::new();
        if self.curves > 0 {
            notes.push(format!(
                "skipped {} of points or lines",
                counted(self.curves, "element")
            ));
        }
        if self.free_form > 0 {
            notes.push(format!(
                "skipped {}: export polygons",
                counted(self.free_form, "free-form curve or surface")
            ));
        }
        let mut out = Assembly::with_room(source, 0, self.ends.len())?;
        out.vertices = self.vertices;
        let mut from = 0;
        for &(end, tag) in &self.ends {
            out.polygon(&self.corners[from..end], tag);
            from = end;
        }
        out.finish(source, FORMAT, &self.groups.all, &self.materials.all, notes)
    }
}

/// The words of a line, up to a comment.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'#')
}
