//! The fast PLY route: fixed-size vertices and all-triangle faces, in parallel.
//!
//! Takes a file whose `vertex` rows are scalars and whose `face` rows are one index
//! list beside scalars, every list of three indices in range and every number finite; binary lists must have a
//! one-byte count and four-byte indices. Says `None` for all else, broken files
//! included: the general route reads those, and finds the words for their faults.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use cutlink_device::{DeviceError, memory};
use rayon::prelude::*;

use super::Format;
use super::ply::{PatchSource, Raw};
use super::ply_header::{Element, Header, Kind, Scalar};
use super::source::Source;

/// Least number of rows a task takes.
const ROWS: usize = 1 << 13;
/// Size of a piece of text, in bytes.
const PIECE: usize = 1 << 20;

pub(super) fn read(source: Source<'_>, header: &Header) -> Result<Option<Raw>, DeviceError> {
    if header.element("tristrips").is_some() {
        return Ok(None);
    }
    let read = match header.format {
        Format::PlyAscii => ascii(source, header),
        Format::PlyBinaryLe => binary::<true>(source, header),
        _ => binary::<false>(source, header),
    };
    read.transpose()
}

/// An empty vector with room, or the reason why there is none.
macro_rules! room {
    ($what:literal, $len:expr) => {
        match memory::with_capacity($what, $len) {
            Ok(room) => room,
            Err(e) => return Some(Err(e)),
        }
    };
}

/// Where the values of a face's row are, in bytes.
struct FaceLayout {
    list: usize,
    stride: usize,
    /// Offset and type of each scalar, by its place in the row; none for the list.
    scalars: Vec<Option<(usize, Scalar)>>,
}

impl FaceLayout {
    fn of(face: &Element) -> Option<Self> {
        let (list_place, _) = face.index_list()?;
        let mut layout = Self {
            list: 0,
            stride: 0,
            scalars: Vec::new(),
        };
        for (place, property) in face.properties.iter().enumerate() {
            match property.kind {
                Kind::Scalar(scalar) => {
                    layout.scalars.push(Some((layout.stride, scalar)));
                    layout.stride += scalar.size();
                }
                Kind::List {
                    count: Scalar::I8 | Scalar::U8,
                    item: Scalar::I32 | Scalar::U32,
                } if place == list_place => {
                    layout.scalars.push(None);
                    layout.list = layout.stride;
                    layout.stride += 1 + 3 * 4;
                }
                Kind::List { .. } => return None,
            }
        }
        Some(layout)
    }
}

fn binary<const LE: bool>(source: Source<'_>, header: &Header) -> Option<Result<Raw, DeviceError>> {
    let vertex = header.element("vertex")?;
    let face = header.element("face")?;
    let layout = FaceLayout::of(face)?;
    // The byte range of each element, up to the later of the two.
    let (mut vertex_rows, mut face_rows) = (None, None);
    let mut at = header.body;
    for element in &header.elements {
        let stride = if element.name == "face" {
            layout.stride
        } else {
            element.stride()?
        };
        let end = at.checked_add(stride.checked_mul(element.count)?)?;
        let rows = source.bytes.get(at..end)?;
        at = end;
        match element.name.as_str() {
            "vertex" => vertex_rows = Some(rows),
            "face" => face_rows = Some(rows),
            _ => {}
        }
    }
    let (face_rows, vertex_count) = (face_rows?, u32::try_from(vertex.count).ok()?);
    let mut vertices = room!("its vertices", vertex.count);
    binary_vertices::<LE>(vertex, vertex_rows?, &mut vertices)?;
    let sound = AtomicBool::new(true);
    let mut facets = room!("its triangles", face.count);
    face_rows
        .par_chunks_exact(layout.stride)
        .with_min_len(ROWS)
        .map(|row| {
            let list = &row[layout.list..layout.list + 13];
            let words: [u32; 3] = bytemuck::pod_read_unaligned(&list[1..13]);
            let facet = words.map(if LE { u32::from_le } else { u32::from_be });
            if (list[0] != 3) | (facet[0].max(facet[1]).max(facet[2]) >= vertex_count) {
                sound.store(false, Ordering::Relaxed);
            }
            facet
        })
        .collect_into_vec(&mut facets);
    if !sound.into_inner() {
        return None;
    }
    let patch = PatchSource::of(face);
    let mut keys = Vec::new();
    if patch != PatchSource::None {
        keys = room!("its patches", face.count);
        let key = |row: &[u8]| {
            patch.key(face, |place| {
                let (offset, scalar) = layout.scalars[place].unwrap_or((0, Scalar::U8));
                decode::<LE>(&row[offset..], scalar)
            })
        };
        face_rows
            .par_chunks_exact(layout.stride)
            .with_min_len(ROWS)
            .map(key)
            .collect_into_vec(&mut keys);
    }
    Some(Ok(Raw {
        vertices,
        facets,
        keys,
        faces_in_file: face.count as u64,
        end: at,
        notes: Vec::new(),
    }))
}

fn binary_vertices<const LE: bool>(
    vertex: &Element,
    rows: &[u8],
    vertices: &mut Vec<[f64; 3]>,
) -> Option<()> {
    let mut offset = 0;
    let mut fields = [(0, Scalar::F32); 3];
    for property in &vertex.properties {
        let Kind::Scalar(scalar) = property.kind else {
            return None;
        };
        if let Some(axis) = ["x", "y", "z"]
            .iter()
            .position(|&axis| axis == property.name)
        {
            fields[axis] = (offset, scalar);
        }
        offset += scalar.size();
    }
    let sound = AtomicBool::new(true);
    let check = |point: [f64; 3]| {
        if !(point[0].is_finite() & point[1].is_finite() & point[2].is_finite()) {
            sound.store(false, Ordering::Relaxed);
        }
        point
    };
    let rows = rows.par_chunks_exact(offset).with_min_len(ROWS);
    let point = |row: &[u8], types: [Scalar; 3]| -> [f64; 3] {
        check(std::array::from_fn(|axis| {
            decode::<LE>(&row[fields[axis].0..], types[axis])
        }))
    };
    let start = fields[0].0;
    let in_turn = |size: usize| (0..3).all(|axis| fields[axis].0 == start + axis * size);
    // PERF: the usual layouts are loaded as a whole.
    match fields.map(|(_, scalar)| scalar) {
        [Scalar::F32, Scalar::F32, Scalar::F32] if in_turn(4) => rows
            .map(|row| {
                let words: [u32; 3] = bytemuck::pod_read_unaligned(&row[start..start + 12]);
                let native = words.map(if LE { u32::from_le } else { u32::from_be });
                check(native.map(|word| f64::from(f32::from_bits(word))))
            })
            .collect_into_vec(vertices),
        [Scalar::F64, Scalar::F64, Scalar::F64] if in_turn(8) => rows
            .map(|row| {
                let words: [u64; 3] = bytemuck::pod_read_unaligned(&row[start..start + 24]);
                let native = words.map(if LE { u64::from_le } else { u64::from_be });
                check(native.map(f64::from_bits))
            })
            .collect_into_vec(vertices),
        types => rows.map(|row| point(row, types)).collect_into_vec(vertices),
    }
    sound.into_inner().then_some(())
}

/// The scalar at the start of `bytes`, which are enough for it.
#[inline(always)]
fn decode<const LE: bool>(bytes: &[u8], scalar: Scalar) -> f64 {
    fn take<const LE: bool, const N: usize>(bytes: &[u8]) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(&bytes[..N]);
        if !LE {
            out.reverse();
        }
        out
    }
    match scalar {
        Scalar::I8 => i8::from_le_bytes(take::<LE, 1>(bytes)).into(),
        Scalar::U8 => bytes[0].into(),
        Scalar::I16 => i16::from_le_bytes(take::<LE, 2>(bytes)).into(),
        Scalar::U16 => u16::from_le_bytes(take::<LE, 2>(bytes)).into(),
        Scalar::I32 => i32::from_le_bytes(take::<LE, 4>(bytes)).into(),
        Scalar::U32 => u32::from_le_bytes(take::<LE, 4>(bytes)).into(),
        Scalar::F32 => f32::from_le_bytes(take::<LE, 4>(bytes)).into(),
        Scalar::F64 => f64::from_le_bytes(take::<LE, 8>(bytes)),
    }
}

/// Line-aligned pieces of the text with the number of lines before each; one row a line.
fn ascii(source: Source<'_>, header: &Header) -> Option<Result<Raw, DeviceError>> {
    let body = &source.bytes[header.body..];
    let pieces = pieces(body);
    let counts: Vec<usize> = pieces
        .par_iter()
        .map(|piece| memchr::memchr_iter(b'\n', piece).count())
        .collect();
    let counts_of_rows = header.elements.iter().map(|e| e.count);
    let rows = counts_of_rows.fold(0, usize::saturating_add);
    let starts: Vec<usize> = counts
        .iter()
        .scan(0, |next, count| {
            let first = *next;
            *next += count;
            Some(first)
        })
        .collect();
    let plan = AsciiPlan::of(header)?;
    // Anything but rows, each on its line, is for the general route.
    let parsed: Option<Vec<Raw>> = pieces
        .par_iter()
        .zip(starts)
        .map(|(piece, first)| plan.piece(piece, first, rows))
        .collect();
    let parsed = parsed?;
    let total = |len: fn(&Raw) -> usize| parsed.iter().map(len).sum::<usize>();
    let mut raw = Raw {
        vertices: room!("its vertices", total(|p| p.vertices.len())),
        facets: room!("its triangles", total(|p| p.facets.len())),
        keys: room!("its patches", total(|p| p.keys.len())),
        end: source.bytes.len(),
        ..Raw::default()
    };
    for piece in parsed {
        raw.vertices.extend(piece.vertices);
        raw.facets.extend(piece.facets);
        raw.keys.extend(piece.keys);
    }
    let face = plan.face;
    raw.faces_in_file = face.count as u64;
    let complete = raw.vertices.len() == plan.vertex.count && raw.facets.len() == face.count;
    let limit = raw.vertices.len();
    let in_range = raw
        .facets
        .par_iter()
        .with_min_len(ROWS)
        .flatten_iter()
        .all(|&v| (v as usize) < limit);
    (complete && in_range).then_some(Ok(raw))
}

fn pieces(body: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let from = rest.len().min(PIECE);
        let end = memchr::memchr(b'\n', &rest[from..]).map_or(rest.len(), |at| from + at + 1);
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Which lines hold what.
struct AsciiPlan<'a> {
    vertex: &'a Element,
    vertex_rows: Range<usize>,
    axes: [usize; 3],
    face: &'a Element,
    face_rows: Range<usize>,
    list: usize,
    patch: PatchSource,
}

impl<'a> AsciiPlan<'a> {
    fn of(header: &'a Header) -> Option<Self> {
        let rows_of = |name| {
            let mut start = 0usize;
            for element in &header.elements {
                if element.name == name {
                    return Some((element, start..start.checked_add(element.count)?));
                }
                start = start.checked_add(element.count)?;
            }
            None
        };
        if header
            .elements
            .iter()
            .any(|e| !matches!(e.name.as_str(), "vertex" | "face"))
        {
            return None;
        }
        let (vertex, vertex_rows) = rows_of("vertex")?;
        let (face, face_rows) = rows_of("face")?;
        let lists = |e: &Element| {
            e.properties
                .iter()
                .filter(|p| matches!(p.kind, Kind::List { .. }))
                .count()
        };
        let (list, property) = face.index_list()?;
        let integers = matches!(property.kind, Kind::List { item, .. } if item.is_integer());
        if lists(vertex) != 0 || lists(face) != 1 || !integers {
            return None;
        }
        let place = |name| vertex.property(name).map(|(place, _)| place);
        let axes = [place("x")?, place("y")?, place("z")?];
        Some(Self {
            vertex,
            vertex_rows,
            axes,
            face,
            face_rows,
            list,
            patch: PatchSource::of(face),
        })
    }

    fn piece(&self, piece: &[u8], first: usize, rows: usize) -> Option<Raw> {
        let mut raw = Raw::default();
        let mut words = Numbers {
            bytes: piece,
            at: 0,
        };
        let mut values = vec![0.0; self.face.properties.len().max(self.vertex.properties.len())];
        let mut row = first;
        while row < rows && words.at < piece.len() {
            if self.vertex_rows.contains(&row) {
                let values = &mut values[..self.vertex.properties.len()];
                for value in values.iter_mut() {
                    *value = words.next()?;
                }
                raw.vertices.push(self.axes.map(|axis| values[axis]));
            } else if self.face_rows.contains(&row) {
                raw.facets.push(self.facet(&mut words, &mut values)?);
                if self.patch != PatchSource::None {
                    raw.keys
                        .push(self.patch.key(self.face, |place| values[place]));
                }
            }
            words.end_line()?;
            row += 1;
        }
        words.rest_is_blank().then_some(raw)
    }

    fn facet(&self, words: &mut Numbers<'_>, values: &mut [f64]) -> Option<[u32; 3]> {
        let mut facet = [0; 3];
        for place in 0..self.face.properties.len() {
            if place == self.list {
                if words.index()? != 3 {
                    return None;
                }
                for v in &mut facet {
                    *v = words.index()?;
                }
            } else {
                values[place] = words.next()?;
            }
        }
        Some(facet)
    }
}

/// The numbers of a piece of text.
struct Numbers<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Numbers<'_> {
    fn skip_blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\r')) {
            self.at += 1;
        }
    }

    fn ends_here(&self, at: usize) -> bool {
        self.bytes.get(at).is_none_or(u8::is_ascii_whitespace)
    }

    fn next(&mut self) -> Option<f64> {
        self.skip_blanks();
        let (value, len) = fast_float2::parse_partial::<f64, _>(&self.bytes[self.at..]).ok()?;
        self.at += len;
        (self.ends_here(self.at) && value.is_finite()).then_some(value)
    }

    fn index(&mut self) -> Option<u32> {
        self.skip_blanks();
        let start = self.at;
        let mut value = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.bytes.get(self.at) {
            value = 10 * value + u64::from(digit - b'0');
            self.at += 1;
            if value > u64::from(u32::MAX) {
                return None;
            }
        }
        (self.at > start && self.ends_here(self.at)).then_some(value as u32)
    }

    fn end_line(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.bytes.get(self.at) {
            None => Some(()),
            Some(b'\n') => {
                self.at += 1;
                Some(())
            }
            Some(_) => None,
        }
    }

    fn rest_is_blank(&self) -> bool {
        self.bytes[self.at.min(self.bytes.len())..]
            .trim_ascii()
            .is_empty()
    }
}
