//! The general PLY route: any layout, row by row through `ply-rs-bw`.
//!
//! `ply-rs-bw` decodes a row of any layout in the three encodings; this module
//! finds the rows (so that an error names the line, or the row and byte), checks
//! indices, and turns polygons and strips into triangles. Text coordinates are
//! decoded as f64 whatever their declared type.

use ply_rs_bw::parser::Parser;
use ply_rs_bw::ply::{
    Addable, ElementDef, Property as Value, PropertyAccess, PropertyAccessResult, PropertyDef,
    PropertyType, ScalarType,
};

use super::ply::{PatchSource, Raw};
use super::ply_header::{Element, Header, Kind, Scalar};
use super::source::Source;
use super::{FilePlace, Format, ReadError};

pub(super) fn read(source: Source<'_>, header: &Header) -> Result<Raw, ReadError> {
    let mut rows = Rows {
        source,
        format: header.format,
        at: header.body,
        line_end: source.bytes.len(),
        blank: 0,
    };
    let mut raw = Raw::default();
    let mut polygons = Polygons::default();
    for element in &header.elements {
        if element.properties.is_empty() {
            continue;
        }
        let def = definition(element, header.format);
        let list = element.index_list().map(|(place, _)| place);
        let patch = PatchSource::of(element);
        for row in 0..element.count {
            let values = rows.next(&def, element, row as u64)?;
            match (element.name.as_str(), list) {
                ("vertex", _) => raw.vertices.push(position(element, &values)),
                ("face", Some(list)) => {
                    let key = patch.key(element, |place| values.0[place].scalar());
                    polygons.push_polygon(values.0[list].list(), key, rows.place(row as u64));
                }
                ("tristrips", Some(list)) => {
                    polygons.push_strip(values.0[list].list(), rows.place(row as u64));
                }
                _ => {}
            }
        }
    }
    raw.end = rows.at;
    if rows.blank > 0 {
        raw.notes.push(format!(
            "{} blank lines between rows were skipped",
            rows.blank
        ));
    }
    polygons.into_triangles(source, header.format, &mut raw)?;
    let finite = |p: &[f64; 3]| p.iter().all(|x| x.is_finite());
    if let Some(vertex) = raw.vertices.iter().position(|p| !finite(p)) {
        let mut values = raw.vertices[vertex].into_iter();
        let value = values.find(|x| !x.is_finite()).unwrap_or(f64::NAN);
        return Err(source.not_finite(header.format, FilePlace::Vertex(vertex as u64), value));
    }
    Ok(raw)
}

fn position(element: &Element, values: &Row) -> [f64; 3] {
    ["x", "y", "z"].map(|name| {
        let place = element.property(name).map(|(place, _)| place);
        place.map_or(f64::NAN, |place| values.0[place].scalar())
    })
}

/// The values of one row, in the header's order.
#[derive(Debug, Default)]
struct Row(Vec<Cell>);

#[derive(Debug)]
enum Cell {
    Scalar(f64),
    List(Vec<i64>),
}

impl Cell {
    fn scalar(&self) -> f64 {
        match self {
            Self::Scalar(value) => *value,
            Self::List(_) => f64::NAN,
        }
    }

    fn list(&self) -> &[i64] {
        match self {
            Self::Scalar(_) => &[],
            Self::List(items) => items,
        }
    }
}

impl PropertyAccess for Row {
    fn new() -> Self {
        Self::default()
    }

    fn set_property(&mut self, _: &str, value: Value) -> PropertyAccessResult {
        fn list<T: Into<i64>>(items: Vec<T>) -> Cell {
            Cell::List(items.into_iter().map(Into::into).collect())
        }
        // Lists of reals never hold indices: only their length matters.
        self.0.push(match value {
            Value::Char(v) => Cell::Scalar(v.into()),
            Value::UChar(v) => Cell::Scalar(v.into()),
            Value::Short(v) => Cell::Scalar(v.into()),
            Value::UShort(v) => Cell::Scalar(v.into()),
            Value::Int(v) => Cell::Scalar(v.into()),
            Value::UInt(v) => Cell::Scalar(v.into()),
            Value::Float(v) => Cell::Scalar(v.into()),
            Value::Double(v) => Cell::Scalar(v),
            Value::ListChar(v) => list(v),
            Value::ListUChar(v) => list(v),
            Value::ListShort(v) => list(v),
            Value::ListUShort(v) => list(v),
            Value::ListInt(v) => list(v),
            Value::ListUInt(v) => list(v),
            Value::ListFloat(v) => Cell::List(vec![-1; v.len()]),
            Value::ListDouble(v) => Cell::List(vec![-1; v.len()]),
        });
        PropertyAccessResult::Set
    }
}

/// Finds and decodes the rows of the body one after another.
struct Rows<'a> {
    source: Source<'a>,
    format: Format,
    /// Byte behind the last row.
    at: usize,
    line_end: usize,
    blank: u64,
}

impl Rows<'_> {
    /// The place of the row just read.
    fn place(&self, row: u64) -> RowPlace {
        RowPlace {
            row,
            end: self.line_end,
        }
    }

    fn next(&mut self, def: &ElementDef, element: &Element, row: u64) -> Result<Row, ReadError> {
        let start = self.at;
        let (place, found) = if self.format == Format::PlyAscii {
            let text = String::from_utf8_lossy(self.next_line()).into_owned();
            match ascii_row(&text, def) {
                Some((values, 0)) => return Ok(values),
                fault => {
                    let found = match fault {
                        Some((_, extra)) => format!("{extra} more numbers on the line"),
                        None => {
                            let text: String = text.trim().chars().take(60).collect();
                            format!("'{}'", text.escape_debug())
                        }
                    };
                    (self.source.line_of(self.line_end), found)
                }
            }
        } else {
            match self.binary_row(def) {
                Ok(values) => return Ok(values),
                Err(found) => (
                    FilePlace::Row {
                        row,
                        byte: start as u64,
                    },
                    found,
                ),
            }
        };
        let expected = format!(
            "row {row} of the {} of element '{}' with its {} properties",
            element.count,
            element.name,
            element.properties.len()
        );
        Err(self.source.syntax(self.format, place, expected, found))
    }

    fn binary_row(&mut self, def: &ElementDef) -> Result<Row, String> {
        let parser = Parser::<Row>::new();
        let mut rest = &self.source.bytes[self.at..];
        let parsed = if self.format == Format::PlyBinaryLe {
            parser.read_little_endian_element(&mut rest, def)
        } else {
            parser.read_big_endian_element(&mut rest, def)
        };
        self.at = self.source.bytes.len() - rest.len();
        self.line_end = self.at;
        parsed.map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => "the end of the file".into(),
            _ => error.to_string(),
        })
    }

    /// The next line that is not blank, or an empty one at the end.
    fn next_line(&mut self) -> &[u8] {
        loop {
            let rest = &self.source.bytes[self.at..];
            let len = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            self.line_end = self.at + len;
            let crlf = rest[len..].starts_with(b"\r\n");
            self.at = (self.at + len + 1 + usize::from(crlf)).min(self.source.bytes.len());
            if rest.is_empty() || !rest[..len].trim_ascii().is_empty() {
                return &rest[..len];
            }
            self.blank += 1;
        }
    }
}

/// The values of a text row, and how many words follow them; `None` where they are not all there.
fn ascii_row(text: &str, def: &ElementDef) -> Option<(Row, usize)> {
    let parser = Parser::<Row>::new();
    let parsed = parser.read_ascii_element(text.trim(), def).or_else(|_| {
        // `ply-rs-bw` takes no 'nan' or 'inf' in text; an overflowing number stands in, which is
        // refused in a coordinate and harmless elsewhere as well.
        let odd = |word: &str| fast_float2::parse::<f64, _>(word).is_ok_and(|x| !x.is_finite());
        let words = text.split_ascii_whitespace();
        let words = words.map(|word| if odd(word) { "1e999" } else { word });
        parser.read_ascii_element(&words.collect::<Vec<_>>().join(" "), def)
    });
    let values = parsed.ok()?;
    let wanted: usize = values.0.iter().map(|cell| 1 + cell.list().len()).sum();
    let words = text.split_ascii_whitespace().count();
    Some((values, words.saturating_sub(wanted)))
}

/// A face's row, and the byte behind it or its line.
#[derive(Debug, Clone, Copy)]
struct RowPlace {
    row: u64,
    end: usize,
}

/// Index triples, with the rows they are of; checked when all vertices are known,
/// since faces may come before them.
#[derive(Default)]
struct Polygons {
    triangles: Vec<[i64; 3]>,
    keys: Vec<i64>,
    places: Vec<RowPlace>,
    faces: u64,
    short: Option<RowPlace>,
    strips: bool,
    seams: u64,
}

impl Polygons {
    fn push(&mut self, triangle: [i64; 3], key: i64, place: RowPlace) {
        self.triangles.push(triangle);
        self.keys.push(key);
        self.places.push(place);
    }

    fn push_polygon(&mut self, indices: &[i64], key: i64, place: RowPlace) {
        self.faces += 1;
        if indices.len() < 3 {
            self.short = self.short.or(Some(place));
        }
        for k in 2..indices.len() {
            self.push([indices[0], indices[k - 1], indices[k]], key, place);
        }
    }

    fn push_strip(&mut self, indices: &[i64], place: RowPlace) {
        self.faces += 1;
        self.strips = true;
        // An unsigned -1 restarts as well.
        let restart = |&index: &i64| index == -1 || index == i64::from(u32::MAX);
        for strip in indices.split(restart) {
            for (k, corner) in strip.windows(3).enumerate() {
                let [a, b, c] = [corner[0], corner[1], corner[2]];
                if a == b || b == c || a == c {
                    self.seams += 1;
                } else if k % 2 == 0 {
                    self.push([a, b, c], 0, place);
                } else {
                    self.push([b, a, c], 0, place);
                }
            }
        }
    }

    fn into_triangles(
        self,
        source: Source<'_>,
        format: Format,
        raw: &mut Raw,
    ) -> Result<(), ReadError> {
        let place = |place: RowPlace| match format {
            Format::PlyAscii => source.line_of(place.end),
            _ => FilePlace::Face(place.row),
        };
        if let Some(short) = self.short {
            return Err(source.syntax(
                format,
                place(short),
                "a face of at least three vertices",
                "fewer",
            ));
        }
        let vertices = raw.vertices.len() as u64;
        raw.facets.reserve(self.triangles.len());
        for (triangle, &at) in self.triangles.iter().zip(&self.places) {
            for &index in triangle {
                if index < 0 || index as u64 >= vertices || index > i64::from(u32::MAX) {
                    return Err(ReadError::IndexOutOfRange {
                        path: source.name.into(),
                        format,
                        place: place(at),
                        index,
                        vertices,
                    });
                }
            }
            raw.facets.push(triangle.map(|index| index as u32));
        }
        // Strips have no colour or component a triangle: one patch for all then.
        raw.keys = if self.strips { Vec::new() } else { self.keys };
        raw.faces_in_file = self.faces;
        if self.seams > 0 {
            raw.notes.push(format!(
                "{} strip triangles that repeat a vertex were dropped",
                self.seams
            ));
        }
        Ok(())
    }
}

/// The element as `ply-rs-bw` describes it.
fn definition(element: &Element, format: Format) -> ElementDef {
    let mut def = ElementDef::new(element.name.clone());
    def.count = element.count;
    for property in &element.properties {
        let kind = match property.kind {
            Kind::Scalar(Scalar::F32) if format == Format::PlyAscii => {
                PropertyType::Scalar(ScalarType::Double)
            }
            Kind::Scalar(scalar) => PropertyType::Scalar(scalar_type(scalar)),
            Kind::List { count, item } => PropertyType::List(scalar_type(count), scalar_type(item)),
        };
        def.properties
            .add(PropertyDef::new(property.name.clone(), kind));
    }
    def
}

fn scalar_type(scalar: Scalar) -> ScalarType {
    match scalar {
        Scalar::I8 => ScalarType::Char,
        Scalar::U8 => ScalarType::UChar,
        Scalar::I16 => ScalarType::Short,
        Scalar::U16 => ScalarType::UShort,
        Scalar::I32 => ScalarType::Int,
        Scalar::U32 => ScalarType::UInt,
        Scalar::F32 => ScalarType::Float,
        Scalar::F64 => ScalarType::Double,
    }
}
