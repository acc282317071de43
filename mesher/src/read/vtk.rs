//! Legacy VTK, ASCII and binary (big-endian): polygons and strips of `POLYDATA`, and the surface cells of
//! `UNSTRUCTURED_GRID` (triangle, strip, polygon, pixel, quad, and the corners of their quadratic kin).
//!
//! Both layouts of cells are read: sizes and indices in turn (before version 5.1), and `OFFSETS` with `CONNECTIVITY`.
//! Skipped: vertices, lines, all data; with a note cells of volumes. One patch, `body`.

use cutlink_vtkxml::VtkNumber as Number;

use super::assemble::{Assembly, Tag};
use super::source::Source;
use super::{FilePlace, Format, Loaded, ReadError, counted};

const FORMAT: Format = Format::Vtk;

pub(super) const EXTRACT: &str =
    "it is no polydata: extract its surface first (ParaView: Extract Surface)";

/// Bytes as a big-endian number.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |x, &b| x << 8 | u64::from(b))
}

/// Cells: indices of points, and where each cell ends in them.
#[derive(Debug, Default)]
pub(super) struct Cells {
    pub(super) indices: Vec<i64>,
    pub(super) ends: Vec<i64>,
}

/// Appends cells of one kind to a surface whose points begin at `base`; `what` names them in messages.
pub(super) fn append(
    source: Source<'_>,
    format: Format,
    cells: &Cells,
    base: usize,
    out: &mut Assembly,
    kind: impl Fn(usize) -> Kind,
) -> Result<u64, ReadError> {
    let points = (out.vertices.len() - base) as u64;
    let (mut from, mut volumes) = (0, 0);
    let mut corners = Vec::new();
    for (i, &end) in cells.ends.iter().enumerate() {
        let place = FilePlace::Face(i as u64);
        let range = usize::try_from(end)
            .ok()
            .and_then(|to| cells.indices.get(from..to));
        let Some(cell) = range else {
            let found = format!("its end at {end} of {}", cells.indices.len());
            return Err(source.syntax(format, place, "a cell within the connectivity", found));
        };
        from = end as usize;
        corners.clear();
        for &index in cell {
            match u64::try_from(index) {
                Ok(v) if v < points => corners.push((base as u64 + v) as u32),
                _ => {
                    return Err(ReadError::IndexOutOfRange {
                        path: source.name.into(),
                        format,
                        place,
                        index,
                        vertices: points,
                    });
                }
            }
        }
        match kind(i) {
            Kind::Polygon => out.polygon(&corners, Tag::default()),
            Kind::Pixel => {
                if corners.len() == 4 {
                    corners.swap(2, 3);
                }
                out.polygon(&corners, Tag::default());
            }
            Kind::First(n) => {
                corners.truncate(n);
                out.polygon(&corners, Tag::default());
            }
            Kind::Strip => out.strip(&corners, Tag::default()),
            Kind::Volume => volumes += 1,
            Kind::Curve => {}
        }
    }
    Ok(volumes)
}

/// What a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Polygon,
    /// A quad with its last two corners swapped.
    Pixel,
    /// A polygon of its first corners: a quadratic cell.
    First(usize),
    Strip,
    Volume,
    /// Points and lines.
    Curve,
}

impl Kind {
    /// By VTK's number of a cell type.
    fn of(number: i64) -> Self {
        match number {
            5 | 7 | 9 => Self::Polygon,
            6 => Self::Strip,
            8 => Self::Pixel,
            22 | 34 => Self::First(3),
            23 | 28 | 30 => Self::First(4),
            0..=4 | 21 | 35 => Self::Curve,
            _ => Self::Volume,
        }
    }
}

/// A reader of words and of binary numbers.
struct Lexer<'a> {
    source: Source<'a>,
    at: usize,
    is_binary: bool,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a [u8] {
        &self.source.bytes[self.at..]
    }

    /// The next word, empty at the end.
    fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let start = rest.iter().position(|b| !b.is_ascii_whitespace());
        let start = start.unwrap_or(rest.len());
        let len = rest[start..].iter().position(u8::is_ascii_whitespace);
        let len = len.unwrap_or(rest.len() - start);
        self.at += start + len;
        &rest[start..start + len]
    }

    /// What is left of the line.
    fn line(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let len = memchr::memchr(b'\n', rest);
        self.at += len.map_or(rest.len(), |len| len + 1);
        &rest[..len.unwrap_or(rest.len())]
    }

    fn syntax(&self, at: usize, expected: impl Into<String>) -> ReadError {
        let found = self
            .source
            .word_at(at + skipped(&self.source.bytes[at.min(self.source.bytes.len())..]));
        self.source
            .syntax(FORMAT, FilePlace::Byte(at as u64), expected, found)
    }

    fn count(&mut self, what: &str) -> Result<usize, ReadError> {
        let at = self.at;
        let word = std::str::from_utf8(self.word()).ok();
        let count = word.and_then(|w| w.parse::<usize>().ok());
        count.ok_or_else(|| self.syntax(at, what))
    }

    fn number_type(&mut self) -> Result<Number, ReadError> {
        let at = self.at;
        let name = self.word();
        Number::of_legacy(name).ok_or_else(|| self.syntax(at, "a type of numbers, such as float"))
    }

    /// `count` numbers, each given to `each` as big-endian bytes or as a word; the line of the header is read.
    fn numbers(
        &mut self,
        count: usize,
        number: Number,
        mut each: impl FnMut(&Self, usize, &[u8]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        self.line();
        let size = if self.is_binary { number.bytes() } else { 1 };
        let room = self.rest().len() / size;
        if count > room {
            return Err(ReadError::Truncated {
                path: self.source.name.into(),
                format: FORMAT,
                what: "numbers".into(),
                expected: count as u64,
                found: room as u64,
                end: self.source.bytes.len() as u64,
            });
        }
        for _ in 0..count {
            let at = self.at;
            let bytes = if self.is_binary {
                self.at += size;
                &self.source.bytes[at..at + size]
            } else {
                self.word()
            };
            each(self, at, bytes)?;
        }
        Ok(())
    }

    fn integers(&mut self, count: usize, number: Number) -> Result<Vec<i64>, ReadError> {
        let mut out = Vec::new();
        self.numbers(count, number, |lexer, at, bytes| {
            let value = if lexer.is_binary {
                Some(number.integer(bytes))
            } else {
                std::str::from_utf8(bytes).ok().and_then(|s| s.parse().ok())
            };
            out.push(value.ok_or_else(|| lexer.syntax(at, "an integer"))?);
            Ok(())
        })?;
        Ok(out)
    }

    fn points(&mut self, out: &mut Assembly) -> Result<(), ReadError> {
        let count = self.count("the number of points")?;
        let number = self.number_type()?;
        let all = (count as u64).saturating_add(out.vertices.len() as u64);
        if all >= u64::from(u32::MAX) {
            return Err(ReadError::TooMany {
                path: self.source.name.into(),
                format: FORMAT,
                corners: all,
            });
        }
        let mut point = [0.0; 3];
        let mut axis = 0;
        self.numbers(count.saturating_mul(3), number, |lexer, at, bytes| {
            let x = if lexer.is_binary {
                number.real(bytes)
            } else {
                fast_float2::parse(bytes).map_err(|_| lexer.syntax(at, "a coordinate"))?
            };
            if !x.is_finite() {
                let place = FilePlace::Byte(at as u64);
                return Err(lexer.source.not_finite(FORMAT, place, x));
            }
            point[axis] = x;
            axis = (axis + 1) % 3;
            if axis == 0 {
                out.vertices.push(point);
            }
            Ok(())
        })
    }

    /// Cells behind their keyword, in either layout.
    fn cells(&mut self) -> Result<Cells, ReadError> {
        let (count, size) = (self.count("a number of cells")?, self.count("a size")?);
        let before = self.at;
        self.line();
        let at = self.at;
        if !self.word().eq_ignore_ascii_case(b"OFFSETS") {
            self.at = before;
            let int = Number::Int {
                bytes: 4,
                signed: true,
            };
            let all = self.integers(size, int)?;
            return self.in_turn(count, &all);
        }
        let number = self.number_type()?;
        let offsets = self.integers(count, number)?;
        let at_connectivity = self.at;
        if !self.word().eq_ignore_ascii_case(b"CONNECTIVITY") {
            return Err(self.syntax(at_connectivity, "CONNECTIVITY"));
        }
        let number = self.number_type()?;
        let indices = self.integers(size, number)?;
        match offsets.split_first() {
            None => Ok(Cells::default()),
            Some((0, ends)) => Ok(Cells {
                indices,
                ends: ends.to_vec(),
            }),
            Some(_) => Err(self.syntax(at, "offsets that begin with 0")),
        }
    }

    /// Cells as sizes and indices in turn.
    fn in_turn(&self, count: usize, all: &[i64]) -> Result<Cells, ReadError> {
        let mut cells = Cells::default();
        let mut rest = all;
        for i in 0..count {
            let cell = rest.split_first().and_then(|(&n, behind)| {
                let n = usize::try_from(n).ok()?;
                Some((behind.get(..n)?, behind.get(n..)?))
            });
            let Some((cell, behind)) = cell else {
                let place = FilePlace::Face(i as u64);
                let expected = "the number of its points, and as many points";
                let found = rest.first().map_or("the end".into(), i64::to_string);
                return Err(self.source.syntax(FORMAT, place, expected, found));
            };
            cells.indices.extend_from_slice(cell);
            cells.ends.push(cells.indices.len() as i64);
            rest = behind;
        }
        Ok(cells)
    }

    /// Skips a string of a `FIELD`: a line, or in binary its length and its bytes. The two highest bits of the length
    /// say how many bytes it has: 8, 4, 2 or 1.
    fn skip_string(&mut self) {
        if !self.is_binary {
            self.line();
            return;
        }
        let rest = self.rest();
        let width = rest.first().map_or(0, |first| 8 >> (first >> 6));
        let head = &rest[..rest.len().min(width)];
        let unused = 64 - 8 * width as u32 + 2;
        let len = bits(head).checked_shl(unused).map_or(0, |x| x >> unused);
        let end = (self.at + width) as u64;
        self.at = end.saturating_add(len).min(self.source.bytes.len() as u64) as usize;
    }

    /// The arrays of a `FIELD`, skipped.
    fn skip_field(&mut self) -> Result<(), ReadError> {
        self.word();
        for _ in 0..self.count("a number of arrays")? {
            self.word();
            let components = self.count("a number of components")?;
            let count = components.saturating_mul(self.count("a number of tuples")?);
            let at = self.at;
            let name = self.word();
            if name.eq_ignore_ascii_case(b"string") {
                self.line();
                for _ in 0..count.min(self.rest().len()) {
                    self.skip_string();
                }
                continue;
            }
            let number = Number::of_legacy(name);
            let number =
                number.ok_or_else(|| self.syntax(at, "a type of numbers, such as float"))?;
            self.numbers(count, number, |_, _, _| Ok(()))?;
        }
        Ok(())
    }
}

fn skipped(rest: &[u8]) -> usize {
    rest.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let mut lexer = Lexer {
        source,
        at: source.bytes.len() - super::sniff::strip_bom(source.bytes).len(),
        is_binary: false,
    };
    lexer.line();
    lexer.line();
    let at = lexer.at;
    lexer.is_binary = match lexer.word().to_ascii_uppercase().as_slice() {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err(lexer.syntax(at, "ASCII or BINARY")),
    };
    let mut out = Assembly::default();
    let mut polygons = Vec::new();
    let mut strips = Vec::new();
    let (mut mixed, mut types) = (Cells::default(), Vec::new());
    loop {
        let at = lexer.at;
        let keyword = lexer.word().to_ascii_uppercase();
        match keyword.as_slice() {
            b"DATASET" => match lexer.word().to_ascii_uppercase().as_slice() {
                b"POLYDATA" | b"UNSTRUCTURED_GRID" => {}
                _ => return Err(source.no_facets(FORMAT, EXTRACT)),
            },
            b"POINTS" => lexer.points(&mut out)?,
            b"POLYGONS" => polygons.push(lexer.cells()?),
            b"TRIANGLE_STRIPS" => strips.push(lexer.cells()?),
            b"VERTICES" | b"LINES" => {
                lexer.cells()?;
            }
            b"CELLS" => mixed = lexer.cells()?,
            b"CELL_TYPES" => {
                let count = lexer.count("a number of cells")?;
                let int = Number::Int {
                    bytes: 4,
                    signed: true,
                };
                types = lexer.integers(count, int)?;
            }
            b"FIELD" => lexer.skip_field()?,
            b"METADATA" => {
                lexer.line();
                while !lexer.rest().is_empty() && !lexer.line().trim_ascii().is_empty() {}
            }
            // Data come last.
            b"" | b"CELL_DATA" | b"POINT_DATA" => break,
            _ => return Err(lexer.syntax(at, "a keyword of polydata, such as POLYGONS")),
        }
    }
    if types.len() < mixed.ends.len() {
        return Err(lexer.syntax(lexer.at, "CELL_TYPES of all cells"));
    }
    let mut notes = Vec::new();
    let mut count = 0;
    for cells in &polygons {
        count += cells.ends.len();
        append(source, FORMAT, cells, 0, &mut out, |_| Kind::Polygon)?;
    }
    for cells in &strips {
        count += cells.ends.len();
        append(source, FORMAT, cells, 0, &mut out, |_| Kind::Strip)?;
    }
    let volumes = append(source, FORMAT, &mixed, 0, &mut out, |i| Kind::of(types[i]))?;
    if out.faces == 0 {
        return Err(source.no_facets(
            FORMAT,
            if volumes > 0 {
                "its cells are volumes: extract its surface first (ParaView: Extract Surface)"
            } else if count + mixed.ends.len() > 0 {
                "its cells are points or lines"
            } else {
                "it has points, but neither polygons nor strips"
            },
        ));
    }
    if volumes > 0 {
        notes.push(format!("skipped {}", counted(volumes, "volume cell")));
    }
    out.finish(source, FORMAT, &[], &[], notes)
}
