//! Readers: STL, PLY, OBJ, OFF, 3MF, glTF, VTK and 2D polylines, told apart by content.
//!
//! | format | recognized by | facets | patches |
//! |---|---|---|---|
//! | binary STL | length = 84 + 50 × the count at byte 80; or not text, and corners of sane magnitude | triangles | `body`; one an STL where several follow one another |
//! | ASCII STL | text whose first word is `solid` or `facet` | triangles | one a solid name |
//! | PLY (3 encodings) | first line `ply` | polygons as fans, `tristrips` | face colours, or an integer face property |
//! | OBJ | text with a line `v x y z`, or `mtllib` first | polygons | groups (`g`, `o`), materials |
//! | OFF | text that begins with a keyword `…OFF` and counts | polygons | `body` |
//! | 3MF | a zip archive with a model | triangles, placed | object names |
//! | glTF 2.0 | `glTF`, or JSON with an `asset` | triangles, strips, fans, placed | nodes or meshes, materials |
//! | legacy VTK | `# vtk DataFile` | polygons, strips, surface cells | `body` |
//! | VTK XML polydata | XML with `<VTKFile` | polygons, strips | `body` |
//! | polyline | any other text | segments, each loop closed | one a loop name |
//!
//! Any of them may be gzipped (by magic number). Other well-known formats (STEP, FBX, HDF5, archives, pictures) are
//! refused by name ([`ReadError::Foreign`]). File names and extensions are
//! ignored: they only appear in messages.
//!
//! **In**: a path, standard input, a pipe, or bytes; several files become one surface ([`read_all`]). **Out**: a [`Surface`] in the file's own frame and
//! unit, facets in file order, and a [`ReadReport`]. Text coordinates are kept
//! to f64 as written, whatever type a PLY header declares for them; binary ones
//! are converted exactly. STL corners are welded by exact coordinates
//! ([`weld`]); PLY vertices stay as they are in the file, unused ones included.
//! Stored normals are ignored: the winding of a facet is its orientation.
//!
//! **Decisions on odd files.** No facet at all is an error, and so is any
//! coordinate that is not finite: a [`Surface`] never has either. A binary STL
//! that is longer than its count says is read to that count, with a note, unless
//! the rest is further whole STLs; one that is shorter is refused. An ASCII STL that ends between two facets without
//! `endsolid` is read, with a note; one that ends inside a facet is refused.
//! A count in a header is compared with the file's size before anything is
//! allocated for it.
//!
//! A file that another program cuts short or appends to while it is read is an error
//! ([`ReadError::Changed`]).
//!
//! Deterministic: the result does not depend on the number of threads. Cost:
//! one or two passes over the bytes; memory for the file's bytes and the result, plus one copy of the
//! triangles while an STL is welded, plus the unpacked bytes where gzipped (at
//! most [`MAX_UNPACKED`]). See `docs/decisions/001-readers.md`.

use std::fmt;
use std::path::Path;

use crate::Surface;

mod assemble;
mod digits;
mod error;
mod foreign;
mod gltf;
mod gltf_data;
mod gltf_node;
mod obj;
mod off;
mod ply;
mod ply_fast;
mod ply_header;
mod ply_slow;
mod polyline;
mod several;
mod sniff;
mod source;
mod stl_ascii;
mod stl_binary;
mod threemf;
mod transform;
mod vtk;
mod vtp;
mod weld;

pub use cutlink_device::limits::{MAX_UNPACK_RATIO, MAX_UNPACKED};
pub use error::{FilePlace, ReadError};
pub use several::read_all;
pub use source::is_stream;
pub use weld::{WeldError, weld};

use rayon::prelude::*;
use sniff::Kind;
use source::{Source, Unpacked};
use transform::MAX_COORDINATE;

/// A surface and how it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded<const D: usize> {
    /// The surface, in the file's frame and unit.
    pub surface: Surface<D>,
    /// Format of the file and notes on what was unusual.
    pub report: ReadReport,
}

/// Format of a file and notes on what was unusual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadReport {
    /// The format, as found in the content.
    pub format: Format,
    /// Whether the file was gzipped.
    pub gzipped: bool,
    /// Size of the file, in bytes as stored.
    pub bytes: u64,
    /// Facets as the file counts them: STL facets, PLY polygons and strips, polyline points.
    pub facets_in_file: u64,
    /// What was unusual and what was done about it, one sentence each.
    pub notes: Vec<String>,
}

/// A file format, by content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Binary STL (little-endian f32).
    StlBinary,
    /// ASCII STL.
    StlAscii,
    /// PLY `ascii`.
    PlyAscii,
    /// PLY `binary_little_endian`.
    PlyBinaryLe,
    /// PLY `binary_big_endian`.
    PlyBinaryBe,
    /// Wavefront OBJ.
    Obj,
    /// Geomview's OFF, in text.
    Off,
    /// 3MF.
    ThreeMf,
    /// glTF 2.0, binary or in JSON.
    Gltf,
    /// Legacy VTK, ASCII or binary.
    Vtk,
    /// VTK XML polydata.
    Vtp,
    /// Several files of one run.
    Several,
    /// Two-column text, or an airfoil in Selig's or Lednicer's layout.
    Polyline,
}

impl Format {
    /// Whether its vertices are kept as in the file, where several may be at one place, and not welded.
    pub fn is_indexed(self) -> bool {
        !matches!(self, Self::StlBinary | Self::StlAscii | Self::Polyline)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::StlBinary => "binary STL",
            Self::StlAscii => "ASCII STL",
            Self::PlyAscii => "ASCII PLY",
            Self::PlyBinaryLe => "binary little-endian PLY",
            Self::PlyBinaryBe => "binary big-endian PLY",
            Self::Obj => "OBJ",
            Self::Off => "OFF",
            Self::ThreeMf => "3MF",
            Self::Gltf => "glTF",
            Self::Vtk => "legacy VTK",
            Self::Vtp => "VTK XML polydata",
            Self::Several => "several files",
            Self::Polyline => "2D polyline",
        })
    }
}

/// A surface of either dimension.
#[derive(Debug, Clone, PartialEq)]
pub enum AnySurface {
    /// Segments, from a polyline file.
    D2(Loaded<2>),
    /// Triangles, from an STL or PLY file.
    D3(Loaded<3>),
}

/// Reads an STL or PLY file.
///
/// # Errors
/// Where the file cannot be read, is none of these formats, or breaks its format.
pub fn read_surface(path: &Path) -> Result<Loaded<3>, ReadError> {
    match read_any(path)? {
        AnySurface::D3(loaded) => Ok(loaded),
        AnySurface::D2(_) => Err(ReadError::Planar { path: path.into() }),
    }
}

/// Reads a 2D polyline file.
///
/// # Errors
/// Where the file cannot be read, is a 3D format, or breaks its format.
pub fn read_polyline(path: &Path) -> Result<Loaded<2>, ReadError> {
    match read_any(path)? {
        AnySurface::D2(loaded) => Ok(loaded),
        AnySurface::D3(loaded) => Err(ReadError::Spatial {
            path: path.into(),
            format: loaded.report.format,
        }),
    }
}

/// Reads a file of any known format; `-` is standard input.
///
/// # Errors
/// Where the file cannot be read, is of no known format, or breaks its format.
pub fn read_any(path: &Path) -> Result<AnySurface, ReadError> {
    source::with_file(path, parse_any)
}

/// Parses the bytes of a file of any known format; `name` is only for messages.
///
/// # Errors
/// Where the bytes are of no known format, or break their format.
pub fn parse_any(name: &Path, bytes: &[u8]) -> Result<AnySurface, ReadError> {
    let unpacked = source::gunzip(name, bytes)?;
    let source = Source {
        name,
        bytes: unpacked.as_ref().map_or(bytes, |unpacked| &unpacked.bytes),
    };
    let mut any = match sniff::sniff(source)? {
        Kind::Ply => AnySurface::D3(ply::read(Source {
            bytes: sniff::strip_bom(source.bytes),
            ..source
        })?),
        Kind::StlBinary => AnySurface::D3(stl_binary::read(source)?),
        Kind::StlAscii => AnySurface::D3(stl_ascii::read(source)?),
        Kind::Obj => AnySurface::D3(obj::read(source)?),
        Kind::Off => AnySurface::D3(off::read(source)?),
        Kind::ThreeMf => AnySurface::D3(threemf::read(source)?),
        Kind::Gltf => AnySurface::D3(gltf::read(source)?),
        Kind::Vtk => AnySurface::D3(vtk::read(source)?),
        Kind::Vtp => AnySurface::D3(vtp::read(source)?),
        Kind::Polyline => AnySurface::D2(polyline::read(source)?),
    };
    let report = match &mut any {
        AnySurface::D2(loaded) => &mut loaded.report,
        AnySurface::D3(loaded) => &mut loaded.report,
    };
    if let Some(Unpacked {
        ignored: n @ 1.., ..
    }) = unpacked
    {
        let note = format!("ignored {} behind the gzip stream", counted(n, "byte"));
        report.notes.push(note);
    }
    report.gzipped = unpacked.is_some();
    report.bytes = bytes.len() as u64;
    match &any {
        AnySurface::D2(loaded) => check_range(name, loaded)?,
        AnySurface::D3(loaded) => check_range(name, loaded)?,
    }
    Ok(any)
}

/// Refuses coordinates whose areas and volumes would not be finite.
fn check_range<const D: usize>(name: &Path, loaded: &Loaded<D>) -> Result<(), ReadError> {
    let all = loaded.surface.vertices.par_iter().with_min_len(1 << 14);
    let is_far = |x: &f64| x.is_nan() || x.abs() > MAX_COORDINATE;
    let Some(vertex) = all.position_first(|point| point.iter().any(is_far)) else {
        return Ok(());
    };
    let point = &loaded.surface.vertices[vertex];
    Err(ReadError::TooFar {
        path: name.into(),
        format: loaded.report.format,
        place: FilePlace::Vertex(vertex as u64),
        value: point
            .iter()
            .copied()
            .find(|x| is_far(x))
            .unwrap_or(f64::NAN),
    })
}

/// The triangles of a binary STL's bytes, not welded: three corners each, in file
/// order: a triangle soup.
///
/// # Errors
/// As [`parse_any`].
pub fn binary_stl_soup(name: &Path, bytes: &[u8]) -> Result<Vec<[[f32; 3]; 3]>, ReadError> {
    Ok(stl_binary::soup(Source { name, bytes })?.triangles)
}

/// The triangles of an ASCII STL's bytes, not welded, in pieces that follow one
/// another in file order: a triangle soup.
///
/// # Errors
/// As [`parse_any`].
pub fn ascii_stl_soup(name: &Path, bytes: &[u8]) -> Result<Vec<Vec<[[f64; 3]; 3]>>, ReadError> {
    Ok(stl_ascii::soup(Source { name, bytes })?.triangles)
}

/// The name of the one patch of a file that names none.
const DEFAULT_PATCH: &str = "body";

/// "1 byte", "2 bytes".
fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn loaded<const D: usize>(
    surface: Surface<D>,
    format: Format,
    facets_in_file: u64,
    notes: Vec<String>,
) -> Loaded<D> {
    Loaded {
        surface,
        report: ReadReport {
            format,
            gzipped: false,
            bytes: 0,
            facets_in_file,
            notes,
        },
    }
}
