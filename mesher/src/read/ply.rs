//! PLY, in its three encodings: header, then the fast or the general route, then
//! triangles and patches.
//!
//! Read: element `vertex` (`x`, `y`, `z` of any type), element `face` (list
//! `vertex_indices` or `vertex_index`: polygons as fans from their first vertex)
//! and element `tristrips` (same list: every index after the second makes a
//! triangle, every second one is turned round, -1 starts anew, a triangle that
//! repeats an index is dropped as a seam). All else is skipped. An index out of
//! range, or a face of fewer than three vertices, is an error.
//!
//! Patches: an integer face property `component`, `patch`, `material_index` or
//! `object` gives `component_3` and so on; else face properties `red`, `green`,
//! `blue` (integers 0–255, or reals 0–1) give `rgb(r,g,b)`; else one patch `body`.
//! More than [`MAX_COLOURS`] colours are shading, not parts: one patch, and a note.

use std::collections::HashMap;

use super::digits::far_away;
use super::ply_header::{Element, Header, Kind, Scalar};
use super::source::Source;
use super::{DEFAULT_PATCH, Format, Loaded, ReadError, counted, loaded, ply_fast, ply_slow};
use crate::Surface;

/// Largest number of face colours that become patches.
const MAX_COLOURS: usize = 256;

const COMPONENT_NAMES: [&str; 4] = ["component", "patch", "material_index", "object"];

/// What gives a face its patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatchSource {
    None,
    /// An integer property, by its place in the row.
    Component(usize),
    /// Red, green and blue, by their places in the row.
    Colour([usize; 3]),
}

impl PatchSource {
    pub(super) fn of(face: &Element) -> Self {
        for name in COMPONENT_NAMES {
            if let Some((place, property)) = face.property(name)
                && matches!(property.kind, Kind::Scalar(scalar) if scalar.is_integer())
            {
                return Self::Component(place);
            }
        }
        let place = |name| {
            let (place, property) = face.property(name)?;
            matches!(property.kind, Kind::Scalar(_)).then_some(place)
        };
        match (place("red"), place("green"), place("blue")) {
            (Some(red), Some(green), Some(blue)) => Self::Colour([red, green, blue]),
            _ => Self::None,
        }
    }

    /// The number that stands for a face's patch, from its property values.
    pub(super) fn key(self, face: &Element, value: impl Fn(usize) -> f64) -> i64 {
        match self {
            Self::None => 0,
            Self::Component(place) => value(place) as i64,
            Self::Colour(places) => places.iter().fold(0, |key, &place| {
                let integer =
                    matches!(face.properties[place].kind, Kind::Scalar(s) if s.is_integer());
                let scale = if integer { 1.0 } else { 255.0 };
                key << 8 | (value(place) * scale).round().clamp(0.0, 255.0) as i64
            }),
        }
    }
}

/// Vertices and triangles of a file, before the checks that both routes share.
#[derive(Debug, Default)]
pub(super) struct Raw {
    pub(super) vertices: Vec<[f64; 3]>,
    pub(super) facets: Vec<[u32; 3]>,
    /// Patch key of each facet, or empty.
    pub(super) keys: Vec<i64>,
    pub(super) faces_in_file: u64,
    /// Byte behind the last row.
    pub(super) end: usize,
    pub(super) notes: Vec<String>,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let header = Header::parse(source)?;
    let format = header.format;
    let Some(vertex) = header.element("vertex") else {
        return Err(source.no_facets(format, "its header has no element 'vertex'"));
    };
    for name in ["x", "y", "z"] {
        let scalar = vertex
            .property(name)
            .is_some_and(|(_, p)| matches!(p.kind, Kind::Scalar(_)));
        if !scalar {
            let expected = format!("a scalar property '{name}' in element 'vertex'");
            return Err(source.syntax(
                format,
                source.line_of(header.body.saturating_sub(1)),
                expected,
                "none in the header",
            ));
        }
    }
    let filled = |name| {
        header
            .element(name)
            .filter(|e| e.count > 0 && e.index_list().is_some())
    };
    if filled("face").is_none() && filled("tristrips").is_none() {
        return Err(source.no_facets(format, why_no_facets(&header, vertex)));
    }
    let raw = match ply_fast::read(source, &header).map_err(|e| source.memory(e))? {
        Some(raw) => raw,
        None => ply_slow::read(source, &header)?,
    };
    finish(source, &header, raw)
}

fn why_no_facets(header: &Header, vertex: &Element) -> &'static str {
    let listed = |name| {
        header
            .element(name)
            .is_some_and(|e| e.index_list().is_some())
    };
    if vertex.count == 0 {
        "its header counts no vertices and no faces"
    } else if listed("face") || listed("tristrips") {
        "it is a point cloud: its element 'face' or 'tristrips' has no rows"
    } else {
        "it is a point cloud: no element 'face' or 'tristrips' with a list 'vertex_indices'"
    }
}

fn finish(source: Source<'_>, header: &Header, raw: Raw) -> Result<Loaded<3>, ReadError> {
    let Raw {
        vertices,
        facets,
        keys,
        faces_in_file,
        end,
        mut notes,
    } = raw;
    let format = header.format;
    if facets.is_empty() {
        return Err(source.no_facets(format, "its strips hold no triangle"));
    }
    let rest = &source.bytes[end.min(source.bytes.len())..];
    let blank = format == Format::PlyAscii && rest.trim_ascii().is_empty();
    if !(blank || rest.is_empty()) {
        notes.push(format!(
            "ignored {} after the last element",
            counted(rest.len() as u64, "byte")
        ));
    }
    let single = |e: &Element| {
        let x = e.property("x");
        matches!(x, Some((_, p)) if p.kind == Kind::Scalar(Scalar::F32))
    };
    if format != Format::PlyAscii && header.element("vertex").is_some_and(single) {
        notes.extend(far_away(&vertices));
    }
    let (patches, facet_patch) = match header.element("face") {
        Some(face) if !keys.is_empty() => patches(PatchSource::of(face), &keys, face, &mut notes),
        _ => (vec![DEFAULT_PATCH.into()], Vec::new()),
    };
    let surface = Surface {
        vertices,
        facets,
        facet_patch,
        patches,
    };
    Ok(loaded(surface, format, faces_in_file, notes))
}

fn patches(
    from: PatchSource,
    keys: &[i64],
    face: &Element,
    notes: &mut Vec<String>,
) -> (Vec<String>, Vec<u16>) {
    let one = || (vec![DEFAULT_PATCH.to_string()], Vec::new());
    let (what, most) = match from {
        PatchSource::None => return one(),
        PatchSource::Component(_) => ("components", 1 << 16),
        PatchSource::Colour(_) => ("face colours", MAX_COLOURS),
    };
    let mut known = HashMap::new();
    let mut names = Vec::new();
    let mut facet_patch = Vec::with_capacity(keys.len());
    // Runs of one key are the rule.
    let mut last = None;
    for &key in keys {
        let patch = match last {
            Some((seen, patch)) if seen == key => patch,
            _ => *known.entry(key).or_insert_with(|| {
                names.push(patch_name(from, key, face));
                (names.len() - 1).min(most) as u32
            }),
        };
        if names.len() > most {
            notes.push(format!(
                "more than {most} {what}: all facets were put into one patch"
            ));
            return one();
        }
        last = Some((key, patch));
        facet_patch.push(patch as u16);
    }
    if names.len() == 1 {
        facet_patch = Vec::new();
    }
    (names, facet_patch)
}

fn patch_name(from: PatchSource, key: i64, face: &Element) -> String {
    match from {
        PatchSource::None => DEFAULT_PATCH.into(),
        PatchSource::Component(place) => format!("{}_{key}", face.properties[place].name),
        PatchSource::Colour(_) => format!("rgb({},{},{})", key >> 16, key >> 8 & 255, key & 255),
    }
}
