//! What can be wrong with a file, where, and the way out.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{Format, MAX_UNPACKED};
use cutlink_device::{ErrorKind, Failure};

/// Where in a file something is; counts from 1 for lines and from 0 for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilePlace {
    /// A line of text, from 1.
    Line(u64),
    /// A triangle of a binary STL, from 0.
    Triangle(u64),
    /// A triangle of a binary STL that follows others in its file.
    TriangleOfBody {
        /// The STL, from 0.
        body: u64,
        /// The triangle in that STL, from 0.
        triangle: u64,
        /// Byte offset in the unpacked file.
        byte: u64,
    },
    /// A row of a PLY element that starts at this byte (of the unpacked file).
    Row {
        /// Row number in its element, from 0.
        row: u64,
        /// Byte offset in the unpacked file.
        byte: u64,
    },
    /// A byte of the unpacked file, from 0.
    Byte(u64),
    /// A byte of the model in a 3MF file, from 0.
    ModelByte(u64),
    /// A part of the file by its kind and index, from 0.
    Item {
        /// Its kind, such as `accessor`.
        what: &'static str,
        /// Its index or number.
        index: u64,
    },
    /// The file as a whole.
    File,
    /// A vertex, by its index.
    Vertex(u64),
    /// A face, by its index.
    Face(u64),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(n) => write!(f, "line {n}"),
            Self::Triangle(n) => write!(f, "triangle {n} (byte {})", 84 + 50 * n),
            Self::TriangleOfBody {
                body,
                triangle,
                byte,
            } => {
                write!(f, "triangle {triangle} of STL {body} (byte {byte})")
            }
            Self::Row { row, byte } => write!(f, "row {row} (byte {byte})"),
            Self::Byte(n) => write!(f, "byte {n}"),
            Self::ModelByte(n) => write!(f, "byte {n} of the model"),
            Self::Item { what, index } => write!(f, "{what} {index}"),
            Self::File => f.write_str("as a whole"),
            Self::Vertex(n) => write!(f, "vertex {n}"),
            Self::Face(n) => write!(f, "face {n}"),
        }
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system reported an error.
    #[error("cannot read {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Not enough memory for the file or what is in it.
    #[error("not enough memory to read {}: {requested} bytes needed for {what}, {free} bytes free", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What the memory is for.
        what: &'static str,
        /// Bytes that the allocation needs.
        requested: u64,
        /// Bytes that were free.
        free: u64,
    },
    /// Written to or truncated by another program while it was read.
    #[error(
        "{} changed while it was read: {before} bytes before, {}: wait until it is written, then try again",
        path.display(), if read > before { "more now".into() } else { format!("{read} now") }
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Its size when it was opened, in bytes.
        before: u64,
        /// Bytes that were read; one more than `before` where the file has grown.
        read: u64,
    },
    /// Standard input that nothing is sent to.
    #[error(
        "standard input is a terminal: send a surface to it, as in `cat part.stl | cutlink mesh - -o part`"
    )]
    Terminal,
    /// Surfaces of two and of three dimensions in one run.
    #[error("{} is 2D, but {} is 3D: all surfaces of a run must have the same dimensions", planar.display(),
    spatial.display())]
    Mixed {
        /// A file in 2D.
        planar: PathBuf,
        /// A file in 3D.
        spatial: PathBuf,
    },
    /// A folder or device.
    #[error("{} is not a regular file: give the path of a surface file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// No byte, or nothing but white space.
    #[error("{} is empty (white space only): fetch or export it again", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The packed stream is damaged.
    #[error("cannot unpack {}: {source} (after {unpacked} bytes): the file is damaged or truncated: fetch it \
    again", path.display())]
    Gzip {
        /// The file.
        path: PathBuf,
        /// Bytes unpacked before the fault.
        unpacked: u64,
        /// The decoder's reason.
        source: io::Error,
    },
    /// Packed content is larger than [`MAX_UNPACKED`] or expands implausibly.
    #[error("{} unpacks to more than {unpacked} bytes from {packed}: over the limit ({MAX_UNPACKED} bytes, or \
    {ratio} times the file): if this is intended, unpack it first, or export it without compression", path.display())]
    UnpackedTooLarge {
        /// The file.
        path: PathBuf,
        /// Size of the file.
        packed: u64,
        /// Bytes unpacked when it was refused.
        unpacked: u64,
        /// The ratio that is allowed.
        ratio: u64,
    },
    /// Of no known format.
    #[error("{} is of no known format (STL, PLY, OBJ, OFF, 3MF, glTF, VTK, VTP, 2D polyline): it starts with {start:?}", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its first characters.
        start: String,
    },
    /// Of a known format that is not read.
    #[error("{} is {what}: {remedy}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The format, with the article.
        what: &'static str,
        /// What the user can do.
        remedy: &'static str,
    },
    /// The file ends before what its header announces.
    #[error("{} ({format}) is truncated: {expected} {what} announced, but the file ends at byte {end} after \
    {found}: fetch or export it again", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// What is missing.
        what: String,
        /// How many the header announces.
        expected: u64,
        /// How many fit in the file at most.
        found: u64,
        /// Length of the (unpacked) file.
        end: u64,
    },
    /// A binary file that went through a text conversion.
    #[error("{} (binary STL) was damaged by a text conversion: {count} bytes were replaced by U+FFFD: fetch or export it again", path.display())]
    Mangled {
        /// The file.
        path: PathBuf,
        /// How many replacement characters it holds.
        count: u64,
    },
    /// A word, number or value that does not belong there.
    #[error("{} ({format}), {place}: expected {expected}, found {found}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// Where.
        place: FilePlace,
        /// What the format asks for.
        expected: String,
        /// What is there.
        found: String,
    },
    /// A coordinate that is NaN or infinite, or too large for f64.
    #[error("{} ({format}), {place}: coordinate {value} is not finite: repair or drop that facet", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// Where.
        place: FilePlace,
        /// The value.
        value: f64,
    },
    /// A coordinate beyond 1e40, where areas and volumes would not be finite.
    #[error("{} ({format}), {place}: coordinate {value:e} is beyond 1e40: repair the file, or export it in a larger unit", path.display())]
    TooFar {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// The vertex of the surface.
        place: FilePlace,
        /// The value.
        value: f64,
    },
    /// A face that names a vertex that does not exist.
    #[error("{} ({format}), {place}: vertex index {index} is out of range: the file has {vertices} vertices", path.display())]
    IndexOutOfRange {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// Where.
        place: FilePlace,
        /// The index.
        index: i64,
        /// Number of vertices.
        vertices: u64,
    },
    /// A sound file with nothing to mesh.
    #[error("{} ({format}) has no facet: {why}", path.display())]
    NoFacets {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// What it has instead.
        why: &'static str,
    },
    /// More corners than a 32-bit index can name.
    #[error("{} ({format}) has {corners} corners: more than 2^32 - 1 are not supported, split the file", path.display())]
    TooMany {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// Number of corners.
        corners: u64,
    },
    /// Objects that are placed over and over.
    #[error("{} ({format}) places its objects so often that they have {triangles} triangles: export only what is to \
    be meshed, or as STL or PLY", path.display())]
    TooManyCopies {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
        /// Triangles of all copies.
        triangles: u64,
    },
    /// A polyline where a 3D surface is wanted.
    #[error("{} is a 2D polyline, not a 3D surface, such as an STL or OBJ file", path.display())]
    Planar {
        /// The file.
        path: PathBuf,
    },
    /// A 3D surface where a polyline is wanted.
    #[error("{} is a 3D surface ({format}), not a 2D polyline", path.display())]
    Spatial {
        /// The file.
        path: PathBuf,
        /// Its format.
        format: Format,
    },
}

impl Failure for ReadError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoFacets { .. } => ErrorKind::Geometry,
            Self::Memory { .. } => ErrorKind::Memory,
            _ => ErrorKind::Input,
        }
    }
}
