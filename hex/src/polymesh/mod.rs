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
pub(crate) use write::{write_labels, write_signed};
pub use zones::{FoamZone, ZONE_FILES, read_zones, write_zones};

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
