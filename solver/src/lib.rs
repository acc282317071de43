//! Lattice Boltzmann flows on the embedded mesh.
//!
//! In: a [`Mesh`](cutlink_voxelizer::Mesh) with its cut links, and [`Params`]. Out: a [`LatticeFlow`] that
//! advances, and reports forces, densities and velocities.
//!
//! Sources by key: J25 is Jaber, Essel & Sullivan, Comput. Phys. Commun. 311 (2025) 109543; J26 is
//! Jaber, Essel & Sullivan, *GPU-native embedding of complex geometries in adaptive octree grids
//! applied to the lattice Boltzmann method* (2026).

mod adapt;
mod bodies;
mod cell_storage;
mod constants;
mod error;
mod f16;
pub mod fields;
mod flow;
mod grains;
mod heat;
pub mod kernels;
pub mod lattice;
mod linear;
mod means;
mod names;
mod params;
mod plan;
pub mod profile;
mod ranks;
mod run;
mod sponge;
pub mod stability;
pub mod storage;
mod tables;
mod validate;
mod variation;
mod wall_model;
#[cfg(test)]
#[path = "../../tests/kit/worst.rs"]
mod worst;

pub use adapt::{Adaptation, AdaptationLook, Criterion, Indicator, LevelLimit};
pub use bodies::{
    BodyMotion, BodyPath, BodyState, FOLLOWED_PATH, FreeMotion, LIGHTEST_BODY, MAX_BODY_PATH,
    MAX_BODY_SPEED, MotionSample, RigidBodies,
};
pub use cell_storage::CellStorage;
pub use error::SolverError;
pub use f16::F16;
pub use flow::{
    DeviceFields, FluidState, ForceSample, InitialState, Lap, LatticeFlow, Snapshot, StrainRates,
    StrainedState, Work,
};
pub use grains::{GrainScale, LEAST_GRAIN_RADIUS, LIGHTEST_GRAIN, LatticeGrains};
pub use heat::{HeatCondition, HeatSums, LatticeHeat, MOST_CONDUCTION};
pub use kernels::cpu::Census;
pub use lattice::LatticeKind;
pub use means::RunningMeans;
pub use params::{
    Collision, FaceCondition, Interpolation, Les, Motion, Params, PatchCondition, Precision,
    WallScheme, has_opening, is_driven_by_walls, is_passed,
};
pub use plan::{LevelSheet, Plan};
pub use ranks::{Communicator, RankSheet};
pub use sponge::Sponge;
pub use variation::{AtTime, OfTime, Place, Space, Values, Variation};
pub use wall_model::friction_velocity;

/// Samples of forces that a flow keeps until they are taken.
pub const MAX_FORCE_SAMPLES: u64 = 1024;

/// Root steps from one correction of the mean density to the next, in closed boxes with moving walls.
pub const HOLD_EVERY: u64 = 64;
