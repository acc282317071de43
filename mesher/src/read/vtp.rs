//! VTK XML polydata (`.vtp`): polygons and strips of all pieces.
//!
//! Read: arrays as text, base64 or appended (raw or base64), plain or compressed by zlib, of either byte order.
//! Skipped: vertices, lines, all data. Refused: LZ4 and LZMA, other data sets than `PolyData`. One patch, `body`.
//!
//! Bounds: all arrays together are at most as large as a gzipped file may unpack to.

use cutlink_device::limits::most_unpacked_surface;
use cutlink_vtkxml::{XmlArrays, XmlFault, XmlPiece};

use super::assemble::Assembly;
use super::source::Source;
use super::vtk::{Cells, EXTRACT, Kind, append};
use super::{FilePlace, Format, Loaded, ReadError};

const FORMAT: Format = Format::Vtp;

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let bytes = super::sniff::strip_bom(source.bytes);
    let fault = |fault| match fault {
        XmlFault::Syntax {
            at,
            expected,
            found,
        } => source.syntax(FORMAT, FilePlace::Byte(at), expected, found),
        // There is one other fault.
        _ => source.too_large(),
    };
    let mut file =
        XmlArrays::parse(bytes, most_unpacked_surface(bytes.len() as u64)).map_err(fault)?;
    if file.kind != "PolyData" {
        return Err(source.no_facets(FORMAT, EXTRACT));
    }
    let mut out = Assembly::default();
    for piece in std::mem::take(&mut file.pieces) {
        append_piece(source, &mut file, &piece, &fault, &mut out)?;
    }
    if out.faces == 0 {
        return Err(source.no_facets(FORMAT, "it has neither polygons nor strips"));
    }
    out.finish(source, FORMAT, &[], &[], Vec::new())
}

/// Appends the polygons and strips of a piece.
fn append_piece(
    source: Source<'_>,
    file: &mut XmlArrays<'_>,
    piece: &XmlPiece,
    fault: &impl Fn(XmlFault) -> ReadError,
    out: &mut Assembly,
) -> Result<(), ReadError> {
    let base = out.vertices.len();
    let Some(points) = piece.only("Points") else {
        return Ok(());
    };
    let values = file.reals(points).map_err(fault)?;
    if let Some(at) = values.iter().position(|x| !x.is_finite()) {
        let place = FilePlace::Vertex((base + at / 3) as u64);
        return Err(source.not_finite(FORMAT, place, values[at]));
    }
    out.vertices.extend_from_slice(values.as_chunks::<3>().0);
    if out.vertices.len() as u64 >= u64::from(u32::MAX) {
        return Err(ReadError::TooMany {
            path: source.name.into(),
            format: FORMAT,
            corners: out.vertices.len() as u64,
        });
    }
    for (section, kind) in [("Polys", Kind::Polygon), ("Strips", Kind::Strip)] {
        let arrays = ["connectivity", "offsets"].map(|name| piece.array(section, name));
        let [Some(indices), Some(ends)] = arrays else {
            continue;
        };
        let cells = Cells {
            indices: file.integers(indices).map_err(fault)?,
            ends: file.integers(ends).map_err(fault)?,
        };
        append(source, FORMAT, &cells, base, out, |_| kind)?;
    }
    Ok(())
}
