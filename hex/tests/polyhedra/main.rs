//! Polyhedral meshes: files, refinement, snapping. One program for all: each would compile the same stages again.

#[path = "../kit/mod.rs"]
mod kit;
#[path = "../../../tests/kit/worst.rs"]
mod worst;

mod files;
mod fluxes;
mod hostile;
mod joined;
mod layers;
mod parts;
mod refine;
mod sheets;
mod snap;
mod tets;
mod volume;

use worst::worst;
