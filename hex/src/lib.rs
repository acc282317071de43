//! Unstructured meshes of polyhedra between faces: the arrays of OpenFOAM's `polyMesh`, their geometry, their checks and
//! their files. Knows neither surfaces nor flows.
//!
//! | array | length | entry |
//! |---|---|---|
//! | `points` | points | x, y, z in metres |
//! | `face_start` | faces + 1 | first entry of the face in `face_points`, and their number |
//! | `face_points` | corners of all faces | point ids, counter-clockwise seen from outside the owner |
//! | `owner` | faces | cell on the inner side of the face |
//! | `neighbour` | internal faces | the other cell, with a larger id |
//! | `patches` | patches | name, type and range of boundary faces |
//!
//! Internal faces come first, in upper-triangular order: by owner, then by neighbour. Boundary faces follow, patch by
//! patch. [`PolyMesh::validate`] checks all of this and that each cell is closed.

mod decompose;
mod error;
mod geometry;
pub mod kernels;
pub mod layers;
mod mesh;
pub mod polymesh;
mod quality;
pub mod refine;
pub mod snap;
mod validate;
pub mod volume;

pub use decompose::MeshPart;
pub use error::MeshFileError;
pub use geometry::{CellGeometry, FaceGeometry};
pub use layers::{LayerCounts, LayerLength, LayerRule, LayerThickness, Layers};
pub use mesh::{PolyLevels, PolyMesh, PolyPatch};
pub use polymesh::PolyMeshFormat;
pub use quality::{MeshQuality, QualityLimits};
pub use refine::{CellPath, HexMesh, RefineError, RefinedMesh};
pub use snap::{SnapCounts, SnapTarget, TargetEdge, TargetPoint};
pub use validate::PolyViolation;
pub use volume::VolumeMesh;
