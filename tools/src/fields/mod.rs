//! What a flow writes while it runs: fields for ParaView and PyVista, probes, pictures.
//!
//! | kind | files | what |
//! |---|---|---|
//! | `volume` | `NAME_STEP.htg`, `NAME.htg.series` | all cells |
//! | `box` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that meet a box |
//! | `slice` | `NAME_STEP.vtu`, `NAME.vtu.series` | the leaf cells that a plane cuts, as quads |
//! | `probes` | `NAME.csv` | velocity and pressure at points, a row a time |
//! | `picture` | `NAME_STEP.png` | a slice in colours |
//!
//! In: a mesh, snapshots of its flow, [`OutputSpec`]s (a table each in a case's TOML) and
//! [`FieldUnits`]. Values are in these units, places in the lengths of the mesh; files for VTK tell
//! time and units as field data (`TimeValue`, `velocity_unit`, ...).
//!
//! Every file for VTK holds its mesh: neither a `.htg` nor a `.vtu` can refer to another file, and
//! a series is a list of whole files. Boxes, slices and probes are the way to save room.
//!
//! Files are whole or not there; a series' index names only files that are there, and a run
//! that is resumed goes on with it. Steps stand in the names of files, so that a resumed run writes
//! the same ones. Determinism: the same bytes for the same snapshot.

mod canvas;
mod colours;
mod frame;
mod plane;
mod probes;
mod series;
mod shades;
mod spec;
mod units;
mod values;
mod writer;

pub use spec::{Axis, CellField, OutputKind, OutputSpec, Quantity};
pub use units::{FieldUnits, Unit};
pub use writer::{FieldWriter, Moment, Start};

#[cfg(test)]
mod tests;
