//! Meshes for ParaView, PyVista and whatever else reads VTK's XML files: [`Htg`], an exact octree of few bytes per cell;
//! [`Vtu`], plain voxels that every tool understands; [`Part`], some of them, or those that a plane cuts; and [`Vtp`],
//! facets or points, such as the [`CutPoints`] of a mesh.
//!
//! | field | type | value |
//! |---|---|---|
//! | `level` | UInt8 | 0 the root |
//! | `class` | UInt8 | 0 fluid, 1 boundary, 2 solid |
//! | `zone` | UInt8 | 0 inner, 1 ghost, 2 interface: how far the end of the level is |
//! | `block` | UInt32 | id of the cell's block; not in `.htg` |
//! | `patch` | Int32 | patch of the nearest cut link, -1 without one; with [`Vtu::with_links`] |
//! | `q` | Float32 | its cut distance as a fraction of the link, NaN without one; likewise |
//! | `wall_distance` | Float32 | its cut distance in metres, at least that to the surface; likewise |
//!
//! The caller's own [`Field`]s follow; [`About`] holds time and units. A file holds the mesh of its
//! fields: neither format can refer to another file's, and readers of a series load each file
//! by itself. In: a mesh on the host. Out: XML with its arrays
//! appended as raw bytes (little-endian, 64-bit lengths, not compressed), read by VTK 9.2 and
//! later. Both writers report their size beforehand, and stream: an index of 8 to 16 bytes a
//! block is all they hold. Determinism: the same mesh gives the same bytes.

mod appended;
mod cells;
mod cut_points;
mod htg;
mod part;
mod vtp;
mod vtu;

pub use appended::About;
pub use cells::Field;
pub use cut_points::CutPoints;
pub use htg::Htg;
pub use part::Part;
pub use vtp::Vtp;
pub use vtu::Vtu;

/// An error of the VTK writers; the text is a lowercase fragment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VtkError {
    /// The output could not be written.
    #[error("cannot write the VTK file: {0}")]
    Write(#[from] std::io::Error),
    /// A level that the mesh does not have.
    #[error("there is no level {level}: the finest is level {finest}")]
    NoSuchLevel {
        /// The requested level.
        level: usize,
        /// The finest one.
        finest: usize,
    },
    /// A plane along an axis that the mesh does not have, or in a mesh that is flat.
    #[error("a mesh of {dimensions} dimensions has no cells to cut along axis {axis}")]
    NoSuchAxis {
        /// The requested axis.
        axis: usize,
        /// Of the mesh.
        dimensions: usize,
    },
    /// A field that does not have its values for every cell of every block.
    #[error("field {name:?} has {len} values, {expected} expected")]
    FieldLength {
        /// The field.
        name: String,
        /// Its values.
        len: usize,
        /// Block ids times cells of a block, or cells of a part, times components.
        expected: usize,
    },
}
