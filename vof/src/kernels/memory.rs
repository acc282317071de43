//! What a backend keeps of a flow in its memory.

use super::{Made, Scene};
use crate::grain_cells::{GrainCells, GrainFields};
use crate::interface::Planes;
use crate::mesh::FlowMesh;
use cutlink_device::Host;
use cutlink_elliptic::EllipticKernels;
use std::fmt::Debug;

/// What the CPU keeps of the interface.
#[derive(Debug, Default)]
pub(crate) struct Interface<const D: usize> {
    pub(super) planes: Planes<D>,
    pub(super) curvatures: [usize; 2],
}

/// What a backend keeps of a flow.
pub(crate) trait TwoPhaseMemory<const D: usize>: EllipticKernels<D> {
    /// A mesh in the backend's memory.
    type Mesh: Debug + Send + Sync;

    /// Planes of mixed cells, how many cells have a curvature, and what it takes to find both.
    type Interface: Debug + Send + Sync;

    /// Cells of grains in the backend's memory.
    type Grains: Debug + Send + Sync;

    /// A mesh in the memory of the backend.
    fn upload_mesh(&self, mesh: &FlowMesh<D>) -> Made<Self::Mesh>;

    /// Of a mesh, what the solver reads.
    fn blocks_of(mesh: &Self::Mesh) -> &Self::Tables;

    /// Room for the interface.
    fn interface(at: &Scene<'_, D, Self>) -> Made<Self::Interface>;

    /// Cells of grains, and what they make of the mesh's cells.
    ///
    /// # Errors
    /// Memory.
    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<Self::Grains>;
}

impl<const D: usize> TwoPhaseMemory<D> for Host {
    type Mesh = ();
    type Interface = Interface<D>;
    type Grains = GrainFields;

    fn upload_mesh(&self, _: &FlowMesh<D>) -> Made<()> {
        Ok(())
    }

    fn blocks_of((): &()) -> &() {
        &()
    }

    fn interface(_: &Scene<'_, D, Self>) -> Made<Interface<D>> {
        Ok(Interface::default())
    }

    fn grains(at: &Scene<'_, D, Self>, cells: GrainCells) -> Made<GrainFields> {
        GrainFields::new(at.mesh, cells)
    }
}
