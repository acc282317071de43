//! The files of a mesh for ParaView, PyVista and other readers of VTK's formats; `docs/cli.md` lists their fields.

use crate::compiled::compiled;
use cutlink_common::{Error, output};
use cutlink_voxelizer::Mesh;
use cutlink_voxelizer::vtk::{CutPoints, Htg, VtkError, Vtu};
use std::path::Path;

/// A format, told by the extension of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VtkFormat {
    /// `.htg`: the tree.
    Htg,
    /// `.vtu`: the leaf cells.
    Vtu,
    /// `.vtp`: the cut points.
    Vtp,
}

impl VtkFormat {
    /// The format of a path, for one `level` or for all.
    ///
    /// # Errors
    /// An unknown extension; one level of a `.htg` file.
    pub fn of(path: &Path, level: Option<usize>) -> Result<Self, Error> {
        let extension = path.extension().and_then(|e| e.to_str());
        match (extension, level) {
            (Some("htg"), None) => Ok(Self::Htg),
            (Some("htg"), Some(_)) => Err(Error::input(
                "a .htg file holds the whole tree and cannot be combined with --level",
            )
            .hint("write a .vtu, or omit --level")),
            (Some("vtu"), _) => Ok(Self::Vtu),
            (Some("vtp"), _) => Ok(Self::Vtp),
            _ => Err(Error::input(format!("{} has no known extension", path.display())).hint(
                "use .htg (cells as a HyperTreeGrid, for ParaView), .vtu (cells, for ParaView and PyVista) or .vtp \
                 (cut points)",
            )),
        }
    }
}

/// Writes a mesh, or one `level` of it; returns the size of the file in bytes.
///
/// # Errors
/// A level that the mesh does not have, an existing file without `force`, a full disk, too little memory.
pub fn write<const D: usize>(
    mesh: &Mesh<D>,
    format: VtkFormat,
    level: Option<usize>,
    path: &Path,
    force: bool,
) -> Result<u64, Error> {
    (compiled::<D>().write_vtk)(mesh, format, level, path, force)
}

pub(crate) fn write_here<const D: usize>(
    mesh: &Mesh<D>,
    format: VtkFormat,
    level: Option<usize>,
    path: &Path,
    force: bool,
) -> Result<u64, Error> {
    let failed = |e: VtkError| output::failed(path, &e);
    let (_, bytes) = output::write(path, force, |out| {
        let written = match format {
            VtkFormat::Htg => Htg::new(mesh, &[]).and_then(|file| file.write(out)),
            VtkFormat::Vtu => {
                Vtu::new(mesh, level, &[]).and_then(|file| file.with_links().write(out))
            }
            VtkFormat::Vtp => CutPoints::new(mesh, level)?.write(out),
        };
        written.map_err(failed)
    })?;
    Ok(bytes)
}
