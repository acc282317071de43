//! OpenFOAM's `polyMesh` folders.
//!
//! | file | class | content |
//! |---|---|---|
//! | `points` | vectorField | coordinates |
//! | `faces` | faceList, in binary faceCompactList | points of each face |
//! | `owner`, `neighbour` | labelList | cells of each face |
//! | `boundary` | polyBoundaryMesh | patches; always text |
//! | `cellZones`, `faceZones`, `pointZones` | regIOobject | named lists; [`read_zones`] |
//! | `cellLevel`, `pointLevel`, `level0Edge` | labelList, labelList, uniformDimensionedScalarField | levels, for OpenFOAM's own refinement; left out where unknown |
//!
//! Text has the shortest decimals that parse to the same doubles. Binary is little-endian, with labels of 4 or 8 bytes
//! and doubles; its header says so (`arch`), and OpenFOAM reads either width.

mod field;
mod foam;
mod read;
mod write;
mod zones;

pub use field::{FieldEntries, FieldValue, FoamField};
pub(crate) use read::read_labels;
pub(crate) use write::write_labels;
pub use zones::{FoamZone, ZONE_FILES, read_zones, write_zones};

use crate::PolyViolation;
use cutlink_device::DeviceError;
use std::io;
use std::path::PathBuf;

/// How the lists of a `polyMesh` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PolyMeshFormat {
    /// Text.
    Ascii,
    /// Binary, labels of 4 bytes; 8 bytes where the mesh needs them.
    #[default]
    Binary,
    /// Binary, labels of 8 bytes.
    Binary64,
}

/// The files that OpenFOAM keeps in a `polyMesh` folder and that belong to one mesh: what writing another mesh replaces.
/// Compressed files (`.gz`) too; `sets` is a folder.
pub const MESH_FILES: [&str; 22] = [
    "points",
    "faces",
    "owner",
    "neighbour",
    "boundary",
    "cellLevel",
    "pointLevel",
    "level0Edge",
    "refinementHistory",
    "surfaceIndex",
    "cellZones",
    "faceZones",
    "pointZones",
    "cellMap",
    "faceMap",
    "pointMap",
    "cellProcAddressing",
    "faceProcAddressing",
    "pointProcAddressing",
    "boundaryProcAddressing",
    "meshModifiers",
    "sets",
];

/// An error of a `polyMesh` folder; the text is a lowercase fragment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolyMeshError {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file that a mesh needs is not there, nor compressed.
    #[error("{} does not exist", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A damaged file.
    #[error("{}, {place}: {what}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of text, byte of binary files.
        place: String,
        /// What is wrong there.
        what: String,
    },
    /// Files that do not fit one another.
    #[error("{} is not a mesh", path.display())]
    Invalid {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        #[source]
        violation: PolyViolation,
    },
    /// No memory for a file.
    #[error("cannot load {}", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// What was needed.
        #[source]
        source: DeviceError,
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

/// Makes a word of OpenFOAM of any text: characters that end a word there (blanks, quotes, `/`, `;`, `{`, `}`, brackets,
/// `$`, `#`, control characters and all beyond ASCII) become `_`, and a word that would be empty, or begin like a number,
/// gets a `_` in front.
///
/// ```
/// assert_eq!(cutlink_hex::polymesh::word("left wing/1"), "left_wing_1");
/// assert_eq!(cutlink_hex::polymesh::word("2nd"), "_2nd");
/// ```
pub fn word(text: &str) -> String {
    let of = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '+' | '.' | ':' | '%' | '@' | '=' => c,
        _ => '_',
    };
    let word: String = text.chars().map(of).collect();
    match word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        true => word,
        false => format!("_{word}"),
    }
}
