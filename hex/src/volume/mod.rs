//! Volume meshes of other programs: Gmsh's `.msh` and VTK's `.vtu`.
//!
//! | file | read |
//! |---|---|
//! | Gmsh | MSH 4.1 and 2.2, text and binary of either byte order; hexahedra or tetrahedra; physical groups |
//! | VTU | text, base64, appended, zlib; hexahedra and voxels, or tetrahedra; cell data |
//!
//! Either may be gzipped; the content decides, not the name. Cells keep their order. Their faces are matched by their
//! corners and put in upper-triangular order. Patches:
//!
//! | boundary faces | patch |
//! |---|---|
//! | in a physical group of surfaces (in VTU files, of the cell data `gmsh:physical`) | the first group that has them |
//! | in none, while the file has groups | `defaultFaces` |
//! | in a file without groups | faces joined by edges at which the boundary turns by less than a given angle: `patch0`, `patch1`, … |
//!
//! Physical groups of volumes become zones of cells, groups of surfaces between cells zones of faces. The result passes
//! [`PolyMesh::validate`], or the file is refused. Cells that are all mirrored (corners in left-handed order) are turned;
//! where only some are, the file is refused. Order and bits do not depend on the number of threads. Memory: the file, its
//! mesh, and some 300 bytes a cell.

mod assemble;
mod collect;
mod gmsh;
mod groups;
mod source;
mod vtu;

use crate::polymesh::FoamZone;
use crate::{MeshFileError, PolyMesh};
use std::path::Path;

/// Angle at edges of the boundary, in degrees, from which on a file without groups gets two patches.
pub const PATCH_ANGLE: f64 = 45.0;
/// Most patches that the angle makes: beyond them, all boundary faces are one patch.
pub const MOST_PATCHES: usize = 100;

/// A format of volume meshes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeFormat {
    /// Gmsh's `.msh`.
    Gmsh,
    /// VTK's `.vtu`.
    Vtu,
}

/// Values of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct CellValues {
    /// The name, as in the file.
    pub name: String,
    /// Numbers a cell.
    pub components: usize,
    /// All numbers, cell by cell.
    pub values: Vec<f64>,
}

/// A mesh that was read, with what belongs to it.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeMesh {
    /// The mesh. Cells are in the order of the file.
    pub mesh: PolyMesh,
    /// The format of the file.
    pub format: VolumeFormat,
    /// Named cells.
    pub cell_zones: Vec<FoamZone>,
    /// Named faces between cells.
    pub face_zones: Vec<FoamZone>,
    /// Data of cells.
    pub values: Vec<CellValues>,
    /// What was unusual and what was done about it, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a volume mesh. `angle`, in degrees, divides the boundary of a file without groups: see [`PATCH_ANGLE`].
///
/// # Errors
/// Another kind of file; a damaged one, by place; cells other than hexahedra or tetrahedra, or both; cells that make no
/// mesh; too little memory.
pub fn read_volume(path: &Path, angle: f64) -> Result<VolumeMesh, MeshFileError> {
    let bytes = source::load(path)?;
    parse_volume(path, &bytes, angle)
}

/// Reads a volume mesh from the bytes of a file, as [`read_volume`] does; `name` is for messages.
///
/// # Errors
/// As [`read_volume`].
pub fn parse_volume(name: &Path, bytes: &[u8], angle: f64) -> Result<VolumeMesh, MeshFileError> {
    // Lists of cells and points take less than twice their text or bytes.
    drop(source::reserve::<u8>(
        name,
        "the cells of the file",
        2 * bytes.len(),
    )?);
    let start = bytes.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let (format, cells) = if start.starts_with(b"$") {
        (VolumeFormat::Gmsh, gmsh::read(name, bytes)?)
    } else if start.starts_with(b"<") {
        (VolumeFormat::Vtu, vtu::read(name, bytes)?)
    } else {
        let what = match start {
            [] => "it is empty",
            [b'#', b' ', b'v', b't', b'k', ..] => {
                "it is a legacy VTK file (write it again as .vtu)"
            }
            _ => "it begins neither like Gmsh's `$MeshFormat` nor like VTK's `<VTKFile`",
        };
        let (path, what) = (name.to_owned(), what.to_owned());
        return Err(MeshFileError::Format { path, what });
    };
    assemble::assemble(name, cells, angle, format)
}
