//! Content and health of files: the reports of `cutlink inspect`. The kind of a file is detected by its content.

mod mesh;
mod page;
mod surface;

pub use mesh::{Distances, FileCheck, InspectReport, Patch, checks, verdict};
pub use page::{mesh_page, meshed_page, polymesh_page, surface_page};
pub use surface::{FacetCorners, SurfaceReport};

use cutlink_common::Error;
use cutlink_mesher::read::{AnySurface, ReadError, is_stream, read_any};
use cutlink_voxelizer::AnyMesh;
use cutlink_voxelizer::mesh_file::{self, FileError};
use std::collections::BTreeMap;
use std::path::Path;

/// A file that was read.
#[derive(Debug)]
pub enum Inspected {
    /// A mesh file: the mesh and its string map.
    Mesh(Box<AnyMesh>, BTreeMap<String, String>),
    /// A surface.
    Surface(AnySurface),
}

/// Reads a mesh file or a surface.
///
/// # Errors
/// A file that is neither, that is damaged, or that does not fit into memory.
pub fn open(path: &Path) -> Result<Inspected, Error> {
    // A pipe can be read only once, and mesh files are not read from pipes.
    if is_stream(path) {
        return Ok(Inspected::Surface(read_any(path)?));
    }
    match mesh_file::read(path) {
        Ok((mesh, metadata)) => Ok(Inspected::Mesh(Box::new(mesh), metadata)),
        Err(FileError::NotAMesh { path, reason }) => match read_any(&path) {
            Ok(surface) => Ok(Inspected::Surface(surface)),
            Err(ReadError::UnknownFormat { .. }) => Err(Error::input(format!(
                "{} is neither a mesh file ({reason}) nor a surface of a known format",
                path.display()
            ))),
            Err(error) => Err(error.into()),
        },
        Err(error) => Err(unreadable(error)),
    }
}

/// The error for an unreadable mesh file: bad input, even where its content contradicts itself.
pub fn unreadable(error: FileError) -> Error {
    match error {
        FileError::Memory { source, path } => {
            let mut failure = Error::from(source);
            failure.message = format!("cannot load {}: {}", path.display(), failure.message);
            failure
        }
        _ => Error::input(error.to_string()),
    }
}
