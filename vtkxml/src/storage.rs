//! Arrays of a file, and their numbers.

use crate::{VtkNumber, attribute, base64};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::io::Read;

/// What is wrong with a file; the text is a lowercase fragment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XmlFault {
    /// Something else than expected.
    #[error("byte {at}: expected {expected}, found {found}")]
    Syntax {
        /// The byte of the file at which the element ends that has it.
        at: u64,
        /// What was expected.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// Arrays that unpack to more than allowed.
    #[error("its arrays unpack to more than allowed")]
    TooLarge,
}

fn syntax(at: u64, expected: &'static str, found: impl Into<String>) -> XmlFault {
    let found = found.into();
    XmlFault::Syntax {
        at,
        expected,
        found,
    }
}

/// A DataArray: its attributes, and its text where it is inline.
#[derive(Debug, Clone, Default)]
pub struct XmlArray {
    /// The element that it is in, such as `Points`.
    pub section: String,
    /// Its name.
    pub name: String,
    /// Numbers of a tuple.
    pub components: usize,
    /// Byte of the file, for messages.
    pub at: u64,
    number: Option<VtkNumber>,
    kind: String,
    format: String,
    offset: u64,
    text: String,
}

impl XmlArray {
    fn of(tag: &BytesStart<'_>, section: &str, at: u64) -> Self {
        let text = |name| attribute(tag, name).unwrap_or_default();
        let kind = text("type");
        Self {
            section: section.to_owned(),
            name: text("Name"),
            components: text("NumberOfComponents").parse().unwrap_or(1),
            at,
            number: VtkNumber::of(&kind),
            kind,
            format: text("format"),
            offset: text("offset").parse().unwrap_or(0),
            text: String::new(),
        }
    }
}

/// A piece of a mesh: its arrays, not decoded yet.
#[derive(Debug, Clone, Default)]
pub struct XmlPiece {
    /// `NumberOfPoints`, where it is given.
    pub points: Option<u64>,
    /// `NumberOfCells`, where it is given.
    pub cells: Option<u64>,
    /// All arrays, in the order of the file.
    pub arrays: Vec<XmlArray>,
}

impl XmlPiece {
    /// The array of a section with a name; of several, the last one.
    pub fn array(&self, section: &str, name: &str) -> Option<&XmlArray> {
        let mut all = self.arrays.iter().rev();
        all.find(|array| array.section == section && array.name == name)
    }

    /// The array of a section that has one.
    pub fn only(&self, section: &str) -> Option<&XmlArray> {
        self.arrays
            .iter()
            .rev()
            .find(|array| array.section == section)
    }
}

/// A file: its pieces, and the means to decode their arrays.
#[derive(Debug)]
pub struct XmlArrays<'a> {
    /// The kind of data set, such as `PolyData`.
    pub kind: String,
    /// Its pieces.
    pub pieces: Vec<XmlPiece>,
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

impl<'a> XmlArrays<'a> {
    /// Parses a file, whose decoded arrays may take `most` bytes together.
    ///
    /// # Errors
    /// What is no XML, a compressor that is not supported, a file that ends within a piece.
    pub fn parse(bytes: &'a [u8], most: u64) -> Result<Self, XmlFault> {
        let tail = memchr::memmem::find(bytes, b"<AppendedData");
        let (xml, tail) = bytes.split_at(tail.unwrap_or(bytes.len()));
        let mut all = Self {
            kind: String::new(),
            pieces: Vec::new(),
            is_big: false,
            header: 4,
            is_compressed: false,
            appended: &[],
            is_base64: false,
            left: most,
        };
        if let Some(end) = memchr::memchr(b'>', tail) {
            all.is_base64 = memchr::memmem::find(&tail[..end], b"base64").is_some();
            if let Some(start) = memchr::memchr(b'_', &tail[end..]) {
                all.appended = &tail[end + start + 1..];
            }
        }
        all.collect(xml)?;
        Ok(all)
    }

    fn collect(&mut self, xml: &[u8]) -> Result<(), XmlFault> {
        let mut reader = Reader::from_reader(xml);
        reader.config_mut().check_end_names = false;
        let mut section = String::new();
        let mut is_in_piece = false;
        let mut array: Option<XmlArray> = None;
        let mut depth = 0usize;
        let is_own = |name: &str| matches!(name, "DataArray" | "Piece");
        loop {
            let at = reader.buffer_position();
            let event = reader.read_event();
            let event = event.map_err(|e| {
                let found: String = e.to_string().chars().take(60).collect();
                syntax(at, "XML", found)
            })?;
            match event {
                // Keys of information lie within arrays.
                Event::Start(tag) if array.is_some() && !is_own(tag.local_name().as_ref()) => {
                    depth += 1;
                }
                Event::End(tag) if depth > 0 && !is_own(tag.local_name().as_ref()) => depth -= 1,
                Event::Start(tag) => {
                    is_in_piece |= tag.local_name().as_ref() == "Piece";
                    self.keep(array.take());
                    depth = 0;
                    self.start(&tag, at, &mut section, &mut array)?;
                }
                Event::Empty(tag) if array.is_none() || is_own(tag.local_name().as_ref()) => {
                    self.keep(array.take());
                    self.start(&tag, at, &mut section, &mut array)?;
                    self.keep(array.take());
                }
                Event::Text(text) => {
                    if let Some(array) = array.as_mut().filter(|_| depth == 0) {
                        array.text.push_str(&text.into_inner());
                    }
                }
                Event::End(tag) => {
                    is_in_piece &= tag.local_name().as_ref() != "Piece";
                    self.keep(array.take());
                    depth = 0;
                }
                Event::Eof if is_in_piece => {
                    let found = "the end of the file: it is truncated";
                    return Err(syntax(at, "the end of the piece", found));
                }
                Event::Eof => return Ok(()),
                _ => {}
            }
        }
    }

    fn keep(&mut self, array: Option<XmlArray>) {
        if let (Some(array), Some(piece)) = (array, self.pieces.last_mut()) {
            piece.arrays.push(array);
        }
    }

    fn start(
        &mut self,
        tag: &BytesStart<'_>,
        at: u64,
        section: &mut String,
        array: &mut Option<XmlArray>,
    ) -> Result<(), XmlFault> {
        match tag.local_name().as_ref() {
            "VTKFile" => self.file(tag, at)?,
            "Piece" => {
                let count = |name| attribute(tag, name)?.parse().ok();
                self.pieces.push(XmlPiece {
                    points: count("NumberOfPoints"),
                    cells: count("NumberOfCells"),
                    arrays: Vec::new(),
                });
            }
            "DataArray" => *array = Some(XmlArray::of(tag, section, at)),
            name => *section = name.to_owned(),
        }
        Ok(())
    }

    /// The attributes of the file.
    fn file(&mut self, tag: &BytesStart<'_>, at: u64) -> Result<(), XmlFault> {
        self.kind = attribute(tag, "type").unwrap_or_default();
        self.is_big = attribute(tag, "byte_order").as_deref() == Some("BigEndian");
        if attribute(tag, "header_type").as_deref() == Some("UInt64") {
            self.header = 8;
        }
        self.is_compressed = match attribute(tag, "compressor").as_deref() {
            None | Some("") => false,
            Some("vtkZLibDataCompressor") => true,
            Some(other) => {
                let expected = "no compression, or zlib (write it again so)";
                return Err(syntax(at, expected, other));
            }
        };
        Ok(())
    }

    /// The numbers of an array as reals.
    ///
    /// # Errors
    /// An array that is damaged, truncated or too large.
    pub fn reals(&mut self, array: &XmlArray) -> Result<Vec<f64>, XmlFault> {
        let real = |word: &str| fast_float2::parse::<f64, _>(word).ok();
        self.numbers(array, VtkNumber::real, real)
    }

    /// The numbers of an array as integers.
    ///
    /// # Errors
    /// As [`reals`](Self::reals).
    pub fn integers(&mut self, array: &XmlArray) -> Result<Vec<i64>, XmlFault> {
        // Whole numbers of a float array have a point.
        let whole = |word: &str| {
            let real = fast_float2::parse::<f64, _>(word).ok();
            real.filter(|x| x.fract() == 0.0 && x.abs() < 2f64.powi(53))
                .map(|x| x as i64)
        };
        let integer = |word: &str| word.parse().ok().or_else(|| whole(word));
        self.numbers(array, VtkNumber::integer, integer)
    }

    /// The numbers of an array, from big-endian bytes or from words.
    fn numbers<T>(
        &mut self,
        array: &XmlArray,
        binary: impl Fn(VtkNumber, &[u8]) -> T,
        text: impl Fn(&str) -> Option<T>,
    ) -> Result<Vec<T>, XmlFault> {
        let Some(number) = array.number else {
            return Err(syntax(array.at, "a type of numbers", array.kind.clone()));
        };
        if array.format == "ascii" {
            let words = array.text.split_ascii_whitespace();
            let parsed = words.map(|word| {
                text(word).ok_or_else(|| {
                    let found: String = word.chars().take(40).collect();
                    syntax(array.at, "a number in the array", found)
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
    fn bytes(&mut self, array: &XmlArray) -> Result<Vec<u8>, XmlFault> {
        let truncated = || {
            let found = "less: the file is damaged or truncated";
            syntax(array.at, "all bytes of the array", found)
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
                return Err(syntax(array.at, expected, other));
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
            Some(None) => Err(XmlFault::TooLarge),
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
