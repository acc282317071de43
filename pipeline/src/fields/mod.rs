//! What a flow writes while it runs: fields for ParaView and PyVista, probes, pictures.
//!
//! | kind | files | what |
//! |---|---|---|
//! | `volume` | `NAME_STEP.htg`, `NAME.htg.series` | all cells |
//! | `box` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that meet a box |
//! | `slice` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that a plane cuts, as quads |
//! | `span` | `NAME_STEP.vtu`, `NAME.vtu.series` | means along an axis of space, as quads |
//! | `probes` | `NAME.csv` | velocity and pressure at points, a row a time |
//! | `picture` | `NAME_STEP.png` | a slice in colours |
//! | `surface` | `NAME_STEP.vtp`, `NAME.vtp.series`, or `NAME_STEP.ply` | pressure, shear and y⁺ on the body's facets |
//!
//! In: a mesh, snapshots of its flow, [`OutputSpec`]s (a table each in a case's TOML) and
//! [`FieldUnits`]. Values are in these units, places in the lengths of the mesh; files for VTK tell
//! time and units as field data (`TimeValue`, `velocity_unit`, ...).
//!
//! With `average` an output shows the mean or the rms of the flow over time, from [`Averages`].
//!
//! Every file for VTK holds its mesh: neither a `.htg` nor a `.vtu` can refer to another file, and
//! a series is a list of whole files. Boxes, slices and probes are the way to save room.
//!
//! Files are whole or not there; a series' index names only files that are there. A run that is
//! resumed goes on with the files of its outputs, and ends with those of a run that was never stopped: what is
//! later than its step goes, and so does what was written at an end that was none. Determinism: the same bytes for the same snapshot.

mod averages;
mod colours;
mod frame;
mod plane;
mod probes;
mod series;
mod shades;
mod span;
mod spec;
mod surface;
mod units;
mod values;
mod writer;

pub use averages::Averages;
pub use spec::{
    Average, Axis, CellField, Clock, OutputKind, OutputSpec, Quantity, SurfaceFormat, written,
};
pub use surface::Body;
pub(crate) use surface::{WallForce, area_of};
pub use units::{FieldUnits, Unit};
pub use writer::{FieldWriter, Moment, Start, check, memory};

#[cfg(test)]
mod tests;
