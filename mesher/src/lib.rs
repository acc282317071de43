//! Surface input: readers for STL, PLY and 2D polylines, primitive shapes, placement,
//! the health report, snapping to the integer lattice, and hierarchical spatial bins.
//!
//! Order of use: [`read`] or [`primitives`] → [`placement`] → [`health`] → [`snap`] → [`kernels`] (bins);
//! [`intersect`], [`split`] and [`silhouette`] on request, [`repeat`] in periodic boxes.

mod areas;
mod constants;
pub mod exact;
pub mod health;
pub mod intersect;
pub mod kernels;
pub mod nearest;
pub mod placement;
pub mod primitives;
pub mod read;
pub mod repeat;
pub mod rigid;
pub mod robust;
pub mod silhouette;
pub mod snap;
pub mod split;
pub mod surface;
pub mod write_stl;

pub use surface::Surface;
