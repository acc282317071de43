//! From surfaces to meshes with cut links, and from cases to lattice Boltzmann flows on them: the library under the
//! program `cutlink`.
//!
//! | to | call |
//! |---|---|
//! | mesh a surface in memory | [`mesh()`] |
//! | mesh a file or a built-in shape | [`mesh::from_options`] |
//! | run a case with its outputs | [`Case::run`], [`Case::run_with`] |
//! | drive a flow step by step | [`LatticeFlow`](cutlink_solver::LatticeFlow) through [`Plan`](cutlink_solver::Plan) |
//!
//! Lengths are in metres after the placement of a surface; cases are in SI units unless their tables say otherwise.
//! Nothing is printed: notes, summaries and progress go to an [`Observer`], and a [`StopToken`] ends a run early. Every
//! failure is an [`Error`] with a kind, a message and a hint.
//!
//! | module | what |
//! |---|---|
//! | [`options`], [`config`] | the options of a mesh; every TOML file |
//! | [`mod@mesh`] | from a surface to a mesh and its report |
//! | [`inspect`] | content, checks and health of files |
//! | [`estimate`] | size, memory and time of a mesh before it is built |
//! | [`mod@flow`] | what a solver implements, and the run loop that takes it through a run |
//! | [`solve`] | cases, units, stability bounds, runs, checkpoints |
//! | [`fields`] | outputs of a flow: series, slices, probes, pictures |
//! | [`signal`] | statistics of histories: means with errors, periods, spectra |
//! | [`picture`], [`solid_stl`] | slices of a mesh as PNG, its voxel surface as STL |
//! | [`vtk`] | a mesh for ParaView and PyVista |
//! | [`mod@polymesh`] | the fluid of a mesh for OpenFOAM |
//! | [`openfoam`] | refining the mesh of an OpenFOAM case, with its fields; meshes of Gmsh and VTK |
//! | [`output`] | atomic file output: complete files or none |
//! | [`device`], [`pool`] | the device and the thread pool of a run |

#[cfg(all(test, feature = "flows"))]
#[path = "../../voxelizer/tests/files_kit/mod.rs"]
mod files_kit;
#[cfg(feature = "flows")]
pub mod solve;

pub use cutlink_common::{
    Error, ErrorKind, FlowLook, JSON_SCHEMA, Observer, StopToken, config, device, lock, on, output,
    pool,
};
#[cfg(feature = "flows")]
pub use cutlink_flow::{self as flow, Coefficient, RunOptions, RunPlan, RunSummary, fields};
pub use cutlink_meshing::{
    MeshOptions, estimate, inspect, mesh, openfoam, options, polymesh, refine, vtk,
};
pub use cutlink_pictures::{self as picture, solid_stl};
#[cfg(feature = "flows")]
pub use cutlink_signal as signal;
pub use cutlink_voxelizer::{AnyMesh, Mesh};
#[cfg(feature = "flows")]
pub use solve::{AnyCase, Case, EstimateOptions, FlowEstimate, FluxCase, GrainsCase, TwoPhaseCase};
