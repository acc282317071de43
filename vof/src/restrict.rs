//! Values of refined blocks, and of faces beside finer cells: means.

use crate::TwoPhaseError;
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use cutlink_amr::dims;
use cutlink_device::Host;
use cutlink_elliptic::{EllipticError, PrepareKernels, faces};

fn wrap(source: EllipticError) -> TwoPhaseError {
    TwoPhaseError::Elliptic {
        what: "mesh",
        source,
    }
}

/// The part of a cell that each child is, and of a face that each finer one is.
const fn share(count: usize) -> f64 {
    1.0 / count as f64
}

/// Means over children, from fine to coarse, of values of cells.
pub(crate) fn cells<const D: usize, B: TwoPhaseKernels<D>>(
    at: &Scene<'_, D, B>,
    values: &mut B::Buf<f64>,
) -> Result<(), TwoPhaseError> {
    let (blocks, tables) = (&at.mesh.blocks, B::blocks_of(at.tables));
    let share = share(dims::children(D));
    at.backend
        .restrict_cells(blocks, tables, values, share)
        .map_err(wrap)
}

/// Faces of leaves beside finer ones, and of refined blocks: the means of the fine faces.
pub(crate) fn faces<const D: usize, B: TwoPhaseKernels<D>>(
    at: &Scene<'_, D, B>,
    values: &mut B::Buf<f64>,
) -> Result<(), TwoPhaseError> {
    let (blocks, tables) = (&at.mesh.blocks, B::blocks_of(at.tables));
    let share = share(dims::children(D) / 2);
    at.backend
        .restrict_faces(blocks, tables, values, [share; 2])
        .map_err(wrap)
}

impl<const D: usize> FlowMesh<D> {
    /// As [`cells`], on the host.
    pub(crate) fn restrict(&self, values: &mut Vec<f64>) -> Result<(), TwoPhaseError> {
        let share = share(dims::children(D));
        Host.restrict_cells(&self.blocks, &(), values, share)
            .map_err(wrap)
    }

    /// As [`faces`], on the host.
    pub(crate) fn mean_faces(&self, values: &mut [f64]) {
        let share = share(dims::children(D) / 2);
        faces::restrict(&self.blocks, values, [share; 2]);
    }
}
