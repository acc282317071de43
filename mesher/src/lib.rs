//! Surfaces in: readers for STL, PLY and 2D polylines, primitive shapes, placement,
//! the health report, snapping to the integer lattice, and hierarchical spatial bins.
//!
//! Order of use: [`read`] or [`primitives`] → [`placement`] → [`health`] → [`snap`] → [`bins`].

pub mod surface;

pub use surface::Surface;
