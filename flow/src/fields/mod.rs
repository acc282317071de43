//! Outputs of a flow: fields for ParaView and PyVista, probes, pictures.
//!
//! | kind | files | content |
//! |---|---|---|
//! | `volume` | `NAME_STEP.htg`, `NAME.htg.series` | all cells |
//! | `box` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that intersect a box |
//! | `slice` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that a plane cuts, as quads |
//! | `span` | `NAME_STEP.vtu`, `NAME.vtu.series` | means along a coordinate axis, as quads |
//! | `probes` | `NAME.csv` | velocity and pressure at points, one row per time; on request their spectra |
//! | `picture` | `NAME_STEP.png`, `NAME.apng` | a slice as a colour map; on request all of them as a film |
//! | `render` | `NAME_STEP.png`, `NAME.apng` | the body and an isosurface in three dimensions; likewise |
//! | `particles` | `NAME_STEP.vtp`, `NAME.vtp.series` | the spheres of a flow that has them, a point each |
//! | `surface` | `NAME_STEP.vtp`, `NAME.vtp.series`, or `NAME_STEP.ply` | pressure, shear and y⁺ on the body's facets |
//!
//! In: a mesh, snapshots of its flow, [`OutputSpec`]s (one table each in a case's TOML) and [`FieldUnits`]. Values are
//! in these units, coordinates in the length unit of the mesh. VTK files store time and units as field data
//! (`TimeValue`, `velocity_unit`, ...).
//!
//! With `average` an output shows the mean or the rms fluctuation of the flow over time, from [`Averages`].
//!
//! Every VTK file contains its mesh: neither a `.htg` nor a `.vtu` can refer to another file, and a series is a list of
//! complete files. Boxes, slices and probes save disk space.
//!
//! Files are written atomically; the index of a series lists only existing files. A resumed run continues the files of
//! its outputs and ends with the same files as an uninterrupted run: outputs after its step are removed, and so are
//! outputs written when the run was interrupted. Determinism: the same bytes for the same snapshot.

mod averages;
mod colours;
mod kinds;
mod name;
mod paged;
mod particles;
mod picture;
mod plane;
mod probes;
mod render;
mod series;
mod span;
mod spec;
mod spectra;
mod surface;
mod units;
mod values;
mod writer;

pub use averages::Averages;
pub use kinds::{Average, CellField, Clock, Film, NormalAxis, OutputKind, Quantity, SurfaceFormat};
pub use name::FieldName;
pub(crate) use paged::PagedFields;
pub use picture::FlowLines;
pub use render::{CameraSpec, IsosurfaceSpec, SurfaceColour};
pub use spec::{OutputSpec, check_mean_pressure, written};
pub use surface::Body;
pub use surface::WallForce;
#[cfg(test)]
pub use surface::YPlus;
pub use units::{FieldUnit, FieldUnits};
pub use writer::{FieldWriter, Moment, Start, check, memory};

#[cfg(test)]
mod tests;
