//! The fluid of a mesh as a mesh of OpenFOAM: of meshes made up cell by cell, and of embedded surfaces.

#[path = "../../../voxelizer/tests/files_kit/mod.rs"]
mod files_kit;
mod graded;
mod plain;
mod snapped;
#[path = "../../../tests/kit/worst.rs"]
mod worst;
