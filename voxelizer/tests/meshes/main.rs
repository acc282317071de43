//! Meshes, their files and estimates of them. One program for all: each would compile the same stages again.

#[path = "../files_kit/mod.rs"]
mod files_kit;
#[path = "../../../tests/kit/worst.rs"]
mod worst;

mod coincident;
mod counts;
mod estimate;
mod files_mesh;
mod files_vtk;
mod moving;
mod moving_mesh;

use worst::worst;
