//! Data arrays of VTK's XML files, for the readers of surfaces and of volume meshes.
//!
//! ```text
//! <VTKFile type byte_order header_type compressor>
//!   <Piece NumberOfPoints NumberOfCells>
//!     <Points | Cells | Polys | CellData | …>  <DataArray type Name NumberOfComponents format> … </DataArray>
//!   <AppendedData encoding> _…
//! ```
//!
//! Read: arrays as text, base64 or appended (raw or base64), plain or compressed by zlib, of either byte order.
//! Refused: LZ4 and LZMA. Nothing is decoded before it is requested, and all arrays together are at most as large as the
//! caller allows.

mod base64;
mod number;
mod storage;

pub use base64::decode as decode_base64;
pub use number::VtkNumber;
pub use storage::{XmlArray, XmlArrays, XmlFault, XmlPiece};

use quick_xml::events::BytesStart;

/// The value of an attribute, by its name without prefix.
pub fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    let mut all = attributes.with_checks(false).flatten();
    let found = all.find(|a| a.key.local_name().as_ref() == name)?;
    let value = found.normalized_value(quick_xml::XmlVersion::Implicit1_0);
    Some(value.ok()?.trim().to_owned())
}
