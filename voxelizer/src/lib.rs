//! Level-by-level exact solid voxelization driving the forest, the classes of all cells, and
//! the cut-link table.
//!
//! In: a surface snapped to the lattice of a [`Frame`]. Out: a [`Mesh`]. See the modules for
//! the method; `docs/architecture.md` for the frames and the order of the stages.
//!
//! Sources by key: J25 is Jaber, Essel & Sullivan, Comput. Phys. Commun. 311 (2025) 109543; J26 is
//! Jaber, Essel & Sullivan, *GPU-native embedding of complex geometries in adaptive octree grids
//! applied to the lattice Boltzmann method* (2026).

mod adapt;
mod constants;
mod cuts;
mod embed;
mod error;
mod estimate;
mod frame;
mod gaps;
mod join;
pub mod kernels;
mod links;
mod mesh;
pub mod mesh_file;
mod moving;
mod params;
mod periodic;
pub mod refine;
mod relink;
mod seed;
mod sheets;
mod spots;
mod thin;
mod validate;
pub mod vtk;
mod windows;

pub use adapt::{AdaptedBlocks, Former, held_by};
pub use constants::DIRECTION_BITS;
pub use cuts::CutLink;
pub use embed::{check_levels, embed, embed_fixed, fluid_layers, prepare};
pub use error::VoxelError;
pub use estimate::{
    BUILD_BLOCKS, Estimate, EstimateError, Forecast, LevelEstimate, forecast, rough,
};
pub use frame::{Frame, SUBCELL_BITS};
pub use gaps::tell_gaps_apart;
pub use join::{OwnBlocks, OwnLevel, join};
pub use kernels::AdaptKernels;
pub use links::{Link, LinkTable, LinkViolation, pack_cell, unpack_cell};
pub use mesh::{Classes, Fill, LevelCounts, Mesh, MeshCounts};
pub use moving::{MovingMesh, MovingPatches, MovingSurface};
pub use params::{EmbedParams, Reach, Region, RegionShape, Stage, StageObserver, WallRule};
pub use periodic::check_periodic;
pub use seed::{Kept, SeedError, keep_connected};
pub use sheets::{Gap, Sheltered, finest_reach, keep_sheltered};
pub use spots::Spots;
pub use thin::{Thin, ThinPlace, thin};
pub use validate::{MeshViolation, validate};
pub use windows::{Window, embed_window};

/// A mesh of either dimension.
#[derive(Debug)]
pub enum AnyMesh {
    /// In 2D.
    D2(Mesh<2>),
    /// In 3D.
    D3(Mesh<3>),
}
