//! Fluxes through faces, from one mesh to another of the same parent.
//!
//! A face that is split hands its flux to its quarters by their areas; faces that become one hand it their sum. The 12
//! faces inside a new cell take the fluxes that give each child its share, by volume, of the cell's divergence: those of
//! a potential on the 8 children, the least ones that do. Uniform flow through a parallelepiped stays uniform.

use super::{CellPath, HexMesh, RefineError, RefinedMesh, check_memory};
use crate::PolyViolation;
use crate::kernels::{FluxTask, RefineKernels};
use cutlink_device::Host;
use rayon::prelude::*;

/// Fluxes through the faces of a mesh, out of their owners, on another mesh of the same parent. The sum over each cell
/// that is kept stays; that of a cell with children is divided among them, and the sum of a coarser cell is that of the
/// cells in it. Each list has a number for each face, those of the boundary included. Cost: a refinement to the common
/// refinement of both meshes.
///
/// # Errors
/// As [`RefinedMesh::build`]; meshes that do not have the same parent.
///
/// # Panics
/// Where a list does not have one number for each face.
pub fn map_fluxes(
    from: &RefinedMesh,
    to: &RefinedMesh,
    fluxes: Vec<Vec<f64>>,
) -> Result<Vec<Vec<f64>>, RefineError> {
    map_fluxes_on(&Host, from, to, fluxes)
}

/// As [`map_fluxes`], in the memory of a backend: the same bits.
///
/// # Errors
/// As there.
///
/// # Panics
/// As there.
pub fn map_fluxes_on<B: RefineKernels>(
    kernels: &B,
    from: &RefinedMesh,
    to: &RefinedMesh,
    fluxes: Vec<Vec<f64>>,
) -> Result<Vec<Vec<f64>>, RefineError> {
    let from = HexMesh::upload(kernels, from)?;
    let to = HexMesh::upload(kernels, to)?;
    let uploaded = fluxes.into_iter().map(|flux| kernels.upload(flux));
    let fluxes: Vec<B::Buf<f64>> = uploaded.collect::<Result<_, _>>()?;
    let mapped = from.map_fluxes(kernels, &to, fluxes)?;
    let unloaded = mapped.into_iter().map(|flux| kernels.unload(flux));
    Ok(unloaded.collect::<Result<_, _>>()?)
}

#[expect(
    unsafe_code,
    reason = "stages trust the arrays of a mesh that was checked, and those of stages before them"
)]
impl<B: RefineKernels> HexMesh<B> {
    /// [`map_fluxes`] where mesh and fluxes are in the memory of a backend.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn map_fluxes(
        &self,
        kernels: &B,
        to: &Self,
        mut fluxes: Vec<B::Buf<f64>>,
    ) -> Result<Vec<B::Buf<f64>>, RefineError> {
        for of in &fluxes {
            assert_eq!(B::len(of), self.faces(), "there should be a flux a face");
        }
        // Both meshes' finer cells: first all are split that `to` has split, then faces are put together.
        let levels = kernels.download(&to.paths)?;
        let levels: Vec<u8> = levels
            .par_iter()
            .map(|path: &CellPath| path.level())
            .collect();
        let levels = kernels.upload(levels)?;
        let mut common = self.copy(kernels)?;
        loop {
            let ranges = kernels.ranges(&to.paths, &common.paths)?;
            // SAFETY: ranges of cells that have a level each.
            let (mut marks, count) = unsafe { kernels.project(&ranges, &levels, &common.paths)? };
            if count == 0 {
                break;
            }
            let old_faces = common.faces();
            let split = common.refine(kernels, &mut marks)?.ok_or_else(foreign)?;
            check_memory(kernels, "fluxes", common.flux_bytes(fluxes.len()))?;
            // SAFETY: the arrays of one step.
            unsafe {
                let faces = kernels.faces_geometry(&common)?;
                let of = kernels.cell_faces(&common)?;
                let task = FluxTask {
                    volumes: &kernels.volumes(&common, &of, &faces)?,
                    shares: &kernels.flux_shares(&split.from, old_faces, &faces)?,
                    mesh: &common,
                    of: &of,
                    split: &split,
                };
                for flux in &mut fluxes {
                    *flux = kernels.split_flux(&task, flux)?;
                }
            }
        }
        let ranges = kernels.ranges(&to.paths, &common.paths)?;
        // SAFETY: both meshes' own arrays; the ranges are those of all cells.
        unsafe {
            let (of, of_to) = (kernels.cell_faces(&common)?, kernels.cell_faces(to)?);
            let parts = kernels.flux_parts((&common, &of), (to, &of_to), &ranges)?;
            let sums = fluxes.iter().map(|flux| kernels.sum_flux(&parts, flux));
            sums.collect()
        }
    }

    /// Bytes that a step of fluxes takes beside the mesh.
    fn flux_bytes(&self, fields: usize) -> u64 {
        let (cells, faces) = (self.cells(), self.faces());
        (20 * cells + (76 + 8 * fields) * faces) as u64
    }
}

/// Of meshes whose faces are not parts of one another's.
pub(crate) fn foreign() -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what: "mesh",
        at: 0,
        reason: "fluxes cannot be mapped to a mesh of another parent",
    })
}
