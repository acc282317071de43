//! VTK XML polydata (`.vtp`): polygons and strips of all pieces.
//!
//! Read: arrays as text, base64 or appended (raw or base64), plain or compressed by zlib, of either byte order.
//! Skipped: vertices, lines, all data. Refused: LZ4 and LZMA, other data sets than `PolyData`. One patch, `body`.
//!
//! Bounds: all arrays together are at most as large as a gzipped file may unpack to.

use std::io::Read;

use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::assemble::Assembly;
use super::base64;
use super::source::{Source, most_unpacked};
use super::threemf::attribute;
use super::vtk::{Cells, EXTRACT, Kind, Number, append};
use super::{FilePlace, Format, Loaded, ReadError};

const FORMAT: Format = Format::Vtp;

/// Where the bytes of arrays are, and how.
struct Storage<'a> {
    source: Source<'a>,
    is_big: bool,
    /// Bytes of a number in a header.
    header: usize,
    is_compressed: bool,
    /// Appended data behind the underscore, and whether they are base64.
    appended: &'a [u8],
    is_base64: bool,
    /// Bytes that arrays may still take.
    left: u64,
}

/// A DataArray: its attributes, and its text where it is inline.
#[derive(Debug, Default)]
struct Array {
    name: String,
    number: Option<Number>,
    kind: String,
    format: String,
    offset: u64,
    text: String,
    at: u64,
}

/// The arrays of a piece that are read.
#[derive(Debug, Default)]
struct Piece {
    points: Option<Array>,
    /// Connectivity and offsets of polygons and of strips.
    cells: [[Option<Array>; 2]; 2],
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let bytes = super::sniff::strip_bom(source.bytes);
    let tail = memchr::memmem::find(bytes, b"<AppendedData");
    let (xml, tail) = bytes.split_at(tail.unwrap_or(bytes.len()));
    let mut storage = Storage {
        source,
        is_big: false,
        header: 4,
        is_compressed: false,
        appended: &[],
        is_base64: false,
        left: most_unpacked(bytes.len() as u64),
    };
    if let Some(end) = memchr::memchr(b'>', tail) {
        storage.is_base64 = memchr::memmem::find(&tail[..end], b"base64").is_some();
        if let Some(start) = memchr::memchr(b'_', &tail[end..]) {
            storage.appended = &tail[end + start + 1..];
        }
    }
    let mut out = Assembly::default();
    parse(&mut storage, xml, &mut out)?;
    if out.faces == 0 {
        return Err(source.no_facets(FORMAT, "it has neither polygons nor strips"));
    }
    out.finish(source, FORMAT, &[], &[], Vec::new())
}

fn parse(storage: &mut Storage<'_>, xml: &[u8], out: &mut Assembly) -> Result<(), ReadError> {
    let source = storage.source;
    let mut reader = Reader::from_reader(xml);
    reader.config_mut().check_end_names = false;
    let mut section = String::new();
    let mut piece = Piece::default();
    let mut array: Option<Array> = None;
    loop {
        let at = reader.buffer_position();
        let syntax = |expected: &str, found: String| {
            source.syntax(FORMAT, FilePlace::Byte(at), expected, found)
        };
        let event = reader.read_event();
        let event = event.map_err(|e| syntax("XML", e.to_string().chars().take(60).collect()))?;
        match event {
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                "VTKFile" => storage.file(&tag)?,
                name @ ("Points" | "Polys" | "Strips" | "Verts" | "Lines" | "PointData"
                | "CellData" | "FieldData") => section = name.to_owned(),
                "Piece" => piece = Piece::default(),
                "DataArray" => {
                    if let Some(done) = array.take() {
                        piece.keep(&section, done);
                    }
                    array = Some(Array::of(&tag, at));
                }
                _ => {}
            },
            Event::Text(text) => {
                if let Some(array) = &mut array {
                    array.text.push_str(&text.into_inner());
                }
            }
            Event::End(tag) => match tag.local_name().as_ref() {
                "DataArray" => {
                    if let Some(done) = array.take() {
                        piece.keep(&section, done);
                    }
                }
                "Piece" => {
                    if let Some(done) = array.take() {
                        piece.keep(&section, done);
                    }
                    storage.append(std::mem::take(&mut piece), out)?;
                }
                _ => {}
            },
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

impl Array {
    fn of(tag: &BytesStart<'_>, at: u64) -> Self {
        let text = |name| attribute(tag, name).unwrap_or_default();
        let kind = text("type");
        let int = |bytes, signed| Some(Number::Int { bytes, signed });
        let number = match kind.as_str() {
            "Int8" => int(1, true),
            "UInt8" => int(1, false),
            "Int16" => int(2, true),
            "UInt16" => int(2, false),
            "Int32" => int(4, true),
            "UInt32" => int(4, false),
            "Int64" => int(8, true),
            "UInt64" => int(8, false),
            "Float32" => Some(Number::Float { bytes: 4 }),
            "Float64" => Some(Number::Float { bytes: 8 }),
            _ => None,
        };
        Self {
            name: text("Name"),
            number,
            kind,
            format: text("format"),
            offset: text("offset").parse().unwrap_or(0),
            text: String::new(),
            at,
        }
    }
}

impl Piece {
    fn keep(&mut self, section: &str, array: Array) {
        let k = match section {
            "Points" => {
                self.points = Some(array);
                return;
            }
            "Polys" => 0,
            "Strips" => 1,
            _ => return,
        };
        match array.name.as_str() {
            "connectivity" => self.cells[k][0] = Some(array),
            "offsets" => self.cells[k][1] = Some(array),
            _ => {}
        }
    }
}

impl Storage<'_> {
    fn syntax(&self, at: u64, expected: &str, found: impl Into<String>) -> ReadError {
        self.source
            .syntax(FORMAT, FilePlace::Byte(at), expected, found)
    }

    /// The attributes of the file.
    fn file(&mut self, tag: &BytesStart<'_>) -> Result<(), ReadError> {
        if attribute(tag, "type").as_deref() != Some("PolyData") {
            return Err(self.source.no_facets(FORMAT, EXTRACT));
        }
        self.is_big = attribute(tag, "byte_order").as_deref() == Some("BigEndian");
        if attribute(tag, "header_type").as_deref() == Some("UInt64") {
            self.header = 8;
        }
        self.is_compressed = match attribute(tag, "compressor").as_deref() {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let expected = "no compression, or zlib (write it again so)";
                return Err(self.syntax(0, expected, other));
            }
        };
        Ok(())
    }

    /// Appends the polygons and strips of a piece.
    fn append(&mut self, piece: Piece, out: &mut Assembly) -> Result<(), ReadError> {
        let base = out.vertices.len();
        let Some(points) = piece.points else {
            return Ok(());
        };
        let real = |word: &str| fast_float2::parse::<f64, _>(word).ok();
        let values = self.numbers(&points, Number::real, real)?;
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            let place = FilePlace::Vertex((base + at / 3) as u64);
            return Err(self.source.not_finite(FORMAT, place, values[at]));
        }
        out.vertices.extend_from_slice(values.as_chunks::<3>().0);
        if out.vertices.len() as u64 >= u64::from(u32::MAX) {
            return Err(ReadError::TooMany {
                path: self.source.name.into(),
                format: FORMAT,
                corners: out.vertices.len() as u64,
            });
        }
        for ([indices, ends], kind) in piece.cells.into_iter().zip([Kind::Polygon, Kind::Strip]) {
            let (Some(indices), Some(ends)) = (indices, ends) else {
                continue;
            };
            let integer = |word: &str| word.parse().ok();
            let cells = Cells {
                indices: self.numbers(&indices, Number::integer, integer)?,
                ends: self.numbers(&ends, Number::integer, integer)?,
            };
            append(self.source, FORMAT, &cells, base, out, |_| kind)?;
        }
        Ok(())
    }

    /// The numbers of an array, from big-endian bytes or from words.
    fn numbers<T>(
        &mut self,
        array: &Array,
        binary: impl Fn(Number, &[u8]) -> T,
        text: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, ReadError> {
        let Some(number) = array.number else {
            return Err(self.syntax(array.at, "a type of numbers", array.kind.clone()));
        };
        if array.format == "ascii" {
            let words = array.text.split_ascii_whitespace();
            let parsed = words.map(|word| {
                text(word).ok_or_else(|| {
                    let found: String = word.chars().take(40).collect();
                    self.syntax(array.at, "a number in the array", found)
                })
            });
            return parsed.collect();
        }
        let size = number.bytes();
        let bytes = self.bytes(array)?;
        let of = |bytes: &[u8]| {
            let mut big = [0; 8];
            big[..size].copy_from_slice(bytes);
            if !self.is_big {
                big[..size].reverse();
            }
            binary(number, &big[..size])
        };
        Ok(bytes.chunks_exact(size).map(of).collect())
    }

    /// The bytes of an array that is not text.
    fn bytes(&mut self, array: &Array) -> Result<Vec<u8>, ReadError> {
        let truncated = || {
            let found = "less: the file is damaged or truncated";
            self.source.syntax(
                FORMAT,
                FilePlace::Byte(array.at),
                "all bytes of the array",
                found,
            )
        };
        let inline: Vec<u8>;
        let (stream, is_base64) = match array.format.as_str() {
            "appended" => {
                let from = usize::try_from(array.offset).unwrap_or(usize::MAX);
                let stream = self.appended.get(from..).ok_or_else(truncated)?;
                (stream, self.is_base64)
            }
            "binary" => {
                let text = array.text.bytes();
                inline = text.filter(|b| !b.is_ascii_whitespace()).collect();
                (inline.as_slice(), true)
            }
            other => {
                let expected = "the format ascii, binary or appended";
                return Err(self.syntax(array.at, expected, other));
            }
        };
        let stream = Stream {
            bytes: stream,
            is_base64,
        };
        let left = self.left;
        let out = if self.is_compressed {
            self.inflate(stream, left)
        } else {
            self.plain(stream, left)
        };
        match out {
            Some(Some(bytes)) => {
                self.left -= bytes.len() as u64;
                Ok(bytes)
            }
            Some(None) => Err(self.source.too_large()),
            None => Err(truncated()),
        }
    }

    fn word(&self, bytes: &[u8]) -> u64 {
        let fold = |x: u64, b: &u8| x << 8 | u64::from(*b);
        if self.is_big {
            bytes.iter().fold(0, fold)
        } else {
            bytes.iter().rev().fold(0, fold)
        }
    }

    /// A length and as many bytes; `Some(None)` where they are more than `left`, `None` where the stream ends before.
    fn plain(&self, stream: Stream<'_>, left: u64) -> Option<Option<Vec<u8>>> {
        let header = stream.take(self.header)?;
        let len = self.word(&header.bytes);
        if len > left {
            // More than the stream has is a truncated one.
            return (len <= stream.bytes.len() as u64).then_some(None);
        }
        let len = len as usize;
        let data = if header.is_padded || !stream.is_base64 {
            header.rest.take(len)?.bytes
        } else {
            let mut both = stream.take(self.header + len)?.bytes;
            both.drain(..self.header);
            both
        };
        Some(Some(data))
    }

    /// Numbers of blocks, sizes, then blocks of zlib streams; as [`plain`](Self::plain).
    fn inflate(&self, stream: Stream<'_>, left: u64) -> Option<Option<Vec<u8>>> {
        let h = self.header;
        let start = stream.take(3 * h)?.bytes;
        let [blocks, size, last] = [0, 1, 2].map(|k| self.word(&start[k * h..(k + 1) * h]));
        if blocks == 0 {
            return Some(Some(Vec::new()));
        }
        if blocks > stream.bytes.len() as u64 {
            return None;
        }
        let full = if last > 0 { blocks - 1 } else { blocks };
        let total = full.checked_mul(size)?.checked_add(last)?;
        if total > left {
            return Some(None);
        }
        let header = stream.take((3 + blocks as usize) * h)?;
        let sizes = header.bytes[3 * h..].chunks_exact(h).map(|b| self.word(b));
        let sizes: Vec<u64> = sizes.collect();
        let packed = sizes.iter().try_fold(0u64, |sum, &n| sum.checked_add(n))?;
        let packed = header.rest.take(usize::try_from(packed).ok()?)?.bytes;
        let (mut out, mut rest) = (Vec::new(), &packed[..]);
        for (k, &n) in sizes.iter().enumerate() {
            let (block, behind) = rest.split_at_checked(n as usize)?;
            rest = behind;
            let len = if last > 0 && k + 1 == sizes.len() {
                last
            } else {
                size
            };
            let before = out.len() as u64;
            let decoder = flate2::read::ZlibDecoder::new(block);
            decoder.take(len).read_to_end(&mut out).ok()?;
            if out.len() as u64 - before < len {
                return None;
            }
        }
        Some(Some(out))
    }
}

/// Bytes, as they are or in base64.
#[derive(Clone, Copy)]
struct Stream<'a> {
    bytes: &'a [u8],
    is_base64: bool,
}

/// The first bytes of a stream.
struct Taken<'a> {
    bytes: Vec<u8>,
    /// Whether the base64 of these bytes ends in padding.
    is_padded: bool,
    rest: Stream<'a>,
}

impl<'a> Stream<'a> {
    /// The first `count` bytes; of base64, the rest begins behind the last group of four characters.
    fn take(self, count: usize) -> Option<Taken<'a>> {
        let len = if self.is_base64 {
            count.div_ceil(3).checked_mul(4)?
        } else {
            count
        };
        let (head, rest) = self.bytes.split_at_checked(len)?;
        let mut bytes = if self.is_base64 {
            base64::decode(head)?
        } else {
            head.to_vec()
        };
        if bytes.len() < count {
            return None;
        }
        bytes.truncate(count);
        Some(Taken {
            bytes,
            is_padded: self.is_base64 && head.ends_with(b"="),
            rest: Self {
                bytes: rest,
                is_base64: self.is_base64,
            },
        })
    }
}
