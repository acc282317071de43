//! Errors of files.

use crate::PolyViolation;
use cutlink_device::{ErrorKind, Failure, limits::LimitError};
use std::io;
use std::path::PathBuf;

/// An error of a file of a mesh, or of a `polyMesh` folder; the text is a lowercase fragment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeshFileError {
    /// A file that a mesh needs is not there, nor compressed.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A file of another kind.
    #[error("{} is not a volume mesh that can be read: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do.
        what: String,
    },
    /// A damaged file, or one with cells that are not supported.
    #[error("{}, {place}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of text, byte of binary files, element or cell.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// Files that do not fit one another, or cells that make no mesh.
    #[error("{} is not a mesh", path.display())]
    Invalid {
        /// The file or the folder.
        path: PathBuf,
        /// What is wrong; cells and faces are those of the mesh, from 0.
        #[source]
        violation: PolyViolation,
    },
    /// A file of another kind, or one that is larger than it may be, or than the free memory.
    #[error("cannot read {}", path.display())]
    Limit {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: LimitError,
    },
    /// A file could not be written.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl Failure for MeshFileError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Limit {
                source: LimitError::Memory { .. },
                ..
            } => ErrorKind::Memory,
            Self::Write { .. } => ErrorKind::Runtime,
            _ => ErrorKind::Input,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = "name a case with a mesh in constant/polyMesh";
        matches!(self, Self::Missing { .. }).then(|| hint.into())
    }
}
