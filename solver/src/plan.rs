//! What a flow will need, before anything large is allocated.

use crate::{Params, SolverError};
use cutlink_voxelizer::Mesh;

/// A level of a flow, for reports.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelSheet {
    /// The level, 0 the root.
    pub level: usize,
    /// Blocks with populations: leaves, and refined ones next to leaves.
    pub blocks: usize,
    /// Leaf cells that are not solid: what MLUPS count, 2^level times a root step (J25 eq. 25).
    pub cells: u64,
    /// Relaxation time of the viscosity, in steps of the level.
    pub tau: f64,
    /// Bytes of populations and tables.
    pub bytes: u64,
}

/// A flow that could be started.
#[derive(Debug)]
pub struct Plan<'a, const D: usize> {
    /// The mesh.
    pub mesh: &'a Mesh<D>,
    /// The parameters.
    pub params: Params<D>,
    /// By level.
    pub levels: Vec<LevelSheet>,
    /// Cut links that a wall scheme asks more cells for than there are: they fall back to the next
    /// simpler scheme.
    pub fallbacks: u64,
}

impl<'a, const D: usize> Plan<'a, D> {
    /// Checks the parameters against the mesh, and counts.
    ///
    /// # Errors
    /// Parameters out of range, conditions that do not fit together, refinement that differs on two
    /// periodic faces.
    pub fn new(mesh: &'a Mesh<D>, params: Params<D>) -> Result<Self, SolverError> {
        let _ = (mesh, params);
        Err(SolverError::Mesh {
            reason: "under construction".into(),
        })
    }
}
