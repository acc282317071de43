//! From a surface to a mesh with cut links, and what is made of a mesh without a flow.
//!
//! | module | what |
//! |---|---|
//! | [`options`] | the options of a mesh, from a command line, a file or a program |
//! | [`mod@mesh`] | from a surface to a mesh and its report |
//! | [`estimate`] | size, memory and time of a mesh before it is built |
//! | [`inspect`] | content, checks and health of files |
//! | [`vtk`] | a mesh for ParaView and PyVista |
//! | [`mod@polymesh`] | the fluid of a mesh for OpenFOAM |
//! | [`openfoam`] | refining the mesh of an OpenFOAM case, with its fields; meshes of Gmsh and VTK |

mod compiled;
pub mod estimate;
pub mod inspect;
pub mod mesh;
pub mod openfoam;
pub mod options;
pub mod polymesh;
pub mod refine;
pub mod vtk;
#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;

pub use mesh::mesh;
pub use options::MeshOptions;
