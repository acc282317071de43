//! Surfaces: reading, placing, health, primitives. One program for all: each would compile the same code again.

mod clipping;
mod formats;
mod health;
mod intersect;
mod placement;
mod primitives;
mod read_file;
mod read_foreign;
mod read_formats;
mod read_hostile;
mod read_ply;
mod read_polyline;
mod read_random;
mod read_stl;
mod rigid;
#[path = "../../../tests/kit/worst.rs"]
mod worst;

use worst::worst;
