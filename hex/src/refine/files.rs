//! A refined mesh in a `polyMesh` folder: its parent in the folder `parent`, and three lists that lead to it.

use super::{CellPath, RefineError, RefinedMesh, boundary};
use crate::MeshFileError;
use crate::polymesh::{PolyMeshFormat, read_labels, write_labels};
use crate::{PolyMesh, PolyViolation};
use std::path::Path;

/// The folder of the parent in that of the mesh.
pub const PARENT: &str = "parent";
/// Files beside those of the mesh: parent cell and path of each cell, parent face of each boundary face.
pub const PARENT_LISTS: [&str; 3] = ["parentCell", "parentPath", "parentFace"];

impl RefinedMesh {
    /// Reads a mesh and its parent: of a folder without [`PARENT`], the mesh is its own parent.
    ///
    /// # Errors
    /// A file that is missing or damaged, lists that do not fit the meshes.
    pub fn read(folder: &Path) -> Result<(Self, PolyMesh), MeshFileError> {
        let mesh = PolyMesh::read(folder)?;
        let invalid = |violation| MeshFileError::Invalid {
            path: folder.to_owned(),
            violation,
        };
        if !folder.join(PARENT).is_dir() {
            let refined = Self::new(&mesh).map_err(|error| match error {
                RefineError::Invalid(violation) => invalid(violation),
                _ => invalid(wrong("levels", 0, 0)),
            })?;
            return Ok((refined, mesh));
        }
        let parent = PolyMesh::read(&folder.join(PARENT))?;
        for mesh in [&mesh, &parent] {
            boundary::check(mesh).map_err(invalid)?;
        }
        let [cells, codes, rims] = PARENT_LISTS.map(|name| read_labels(&folder.join(name)));
        let (cells, codes, rims) = (cells?, codes?, rims?);
        let levels = mesh.levels.as_ref().map_or(&[][..], |levels| &levels.cell);
        let boundary = mesh.faces() - mesh.internal_faces();
        for (array, len, expected) in [
            ("parentCell", cells.len(), mesh.cells),
            ("parentPath", codes.len(), mesh.cells),
            ("cellLevel", levels.len(), mesh.cells),
            ("parentFace", rims.len(), boundary),
        ] {
            if len != expected {
                return Err(invalid(wrong(array, len, expected)));
            }
        }
        let base = |cell: u32| {
            parent
                .levels
                .as_ref()
                .map_or(0, |levels| levels.cell[cell as usize])
        };
        let path = |cell: usize| {
            let of = cells[cell];
            let known = (of as usize) < parent.cells;
            let level = known
                .then(|| levels[cell].checked_sub(base(of)))
                .flatten()?;
            CellPath::new(of, codes[cell], level)
        };
        let paths: Option<Vec<CellPath>> = (0..mesh.cells).map(path).collect();
        let rims_fit = rims
            .iter()
            .all(|&f| (parent.internal_faces()..parent.faces()).contains(&(f as usize)));
        match paths {
            Some(paths) if paths.is_sorted() && rims_fit => Ok((
                Self {
                    mesh,
                    paths,
                    rims,
                    polyhedra: 0,
                },
                parent,
            )),
            _ => Err(invalid(PolyViolation::Impossible {
                what: "list",
                at: 0,
                reason: "parentCell, parentPath, parentFace and cellLevel are not those of one refined mesh",
            })),
        }
    }

    /// Writes the mesh and the lists that lead to its parent, but not the parent. Returns the bytes written.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path, format: PolyMeshFormat) -> Result<u64, MeshFileError> {
        let mut bytes = self.mesh.write(folder, format)?;
        let cells: Vec<u32> = self.paths.iter().map(|path| path.parent()).collect();
        let codes: Vec<u32> = self.paths.iter().map(|path| path.code()).collect();
        for (name, list) in PARENT_LISTS.into_iter().zip([&cells, &codes, &self.rims]) {
            bytes += write_labels(folder, name, list, format)?;
        }
        Ok(bytes)
    }
}

fn wrong(array: &'static str, len: usize, expected: usize) -> PolyViolation {
    PolyViolation::Length {
        array,
        len,
        expected,
    }
}
