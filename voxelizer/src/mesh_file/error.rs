//! What can be wrong with a mesh file.

use cutlink_device::DeviceError;
use std::io;
use std::path::PathBuf;

/// An error of the mesh file; the text is a lowercase fragment that names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file could not be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The output could not be written.
    #[error("cannot write the mesh: {source}")]
    Write {
        /// What the system says.
        #[from]
        source: io::Error,
    },
    /// Some other kind of file.
    #[error("{} is not a cutlink mesh file: {reason}", path.display())]
    NotAMesh {
        /// The file.
        path: PathBuf,
        /// What gave it away.
        reason: String,
    },
    /// A version of the format that this program does not know.
    #[error(
        "{} has format version {found:?}, this program reads version {known}: use the cutlink that wrote it ({program:?})",
        path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// The version that can be read.
        known: &'static str,
        /// The program that wrote it.
        program: String,
    },
    /// A mesh file whose content contradicts itself.
    #[error("{} is damaged, write it anew: {place}: {reason}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The array or key.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A mesh in memory that cannot be written.
    #[error("the mesh cannot be written: {reason}")]
    BadMesh {
        /// What is wrong.
        reason: String,
    },
    /// Not enough memory for the content of the file.
    #[error("cannot load {}: {source}", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// Bytes needed and bytes free.
        source: DeviceError,
    },
}

/// What is wrong inside a file, before the file's name is known.
#[derive(Debug)]
pub(super) enum Fault {
    Read(io::Error),
    NotAMesh(String),
    Version { found: String, program: String },
    Damaged { place: String, reason: String },
    Memory(DeviceError),
}

impl Fault {
    pub(super) fn damaged(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Damaged {
            place: place.into(),
            reason: reason.into(),
        }
    }

    pub(super) fn of(self, path: PathBuf) -> FileError {
        match self {
            Self::Read(source) => FileError::Read { path, source },
            Self::NotAMesh(reason) => FileError::NotAMesh { path, reason },
            Self::Version { found, program } => FileError::Version {
                path,
                found,
                known: super::FORMAT_VERSIONS[1],
                program,
            },
            Self::Damaged { place, reason } => FileError::Damaged {
                path,
                place,
                reason,
            },
            Self::Memory(source) => FileError::Memory { path, source },
        }
    }
}

impl From<io::Error> for Fault {
    fn from(source: io::Error) -> Self {
        Self::Read(source)
    }
}

impl From<DeviceError> for Fault {
    fn from(source: DeviceError) -> Self {
        Self::Memory(source)
    }
}
